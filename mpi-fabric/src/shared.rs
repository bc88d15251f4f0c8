//! Memory that a process allocates while it runs and that other processes of the job map too.
//!
//! It is an object without a name: the owner sends the number of its descriptor, the others open it through the
//! owner's entry in `/proc`, and check that it is the object before they use it. The descriptor can be closed
//! as soon as all have it. Processes of one job memory that may not open each other's descriptors make it a part of the object
//! of the job memory, which all of them have open (`job_parts`).
//! Invariant: no process can make the object shorter, so no access to the mapping can fail later. In front of the
//! memory is a page with the lock and a word that identifies the object.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use mpi_errors::Result;

use crate::fault;
use crate::layout::PAGE;
use crate::mapping::{Mapping, open_sealed};
use crate::memory_lock::MemoryLock;
use crate::os::sched_yield;
use crate::peer_process::runs;
use crate::shared_objects;

/// Offset of the word that identifies an object.
const NAME: usize = 0;
/// Offset of the number of the object, which no other object of the host has.
const NUMBER: usize = 8;
/// Offset of the number of processes that have the memory, for a part of another object.
const USERS: usize = 16;
/// Offset of the length with the page, for a part of another object.
const BYTES: usize = 24;
/// Offset of the lock: on a line of its own.
const LOCK: usize = 64;

/// Attempts to take the lock between two checks of whether its holder still runs.
const CHECKS: u32 = 1 << 10;

/// Memory that several processes have mapped. Thread-safe: it is only an address, a length and a lock.
pub struct SharedMemory {
    mapping: Arc<Mapping>,
    descriptor: Option<OwnedFd>,
    /// Identifies this process: the value of the lock while it has it.
    process: u32,
    /// The object that it is a part of; `None`: one of its own.
    backing: Option<Box<dyn Backing>>,
}

/// The part of an object that memory of several processes is in, as one of them has it.
pub(crate) trait Backing: Send + Sync {
    /// A number of this process that no other process has that may map the part; not 0.
    fn owner(&self) -> u32;
    /// Whether the process with a number may still run.
    fn has_owner(&self, number: u32) -> bool;
    /// Returns the pages to the system: no process uses them any more.
    fn give_back(&self);
}

impl SharedMemory {
    /// New memory, zeroed, that others may open; no other object of the job has the same `name`.
    /// # Errors
    /// `MPI_ERR_NO_MEM` if the host has not that much memory or the process may not use it, `MPI_ERR_OTHER` if the
    /// kernel has no such objects.
    pub fn create(bytes: u64, name: u64) -> Result<SharedMemory> {
        let refused = |error: io::Error| fault::memory("cannot make shared memory", bytes, &error);
        if bytes > host_memory() {
            return Err(refused(io::Error::from_raw_os_error(libc::ENOMEM)));
        }
        let (descriptor, mapping) =
            Mapping::create(c"ferrum-job", PAGE + bytes as usize, std::iter::once((0, PAGE))).map_err(refused)?;
        // Relaxed: processes that open it get the number of the descriptor afterwards, in a message.
        mapping.word(NAME).store(name, Ordering::Relaxed);
        mapping.word(NUMBER).store(shared_objects::new_number(), Ordering::Relaxed);
        Ok(SharedMemory::of(mapping, Some(descriptor), None))
    }

    /// The memory of `bytes` bytes that process `pid` has under a descriptor. Errors: it is not there, may not be
    /// opened, or is not the object.
    pub fn open(pid: u32, descriptor: i32, bytes: u64, name: u64) -> io::Result<SharedMemory> {
        let file = open_sealed(pid, descriptor)?;
        if file.metadata()?.len() != PAGE as u64 + bytes {
            return Err(other_object());
        }
        let mapping = Mapping::open(file.as_fd())?;
        if mapping.word(NAME).load(Ordering::Relaxed) != name {
            return Err(other_object());
        }
        Ok(SharedMemory::of(mapping, None, None))
    }

