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
        let by_network = self.network.as_ref().and_then(|network| network.lost_because(number));
        if let Some(why) = by_network {
            return Error::new(MPI_ERR_PROC_ABORTED, why);
        }
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
                if let Some(output) = self.outputs.get_mut(rank as usize).filter(|output| output.local.is_some()) {
                    output.ring.close();
                }
            }
        }
    }

    /// Takes what lost ranks have sent; reports those of which nothing is left. Returns the number of records.
    pub(super) fn poll_lost<S: Sink>(&mut self, sink: &mut S) -> Result<usize> {
        let mut seen = 0;
        for lost in &mut self.lost {
            if !lost.drained {
                let input = self.inputs.iter_mut().find(|input| input.from == lost.rank);
                let records = input.map_or(Ok(0), |input| input.poll(BATCH, &mut self.outputs, sink))?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Payload, RecordHead};

    #[derive(Default)]
    struct Seen {
        words: Vec<u64>,
        lost: Vec<u32>,
    }

    impl Sink for Seen {
        fn record(&mut self, _: u32, head: &RecordHead, _: Payload<'_>) {
            self.words.push(head.a);
        }

        fn lost(&mut self, number: u32) {
            self.lost.push(number);
        }
    }

    fn head(word: u64) -> RecordHead {
        RecordHead { kind: 1, a: word, ..RecordHead::default() }
    }

    #[test]
    fn a_lost_rank_is_reported_after_all_that_it_has_sent_and_gets_nothing() {
        let mut ranks = Endpoint::threads(3).expect("memory");
        for word in 0..40 {
            ranks[2].push(0, &head(word), &[]).expect("room");
        }
        ranks[0].push(2, &head(1), &[]).expect("room");
        let mut seen = Seen::default();
        ranks[0].poll(&mut seen).expect("records");
        assert!(seen.lost.is_empty());
        ranks[0].job().clone().report_lost(2);
        while seen.lost.is_empty() {
            ranks[0].poll(&mut seen).expect("records");
        }
        assert_eq!((seen.words, &*seen.lost), ((0..40).collect(), &[2][..]));
        // Nothing finds room any more, whatever its length.
        for bytes in [0, 100, 5000] {
            assert!(ranks[0].push(2, &head(2), &vec![0; bytes]).is_err(), "{bytes}");
            ranks[0].push(1, &head(3), &vec![0; bytes]).expect("others are there");
        }
        assert_eq!(ranks[0].lost_error(2).class(), MPI_ERR_PROC_ABORTED);
        // The others, and a process to itself, are as before.
        let mut seen = Seen::default();
        ranks[0].push(0, &head(7), &[]).expect("room");
        ranks[1].push(0, &head(8), &[]).expect("room");
        while seen.words.len() < 2 {
            ranks[0].poll(&mut seen).expect("records");
        }
        assert!(seen.lost.iter().all(|rank| *rank == 2));
        // A second one is reported too.
        ranks[0].job().clone().report_lost(1);
        let mut seen = Seen::default();
        for _ in 0..3 {
            ranks[0].poll(&mut seen).expect("records");
        }
        assert!(seen.lost.contains(&1) && seen.lost.contains(&2));
    }
}
