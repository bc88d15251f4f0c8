//! Errors of programs and of the standard library as errors of a call, for `?` in programs in Rust.
//!
//! Invariant: an error of MPI that another error contains keeps its class.
//! Not here: errors of the library itself, which name their class (`error`).

use std::error::Error as StdError;
use std::fmt::Display;
use std::io;

use mpi_core::abi::{
    MPI_ERR_ACCESS, MPI_ERR_FILE_EXISTS, MPI_ERR_IO, MPI_ERR_NO_MEM, MPI_ERR_NO_SPACE, MPI_ERR_NO_SUCH_FILE,
    MPI_ERR_OTHER, MPI_ERR_QUOTA, MPI_ERR_READ_ONLY,
};

use crate::{Error, Result};

impl Error {
    /// An error of the program, of class `MPI_ERR_OTHER`.
    ///
    /// ```
    /// # use mpi_errors::Error;
    /// let count = "12".parse::<u32>().map_err(Error::other)?;
    /// if count > 100 {
    ///     return Err(Error::other(format!("{count} steps are too many")));
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    #[cold]
    pub fn other(error: impl Display) -> Error {
        Error::new(MPI_ERR_OTHER, error.to_string())
    }

    /// An error of any type: itself if it is an error of MPI, else an error with its text, and with the class of the
    /// error of MPI or of the system that is its cause.
    #[cold]
    pub fn of_any(error: &(dyn StdError + 'static)) -> Error {
        let mut cause = Some(error);
        while let Some(found) = cause {
            if let Some(known) = found.downcast_ref::<Error>() {
                return if std::ptr::addr_eq(found, error) {
                    known.clone()
                } else {
                    Error::new(known.class(), text(error))
                };
            }
            if let Some(known) = found.downcast_ref::<io::Error>() {
                return Error::new(class_of(known.kind()), text(error));
            }
            cause = found.source();
        }
        Error::other(text(error))
    }
}

/// The text of an error, followed by those of its causes.
fn text(error: &dyn StdError) -> String {
    let (mut text, mut cause) = (error.to_string(), error.source());
    while let Some(found) = cause {
        let more = found.to_string();
        if !text.contains(&more) {
            text = format!("{text}: {more}");
        }
        cause = found.source();
    }
    text
}

/// The class of an error of the system.
fn class_of(kind: io::ErrorKind) -> i32 {
    match kind {
        io::ErrorKind::NotFound => MPI_ERR_NO_SUCH_FILE,
        io::ErrorKind::PermissionDenied => MPI_ERR_ACCESS,
        io::ErrorKind::AlreadyExists => MPI_ERR_FILE_EXISTS,
        io::ErrorKind::StorageFull => MPI_ERR_NO_SPACE,
        io::ErrorKind::QuotaExceeded => MPI_ERR_QUOTA,
        io::ErrorKind::ReadOnlyFilesystem => MPI_ERR_READ_ONLY,
        io::ErrorKind::OutOfMemory => MPI_ERR_NO_MEM,
        _ => MPI_ERR_IO,
    }
}

/// Conversions of errors of the standard library.
macro_rules! of_program {
    ($($error:ty),+ $(,)?) => {
        $(impl From<$error> for Error {
            fn from(error: $error) -> Error {
                Error::of_any(&error)
            }
        })+
    };
}

of_program!(
    io::Error,
    std::num::ParseIntError,
    std::num::ParseFloatError,
    std::num::TryFromIntError,
    std::str::Utf8Error,
    std::string::FromUtf8Error,
    std::env::VarError,
    std::fmt::Error,
);

impl From<Box<dyn StdError>> for Error {
    fn from(error: Box<dyn StdError>) -> Error {
        Error::of_any(&*error)
    }
}

impl From<Box<dyn StdError + Send + Sync>> for Error {
    fn from(error: Box<dyn StdError + Send + Sync>) -> Error {
        Error::of_any(&*error)
    }
}

/// A result as one of this crate, whatever its error is.
pub fn of_any_result<E: Display + 'static>(result: std::result::Result<(), E>) -> Result<()> {
    result.map_err(|error| {
        let error: &dyn std::any::Any = &error;
        let known = error.downcast_ref::<Error>().cloned();
        let boxed = || error.downcast_ref::<Box<dyn StdError>>().map(|error| Error::of_any(&**error));
        let shared = || error.downcast_ref::<Box<dyn StdError + Send + Sync>>().map(|error| Error::of_any(&**error));
        let io = || error.downcast_ref::<io::Error>().map(|error| Error::of_any(error));
        let other = || error.downcast_ref::<E>().map_or_else(|| Error::other("an error"), Error::other);
        known.or_else(boxed).or_else(shared).or_else(io).unwrap_or_else(other)
    })
}

#[cfg(test)]
mod tests {
    use mpi_core::abi::MPI_ERR_RANK;

    use super::*;

    fn fails(result: impl FnOnce() -> Result<()>) -> Error {
        result().expect_err("it fails")
    }

    #[test]
    fn errors_of_the_standard_library_keep_their_text() {
        let missing = fails(|| Ok(std::fs::File::open("/nowhere/at all").map(drop)?));
        assert_eq!((missing.class(), missing.to_string().contains("No such file")), (MPI_ERR_NO_SUCH_FILE, true));
        let number = fails(|| Ok("x".parse::<u32>().map(drop)?));
        assert_eq!((number.class(), number.to_string().as_str()), (MPI_ERR_OTHER, "invalid digit found in string"));
        let own = fails(|| Err(Box::<dyn StdError>::from("no input"))?);
        assert_eq!((own.class(), own.to_string().as_str()), (MPI_ERR_OTHER, "no input"));
        let pipe = fails(|| Err(io::Error::from(io::ErrorKind::BrokenPipe))?);
        assert_eq!(pipe.class(), MPI_ERR_IO);
    }

    #[test]
    fn an_error_of_mpi_in_a_box_is_itself() {
        let rank = || Error::new(MPI_ERR_RANK, "there are 4 processes").arg("dest", &9).call("MPI_Send");
        let boxed: Box<dyn StdError + Send + Sync> = rank().into();
        let error = fails(|| Err(boxed)?);
        assert_eq!((error.class(), error.to_string()), (MPI_ERR_RANK, rank().to_string()));
        let within = fails(|| Err(io::Error::other(rank()))?);
        assert_eq!(within.to_string(), rank().to_string());
        let boxed: Box<dyn StdError> = rank().into();
        assert_eq!(of_any_result(Err(boxed)).expect_err("an error").class(), MPI_ERR_RANK);
        assert_eq!(of_any_result(Err(rank())).expect_err("an error").class(), MPI_ERR_RANK);
        assert_eq!(of_any_result(Err("of the program")).expect_err("an error").to_string(), "of the program");
    }
}