    /// New memory in a mapping of zeroed pages, of which the first one is for this module.
    pub(crate) fn create_in(mapping: Mapping, name: u64, backing: Box<dyn Backing>) -> SharedMemory {
        // Relaxed, as in `create`.
        mapping.word(NAME).store(name, Ordering::Relaxed);
        mapping.word(NUMBER).store(shared_objects::new_number(), Ordering::Relaxed);
        mapping.word(BYTES).store(mapping.bytes() as u64, Ordering::Relaxed);
        mapping.half(USERS).store(1, Ordering::Relaxed);
        SharedMemory::of(mapping, None, Some(backing))
    }

    /// The memory that another process has created so. Errors: it is another object, or the last process that had it has
    /// dropped it.
    pub(crate) fn open_in(mapping: Mapping, name: u64, backing: Box<dyn Backing>) -> io::Result<SharedMemory> {
        let words = [(NAME, name), (BYTES, mapping.bytes() as u64)];
        let is_it = || words.iter().all(|(at, word)| mapping.word(*at).load(Ordering::Relaxed) == *word);
        // First, so that nothing is written into other memory.
        if !is_it() {
            return Err(other_object());
        }
        // While this process counts, nobody returns the pages. Acquire pairs with the Release in `drop`.
        let count = |users: u32| (users != 0).then(|| users.wrapping_add(1));
        mapping.half(USERS).fetch_update(Ordering::Acquire, Ordering::Relaxed, count).map_err(|_| other_object())?;
        // It may have become other memory meanwhile, of another length than that of `backing`: if its processes have
        // dropped it since, it stays until the job's end.
        if !is_it() {
            mapping.half(USERS).fetch_sub(1, Ordering::Release);
            return Err(other_object());
        }
        Ok(SharedMemory::of(mapping, None, Some(backing)))
    }

    fn of(mapping: Mapping, descriptor: Option<OwnedFd>, backing: Option<Box<dyn Backing>>) -> SharedMemory {
        let mapping = Arc::new(mapping);
        shared_objects::add(mapping.word(NUMBER).load(Ordering::Relaxed), &mapping);
        let process = backing.as_ref().map_or_else(std::process::id, |backing| backing.owner());
        SharedMemory { mapping, descriptor, process, backing }
    }

    /// The number under which others may open it; `None` in a process that opened it, and after [`Self::close`].
    pub fn descriptor(&self) -> Option<i32> {
        self.descriptor.as_ref().map(AsRawFd::as_raw_fd)
    }

    /// Closes the descriptor: processes that have the memory keep it, no other can open it.
    pub fn close(&mut self) {
        self.descriptor = None;
    }

    /// The address of the memory in this process: a multiple of a page.
    pub fn address(&self) -> usize {
        self.mapping.at(PAGE, 0).as_ptr().expose_provenance()
    }

    /// Two words at an offset that is a multiple of 8, for memory of which all processes make words only. Panics behind
    /// the end.
    #[inline(always)]
    pub(crate) fn two_words(&self, at: usize) -> [&AtomicU64; 2] {
        self.mapping.two_words(PAGE + at)
    }

    /// The address of its first `bytes` bytes. Panics if it is shorter.
    pub(crate) fn first(&self, bytes: usize) -> NonNull<u8> {
        self.mapping.at(PAGE, bytes)
    }

