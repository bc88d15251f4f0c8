//! A cache of communicators' error handlers that are functions of the program, readable without the process lock
//! (MPI-5.0, 9.3), for `MPI_Comm_call_errhandler`.
//!
//! Invariant: an entry equals the communicator's attached handler, or is empty; a change of that handler updates it,
//! under the lock.
//! Not here: the attached handler (`mpi_errors::Attached`), predefined handlers, other objects (`handlers`).

use std::sync::atomic::{AtomicUsize, Ordering};

use mpi_core::abi::{MPI_COMM_SELF, MPI_COMM_WORLD};
use mpi_core::{Facts, Handle};

/// Functions and the counters of their calls, by communicator.
#[derive(Debug, Default)]
pub(crate) struct ErrhandlerCache {
    world: Callee,
    comm_self: Callee,
    pub(crate) functions: Facts,
    pub(crate) counters: Facts,
}

/// The addresses for a predefined communicator; 0 if its handler is not cached.
#[derive(Debug, Default)]
pub(crate) struct Callee {
    function: AtomicUsize,
    counter: AtomicUsize,
}

impl Callee {
    pub(crate) fn set(&self, function: usize, counter: usize) {
        // Release pairs with the Acquire in `get`: a thread that reads the function reads its counter, or a later one.
        self.counter.store(counter, Ordering::Release);
        self.function.store(function, Ordering::Release);
    }

    #[inline]
    pub(crate) fn get(&self) -> Option<(usize, usize)> {
        let function = self.function.load(Ordering::Acquire);
        (function != 0).then(|| (function, self.counter.load(Ordering::Acquire)))
    }
}

impl ErrhandlerCache {
    #[inline]
    pub(crate) fn predefined(&self, comm: Handle) -> Option<&Callee> {
        match comm.0 {
            MPI_COMM_WORLD => Some(&self.world),
            MPI_COMM_SELF => Some(&self.comm_self),
            _ => None,
        }
    }

    /// Removes the entry of a communicator.
    pub fn remove(&self, comm: Handle) {
        self.functions.clear(comm);
        self.counters.clear(comm);
    }
}
