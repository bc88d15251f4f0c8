//! Callback safety levels (MPI-5.0, section 15.3.8).
//!
//! Invariant: the discriminants are the ABI's values. Not here: the choice of a callback at a place (`dispatcher`).

use std::cell::Cell;

use mpi_core::abi;

/// The restrictions on a callback, or those that a place demands (MPI-5.0, section 15.3.8); each includes all before
/// it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(i32)]
pub enum Safety {
    /// None: it may call any function.
    None = abi::MPI_T_CB_REQUIRE_NONE,
    /// Only calls about the event, times and performance variables.
    MpiRestricted = abi::MPI_T_CB_REQUIRE_MPI_RESTRICTED,
    /// It is thread-safe too.
    ThreadSafe = abi::MPI_T_CB_REQUIRE_THREAD_SAFE,
    /// It is async-signal-safe too.
    AsyncSignalSafe = abi::MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE,
}

impl Safety {
    /// All levels, the least demanding first.
    pub const ALL: [Safety; 4] = [Safety::None, Safety::MpiRestricted, Safety::ThreadSafe, Safety::AsyncSignalSafe];

    /// The level with this `MPI_T_CB_REQUIRE_*` value, if there is one.
    pub fn from_abi(value: i32) -> Option<Safety> {
        Safety::ALL.into_iter().find(|level| *level as i32 == value)
    }

    /// The name of its constant.
    pub const fn name(self) -> &'static str {
        match self {
            Safety::None => "MPI_T_CB_REQUIRE_NONE",
            Safety::MpiRestricted => "MPI_T_CB_REQUIRE_MPI_RESTRICTED",
            Safety::ThreadSafe => "MPI_T_CB_REQUIRE_THREAD_SAFE",
            Safety::AsyncSignalSafe => "MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE",
        }
    }

    /// The place of the level among all.
    pub(crate) fn place(self) -> usize {
        Safety::ALL.iter().position(|level| *level == self).expect("one of all")
    }
}

thread_local!(static RESTRICTED: Cell<u32> = const { Cell::new(0) });

/// A restricted callback of this thread is running: the raising thread may hold a lock.
pub(crate) struct Restricted(());

impl Restricted {
    /// Marks the thread as being in such a callback until dropped, if the place restricts callbacks.
    pub(crate) fn at(place: Safety) -> Option<Restricted> {
        (place != Safety::None).then(|| {
            RESTRICTED.set(RESTRICTED.get() + 1);
            Restricted(())
        })
    }
}

impl Drop for Restricted {
    fn drop(&mut self) {
        RESTRICTED.set(RESTRICTED.get() - 1);
    }
}

/// Whether this thread is in a restricted callback, and must therefore not wait for a lock of an engine.
pub(crate) fn is_restricted() -> bool {
    RESTRICTED.get() > 0
}
