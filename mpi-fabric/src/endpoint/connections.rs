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
        let (own_word, own) = (self.local as usize / 64, 1 << (self.local % 64));
        // First, so that the bits of all that a lost rank has sent are read after the report of its end.
        // SAFETY: `Connections` has a word for each 64 ranks.
        let word = unsafe { self.connected.word(own_word) };
        if word.load(Ordering::Acquire) & own != 0 {
            // Cleared before the lost ranks are looked for: a report after that sets it again, and the next poll finds
            // it. Acquire pairs with the Release in `Job::report_lost`.
            word.fetch_and(!own, Ordering::Acquire);
            self.look_for_lost();
        }
        for i in 0..self.known.len() {
            // SAFETY: `Connections` has as many words as `known`. Acquire pairs with the Release in `make_room`.
            let word = unsafe { self.connected.word(i) };
            let now = word.load(Ordering::Acquire) & if i == own_word { !own } else { u64::MAX };
            for bit in 0..64 {
                let local = i * 64 + bit;
                // Bits of ranks that do not exist, and bits that were cleared, are damage by another process.
                if now & !self.known[i] & 1 << bit != 0 && local < self.world_ranks.len() {
                    self.add_input(local as u32);
                }
            }
            self.known[i] = now;
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
