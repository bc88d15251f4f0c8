//! Files of `mpiexec` in the memory of a rank, which `mpiexec` reads when the process has ended in any way.
//!
//! Invariant: a file is found by its descriptor once, before the program runs, and only if it is the file that `mpiexec`
//! has described; later the descriptor's number may be another file's. What is mapped stays mapped until the process
//! ends, and has its room on the disk before it is used.

use std::io::Error;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

use libc::{MAP_FAILED, MAP_SHARED, MREMAP_MAYMOVE, PROT_READ, PROT_WRITE, c_void};
use mpi_core::functions;
use mpi_pmpi::records::{MAGIC, Place, head};

/// A file that this process has inherited.
pub(super) struct Inherited {
    descriptor: i32,
    /// Its length.
    pub(super) bytes: u64,
}

impl Inherited {
    /// The file that a variable describes; `None` if the process does not have it.
    pub(super) fn find(variable: &str) -> Option<Inherited> {
        let place = Place::parse(&std::env::var(variable).ok()?)?;
        // SAFETY: all bytes 0 are valid in the structure.
        let mut status: libc::stat = unsafe { std::mem::zeroed() };
        // SAFETY: a number and a structure to fill.
        let found = unsafe { libc::fstat(place.descriptor, &raw mut status) } == 0;
        let same = found && (status.st_dev, status.st_ino) == (place.device, place.inode);
        same.then_some(Inherited { descriptor: place.descriptor, bytes: status.st_size as u64 })
    }

    /// Maps its first bytes, if it has them.
    pub(super) fn map(&self, bytes: u64) -> Option<Words> {
        let address = self.mapped(0, bytes as usize).filter(|_| bytes <= self.bytes)?;
        // SAFETY: this many bytes are mapped.
        Some(unsafe { Words::at_address(address, bytes) })
    }

    /// The parts of this length from an offset on; both are multiples of a page.
    pub(super) fn parts(&self, offset: u64, bytes: u64) -> Option<Parts> {
        // SAFETY: no arguments but a number.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let first = self.mapped(offset, page)?;
        Some(Parts { next: first, left: self.bytes.saturating_sub(offset) / bytes, bytes: bytes as usize, page })
    }

    fn mapped(&self, offset: u64, bytes: usize) -> Option<usize> {
        let protection = PROT_READ | PROT_WRITE;
        // SAFETY: a new mapping at an address of the system's choice.
        let address =
            unsafe { libc::mmap(null_mut(), bytes, protection, MAP_SHARED, self.descriptor, offset as libc::off_t) };
        (address != MAP_FAILED).then_some(address as usize)
    }
}

/// A mapped part of a file.
#[derive(Clone, Copy)]
pub(super) struct Words(&'static [AtomicU64]);

impl Words {
    /// # Safety
    /// The bytes are mapped at the address, which is that of a page, and stay mapped.
    unsafe fn at_address(address: usize, bytes: u64) -> Words {
        // SAFETY: the contract of this function; the words are only accessed as atomics.
        Words(unsafe { std::slice::from_raw_parts(address as *const AtomicU64, bytes as usize / 8) })
    }

    /// A word.
    pub(super) fn at(self, place: usize) -> &'static AtomicU64 {
        &self.0[place]
    }

    /// Takes the file for this process; false if another process uses it. A process that has executed another program
    /// has its file already.
    fn take(self) -> bool {
        let process = u64::from(std::process::id());
        let taken = self.0[head::PROCESS].compare_exchange(0, process, Ordering::Relaxed, Ordering::Relaxed);
        if taken.is_err_and(|user| user != process) {
            return false;
        }
        self.0[head::FUNCTIONS].store(u64::from(functions::COUNT), Ordering::Relaxed);
        self.0[head::MAGIC].store(MAGIC, Ordering::Relaxed);
        true
    }
}

/// A file that the process takes with its first call of MPI. Until then another one may take it: the child of a program
/// that is linked with the library, but does not use it.
pub(super) struct Recording {
    words: Words,
    state: AtomicU8,
}

/// States of a recording.
const UNDECIDED: u8 = 0;
const TAKEN: u8 = 1;
const OF_ANOTHER: u8 = 2;

impl Recording {
    pub(super) fn new(words: Words) -> Recording {
        Recording { words, state: AtomicU8::new(UNDECIDED) }
    }

    /// The words, if this process has taken the file or takes it now.
    #[inline]
    pub(super) fn words(&self) -> Option<Words> {
        match self.state.load(Ordering::Relaxed) {
            TAKEN => Some(self.words),
            OF_ANOTHER => None,
            _ => self.decide(),
        }
    }

    #[cold]
    fn decide(&self) -> Option<Words> {
        let taken = self.words.take();
        // Threads that decide at once come to the same result.
        self.state.store(if taken { TAKEN } else { OF_ANOTHER }, Ordering::Relaxed);
        taken.then_some(self.words)
    }
}

/// The parts of a file, which are mapped one after the other, without its descriptor.
pub(super) struct Parts {
    /// Where the first page of the next part is mapped.
    next: usize,
    /// Number of parts that are left.
    left: u64,
    /// Bytes of a part.
    bytes: usize,
    page: usize,
}

impl Parts {
    /// Number of parts that are left.
    pub(super) fn left(&self) -> usize {
        self.left as usize
    }

    /// Maps the next part.
    pub(super) fn map(&mut self) -> Result<Words, Error> {
        self.left = self.left.checked_sub(1).ok_or_else(|| Error::from_raw_os_error(libc::EFBIG))?;
        // With an old length of 0 this is a further mapping of the same file from the same place on.
        // SAFETY: the page belongs to this value; the new mapping is at an address of the system's choice.
        let part = unsafe { libc::mremap(self.next as *mut c_void, 0, self.bytes + self.page, MREMAP_MAYMOVE) };
        if part == MAP_FAILED {
            return Err(Error::last_os_error());
        }
        // SAFETY: the page that nothing else uses.
        unsafe { libc::munmap(self.next as *mut c_void, self.page) };
        self.next = part as usize + self.bytes;
        // SAFETY: this many bytes are mapped, and only the page behind them is ever unmapped.
        let words = unsafe { Words::at_address(part as usize, self.bytes as u64) };
        self.reserve(words).map(|()| words)
    }

    /// Takes room on the disk for the pages of a part, and changes nothing that is there already. Without room a store
    /// would be a fatal signal, but a system call that adds 0 reports an error.
    fn reserve(&self, words: Words) -> Result<(), Error> {
        /// Adds 0 to the second word (`FUTEX_OP_ADD`).
        const ADD_NOTHING: libc::c_int = 1 << 28;
        for first in words.0.iter().step_by(self.page / 8) {
            let word = first.as_ptr();
            // SAFETY: an atomic addition to a mapped word; no thread waits for it.
            let outcome = unsafe { libc::syscall(libc::SYS_futex, word, libc::FUTEX_WAKE_OP, 0, 0, word, ADD_NOTHING) };
            if outcome < 0 {
                let error = Error::last_os_error();
                let no_room = error.raw_os_error() == Some(libc::EFAULT);
                return Err(if no_room { Error::from_raw_os_error(libc::ENOSPC) } else { error });
            }
        }
        Ok(())
    }
}
