//! Operations of functions on elements, for programs in Rust.
//!
//! Not here: functions on memory (`Op::user`).
#![allow(unsafe_code)] // reads elements from memory of any alignment

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
            for (lower, higher) in invec.chunks_exact(each).zip(inoutvec.chunks_exact_mut(each)) {
                // SAFETY: each chunk has as many bytes as an element, of which all bit patterns are valid.
                let (a, b) = unsafe {
                    (lower.as_ptr().cast::<T>().read_unaligned(), higher.as_ptr().cast::<T>().read_unaligned())
                };
                // SAFETY: as above; the chunk is borrowed mutably.
                unsafe { higher.as_mut_ptr().cast::<T>().write_unaligned(combine(a, b)) };
            }
        };
        Op::user(Arc::new(function), false)
    }
}
