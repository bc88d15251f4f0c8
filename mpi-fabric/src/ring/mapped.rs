//! A ring in mapped memory: a control line pair, then the data.

use std::ptr::NonNull;
use std::sync::OnceLock;

use super::RingMemory;
use crate::layout::LINE;
use crate::record::{Payload, copy_short};
use crate::sync::{AtomicU64, Ordering};

/// Bytes before the data: the report's line, and one more so that a prefetch of line pairs does not share it.
const CONTROL: usize = 2 * LINE;

/// One ring of the job memory.
#[derive(Clone)]
pub(crate) struct MappedRing {
    data: NonNull<u8>,
    bytes: usize,
    buffer: NonNull<u8>,
    buffer_bytes: usize,
}

// SAFETY: it is an address of memory that all processes share and that is accessed by the ring's protocol only.
unsafe impl Send for MappedRing {}

impl MappedRing {
    /// The ring at `at`, of a sender whose copy buffer is at `buffer`.
    /// # Safety
    /// `at..at + ring_bytes` and `buffer..buffer + buffer_bytes` are mapped for as long as the value exists, and used by
    /// the protocols of ring and buffer alone; both addresses are multiples of a page, both lengths of a cache line.
    pub(crate) unsafe fn new(
        (at, ring_bytes): (NonNull<u8>, usize),
        (buffer, buffer_bytes): (NonNull<u8>, usize),
    ) -> MappedRing {
        // SAFETY: a ring is longer than its control lines (`layout::MIN_RING_BYTES`).
        MappedRing { data: unsafe { at.add(CONTROL) }, bytes: ring_bytes - CONTROL, buffer, buffer_bytes }
    }
}

impl RingMemory for MappedRing {
    #[inline(always)]
    fn bytes(&self) -> usize {
        self.bytes
    }

    #[inline(always)]
    fn credit(&self) -> &AtomicU64 {
        // SAFETY: the first word of the control lines, mapped and aligned by `new`'s contract.
        unsafe { AtomicU64::from_ptr(self.data.as_ptr().sub(CONTROL).cast()) }
    }

    fn timed_credit(&self) -> (u64, u32) {
        let (before, credit) = (mpi_t::now_ns(), self.credit().load(Ordering::Acquire));
        // The clock waits for earlier loads. Reading it takes time itself, the least time between two readings.
        let took = mpi_t::now_ns().saturating_sub(before).saturating_sub(clock_ns());
        (credit, took.try_into().unwrap_or(u32::MAX))
    }

    #[inline(always)]
    unsafe fn word(&self, at: usize) -> &AtomicU64 {
        debug_assert!(at.is_multiple_of(8) && at < self.bytes);
        // SAFETY: inside the mapping and aligned, by the caller's contract.
        unsafe { AtomicU64::from_ptr(self.data.as_ptr().add(at).cast()) }
    }

    #[inline(always)]
    unsafe fn fill(&self, at: usize, len: usize, fill: impl FnOnce(&mut [u8])) {
        debug_assert!(at + len <= self.bytes);
        // SAFETY: inside the mapping by the caller's contract; the receiver does not read it before it is published,
        // and a process that breaks the protocol can damage only the bytes that it receives.
        fill(unsafe { std::slice::from_raw_parts_mut(self.data.as_ptr().add(at), len) });
    }

    #[inline(always)]
    unsafe fn write(&self, at: usize, src: &[u8]) {
        debug_assert!(at + src.len() <= self.bytes);
        // SAFETY: inside the mapping by the caller's contract, and `src` is not part of the ring.
        unsafe { copy_short(src.as_ptr(), self.data.as_ptr().add(at), src.len()) };
    }

    /// Demotes the lines to the cache that the cores share, where the receiver finds them sooner (measured: 64 bytes
    /// 272 against 324 ns for a half round trip). Other processors ignore or lack the hint.
    #[inline(always)]
    unsafe fn hand_over(&self, at: usize, bytes: usize) {
        debug_assert!(bytes > 0 && at + bytes <= self.bytes);
        #[cfg(target_arch = "x86_64")]
        {
            let mut done = 0;
            // A record has a line at least, so the first one needs no check; a constant length needs no loop.
            loop {
                // SAFETY: a hint about a line inside the mapping; it changes no memory, and is a no-op where unknown.
                unsafe {
                    let line = self.data.as_ptr().add(at + done);
                    std::arch::asm!("cldemote [{}]", in(reg) line, options(nostack, preserves_flags));
                }
                done += LINE;
                if done >= bytes {
                    break;
                }
            }
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = (at, bytes);
    }

    #[inline(always)]
    unsafe fn view<R>(&self, at: usize, len: usize, view: impl FnOnce(Payload<'_>) -> R) -> R {
        debug_assert!(at + len <= self.bytes);
        // SAFETY: inside the mapping and aligned by the caller's contract; the sender does not write there until we
        // report it as read.
        view(unsafe { Payload::new(self.data.as_ptr().add(at), len) })
    }

    fn buffer_bytes(&self) -> usize {
        self.buffer_bytes
    }

    #[inline(always)]
    unsafe fn view_buffer<R>(&self, at: usize, len: usize, view: impl FnOnce(Payload<'_>) -> R) -> R {
        debug_assert!(at + len <= self.buffer_bytes);
        // SAFETY: inside the mapping and aligned by the caller's contract; the sender does not write there until we
        // report the record as read.
        view(unsafe { Payload::new(self.buffer.as_ptr().add(at), len) })
    }
}

/// The least time between two readings of the clock, in nanoseconds. Measured once.
fn clock_ns() -> u64 {
    static NS: OnceLock<u64> = OnceLock::new();
    *NS.get_or_init(|| {
        let between = |_| {
            let before = mpi_t::now_ns();
            mpi_t::now_ns().saturating_sub(before)
        };
        (0..16).map(between).min().unwrap_or(0)
    })
}
