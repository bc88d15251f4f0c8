//! Values with their places, for reductions that find where the smallest or largest value is (MPI-5.0, 6.9.4).
//!
//! Invariant: what is padding in the struct of C is a field here, so that all bytes of a pair are initialised.
//! Not here: the operations `MPI_MINLOC` and `MPI_MAXLOC` (mpi-coll).
#![allow(unsafe_code)] // the trait `Element` is unsafe to implement

use std::fmt;

use mpi_core::abi::{MPI_2INT, MPI_DOUBLE_INT, MPI_FLOAT_INT, MPI_LONG_INT, MPI_SHORT_INT};

use crate::element::Element;

/// A value and its place, such as a rank or an index: an element of `MPI_DOUBLE_INT` and the like.
///
/// Two pairs are equal when their values and places are.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct Located<T: Value> {
    /// The value.
    pub value: T,
    between: T::Between,
    /// The place. Of equal values a reduction takes that of the lowest place.
    pub place: i32,
    behind: T::Behind,
}

/// The types of values in a [`Located`]: `f32`, `f64`, `i16`, `i32` and `i64`.
pub trait Value: Element + Default + PartialEq + fmt::Debug + sealed::Sealed {
    /// The bytes between value and place.
    #[doc(hidden)]
    type Between: Gap;
    /// The bytes behind the place.
    #[doc(hidden)]
    type Behind: Gap;
    /// The handle word of the pair's datatype.
    #[doc(hidden)]
    const PAIR: usize;
}

/// Bytes that are initialised and not part of a message.
#[doc(hidden)]
pub trait Gap: Copy + Default + Send + Sync + 'static {}

impl Gap for () {}
impl Gap for u16 {}
impl Gap for u32 {}

mod sealed {
    /// No other crate has types of values.
    pub trait Sealed {}
}

impl<T: Value> Located<T> {
    /// A value with its place.
    pub fn new(value: T, place: i32) -> Located<T> {
        Located { value, place, between: T::Between::default(), behind: T::Behind::default() }
    }
}

impl<T: Value> PartialEq for Located<T> {
    fn eq(&self, other: &Located<T>) -> bool {
        (self.value, self.place) == (other.value, other.place)
    }
}

impl<T: Value> fmt::Debug for Located<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Located").field("value", &self.value).field("place", &self.place).finish()
    }
}

macro_rules! values {
    ($($value:ty, $between:ty, $behind:ty => $handle:ident),+ $(,)?) => {
        $(
            impl sealed::Sealed for $value {}
            impl Value for $value {
                type Between = $between;
                type Behind = $behind;
                const PAIR: usize = $handle;
            }
        )+
        $(
            // No padding: the fields fill the struct.
            const _: () = assert!(
                size_of::<Located<$value>>() == size_of::<$value>() + size_of::<$between>() + 4 + size_of::<$behind>()
            );
        )+
    };
}

values! {
    f32, (), () => MPI_FLOAT_INT, f64, (), u32 => MPI_DOUBLE_INT, i16, u16, () => MPI_SHORT_INT,
    i32, (), () => MPI_2INT, i64, (), u32 => MPI_LONG_INT,
}

// SAFETY: integers and floating-point numbers without padding, as asserted above; all their bit patterns are valid. The
// struct of C has the value and the `int` at the same places.
unsafe impl<T: Value> Element for Located<T> {
    const HANDLE: usize = T::PAIR;
    const BYTES: usize = size_of::<T>() + size_of::<i32>();
}

#[cfg(test)]
mod tests {
    use std::mem::offset_of;

    use super::*;
    use crate::{RecvBuf, SendBuf};

    #[test]
    fn pairs_lie_as_their_datatypes_have_them() {
        fn agrees<T: Value>(place: i64) -> bool {
            let (datatype, mut runs) = (Located::<T>::datatype(), Vec::new());
            let size = size_of::<Located<T>>();
            datatype.each_run(0, datatype.size(), |at, length| {
                runs.push((at, length));
                true
            });
            let bytes: u64 = runs.iter().map(|run| run.1).sum();
            (datatype.extent(), datatype.size()) == (size as i64, Located::<T>::BYTES as u64)
                && bytes == datatype.size()
                && offset_of!(Located<T>, place) as i64 == place
                && runs.last().is_some_and(|run| run.0 + run.1 as i64 == place + 4)
        }
        assert!(agrees::<f32>(4) && agrees::<f64>(8) && agrees::<i16>(4) && agrees::<i32>(4) && agrees::<i64>(8));
    }

    #[test]
    fn gaps_are_neither_sent_nor_received() {
        let pairs = [Located::new(-1i16, 7), Located::new(2, -8)];
        let (mut packed, mut into) = ([0; 12], [Located { value: 0i16, between: 0xabcd, place: 0, behind: () }; 2]);
        assert_eq!(SendBuf::from_slice(&pairs).pack(0, &mut packed), 12);
        assert_eq!((&packed[..2], &packed[6..8]), (&(-1i16).to_ne_bytes()[..], &2i16.to_ne_bytes()[..]));
        assert_eq!(RecvBuf::from_slice(&mut into).unpack(0, &packed), 12);
        assert_eq!(into, pairs);
        assert!(into.iter().all(|pair| pair.between == 0xabcd));
        assert_eq!(SendBuf::from_slice(&[] as &[Located<f64>]).bytes(), 0);
    }
}
