//! Properties of Fortran's types, which a Fortran layer sets (MPI-5.0, 20.5): the sizes of the basic types and the
//! bytes of the truth values. Any thread may set and read them at any time.
//!
//! Invariant: each of the two is set once at most.
//! Not here: the predefined datatypes (`mpi-datatype`), whose sizes are fixed: a Fortran layer with others is refused.

use std::sync::{Mutex, MutexGuard, PoisonError};

use mpi_core::Info;
use mpi_core::abi::{
    MPI_DOUBLE_PRECISION, MPI_ERR_ABI, MPI_ERR_ARG, MPI_ERR_INFO_VALUE, MPI_INTEGER, MPI_LOGICAL, MPI_REAL,
};
use mpi_errors::{Error, Result};

/// Keys of sizes, and the datatypes with these sizes.
const SIZES: [(&str, usize); 4] = [
    ("mpi_logical_size", MPI_LOGICAL),
    ("mpi_integer_size", MPI_INTEGER),
    ("mpi_real_size", MPI_REAL),
    ("mpi_double_precision_size", MPI_DOUBLE_PRECISION),
];
/// The sizes that a Fortran LOGICAL may have, in bytes.
const LOGICAL_SIZES: [usize; 5] = [1, 2, 4, 8, 16];

/// The bytes of `.TRUE.` and of `.FALSE.`; as many of them count as the LOGICAL has.
pub type Booleans = [[u8; 16]; 2];

struct FortranAbi {
    info: Option<Info>,
    booleans: Option<(usize, Booleans)>,
}

static FORTRAN_ABI: Mutex<FortranAbi> = Mutex::new(FortranAbi { info: None, booleans: None });

fn fortran_abi() -> MutexGuard<'static, FortranAbi> {
    // A panic ends the process, so no thread sees a partly changed value.
    FORTRAN_ABI.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The bytes of a LOGICAL of this size. Errors: `MPI_ERR_ARG` for a size that none has.
pub fn logical_bytes(size: i32) -> Result<usize> {
    let found = usize::try_from(size).ok().filter(|size| LOGICAL_SIZES.contains(size));
    found.ok_or_else(|| {
        Error::new(MPI_ERR_ARG, "a Fortran LOGICAL has 1, 2, 4, 8 or 16 bytes").arg("logical_size", &size)
    })
}

/// `MPI_Abi_set_fortran_info`. Errors: `MPI_ERR_ABI` when it was set before, and for a size that the library's datatype
/// does not have; `MPI_ERR_INFO_VALUE` for a value that is no size, or neither `true` nor `false`.
pub fn set_info(info: &Info) -> Result<()> {
    for place in 0..info.len() {
        let Some(key) = info.key(place) else { break };
        check_entry(key, info.get(key).unwrap_or_default())?;
    }
    let abi = &mut *fortran_abi();
    if abi.info.is_some() {
        return Err(set_before("information"));
    }
    abi.info = Some(info.clone());
    Ok(())
}

/// `MPI_Abi_get_fortran_info`: a copy of what was set.
pub fn info() -> Option<Info> {
    fortran_abi().info.clone()
}

/// `MPI_Abi_set_fortran_booleans`, with a size from [`logical_bytes`]. Errors: `MPI_ERR_ABI` when they were set before.
pub fn set_booleans(size: usize, booleans: Booleans) -> Result<()> {
    let abi = &mut *fortran_abi();
    if abi.booleans.is_some() {
        return Err(set_before("booleans"));
    }
    abi.booleans = Some((size, booleans));
    Ok(())
}

/// `MPI_Abi_get_fortran_booleans`: the bytes that were set for a LOGICAL of this size.
pub fn booleans(size: usize) -> Option<Booleans> {
    fortran_abi().booleans.filter(|(set, _)| *set == size).map(|(_, booleans)| booleans)
}

fn check_entry(key: &str, value: &str) -> Result<()> {
    if let Some((_, handle)) = SIZES.iter().find(|(known, _)| *known == key) {
        let Ok(size) = value.parse::<u64>() else {
            return Err(Error::new(MPI_ERR_INFO_VALUE, format!("{key} is a number of bytes")).arg("info", &value));
        };
        let own = mpi_datatype::predefined(*handle).map_or(0, |datatype| datatype.size());
        if size != own {
            let rule =
                format!("the library's datatype has {}, and {key} is another number", mpi_errors::counted(own, "byte"));
            return Err(Error::new(MPI_ERR_ABI, rule).arg("info", &size));
        }
    } else if key.starts_with("mpi_") && key.ends_with("_supported") && !matches!(value, "true" | "false") {
        return Err(Error::new(MPI_ERR_INFO_VALUE, format!("{key} is true or false")).arg("info", &value));
    }
    Ok(())
}

#[cold]
fn set_before(what: &str) -> Error {
    Error::new(MPI_ERR_ABI, format!("the Fortran {what} can be set once, and was set before"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_the_librarys_sizes_and_truth_values() {
        assert!(check_entry("mpi_integer_size", "4").is_ok() && check_entry("mpi_real16_supported", "false").is_ok());
        assert!(check_entry("some_key", "anything").is_ok());
        let class = |key, value| check_entry(key, value).expect_err("refused").class();
        assert_eq!(class("mpi_integer_size", "8"), MPI_ERR_ABI);
        assert_eq!(class("mpi_double_precision_size", "eight"), MPI_ERR_INFO_VALUE);
        assert_eq!(class("mpi_real2_supported", "yes"), MPI_ERR_INFO_VALUE);
    }

    #[test]
    fn a_logical_has_a_power_of_two_of_bytes() {
        assert!([1, 2, 4, 8, 16].iter().all(|size| logical_bytes(*size).is_ok()));
        assert!([0, -1, 3, 32, i32::MAX, i32::MIN].iter().all(|size| logical_bytes(*size).is_err()));
    }
}