    /// Locks the memory; all processes that have it share the lock, each for a few microseconds at most. Where
    /// processes share a core the call yields to the holder. The lock of a process that has ended is taken over, whatever
    /// became of the memory.
    #[inline]
    pub fn lock(&self) -> SharedMemoryGuard<'_> {
        self.try_lock().unwrap_or_else(|| self.lock_later())
    }

    /// As [`SharedMemory::lock`], if no process has the lock.
    #[inline(always)]
    pub fn try_lock(&self) -> Option<SharedMemoryGuard<'_>> {
        let lock = MemoryLock(self.mapping.half(LOCK));
        // Not `then_some`: a guard that is made releases the lock when it is dropped.
        lock.try_take(self.process).then(|| SharedMemoryGuard(lock))
    }

    #[cold]
    fn lock_later(&self) -> SharedMemoryGuard<'_> {
        let lock = MemoryLock(self.mapping.half(LOCK));
        let mut turns = 0u32;
        loop {
            turns = turns.wrapping_add(1);
            let taken = match lock.holder() {
                None => lock.try_take(self.process),
                Some(holder) => {
                    turns.is_multiple_of(CHECKS) && !self.runs(holder) && lock.take_over(holder, self.process)
                }
            };
            if taken {
                return SharedMemoryGuard(lock);
            }
            if turns < 100 { std::hint::spin_loop() } else { sched_yield() }
        }
    }

    /// Whether the process that the lock's word names runs, as far as this one finds out.
    fn runs(&self, holder: u32) -> bool {
        self.backing.as_ref().map_or_else(|| runs(holder), |backing| backing.has_owner(holder))
    }
}

/// The lock of a [`SharedMemory`] as the address of its word, for short accesses. Thread-safe, as the memory.
#[derive(Debug)]
pub struct ResolvedMemoryLock {
    word: NonNull<AtomicU32>,
    process: u32,
    /// Keeps it mapped.
    _memory: Arc<SharedMemory>,
}

// SAFETY: the word is an atomic in memory that stays mapped while the value exists.
unsafe impl Send for ResolvedMemoryLock {}
// SAFETY: as above.
unsafe impl Sync for ResolvedMemoryLock {}

impl ResolvedMemoryLock {
    /// The lock of this memory.
    pub fn of(memory: &Arc<SharedMemory>) -> ResolvedMemoryLock {
        let word = NonNull::from(memory.mapping.half(LOCK));
        ResolvedMemoryLock { word, process: memory.process, _memory: memory.clone() }
    }

    /// As [`SharedMemory::try_lock`].
    #[inline(always)]
    pub fn try_lock(&self) -> Option<SharedMemoryGuard<'_>> {
        // SAFETY: the memory stays mapped while `self` exists.
        let lock = MemoryLock(unsafe { self.word.as_ref() });
        // Not `then_some`, as in `SharedMemory::try_lock`.
        lock.try_take(self.process).then(|| SharedMemoryGuard(lock))
    }
}

impl Drop for SharedMemory {
    /// The memory stays mapped while a copy from it is under way.
    fn drop(&mut self) {
        shared_objects::remove(&self.mapping);
        if let Some(backing) = &self.backing
            // Release and Acquire pair with each other: all accesses come before.
            && self.mapping.half(USERS).fetch_sub(1, Ordering::AcqRel) == 1
        {
            backing.give_back();
        }
    }
}

impl fmt::Debug for SharedMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedMemory({} bytes)", self.mapping.bytes())
    }
}

/// The lock of a [`SharedMemory`], held.
pub struct SharedMemoryGuard<'a>(MemoryLock<'a>);

impl Drop for SharedMemoryGuard<'_> {
    fn drop(&mut self) {
        self.0.release();
    }
}

/// Bytes of memory that the host has, swap included.
pub(crate) fn host_memory() -> u64 {
    // SAFETY: plain data, filled by the call; left zero where it fails.
    let facts = unsafe {
        let mut facts: libc::sysinfo = std::mem::zeroed();
        libc::sysinfo(&mut facts);
        facts
    };
    (facts.totalram + facts.totalswap) * u64::from(facts.mem_unit)
}

