//! Creating and freeing communicators: their descriptions, and their registration with the engine.
//!
//! Invariant: a communicator's context is registered before its handle exists, and until after the handle is freed.
//! Not here: agreement on the context id (`context_agreement`), handles and instruments' bindings (`mpi-env`).

use std::sync::Arc;

use mpi_core::abi::MPI_ERRORS_ARE_FATAL;
use mpi_core::{Guard, Handle};
use mpi_p2p::{CommMeters, ContextSpec, Engine, PENDING_CONTEXT};

use crate::comm::{Comm, LOCAL_CONTEXT};
use crate::context::ContextIds;
use crate::group::Group;
use crate::topology::Topology;

/// The description of a new communicator.
#[derive(Debug)]
pub struct CommSpec {
    /// Its context id.
    pub context: u32,
    /// Its processes; of an intercommunicator, those of the local group.
    pub group: Group,
    /// The other side of an intercommunicator, which also has the context id that follows `context`.
    pub remote: Option<RemoteSpec>,
    /// This process's rank in it; in an intercommunicator in its local group.
    pub rank: u32,
    /// Its name; may be empty.
    pub name: String,
    /// The word of its error handler.
    pub errhandler: Handle,
    /// Its topology.
    pub topology: Option<Arc<Topology>>,
}

/// The other side of a new intercommunicator.
#[derive(Debug, Clone)]
pub struct RemoteSpec {
    /// The remote group.
    pub group: Group,
    /// The instruments of the library's own messages within the local group, with a row at least for each of its
    /// processes; intercommunicators may share them.
    pub internal_meters: CommMeters,
}

impl RemoteSpec {
    /// Another remote group, with the same instruments.
    fn of(parent: &Comm, group: Option<Group>) -> Option<RemoteSpec> {
        let remote = parent.remote()?;
        let group = group.unwrap_or_else(|| remote.group().clone());
        Some(RemoteSpec { group, internal_meters: parent.local().instruments() })
    }
}

impl CommSpec {
    /// Number of ranks that messages go to and come from.
    pub fn peers(&self) -> u32 {
        self.remote.as_ref().map_or(self.group.size(), |remote| remote.group.size())
    }

    /// The numbers in the job of these ranks.
    pub fn peer_ranks(&self) -> &Arc<[u32]> {
        self.remote.as_ref().map_or(&self.group, |remote| &remote.group).world_ranks()
    }

    /// `MPI_COMM_WORLD` of a job of `size` processes.
    pub fn world(rank: u32, size: u32) -> CommSpec {
        CommSpec {
            context: ContextIds::WORLD,
            group: Group::world(size),
            remote: None,
            rank,
            name: "MPI_COMM_WORLD".to_owned(),
            errhandler: Handle(MPI_ERRORS_ARE_FATAL),
            topology: None,
        }
    }

    /// `MPI_COMM_SELF` of the process with this rank in the job.
    pub fn this_process(world_rank: u32) -> CommSpec {
        CommSpec {
            context: ContextIds::SELF,
            group: Group::new([world_rank]),
            remote: None,
            rank: 0,
            name: "MPI_COMM_SELF".to_owned(),
            errhandler: Handle(MPI_ERRORS_ARE_FATAL),
            topology: None,
        }
    }

    /// A communicator of part of another's processes, in which this one has `rank`: same error handler, no name, no
    /// topology.
    pub fn part(parent: &Comm, context: u32, group: &Group, rank: u32) -> CommSpec {
        let group = group.clone().derived_from(parent.group());
        CommSpec {
            context,
            group,
            remote: None,
            rank,
            name: String::new(),
            errhandler: parent.errhandler().get(),
            topology: None,
        }
    }

    /// An intercommunicator of parts of both groups of another intercommunicator. Otherwise as [`CommSpec::part`].
    pub fn parts(parent: &Comm, context: u32, group: &Group, remote: &Group, rank: u32) -> CommSpec {
        let remote = RemoteSpec::of(parent, Some(remote.clone().derived_from(parent.group())));
        CommSpec { remote, ..CommSpec::part(parent, context, group, rank) }
    }

    /// A duplicate of a communicator with another context: same processes, same order, same error handler and
    /// topology, no name.
    pub fn duplicate(parent: &Comm, context: u32) -> CommSpec {
        CommSpec {
            context,
            group: parent.group().clone(),
            remote: RemoteSpec::of(parent, None),
            rank: parent.rank,
            name: String::new(),
            errhandler: parent.errhandler().get(),
            topology: parent.topology().cloned(),
        }
    }
}

/// Makes a communicator and registers its contexts with the engine. Local. `instruments` has a row for each process of
/// the group, of an intercommunicator for each process of the remote group.
pub fn register(engine: &Engine, guard: &mut Guard<'_>, spec: CommSpec, instruments: CommMeters) -> Comm {
    let comm = unregistered(spec, instruments);
    contexts_of(&comm, comm.context()).into_iter().for_each(|context| engine.add_context(guard, context));
    comm
}

/// Makes a communicator whose contexts are not registered with the engine yet. Otherwise as [`register`].
pub fn unregistered(spec: CommSpec, instruments: CommMeters) -> Comm {
    let CommSpec { context, group, remote, rank, name, errhandler, topology } = spec;
    let local = group.clone();
    let comm = Comm::new(context, rank, group, &name, errhandler, instruments).with_topology(topology);
    let Some(RemoteSpec { group, internal_meters }) = remote else { return comm };
    let following = if context == PENDING_CONTEXT { PENDING_CONTEXT } else { context + LOCAL_CONTEXT };
    comm.into_intercomm(group, Comm::new(following, rank, local, "", Handle(MPI_ERRORS_ARE_FATAL), internal_meters))
}

/// The contexts of a communicator whose context id is, or will be, `context`: one, or two of an intercommunicator.
pub fn contexts_of(comm: &Comm, context: u32) -> Vec<ContextSpec> {
    let spec = |id, group: &Group, both_groups, instruments| {
        let (world_ranks, session) = (group.world_ranks().clone(), comm.group().session());
        let mut pins = comm.group().pins().clone();
        if let Some(remote) = comm.remote() {
            pins.merge(remote.group().pins());
        }
        ContextSpec { id, rank: comm.rank, world_ranks, both_groups, session, pins, instruments }
    };
    match comm.remote() {
        None => vec![spec(context, comm.group(), None, comm.instruments())],
        Some(remote) => vec![
            spec(context, remote.group(), Some(remote.members().clone()), comm.instruments()),
            // The local group's own messages are of no use without the remote group.
            spec(context + LOCAL_CONTEXT, comm.group(), Some(remote.members().clone()), comm.local().instruments()),
        ],
    }
}

/// Removes a communicator's contexts from the engine. Local; operations still under way complete.
pub fn unregister(engine: &Engine, guard: &mut Guard<'_>, comm: &Comm) {
    engine.remove_context(guard, comm.context());
    if comm.remote().is_some() {
        engine.remove_context(guard, comm.local().context());
    }
}
