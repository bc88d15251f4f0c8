//! Copies out of memory that another core has written, which fetch lines some way ahead of their use, and into memory that
//! another core reads next.
//!
//! The lines come from the cache that the cores share, or from memory, later than the processor's own prefetcher asks for
//! them: between two processes each part of a message is too short for it (measured, half round trips of 64 KiB: 3.8 against
//! 3.0 us between near cores, 12 against 7.7 us between far ones).
//! Not here: stores that go past the caches (`streaming`).

use crate::layout::LINE;

/// Shorter copies do not gain.
pub(crate) const LEAST: usize = 2 << 10;

/// Shorter copies to a reader have no loop of their own.
const WIDE_FROM: usize = 256;

/// How far ahead (measured: 512 to 4096 bytes differ by less than a tenth).
const AHEAD: usize = 1 << 10;
/// How far ahead in the cache of a far core (measured: 4 and 16 KiB are up to a tenth slower).
const FAR_AHEAD: usize = 8 << 10;

const NEAR: bool = false;
const FAR: bool = true;

/// Copies `len` bytes.
///
/// # Safety
/// `src..src + len` is readable, `dst..dst + len` writable, and they do not overlap.
pub(crate) unsafe fn copy_prefetching(src: *const u8, dst: *mut u8, len: usize) {
    // SAFETY: the caller's promise.
    unsafe { copy::<AHEAD, NEAR>(src, dst, len) };
}

/// As [`copy_prefetching`], out of the cache of a far core (`ring::distance`): requests lines further ahead, and for the
/// second-level cache, which can wait for more of them at the same time than the first one (measured, half round trips of 16 KiB:
/// 1.1 us, with the requests of near cores 1.7).
///
/// # Safety
/// As [`copy_prefetching`].
pub(crate) unsafe fn copy_from_far(src: *const u8, dst: *mut u8, len: usize) {
    // SAFETY: the caller's promise.
    unsafe { copy::<FAR_AHEAD, FAR>(src, dst, len) };
}

/// Copies `len` bytes to memory that another core reads next, by the widest stores and without prefetches: each line is
/// stored to once.
///
/// # Safety
/// As [`copy_prefetching`].
#[inline]
pub(crate) unsafe fn copy_to_reader(src: *const u8, dst: *mut u8, len: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        match len < WIDE_FROM {
            true => std::ptr::copy_nonoverlapping(src, dst, len),
            false => copy::<0, NEAR>(src, dst, len),
        }
    }
}

/// Copies `len` bytes to two places, so that they are read once.
///
/// # Safety
/// As [`copy_prefetching`], for both destinations, which do not overlap either.
pub(crate) unsafe fn copy_twice(src: *const u8, dst: *mut u8, also: *mut u8, len: usize) {
    let whole = len / LINE * LINE;
    // SAFETY: the caller's promise; the processor has the instructions, as just found.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx512f") {
            twice_avx512(src, dst, also, whole);
        } else if std::arch::is_x86_feature_detected!("avx2") {
            twice_avx2(src, dst, also, whole);
        } else {
            twice(src, dst, also, whole);
        }
        #[cfg(not(target_arch = "x86_64"))]
        twice(src, dst, also, whole);
        std::ptr::copy_nonoverlapping(src.add(whole), dst.add(whole), len - whole);
        std::ptr::copy_nonoverlapping(src.add(whole), also.add(whole), len - whole);
    }
}

/// Copies whole lines to two places.
///
/// # Safety
/// As [`copy_twice`]; `bytes` is a multiple of a line.
unsafe fn twice(src: *const u8, dst: *mut u8, also: *mut u8, bytes: usize) {
    for at in (0..bytes).step_by(LINE) {
        // SAFETY: inside all three, by the caller's promise.
        unsafe {
            std::ptr::copy_nonoverlapping(src.add(at), dst.add(at), LINE);
            std::ptr::copy_nonoverlapping(src.add(at), also.add(at), LINE);
        }
    }
}

/// As [`twice`]. Vectors by name, because the compiler keeps a line that is stored twice in memory.
///
/// # Safety
/// As [`twice`]; the processor has AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn twice_avx512(src: *const u8, dst: *mut u8, also: *mut u8, bytes: usize) {
    use std::arch::x86_64::{_mm512_loadu_si512, _mm512_storeu_si512};
    for at in (0..bytes).step_by(LINE) {
        // SAFETY: inside all three, by the caller's promise.
        unsafe {
            let line = _mm512_loadu_si512(src.add(at).cast());
            _mm512_storeu_si512(dst.add(at).cast(), line);
            _mm512_storeu_si512(also.add(at).cast(), line);
        }
    }
}

