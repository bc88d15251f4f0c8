//! A ring in mapped memory: a control line pair, then the data.

use std::ptr::NonNull;
use std::sync::OnceLock;

use super::RingMemory;
use crate::layout::{CELL_BYTES, LINE};
use crate::record::{Payload, copy_short};
use crate::sync::{AtomicU64, Ordering};

/// Bytes before the data: the report's line, and one more so that a prefetch of line pairs does not share it.
const CONTROL: usize = 2 * LINE;

/// One ring of the job memory. Lengths are short, so that an endpoint's input is little more than one cache line.
#[derive(Clone)]
pub(crate) struct MappedRing {
    data: NonNull<u8>,
    buffer: NonNull<u8>,
    next: Option<NonNull<u8>>,
    bytes: u32,
    /// Both lengths are powers of two.
    next_shift: u8,
    buffer_shift: u8,
    /// Number of cells of the pair.
    cell_count: u8,
    cells: NonNull<u8>,
}

// SAFETY: it is an address of memory that all processes share and that is accessed by the ring's protocol only.
unsafe impl Send for MappedRing {}

impl MappedRing {
    /// The ring at `first`, followed by the one at `next`, of a sender whose copy buffer is at `buffer`; each an address
    /// and a length. The pair has cells at `cells`, an address and their number.
    /// # Safety
    /// All four are mapped for as long as the value exists, and used by the protocols of ring, buffer and cells
    /// alone; addresses and lengths are multiples of a cache line, and those of `next` and `buffer` of a page.
    pub(crate) unsafe fn new(
        first: (NonNull<u8>, usize),
        next: (NonNull<u8>, usize),
        buffer: (NonNull<u8>, usize),
        cells: (NonNull<u8>, usize),
    ) -> MappedRing {
        assert!(next.1.is_power_of_two() && buffer.1.is_power_of_two(), "{} {}", next.1, buffer.1);
        MappedRing {
            // SAFETY: a ring is longer than its control lines (`layout::FIRST_RING_BYTES`).
            data: unsafe { first.0.add(CONTROL) },
            buffer: buffer.0,
            next: Some(next.0),
            bytes: data_bytes(first.1),
            next_shift: next.1.trailing_zeros() as u8,
            buffer_shift: buffer.1.trailing_zeros() as u8,
            cell_count: u8::try_from(cells.1).expect("layout::MOST_CELLS is less"),
            cells: cells.0,
        }
    }
}

/// Bytes behind the control lines of a ring.
fn data_bytes(ring_bytes: usize) -> u32 {
    u32::try_from(ring_bytes - CONTROL).expect("layout::MAX_RING_BYTES is less")
}

impl RingMemory for MappedRing {
    #[inline(always)]
    fn bytes(&self) -> usize {
        self.bytes as usize
    }

    fn next(&self) -> Option<MappedRing> {
        let at = self.next?;
        // SAFETY: a ring is longer than its control lines (`layout::MIN_RING_BYTES`).
        let data = unsafe { at.add(CONTROL) };
        Some(MappedRing { data, next: None, bytes: data_bytes(1 << self.next_shift), ..self.clone() })
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
        debug_assert!(at.is_multiple_of(8) && at < self.bytes());
        // SAFETY: inside the mapping and aligned, by the caller's contract.
        unsafe { AtomicU64::from_ptr(self.data.as_ptr().add(at).cast()) }
    }

    #[inline(always)]
    unsafe fn fill(&self, at: usize, len: usize, fill: impl FnOnce(&mut [u8])) {
        debug_assert!(at + len <= self.bytes());
        // SAFETY: inside the mapping by the caller's contract; the receiver does not read it before it is published,
        // and a process that breaks the protocol can damage only the bytes that it receives.
        fill(unsafe { std::slice::from_raw_parts_mut(self.data.as_ptr().add(at), len) });
    }

    #[inline(always)]
    unsafe fn write(&self, at: usize, src: &[u8]) {
        debug_assert!(at + src.len() <= self.bytes());
        // SAFETY: inside the mapping by the caller's contract, and `src` is not part of the ring.
        unsafe { copy_short(src.as_ptr(), self.data.as_ptr().add(at), src.len()) };
    }

    /// Demotes the lines to the cache that the cores share, where the receiver finds them sooner (measured: 64 bytes
    /// 272 against 324 ns for a half round trip). Other processors ignore or lack the hint.
    #[inline(always)]
    unsafe fn hand_over(&self, at: usize, bytes: usize) {
        debug_assert!(bytes > 0 && at + bytes <= self.bytes());
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
        debug_assert!(at + len <= self.bytes());
        // SAFETY: inside the mapping and aligned by the caller's contract; the sender does not write there until we
        // report it as read.
        view(unsafe { Payload::new(self.data.as_ptr().add(at), len) })
    }

    fn buffer_bytes(&self) -> usize {
        1 << self.buffer_shift
    }

    #[inline(always)]
    unsafe fn view_buffer<R>(&self, at: usize, len: usize, view: impl FnOnce(Payload<'_>) -> R) -> R {
        debug_assert!(at + len <= self.buffer_bytes());
        // SAFETY: inside the mapping and aligned by the caller's contract; the sender does not write there until we
        // report the record as read.
        view(unsafe { Payload::new(self.buffer.as_ptr().add(at), len) })
    }

    #[inline(always)]
    fn cells(&self) -> usize {
        usize::from(self.cell_count)
    }

    #[inline(always)]
    unsafe fn view_cell<R>(&self, cell: usize, far: bool, len: usize, view: impl FnOnce(Payload<'_>) -> R) -> R {
        debug_assert!(cell < self.cells() && len <= CELL_BYTES);
        // SAFETY: inside the mapping and aligned by the caller's contract; the sender does not write there until we pass
        // the cell back.
        view(unsafe {
            let at = self.cells.as_ptr().add(cell * CELL_BYTES);
            if far { Payload::from_far(at, len) } else { Payload::new(at, len) }
        })
    }
}

/// The least time between two readings of the clock, in nanoseconds. Measured once.
pub(crate) fn clock_ns() -> u64 {
    static NS: OnceLock<u64> = OnceLock::new();
    *NS.get_or_init(|| {
        let between = |_| {
            let before = mpi_t::now_ns();
            mpi_t::now_ns().saturating_sub(before)
        };
        (0..16).map(between).min().unwrap_or(0)
    })
}
