//! Constructors of this crate's errors.

use std::io;

use mpi_core::abi;
use mpi_errors::Error;

use crate::signal_mask::file_size_limit;

/// The system refused something that the library needs.
pub(crate) fn system(what: &str, error: &io::Error) -> Error {
    let class = match error.raw_os_error() {
        Some(libc::ENOMEM | libc::ENOSPC) => abi::MPI_ERR_NO_MEM,
        _ => abi::MPI_ERR_OTHER,
    };
    Error::new(class, format!("{what}: {error}"))
}

/// The kernel refused to make or grow shared memory of `bytes` bytes.
pub(crate) fn memory(what: &str, bytes: u64, error: &io::Error) -> Error {
    match (error.raw_os_error(), file_size_limit()) {
        (Some(libc::EFBIG), Some(limit)) => Error::new(
            abi::MPI_ERR_NO_MEM,
            format!(
                "{what}: it has {bytes} bytes, but this process may make files and shared memory of {limit} bytes at \
                 most (RLIMIT_FSIZE: raise it with `ulimit -f`)"
            ),
        ),
        _ => system(&format!("{what} of {bytes} bytes"), error),
    }
}

/// Another process, or the environment, passed something invalid.
pub(crate) fn foreign(what: impl Into<std::borrow::Cow<'static, str>>) -> Error {
    Error::new(abi::MPI_ERR_OTHER, what)
}

/// A rank wrote something into a ring that is no record.
#[cold]
pub(crate) fn bad_record(peer: u32, bad: crate::ring::BadRecord) -> Error {
    foreign(format!(
        "rank {peer} wrote something that is no message ({:#018x} at offset {} of its ring to this rank): its memory is \
         corrupted, or it runs another version of the library",
        bad.word, bad.at
    ))
}
