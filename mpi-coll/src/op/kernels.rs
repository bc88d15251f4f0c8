//! The kernel for each predefined operation and scalar; the loops are instances of [`super::lanes`].
//!
//! Integer sums and products wrap around; logical results are 0 and 1. Sums of half precision are computed in single
//! precision and rounded once per step.

use mpi_datatype::{Category, Scalar};

use super::half::Half;
use super::lanes::{Lane, Real, complex_product, fold_complex, fold_reals};
use super::quad::Quad;
#[cfg(target_arch = "x86_64")]
use super::x87::X87;
use super::{Builtin, Kernel, pairs};

/// The kernel of an operation that is defined on the scalar; `None` where this build has no arithmetic for it.
pub(super) fn kernel(builtin: Builtin, scalar: Scalar, category: Category) -> Option<Kernel> {
    match scalar {
        Scalar::I8 => integer_i8(builtin),
        Scalar::I16 => integer_i16(builtin),
        Scalar::I32 => integer_i32(builtin),
        Scalar::I64 => integer_i64(builtin),
        Scalar::I128 => integer_i128(builtin),
        Scalar::U8 => integer_u8(builtin),
        Scalar::U16 => integer_u16(builtin),
        Scalar::U32 => integer_u32(builtin),
        Scalar::U64 => integer_u64(builtin),
        Scalar::U128 => integer_u128(builtin),
        Scalar::F16 => real::<Half>(builtin),
        Scalar::F32 => float_f32(builtin),
        Scalar::F64 => float_f64(builtin),
        Scalar::F128 => real::<Quad>(builtin),
        Scalar::ComplexF16 => complex::<Half>(builtin),
        Scalar::ComplexF32 => complex::<f32>(builtin),
        Scalar::ComplexF64 => complex::<f64>(builtin),
        Scalar::ComplexF128 => complex::<Quad>(builtin),
        #[cfg(target_arch = "x86_64")]
        Scalar::F80 => real::<X87>(builtin),
        #[cfg(target_arch = "x86_64")]
        Scalar::ComplexF80 => complex::<X87>(builtin),
        _ if category == Category::Pair => pairs::kernel(builtin, scalar),
        _ => None,
    }
}

macro_rules! integers {
    ($($name:ident $lane:ty),+ $(,)?) => {
        $(fn $name(builtin: Builtin) -> Option<Kernel> {
            type T = $lane;
            Some(match builtin {
                Builtin::Sum => |a, b| T::fold(a, b, |x, y| x.wrapping_add(y)),
                Builtin::Prod => |a, b| T::fold(a, b, |x, y| x.wrapping_mul(y)),
                Builtin::Min => |a, b| T::fold(a, b, |x, y| x.min(y)),
                Builtin::Max => |a, b| T::fold(a, b, |x, y| x.max(y)),
                Builtin::Band => |a, b| T::fold(a, b, |x, y| x & y),
                Builtin::Bor => |a, b| T::fold(a, b, |x, y| x | y),
                Builtin::Bxor => |a, b| T::fold(a, b, |x, y| x ^ y),
                Builtin::Land => |a, b| T::fold(a, b, |x, y| (x != 0 && y != 0) as T),
                Builtin::Lor => |a, b| T::fold(a, b, |x, y| (x != 0 || y != 0) as T),
                Builtin::Lxor => |a, b| T::fold(a, b, |x, y| ((x != 0) != (y != 0)) as T),
                Builtin::Minloc | Builtin::Maxloc | Builtin::Replace | Builtin::NoOp => return None,
            })
        })+
    };
}

integers! {
    integer_i8 i8, integer_i16 i16, integer_i32 i32, integer_i64 i64, integer_i128 i128,
    integer_u8 u8, integer_u16 u16, integer_u32 u32, integer_u64 u64, integer_u128 u128,
}

macro_rules! floats {
    ($($name:ident $lane:ty),+ $(,)?) => {
        $(fn $name(builtin: Builtin) -> Option<Kernel> {
            type T = $lane;
            Some(match builtin {
                Builtin::Sum => |a, b| T::fold(a, b, |x, y| x + y),
                Builtin::Prod => |a, b| T::fold(a, b, |x, y| x * y),
                Builtin::Min => |a, b| T::fold(a, b, |x, y| if x < y { x } else { y }),
                Builtin::Max => |a, b| T::fold(a, b, |x, y| if x > y { x } else { y }),
                _ => return None,
            })
        })+
    };
}

floats! { float_f32 f32, float_f64 f64 }

fn real<R: Real>(builtin: Builtin) -> Option<Kernel> {
    Some(match builtin {
        Builtin::Sum => |a, b| fold_reals::<R>(a, b, R::add),
        Builtin::Prod => |a, b| fold_reals::<R>(a, b, R::mul),
        Builtin::Min => |a, b| fold_reals::<R>(a, b, |x, y| if x.less(y) { x } else { y }),
        Builtin::Max => |a, b| fold_reals::<R>(a, b, |x, y| if y.less(x) { x } else { y }),
        _ => return None,
    })
}

fn complex<R: Real>(builtin: Builtin) -> Option<Kernel> {
    Some(match builtin {
        Builtin::Sum => |a, b| fold_complex::<R>(a, b, |x, y| [x[0].add(y[0]), x[1].add(y[1])]),
        Builtin::Prod => |a, b| fold_complex::<R>(a, b, complex_product),
        _ => return None,
    })
}
