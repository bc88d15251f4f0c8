//! The error handler of each object (MPI-5.0, 9.3).
//!
//! Invariant: each object's [`Attached`] word holds one attachment of the handler that it names.
//! Not here: the table of handlers (`mpi_errors::Errhandlers`), calls of handlers (mpi-capi).

use std::sync::atomic::Ordering;

use mpi_core::abi::{MPI_COMM_NULL, MPI_COMM_SELF, MPI_COMM_WORLD, MPI_FILE_NULL, MPI_SESSION_NULL, MPI_WIN_NULL};
use mpi_core::{Guard, Handle};
use mpi_errors::{Attached, Errhandler, HandlerKind, Result, processes};

use crate::record::process::Process;

/// An object with an error handler, as a call's arguments name it; it need not exist.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Object {
    /// The kind of object that the call takes.
    pub kind: HandlerKind,
    /// The handle.
    pub handle: Handle,
}

impl Object {
    /// A communicator by its word.
    #[inline]
    pub const fn comm(word: usize) -> Object {
        Object { kind: HandlerKind::Comm, handle: Handle(word) }
    }

    /// A window by its word.
    #[inline]
    pub const fn win(word: usize) -> Object {
        Object { kind: HandlerKind::Win, handle: Handle(word) }
    }

    /// A file by its word. `MPI_FILE_NULL` is an object here: its handler is the default of files (MPI-5.0, 14.7).
    #[inline]
    pub const fn file(word: usize) -> Object {
        Object { kind: HandlerKind::File, handle: Handle(word) }
    }

    /// A session by its word.
    #[inline]
    pub const fn session(word: usize) -> Object {
        Object { kind: HandlerKind::Session, handle: Handle(word) }
    }

    /// The null handle of the kind.
    pub const fn null(kind: HandlerKind) -> Object {
        let word = match kind {
            HandlerKind::Comm => MPI_COMM_NULL,
            HandlerKind::Win => MPI_WIN_NULL,
            HandlerKind::File => MPI_FILE_NULL,
            HandlerKind::Session => MPI_SESSION_NULL,
        };
        Object { kind, handle: Handle(word) }
    }
}

impl Process {
    /// The communicator or window with this context id. Searches all of them.
    pub fn object_of_context(&self, guard: &Guard<'_>, context: u32) -> Option<Object> {
        let comm = self.handle_of_context(guard, context).map(|comm| Object::comm(comm.0));
        let mut windows = self.windows.get(guard).iter();
        comm.or_else(|| windows.find(|(_, win)| win.context() == context).map(|(handle, _)| Object::win(handle.0)))
    }

