//! Reads of the running elements of an array, eight or four at a time, where the processor has the instructions.
//!
//! Invariant: an element that is read here has the value that [`state::read_narrow`](crate::state_word::state) would
//! have found at the same moment; if one cannot be read so, none is.
//! Not here: the elements one by one (`found`).
#![allow(unsafe_code)] // inline assembly: the compiler has no atomic access of several words

use std::sync::atomic::AtomicU64;

/// Reads elements of type `u64` whose states are at `states` and whose sources are at `sources`, both without gaps,
/// into `out`. Returns whether it has read them; otherwise those in `out` have any value.
///
/// # Safety
/// At both addresses lie `count` static words, at `out` there is room for as many.
#[inline]
pub(super) unsafe fn read_adjacent(
    states: *const AtomicU64,
    sources: *const AtomicU64,
    out: *mut u64,
    count: usize,
) -> bool {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        // SAFETY: the caller's promise, for parts that are not longer; the processor has the instructions.
        unsafe {
            if count >= 8 && std::arch::is_x86_feature_detected!("avx512f") {
                return in_vectors(vectors::eights, 8, states.cast(), sources.cast(), out, count);
            }
            if count >= 4 && std::arch::is_x86_feature_detected!("avx2") {
                return in_vectors(vectors::fours, 4, states.cast(), sources.cast(), out, count);
            }
        }
    }
    let _ = (states, sources, out, count);
    false
}

