//! Replies of services, and the messages of operations with requests.
//!
//! Not here: sending records (`sending`), applying them (`serve`).

use mpi_core::Handle;
use mpi_core::abi::{MPI_ERR_OTHER, MPI_ERR_RMA_RANGE, MPI_ERR_TRUNCATE};
use mpi_errors::{Error, Result};

/// A message of an operation that has a request.
pub(crate) struct Part {
    /// Its own request.
    pub message: Handle,
    /// Of a reply, its bytes.
    pub reply: Option<u64>,
    /// The memory that it sends.
    pub kept: Vec<u8>,
}

/// The result of a reply of so many bytes of a rank.
pub(crate) fn replied((rank, bytes): (u32, u64), error: Option<Error>, received: u64) -> Result<()> {
    match error {
        Some(error) if bytes == 0 && error.class() == MPI_ERR_TRUNCATE => Err(refused(rank)),
        Some(error) => Err(error),
        None if received == 0 && bytes > 0 => Err(refused(rank)),
        None if received != bytes => Err(short(rank, bytes)),
        None => Ok(()),
    }
}

#[cold]
fn refused(rank: u32) -> Error {
    let text = format!("rank {rank} refused an operation of this process, because its memory is not attached there");
    Error::new(MPI_ERR_RMA_RANGE, text)
}

#[cold]
fn short(rank: u32, bytes: u64) -> Error {
    let text = format!("rank {rank} did not answer with {}", mpi_errors::counted(bytes, "byte"));
    Error::new(MPI_ERR_OTHER, text)
}
