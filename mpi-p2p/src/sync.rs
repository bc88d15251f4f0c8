//! The types that the modelled protocols use. `tests/loom.rs` compiles the same files against loom's types.

pub(crate) use mpi_fabric::{Doorbell, ThreadWord, TransferSlot};
pub(crate) use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
