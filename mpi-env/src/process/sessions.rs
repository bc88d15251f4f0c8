//! Sessions, their process sets, and communicators made of groups alone (MPI-5.0, 11.3 and 7.4.2).
//!
//! A session is a use of the library beside others: it begins before, beside or after the world model, in any number.
//! All sessions share one engine, and objects made through one stay when it ends, until they are freed.
//! Invariant: while a session is in the table the library runs.
//! Not here: beginning and ending to use the library (`life`).

use std::hash::{DefaultHasher, Hash, Hasher};

use mpi_comm::Group;
use mpi_core::abi::{
    MPI_COMM_NULL, MPI_ERR_ARG, MPI_ERR_GROUP, MPI_ERR_NO_MEM, MPI_ERR_SESSION, MPI_THREAD_FUNNELED,
    MPI_THREAD_MULTIPLE, MPI_THREAD_SERIALIZED, MPI_THREAD_SINGLE,
};
use mpi_core::{Guard, Handle};
use mpi_errors::{Attached, Error, HandlerKind, Result};

use crate::objects::unsettled::Unsettled;
use crate::record::process::Process;
use crate::tables::session::Session;

/// The process sets that every session has, in their order.
pub const PSETS: [&str; 2] = ["mpi://WORLD", "mpi://SELF"];

/// The levels of thread support, as the hint `thread_level` has them.
const LEVELS: [(&str, i32); 4] = [
    ("MPI_THREAD_SINGLE", MPI_THREAD_SINGLE),
    ("MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED),
    ("MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED),
    ("MPI_THREAD_MULTIPLE", MPI_THREAD_MULTIPLE),
];

impl Process {
    /// `MPI_Session_init`: a session that provides the level of thread support that is required by name, by default
    /// that of `MPI_THREAD_MULTIPLE`. Any thread may call it at any time. Errors: `MPI_ERR_ERRHANDLER`;
    /// `MPI_ERR_ARG` for another level; `MPI_ERR_NO_MEM`.
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
        // Sessions of other threads may begin beside this one, so only a process of one thread needs no real lock.
        self.enter(guard, *number > MPI_THREAD_SINGLE);
        Ok(handle)
    }

    /// `MPI_Session_finalize`. Waits only when it is the last user of the library: until nothing that this process has sent
    /// is still with it. Errors: `MPI_ERR_SESSION`.
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

    /// The session a handle names; `None` for a null, finalised, forged or wrong-kind word.
    pub fn session<'p>(&'p self, guard: &'p Guard<'_>, handle: Handle) -> Option<&'p Session> {
        self.sessions.get(guard).get(handle)
    }

    /// A call was given this session, which exists.
    pub fn on_session_used(&self, guard: &Guard<'_>, handle: Handle) {
        self.on_demand.session_used(guard, handle);
    }

    /// The processes of a process set, whose name is a URI and so has no case (MPI-5.0, 11.3.2); `None` for a set that
    /// does not exist.
    pub fn pset(&self, name: &str) -> Option<Group> {
        let comm = match PSETS.iter().position(|known| known.eq_ignore_ascii_case(name))? {
            0 => &self.world,
            _ => &self.comm_self,
        };
        Some(comm.group().clone())
    }

    /// `MPI_Comm_create_from_group`: a communicator of `group`, distinguished from others of the same group by a text;
    /// `MPI_COMM_NULL` for the empty group. Collective over the group; waits, with no guard held. The caller has
    /// checked the error handler. Errors: `MPI_ERR_GROUP` when this process is not in it, `MPI_ERR_NO_MEM`,
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
        let Unsettled { handle, comm, make } = self.unsettled(&mut guard, group.clone(), rank, errhandler, &name)?;
        let digest = digest(group, tag);
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

/// What stands for a group and a text in all processes, which run the same library. Two that are under way at once and
/// agree in all 128 bits are not to be met with.
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
    fn the_digest_tells_texts_groups_and_orders_apart() {
        let all = [(&[0, 1][..], "a"), (&[1, 0], "a"), (&[0, 1], "b"), (&[0], "a"), (&[0, 1], "")];
        let digests = all.map(|(group, tag)| digest(&Group::new(group), tag.as_bytes()));
        for (place, one) in digests.iter().enumerate() {
            assert!(one[0] != one[1] && !digests[..place].contains(one));
        }
        assert_eq!(digests[0], digest(&Group::new([0, 1]), b"a"));
    }
}
