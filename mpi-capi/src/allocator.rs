//! The allocator of the C library, which counts what the library holds.
//!
//! Not here: what is counted (mpi-env).

#[global_allocator]
static HEAP: mpi_env::Heap = mpi_env::Heap;
