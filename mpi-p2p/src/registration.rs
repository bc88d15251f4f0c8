//! Registering the memory of operations for the process on their other side.
//!
//! Invariant: an object with a registration also holds the memory's buffer, or drops the registration before it.
//! Not here: what a registration permits (`mpi_fabric`), when it ends (`transfer`, `shared_copy`).
#![allow(unsafe_code)] // asserts that buffers of requests under way are valid

use mpi_fabric::{Access, Endpoint, RegionKey, Registration};

/// Lets `dest` read a send's data.
pub(crate) fn for_reading(endpoint: &Endpoint, dest: u32, data: &[u8]) -> (RegionKey, Registration) {
    // SAFETY: the data stays as it is until its send completes, and the send's request keeps the registration.
    unsafe { endpoint.register(&[dest], data.as_ptr().cast_mut(), data.len(), Access::Read) }
}

/// Lets `peer` read a table, of runs or of regions.
pub(crate) fn of_table(endpoint: &Endpoint, peer: u32, words: &[u64]) -> (RegionKey, Registration) {
    // SAFETY: a table does not change, and the object with the registration also holds the table.
    unsafe { endpoint.register(&[peer], words.as_ptr().cast_mut().cast(), size_of_val(words), Access::Read) }
}

/// Lets `from` write to a receive's buffer.
pub(crate) fn for_writing(endpoint: &Endpoint, from: u32, memory: &mut [u8]) -> (RegionKey, Registration) {
    // SAFETY: the buffer is the library's until its receive completes, which is after the registration has ended; the
    // claims of chunks keep the two processes apart.
    unsafe { endpoint.register(&[from], memory.as_mut_ptr(), memory.len(), Access::ReadWrite) }
}
