//! A split collective access between its two calls (MPI-5.0, 14.4.5).
//!
//! Not here: the calls (`split`).

use mpi_core::Status;

/// The pair of calls that makes an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // the names are the standard's
pub enum SplitKind {
    ReadAll,
    ReadAtAll,
    WriteAll,
    WriteAtAll,
    ReadOrdered,
    WriteOrdered,
}

/// An access between its two calls.
#[derive(Debug)]
pub(crate) struct SplitAccess {
    pub kind: SplitKind,
    /// The address of the program's memory, where that has no gaps.
    pub address: Option<usize>,
    pub status: Status,
}
