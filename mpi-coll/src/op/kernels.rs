//! The kernel for each predefined operation and scalar; the loops are instances of [`super::lanes`], in clones for each
//! width of vectors where the arithmetic has vectors.
//!
//! Integer sums and products wrap around; logical results are 0 and 1. Sums of half precision are computed in single
//! precision and rounded once per step.

use mpi_datatype::{Category, Scalar};

use super::half::Half;
use super::lanes::{Combine, Complex, Fold, Integer, Real};
use super::quad::Quad;
use super::vectors::Width;
#[cfg(target_arch = "x86_64")]
use super::x87::X87;
use super::{Builtin, Kernel, pairs};

/// The kernel of an operation that is defined on the scalar; `None` where this build has no arithmetic for it.
#[inline]
pub(super) fn kernel(builtin: Builtin, scalar: Scalar, category: Category) -> Option<Kernel> {
    kernel_of_width(Width::widest(), builtin, scalar, category)
}

/// The same with vectors of this width.
pub(super) fn kernel_of_width(width: Width, builtin: Builtin, scalar: Scalar, category: Category) -> Option<Kernel> {
    match scalar {
        Scalar::I8 => integer::<i8>(width, builtin),
        Scalar::I16 => integer::<i16>(width, builtin),
        Scalar::I32 => integer::<i32>(width, builtin),
        Scalar::I64 => integer::<i64>(width, builtin),
        Scalar::I128 => integer::<i128>(width, builtin),
        Scalar::U8 => integer::<u8>(width, builtin),
        Scalar::U16 => integer::<u16>(width, builtin),
        Scalar::U32 => integer::<u32>(width, builtin),
        Scalar::U64 => integer::<u64>(width, builtin),
        Scalar::U128 => integer::<u128>(width, builtin),
        Scalar::F16 => real::<Half>(width, builtin),
        Scalar::F32 => real::<f32>(width, builtin),
        Scalar::F64 => real::<f64>(width, builtin),
        // Integer arithmetic of 128 bits, and the x87 unit: they have no vectors.
        Scalar::F128 => real::<Quad>(Width::Baseline, builtin),
        Scalar::ComplexF16 => complex::<Half>(width, builtin),
        Scalar::ComplexF32 => complex::<f32>(width, builtin),
        Scalar::ComplexF64 => complex::<f64>(width, builtin),
        Scalar::ComplexF128 => complex::<Quad>(Width::Baseline, builtin),
        #[cfg(target_arch = "x86_64")]
        Scalar::F80 => real::<X87>(Width::Baseline, builtin),
        #[cfg(target_arch = "x86_64")]
        Scalar::ComplexF80 => complex::<X87>(Width::Baseline, builtin),
        _ if category == Category::Pair => pairs::kernel(width, builtin, scalar),
        _ => None,
    }
}

/// Types that stand for an operation on all lanes with a trait.
macro_rules! operations {
    ($trait:ident, $lane:ty: $($name:ident |$x:ident, $y:ident| $value:expr;)+) => {
        $(struct $name;

        impl<T: $trait> Combine<$lane> for $name {
            #[inline(always)]
            fn of($x: $lane, $y: $lane) -> $lane {
                $value
            }
        })+
    };
}

operations! { Integer, T:
    Sum |x, y| x.add(y);
    Prod |x, y| x.mul(y);
    Min |x, y| x.min(y);
    Max |x, y| x.max(y);
    Band |x, y| x.and(y);
    Bor |x, y| x.or(y);
    Bxor |x, y| x.xor(y);
    Land |x, y| T::truth(x.holds() & y.holds());
    Lor |x, y| T::truth(x.holds() | y.holds());
    Lxor |x, y| T::truth(x.holds() ^ y.holds());
}

operations! { Real, T:
    RealSum |x, y| x.add(y);
    RealProd |x, y| x.mul(y);
    RealMin |x, y| if x.less(y) { x } else { y };
    RealMax |x, y| if y.less(x) { x } else { y };
}

operations! { Real, Complex<T>:
    ComplexSum |x, y| Complex(x.0.add(y.0), x.1.add(y.1));
    ComplexProd |x, y| Complex(x.0.mul(y.0).sub(x.1.mul(y.1)), x.0.mul(y.1).add(x.1.mul(y.0)));
}

fn integer<T: Integer>(width: Width, builtin: Builtin) -> Option<Kernel> {
    Some(match builtin {
        Builtin::Sum => width.clone_of::<Fold<T, Sum>>(),
        Builtin::Prod => width.clone_of::<Fold<T, Prod>>(),
        Builtin::Min => width.clone_of::<Fold<T, Min>>(),
        Builtin::Max => width.clone_of::<Fold<T, Max>>(),
        Builtin::Band => width.clone_of::<Fold<T, Band>>(),
        Builtin::Bor => width.clone_of::<Fold<T, Bor>>(),
        Builtin::Bxor => width.clone_of::<Fold<T, Bxor>>(),
        Builtin::Land => width.clone_of::<Fold<T, Land>>(),
        Builtin::Lor => width.clone_of::<Fold<T, Lor>>(),
        Builtin::Lxor => width.clone_of::<Fold<T, Lxor>>(),
        Builtin::Minloc | Builtin::Maxloc | Builtin::Replace | Builtin::NoOp => return None,
    })
}

fn real<R: Real>(width: Width, builtin: Builtin) -> Option<Kernel> {
    Some(match builtin {
        Builtin::Sum => width.clone_of::<Fold<R, RealSum>>(),
        Builtin::Prod => width.clone_of::<Fold<R, RealProd>>(),
        Builtin::Min => width.clone_of::<Fold<R, RealMin>>(),
        Builtin::Max => width.clone_of::<Fold<R, RealMax>>(),
        _ => return None,
    })
}

fn complex<R: Real>(width: Width, builtin: Builtin) -> Option<Kernel> {
    Some(match builtin {
        Builtin::Sum => width.clone_of::<Fold<Complex<R>, ComplexSum>>(),
        Builtin::Prod => width.clone_of::<Fold<Complex<R>, ComplexProd>>(),
        _ => return None,
    })
}
