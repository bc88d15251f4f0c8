//! The atomics of the protocols that loom models. `tests/loom.rs` compiles the same files with loom's atomics.

pub(crate) use crate::single_threaded::is_single_threaded;
pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering, compiler_fence};

/// Threads that can have the bias of a lock, in turn.
pub(crate) const SLOTS: usize = 256;
