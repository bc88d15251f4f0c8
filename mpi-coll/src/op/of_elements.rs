//! Operations of functions on elements, for programs in Rust.
//!
//! Not here: functions on memory (`Op::user`).
#![allow(unsafe_code)] // reads elements from memory of any alignment

use std::mem::MaybeUninit;
use std::sync::Arc;

use mpi_datatype::Element;

use super::{Elements, Op};

impl Op {
    /// The operation that combines two elements with `combine`, called with values of lower and of higher ranks; it is
    /// assumed associative, not commutative. Only for elements of this type that lie side by side.
    pub fn of_elements<T: Element>(combine: impl Fn(T, T) -> T + Send + Sync + 'static) -> Op {
        let each = size_of::<T>();
        let function = move |invec: &[u8], inoutvec: &mut [u8], elements: &Elements| {
            debug_assert_eq!((elements.handle, elements.extent), (T::HANDLE, each as i64), "elements of this type");
            let (mut lowers, mut highers) = (invec.chunks_exact(each), inoutvec.chunks_exact_mut(each));
            for (lower, higher) in lowers.by_ref().zip(highers.by_ref()) {
                // SAFETY: each chunk has as many bytes as an element, of which all bit patterns are valid.
                let (a, b) = unsafe {
                    (lower.as_ptr().cast::<T>().read_unaligned(), higher.as_ptr().cast::<T>().read_unaligned())
                };
                // SAFETY: as above; the chunk is borrowed mutably.
                unsafe { higher.as_mut_ptr().cast::<T>().write_unaligned(combine(a, b)) };
            }
            // The memory ends with the last element's data, before the gap behind them.
            let (lower, higher) = (lowers.remainder(), highers.into_remainder());
            if !lower.is_empty() && lower.len() == higher.len() {
                let combined = combine(padded(lower), padded(higher));
                // SAFETY: the chunk is shorter than an element, all bytes of which are initialised.
                unsafe { (&raw const combined).cast::<u8>().copy_to(higher.as_mut_ptr(), higher.len()) };
            }
        };
        Op::user(Arc::new(function), false)
    }
}

/// The element with these first bytes, and zeros behind them.
fn padded<T: Element>(bytes: &[u8]) -> T {
    let mut element = MaybeUninit::<T>::zeroed();
    let length = bytes.len().min(size_of::<T>());
    // SAFETY: the element has so many bytes, and all its bit patterns are valid.
    unsafe {
        bytes.as_ptr().copy_to(element.as_mut_ptr().cast(), length);
        element.assume_init()
    }
}
