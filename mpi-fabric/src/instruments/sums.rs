//! Sums of chosen variables over the blocks of a rank, for readers that look many times a second.
//!
//! Invariant: where a type's variables lie is found once for each rank and type; a word is checked against its block at
//! every read, so that a type that changes afterwards gives wrong numbers and nothing worse.
//! Not here: all that a rank has (`read`).

use std::collections::HashMap;

use mpi_t::PvarClass;

use super::{Area, read};
use crate::Job;

/// The beginning of the name of the block that has what the library counted for itself (`statistics`).
const FINALIZE_SHARE: [u8; 8] = *b"MPI_Fina";

/// Which variables make one sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Summand {
    /// Those with this name and class.
    Name(&'static str, PvarClass),
    /// All of this category and class.
    Category(&'static str, PvarClass),
}

/// The variables of a type that are wanted: each with its sum and its word.
type Wanted = Box<[(usize, usize)]>;

/// Reads sums of one job. What the library counted for itself in `MPI_Finalize` is in the sums.
#[derive(Debug)]
pub struct Sums {
    summands: Vec<Summand>,
    /// By rank and place of the type: for each variable that is wanted its sum and its word.
    types: HashMap<(u32, usize), Wanted>,
}

impl Sums {
    /// A reader of these sums.
    pub fn new(summands: &[Summand]) -> Sums {
        Sums { summands: summands.to_vec(), types: HashMap::new() }
    }

    /// The sums of a rank, in the order of the summands; whether it has any instruments. Panics if there is no such rank.
    pub fn read(&mut self, job: &Job, rank: u32) -> (Vec<u64>, bool) {
        let area = Area::of(job, rank);
        let (mut sums, mut any) = (vec![0_u64; self.summands.len()], false);
        for block in read::live(&area) {
            any = true;
            if block.object_begins_with(&area, &FINALIZE_SHARE) {
                continue;
            }
            let key = (rank, block.type_at());
            // A faulty rank could have any number of types.
            if self.types.len() > MOST_TYPES && !self.types.contains_key(&key) {
                continue;
            }
            let summands = &self.summands;
            let wanted = self.types.entry(key).or_insert_with(|| wanted(summands, &area, &block));
            for (sum, word) in wanted.iter() {
                sums[*sum] = sums[*sum].wrapping_add(block.word(&area, *word));
            }
        }
        (sums, any)
    }
}

/// Most places of types that are remembered: a rank of this library has about twenty types.
const MOST_TYPES: usize = 200 * 1024;

fn wanted(summands: &[Summand], area: &Area, block: &read::LiveBlock) -> Wanted {
    let mut found = Vec::new();
    for (description, word) in block.variables(area) {
        let class = read::class_at(area, description);
        let (name, category) = read::texts_at(area, description);
        let matches = |summand: &Summand| match summand {
            Summand::Name(wanted, of_class) => name == *wanted && class == *of_class as i32,
            Summand::Category(wanted, of_class) => category == *wanted && class == *of_class as i32,
        };
        found.extend((0..summands.len()).filter(|i| matches(&summands[*i])).map(|i| (i, word)));
    }
    found.into()
}
