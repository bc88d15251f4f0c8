//! Sessions, their process sets, and communicators created from groups (MPI-5.0, 11.3 and 7.4.2).
//!
//! A session is one user of the library. Any number of sessions may exist before, during and after the world model. All
//! sessions share one engine. Objects created through a session remain after its end until they are freed.
//! Invariant: while a session is in the table, the library is running.
//! Not here: registration of users of the library (`life`).

use std::hash::{DefaultHasher, Hash, Hasher};

use mpi_comm::{CommSpec, Group};
use mpi_core::abi::{
    MPI_COMM_NULL, MPI_ERR_ARG, MPI_ERR_GROUP, MPI_ERR_NO_MEM, MPI_ERR_SESSION, MPI_THREAD_FUNNELED,
    MPI_THREAD_MULTIPLE, MPI_THREAD_SERIALIZED, MPI_THREAD_SINGLE,
};
use mpi_core::{Guard, Handle};
use mpi_errors::{Attached, Error, HandlerKind, Result};
use mpi_p2p::UNSETTLED;

use crate::objects::unsettled::Unsettled;
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
            removed
        };
        let session = removed.ok_or_else(|| no_session(handle))?;
        self.errhandlers.get_mut(&mut self.engine.lock()).detach(session.errhandler.get());
        let ended = self.depart();
        self.part_from_launcher();
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

    /// `MPI_Comm_create_from_group`: a communicator of `group`; the string `tag` distinguishes it from others of the
    /// same group; `MPI_COMM_NULL` for the empty group. Collective over the group; waits, with no guard held. The
    /// caller has checked the error handler. Errors: `MPI_ERR_GROUP` when this process is not in it, `MPI_ERR_NO_MEM`,
    /// `MPI_ERR_OTHER`.
    pub fn comm_create_from_group(&self, group: &Group, tag: &[u8], errhandler: Handle) -> Result<Handle> {
        if group.size() == 0 {
            return Ok(Handle(MPI_COMM_NULL));
        }
        let rank = group.rank_of(self.rank()).ok_or_else(|| {
            let rule = format!("process {} of the job is not in that group of {}", self.rank(), group.size());
            Error::new(MPI_ERR_GROUP, rule).arg("group", &"of other processes")
        })?;
        let mut guard = self.engine.lock();
        let name = format!("communicator \"{}\"", String::from_utf8_lossy(tag));
        let group = group.clone();
        let spec =
            CommSpec { context: UNSETTLED, group, remote: None, rank, name: String::new(), errhandler, topology: None };
        let Unsettled { handle, comm, make } = self.unsettled(&mut guard, spec, &name)?;
        let group = comm.group().clone();
        let digest = digest(&group, tag);
        let gives_id = self.engine.named_provider(&guard, digest, group.world_ranks()) == self.engine.rank();
        let id = gives_id.then(|| self.context_ids.get_mut(&mut guard).take().ok());
        let request = self.engine.named(&mut guard, digest, group.world_ranks(), id, make);
        match self.place_unsettled(&mut guard, handle, comm, request) {
            Err(error) => Err(error),
            Ok(request) => match self.engine.wait(guard, request)?.error {
                None => Ok(handle),
                Some(error) => {
                    let _ = self.comm_free(handle);
                    Err(error)
                }
            },
        }
    }
}

/// A hash of a group and a string tag, equal in all processes, because they run the same library. With 128 bits, a
/// collision between two concurrent calls is not to be expected.
fn digest(group: &Group, tag: &[u8]) -> [u64; 2] {
    [0u8, 1].map(|salt| {
        let mut hasher = DefaultHasher::new();
        (salt, tag, group.world_ranks()).hash(&mut hasher);
        hasher.finish()
    })
}

#[cold]
fn no_session(handle: Handle) -> Error {
    Error::new(MPI_ERR_SESSION, "no session has that handle").arg("session", &format_args!("{:#x}", handle.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_distinguishes_texts_groups_and_orders() {
        let all = [(&[0, 1][..], "a"), (&[1, 0], "a"), (&[0, 1], "b"), (&[0], "a"), (&[0, 1], "")];
        let digests = all.map(|(group, tag)| digest(&Group::new(group), tag.as_bytes()));
        for (place, one) in digests.iter().enumerate() {
            assert!(one[0] != one[1] && !digests[..place].contains(one));
        }
        assert_eq!(digests[0], digest(&Group::new([0, 1]), b"a"));
    }
}
