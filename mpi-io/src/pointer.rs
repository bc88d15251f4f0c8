//! The word that the processes of a file share: the position of its shared file pointer.
//!
//! The first process creates memory without a name in a file system; the others open it through the first one's
//! descriptor. A file of one process has a private word.
//! Invariant: the word is accessed atomically only; any value that another process writes is a valid number.
#![allow(unsafe_code)] // maps the memory

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicU64, Ordering};

use mpi_fabric::signal_mask;

/// Bytes of the memory: the word, alone on its page.
const BYTES: usize = 8;

/// The shared word.
#[derive(Debug)]
pub(crate) enum SharedPointer {
    /// The word of a file of one process.
    Own(AtomicU64),
    /// The word in memory that several processes have mapped.
    Mapped(Mapping),
}

#[derive(Debug)]
pub(crate) struct Mapping {
    address: NonNull<AtomicU64>,
    /// The descriptor through which the others open it, until they have.
    memory: Option<fs::File>,
}

// SAFETY: the mapping is an atomic word, for any thread to use until it is dropped.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and no reference to it exists any more.
        unsafe { libc::munmap(self.address.as_ptr().cast(), BYTES) };
    }
}

impl SharedPointer {
    /// The word for a file of one process.
    pub fn own(value: u64) -> SharedPointer {
        SharedPointer::Own(AtomicU64::new(value))
    }

    /// The word in the first of several processes, with the numbers by which the others open it.
    pub fn create(value: u64) -> io::Result<(SharedPointer, [u64; 2])> {
        // SAFETY: the name is a C string; the call gives a new descriptor or -1.
        let descriptor = unsafe { libc::memfd_create(c"ferrum-file-pointer".as_ptr(), libc::MFD_CLOEXEC) };
        if descriptor == -1 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new, and has no other owner.
        let memory = unsafe { fs::File::from_raw_fd(descriptor) };
        signal_mask::with_signals_blocked(|| memory.set_len(BYTES as u64))?;
        let address = map(&memory)?;
        let found_at = [u64::from(std::process::id()), descriptor as u64];
        let pointer = SharedPointer::Mapped(Mapping { address, memory: Some(memory) });
        pointer.set(value);
        Ok((pointer, found_at))
    }

    /// The word in another process.
    pub fn open([process, descriptor]: [u64; 2]) -> io::Result<SharedPointer> {
        let name = format!("/proc/{process}/fd/{descriptor}");
        let memory = fs::OpenOptions::new().read(true).write(true).open(name)?;
        if memory.metadata()?.len() != BYTES as u64 {
            return Err(io::Error::from_raw_os_error(libc::ENXIO));
        }
        Ok(SharedPointer::Mapped(Mapping { address: map(&memory)?, memory: None }))
    }

    /// Closes the descriptor when all other processes have opened the memory.
    pub fn close(&mut self) {
        if let SharedPointer::Mapped(mapping) = self {
            mapping.memory = None;
        }
    }

    fn word(&self) -> &AtomicU64 {
        match self {
            SharedPointer::Own(word) => word,
            // SAFETY: it is mapped while `self` exists, zeroed at first, aligned to a page, and only used as this.
            SharedPointer::Mapped(mapping) => unsafe { mapping.address.as_ref() },
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

fn map(memory: &fs::File) -> io::Result<NonNull<AtomicU64>> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping, at an address that the system picks.
    let address = unsafe { libc::mmap(ptr::null_mut(), BYTES, access, libc::MAP_SHARED, memory.as_raw_fd(), 0) };
    if address == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    Ok(NonNull::new(address.cast()).expect("the system maps nothing at null"))
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

    #[test]
    fn other_files_are_refused() {
        let other = fs::File::open("/dev/null").expect("it is everywhere");
        let place = [u64::from(std::process::id()), other.as_raw_fd() as u64];
        assert!(SharedPointer::open(place).is_err() && SharedPointer::open([0, 0]).is_err());
    }
}
