//! Ranks of this job that have ended while it continues, because a part of it was aborted (MPI-5.0, 9.3 and 11.4).
//!
//! The launcher records such a rank in the job memory when its process has ended, and sets a bit that every other rank
//! polls anyway (`Job::report_lost`). An endpoint takes all that the rank has sent before it reports the rank, and then
//! reports it with every poll, so that later operations with it end too.
//! Invariant: nothing is pushed to a lost rank.
//! Not here: which operations end (`mpi-p2p`), processes of other jobs (`bridge`).

use mpi_core::abi::MPI_ERR_PROC_ABORTED;
use mpi_errors::{Error, Result};

use super::{BATCH, Endpoint};
use crate::bridge::lost_peer;
use crate::record::Sink;

/// A rank that has ended.
pub(super) struct LostRank {
    rank: u32,
    /// Whether all that it has sent was taken.
    drained: bool,
}

impl Endpoint {
    /// Whether a rank of this job has ended while the job continues.
    pub(crate) fn is_lost(&self, rank: u32) -> bool {
        self.lost.iter().any(|lost| lost.rank == rank)
    }

    /// The error of an operation with a process that has ended.
    #[cold]
    pub fn lost_error(&self, number: u32) -> Error {
        if number >= self.size {
            return lost_peer(self.id_of(number));
        }
        Error::new(MPI_ERR_PROC_ABORTED, format!("rank {number} of the job was aborted"))
    }

    /// Finds the ranks that the launcher has reported since.
    #[cold]
    pub(super) fn look_for_lost(&mut self) {
        for (local, rank) in (0..).zip(self.world_ranks.clone().iter().copied()) {
            if local != self.local && self.job.is_lost(local) && !self.is_lost(rank) {
                self.lost.push(LostRank { rank, drained: false });
                self.beyond = true;
                // No further record finds room without a look at `lost`, and the copy buffer waits for nothing.
                self.outputs[rank as usize].ring.close();
            }
        }
    }

    /// Takes what lost ranks have sent; reports those of which nothing is left. Returns the number of records.
    pub(super) fn poll_lost<S: Sink>(&mut self, sink: &mut S) -> Result<usize> {
        let mut seen = 0;
        for lost in &mut self.lost {
            if !lost.drained {
                let input = self.inputs.iter_mut().find(|input| input.from == lost.rank);
                let records = input.map_or(Ok(0), |input| input.poll(BATCH, sink))?;
                seen += records;
                lost.drained = records == 0;
            }
            if lost.drained {
                sink.lost(lost.rank);
            }
        }
        Ok(seen)
    }
}
