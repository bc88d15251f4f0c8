//! The atomics and the mutex of this crate's protocols. `tests/loom.rs` compiles the same protocol files against
//! loom's.

pub(crate) use mpi_core::single_threaded::{Pair, PairSwap, compare_exchange};
pub(crate) use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
pub(crate) use std::sync::{Mutex, MutexGuard};
