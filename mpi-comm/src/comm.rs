//! The communicator: context, group, rank, topology, name and error handler (MPI-5.0, 7.2.4).
//!
//! Invariant: group, rank and topology never change, and the context changes once at most, before the communicator is
//! used; so a `Comm` is shared without a lock. Its name and its error handler, which programs may set at any time, are
//! locked apart.
//! Not here: when a handler is freed (`mpi_errors::Errhandlers`), the context's queues (`mpi-p2p`), the other side of
//! an intercommunicator (`remote`).

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use mpi_core::Handle;
use mpi_core::abi::{MPI_CONGRUENT, MPI_IDENT, MPI_MAX_OBJECT_NAME, MPI_SIMILAR, MPI_UNEQUAL};
use mpi_errors::Attached;
use mpi_p2p::{Channel, CommMeters};

use crate::group::{Group, GroupRelation};
use crate::hosts::Hosts;
use crate::remote::Remote;
use crate::tags::operation_tag;
use crate::topology::Topology;

/// A communicator of this process. Thread-safe.
#[derive(Debug)]
pub struct Comm {
    context: AtomicU32,
    /// This process's rank in the communicator; in an intercommunicator in its local group.
    pub rank: u32,
    /// Number of ranks that messages go to and come from.
    peers: u32,
    group: Group,
    /// The other side of an intercommunicator, and a communicator of the local group.
    remote: Option<Box<(Remote, Comm)>>,
    name: Mutex<String>,
    errhandler: Attached,
    handle: AtomicUsize,
    /// Agreements on context ids among all processes, the same number in each.
    agreements: AtomicU32,
    /// Collective operations that do not block, and persistent ones: the same numbers in each process.
    operations: [AtomicU32; 2],
    instruments: CommMeters,
    topology: Option<Arc<Topology>>,
    /// The neighbours in the topology, once they were requested.
    pub(crate) neighbors: OnceLock<[Vec<Option<u32>>; 2]>,
    channels: OnceLock<Option<Arc<Channels>>>,
    hosts: OnceLock<Hosts>,
}

/// The flags and slots of a communicator whose processes share memory.
#[derive(Debug)]
pub struct Channels {
    /// For collectives that block.
    pub blocking: Channel,
    /// For the others, one after the other.
    pub nonblocking: Channel,
}

/// Distance from an intercommunicator's context id to that of its local group's communicator: the id that follows.
pub(crate) const LOCAL_CONTEXT: u32 = 2;

/// The relation of two communicators (MPI-5.0, 7.4.1); the values are the ABI's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Comparison {
    /// The same communicator.
    Ident = MPI_IDENT,
    /// The same processes in the same order, another context.
    Congruent = MPI_CONGRUENT,
    /// The same processes in another order.
    Similar = MPI_SIMILAR,
    /// Different processes.
    Unequal = MPI_UNEQUAL,
}

impl Comm {
    /// A communicator of `group`, in which this process has `rank`; `errhandler` is the word of its error handler.
    pub fn new(context: u32, rank: u32, group: Group, name: &str, errhandler: Handle, instruments: CommMeters) -> Comm {
        Comm {
            context: AtomicU32::new(context),
            rank,
            peers: group.size(),
            group,
            remote: None,
            name: Mutex::new(name.to_owned()),
            errhandler: Attached::new(errhandler),
            handle: AtomicUsize::new(mpi_core::abi::MPI_COMM_NULL),
            agreements: AtomicU32::new(0),
            operations: [const { AtomicU32::new(0) }; 2],
            instruments,
            topology: None,
            neighbors: OnceLock::new(),
            channels: OnceLock::new(),
            hosts: OnceLock::new(),
        }
    }

    /// The same communicator as an intercommunicator whose local group is its group; `between` is a communicator of the
    /// local group for the library's own messages, and the two groups have no process in common.
    pub(crate) fn into_intercomm(self, remote: Group, between: Comm) -> Comm {
        let remote = Remote::new(&self.group, remote);
        Comm { peers: remote.group().size(), remote: Some(Box::new((remote, between))), ..self }
    }

