//! Clones of a kernel for the widths of vectors that a processor may have, chosen while the program runs.
//!
//! The compiler vectorises the loop of each clone. Invariant: a clone is only given out on a processor that has its
//! instructions. Not here: the loops (`lanes`, `pairs`).
#![allow(unsafe_code)] // calls functions that need instructions beyond the baseline

use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

use super::Kernel;

/// A loop over the elements of two vectors.
pub(super) trait Work {
    /// As [`Kernel`]. Implementations are `#[inline(always)]`, down to the arithmetic, so that each clone compiles
    /// them with its own instructions.
    fn run(invec: &[u8], inoutvec: &mut [u8]);
}

/// The width of vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Width {
    /// What every processor of the architecture has: 16 bytes.
    Baseline = 1,
    /// 32 bytes: AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// 64 bytes: AVX-512 with its instructions for bytes, doublewords and quadwords.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Width {
    /// All that this processor has, the widest last.
    pub(super) fn available() -> impl Iterator<Item = Width> {
        let widths = [
            Some(Width::Baseline),
            #[cfg(target_arch = "x86_64")]
            is_x86_feature_detected!("avx2").then_some(Width::Avx2),
            #[cfg(target_arch = "x86_64")]
            (is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl"))
            .then_some(Width::Avx512),
        ];
        widths.into_iter().flatten()
    }

    /// The widest that this processor has.
    #[inline]
    pub(super) fn widest() -> Width {
        static FOUND: AtomicU8 = AtomicU8::new(0);
        // Relaxed: every thread computes the same.
        match FOUND.load(Relaxed) {
            #[cfg(target_arch = "x86_64")]
            found if found == Width::Avx512 as u8 => Width::Avx512,
            #[cfg(target_arch = "x86_64")]
            found if found == Width::Avx2 as u8 => Width::Avx2,
            found if found == Width::Baseline as u8 => Width::Baseline,
            _ => {
                let widest = Width::available().last().unwrap_or(Width::Baseline);
                FOUND.store(widest as u8, Relaxed);
                widest
            }
        }
    }

    /// The clone for this width, which the processor has.
    pub(super) fn clone_of<W: Work>(self) -> Kernel {
        match self {
            Width::Baseline => W::run,
            // SAFETY: a `Width` exists only if the processor has it.
            #[cfg(target_arch = "x86_64")]
            Width::Avx2 => |invec, inoutvec| unsafe { avx2::<W>(invec, inoutvec) },
            // SAFETY: as above.
            #[cfg(target_arch = "x86_64")]
            Width::Avx512 => |invec, inoutvec| unsafe { avx512::<W>(invec, inoutvec) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<W: Work>(invec: &[u8], inoutvec: &mut [u8]) {
    W::run(invec, inoutvec);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn avx512<W: Work>(invec: &[u8], inoutvec: &mut [u8]) {
    W::run(invec, inoutvec);
}

#[cfg(test)]
#[path = "vector_tests.rs"]
mod tests;
