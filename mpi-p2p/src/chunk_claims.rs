//! The protocol on a transfer slot: both sides of one long message claim its chunks, one by one.
//!
//! The first word holds the transfer's round in its high half and the next unclaimed chunk in its low half, so that a
//! late helper of an earlier transfer claims nothing of a later one. The second counts chunks in place.
//! Invariant: a slot is opened anew only when all chunks of its last round are in place.

use std::sync::atomic::Ordering;

use mpi_fabric::TransferSlot;

/// Opens a slot for a round; for its owner.
pub(crate) fn open(slot: TransferSlot<'_>, round: u32) {
    slot.done.store(0, Ordering::Relaxed);
    // Release pairs with the Acquire in `claim`: who claims a chunk of this round counts it from zero.
    slot.claimed.store(u64::from(round) << 32, Ordering::Release);
}

/// Claims the next of `chunks` chunks; none when all are claimed or the slot serves another round.
pub(crate) fn claim(slot: TransferSlot<'_>, round: u32, chunks: u64) -> Option<u64> {
    let mut word = slot.claimed.load(Ordering::Relaxed);
    loop {
        let next = word & 0xffff_ffff;
        if word >> 32 != u64::from(round) || next >= chunks {
            return None;
        }
        // Acquire pairs with the Release in `open`.
        match slot.claimed.compare_exchange_weak(word, word + 1, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => return Some(next),
            Err(changed) => word = changed,
        }
    }
}

/// In the second word: some chunk could not be copied.
const FAILED: u64 = 1 << 63;

/// Counts a claimed chunk that could not be copied, so that nobody waits for it.
pub(crate) fn fail(slot: TransferSlot<'_>) {
    slot.done.fetch_or(FAILED, Ordering::Relaxed);
    complete(slot);
}

/// Counts a claimed chunk as in place.
pub(crate) fn complete(slot: TransferSlot<'_>) {
    // Release pairs with the Acquire in `completed`: the chunk's bytes come before its count.
    slot.done.fetch_add(1, Ordering::Release);
}

/// Chunks done with, and whether all of them are in place.
pub(crate) fn completed(slot: TransferSlot<'_>) -> (u64, bool) {
    // Acquire pairs with the Release in `complete`.
    let word = slot.done.load(Ordering::Acquire);
    (word & !FAILED, word & FAILED == 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU64;

    #[test]
    fn two_threads_claim_every_chunk_once_and_a_late_helper_none() {
        let (claimed, done) = (AtomicU64::new(0), AtomicU64::new(0));
        let slot = TransferSlot { claimed: &claimed, done: &done };
        for round in 1..200 {
            open(slot, round);
            let take = || std::iter::from_fn(|| claim(slot, round, 50).inspect(|_| complete(slot))).collect::<Vec<_>>();
            let mut all = std::thread::scope(|scope| {
                let other = scope.spawn(take);
                let mut mine = take();
                mine.extend(other.join().expect("no panic"));
                mine
            });
            all.sort_unstable();
            assert!(all.into_iter().eq(0..50) && completed(slot) == (50, true));
            assert_eq!(claim(slot, round - 1, 50), None);
        }
    }
}
