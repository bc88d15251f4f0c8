//! Collective communication and reduction operations (MPI-5.0, chapter 6).
//!
//! - [`op`]: reduction operations and their kernels.
//!
//! Not here: handles of operations (`mpi-env`), argument checks of the C interface (`mpi-capi`).

pub mod op;

pub use op::{Builtin, Op, Reducer, UserFunction};
