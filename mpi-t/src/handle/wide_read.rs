//! Reads of the running elements of an array, eight or four at a time, where the processor has the instructions.
//!
//! The certificate of the array (`slot`) is found three times: by the assembly that comes here (`read`), after the facts are
//! loaded, and after the elements are read. In between each element is checked for itself.
//! Invariant: an element that is read here has the value that [`state::read_narrow`](crate::state_word::state) would
//! have found at the same moment; if one cannot be read so, the whole array is read in the longer way.
//! Not here: the elements one by one (`found`).
#![allow(unsafe_code)] // inline assembly: the compiler has no atomic access of several words

/// The fewest elements.
pub(crate) const FEWEST: u32 = 4;

/// Whether the processor has the instructions.
pub(crate) fn is_supported() -> bool {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    return std::arch::is_x86_feature_detected!("avx2");
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    false
}

/// Whether it has those for eight elements without gaps.
pub(crate) fn has_eights() -> bool {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    return is_supported() && std::arch::is_x86_feature_detected!("avx512f");
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    false
}

#[cfg(all(target_arch = "x86_64", not(miri)))]
pub use vectors::read_array;

#[cfg(all(target_arch = "x86_64", not(miri)))]
mod vectors {
    use std::arch::asm;
    use std::ffi::c_void;

    use mpi_core::abi::MPI_SUCCESS;

    use super::FEWEST;
    use crate::handle::access;
    use crate::handle::slot::{ArrayView, Slot};
    use crate::state_word::state::{ELEMENT_NEEDS_MORE, OWN_SHIFT};

    /// Reads an array whose certificate has been found: `MPI_SUCCESS` or an `MPI_T_ERR_*` code.
    ///
    /// # Safety
    /// `out` has room for all of the handle's elements, `slot` is one of the table, and the processor has AVX2.
    #[doc(hidden)]
    #[target_feature(enable = "avx2")]
    pub unsafe extern "C" fn read_array(session: usize, handle: usize, out: *mut c_void, slot: *const c_void) -> i32 {
        // SAFETY: the caller's promise; slots are never unmapped.
        let slot = unsafe { &*slot.cast::<Slot>() };
        if let Some((view, certified)) = slot.certified_array(session, handle)
            // SAFETY: an array that has this certificate has as many states, without gaps, and sources, all static; the
            // caller's promise is the room.
            && unsafe { read_elements(&view, out.cast()) }
            // Afterwards, so that sources that belong to another object by then are not read as these.
            && slot.is_certified(certified)
        {
            return MPI_SUCCESS;
        }
        // SAFETY: the caller's promise.
        unsafe { access::read_raw(session, handle, out) }
    }