    /// The place of the object's error handler; `None` if the handle names no live object of its kind.
    #[inline]
    fn place_of<'p>(&'p self, guard: &'p Guard<'_>, object: Object) -> Option<&'p Attached> {
        match object.kind {
            HandlerKind::Comm => self.comm(guard, object.handle).map(|comm| comm.errhandler()),
            HandlerKind::File if object.handle.0 == MPI_FILE_NULL => Some(&self.file_default),
            HandlerKind::Win => self.win(guard, object.handle).map(|win| win.errhandler()),
            HandlerKind::File => self.file(guard, object.handle).map(|file| file.errhandler()),
            HandlerKind::Session => self.session(guard, object.handle).map(|session| &session.errhandler),
        }
    }

    /// A description of the object for messages: `communicator "MPI_COMM_WORLD"`, of a window with its open epochs;
    /// `None` if the handle names no live object of its kind.
    pub fn describe(&self, guard: &Guard<'_>, object: Object) -> Option<String> {
        match object.kind {
            HandlerKind::Comm => self.comm(guard, object.handle).map(|comm| match (comm.name(), comm.remote()) {
                (name, _) if !name.is_empty() => format!("communicator {name:?}"),
                (_, None) => format!("a communicator of {} without a name", processes(comm.size())),
                (_, Some(_)) => {
                    let (local, remote) = (comm.size(), comm.peers());
                    format!("an intercommunicator of {local} local and {remote} remote processes without a name")
                }
            }),
            HandlerKind::Win => self.win(guard, object.handle).map(|win| win.described_with_epoch(guard)),
            HandlerKind::File if object.handle.0 == MPI_FILE_NULL => Some("MPI_FILE_NULL".to_owned()),
            HandlerKind::File => self.file(guard, object.handle).map(|file| format!("file {:?}", file.name())),
            HandlerKind::Session => {
                self.session(guard, object.handle).map(|session| format!("a session of {}", session.thread_level()))
            }
        }
    }

    /// Numbers of the processes of an object, as `MPI_ERRORS_ABORT` takes them (MPI-5.0, 9.3): those of the communicator
    /// with its remote group, window or file, and this one alone of a session. `None` if the handle names no live object of
    /// its kind.
    pub fn members_of(&self, guard: &Guard<'_>, object: Object) -> Option<Vec<u32>> {
        match object.kind {
            HandlerKind::Comm => self.comm(guard, object.handle).map(|comm| match comm.remote() {
                Some(remote) => remote.members().to_vec(),
                None => comm.group().world_ranks().to_vec(),
            }),
            HandlerKind::Win => self.win(guard, object.handle).map(|win| win.group().world_ranks().to_vec()),
            HandlerKind::File => self.file(guard, object.handle).map(|file| file.group().world_ranks().to_vec()),
            HandlerKind::Session => self.session(guard, object.handle).map(|_| vec![self.rank()]),
        }
    }

    /// The error handler of an object; `None` if the handle names no live object of its kind.
    pub fn handler_of(&self, guard: &Guard<'_>, object: Object) -> Option<Errhandler> {
        let place = self.place_of(guard, object)?;
        Some(self.errhandlers.get(guard).attached(place.get()))
    }

    /// As [`Process::handler_of`]; also counts the call of the handler that follows.
    #[inline]
    pub fn handler_to_call(&self, guard: &Guard<'_>, object: Object) -> Option<Errhandler> {
        let word = self.place_of(guard, object)?.get();
        self.on_errhandler_called(guard, word);
        Some(self.errhandlers.get(guard).attached(word))
    }

    /// The object whose error handler handles errors of calls without an object: `MPI_COMM_SELF` (MPI-5.0, 9.3), or
    /// `MPI_COMM_WORLD` if the program has set only that one's handler, as programs for earlier versions of the
    /// standard do.
    pub fn default_object(&self) -> Object {
        let is_set = self.comm_self_handler_set.load(Ordering::Relaxed);
        let same = self.world.errhandler().get() == self.comm_self.errhandler().get();
        Object::comm(if is_set || same { MPI_COMM_SELF } else { MPI_COMM_WORLD })
    }

    /// `MPI_X_set_errhandler`: returns false and changes nothing if the handle names no live object of its kind.
    /// Errors: `MPI_ERR_ERRHANDLER` if `errhandler` is not a handler for this kind of object.
    pub fn set_errhandler(&self, guard: &mut Guard<'_>, object: Object, errhandler: Handle) -> Result<bool> {
        if self.place_of(guard, object).is_none() {
            return Ok(false);
        }
        self.errhandlers.get_mut(guard).attach(errhandler, object.kind)?;
        if let Some(before) = self.place_of(guard, object).map(|place| place.swap(errhandler)) {
            self.errhandlers.get_mut(guard).detach(before);
        }
        if object.handle.0 == MPI_COMM_SELF {
            self.comm_self_handler_set.store(true, Ordering::Relaxed);
        }
        if object.kind == HandlerKind::Comm {
            self.update_errhandler_cache(guard, object.handle);
        }
        Ok(true)
    }

    /// `MPI_X_get_errhandler`: a handle that the program frees; `None` if the handle names no live object of its kind.
    pub fn get_errhandler(&self, guard: &mut Guard<'_>, object: Object) -> Option<Handle> {
        let errhandler = self.place_of(guard, object)?.get();
        Some(self.errhandlers.get_mut(guard).hold(errhandler))
    }
}
