//! Errors whose class another process has sent as a word.
//!
//! Invariant: such an error has a class of the standard and never `MPI_SUCCESS`, whatever the word is, because each process
//! takes the class 0 for success.

use std::borrow::Cow;

use mpi_core::abi::{MPI_ERR_INTERN, MPI_SUCCESS};
use mpi_errors::{Error, classes};

/// The error of a class that another process has sent, with a message for the user; `MPI_ERR_INTERN` if there is no such class.
#[cold]
pub(crate) fn error_of(class: u64, message: impl Into<Cow<'static, str>>) -> Error {
    let class = i32::try_from(class).ok().filter(|class| *class != MPI_SUCCESS && classes::name(*class).is_some());
    Error::new(class.unwrap_or(MPI_ERR_INTERN), message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_core::abi::MPI_ERR_RANK;

    #[test]
    fn words_that_are_no_classes_are_internal_errors() {
        assert_eq!(error_of(MPI_ERR_RANK as u64, "").class(), MPI_ERR_RANK);
        // The low halves of some of them are MPI_SUCCESS and MPI_ERR_RANK.
        for word in [0, 1 << 32, 1 << 32 | MPI_ERR_RANK as u64, 1 << 31, 63, 100_000, u64::MAX] {
            assert_eq!(error_of(word, "").class(), MPI_ERR_INTERN, "{word:#x}");
        }
    }
}
