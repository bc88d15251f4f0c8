//! Whether a job makes progress: since when each rank has done nothing that counts.
//!
//! A rank makes progress when it enters or leaves a call, sends or receives, begins a collective operation or accesses a file.
//! Calls that only look whether something has come, again and again, are no progress.

use std::time::{Duration, Instant};

use super::calls::looks;
use crate::JobView;
use crate::sample::{Counts, Sampler};

/// What a rank has done.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Mark {
    /// Number and end of the last call that does more than look.
    call: Option<(u64, bool)>,
    counts: Option<[u64; 7]>,
    life: mpi_fabric::Life,
}

/// Watches a job.
#[derive(Debug, Default)]
pub struct Progress {
    sampler: Sampler,
    ranks: Vec<(Mark, Instant)>,
}

impl Progress {
    /// Looks at all ranks now.
    pub fn look(&mut self, job: JobView<'_>, now: Instant) {
        let sample = self.sampler.take(job);
        let marks = sample.ranks.iter().map(|rank| Mark {
            call: rank.call.filter(|call| !looks(call)).map(|call| (call.sequence, call.ended)),
            counts: rank.counts.map(counted),
            life: rank.life,
        });
        let marks: Vec<Mark> = marks.collect();
        if self.ranks.len() != marks.len() {
            self.ranks = marks.into_iter().map(|mark| (mark, now)).collect();
            return;
        }
        for ((old, since), new) in self.ranks.iter_mut().zip(marks) {
            // A rank that only looks shows other calls now and then.
            let same = old.counts == new.counts && old.life == new.life && (new.call.is_none() || old.call == new.call);
            if !same {
                (*old, *since) = (new, now);
            }
        }
    }

    /// How long no rank has made progress.
    pub fn idle(&self, now: Instant) -> Duration {
        self.ranks.iter().map(|(_, since)| now.saturating_duration_since(*since)).min().unwrap_or_default()
    }

    /// How long a rank has made none.
    pub fn idle_of(&self, rank: u32, now: Instant) -> Option<Duration> {
        self.ranks.get(rank as usize).map(|(_, since)| now.saturating_duration_since(*since))
    }
}

fn counted(counts: Counts) -> [u64; 7] {
    [
        counts.messages_sent,
        counts.bytes_sent,
        counts.messages_received,
        counts.bytes_received,
        counts.collective_calls,
        counts.unexpected,
        counts.file_bytes,
    ]
}
