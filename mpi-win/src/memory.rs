//! The memory that processes expose in a window; only this module makes buffers of it.
//!
//! Invariant: a buffer from this module lies inside the memory. That memory is valid while the window exists: it is the
//! window's own, or the program promised so when it created the window or attached the memory.
#![allow(unsafe_code)] // makes buffers of the program's memory

use std::ptr::with_exposed_provenance_mut;
use std::sync::Arc;

use mpi_core::aligned::AlignedMemory;
use mpi_core::{ShortMutex, ShortMutexGuard};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_fabric::{ResolvedMemoryLock, SharedMemory, SharedMemoryGuard};

use crate::attached::Attached;
use crate::basic::inside;
use crate::elements::Elements;

/// The least alignment of a window's own memory: a cache line.
const ALIGNMENT: usize = 64;

/// Memory that this process can access: its own, or another's that it has mapped.
#[derive(Debug)]
pub(crate) struct Memory {
    base: usize,
    bytes: u64,
    source: Source,
    /// Excludes threads of this process from each other where no other process accumulates.
    threads: ShortMutex<()>,
}

/// The lock of a memory, held.
#[expect(dead_code)] // held, and never read
pub(crate) enum MemoryGuard<'a> {
    /// Of the threads of this process.
    Threads(ShortMutexGuard<'a, ()>),
    /// Of all processes that have mapped the memory.
    Processes(SharedMemoryGuard<'a>),
}

/// The owner of the memory.
#[derive(Debug)]
enum Source {
    /// The program; also for no memory.
    Program,
    /// The window, in this process alone.
    Own { _memory: AlignedMemory },
    /// The window, mapped by all of its processes.
    Shared(Arc<SharedMemory>),
    /// The program, piece by piece.
    Attached(Attached),
}

impl Memory {
    /// The program's memory.
    ///
    /// # Safety
    /// `bytes` bytes from `base`, an exposed address, are readable and writable while the result exists.
    pub unsafe fn of_program(base: usize, bytes: u64) -> Memory {
        Memory::of(base, bytes, Source::Program)
    }

    const fn of(base: usize, bytes: u64, source: Source) -> Memory {
        Memory { base, bytes, source, threads: ShortMutex::new(()) }
    }

    /// The memory that the program attaches; offsets are addresses.
    pub fn attachable() -> Memory {
        Memory::of(0, i64::MAX as u64, Source::Attached(Attached::default()))
    }

    /// The pieces that are attached; `None` for memory that is none of those.
    pub fn attached(&self) -> Option<&Attached> {
        match &self.source {
            Source::Attached(attached) => Some(attached),
            _ => None,
        }
    }

    /// New memory, zeroed; an alignment that is no power of two, or beyond a gibibyte, is a hint that is ignored.
    /// `None` when the system does not have that much.
    pub fn allocate(bytes: u64, alignment: u64) -> Option<Memory> {
        if bytes == 0 {
            return Some(Memory::of(0, 0, Source::Program));
        }
        let memory = AlignedMemory::zeroed(bytes, alignment, ALIGNMENT)?;
        Some(Memory::of(memory.expose(), bytes, Source::Own { _memory: memory }))
    }

    /// New memory, zeroed, that other processes may map; no other memory has the name.
    pub fn share(bytes: u64, name: u64) -> Option<Memory> {
        SharedMemory::create(bytes, name).ok().map(|shared| Memory::part(&Arc::new(shared), 0, bytes))
    }

    /// A part of shared memory, which the caller has checked to be long enough.
    pub fn part(shared: &Arc<SharedMemory>, start: u64, bytes: u64) -> Memory {
        let base = if bytes > 0 { shared.address() + start as usize } else { 0 };
        Memory::of(base, bytes, Source::Shared(shared.clone()))
    }

    /// The descriptor under which others may map it.
    pub fn descriptor(&self) -> Option<i32> {
        match &self.source {
            Source::Shared(shared) => shared.descriptor(),
            Source::Program | Source::Own { .. } | Source::Attached(_) => None,
        }
    }

    /// Prevents that further processes map it.
    pub fn close(&mut self) {
        if let Source::Shared(shared) = &mut self.source
            && let Some(shared) = Arc::get_mut(shared)
        {
            shared.close();
        }
    }

    /// Takes the lock under which elements are accumulated to, for some microseconds at most. The process lock may be
    /// held, and must not be taken before this one is released.
    #[inline]
    pub fn lock(&self) -> MemoryGuard<'_> {
        match &self.source {
            Source::Shared(shared) => MemoryGuard::Processes(shared.lock()),
            Source::Program | Source::Own { .. } | Source::Attached(_) => MemoryGuard::Threads(self.threads.lock()),
        }
    }

    /// Its address.
    pub fn base(&self) -> usize {
        self.base
    }

    /// Its size.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether these bytes lie outside of it, by addresses of this process.
    pub fn is_apart_from(&self, data: &[u8]) -> bool {
        let (start, end) = (data.as_ptr().addr(), data.as_ptr().addr() + data.len());
        end <= self.base || start >= self.base.wrapping_add(self.bytes as usize)
    }

    /// Elements, the first at `offset`, to be written or changed; `None` when they do not lie inside, or overlap.
    pub fn elements_mut(&self, offset: u64, elements: &Elements<'_>) -> Option<RecvBuf<'static>> {
        let start = self.start(offset, elements)?;
        // SAFETY: the elements lie inside memory that stays valid, see the module's text; a program that accesses it at
        // the same time breaks the rules of one-sided communication and reads undefined values.
        unsafe { RecvBuf::new(start, elements.count, elements.datatype()) }
    }

    /// Elements, the first at `offset`, to be read; `None` when they do not lie inside.
    pub fn elements(&self, offset: u64, elements: &Elements<'_>) -> Option<SendBuf<'static>> {
        let start = self.start(offset, elements)?;
        // SAFETY: as for `elements_mut`.
        unsafe { SendBuf::new(start, elements.count, elements.datatype()) }
    }

    fn start(&self, offset: u64, elements: &Elements<'_>) -> Option<*mut u8> {
        let is_inside = match &self.source {
            Source::Attached(attached) => attached.have(offset, elements),
            _ => inside(offset, elements.count, elements.datatype(), self.bytes),
        };
        if !is_inside {
            return None;
        }
        Some(with_exposed_provenance_mut(self.base.wrapping_add(offset as usize)))
    }
}

/// Memory of one process that this one has mapped, for short accesses.
#[derive(Debug)]
#[repr(align(64))] // one line each
pub(crate) struct MappedMemory {
    base: usize,
    size: u64,
    unit: u64,
    /// The most units that are no more than `size` bytes.
    units: u64,
    /// The lock, if the memory is one that processes share.
    lock: Option<ResolvedMemoryLock>,
}

impl MappedMemory {
    /// The memory of a process that exposes `size` bytes of it, in units of `unit` bytes.
    pub fn new(memory: &Memory, size: u64, unit: u64) -> MappedMemory {
        let lock = match &memory.source {
            Source::Shared(shared) => Some(ResolvedMemoryLock::of(shared)),
            Source::Program | Source::Own { .. } | Source::Attached(_) => None,
        };
        let size = size.min(memory.bytes);
        let units = size.checked_div(unit).unwrap_or(0);
        MappedMemory { base: memory.base, size, unit, units, lock }
    }

    /// As [`Memory::lock`], of memory that is shared; `None` for other memory, and while another process has the lock.
    #[inline(always)]
    pub fn try_lock(&self) -> Option<SharedMemoryGuard<'_>> {
        self.lock.as_ref()?.try_lock()
    }

    /// The address of so many bytes at a displacement, few enough to be added to any size, if they lie inside.
    #[inline(always)]
    pub fn address(&self, displacement: isize, bytes: usize) -> Option<*mut u8> {
        // A negative displacement is a large number here.
        if displacement as u64 > self.units {
            return None;
        }
        let offset = displacement as u64 * self.unit;
        (offset + bytes as u64 <= self.size)
            .then(|| with_exposed_provenance_mut(self.base.wrapping_add(offset as usize)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basic::Basic;
    use mpi_core::abi::MPI_INT;

    #[test]
    fn own_memory_is_aligned_zeroed_and_closed_around() {
        for (hint, least) in [(0, 64), (4096, 4096), (48, 64), (1 << 40, 64)] {
            let memory = Memory::allocate(4000, hint).expect("little memory");
            assert!(memory.base().is_multiple_of(least), "{hint}");
            let basic = Basic::predefined(MPI_INT).expect("predefined");
            let ints = |count| Elements { count, basic, derived: None };
            let all = memory.elements(0, &ints(1000)).expect("inside");
            assert!(all.contiguous().expect("in one piece").iter().all(|byte| *byte == 0));
            assert!(memory.elements(0, &ints(1001)).is_none() && memory.elements_mut(4, &ints(1000)).is_none());
            assert!(memory.elements_mut(u64::MAX, &ints(1)).is_none());
        }
        assert!(Memory::allocate(1 << 62, 0).is_none());
        assert_eq!(Memory::allocate(0, 0).expect("nothing").bytes(), 0);
    }

    #[test]
    fn short_accesses_lie_inside() {
        let memory = Memory::allocate(100, 8).expect("little memory");
        let inside = |mapped: &MappedMemory, displacement, bytes| mapped.address(displacement, bytes).is_some();
        for unit in [1, 8, 24, 100] {
            let mapped = MappedMemory::new(&memory, 100, unit);
            for displacement in 0..=110 {
                for bytes in [0, 1, 4, 8, 96, 100, 4096] {
                    let end = displacement as u64 * unit + bytes as u64;
                    assert_eq!(inside(&mapped, displacement, bytes), end <= 100, "{unit} {displacement} {bytes}");
                }
            }
            for displacement in [-1, isize::MIN, isize::MAX, 1 << 61] {
                assert!(!inside(&mapped, displacement, 0), "{unit} {displacement}");
            }
        }
        assert!(MappedMemory::new(&memory, 100, 8).try_lock().is_none(), "memory that no other process has");
        let wide = MappedMemory::new(&memory, 100, 1 << 40);
        assert!(inside(&wide, 0, 100) && !inside(&wide, 1, 0));
    }
}
