//! Transfer slots: two words on a cache line of their own, by which both sides of one long message share the copying.
//!
//! The fabric only provides them; the protocol above gives them meaning and resets them.

use std::sync::atomic::AtomicU64;

/// One of the 256 slots in a rank's block.
#[derive(Clone, Copy)]
pub struct TransferSlot<'a> {
    /// The claims of both sides.
    pub claimed: &'a AtomicU64,
    /// The chunks that are done.
    pub done: &'a AtomicU64,
}
