//! The atomics of every protocol in this crate: core's, or loom's when a model is checked (`--cfg loom`).

#[cfg(not(loom))]
pub(crate) use core::hint::spin_loop;
#[cfg(not(loom))]
pub(crate) use core::sync::atomic::{AtomicU32, AtomicU64, Ordering, compiler_fence, fence};

#[cfg(loom)]
pub(crate) use loom::hint::spin_loop;
#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// Loom has no compiler fence; the models use the full one in its place (see `doorbell`).
#[cfg(loom)]
pub(crate) fn compiler_fence(order: Ordering) {
    fence(order);
}
