//! Datatypes by the precision and range of Fortran numbers (MPI-5.0, 19.1.10): what `selected_real_kind(p, r)` and
//! `selected_int_kind(r)` give.
//!
//! Invariant: a datatype describes numbers of the kind that the intrinsic function of the compiler returns.
//! Not here: the handles (mpi-env), datatypes by size (`fortran`).

use mpi_core::abi;
use mpi_datatype::predefined;
use mpi_errors::{Error, Result};

use crate::call_context::CallContext;
use crate::check::Out;
use crate::errors::Outcome;

/// The real kinds: decimal digits, greatest decimal exponent, and the datatypes of real and complex numbers. On x86-64 the
/// kind between 8 and 16 is the extended precision of `long double`.
const REALS: &[(i32, i32, usize, usize)] = &[
    (6, 37, abi::MPI_REAL4, abi::MPI_COMPLEX8),
    (15, 307, abi::MPI_REAL8, abi::MPI_COMPLEX16),
    #[cfg(target_arch = "x86_64")]
    (18, 4931, abi::MPI_LONG_DOUBLE, abi::MPI_C_LONG_DOUBLE_COMPLEX),
    (33, 4931, abi::MPI_REAL16, abi::MPI_COMPLEX32),
];

/// The integer kinds: greatest number of decimal digits, and the datatype.
const INTEGERS: [(i32, usize); 5] = [
    (2, abi::MPI_INTEGER1),
    (4, abi::MPI_INTEGER2),
    (9, abi::MPI_INTEGER4),
    (18, abi::MPI_INTEGER8),
    (38, abi::MPI_INTEGER16),
];

/// `MPI_Type_create_f90_real`
pub fn type_create_f90_real(cx: CallContext, p: i32, r: i32, new: Out<usize>) -> Outcome {
    let (_, _, real, _) = real_kind(p, r)?;
    store(cx, real, abi::MPI_COMBINER_F90_REAL, &[p, r], new)
}

/// `MPI_Type_create_f90_complex`
pub fn type_create_f90_complex(cx: CallContext, p: i32, r: i32, new: Out<usize>) -> Outcome {
    let (.., complex) = real_kind(p, r)?;
    store(cx, complex, abi::MPI_COMBINER_F90_COMPLEX, &[p, r], new)
}

/// `MPI_Type_create_f90_integer`
pub fn type_create_f90_integer(cx: CallContext, r: i32, new: Out<usize>) -> Outcome {
    let found = INTEGERS.iter().find(|(digits, _)| (0..=*digits).contains(&r));
    let (_, integer) =
        found.ok_or_else(|| Error::new(abi::MPI_ERR_ARG, "an INTEGER has 0 to 38 decimal digits").arg("r", &r))?;
    store(cx, *integer, abi::MPI_COMBINER_F90_INTEGER, &[r], new)
}

/// The first kind with this precision and range.
fn real_kind(p: i32, r: i32) -> Result<(i32, i32, usize, usize)> {
    if (p, r) == (abi::MPI_UNDEFINED, abi::MPI_UNDEFINED) {
        let rule = "one of p and r has to be given";
        return Err(Error::new(abi::MPI_ERR_ARG, rule).arg("p", &"MPI_UNDEFINED").arg("r", &"MPI_UNDEFINED"));
    }
    let least = |number: i32| if number == abi::MPI_UNDEFINED { 0 } else { number };
    let (digits, exponent) = (least(p), least(r));
    if digits < 0 || exponent < 0 {
        let rule = "a precision and a range are not negative, or MPI_UNDEFINED";
        return Err(Error::new(abi::MPI_ERR_ARG, rule).arg("p", &p).arg("r", &r));
    }
    let found = REALS.iter().find(|(most_digits, most, ..)| digits <= *most_digits && exponent <= *most);
    found.copied().ok_or_else(|| {
        let rule = "no REAL has more than 33 decimal digits or a decimal exponent beyond 4931";
        Error::new(abi::MPI_ERR_ARG, rule).arg("p", &p).arg("r", &r)
    })
}

fn store(cx: CallContext, word: usize, combiner: i32, parameters: &[i32], new: Out<usize>) -> Outcome {
    let like = predefined(word).expect("the tables above name predefined datatypes");
    let CallContext { process, mut guard, .. } = cx;
    new.set(process.type_selected(&mut guard, like, combiner, parameters)?.0);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_kind_that_is_precise_enough_is_taken() {
        let real = |p, r| real_kind(p, r).map(|(.., real, _)| real).ok();
        assert_eq!(real(6, 37), Some(abi::MPI_REAL4));
        assert_eq!(real(6, 38), Some(abi::MPI_REAL8));
        assert_eq!(real(abi::MPI_UNDEFINED, 300), Some(abi::MPI_REAL8));
        assert_eq!(real(33, abi::MPI_UNDEFINED), Some(abi::MPI_REAL16));
        assert_eq!((real(34, 10), real(1, 5000), real(-1, 3)), (None, None, None));
        assert_eq!(real(abi::MPI_UNDEFINED, abi::MPI_UNDEFINED), None);
    }
}
