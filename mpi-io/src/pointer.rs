//! The word that the processes of a file share: the position of its shared file pointer.
//!
//! A file of one process has a private word; that of processes on several hosts is in rank 0 (`served`).
//! Invariant: the word is accessed atomically only; any value that another process writes is a valid number.
#![allow(unsafe_code)] // uses the memory as a word

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use mpi_errors::Result;

use crate::served::Served;
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
    /// The word in rank 0, which the others reach by messages.
    Served(Served),
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

    fn word(&self) -> Option<&AtomicU64> {
        match self {
            SharedPointer::Own(word) => Some(word),
            // SAFETY: it is mapped while `self` exists, zeroed at first, aligned to a page, and only used as this.
            SharedPointer::Mapped(memory) => Some(unsafe { memory.address().cast().as_ref() }),
            SharedPointer::Served(served) => served.word(),
        }
    }

    /// The value of the pointer. May wait for rank 0, with no guard held. Errors: those of [`Served::advance`].
    pub fn get(&self) -> Result<u64> {
        // Relaxed, here and below: only the number is shared; data are exchanged through the file.
        match self.word() {
            Some(word) => Ok(word.load(Ordering::Relaxed)),
            None => self.advance(0),
        }
    }

    /// Sets the value, in rank 0 or where the word is in memory: nothing happens elsewhere.
    pub fn set(&self, value: u64) {
        if let Some(word) = self.word() {
            word.store(value, Ordering::Relaxed);
        }
    }

    /// Advances the pointer, and returns its previous value. As [`SharedPointer::get`].
    pub fn advance(&self, by: u64) -> Result<u64> {
        match self {
            SharedPointer::Served(served) => served.advance(by),
            _ => Ok(self.here(by)),
        }
    }

    /// As [`SharedPointer::advance`], in rank 0 or where the word is in memory. Waits for no process.
    pub fn here(&self, by: u64) -> u64 {
        self.word().map_or(0, |word| word.fetch_add(by, Ordering::Relaxed))
    }

    /// What rank 0 keeps for processes that share no memory.
    pub fn served(&self) -> Option<&Served> {
        match self {
            SharedPointer::Served(served) => Some(served),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_processes_open_the_same_word() {
        let (mut first, found_at) = SharedPointer::create(7).expect("memory");
        let second = SharedPointer::open(found_at).expect("it was created");
        assert_eq!((second.here(5), first.here(0)), (7, 12));
        first.close();
        assert!(SharedPointer::open(found_at).is_err(), "the descriptor is closed");
        first.set(1);
        assert_eq!(second.here(0), 1);
        drop(first);
        assert_eq!(second.here(1), 1);
    }
}
