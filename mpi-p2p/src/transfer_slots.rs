//! The transfer slots of a process.
//!
//! Invariant: a slot is free, or serves one receive.
//! Not here: copying (`copies`), the words of a slot (`chunk_claims`).

/// Number of transfer slots a process has.
pub(crate) const SLOTS: u32 = 256;

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
