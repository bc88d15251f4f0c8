//! Making and ending communicators: agreeing on a context, telling the engine.
//!
//! Invariant: the engine knows a communicator's context from before its handle exists until after it is gone.
//! Not here: handles and instruments' bindings (`mpi-env`).

use mpi_core::abi::{MPI_ERR_OTHER, MPI_ERRORS_ARE_FATAL};
use mpi_core::{Guard, Guarded, Handle};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::{Error, Result};
use mpi_p2p::{CommMeters, ContextSpec, Engine, Mode};

use crate::comm::Comm;
use crate::context::ContextIds;
use crate::group::Group;

/// Tag of the message that tells a new context id; collectives use small positive ones.
const TAG: i32 = 0x7001;

/// What a new communicator is made of.
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

/// A context id that all processes of `parent` agree on. Collective over `parent`; waits.
///
/// Errors: `MPI_ERR_OTHER` in every process when rank 0 has no id left.
pub fn agree_on_context(engine: &Engine, parent: &Comm, ids: &Guarded<ContextIds>) -> Result<u32> {
    let context = parent.collective_context();
    if parent.rank != 0 {
        let mut told = [0u32];
        engine.recv(engine.lock(), context, 0, TAG, RecvBuf::from_slice(&mut told))?;
        return match told {
            [NONE_LEFT] => Err(Error::new(
                MPI_ERR_OTHER,
                "rank 0 of the parent communicator has made all the communicators it can number",
            )),
            [id] => Ok(id),
        };
    }
    let taken = ids.get_mut(&mut engine.lock()).take();
    let told = [*taken.as_ref().unwrap_or(&NONE_LEFT)];
    for dest in 1..parent.size() as i32 {
        engine.send(engine.lock(), context, dest, TAG, SendBuf::from_slice(&told), Mode::Standard)?;
    }
    taken
}

/// Not an id: ids are even.
const NONE_LEFT: u32 = u32::MAX;

/// Makes a communicator and tells the engine of it. Local.
pub fn register(engine: &Engine, guard: &mut Guard<'_>, spec: CommSpec, instruments: CommMeters) -> Comm {
    engine.add_context(
        guard,
        ContextSpec { id: spec.context, rank: spec.rank, world_ranks: spec.group.world_ranks().clone(), instruments },
    );
    Comm::new(spec.context, spec.rank, spec.group, &spec.name, spec.errhandler, instruments)
}

/// Makes the engine forget a communicator. Local; operations still under way complete.
pub fn unregister(engine: &Engine, guard: &mut Guard<'_>, comm: &Comm) {
    engine.remove_context(guard, comm.context());
}