fn other_object() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "that descriptor is of another object")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn byte(memory: &SharedMemory, at: usize) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut(memory.address() + at)
    }

    #[test]
    fn a_process_that_opens_it_sees_what_the_owner_wrote_after_the_owner_has_ended() {
        let mut owner = SharedMemory::create(10_000, 77).unwrap();
        let (pid, descriptor) = (std::process::id(), owner.descriptor().unwrap());
        let other = SharedMemory::open(pid, descriptor, 10_000, 77).unwrap();
        assert_ne!(owner.address(), other.address());
        owner.close();
        // SAFETY: inside both mappings, one after the other.
        unsafe {
            byte(&owner, 9_999).write(42);
            drop(owner);
            assert_eq!(byte(&other, 9_999).read(), 42);
        }
    }

    #[test]
    fn another_object_under_the_descriptor_is_refused() {
        let owner = SharedMemory::create(4096, 5).unwrap();
        let (pid, descriptor) = (std::process::id(), owner.descriptor().unwrap());
        assert!(SharedMemory::open(pid, descriptor, 4097, 5).is_err());
        assert!(SharedMemory::open(pid, descriptor, 4096, 6).is_err());
        assert!(SharedMemory::open(pid, 0, 4096, 5).is_err());
        assert!(SharedMemory::open(pid, -1, 4096, 5).is_err());
        assert!(SharedMemory::open(pid, descriptor, 4096, 5).is_ok());
        for bytes in [u64::MAX, 1 << 60, 1 << 50] {
            assert!(SharedMemory::create(bytes, 1).is_err());
        }
    }

    /// A part that counts how often it was given back, and keeps its content.
    struct Kept(Arc<AtomicU32>);

    impl Backing for Kept {
        fn owner(&self) -> u32 {
            1
        }

        fn has_owner(&self, _: u32) -> bool {
            true
        }

        fn give_back(&self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_part_that_was_given_back_is_not_opened_nor_given_back_again() {
        let (object, first) = Mapping::create(c"test", 3 * PAGE, std::iter::empty()).unwrap();
        let given = Arc::new(AtomicU32::new(0));
        let kept = || Box::new(Kept(given.clone()));
        let open = |pages| {
            let mapping = Mapping::open_part(object.as_fd(), 0, pages * PAGE).unwrap();
            SharedMemory::open_in(mapping, 7, kept())
        };
        assert!(open(3).is_err(), "never created");
        let made = SharedMemory::create_in(first, 7, kept());
        assert!(open(2).is_err(), "a shorter one");
        let other = open(3).unwrap();
        drop(made);
        assert_eq!((open(3).is_ok(), given.load(Ordering::Relaxed)), (true, 0));
        drop(other);
        assert_eq!((open(3).is_ok(), given.load(Ordering::Relaxed)), (false, 1));
    }

    #[test]
    fn the_lock_of_a_process_that_has_ended_is_taken_over() {
        let memory = SharedMemory::create(8, 10).unwrap();
        let mut ended = std::process::Command::new("true").spawn().unwrap();
        ended.wait().unwrap();
        memory.mapping.half(LOCK).store(ended.id(), Ordering::Relaxed);
        let held = memory.lock();
        assert_eq!(memory.mapping.half(LOCK).load(Ordering::Relaxed), std::process::id());
        assert!(memory.try_lock().is_none());
        assert!(memory.try_lock().is_none(), "an attempt that fails releases nothing");
        drop(held);
        assert!(memory.try_lock().is_some());
    }

    #[test]
    fn the_lock_is_one_for_all_mappings() {
        let owner = SharedMemory::create(8, 9).unwrap();
        let other = SharedMemory::open(std::process::id(), owner.descriptor().unwrap(), 8, 9).unwrap();
        let count = |memory: &SharedMemory| {
            for _ in 0..20_000 {
                let _held = memory.lock();
                let place = byte(memory, 0).cast::<u64>();
                // SAFETY: eight bytes at the start of a page, changed with the lock held only.
                unsafe { place.write(place.read() + 1) };
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| count(&other));
            count(&owner);
        });
        // SAFETY: no thread writes any more.
        assert_eq!(unsafe { byte(&owner, 0).cast::<u64>().read() }, 40_000);
    }
}
