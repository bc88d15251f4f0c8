//! The protocol on a transfer slot: both sides of one long message claim its chunks, one by one.
//!
//! The first word holds the transfer's round in its high half and the next unclaimed chunk in its low half, so that a
//! late helper of an earlier transfer claims nothing of a later one. The second counts the chunks that are done.
//! Invariant: between [`claim`] and [`complete`] of a chunk only its claimant touches the chunk's memory. The
//! receiver takes its buffer back, or opens the slot anew, only when all chunks are done, or after [`close`] when all
//! claimed ones are ([`is_settled`]).
//! Not here: the copying (`copying`, `copies`). `tests/loom.rs` checks this file in every order of its threads.

use crate::sync::{Ordering, TransferSlot};

/// The half of the first word that counts claims.
const CLAIMS: u64 = 0xffff_ffff;

/// In the second word: some chunk could not be copied.
const FAILED: u64 = 1 << 63;

/// Opens a slot for a round; for its owner.
pub(crate) fn open(slot: TransferSlot<'_>, round: u32) {
    slot.done.store(0, Ordering::Relaxed);
    // Release pairs with the Acquire in `claim`: a claimant of this round counts its chunk from zero.
    slot.claimed.store(u64::from(round) << 32, Ordering::Release);
}

/// Claims the next of `chunks` chunks; none when all are claimed, or the slot serves another round or is closed.
pub(crate) fn claim(slot: TransferSlot<'_>, round: u32, chunks: u64) -> Option<u64> {
    let mut word = slot.claimed.load(Ordering::Relaxed);
    loop {
        let next = word & CLAIMS;
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

/// Counts a claimed chunk that could not be copied as done, and the transfer as failed.
pub(crate) fn fail(slot: TransferSlot<'_>) {
    slot.done.fetch_or(FAILED, Ordering::Relaxed);
    complete(slot);
}

/// Counts a claimed chunk as done.
pub(crate) fn complete(slot: TransferSlot<'_>) {
    // Release pairs with the Acquire in `completed`: the chunk's bytes come before its count.
    slot.done.fetch_add(1, Ordering::Release);
}

/// The number of chunks done, and whether all of them were copied.
pub(crate) fn completed(slot: TransferSlot<'_>) -> (u64, bool) {
    // Acquire pairs with the Release in `complete`.
    let word = slot.done.load(Ordering::Acquire);
    (word & !FAILED, word & FAILED == 0)
}

/// Ends the claims of a round, for the slot's owner: no chunk is claimed after this. Returns how many of the `chunks`
/// are claimed; all of them count as claimed where the word is not what the protocol leaves there.
pub(crate) fn close(slot: TransferSlot<'_>, round: u32, chunks: u64) -> u64 {
    // Relaxed: claims and this change one word, which orders them; `completed` orders the chunks' bytes.
    let word = slot.claimed.fetch_or(CLAIMS, Ordering::Relaxed);
    if word >> 32 == u64::from(round) { chunks.min(word & CLAIMS) } else { chunks }
}

/// Whether the chunks that were claimed before the slot was closed are all done.
pub(crate) fn is_settled(slot: TransferSlot<'_>, claimed: u64) -> bool {
    completed(slot).0 >= claimed
}