    /// The same communicator with this topology.
    #[must_use]
    pub fn with_topology(self, topology: Option<Arc<Topology>>) -> Comm {
        Comm { topology, ..self }
    }

    /// Its topology, if it has one.
    #[inline]
    pub fn topology(&self) -> Option<&Arc<Topology>> {
        self.topology.as_ref()
    }

    /// Context id of the program's messages, even; collectives use the id above it. `PENDING_CONTEXT` in a duplicate
    /// whose request is not complete.
    #[inline]
    pub fn context(&self) -> u32 {
        // Relaxed: it changes once, under the process lock, before the request completes that makes the duplicate
        // usable.
        self.context.load(Ordering::Relaxed)
    }

    /// Sets the context id of a duplicate, once; the caller holds the process lock.
    pub fn set_context(&self, context: u32) {
        self.context.store(context, Ordering::Relaxed);
        if let Some(inter) = &self.remote {
            inter.1.set_context(context + LOCAL_CONTEXT);
        }
    }

    /// The place of the process that gives the next context id, among all processes of the communicator: each in turn,
    /// so that all shares are used alike.
    pub(crate) fn next_provider(&self) -> usize {
        let all = self.size() + self.remote().map_or(0, |remote| remote.group().size());
        // Relaxed: the program orders collective calls on one communicator.
        (self.agreements.fetch_add(1, Ordering::Relaxed) % all) as usize
    }

    /// The tag of the messages of the next collective operation that does not block, or of the next persistent one.
    /// A tag is used again after so many operations that the first is over.
    pub fn next_operation_tag(&self, persistent: bool) -> i32 {
        let place = usize::from(persistent);
        // Relaxed: the program orders collective calls on one communicator.
        operation_tag(self.operations[place].fetch_add(1, Ordering::Relaxed), persistent)
    }

    /// Its channels, if its processes have opened them.
    #[inline(always)]
    pub fn channels(&self) -> Option<&Arc<Channels>> {
        self.channels.get()?.as_ref()
    }

    /// Whether [`Comm::set_channels`] was called.
    #[inline(always)]
    pub fn has_met(&self) -> bool {
        self.channels.get().is_some()
    }

    /// Its hosts, if it has several and its processes have agreed on them.
    #[inline(always)]
    pub fn hosts(&self) -> Option<&Hosts> {
        self.hosts.get()
    }

    /// Sets the hosts, once, before [`Comm::set_channels`]. All processes do so in the same collective call.
    pub fn set_hosts(&self, hosts: Hosts) {
        // As for the channels.
        let _ = self.hosts.set(hosts);
    }

    /// Sets the channels, once: `None` if its processes have none. All processes do so in the same collective call.
    pub fn set_channels(&self, channels: Option<Channels>) {
        // A second call, in an erroneous program, changes nothing.
        let _ = self.channels.set(channels.map(Arc::new));
    }

    /// This process's rank in the communicator; in an intercommunicator in its local group.
    #[inline]
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// Number of processes; of an intercommunicator, those of the local group.
    #[inline]
    pub fn size(&self) -> u32 {
        self.group.size()
    }

    /// Number of ranks that messages go to and come from: its size, or that of an intercommunicator's remote group.
    #[inline]
    pub fn peers(&self) -> u32 {
        self.peers
    }

    /// Its processes; of an intercommunicator, those of the local group.
    #[inline]
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// The other side of an intercommunicator; `None` for an intracommunicator (MPI-5.0, 7.6).
    #[inline]
    pub fn remote(&self) -> Option<&Remote> {
        self.remote.as_deref().map(|(remote, _)| remote)
    }

    /// A communicator of an intercommunicator's local group for the library's own messages; an intracommunicator
    /// itself.
    #[inline]
    pub fn local(&self) -> &Comm {
        self.remote.as_deref().map_or(self, |(_, local)| local)
    }

    /// The context id that collectives use.
    #[inline]
    pub fn collective_context(&self) -> u32 {
        self.context() + 1
    }

    /// Its performance variables.
    #[inline]
    pub fn instruments(&self) -> CommMeters {
        self.instruments
    }

