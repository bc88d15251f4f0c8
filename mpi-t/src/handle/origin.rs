//! The address that the sources of slots are relative to: that of the table, as soon as it exists.
//!
//! Invariant: it is always that of a word in static memory, and does not change once a handle exists.
//! Not here: the table (`table`), the slots (`slot`).

use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

static NOTHING: AtomicU64 = AtomicU64::new(0);
static ORIGIN: AtomicPtr<AtomicU64> = AtomicPtr::new((&raw const NOTHING).cast_mut());

/// The address.
#[inline(always)]
pub(crate) fn address() -> usize {
    // Acquire pairs with the Release in `set`.
    ORIGIN.load(Ordering::Acquire).expose_provenance()
}

/// The table exists, at this address.
pub(crate) fn set(table: *mut AtomicU64) {
    ORIGIN.store(table, Ordering::Release);
}
