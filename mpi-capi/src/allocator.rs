//! The global allocator of the C library, which counts the library's heap memory.
//!
//! Not here: the counters (mpi-env).

#[global_allocator]
static HEAP: mpi_env::Heap = mpi_env::Heap;
