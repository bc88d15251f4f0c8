//! Ranks of the job memory that have begun to send to this one.
//!
//! A sender sets its bit in the receiver's block when it uses its ring for the first time (`make_room`); every poll
//! compares those words with the known ones.
//! Invariant: each rank that has sent is polled once, whatever bits another process sets or clears.
//! Not here: the comparison in a poll (`endpoint`), processes of other jobs (`foreign`).

use std::sync::atomic::Ordering;

use super::Endpoint;
use crate::peer::Input;

impl Endpoint {
    /// Takes over the connections that are new, and looks for lost ranks.
    #[cold]
    pub(super) fn connect(&mut self) {
        let (own_word, own) = (self.connected.number_of(self.local), 1 << (self.local % 64));
        // First, so that the bits of all that a lost rank has sent are read after the report of its end.
        let word = self.connected.word(own_word);
        if word.load(Ordering::Acquire) & own != 0 {
            // Cleared before the lost ranks are looked for: a report after that sets it again, and the next poll finds
            // it. Acquire pairs with the Release in `Job::report_lost`.
            word.fetch_and(!own, Ordering::Acquire);
            self.look_for_lost();
        }
        for i in 0..self.connected.len() {
            for local in self.connected.take_over(i, if i == own_word { own } else { 0 }) {
                // Bits of ranks that do not exist are damage by another process.
                if (local as usize) < self.world_ranks.len() {
                    self.add_input(local);
                }
            }
        }
    }

    /// Begins to poll the ring of a rank of the job memory.
    pub(super) fn add_input(&mut self, local: u32) {
        let from = self.world_ranks[local as usize];
        self.variables.connections.incr();
        self.input_of[from as usize] = self.inputs.len() as u32;
        self.inputs.push(Input::new(&self.job, self.local, local, from));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::HostShare;
    use super::*;
    use crate::layout::MIN_RING_BYTES;
    use crate::record::{Payload, RecordHead, Sink};
    use crate::settings::FabricSettings;
    use crate::{Job, JobOptions};

    #[derive(Default)]
    struct Seen {
        senders: Vec<u32>,
        lost: Vec<u32>,
    }

    impl Sink for Seen {
        fn record(&mut self, from: u32, _: &RecordHead, _: Payload<'_>) {
            self.senders.push(from);
        }

        fn lost(&mut self, number: u32) {
            self.lost.push(number);
        }
    }

    #[test]
    fn a_poll_reads_the_words_of_the_ranks_of_this_host_only() {
        const RANKS: u32 = 700;
        let places = [130, 191, 192, 300];
        let options = JobOptions { ranks: RANKS, ring_bytes: Some(MIN_RING_BYTES), cores: 1 };
        let job = Arc::new(Job::create_part(&options, &places).unwrap());
        let mut ranks = places.map(|local| {
            let world_ranks = (0..RANKS).collect();
            let host = HostShare { job: job.clone(), local, world_ranks, taken: Some(Arc::from(places)) };
            Endpoint::join(host, RANKS, None, FabricSettings::new()).unwrap()
        });
        for (at, sender) in [0, 3, 1, 2, 3].into_iter().enumerate() {
            for dest in places {
                ranks[sender].push(dest, &RecordHead { kind: 1, ..RecordHead::default() }, &[]).unwrap();
            }
            for rank in &mut ranks {
                assert_eq!(rank.connected.len(), 3, "words of the ranks 128 to 319");
                let mut seen = Seen::default();
                rank.poll(&mut seen).unwrap();
                assert_eq!(seen.senders, [places[sender]], "message {at} to rank {}", rank.rank());
            }
        }
        // Damage: bits of ranks that do not send, and of none.
        job.block(192).connected(2).fetch_or(0b11, Ordering::Relaxed);
        job.block(192).connected(10).fetch_or(u64::MAX, Ordering::Relaxed);
        job.report_lost(300);
        for at in [0, 1, 2] {
            let mut seen = Seen::default();
            while seen.lost.is_empty() {
                ranks[at].poll(&mut seen).unwrap();
            }
            assert_eq!((seen.senders, seen.lost), (vec![], vec![300]), "rank {}", places[at]);
        }
    }
}
