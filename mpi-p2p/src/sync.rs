//! The atomics of the protocols that are modelled. `tests/loom.rs` compiles the same files against loom's.

pub(crate) use mpi_fabric::TransferSlot;
pub(crate) use std::sync::atomic::Ordering;
