//! Requests and matched messages by the integers that name them in Fortran (MPI-5.0, 19.3.4).
//!
//! Not here: the integer of a handle (`mpi_core::Handle::to_fortran`).

use mpi_core::{Guard, Handle};

use crate::engine::Engine;

impl Engine {
    /// The live request that an integer names; a predefined handle is its constant. `None` for any other integer.
    pub fn request_of_int(&self, guard: &Guard<'_>, word: i32) -> Option<Handle> {
        let core = &self.state.get(guard).core;
        core.requests
            .from_fortran(word)
            .or_else(|| core.at_once.from_fortran(word))
            .or_else(|| core.recipes.from_fortran(word))
    }

    /// The live matched message that an integer names, as [`Engine::request_of_int`].
    pub fn message_of_int(&self, guard: &Guard<'_>, word: i32) -> Option<Handle> {
        self.state.get(guard).core.held.from_fortran(word)
    }
}
