//! Error handlers: predefined handlers and reference-counted functions of the program (MPI-5.0, section 9.3).
//!
//! The table stores a function of the program as an address, with the kind of object that it is for.
//! Invariant: a handler exists while the program holds a handle to it or an object has it attached. The program can
//! free its handle exactly as often as it created or obtained it, so a double free is always detected.
//! Not here: calls of the function (mpi-capi), the handler of each object (mpi-comm and others).

use std::sync::atomic::{AtomicUsize, Ordering};

use mpi_core::abi::{
    MPI_ERR_ERRHANDLER, MPI_ERR_NO_MEM, MPI_ERRHANDLER_NULL, MPI_ERRORS_ABORT, MPI_ERRORS_ARE_FATAL, MPI_ERRORS_RETURN,
};
use mpi_core::{Handle, Kind, Table};

use crate::{Error, Result};

/// The field of an object that stores its error handler. Thread-safe.
#[derive(Debug)]
pub struct Attached {
    word: AtomicUsize,
}

impl Attached {
    /// A field with a handler that the caller has attached, or with a predefined handler.
    pub const fn new(errhandler: Handle) -> Attached {
        Attached { word: AtomicUsize::new(errhandler.0) }
    }

    /// The handler's word.
    #[inline]
    pub fn get(&self) -> Handle {
        // Relaxed: the word refers to no other memory; the process lock protects the table of handlers.
        Handle(self.word.load(Ordering::Relaxed))
    }

    /// Sets the word and returns the previous one; the caller counts attachments.
    pub fn swap(&self, errhandler: Handle) -> Handle {
        Handle(self.word.swap(errhandler.0, Ordering::Relaxed))
    }
}

/// The kind of object that a handler is for. Its function takes a pointer to a handle of that kind and a pointer to the
/// code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HandlerKind {
    /// `MPI_Comm_create_errhandler`
    Comm,
    /// `MPI_Win_create_errhandler`
    Win,
    /// `MPI_File_create_errhandler`
    File,
    /// `MPI_Session_create_errhandler`
    Session,
}

/// The action on an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Errhandler {
    /// `MPI_ERRORS_ARE_FATAL`: the job ends.
    Fatal,
    /// `MPI_ERRORS_ABORT`: the processes of the object end.
    Abort,
    /// `MPI_ERRORS_RETURN`: the call returns the code.
    Return,
    /// The library calls the program's function, then the call returns the code.
    User {
        /// The kind of object the function is for.
        kind: HandlerKind,
        /// The function: the word of a [`Callee`](mpi_core::Callee).
        function: usize,
    },
}

impl Errhandler {
    /// The predefined handler with this handle; `None` for any other word.
    #[inline]
    pub const fn predefined(handle: Handle) -> Option<Errhandler> {
        match handle.0 {
            MPI_ERRORS_ARE_FATAL => Some(Errhandler::Fatal),
            MPI_ERRORS_ABORT => Some(Errhandler::Abort),
            MPI_ERRORS_RETURN => Some(Errhandler::Return),
            _ => None,
        }
    }

    /// Whether the handler may be attached to objects of this kind.
    pub fn fits(&self, wanted: HandlerKind) -> bool {
        !matches!(self, Errhandler::User { kind, .. } if *kind != wanted)
    }
}

/// All error handlers that the program created.
#[derive(Debug)]
pub struct Errhandlers {
    table: Table<Counted>,
}

#[derive(Debug)]
struct Counted {
    handler: Errhandler,
    /// The number of times that the program may still free its handle.
    held: u32,
    /// Number of objects that have the handler attached.
    attached: u32,
}

impl Default for Errhandlers {
    fn default() -> Self {
        Self::new()
    }
}

impl Errhandlers {
    /// An empty table; predefined handlers need no entry.
    pub const fn new() -> Self {
        Errhandlers { table: Table::new(Kind::Errhandler) }
    }

    /// Creates a handler for a function of the program (the word of a [`Callee`](mpi_core::Callee)), which holds the
    /// handle once.
    pub fn create(&mut self, kind: HandlerKind, function: usize) -> Result<Handle> {
        let handler = Errhandler::User { kind, function };
        self.table
            .insert(Counted { handler, held: 1, attached: 0 })
            .map_err(|_| Error::new(MPI_ERR_NO_MEM, "there are too many error handlers"))
    }

    /// The live handle that a Fortran integer names; a predefined handle is its constant. `None` for any other integer.
    pub fn of_int(&self, word: i32) -> Option<Handle> {
        self.table.from_fortran(word)
    }

    /// The handler that a handle of the program names; an error for a null, freed, forged or wrong-kind handle.
    pub fn get(&self, handle: Handle) -> Result<Errhandler> {
        if let Some(predefined) = Errhandler::predefined(handle) {
            return Ok(predefined);
        }
        match self.table.get(handle) {
            Some(counted) if counted.held > 0 => Ok(counted.handler),
            _ => Err(self.refusal(handle)),
        }
    }

    /// The handler that an object has attached, whether or not the program still holds its handle. For a word that was
    /// never attached it is the fatal handler.
    #[inline]
    pub fn attached(&self, handle: Handle) -> Errhandler {
        match Errhandler::predefined(handle) {
            Some(predefined) => predefined,
            None => self.table.get(handle).map_or(Errhandler::Fatal, |counted| counted.handler),
        }
    }

