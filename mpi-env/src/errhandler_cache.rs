//! Communicators' error handlers that are the program's own functions, to be found without the process lock
//! (MPI-5.0, 9.3): what `MPI_Comm_call_errhandler` needs.
//!
//! Invariant: what stands here of a communicator is what its place for the handler says, or nothing; whoever changes
//! that place says so here, under the lock.
//! Not here: the place (`mpi_errors::Attached`), handlers that are not functions, other objects (`handlers`).
#![allow(unsafe_code)] // counters are found by the address that stands beside the function

use std::sync::atomic::{AtomicUsize, Ordering};

use mpi_core::abi::{MPI_COMM_SELF, MPI_COMM_WORLD};
use mpi_core::{Facts, Guard, Handle};
use mpi_errors::Errhandler;

use crate::object_metrics::ErrhandlerInstruments;
use crate::process::Process;

/// Functions, and the counters of their calls, by communicator.
#[derive(Debug, Default)]
pub(crate) struct ErrhandlerCache {
    world: Callee,
    comm_self: Callee,
    functions: Facts,
    counters: Facts,
}

/// Those of a predefined communicator; 0 where there are none.
#[derive(Debug, Default)]
struct Callee {
    function: AtomicUsize,
    counter: AtomicUsize,
}

impl Callee {
    fn set(&self, function: usize, counter: usize) {
        // Release pairs with the Acquire in `get`: who reads the function reads its counter, or a later one.
        self.counter.store(counter, Ordering::Release);
        self.function.store(function, Ordering::Release);
    }

    #[inline]
    fn get(&self) -> Option<(usize, usize)> {
        let function = self.function.load(Ordering::Acquire);
        (function != 0).then(|| (function, self.counter.load(Ordering::Acquire)))
    }
}

impl ErrhandlerCache {
    #[inline]
    fn predefined(&self, comm: Handle) -> Option<&Callee> {
        match comm.0 {
            MPI_COMM_WORLD => Some(&self.world),
            MPI_COMM_SELF => Some(&self.comm_self),
            _ => None,
        }
    }

    /// The communicator is gone.
    pub fn forget(&self, comm: Handle) {
        self.functions.clear(comm);
        self.counters.clear(comm);
    }
}

impl Process {
    /// The address of the program's function that is a communicator's error handler, about to be called: that is
    /// counted. `None` when it is no such function, or nothing is known: ask [`Process::handler_to_call`] then.
    /// Takes no lock; thread-safe.
    #[inline]
    pub fn callee(&self, comm: Handle) -> Option<usize> {
        let (function, counter) = match self.errhandler_cache.predefined(comm) {
            Some(callee) if self.has_world() => callee.get()?,
            Some(_) => return None,
            None => (
                self.errhandler_cache.functions.get(comm)? as usize,
                self.errhandler_cache.counters.get(comm)? as usize,
            ),
        };
        // SAFETY: `note_callee` stores no other address than that of a block of counters, which are never unmapped.
        let block = unsafe { &*std::ptr::with_exposed_provenance::<ErrhandlerInstruments>(counter) };
        self.count_call(block);
        Some(function)
    }

    /// A communicator has another error handler, or is new.
    pub(crate) fn note_callee(&self, guard: &Guard<'_>, comm: Handle) {
        let word = self.comm(guard, comm).map(|comm| comm.errhandler().get());
        let found = word.and_then(|word| match self.errhandlers.get(guard).attached(word) {
            Errhandler::User { function, .. } => Some((function, self.counters_of(guard, word)?)),
            _ => None,
        });
        let addresses = found.map(|(function, block)| (function, std::ptr::from_ref(block).expose_provenance()));
        match (self.errhandler_cache.predefined(comm), addresses) {
            (Some(callee), addresses) => {
                let (function, counter) = addresses.unwrap_or_default();
                callee.set(function, counter);
            }
            (None, None) => self.errhandler_cache.forget(comm),
            (None, Some((function, counter))) => {
                self.errhandler_cache.counters.set(comm, counter as u64);
                self.errhandler_cache.functions.set(comm, function as u64);
            }
        }
    }
}
