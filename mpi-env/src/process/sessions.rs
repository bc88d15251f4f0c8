//! Sessions and their process sets (MPI-5.0, 11.3).
//!
//! A session is one user of the library. Any number of sessions may exist before, during and after the world model. All
//! sessions share one engine. Objects created through a session remain after its end until they are freed.
//! Invariant: while a session is in the table, the library is running.
//! Not here: registration of users of the library (`life`), communicators created from groups (`objects`).

use mpi_comm::Group;
use mpi_core::abi::{
    MPI_ERR_ARG, MPI_ERR_NO_MEM, MPI_ERR_SESSION, MPI_THREAD_FUNNELED, MPI_THREAD_MULTIPLE, MPI_THREAD_SERIALIZED,
    MPI_THREAD_SINGLE,
};
use mpi_core::{Guard, Handle};
use mpi_errors::{Attached, Error, HandlerKind, Result};
use mpi_p2p::BufferOwner;

use crate::record::process::Process;
use crate::tables::session::Session;

/// The process sets of every session, in order.
pub const PSETS: [&str; 2] = ["mpi://WORLD", "mpi://SELF"];

/// The levels of thread support, with their names in the hint `thread_level`.
const LEVELS: [(&str, i32); 4] = [
    ("MPI_THREAD_SINGLE", MPI_THREAD_SINGLE),
    ("MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED),
    ("MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED),
    ("MPI_THREAD_MULTIPLE", MPI_THREAD_MULTIPLE),
];

impl Process {
    /// `MPI_Session_init`: a session with the level of thread support that `level` names, by default
    /// `MPI_THREAD_MULTIPLE`. Any thread may call it at any time. Errors: `MPI_ERR_ERRHANDLER`; `MPI_ERR_ARG` for
    /// another level; `MPI_ERR_NO_MEM`.
    pub fn session_init(&self, level: Option<&str>, errhandler: Handle) -> Result<Handle> {
        let wanted = level.unwrap_or("MPI_THREAD_MULTIPLE");
        let Some((level, number)) = LEVELS.iter().find(|(name, _)| *name == wanted) else {
            let rule = "a thread level is MPI_THREAD_SINGLE, _FUNNELED, _SERIALIZED or _MULTIPLE";
            return Err(Error::new(MPI_ERR_ARG, rule).arg("thread_level", &wanted));
        };
        let guard = &mut self.engine.lock();
        self.errhandlers.get_mut(guard).attach(errhandler, HandlerKind::Session)?;
        let session = Session { level, errhandler: Attached::new(errhandler) };
        let Ok(handle) = self.sessions.get_mut(guard).insert(session) else {
            self.errhandlers.get_mut(guard).detach(errhandler);
            return Err(Error::new(MPI_ERR_NO_MEM, "there are too many sessions"));
        };
        self.metrics.counts.sessions.follow(self.sessions.get(guard).len() as u64);
        // Other threads may begin sessions concurrently, so only `MPI_THREAD_SINGLE` needs no lock between threads.
        self.enter(guard, *number > MPI_THREAD_SINGLE);
        Ok(handle)
    }

    /// `MPI_Session_finalize`. Waits only if the session is the last user of the library: until all messages that this
    /// process sent have left it. Errors: `MPI_ERR_SESSION`.
    pub fn session_finalize(&self, handle: Handle) -> Result<()> {
        let removed = {
            let guard = &mut self.engine.lock();
            let removed = self.sessions.get_mut(guard).remove(handle);
            self.metrics.counts.sessions.follow(self.sessions.get(guard).len() as u64);
            self.on_demand.session_ended(guard, handle);
            self.engine.buffer_remove(guard, BufferOwner::Session(handle));
            removed
        };
        let session = removed.ok_or_else(|| no_session(handle))?;
        self.errhandlers.get_mut(&mut self.engine.lock()).detach(session.errhandler.get());
        let ended = self.depart();
        self.part_from_launcher(false);
        ended
    }

    /// The session that a handle names; `None` for a null, finalised, forged or wrong-kind word.
    pub fn session<'p>(&'p self, guard: &'p Guard<'_>, handle: Handle) -> Option<&'p Session> {
        self.sessions.get(guard).get(handle)
    }

    /// Counts a call that uses this live session.
    pub fn on_session_used(&self, guard: &Guard<'_>, handle: Handle) {
        self.on_demand.session_used(guard, handle);
    }

    /// The processes of a process set. The name is a URI, so comparison ignores case (MPI-5.0, 11.3.2). `None` for an
    /// unknown set.
    pub fn pset(&self, name: &str) -> Option<Group> {
        let comm = match PSETS.iter().position(|known| known.eq_ignore_ascii_case(name))? {
            0 => &self.world,
            _ => &self.comm_self,
        };
        Some(comm.group().clone())
    }
}

#[cold]
fn no_session(handle: Handle) -> Error {
    Error::new(MPI_ERR_SESSION, "no session has that handle").arg("session", &handle)
}
