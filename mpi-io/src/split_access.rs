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

impl SplitKind {
    /// The name of the pair of functions, without `_begin` and `_end`.
    pub fn function(self) -> &'static str {
        match self {
            SplitKind::ReadAll => "MPI_File_read_all",
            SplitKind::ReadAtAll => "MPI_File_read_at_all",
            SplitKind::WriteAll => "MPI_File_write_all",
            SplitKind::WriteAtAll => "MPI_File_write_at_all",
            SplitKind::ReadOrdered => "MPI_File_read_ordered",
            SplitKind::WriteOrdered => "MPI_File_write_ordered",
        }
    }
}

/// An access between its two calls.
#[derive(Debug)]
pub(crate) struct SplitAccess {
    pub kind: SplitKind,
    /// The address of the program's memory, where that has no gaps.
    pub address: Option<usize>,
    /// What the first call moved; `None` until it returns.
    pub status: Option<Status>,
}
