//! The C ABI of the MPI standard.
