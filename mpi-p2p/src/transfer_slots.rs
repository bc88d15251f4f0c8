//! The transfer slots of a process, and the receives that use them.
//!
//! Invariant: a slot is free, or serves one receive.
//! Not here: copying (`shared_copy`), the words of a slot (`chunk_claims`).

use mpi_core::Handle;
use mpi_fabric::Registration;

/// Number of transfer slots a process has.
pub(crate) const SLOTS: u32 = 256;

/// A receive whose chunks both sides copy.
#[derive(Debug)]
pub(crate) struct SharedCopy {
    pub request: Handle,
    pub from: u32,
    pub token: u64,
    pub slot: u32,
    pub round: u32,
    pub chunks: u64,
    /// Bytes of a chunk.
    pub chunk: u64,
    /// The receive was revoked: how many chunks were claimed when the slot was closed.
    pub revoked: Option<u64>,
    /// Lets the sender write to the buffer.
    pub _registration: Registration,
}

/// Free transfer slots of a process, and how often each was used.
#[derive(Debug)]
pub(crate) struct Slots {
    pub free: Vec<u32>,
    pub rounds: Vec<u32>,
}

impl Slots {
    pub fn new() -> Slots {
        Slots { free: (0..SLOTS).rev().collect(), rounds: vec![0; SLOTS as usize] }
    }

    /// Whether no slot is free.
    pub fn are_all_used(&self) -> bool {
        self.free.is_empty()
    }
}
