//! The result of a call that continues after an error, so that the other processes do not wait for its messages.

use mpi_core::abi::{MPI_ERR_OTHER, MPI_ERR_TRUNCATE};
use mpi_errors::{Error, Result};

/// The first error of a call.
#[derive(Debug, Default)]
pub struct Outcome {
    first: Option<Error>,
}

impl Outcome {
    /// Records an error, if it is the first.
    #[inline]
    pub fn record(&mut self, result: Result<()>) {
        if let Err(error) = result {
            self.keep(error);
        }
    }

    /// Records an error about the data of a message, which has been received all the same (`MPI_ERR_TRUNCATE`,
    /// `MPI_ERR_OTHER`). Returns any other error: the call cannot continue.
    #[inline]
    pub fn record_data_error(&mut self, result: Result<()>) -> Result<()> {
        match result {
            Ok(()) => Ok(()),
            Err(error) if matches!(error.class(), MPI_ERR_TRUNCATE | MPI_ERR_OTHER) => {
                self.keep(error);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    #[cold]
    fn keep(&mut self, error: Error) {
        self.first.get_or_insert(error);
    }

    /// The result of the call.
    #[inline]
    pub fn end(self) -> Result<()> {
        self.first.map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_core::abi::MPI_ERR_INTERN;

    #[test]
    fn the_first_error_is_the_result() {
        let mut outcome = Outcome::default();
        outcome.record(Ok(()));
        assert!(outcome.record_data_error(Err(Error::new(MPI_ERR_TRUNCATE, "first"))).is_ok());
        outcome.record(Err(Error::new(MPI_ERR_INTERN, "second")));
        assert_eq!(outcome.end().expect_err("two errors").class(), MPI_ERR_TRUNCATE);
        assert!(Outcome::default().end().is_ok());
    }

    #[test]
    fn an_error_that_is_not_about_data_ends_the_call() {
        let mut outcome = Outcome::default();
        assert!(outcome.record_data_error(Err(Error::new(MPI_ERR_INTERN, "fault"))).is_err());
        assert!(outcome.end().is_ok());
    }
}