    /// Reads the elements; whether all could be read so. Otherwise those in `out` have any value.
    ///
    /// # Safety
    /// At `states` and `sources` of the view lie [`FEWEST`] static words or more, at `out` there is room for as many.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) unsafe fn read_elements(view: &ArrayView, out: *mut u64) -> bool {
        // SAFETY: the caller's promise.
        unsafe {
            match view.facts.stride() {
                1 if view.facts.in_eights() => eights(view, out),
                1 => fours(view, out),
                _ => fours_apart(view, out),
            }
        }
    }

    // SAFETY of the functions below: the assembly reads words that other threads and processes may write, as the atomic
    // loads of `read_narrow` do. Each is an aligned word of 8 bytes, so it lies in one line of the cache, and the
    // processors that have these instructions access a line in units of at least 8 bytes: each word is read as a whole.
    // Loads are performed in program order (the memory model of x86), so that a state that is the same before and after
    // its source belongs to it, as there. The compiler assumes that the assembly accesses any memory. The last vector ends with
    // the last element, and reads elements again that are in the one before.

    /// The sign of an own part, after a shift that fills with zeros.
    static SIGN: u64 = 1 << (63 - OWN_SHIFT);
    /// What no state may have.
    static REFUSED: [u64; 4] = [ELEMENT_NEEDS_MORE; 4];

    /// The lines of assembly that begin: no state changed, no bits of states.
    macro_rules! begin_fours {
        () => {
            "vpxor xmm0, xmm0, xmm0
             vpxor xmm1, xmm1, xmm1
             vpbroadcastq ymm2, qword ptr [rip + {sign}]"
        };
    }

    /// Those that read four elements from number `$at` on, of which `$load` loads the sources into `ymm4`.
    macro_rules! four {
        ($at:literal, $load:expr) => {
            concat!(
                "vmovdqu ymm3, [{states} + ",
                $at,
                "*8]\n",
                $load,
                "
                vpsrlq ymm5, ymm3, {shift}
                vpor ymm1, ymm1, ymm3
                vpxor ymm5, ymm5, ymm2
                vpxor ymm3, ymm3, [{states} + ",
                $at,
                "*8]
                vpsubq ymm5, ymm5, ymm2
                vpor ymm0, ymm0, ymm3
                vpaddq ymm5, ymm5, ymm4
                vmovdqu [{out} + ",
                $at,
                "*8], ymm5"
            )
        };
    }

    /// Those that end: whether a state changed, or is none of these.
    macro_rules! end_fours {
        () => {
            "vpand ymm1, ymm1, [rip + {refused}]
             vpor ymm1, ymm1, ymm0
             vptest ymm1, ymm1
             sete {sound}
             vzeroupper"
        };
    }

    /// Executes assembly that may change all vector registers.
    macro_rules! vector_asm {
        ($($template:expr,)+ ; $($operands:tt)+) => {
            asm!(
                $($template,)+
                $($operands)+
                out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _, out("xmm4") _, out("xmm5") _, out("xmm6") _,
                out("xmm7") _, out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _, out("xmm12") _,
                out("xmm13") _, out("xmm14") _, out("xmm15") _,
                options(nostack),
            )
        };
    }

    /// As [`read_elements`], for sources without gaps.
    ///
    /// # Safety
    /// As there.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) unsafe fn fours(view: &ArrayView, out: *mut u64) -> bool {
        let sound: u8;
        // SAFETY: see above; both vectors are within the elements.
        unsafe {
            vector_asm!(
                begin_fours!(),
                "test {last}, {last}",
                "je 3f",
                "2:",
                four!("{at}", "vmovdqu ymm4, [{sources} + {at}*8]"),
                "add {at}, 4",
                "cmp {at}, {last}",
                "jb 2b",
                "3:",
                four!("{last}", "vmovdqu ymm4, [{sources} + {last}*8]"),
                end_fours!(),
                ;
                states = in(reg) view.elements,
                sources = in(reg) view.source,
                out = in(reg) out,
                at = inout(reg) 0_usize => _,
                last = in(reg) view.facts.count() - FEWEST as usize,
                sign = sym SIGN,
                refused = sym REFUSED,
                shift = const OWN_SHIFT,
                sound = lateout(reg_byte) sound,
            );
        }
        sound != 0
    }

    /// As [`read_elements`], for sources at any distance.
    ///
    /// # Safety
    /// As there.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) unsafe fn fours_apart(view: &ArrayView, out: *mut u64) -> bool {
        macro_rules! load {
            ($from:literal) => {
                concat!(
                    "vmovq xmm4, qword ptr [{",
                    $from,
                    "}]
                     vmovhps xmm4, xmm4, qword ptr [{",
                    $from,
                    "} + {stride}]
                     vmovq xmm6, qword ptr [{",
                    $from,
                    "} + 2*{stride}]
                     vmovhps xmm6, xmm6, qword ptr [{",
                    $from,
                    "} + {three}]
                     vinserti128 ymm4, ymm4, xmm6, 1"
                )
            };
        }
        let (last, stride) = (view.facts.count() - FEWEST as usize, view.facts.stride() * 8);
        let sound: u8;
        // SAFETY: see above; both vectors are within the elements.
        unsafe {
            vector_asm!(
                begin_fours!(),
                "test {last}, {last}",
                "je 3f",
                "2:",
                four!("{at}", load!("sources")),
                "add {at}, 4",
                "lea {sources}, [{sources} + 4*{stride}]",
                "cmp {at}, {last}",
                "jb 2b",
                "3:",
                four!("{last}", load!("last_sources")),
                end_fours!(),
                ;
                states = in(reg) view.elements,
                sources = inout(reg) view.source => _,
                last_sources = in(reg) view.source.byte_add(last * stride),
                out = in(reg) out,
                at = inout(reg) 0_usize => _,
                last = in(reg) last,
                stride = in(reg) stride,
                three = in(reg) 3 * stride,
                sign = sym SIGN,
                refused = sym REFUSED,
                shift = const OWN_SHIFT,
                sound = lateout(reg_byte) sound,
            );
        }
        sound != 0
    }

    /// As [`read_elements`], eight at a time, for eight or more without gaps.
    ///
    /// # Safety
    /// As there, and the processor has AVX-512F.
    #[target_feature(enable = "avx2")]
    #[inline]
    pub(super) unsafe fn eights(view: &ArrayView, out: *mut u64) -> bool {
        macro_rules! eight {
            ($at:literal) => {
                concat!(
                    "vmovdqu64 zmm3, [{states} + ",
                    $at,
                    "*8]
                    vpsraq zmm4, zmm3, {shift}
                    vpaddq zmm4, zmm4, [{sources} + ",
                    $at,
                    "*8]
                    vporq zmm1, zmm1, zmm3
                    # changed | (state ^ state now)
                    vpternlogq zmm0, zmm3, [{states} + ",
                    $at,
                    "*8], 0xf6
                    vmovdqu64 [{out} + ",
                    $at,
                    "*8], zmm4"
                )
            };
        }
        let failed: u32;
        // SAFETY: see above; both vectors are within the elements.
        unsafe {
            vector_asm!(
                "vpxor xmm0, xmm0, xmm0",
                "vpxor xmm1, xmm1, xmm1",
                "test {last}, {last}",
                "je 3f",
                "2:",
                eight!("{at}"),
                "add {at}, 8",
                "cmp {at}, {last}",
                "jb 2b",
                "3:",
                eight!("{last}"),
                "vpbroadcastq zmm2, qword ptr [rip + {refused}]",
                // changed | bits & refused
                "vpternlogq zmm0, zmm1, zmm2, 0xf8",
                "vptestmq k1, zmm0, zmm0",
                "kmovw {failed:e}, k1",
                "vzeroupper",
                ;
                states = in(reg) view.elements,
                sources = in(reg) view.source,
                out = in(reg) out,
                at = inout(reg) 0_usize => _,
                last = in(reg) view.facts.count() - 8,
                refused = sym REFUSED,
                shift = const OWN_SHIFT,
                failed = lateout(reg) failed,
                out("k1") _,
            );
        }
        failed == 0
    }
}

#[cfg(all(test, target_arch = "x86_64", not(miri)))]
mod tests {
    use std::sync::atomic::AtomicU64;

    use super::vectors::{eights, fours, fours_apart};
    use crate::handle::slot::{ArrayView, Facts, Traits};
    use crate::handle::value_format::ValueFormat;
    use crate::state_word::kind::Kind;
    use crate::state_word::state::{Format, State};

    /// A reader, the fewest elements, and the distance of the sources.
    type Reader = (unsafe fn(&ArrayView, *mut u64) -> bool, usize, usize);

    fn readers() -> Vec<Reader> {
        let mut readers: Vec<Reader> = Vec::new();
        if super::is_supported() {
            // SAFETY: the processor has the instructions; the rest is the caller's.
            readers.push((|view, out| unsafe { fours(view, out) }, 4, 1));
            for stride in [1, 2, 44] {
                // SAFETY: as above.
                readers.push((|view, out| unsafe { fours_apart(view, out) }, 4, stride));
            }
            if std::arch::is_x86_feature_detected!("avx512f") {
                // SAFETY: as above.
                readers.push((|view, out| unsafe { eights(view, out) }, 8, 1));
            }
        }
        readers
    }

    /// What a reader reads of these elements; `None` if it leaves them to others.
    fn values((reader, _, stride): Reader, states: &[State], sources: &[u64]) -> Option<Vec<u64>> {
        let states: Vec<_> = states.iter().map(|state| AtomicU64::new(state.0)).collect();
        let mut words: Vec<_> = (0..sources.len() * stride).map(|_| AtomicU64::new(u64::MAX)).collect();
        for (i, source) in sources.iter().enumerate() {
            words[i * stride] = AtomicU64::new(*source);
        }
        // Nothing behind the last source belongs to the array.
        words.truncate((sources.len() - 1) * stride + 1);
        let mut out = vec![7; states.len() + 1];
        let facts = Facts::of(Traits {
            kind: Kind::Sum,
            value_format: ValueFormat::WHOLE.bits(),
            readonly: false,
            continuous: false,
            in_vectors: true,
            in_eights: false,
            handles_word: 0,
            stride: stride as u16,
            count: states.len() as u32,
        });
        let view = ArrayView { facts, source: words.as_ptr().cast_mut(), elements: states.as_ptr().cast_mut() };
        // SAFETY: all three have as many words.
        let read = unsafe { reader(&view, out.as_mut_ptr()) };
        assert_eq!(out.pop(), Some(7), "beyond the elements");
        read.then_some(out)
    }

    #[test]
    fn every_value_is_the_sum_of_own_part_and_source() {
        for reader in readers() {
            for count in (reader.1..40).chain([64]) {
                let owns: Vec<i64> = (0..count as i64).map(|i| (i - 3) * (i << 40)).collect();
                let states: Vec<_> = owns.iter().map(|own| State::new(*own as u64, 5, Format::Other, true)).collect();
                let sources: Vec<_> = (0..count as u64).map(|i| i << 32 | 1).collect();
                let sums = owns.iter().zip(&sources).map(|(own, source)| source.wrapping_add(*own as u64)).collect();
                assert_eq!(values(reader, &states, &sources), Some(sums), "{count} elements, {} apart", reader.2);
            }
        }
    }

    #[test]
    fn one_element_that_is_stopped_ended_or_wide_leaves_all_to_the_reads_one_by_one() {
        for reader in readers() {
            let running = State::new(1, 2, Format::Other, true);
            for count in [reader.1, 2 * reader.1 + 1] {
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
}
