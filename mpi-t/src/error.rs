//! Return codes of the tool information interface (MPI-5.0, section 15.3.10). It never calls an error handler.
//!
//! Invariant: a [`TError`] is one of the ABI's `MPI_T_ERR_*` codes. Not here: their texts (`mpi_errors::classes`).

use std::fmt;

use mpi_core::abi;

/// Why a call of the tool interface failed: an `MPI_T_ERR_*` code.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct TError(i32);

/// The result of a call of the tool interface.
pub type TResult<T> = Result<T, TError>;

impl TError {
    /// The interface is not initialized.
    pub const NOT_INITIALIZED: TError = TError(abi::MPI_T_ERR_NOT_INITIALIZED);
    /// There is no memory left.
    pub const MEMORY: TError = TError(abi::MPI_T_ERR_MEMORY);
    /// An argument is invalid.
    pub const INVALID: TError = TError(abi::MPI_T_ERR_INVALID);
    /// The index names nothing.
    pub const INVALID_INDEX: TError = TError(abi::MPI_T_ERR_INVALID_INDEX);
    /// The session is none, or freed.
    pub const INVALID_SESSION: TError = TError(abi::MPI_T_ERR_INVALID_SESSION);
    /// The handle is none, freed, of another session, or its object is gone.
    pub const INVALID_HANDLE: TError = TError(abi::MPI_T_ERR_INVALID_HANDLE);
    /// Nothing has this name.
    pub const INVALID_NAME: TError = TError(abi::MPI_T_ERR_INVALID_NAME);
    /// What is asked for exists, but cannot be had at this time or from this thread.
    pub const NOT_ACCESSIBLE: TError = TError(abi::MPI_T_ERR_NOT_ACCESSIBLE);
    /// No further handle can be had.
    pub const OUT_OF_HANDLES: TError = TError(abi::MPI_T_ERR_OUT_OF_HANDLES);
    /// No further session can be had.
    pub const OUT_OF_SESSIONS: TError = TError(abi::MPI_T_ERR_OUT_OF_SESSIONS);
    /// The variable can be set, but not at this time or not to this value.
    pub const CVAR_SET_NOT_NOW: TError = TError(abi::MPI_T_ERR_CVAR_SET_NOT_NOW);
    /// The variable can never be set again.
    pub const CVAR_SET_NEVER: TError = TError(abi::MPI_T_ERR_CVAR_SET_NEVER);
    /// The variable can be neither written nor reset.
    pub const PVAR_NO_WRITE: TError = TError(abi::MPI_T_ERR_PVAR_NO_WRITE);
    /// The variable is always active.
    pub const PVAR_NO_STARTSTOP: TError = TError(abi::MPI_T_ERR_PVAR_NO_STARTSTOP);
    /// The variable cannot be read and reset in one step.
    pub const PVAR_NO_ATOMIC: TError = TError(abi::MPI_T_ERR_PVAR_NO_ATOMIC);

    /// The `MPI_T_ERR_*` code.
    #[inline]
    pub const fn code(self) -> i32 {
        self.0
    }
}

impl fmt::Display for TError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(mpi_errors::classes::text(self.0).unwrap_or("unknown code"))
    }
}

impl fmt::Debug for TError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(mpi_errors::classes::name(self.0).unwrap_or("TError"))
    }
}

impl std::error::Error for TError {}

impl From<TError> for mpi_errors::Error {
    fn from(error: TError) -> Self {
        mpi_errors::Error::new(error.0, error.to_string())
    }
}
