//! Copies whose stores go past the caches.
//!
//! An ordinary store first fetches its line from the cache that has it. Where that is the cache of a core far away, as
//! in a ring whose reader has just read it, a record of several lines waits for each of them. A streaming store writes
//! whole lines without fetching them, and the reader gets them from memory.
//! Not here: when this pays (`ring::distance`).

use crate::layout::LINE;

/// Copies `len` bytes with streaming stores; they are visible to a thread that sees a later Release store.
///
/// # Safety
/// `src..src + len` is readable, `dst..dst + len` rounded up to whole lines writable, and they do not overlap; `dst` is
/// aligned to a line. The bytes behind `len` in the last line get undefined values.
#[cfg(target_arch = "x86_64")]
pub(crate) unsafe fn copy_streaming(src: *const u8, dst: *mut u8, len: usize) {
    use std::arch::x86_64::_mm_sfence;

    debug_assert!((dst as usize).is_multiple_of(LINE));
    let whole = len / LINE * LINE;
    // SAFETY: lines below `whole` lie inside both; the rest is copied to a line of this function first, and `dst` has
    // room for whole lines. The fence orders the streaming stores before every later store (they are ordered with
    // nothing otherwise).
    unsafe {
        lines(src, dst, whole);
        if whole < len {
            let mut rest = [0; LINE];
            std::ptr::copy_nonoverlapping(src.add(whole), rest.as_mut_ptr(), len - whole);
            lines(rest.as_ptr(), dst.add(whole), LINE);
        }
        _mm_sfence();
    }
}

/// Copies whole lines, with the widest stores that the processor has.
///
/// # Safety
/// `bytes` bytes, a multiple of a line, are readable at `src`, and writable at `dst`, which is aligned to a line.
#[cfg(target_arch = "x86_64")]
unsafe fn lines(src: *const u8, dst: *mut u8, bytes: usize) {
    // SAFETY: the caller's promise; the processor has the instructions, as just found.
    unsafe {
        if std::arch::is_x86_feature_detected!("avx512f") {
            lines_of_64(src, dst, bytes);
        } else if std::arch::is_x86_feature_detected!("avx") {
            lines_of_32(src, dst, bytes);
        } else {
            lines_of_16(src, dst, bytes);
        }
    }
}

/// # Safety
/// As [`lines`]; the processor has AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn lines_of_64(src: *const u8, dst: *mut u8, bytes: usize) {
    use std::arch::x86_64::{_mm512_loadu_si512, _mm512_stream_si512};
    for at in (0..bytes).step_by(LINE) {
        // SAFETY: inside both, by the caller's promise.
        unsafe { _mm512_stream_si512(dst.add(at).cast(), _mm512_loadu_si512(src.add(at).cast())) };
    }
}

/// # Safety
/// As [`lines`]; the processor has AVX.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
unsafe fn lines_of_32(src: *const u8, dst: *mut u8, bytes: usize) {
    use std::arch::x86_64::{_mm256_loadu_si256, _mm256_stream_si256};
    for at in (0..bytes).step_by(LINE / 2) {
        // SAFETY: inside both, by the caller's promise; half a line is aligned to 32 bytes.
        unsafe { _mm256_stream_si256(dst.add(at).cast(), _mm256_loadu_si256(src.add(at).cast())) };
    }
}

/// # Safety
/// As [`lines`]. Every x86-64 processor has these instructions.
#[cfg(target_arch = "x86_64")]
unsafe fn lines_of_16(src: *const u8, dst: *mut u8, bytes: usize) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
    for at in (0..bytes).step_by(LINE) {
        // SAFETY: inside both, by the caller's promise.
        unsafe {
            let (src, dst) = (src.add(at).cast::<__m128i>(), dst.add(at).cast::<__m128i>());
            let parts = [0, 1, 2, 3].map(|i| _mm_loadu_si128(src.add(i)));
            for (i, part) in parts.into_iter().enumerate() {
                _mm_stream_si128(dst.add(i), part);
            }
        }
    }
}

/// As on x86-64; other processors fetch no lines that are written whole, or not for long.
///
/// # Safety
/// As there.
#[cfg(not(target_arch = "x86_64"))]
pub(crate) unsafe fn copy_streaming(src: *const u8, dst: *mut u8, len: usize) {
    // SAFETY: the caller's promise.
    unsafe { std::ptr::copy_nonoverlapping(src, dst, len) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[repr(align(64))]
    struct Lines([u8; 1024]);

    #[test]
    fn every_length_and_alignment_of_the_source_is_copied_exactly() {
        let src: Vec<u8> = (0..1100u32).map(|i| (i * 7 + 1) as u8).collect();
        for len in (0..300).chain([511, 512, 513, 959, 960]) {
            for skip in [0, 1, 8, 33] {
                let mut to = Lines([0xee; 1024]);
                // SAFETY: `src` has 1100 bytes, `to` 1024, and both are different memory; aligned by its type.
                unsafe { copy_streaming(src.as_ptr().add(skip), to.0.as_mut_ptr(), len) };
                assert_eq!(to.0[..len], src[skip..skip + len], "{len} from {skip}");
                assert!(to.0[len.next_multiple_of(LINE)..].iter().all(|byte| *byte == 0xee), "{len} from {skip}");
            }
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn stores_of_each_width_copy_the_same() {
        type Copy = unsafe fn(*const u8, *mut u8, usize);
        let widths: [(bool, Copy); 3] = [
            (true, lines_of_16),
            (std::arch::is_x86_feature_detected!("avx"), lines_of_32),
            (std::arch::is_x86_feature_detected!("avx512f"), lines_of_64),
        ];
        let src: Vec<u8> = (0..1100u32).map(|i| (i * 7 + 1) as u8).collect();
        for (_, copy) in widths.into_iter().filter(|(is_there, _)| *is_there) {
            for len in [0, LINE, 5 * LINE, 15 * LINE] {
                let mut to = Lines([0xee; 1024]);
                // SAFETY: as above; the processor has the instructions.
                unsafe { copy(src.as_ptr().add(1), to.0.as_mut_ptr(), len) };
                assert_eq!(to.0[..len], src[1..=len]);
                assert!(to.0[len..].iter().all(|byte| *byte == 0xee));
            }
        }
    }
}
