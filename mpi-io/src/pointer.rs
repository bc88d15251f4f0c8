//! The word that the processes of a file share: the position of its shared file pointer.
//!
//! A file of one process has a private word.
//! Invariant: the word is accessed atomically only; any value that another process writes is a valid number.
#![allow(unsafe_code)] // uses the memory as a word

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::shared_memory::SharedMemory;

/// Bytes of the memory: the word, alone on its page.
const BYTES: usize = 8;

/// The shared word.
#[derive(Debug)]
pub(crate) enum SharedPointer {
    /// The word of a file of one process.
    Own(AtomicU64),
    /// The word in memory that several processes have mapped.
    Mapped(SharedMemory),
}

impl SharedPointer {
    /// The word for a file of one process.
    pub fn own(value: u64) -> SharedPointer {
        SharedPointer::Own(AtomicU64::new(value))
    }

    /// The word in the first of several processes, with the numbers by which the others open it.
    pub fn create(value: u64) -> io::Result<(SharedPointer, [u64; 2])> {
        let (memory, found_at) = SharedMemory::create(BYTES)?;
        let pointer = SharedPointer::Mapped(memory);
        pointer.set(value);
        Ok((pointer, found_at))
    }

    /// The word in another process.
    pub fn open(found_at: [u64; 2]) -> io::Result<SharedPointer> {
        SharedMemory::open(found_at, BYTES).map(SharedPointer::Mapped)
    }

    /// Closes the descriptor when all other processes have opened the memory.
    pub fn close(&mut self) {
        if let SharedPointer::Mapped(memory) = self {
            memory.close();
        }
    }

    fn word(&self) -> &AtomicU64 {
        match self {
            SharedPointer::Own(word) => word,
            // SAFETY: it is mapped while `self` exists, zeroed at first, aligned to a page, and only used as this.
            SharedPointer::Mapped(memory) => unsafe { memory.address().cast().as_ref() },
        }
    }

    /// The value of the pointer.
    pub fn get(&self) -> u64 {
        // Relaxed, here and below: only the number is shared; data are exchanged through the file.
        self.word().load(Ordering::Relaxed)
    }

    /// Sets the value.
    pub fn set(&self, value: u64) {
        self.word().store(value, Ordering::Relaxed);
    }

    /// Advances the pointer, and returns its previous value.
    pub fn advance(&self, by: u64) -> u64 {
        self.word().fetch_add(by, Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_processes_open_the_same_word() {
        let (mut first, found_at) = SharedPointer::create(7).expect("memory");
        let second = SharedPointer::open(found_at).expect("it was created");
        assert_eq!((second.advance(5), first.get()), (7, 12));
        first.close();
        assert!(SharedPointer::open(found_at).is_err(), "the descriptor is closed");
        first.set(1);
        assert_eq!(second.get(), 1);
        drop(first);
        assert_eq!(second.advance(1), 1);
    }
}
