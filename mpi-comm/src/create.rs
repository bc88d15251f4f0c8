//! Creating and freeing communicators: their descriptions, and their registration with the engine.
//!
//! Invariant: a communicator's context is registered before its handle exists, and until after the handle is freed.
//! Not here: agreement on the context id (`context_agreement`), handles and instruments' bindings (`mpi-env`).

use mpi_core::abi::MPI_ERRORS_ARE_FATAL;
use mpi_core::{Guard, Handle};
use mpi_p2p::{CommMeters, ContextSpec, Engine};

use crate::comm::Comm;
use crate::context::ContextIds;
use crate::group::Group;

/// The description of a new communicator.
#[derive(Debug)]
pub struct CommSpec {
    /// Its context id.
    pub context: u32,
    /// Its processes.
    pub group: Group,
    /// This process's rank in it.
    pub rank: u32,
    /// Its name; may be empty.
    pub name: String,
    /// The word of its error handler.
    pub errhandler: Handle,
}

impl CommSpec {
    /// `MPI_COMM_WORLD` of a job of `size` processes.
    pub fn world(rank: u32, size: u32) -> CommSpec {
        CommSpec {
            context: ContextIds::WORLD,
            group: Group::world(size),
            rank,
            name: "MPI_COMM_WORLD".to_owned(),
            errhandler: Handle(MPI_ERRORS_ARE_FATAL),
        }
    }

    /// `MPI_COMM_SELF` of the process with this rank in the job.
    pub fn this_process(world_rank: u32) -> CommSpec {
        CommSpec {
            context: ContextIds::SELF,
            group: Group::new([world_rank]),
            rank: 0,
            name: "MPI_COMM_SELF".to_owned(),
            errhandler: Handle(MPI_ERRORS_ARE_FATAL),
        }
    }

    /// A communicator of part of another's processes, in which this one has `rank`: same error handler, no name.
    pub fn part(parent: &Comm, context: u32, group: &Group, rank: u32) -> CommSpec {
        let group = group.clone().derived_from(parent.group());
        CommSpec { context, group, rank, name: String::new(), errhandler: parent.errhandler().get() }
    }

    /// A duplicate of a communicator with another context: same processes, same order, same error handler, no name.
    pub fn duplicate(parent: &Comm, context: u32) -> CommSpec {
        CommSpec {
            context,
            group: parent.group().clone(),
            rank: parent.rank,
            name: String::new(),
            errhandler: parent.errhandler().get(),
        }
    }
}

/// Makes a communicator and registers its context with the engine. Local.
pub fn register(engine: &Engine, guard: &mut Guard<'_>, spec: CommSpec, instruments: CommMeters) -> Comm {
    engine.add_context(
        guard,
        ContextSpec { id: spec.context, rank: spec.rank, world_ranks: spec.group.world_ranks().clone(), instruments },
    );
    Comm::new(spec.context, spec.rank, spec.group, &spec.name, spec.errhandler, instruments)
}

/// Removes a communicator's context from the engine. Local; operations still under way complete.
pub fn unregister(engine: &Engine, guard: &mut Guard<'_>, comm: &Comm) {
    engine.remove_context(guard, comm.context());
}
