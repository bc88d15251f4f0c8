//! What the protocols that are modelled stand on. `tests/loom.rs` compiles the same files against loom's.

pub(crate) use mpi_fabric::{Doorbell, ThreadWord, TransferSlot};
pub(crate) use std::sync::atomic::Ordering;
