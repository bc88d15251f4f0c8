//! Filling and reading the cache of communicators' error handlers (`errhandler_cache`).
//!
//! Invariant: every change of the handler of a communicator calls `update_errhandler_cache`, with the process lock
//! held.
//! Not here: handlers of other objects (`handlers`).
#![allow(unsafe_code)] // the cache stores the address of the counters beside the function's

use mpi_core::{Guard, Handle};
use mpi_errors::Errhandler;

use crate::metrics::instruments::ErrhandlerInstruments;
use crate::record::process::Process;

impl Process {
    /// Returns the address of the program's function that is a communicator's error handler, and counts the call that
    /// follows. `None` if the handler is not a function of the program, or is not cached: use
    /// [`Process::handler_to_call`] then. Takes no lock; thread-safe.
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
        // SAFETY: `update_errhandler_cache` stores only addresses of blocks of counters, which are never unmapped.
        let block = unsafe { &*std::ptr::with_exposed_provenance::<ErrhandlerInstruments>(counter) };
        self.count_call(block);
        Some(function)
    }

    /// Updates the cache after a communicator was created or got another error handler.
    pub(crate) fn update_errhandler_cache(&self, guard: &Guard<'_>, comm: Handle) {
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
            (None, None) => self.errhandler_cache.remove(comm),
            (None, Some((function, counter))) => {
                self.errhandler_cache.counters.set(comm, counter as u64);
                self.errhandler_cache.functions.set(comm, function as u64);
            }
        }
    }
}
