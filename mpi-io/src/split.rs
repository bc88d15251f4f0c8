//! Split collective accesses (MPI-5.0, 14.4.5): the first call moves the data, the second returns the status.
//!
//! Invariant: a file has at most one such access between its calls.

use mpi_core::Status;
use mpi_core::abi::{MPI_ERR_BUFFER, MPI_ERR_IO};
use mpi_errors::{Error, Result};

use crate::file::File;
use crate::split_access::{SplitAccess, SplitKind};

impl File {
    /// The first call, with the memory at `address` if that has no gaps: `access` moves the data. Errors: `MPI_ERR_IO`
    /// when another such access has not ended, those of `access`; then there is no second call.
    pub fn begin(
        &self,
        kind: SplitKind,
        address: Option<usize>,
        access: impl FnOnce() -> Result<Status>,
    ) -> Result<()> {
        // The entry stands before the data move, so that of two threads only one begins.
        match &mut *self.split() {
            Some(other) => {
                let rule = format!("{}_end has not ended its access yet", other.kind.function());
                return Err(self.refusal(MPI_ERR_IO, rule));
            }
            free => *free = Some(SplitAccess { kind, address, status: None }),
        }
        let moved = access();
        *self.split() = moved.as_ref().ok().map(|status| SplitAccess { kind, address, status: Some(*status) });
        moved.map(drop)
    }

    /// The second call. Errors: `MPI_ERR_IO` when no access of this kind was begun, `MPI_ERR_BUFFER` when it was begun
    /// with other memory; the access has not ended then.
    pub fn end(&self, kind: SplitKind, address: usize) -> Result<Status> {
        let mut split = self.split();
        match &*split {
            None => Err(self.refusal(MPI_ERR_IO, format!("{}_begin has begun no access", kind.function()))),
            Some(begun) if begun.kind != kind => {
                Err(self.refusal(MPI_ERR_IO, format!("{}_begin has begun the access", begun.kind.function())))
            }
            Some(SplitAccess { address: Some(begun), .. }) if *begun != address => {
                let rule = format!("the access was begun with {begun:#x}");
                Err(Error::new(MPI_ERR_BUFFER, rule).arg("buf", &format_args!("{address:#x}")))
            }
            Some(SplitAccess { status: None, .. }) => {
                Err(self.refusal(MPI_ERR_IO, format!("{}_begin has not returned yet", kind.function())))
            }
            Some(SplitAccess { status: Some(status), .. }) => {
                let status = *status;
                *split = None;
                Ok(status)
            }
        }
    }
}
