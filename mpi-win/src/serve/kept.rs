//! Memory of operations under way, which these keep.
//!
//! Invariant: the caller keeps the memory, unchanged, until the request is complete or revoked.

use mpi_datatype::{RecvBuf, SendBuf};

/// Memory of an operation that is under way, to be read. The operation keeps it (`Operation`).
#[allow(unsafe_code)] // the bytes of a vector stay where they are when the vector moves
pub(super) fn borrowed(kept: &[u8]) -> SendBuf<'static> {
    // SAFETY: the caller keeps the vector, unchanged, in `under_way` until the request is complete or revoked.
    unsafe { SendBuf::from_slice(kept).detach() }
}

/// As [`borrowed`], to be written.
#[allow(unsafe_code)] // as above
pub(super) fn borrowed_mut(kept: &mut [u8]) -> RecvBuf<'static> {
    // SAFETY: as above.
    unsafe { RecvBuf::from_slice(kept).detach() }
}