/// Reads in vectors of so many elements; the last ones, that do not fill a vector, with those before them once more.
///
/// # Safety
/// As [`read_adjacent`], with at least as many elements; `read` is sound for vectors of that length.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
unsafe fn in_vectors(
    read: unsafe fn(*const u64, *const u64, *mut u64, usize) -> bool,
    length: usize,
    states: *const u64,
    sources: *const u64,
    out: *mut u64,
    count: usize,
) -> bool {
    let whole = count & !(length - 1);
    // SAFETY: both parts are within the elements.
    unsafe {
        read(states, sources, out, whole)
            && (whole == count || {
                let last = count - length;
                read(states.add(last), sources.add(last), out.add(last), length)
            })
    }
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod vectors {
    use std::arch::asm;

    use crate::state_word::state::{ELEMENT_NEEDS_MORE, OWN_SHIFT};

    // SAFETY of both functions: the assembly reads words that other threads and processes may write, as the atomic
    // loads of `read_narrow` do. Each is an aligned word of 8 bytes, so it lies in one line of the cache, and the
    // processors that have these instructions access a line in units of at least 8 bytes: each word is read as a whole.
    // Loads are performed in program order (the memory model of x86), so that a state that is the same before and after
    // its source belongs to it, as there. The compiler assumes that the assembly accesses any memory.

    /// As [`read_adjacent`](super::read_adjacent), eight at a time.
    ///
    /// # Safety
    /// As there; `count` is a multiple of 8 and not 0, and the processor has AVX-512F.
    #[target_feature(enable = "avx512f")]
    pub(super) unsafe fn eights(states: *const u64, sources: *const u64, out: *mut u64, count: usize) -> bool {
        let failed: u32;
        // SAFETY: see above; the loop ends with the last whole vector.
        unsafe {
            asm!(
                "vpxor {changed:x}, {changed:x}, {changed:x}",
                "vpxor {bits:x}, {bits:x}, {bits:x}",
                "2:",
                "vmovdqu64 {state}, [{states} + {at}*8]",
                "vpsraq {value}, {state}, {shift}",
                "vpaddq {value}, {value}, [{sources} + {at}*8]",
                "vporq {bits}, {bits}, {state}",
                // changed | (state ^ state now)
                "vpternlogq {changed}, {state}, [{states} + {at}*8], 0xf6",
                "vmovdqu64 [{out} + {at}*8], {value}",
                "add {at}, 8",
                "cmp {at}, {count}",
                "jne 2b",
                "vpbroadcastq {state}, {refused}",
                "vpandq {bits}, {bits}, {state}",
                "vporq {bits}, {bits}, {changed}",
                "vptestmq k1, {bits}, {bits}",
                "kmovw {failed:e}, k1",
                "vzeroupper",
                states = in(reg) states,
                sources = in(reg) sources,
                out = in(reg) out,
                at = inout(reg) 0_usize => _,
                count = in(reg) count,
                refused = in(reg) ELEMENT_NEEDS_MORE,
                shift = const OWN_SHIFT,
                failed = lateout(reg) failed,
                state = out(zmm_reg) _,
                value = out(zmm_reg) _,
                bits = out(zmm_reg) _,
                changed = out(zmm_reg) _,
                out("k1") _,
                options(nostack),
            );
        }
        failed == 0
    }

    /// As [`read_adjacent`](super::read_adjacent), four at a time.
    ///
    /// # Safety
    /// As there; `count` is a multiple of 4 and not 0, and the processor has AVX2.
    #[target_feature(enable = "avx2")]
    pub(super) unsafe fn fours(states: *const u64, sources: *const u64, out: *mut u64, count: usize) -> bool {
        // The sign of an own part, after a shift that fills with zeros.
        const SIGN: u64 = 1 << (63 - OWN_SHIFT);
        let sound: u8;
        // SAFETY: see above; the loop ends with the last whole vector.
        unsafe {
            asm!(
                "vpxor {changed}, {changed}, {changed}",
                "vpxor {bits}, {bits}, {bits}",
                "vmovq {sign:x}, {word}",
                "vpbroadcastq {sign}, {sign:x}",
                "2:",
                "vmovdqu {state}, [{states} + {at}*8]",
                "vpsrlq {value}, {state}, {shift}",
                "vpxor {value}, {value}, {sign}",
                "vpsubq {value}, {value}, {sign}",
                "vpaddq {value}, {value}, [{sources} + {at}*8]",
                "vpor {bits}, {bits}, {state}",
                "vpxor {state}, {state}, [{states} + {at}*8]",
                "vpor {changed}, {changed}, {state}",
                "vmovdqu [{out} + {at}*8], {value}",
                "add {at}, 4",
                "cmp {at}, {count}",
                "jne 2b",
                "vmovq {state:x}, {refused}",
                "vpbroadcastq {state}, {state:x}",
                "vpand {bits}, {bits}, {state}",
                "vpor {bits}, {bits}, {changed}",
                "vptest {bits}, {bits}",
                "sete {sound}",
                "vzeroupper",
                states = in(reg) states,
                sources = in(reg) sources,
                out = in(reg) out,
                at = inout(reg) 0_usize => _,
                count = in(reg) count,
                word = in(reg) SIGN,
                refused = in(reg) ELEMENT_NEEDS_MORE,
                shift = const OWN_SHIFT,
                sound = lateout(reg_byte) sound,
                sign = out(ymm_reg) _,
                state = out(ymm_reg) _,
                value = out(ymm_reg) _,
                bits = out(ymm_reg) _,
                changed = out(ymm_reg) _,
                options(nostack),
            );
        }
        sound != 0
    }
}

#[cfg(all(test, target_arch = "x86_64", not(miri)))]
mod tests {
    use super::*;
    use crate::state_word::state::{Format, State};

    type Reader = unsafe fn(*const u64, *const u64, *mut u64, usize) -> bool;

    fn readers() -> Vec<(Reader, usize)> {
        let mut readers: Vec<(Reader, usize)> = Vec::new();
        if std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the instructions; the rest is the caller's.
            readers.push((|states, sources, out, count| unsafe { vectors::fours(states, sources, out, count) }, 4));
        }
        if std::arch::is_x86_feature_detected!("avx512f") {
            // SAFETY: as above.
            readers.push((|states, sources, out, count| unsafe { vectors::eights(states, sources, out, count) }, 8));
        }
        readers
    }

    /// What a reader reads of these elements; `None` if it leaves them to others.
    fn values(reader: Reader, states: &[State], sources: &[u64]) -> Option<Vec<u64>> {
        let states: Vec<_> = states.iter().map(|state| AtomicU64::new(state.0)).collect();
        let sources: Vec<_> = sources.iter().map(|source| AtomicU64::new(*source)).collect();
        let mut out = vec![7; states.len()];
        // SAFETY: all three have as many words.
        let read = unsafe { reader(states.as_ptr().cast(), sources.as_ptr().cast(), out.as_mut_ptr(), out.len()) };
        read.then_some(out)
    }

    #[test]
    fn every_value_is_the_sum_of_own_part_and_source() {
        for (reader, step) in readers() {
            for count in [step, 2 * step, 64] {
                let owns: Vec<i64> = (0..count as i64).map(|i| (i - 3) * (i << 40)).collect();
                let states: Vec<_> = owns.iter().map(|own| State::new(*own as u64, 5, Format::Other, true)).collect();
                let sources: Vec<_> = (0..count as u64).map(|i| i << 32 | 1).collect();
                let sums = owns.iter().zip(&sources).map(|(own, source)| source.wrapping_add(*own as u64)).collect();
                assert_eq!(values(reader, &states, &sources), Some(sums));
            }
        }
    }

    #[test]
    fn elements_that_do_not_fill_a_vector_are_read_too() {
        let states: Vec<_> = (0..40).map(|own| AtomicU64::new(State::new(own, 5, Format::Other, true).0)).collect();
        let sources: Vec<_> = (0..40).map(|i| AtomicU64::new(i << 32)).collect();
        for count in 8..40 {
            let mut out = vec![7; count + 1];
            // SAFETY: all three have as many words.
            let read = unsafe { read_adjacent(states.as_ptr(), sources.as_ptr(), out.as_mut_ptr(), count) };
            assert_eq!(read, !readers().is_empty());
            let expected = (0..count as u64).map(|i| i << 32 | i).chain([7]);
            assert!(!read || out.iter().copied().eq(expected), "{count}: {out:?}");
        }
    }

    #[test]
    fn one_element_that_is_stopped_ended_or_wide_leaves_all_to_the_reads_one_by_one() {
        for (reader, step) in readers() {
            let count = 2 * step;
            let running = State::new(1, 2, Format::Other, true);
            for at in 0..count {
                for other in [
                    State::new(1, 2, Format::Other, false),
                    State::new(1, 2, Format::Ended, true),
                    running.with_own(1 << 60),
                ] {
                    let mut states = vec![running; count];
                    states[at] = other;
                    assert_eq!(values(reader, &states, &vec![0; count]), None, "{other:?} at {at}");
                }
            }
        }
    }
}