    /// Attaches a handler to an object of a kind (`MPI_Comm_set_errhandler`).
    pub fn attach(&mut self, handle: Handle, kind: HandlerKind) -> Result<Errhandler> {
        let handler = self.get(handle)?;
        if !handler.fits(kind) {
            return Err(Error::new(
                MPI_ERR_ERRHANDLER,
                format!("that error handler was not created for this kind of object ({kind:?})"),
            )
            .arg("errhandler", &handle));
        }
        self.attach_again(handle);
        Ok(handler)
    }

    /// Attaches the handler of one object to another object, as `MPI_Comm_dup` does.
    pub fn attach_again(&mut self, handle: Handle) {
        if let Some(counted) = self.table.get_mut(handle) {
            counted.attached += 1;
        }
    }

    /// Detaches a handler from an object.
    pub fn detach(&mut self, handle: Handle) {
        if let Some(counted) = self.table.get_mut(handle) {
            counted.attached = counted.attached.saturating_sub(1);
            self.drop_unused(handle);
        }
    }

    /// Returns a handle of an attached handler that the program must free (`MPI_Comm_get_errhandler`).
    pub fn hold(&mut self, handle: Handle) -> Handle {
        if let Some(counted) = self.table.get_mut(handle) {
            counted.held += 1;
        }
        handle
    }

    /// Frees the program's handle once (`MPI_Errhandler_free`). Freeing a predefined handler is allowed, because the
    /// program must free a handle that `MPI_Comm_get_errhandler` returns, also if it is predefined.
    pub fn free(&mut self, handle: Handle) -> Result<()> {
        self.get(handle)?;
        if let Some(counted) = self.table.get_mut(handle) {
            counted.held -= 1;
            self.drop_unused(handle);
        }
        Ok(())
    }

    /// Whether the program or an object refers to this handler; always true for predefined handlers.
    pub fn is_live(&self, handle: Handle) -> bool {
        Errhandler::predefined(handle).is_some() || self.table.get(handle).is_some()
    }

    /// Number of existing handlers that the program created.
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether no handler that the program created exists.
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }

    fn drop_unused(&mut self, handle: Handle) {
        if self.table.get(handle).is_some_and(|counted| counted.held == 0 && counted.attached == 0) {
            self.table.remove(handle);
        }
    }

    #[cold]
    fn refusal(&self, handle: Handle) -> Error {
        if handle.0 == MPI_ERRHANDLER_NULL {
            return Error::new(MPI_ERR_ERRHANDLER, "an error handler is needed")
                .arg("errhandler", &"MPI_ERRHANDLER_NULL");
        }
        let freed = self.table.was_freed(handle) || self.table.get(handle).is_some();
        let why = if freed { "that error handler was freed" } else { "no error handler has that handle" };
        Error::new(MPI_ERR_ERRHANDLER, why).arg("errhandler", &handle)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_handler_exists_while_an_object_has_it() {
        let mut handlers = Errhandlers::new();
        let handle = handlers.create(HandlerKind::Comm, 0x1000).expect("room");
        handlers.attach(handle, HandlerKind::Comm).expect("fits");
        handlers.free(handle).expect("held");
        assert_eq!(handlers.attached(handle), Errhandler::User { kind: HandlerKind::Comm, function: 0x1000 });
        assert!(handlers.get(handle).is_err_and(|error| error.to_string().contains("was freed")));
        handlers.detach(handle);
        assert!(handlers.is_empty());
    }

    #[test]
    fn a_double_free_is_seen_even_while_attached() {
        let mut handlers = Errhandlers::new();
        let handle = handlers.create(HandlerKind::Win, 1).expect("room");
        handlers.attach(handle, HandlerKind::Win).expect("fits");
        handlers.free(handle).expect("held once");
        assert_eq!(handlers.free(handle).expect_err("freed").class(), MPI_ERR_ERRHANDLER);
        assert_eq!(handlers.hold(handle), handle);
        handlers.free(handle).expect("held again by the getter");
    }

    #[test]
    fn a_handler_for_files_does_not_fit_a_communicator() {
        let mut handlers = Errhandlers::new();
        let handle = handlers.create(HandlerKind::File, 1).expect("room");
        assert_eq!(handlers.attach(handle, HandlerKind::Comm).expect_err("kind").class(), MPI_ERR_ERRHANDLER);
        assert!(handlers.attach(Handle(MPI_ERRORS_RETURN), HandlerKind::Comm).is_ok());
    }

    #[test]
    fn predefined_handlers_can_be_freed_without_end() {
        let mut handlers = Errhandlers::new();
        for handle in [MPI_ERRORS_ARE_FATAL, MPI_ERRORS_ABORT, MPI_ERRORS_RETURN, MPI_ERRORS_RETURN] {
            assert!(handlers.free(Handle(handle)).is_ok());
        }
    }

    #[test]
    fn no_other_word_is_a_handler() {
        let mut handlers = Errhandlers::new();
        let live = handlers.create(HandlerKind::Comm, 1).expect("room");
        for word in [0, MPI_ERRHANDLER_NULL, 0x144, 4096, live.0 ^ 1, live.0 ^ 1 << 26, usize::MAX] {
            assert_eq!(handlers.get(Handle(word)).expect_err("no handler").class(), MPI_ERR_ERRHANDLER);
            assert_eq!(handlers.free(Handle(word)).expect_err("no handler").class(), MPI_ERR_ERRHANDLER);
        }
    }
}
