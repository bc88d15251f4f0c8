//! Watched fields: fields that are expensive to update, and are updated only while a handle exists: a word behind the
//! value counts the handles.
//!
//! A handle reads true values: a sum counts from the handle's start, and the owner of a level sets it when the first
//! handle is made ([`declare_on_demand`](crate::Registry::declare_on_demand)).
//! Invariant: the field is not updated while no handle exists; the check is one load.
//! Not here: the count of handles (`handle::pool`), the fields themselves (`field`).

use std::ops::Deref;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::field::{Field, KEPT, WordUnit};
use crate::{Counter, Level, Percentage, PvarClass, State, Timer};

macro_rules! watched {
    ($($(#[$doc:meta])* $name:ident: $field:ident;)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Default)]
        #[repr(C)]
        pub struct $name {
            field: $field,
            /// Handles that exist.
            handles: AtomicU64,
        }

        #[allow(unsafe_code)] // see the trait
        // SAFETY: repr(C) over words: those of another field, whose value is its first, and one more.
        unsafe impl Field for $name {
            const CLASSES: &'static [PvarClass] = $field::CLASSES;
            const UNIT: WordUnit = $field::UNIT;
            const HANDLES: usize = size_of::<$field>() / 8;
        }

        impl $name {
            /// Whether a handle exists, so that the field must be updated. Async-signal-safe, thread-safe.
            #[inline(always)]
            pub fn is_watched(&self) -> bool {
                // Relaxed: an update that begins while a handle is being made may be missed; one that begins afterwards
                // in the same thread is not.
                KEPT && self.handles.load(Relaxed) != 0
            }
        }

        impl Deref for $name {
            type Target = $field;

            #[inline(always)]
            fn deref(&self) -> &$field {
                &self.field
            }
        }
    )+};
}

watched! {
    /// Sums up time, but only while a handle exists: for intervals so short that timing each would cost too much.
    WatchedTimer: Timer;
    /// Counts events, but only while a handle exists: for places where even a count costs too much.
    WatchedCounter: Counter;
    /// The part of a resource that is in use, updated only while a handle exists: for values that are expensive to
    /// compute.
    WatchedPercentage: Percentage;
    /// The amount of a resource that is in use, with watermarks, updated only while a handle exists.
    WatchedLevel: Level;
    /// The state of something, updated only while a handle exists.
    WatchedState: State;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PvarClass, Registry};

    crate::instruments! {
        /// Of the process.
        struct WatchedBlock: NoObject {
            /// What it does.
            state: WatchedState = { name: "watched_state", class: State, type: i32, unit: "", category: "watched" },
            /// How much there is.
            left: WatchedLevel =
                { name: "watched_left", class: Level, type: u64, unit: "bytes", category: "watched" },
        }
    }

    #[test]
    fn a_handle_of_a_single_value_is_counted_by_its_own_field() {
        let registry = Registry::with_environment([]);
        registry.init_thread().expect("address space");
        let block = WatchedBlock::detached();
        registry.register(block).expect("new names");
        let session = registry.pvar_session_create().expect("room");
        let watched = || (block.state.is_watched(), block.left.is_watched());
        for (name, class, while_it_lives) in
            [("watched_state", PvarClass::State, (true, false)), ("watched_left", PvarClass::Level, (false, true))]
        {
            let index = registry.pvar_get_index(name, class as i32).expect("declared");
            let (handle, _) = registry.pvar_handle_alloc(session, index, None).expect("room");
            assert_eq!(watched(), while_it_lives);
            registry.pvar_handle_free(session, handle).expect("live");
            assert_eq!(watched(), (false, false));
        }
    }
}