/// # Safety
/// As [`twice`]; the processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn twice_avx2(src: *const u8, dst: *mut u8, also: *mut u8, bytes: usize) {
    use std::arch::x86_64::{_mm256_loadu_si256, _mm256_storeu_si256};
    for at in (0..bytes).step_by(LINE / 2) {
        // SAFETY: inside all three, by the caller's promise.
        unsafe {
            let half = _mm256_loadu_si256(src.add(at).cast());
            _mm256_storeu_si256(dst.add(at).cast(), half);
            _mm256_storeu_si256(also.add(at).cast(), half);
        }
    }
}

/// Copies `len` bytes, and requests lines `A` bytes ahead: for the second-level cache if they are `FAR`.
///
/// # Safety
/// As [`copy_prefetching`].
unsafe fn copy<const A: usize, const FAR: bool>(src: *const u8, dst: *mut u8, len: usize) {
    let whole = len / LINE * LINE;
    // SAFETY: the caller's promise; the processor has the instructions, as just found.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx512f") {
            lines_avx512::<A, FAR>(src, dst, whole);
        } else if std::arch::is_x86_feature_detected!("avx2") {
            lines_avx2::<A, FAR>(src, dst, whole);
        } else {
            lines::<A, FAR>(src, dst, whole);
        }
        #[cfg(not(target_arch = "x86_64"))]
        lines::<A, FAR>(src, dst, whole);
        std::ptr::copy_nonoverlapping(src.add(whole), dst.add(whole), len - whole);
    }
}

/// Copies whole lines.
///
/// # Safety
/// As [`copy_prefetching`]; `bytes` is a multiple of a line.
#[inline(always)] // compiled for each set of instructions
unsafe fn lines<const A: usize, const FAR: bool>(src: *const u8, dst: *mut u8, bytes: usize) {
    (0..bytes.min(A)).step_by(LINE).for_each(|at| prefetch::<FAR>(src.wrapping_add(at)));
    for at in (0..bytes).step_by(LINE) {
        if A > 0 && at + A < bytes {
            prefetch::<FAR>(src.wrapping_add(at + A));
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
unsafe fn lines_avx512<const A: usize, const FAR: bool>(src: *const u8, dst: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { lines::<A, FAR>(src, dst, bytes) };
}

/// # Safety
/// As [`lines`]; the processor has AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn lines_avx2<const A: usize, const FAR: bool>(src: *const u8, dst: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise.
    unsafe { lines::<A, FAR>(src, dst, bytes) };
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
pub(crate) fn prefetch<const FAR: bool>(line: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint, which changes no memory and fails for no address; every x86-64 processor has it.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        match FAR {
            true => _mm_prefetch::<_MM_HINT_T1>(line.cast()),
            false => _mm_prefetch::<_MM_HINT_T0>(line.cast()),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_and_alignment_is_copied_exactly() {
        let src: Vec<u8> = (0..17000u32).map(|i| (i * 7 + 1) as u8).collect();
        for len in (0..200).chain([1023, 1024, 1025, 1087, 1088, 1089, 2048, 4000, 4097, 9000, 16384]) {
            for (skip, place) in [(0, 0), (1, 0), (8, 3), (33, 63)] {
                let mut dst = vec![0xee; 16600];
                let copies: [unsafe fn(*const u8, *mut u8, usize); 3] =
                    [copy_prefetching, copy_from_far, copy_to_reader];
                for copy in copies {
                    dst.fill(0xee);
                    // SAFETY: both vectors are long enough, and different.
                    unsafe { copy(src.as_ptr().add(skip), dst.as_mut_ptr().add(place), len) };
                    assert_eq!(dst[place..place + len], src[skip..skip + len], "{len} from {skip} to {place}");
                    let mut also = vec![0xee; 16600];
                    // SAFETY: as above.
                    unsafe { copy_twice(src.as_ptr().add(skip), dst.as_mut_ptr().add(place), also.as_mut_ptr(), len) };
                    assert_eq!(also[..len], src[skip..skip + len], "{len} from {skip} twice");
                    assert!(also[len..].iter().all(|byte| *byte == 0xee), "{len} twice");
                    assert_eq!(dst[place..place + len], src[skip..skip + len], "{len} from {skip} to {place}");
                    let around = dst[..place].iter().chain(&dst[place + len..]);
                    assert!(around.copied().all(|byte| byte == 0xee), "{len} to {place}");
                }
            }
        }
    }
}
