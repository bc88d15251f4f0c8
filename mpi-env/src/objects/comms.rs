//! Creation of communicators from communicators (MPI-5.0, 7.4.2), and groups by handle.
//!
//! Invariant: a new communicator has its parent's error handler, no name, no hints, and only the attributes that the C
//! interface copies.
//! Not here: agreement on context ids (`mpi-comm`), non-blocking duplicates (`idup`).

use std::sync::Arc;

use mpi_comm::{
    Comm, CommSpec, Group, agree, agree_in_group, agree_on_context, by_color, by_color_in_both, host_number, place_in,
    register, subsets, unregister,
};
use mpi_core::abi::{
    MPI_COMM_NULL, MPI_COMM_SELF, MPI_COMM_WORLD, MPI_ERR_GROUP, MPI_ERR_NO_MEM, MPI_GROUP_EMPTY, MPI_GROUP_NULL,
};
use mpi_core::handle::FIRST_DYNAMIC;
use mpi_core::{Guard, Handle};
use mpi_errors::{Error, Result, processes};
use mpi_p2p::CommMeters;

use crate::objects::lookups::no_comm;
use crate::record::process::{self, Process};

const NULL: Handle = Handle(MPI_COMM_NULL);

impl Process {
    /// `MPI_Comm_create`: a communicator of `group`, a subset of the parent's; `MPI_COMM_NULL` for a process outside
    /// it. Of an intercommunicator, `group` is a subset of the local group, and the result an intercommunicator of the
    /// subsets of both groups, if neither is empty. Collective over the parent; waits, with no guard held. Errors:
    /// `MPI_ERR_COMM`, `MPI_ERR_GROUP`, `MPI_ERR_NO_MEM`, `MPI_ERR_OTHER`.
    pub fn comm_create(&self, parent: Handle, group: &Group) -> Result<Handle> {
        let parent = self.parent(parent)?;
        if let Some(remote) = parent.remote() {
            let place = place_in(group, &parent);
            let agreed = agree(&self.engine, &parent, &self.context_ids, place)?;
            // The own group is wrong: the error has its details.
            part_of(group, &parent)?;
            let groups = subsets(&parent, remote, &agreed)?;
            return self.member_intercomm(&parent, agreed.context, groups);
        }
        part_of(group, &parent)?;
        let context = agree_on_context(&self.engine, &parent, &self.context_ids)?;
        self.member_comm(&parent, context, group)
    }

    /// `MPI_Comm_create_group`: as [`Process::comm_create`], but collective over the group alone.
    pub fn comm_create_group(&self, parent: Handle, group: &Group, tag: i32) -> Result<Handle> {
        let parent = self.parent(parent)?;
        part_of(group, &parent)?;
        if group.rank_of(self.rank()).is_none() {
            return Ok(NULL);
        }
        let context = agree_in_group(&self.engine, &parent, &self.context_ids, group, tag)?;
        self.member_comm(&parent, context, group)
    }

    /// `MPI_Comm_split`: a communicator of the processes with the same color, ordered by key; `MPI_COMM_NULL` for the
    /// color `MPI_UNDEFINED`, and in an intercommunicator for a color that no process of the remote group has. The
    /// caller has checked that no other negative color is passed. Collective; waits, with no guard held. Errors:
    /// `MPI_ERR_COMM`, `MPI_ERR_NO_MEM`, `MPI_ERR_OTHER`.
    pub fn comm_split(&self, parent: Handle, color: i32, key: i32) -> Result<Handle> {
        let parent = self.parent(parent)?;
        let agreed = agree(&self.engine, &parent, &self.context_ids, [color, key])?;
        if let Some(remote) = parent.remote() {
            return self.member_intercomm(&parent, agreed.context, by_color_in_both(&parent, remote, &agreed));
        }
        match by_color(&parent, &agreed.words) {
            Some(group) => self.member_comm(&parent, agreed.context, &group),
            None => Ok(NULL),
        }
    }

    /// As [`host_number`]. Errors: `MPI_ERR_COMM`.
    pub fn host_number(&self, comm: Handle) -> Result<u32> {
        Ok(host_number(&self.engine, &*self.parent(comm)?))
    }

    /// This process's rank in a communicator, and its size; `None` as for [`Process::comm`]. Takes no lock; thread-safe
    /// and async-signal-safe.
    #[inline]
    pub fn rank_and_size(&self, handle: Handle) -> Option<(u32, u32)> {
        let fact = match handle.0 {
            MPI_COMM_WORLD | MPI_COMM_SELF if self.has_world() => {
                self.predefined_facts[usize::from(handle.0 == MPI_COMM_SELF)]
            }
            _ => self.facts.get(handle)?,
        };
        Some((fact as u32, (fact >> 32) as u32 & !INTER))
    }

    /// As [`Process::rank_and_size`], in a few instructions; `None` also for some live communicators.
    #[inline(always)] // a short way of calls that have a longer one
    pub fn rank_and_size_quickly(&self, handle: Handle) -> Option<(u32, u32)> {
        const { assert!(MPI_COMM_SELF == MPI_COMM_WORLD + 1) }
        let fact = if handle.0 >= FIRST_DYNAMIC {
            self.facts.get_first(handle)?
        } else {
            let fact = self.predefined_facts.get(handle.0.wrapping_sub(MPI_COMM_WORLD))?;
            if !self.has_world() {
                return None;
            }
            *fact
        };
        Some((fact as u32, (fact >> 32) as u32 & !INTER))
    }

    /// Whether a communicator is an intercommunicator; `None` as for [`Process::comm`]. Takes no lock; thread-safe and
    /// async-signal-safe.
    #[inline]
    pub fn is_intercomm(&self, handle: Handle) -> Option<bool> {
        match handle.0 {
            MPI_COMM_WORLD | MPI_COMM_SELF if self.has_world() => Some(false),
            _ => self.facts.get(handle).map(|fact| (fact >> 32) as u32 & INTER != 0),
        }
    }

