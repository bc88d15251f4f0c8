//! Counts of the library's own messages and waits in `MPI_Finalize`, by which the processes synchronize.
//!
//! The counters of a process count all of its messages. The share is kept beside them, in a block of its own, so that
//! the statistics of a program leave it out. Invariant: a share is at most what its counter has.

use std::collections::HashMap;
use std::sync::atomic::Ordering::Relaxed;

use mpi_t::{BlockDescription, InstrumentMemory, Instruments, PvarClass};

use crate::{Job, JobInstruments, instruments};

/// The object that the blocks of shares have.
pub(super) const FINALIZE: &str = "MPI_Finalize";
/// The type of a block that stands behind those of shares.
const END: &str = "finalize_end";

/// The counters of a process when `MPI_Finalize` begins.
pub struct FinalizeShare {
    /// By name and class.
    before: HashMap<(String, i32), u64>,
}

impl FinalizeShare {
    /// To be called before the library sends messages of its own.
    pub fn begin(memory: &JobInstruments) -> FinalizeShare {
        FinalizeShare { before: words(memory) }
    }

    /// Records how much the counters of blocks of type `B` have grown since. Does nothing if the memory has no room.
    pub fn record<B: Instruments>(&self, memory: &JobInstruments) {
        let description = BlockDescription { block: B::NAME, variables: B::VARS, object: FINALIZE };
        let now = words(memory);
        let Some(share) = memory.allocate(size_of::<B>() / size_of::<u64>(), &description) else { return };
        for variable in B::VARS.iter().filter(|variable| variable.class.is_sum()) {
            let of = |counts: &HashMap<(String, i32), u64>| {
                counts.get(&(variable.name.to_owned(), variable.class as i32)).copied().unwrap_or(0)
            };
            share[variable.word].store(of(&now).saturating_sub(of(&self.before)), Relaxed);
        }
    }
}

impl FinalizeShare {
    /// Marks the values of the process as final, after the last [`FinalizeShare::record`].
    #[cold]
    pub fn end(self, memory: &JobInstruments) {
        memory.allocate(1, &BlockDescription { block: END, variables: &[], object: FINALIZE });
    }

    /// Whether a rank has called [`FinalizeShare::end`]; never, if its memory had no room. Panics if there is no such rank.
    #[cold]
    pub fn is_ended(job: &Job, rank: u32) -> bool {
        instruments::read(job, rank).iter().any(|block| block.type_name == END && block.object == FINALIZE)
    }
}

/// The words of all counters of the process.
fn words(memory: &JobInstruments) -> HashMap<(String, i32), u64> {
    let blocks = memory.read().into_iter().filter(|block| block.object.is_empty());
    let sums = |class| PvarClass::from_abi(class).is_some_and(PvarClass::is_sum);
    let counters = blocks.flat_map(|block| block.variables).filter(|variable| sums(variable.class));
    counters.map(|variable| ((variable.name, variable.class), variable.word)).collect()
}
