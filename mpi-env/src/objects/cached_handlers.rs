//! Filling and reading the cache of communicators' error handlers (`errhandler_cache`).
//!
//! Invariant: every change of the handler of a communicator calls `note_callee`, with the process lock held.
//! Not here: handlers of other objects (`handlers`).
#![allow(unsafe_code)] // counters are found by the address that stands beside the function

use mpi_core::{Guard, Handle};
use mpi_errors::Errhandler;

use crate::metrics::instruments::ErrhandlerInstruments;
use crate::record::process::Process;

impl Process {
    /// The address of the program's function that is a communicator's error handler, about to be called: that is
    /// counted. `None` when it is no such function, or none is cached: use [`Process::handler_to_call`] then.
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