    pub(crate) fn parent(&self, handle: Handle) -> Result<Arc<Comm>> {
        let guard = self.engine.lock();
        self.comm(&guard, handle).cloned().ok_or_else(|| no_comm(handle))
    }

    /// Creates the communicator of a group whose members have agreed on this context id; returns `MPI_COMM_NULL` in
    /// processes outside the group.
    pub(crate) fn member_comm(&self, parent: &Comm, context: u32, group: &Group) -> Result<Handle> {
        let Some(rank) = group.rank_of(self.rank()) else { return Ok(NULL) };
        let guard = &mut self.engine.lock();
        self.adopt(guard, CommSpec::part(parent, context, group, rank))
    }

    /// The same of an intercommunicator with these local and remote groups; no groups, no communicator.
    fn member_intercomm(&self, parent: &Comm, context: u32, groups: Option<[Group; 2]>) -> Result<Handle> {
        let Some([group, remote]) = groups else { return Ok(NULL) };
        let Some(rank) = group.rank_of(self.rank()) else { return Ok(NULL) };
        let guard = &mut self.engine.lock();
        self.adopt(guard, CommSpec::parts(parent, context, &group, &remote, rank))
    }

    /// Creates a handle for a communicator whose processes have agreed on its context id. Errors: `MPI_ERR_NO_MEM`.
    pub(crate) fn adopt(&self, guard: &mut Guard<'_>, spec: CommSpec) -> Result<Handle> {
        self.errhandlers.get_mut(guard).attach_again(spec.errhandler);
        match self.comms.get_mut(guard).reserve() {
            Ok(handle) => {
                self.establish(guard, handle, spec);
                Ok(handle)
            }
            Err(_) => {
                self.errhandlers.get_mut(guard).detach(spec.errhandler);
                Err(Error::new(MPI_ERR_NO_MEM, "there are too many communicators"))
            }
        }
    }

    /// Creates the communicator of a reserved handle. The caller has attached its error handler.
    pub(crate) fn establish(&self, guard: &mut Guard<'_>, handle: Handle, spec: CommSpec) {
        self.retire_left(guard);
        let name = format!("communicator {}", spec.context / 2);
        let instruments = CommMeters::place_in_job(&self.memory, &name, spec.peer_ranks());
        let comm = Arc::new(register(&self.engine, guard, spec, instruments));
        comm.set_handle(handle);
        if self.comms.get_mut(guard).fill(handle, comm.clone()) {
            self.facts.set(handle, fact(&comm));
            self.update_errhandler_cache(guard, handle);
            self.on_comm_created(guard, handle, comm.rank(), comm.size());
        } else {
            unregister(&self.engine, guard, &comm);
        }
    }

    /// The group that a handle names; `None` for a null, freed, forged or wrong-kind word.
    pub fn group(&self, guard: &Guard<'_>, handle: Handle) -> Option<Group> {
        let found = match handle.0 {
            MPI_GROUP_EMPTY => Group::new([]),
            _ => self.groups.get(guard).get(handle)?.clone(),
        };
        self.on_demand.group_used(guard, handle);
        Some(found)
    }

    /// Returns a handle for a group: `MPI_GROUP_EMPTY` for the empty group. Errors: `MPI_ERR_NO_MEM`.
    pub fn group_insert(&self, guard: &mut Guard<'_>, group: Group) -> Result<Handle> {
        if group.size() == 0 {
            return Ok(Handle(MPI_GROUP_EMPTY));
        }
        let handle = self.groups.get_mut(guard).insert(group.clone());
        let handle = handle.map_err(|_| Error::new(MPI_ERR_NO_MEM, "there are too many groups"))?;
        self.metrics.counts.groups.follow(self.groups.get(guard).len() as u64);
        self.on_demand.made(guard, handle, &group);
        Ok(handle)
    }

    /// `MPI_Group_free`. The empty group may be freed, because any call that makes groups may have returned it.
    /// Errors: `MPI_ERR_GROUP`.
    pub fn group_free(&self, guard: &mut Guard<'_>, handle: Handle) -> Result<()> {
        if handle.0 == MPI_GROUP_EMPTY {
            return Ok(());
        }
        if self.groups.get_mut(guard).remove(handle).is_some() {
            self.on_demand.group_freed(guard, handle);
            self.metrics.counts.groups.follow(self.groups.get(guard).len() as u64);
            return Ok(());
        }
        let why = match self.groups.get(guard).was_freed(handle) {
            _ if handle.0 == MPI_GROUP_NULL => "a group is needed".to_owned(),
            true => self.freed.describe(handle),
            false => "no group has that handle".to_owned(),
        };
        Err(Error::new(MPI_ERR_GROUP, why).arg("group", &handle))
    }
}

/// Marks the size of an intercommunicator's local group in its fact; a size is below 2^31, as an `int`.
const INTER: u32 = 1 << 31;

/// The fact of a communicator: of an intercommunicator, the size has the bit `INTER`.
pub(crate) fn fact(comm: &Comm) -> u64 {
    let inter = if comm.remote().is_some() { INTER } else { 0 };
    process::fact(comm.rank(), comm.size() | inter)
}

fn part_of(group: &Group, parent: &Comm) -> Result<()> {
    match group.difference(parent.group()).size() {
        0 => Ok(()),
        missing => {
            let rule = format!("{missing} of its processes are not in the communicator");
            Err(Error::new(MPI_ERR_GROUP, rule).arg("group", &format_args!("of {}", processes(group.size()))))
        }
    }
}
