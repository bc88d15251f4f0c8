//! Lanes: the arithmetic of one element and the loop over many, at any alignment.
//!
//! Elements are moved through byte arrays, which costs nothing where unaligned loads are cheap and lets the compiler
//! vectorise; no address is ever assumed to be aligned.

/// One element as a value.
pub(super) trait Lane: Copy {
    /// Sets every element of `inoutvec` to `combine(invec, inoutvec)`.
    fn fold(invec: &[u8], inoutvec: &mut [u8], combine: impl Fn(Self, Self) -> Self);
}

macro_rules! lanes {
    ($($lane:ty),+) => {
        $(impl Lane for $lane {
            #[inline(always)]
            fn fold(invec: &[u8], inoutvec: &mut [u8], combine: impl Fn(Self, Self) -> Self) {
                const SIZE: usize = size_of::<$lane>();
                let (left, _) = invec.as_chunks::<SIZE>();
                let (right, _) = inoutvec.as_chunks_mut::<SIZE>();
                for (left, right) in left.iter().zip(right) {
                    *right = combine(<$lane>::from_ne_bytes(*left), <$lane>::from_ne_bytes(*right)).to_ne_bytes();
                }
            }
        })+
    };
}

lanes!(i8, i16, i32, i64, i128, u8, u16, u32, u64, u128, f32, f64);

/// A real number that reductions can add, multiply and order.
pub(super) trait Real: Copy {
    /// Bytes of memory of one number.
    const SIZE: usize;
    /// Reads a number from the start of `bytes`, which has at least [`Real::SIZE`].
    fn read(bytes: &[u8]) -> Self;
    /// Writes a number to the start of `bytes`, which has at least [`Real::SIZE`].
    fn write(self, bytes: &mut [u8]);
    fn add(self, other: Self) -> Self;
    fn sub(self, other: Self) -> Self;
    fn mul(self, other: Self) -> Self;
    /// False when either is not a number.
    fn less(self, other: Self) -> bool;
}

macro_rules! reals {
    ($($real:ty),+) => {
        $(impl Real for $real {
            const SIZE: usize = size_of::<$real>();
            #[inline(always)]
            fn read(bytes: &[u8]) -> Self {
                <$real>::from_ne_bytes(*bytes.first_chunk().expect("a whole element"))
            }
            #[inline(always)]
            fn write(self, bytes: &mut [u8]) {
                *bytes.first_chunk_mut().expect("a whole element") = self.to_ne_bytes();
            }
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self + other
            }
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self - other
            }
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self * other
            }
            #[inline(always)]
            fn less(self, other: Self) -> bool {
                self < other
            }
        })+
    };
}

reals!(f32, f64);

/// Sets every number of `inoutvec` to `combine(invec, inoutvec)`.
#[inline(always)]
pub(super) fn fold_reals<R: Real>(invec: &[u8], inoutvec: &mut [u8], combine: impl Fn(R, R) -> R) {
    for (left, right) in invec.chunks_exact(R::SIZE).zip(inoutvec.chunks_exact_mut(R::SIZE)) {
        combine(R::read(left), R::read(right)).write(right);
    }
}

/// As [`fold_reals`] for complex numbers: a real part and an imaginary part, one after the other.
#[inline(always)]
pub(super) fn fold_complex<R: Real>(invec: &[u8], inoutvec: &mut [u8], combine: impl Fn([R; 2], [R; 2]) -> [R; 2]) {
    for (left, right) in invec.chunks_exact(2 * R::SIZE).zip(inoutvec.chunks_exact_mut(2 * R::SIZE)) {
        let number = |bytes: &[u8]| [R::read(bytes), R::read(&bytes[R::SIZE..])];
        let [real, imaginary] = combine(number(left), number(right));
        real.write(right);
        imaginary.write(&mut right[R::SIZE..]);
    }
}

/// `(a + bi)(c + di)`
#[inline(always)]
pub(super) fn complex_product<R: Real>([a, b]: [R; 2], [c, d]: [R; 2]) -> [R; 2] {
    [a.mul(c).sub(b.mul(d)), a.mul(d).add(b.mul(c))]
}