    /// The handle word, once it has one; `MPI_COMM_NULL` before.
    #[inline]
    pub fn handle(&self) -> Handle {
        // Relaxed: set once, before the program gets the handle.
        Handle(self.handle.load(Ordering::Relaxed))
    }

    /// Sets the handle, once; for the owner of the table of handles.
    pub fn set_handle(&self, handle: Handle) {
        self.handle.store(handle.0, Ordering::Relaxed);
    }

    /// Its error handler.
    #[inline]
    pub fn errhandler(&self) -> &Attached {
        &self.errhandler
    }

    /// The name (`MPI_Comm_get_name`); empty if it was never given one.
    pub fn name(&self) -> String {
        // A name is stored whole, so a panic in another thread leaves a valid one.
        self.name.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Sets the name (`MPI_Comm_set_name`), cut to `MPI_MAX_OBJECT_NAME - 1` bytes at a character's boundary.
    pub fn set_name(&self, name: &str) {
        let mut end = name.len().min(MPI_MAX_OBJECT_NAME as usize - 1);
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        *self.name.lock().unwrap_or_else(PoisonError::into_inner) = name[..end].to_owned();
    }

    /// The relation of this communicator to another (`MPI_Comm_compare`). Local. The groups of intercommunicators are
    /// compared side by side; an intercommunicator and an intracommunicator are unequal.
    pub fn compare(&self, other: &Comm) -> Comparison {
        if self.context() == other.context() {
            return Comparison::Ident;
        }
        let relation = match (self.remote(), other.remote()) {
            (None, None) => self.group.compare(&other.group),
            (Some(remote), Some(others)) => {
                self.group.compare(&other.group).max(remote.group().compare(others.group()))
            }
            _ => GroupRelation::Unequal,
        };
        match relation {
            GroupRelation::Identical => Comparison::Congruent,
            GroupRelation::Similar => Comparison::Similar,
            GroupRelation::Unequal => Comparison::Unequal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comm(context: u32, ranks: &[u32]) -> Comm {
        Comm::new(context, 0, Group::new(ranks), "", Handle(0), CommMeters::detached(ranks.len() as u32))
    }

    #[test]
    fn communicators_with_different_contexts_are_congruent_not_identical() {
        let world = comm(0, &[0, 1, 2]);
        assert_eq!(world.compare(&world), Comparison::Ident);
        assert_eq!(world.compare(&comm(4, &[0, 1, 2])), Comparison::Congruent);
        assert_eq!(world.compare(&comm(6, &[1, 0, 2])), Comparison::Similar);
        assert_eq!(world.compare(&comm(8, &[0])), Comparison::Unequal);
    }

    #[test]
    fn intercommunicators_compare_both_groups() {
        let inter = |context: u32, local: &[u32], remote: &[u32]| {
            comm(context, local).into_intercomm(Group::new(remote), comm(context + LOCAL_CONTEXT, local))
        };
        let first = inter(4, &[0, 1], &[3, 2]);
        assert_eq!(first.compare(&first), Comparison::Ident);
        assert_eq!(first.compare(&inter(8, &[0, 1], &[3, 2])), Comparison::Congruent);
        assert_eq!(first.compare(&inter(8, &[0, 1], &[2, 3])), Comparison::Similar);
        assert_eq!(first.compare(&inter(8, &[1, 0], &[3, 2])), Comparison::Similar);
        assert_eq!(first.compare(&inter(8, &[0, 1], &[3, 4])), Comparison::Unequal);
        assert_eq!(first.compare(&inter(8, &[3, 2], &[0, 1])), Comparison::Unequal);
        assert_eq!(first.compare(&comm(8, &[0, 1])), Comparison::Unequal);
        assert_eq!(comm(8, &[0, 1]).compare(&first), Comparison::Unequal);
        assert_eq!((first.size(), first.peers(), inter(8, &[0], &[1, 2, 3]).peers()), (2, 2, 3));
    }

    #[test]
    fn a_long_name_is_cut_between_characters() {
        let comm = comm(0, &[0]);
        assert_eq!(comm.name(), "");
        comm.set_name(&"ä".repeat(100));
        assert_eq!(comm.name(), "ä".repeat(63));
    }
}
