//! Memory that the processes of a file share.
//!
//! The first process creates it without a name in a file system; the others open it through the first one's descriptor.
//! Invariant: it is mapped in full, zeroed at first and aligned to a page, until it is dropped; the descriptor is closed
//! once all others have opened it.
//! Not here: what it holds (`pointer`, `stage`).
#![allow(unsafe_code)] // maps the memory

use std::fs;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::ptr::{self, NonNull};

use mpi_fabric::signal_mask;

/// Memory that several processes have mapped.
#[derive(Debug)]
pub(crate) struct SharedMemory {
    address: NonNull<u8>,
    bytes: usize,
    /// The descriptor through which the others open it, until they have.
    descriptor: Option<fs::File>,
}

// SAFETY: it is memory, which stays mapped until it is dropped; users of its address order their accesses.
unsafe impl Send for SharedMemory {}
// SAFETY: as above.
unsafe impl Sync for SharedMemory {}

impl Drop for SharedMemory {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and no reference to it exists any more.
        unsafe { libc::munmap(self.address.as_ptr().cast(), self.bytes) };
    }
}

impl SharedMemory {
    /// Memory of so many bytes, not 0, in the first process, with the numbers by which the others open it.
    pub fn create(bytes: usize) -> io::Result<(SharedMemory, [u64; 2])> {
        // SAFETY: the name is a C string; the call gives a new descriptor or -1.
        let descriptor = unsafe { libc::memfd_create(c"ferrum-file".as_ptr(), libc::MFD_CLOEXEC) };
        if descriptor == -1 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new, and has no other owner.
        let memory = unsafe { fs::File::from_raw_fd(descriptor) };
        signal_mask::with_signals_blocked(|| memory.set_len(bytes as u64))?;
        let address = map(&memory, bytes)?;
        let found_at = [u64::from(std::process::id()), descriptor as u64];
        Ok((SharedMemory { address, bytes, descriptor: Some(memory) }, found_at))
    }

    /// The same memory in another process. Errors: `ENXIO` for a descriptor of anything else.
    pub fn open([process, descriptor]: [u64; 2], bytes: usize) -> io::Result<SharedMemory> {
        let name = format!("/proc/{process}/fd/{descriptor}");
        let memory = fs::OpenOptions::new().read(true).write(true).open(name)?;
        if memory.metadata()?.len() != bytes as u64 {
            return Err(io::Error::from_raw_os_error(libc::ENXIO));
        }
        Ok(SharedMemory { address: map(&memory, bytes)?, bytes, descriptor: None })
    }

    /// Closes the descriptor when all other processes have opened the memory.
    pub fn close(&mut self) {
        self.descriptor = None;
    }

    /// Its first byte.
    pub fn address(&self) -> NonNull<u8> {
        self.address
    }

    /// Its length.
    pub fn bytes(&self) -> usize {
        self.bytes
    }
}

fn map(memory: &fs::File, bytes: usize) -> io::Result<NonNull<u8>> {
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: a new mapping, at an address that the system picks.
    let address = unsafe { libc::mmap(ptr::null_mut(), bytes, access, libc::MAP_SHARED, memory.as_raw_fd(), 0) };
    if address == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    Ok(NonNull::new(address.cast()).expect("the system maps nothing at null"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_files_are_refused() {
        let other = fs::File::open("/dev/null").expect("it is everywhere");
        let place = [u64::from(std::process::id()), other.as_raw_fd() as u64];
        assert!(SharedMemory::open(place, 8).is_err() && SharedMemory::open([0, 0], 8).is_err());
        let (_memory, found_at) = SharedMemory::create(16).expect("memory");
        assert!(SharedMemory::open(found_at, 8).is_err(), "it has another length");
    }
}
