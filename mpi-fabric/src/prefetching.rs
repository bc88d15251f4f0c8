//! Copies out of memory that another core has written: they fetch lines some way ahead of their use.
//!
//! The lines come from the cache that the cores share, or from memory, later than the processor's own prefetcher asks for
//! them: between two processes each part of a message is too short for it (measured, half round trips of 64 KiB: 3.8 against
//! 3.0 us between near cores, 12 against 7.7 us between far ones).
//! Not here: copies of which the reader is another core (`streaming`).

use crate::layout::LINE;

/// Shorter copies do not gain.
pub(crate) const LEAST: usize = 2 << 10;

/// How far ahead (measured: 512 to 4096 bytes differ by less than a tenth).
const AHEAD: usize = 1 << 10;

/// Copies `len` bytes.
///
/// # Safety
/// `src..src + len` is readable, `dst..dst + len` writable, and they do not overlap.
pub(crate) unsafe fn copy_prefetching(src: *const u8, dst: *mut u8, len: usize) {
    let whole = len / LINE * LINE;
    // SAFETY: the caller's promise; the processor has the instructions, as just found.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx512f") {
            lines_avx512(src, dst, whole);
        } else if std::arch::is_x86_feature_detected!("avx2") {
            lines_avx2(src, dst, whole);
        } else {
            lines(src, dst, whole);
        }
        #[cfg(not(target_arch = "x86_64"))]
        lines(src, dst, whole);
        std::ptr::copy_nonoverlapping(src.add(whole), dst.add(whole), len - whole);
    }
}

/// Copies whole lines.
///
/// # Safety
/// As [`copy_prefetching`]; `bytes` is a multiple of a line.
#[inline(always)] // compiled for each set of instructions
unsafe fn lines(src: *const u8, dst: *mut u8, bytes: usize) {
    (0..bytes.min(AHEAD)).step_by(LINE).for_each(|at| prefetch(src.wrapping_add(at)));
    for at in (0..bytes).step_by(LINE) {
        if at + AHEAD < bytes {
            prefetch(src.wrapping_add(at + AHEAD));
        }
        // SAFETY: inside both, by the caller's promise.
        unsafe {
            let line = src.add(at).cast::<[u8; LINE]>().read_unaligned();
            dst.add(at).cast::<[u8; LINE]>().write_unaligned(line);
        }
    }
}

/// # Safety
/// As [`lines`]; the processor has AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn lines_avx512(src: *const u8, dst: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { lines(src, dst, bytes) };
}

/// # Safety
/// As [`lines`]; the processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn lines_avx2(src: *const u8, dst: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { lines(src, dst, bytes) };
}

/// Hints that the line is going to be written, so that no other cache has it then.
#[inline(always)]
pub(crate) fn prefetch_to_write(line: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, which changes no memory and fails for no address; x86-64 processors without it do nothing.
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) line, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}

/// Hints that the line is going to be read.
#[inline(always)]
pub(crate) fn prefetch(line: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, which changes no memory and fails for no address; every x86-64 processor has it.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(line.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_and_alignment_is_copied_exactly() {
        let src: Vec<u8> = (0..5000u32).map(|i| (i * 7 + 1) as u8).collect();
        for len in (0..200).chain([1023, 1024, 1025, 1087, 1088, 1089, 2048, 4000, 4097]) {
            for (skip, place) in [(0, 0), (1, 0), (8, 3), (33, 63)] {
                let mut dst = vec![0xee; 4400];
                // SAFETY: both vectors are long enough, and different.
                unsafe { copy_prefetching(src.as_ptr().add(skip), dst.as_mut_ptr().add(place), len) };
                assert_eq!(dst[place..place + len], src[skip..skip + len], "{len} from {skip} to {place}");
                assert!(dst[..place].iter().chain(&dst[place + len..]).all(|byte| *byte == 0xee), "{len} to {place}");
            }
        }
    }
}
