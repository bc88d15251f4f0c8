//! Transfer slots: two words on a line of their own, by which both sides of one long message share the copying.
//!
//! The fabric only provides them; the protocol above gives them meaning and resets them.

use std::sync::atomic::AtomicU64;

/// One of the 256 slots in a rank's block.
#[derive(Clone, Copy)]
pub struct TransferSlot<'a> {
    /// What has been claimed by either side.
    pub claimed: &'a AtomicU64,
    /// What is done.
    pub done: &'a AtomicU64,
}
