//! Lanes: elements as values, their arithmetic, and the loop over many, at any alignment.
//!
//! Elements are moved through byte arrays, which costs nothing where unaligned loads are cheap and lets the compiler
//! vectorise; no address is ever assumed to be aligned.

use std::marker::PhantomData;

use super::vectors::Work;

/// One element as a value.
pub(super) trait Lane: Copy {
    /// Bytes of memory of one element.
    const SIZE: usize;
    /// Reads an element from the start of `bytes`, which has at least [`Lane::SIZE`].
    fn read(bytes: &[u8]) -> Self;
    /// Writes an element to the start of `bytes`, which has at least [`Lane::SIZE`].
    fn write(self, bytes: &mut [u8]);
}

/// Combines two elements.
pub(super) trait Combine<L> {
    /// `x op y`
    fn of(x: L, y: L) -> L;
}

/// Sets every element of `inoutvec` to `invec op inoutvec`.
pub(super) struct Fold<L, C>(PhantomData<(L, C)>);

impl<L: Lane, C: Combine<L>> Work for Fold<L, C> {
    #[inline(always)]
    fn run(invec: &[u8], inoutvec: &mut [u8]) {
        // The elements before the first cache line of the result, then the others: vectors that are as long as a line
        // then lie in one line each.
        let lead = inoutvec.as_ptr().addr().wrapping_neg() % LINE;
        let whole = invec.len().min(inoutvec.len());
        let lead = if lead.is_multiple_of(L::SIZE) && lead < whole { lead } else { 0 };
        let (first, rest) = inoutvec[..whole].split_at_mut(lead);
        for (left, right) in [(&invec[..lead], first), (&invec[lead..whole], rest)] {
            each::<L, C>(left, right);
        }
    }
}

/// The loop; a function of its own, because the compiler then uses that its arguments do not overlap.
#[inline(always)]
fn each<L: Lane, C: Combine<L>>(invec: &[u8], inoutvec: &mut [u8]) {
    for (left, right) in invec.chunks_exact(L::SIZE).zip(inoutvec.chunks_exact_mut(L::SIZE)) {
        C::of(L::read(left), L::read(right)).write(right);
    }
}

/// Bytes of a cache line.
const LINE: usize = 64;

/// An integer.
pub(super) trait Integer: Lane + Ord {
    fn add(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    /// Whether it stands for true.
    fn holds(self) -> bool;
    /// 1 for true, 0 for false.
    fn truth(holds: bool) -> Self;
}

/// A real number that reductions can add, multiply and order.
pub(super) trait Real: Lane {
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// False when either is not a number.
    fn less(self, other: Self) -> bool;
}

/// Functions of traits, all `#[inline(always)]`.
macro_rules! always {
    ($(fn $name:ident($($parameter:tt)*) -> $result:ty $body:block)+) => {
        $(#[inline(always)]
        fn $name($($parameter)*) -> $result $body)+
    };
}

macro_rules! numbers {
    ($($lane:ty),+) => {
        $(impl Lane for $lane {
            const SIZE: usize = size_of::<$lane>();
            #[inline(always)]
            fn read(bytes: &[u8]) -> Self {
                <$lane>::from_ne_bytes(*bytes.first_chunk().expect("a whole element"))
            }
            #[inline(always)]
            fn write(self, bytes: &mut [u8]) {
                *bytes.first_chunk_mut().expect("a whole element") = self.to_ne_bytes();
            }
        })+
    };
}

macro_rules! integers {
    ($($lane:ty),+) => {
        numbers!($($lane),+);
        $(impl Integer for $lane {
            always! {
                fn add(self, other: Self) -> Self { self.wrapping_add(other) }
                fn mul(self, other: Self) -> Self { self.wrapping_mul(other) }
                fn and(self, other: Self) -> Self { self & other }
                fn or(self, other: Self) -> Self { self | other }
                fn xor(self, other: Self) -> Self { self ^ other }
                fn holds(self) -> bool { self != 0 }
                fn truth(holds: bool) -> Self { <$lane>::from(holds) }
            }
        })+
    };
}

macro_rules! reals {
    ($($lane:ty),+) => {
        numbers!($($lane),+);
        $(impl Real for $lane {
            always! {
                fn add(self, other: Self) -> Self { self + other }
                fn sub(self, other: Self) -> Self { self - other }
                fn mul(self, other: Self) -> Self { self * other }
                fn less(self, other: Self) -> bool { self < other }
            }
        })+
    };
}

integers!(i8, i16, i32, i64, i128, u8, u16, u32, u64, u128);
reals!(f32, f64);

/// A complex number: a real part and an imaginary part, one after the other.
#[derive(Clone, Copy)]
pub(super) struct Complex<R>(pub R, pub R);

impl<R: Real> Lane for Complex<R> {
    const SIZE: usize = 2 * R::SIZE;
    #[inline(always)]
    fn read(bytes: &[u8]) -> Self {
        Complex(R::read(bytes), R::read(&bytes[R::SIZE..]))
    }
    #[inline(always)]
    fn write(self, bytes: &mut [u8]) {
        self.0.write(bytes);
        self.1.write(&mut bytes[R::SIZE..]);
    }
}
