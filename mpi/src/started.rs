//! Collective operations under way while the process works, and those that are started again and again (MPI-5.0, 6.12
//! and 6.13).
//!
//! An operation owns its data until it is complete, so it may be dropped, forgotten or returned. All processes start
//! operations, and make persistent ones, in the same order.
//! Invariant: an operation borrows its communicator. One that is dropped before it is complete goes on, because the other
//! processes need it, and its result is lost.
//! Not here: collective calls that block (`collective`, `varying`).

use mpi_coll::{OwnedArguments, OwnedCollective};
use mpi_datatype::Element;

use mpi_core::functions::{MPI_REQUEST_GET_STATUS, MPI_START, MPI_WAIT};

use crate::arrangement::{Arrangement, Kind};
use crate::block::{Block, placed};
use crate::call::CallName;
use crate::coll_functions::functions;
use crate::combine::Combine;
use crate::communicator::Alive;
use crate::threads::{Single, ThreadUse};
use crate::{Communicator, Result};

const START: &str = "Communicator::start";
const PERSISTENT: &str = "Communicator::persistent";
const WAIT: CallName = CallName::new("Started::wait", MPI_WAIT);
const TEST: CallName = CallName::new("Started::is_complete", MPI_REQUEST_GET_STATUS);
const RESTART: CallName = CallName::new("Repeated::start", MPI_START);
const WAIT_REPEATED: CallName = CallName::new("Repeated::wait", MPI_WAIT);
const TEST_REPEATED: CallName = CallName::new("Repeated::is_complete", MPI_REQUEST_GET_STATUS);

/// A collective operation with this process's data, to be started by [`Communicator::start`] or made persistent by
/// [`Communicator::persistent`].
///
/// The arguments are those of the calls that block; data and counts are owned.
///
/// ```no_run
/// use mpi::{Collective, Operation};
///
/// # fn work(world: &mpi::World) -> mpi::Result<()> {
/// let sums = world.start(Collective::all_reduce(vec![1.5, f64::from(world.rank())], Operation::Sum))?;
/// // Work that does not need the sums.
/// println!("{:?}", sums.wait()?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "it is not started"]
pub struct Collective<T: Element> {
    kind: Kind,
    data: Vec<T>,
    /// Memory for what is received, where the caller passes it.
    room: Option<Vec<T>>,
    combine: Option<Combine<T>>,
}

impl Collective<u8> {
    /// Is complete when all processes have started it. There are no data.
    pub fn barrier() -> Collective<u8> {
        Collective::moving(Kind::Barrier, Vec::new())
    }
}

impl<T: Element> Collective<T> {
    fn moving(kind: Kind, data: Vec<T>) -> Collective<T> {
        Collective { kind, data, room: None, combine: None }
    }

    fn combining(kind: Kind, data: Vec<T>, combine: impl Into<Combine<T>>) -> Collective<T> {
        Collective { kind, data, room: None, combine: Some(combine.into()) }
    }

    /// [`Communicator::broadcast`]; `data` is equally long in all processes.
    pub fn broadcast(data: Vec<T>, root: u32) -> Collective<T> {
        Collective::moving(Kind::Broadcast(root), data)
    }

    /// [`Communicator::reduce`].
    pub fn reduce(data: Vec<T>, combine: impl Into<Combine<T>>, root: u32) -> Collective<T> {
        Collective::combining(Kind::Reduce(root), data, combine)
    }

    /// [`Communicator::all_reduce`].
    pub fn all_reduce(data: Vec<T>, combine: impl Into<Combine<T>>) -> Collective<T> {
        Collective::combining(Kind::AllReduce, data, combine)
    }

    /// [`Communicator::scan`].
    pub fn scan(data: Vec<T>, combine: impl Into<Combine<T>>) -> Collective<T> {
        Collective::combining(Kind::Scan, data, combine)
    }

    /// [`Communicator::exclusive_scan`]; the process of rank 0 gets default values.
    pub fn exclusive_scan(data: Vec<T>, combine: impl Into<Combine<T>>) -> Collective<T> {
        Collective::combining(Kind::ExclusiveScan, data, combine)
    }

    /// [`Communicator::reduce_scatter`].
    pub fn reduce_scatter(data: Vec<T>, combine: impl Into<Combine<T>>) -> Collective<T> {
        Collective::combining(Kind::ReduceScatter, data, combine)
    }

    /// [`Communicator::reduce_scatter_varying`].
    pub fn reduce_scatter_varying(data: Vec<T>, counts: Vec<usize>, combine: impl Into<Combine<T>>) -> Collective<T> {
        Collective::combining(Kind::ReduceScatterVarying(counts), data, combine)
    }

    /// [`Communicator::gather`].
    pub fn gather(data: Vec<T>, root: u32) -> Collective<T> {
        Collective::moving(Kind::Gather(root), data)
    }

    /// [`Communicator::gather_varying`].
    pub fn gather_varying(data: Vec<T>, counts: Vec<usize>, root: u32) -> Collective<T> {
        Collective::moving(Kind::GatherVarying(counts, root), data)
    }

    /// [`Communicator::scatter`]; each process gets `count` elements.
    pub fn scatter(data: Vec<T>, count: usize, root: u32) -> Collective<T> {
        Collective::moving(Kind::Scatter(count, root), data)
    }

    /// [`Communicator::scatter_varying`].
    pub fn scatter_varying(data: Vec<T>, counts: Vec<usize>, root: u32) -> Collective<T> {
        Collective::moving(Kind::ScatterVarying(counts, root), data)
    }

    /// [`Communicator::all_gather`].
    pub fn all_gather(data: Vec<T>) -> Collective<T> {
        Collective::moving(Kind::AllGather, data)
    }

    /// [`Communicator::all_gather_varying`].
    pub fn all_gather_varying(data: Vec<T>, counts: Vec<usize>) -> Collective<T> {
        Collective::moving(Kind::AllGatherVarying(counts), data)
    }

    /// [`Communicator::all_to_all`].
    pub fn all_to_all(data: Vec<T>) -> Collective<T> {
        Collective::moving(Kind::AllToAll, data)
    }

    /// [`Communicator::all_to_all_varying`].
    pub fn all_to_all_varying(data: Vec<T>, send_counts: Vec<usize>, receive_counts: Vec<usize>) -> Collective<T> {
        Collective::moving(Kind::AllToAllVarying(send_counts, receive_counts), data)
    }

    /// [`Communicator::all_to_all_blocks`]; the result is `into` with what was received.
    pub fn all_to_all_blocks(data: Vec<T>, sends: &[Block<T>], into: Vec<T>, receives: &[Block<T>]) -> Collective<T> {
        let moving = Collective::moving(Kind::AllToAllBlocks(placed(sends), placed(receives)), data);
        Collective { room: Some(into), ..moving }
    }

    /// [`Grid::neighbor_all_to_all_blocks`](crate::Grid::neighbor_all_to_all_blocks), on a grid or a graph; the result
    /// is `into` with what was received.
    pub fn neighbor_all_to_all_blocks(
        data: Vec<T>,
        sends: &[Block<T>],
        into: Vec<T>,
        receives: &[Block<T>],
    ) -> Collective<T> {
        let moving = Collective::moving(Kind::NeighborAllToAllBlocks(placed(sends), placed(receives)), data);
        Collective { room: Some(into), ..moving }
    }

    /// [`Grid::neighbor_all_gather`](crate::Grid::neighbor_all_gather), on a grid or a graph.
    pub fn neighbor_all_gather(data: Vec<T>) -> Collective<T> {
        Collective::moving(Kind::NeighborAllGather, data)
    }

    /// [`Grid::neighbor_all_gather_varying`](crate::Grid::neighbor_all_gather_varying), on a grid or a graph.
    pub fn neighbor_all_gather_varying(data: Vec<T>, counts: Vec<usize>) -> Collective<T> {
        Collective::moving(Kind::NeighborAllGatherVarying(counts), data)
    }

    /// [`Grid::neighbor_all_to_all`](crate::Grid::neighbor_all_to_all), on a grid or a graph.
    pub fn neighbor_all_to_all(data: Vec<T>) -> Collective<T> {
        Collective::moving(Kind::NeighborAllToAll, data)
    }

    /// [`Grid::neighbor_all_to_all_varying`](crate::Grid::neighbor_all_to_all_varying), on a grid or a graph.
    pub fn neighbor_all_to_all_varying(
        data: Vec<T>,
        send_counts: Vec<usize>,
        receive_counts: Vec<usize>,
    ) -> Collective<T> {
        Collective::moving(Kind::NeighborAllToAllVarying(send_counts, receive_counts), data)
    }
}

/// A collective operation under way. When it is dropped, it goes on, and its result is lost.
///
/// ```compile_fail
/// let started;
/// let world = mpi::init().unwrap();
/// started = world.start(mpi::Collective::barrier()).unwrap(); // it may not outlive the world
/// ```
#[derive(Debug)]
#[must_use = "`wait` gives the result"]
pub struct Started<'c, T: Element, M: ThreadUse = Single> {
    pub(crate) comm: &'c Communicator<'c, M>,
    _alive: Alive<'c>,
    pub(crate) operation: OwnedCollective<T>,
}

/// A collective operation that is started again and again, in all processes.
///
/// ```no_run
/// use mpi::{Collective, Operation};
///
/// # fn work(world: &mpi::World) -> mpi::Result<()> {
/// let mut largest = world.persistent(Collective::all_reduce(vec![0.0f64; 3], Operation::Max))?;
/// for step in 0..100 {
///     largest.data_mut().expect("inactive").fill(f64::from(world.rank() * step));
///     largest.start()?;
///     // Work that does not need the result.
///     largest.wait()?;
///     println!("{:?}", largest.result());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Repeated<'c, T: Element, M: ThreadUse = Single> {
    pub(crate) comm: &'c Communicator<'c, M>,
    _alive: Alive<'c>,
    pub(crate) operation: OwnedCollective<T>,
}

impl<M: ThreadUse> Communicator<'_, M> {
    /// Starts a collective operation. All processes start the same operations in the same order. Errors: those of the
    /// call that blocks, except for those of data of other processes.
    pub fn start<T: Element + Default>(&self, collective: Collective<T>) -> Result<Started<'_, T, M>> {
        let name = CallName::new(START, functions(collective.kind.which())[1]);
        self.begin(name, self.owned(collective), OwnedCollective::start).map(|operation| Started::of(self, operation))
    }

    /// Makes a persistent collective operation, which [`Repeated::start`] starts. All processes make them in the same
    /// order. Errors: as [`Communicator::start`].
    pub fn persistent<T: Element + Default>(&self, collective: Collective<T>) -> Result<Repeated<'_, T, M>> {
        let name = CallName::new(PERSISTENT, functions(collective.kind.which())[2]);
        self.begin(name, self.owned(collective), OwnedCollective::persistent)
            .map(|operation| Repeated::of(self, operation))
    }

    fn owned<T: Element>(&self, collective: Collective<T>) -> Result<Owned<T>> {
        let Collective { kind, data, room, combine } = collective;
        Ok(Owned { arranged: kind.arrange(self, data.len())?, data, room, combine })
    }

    /// Starts an operation, or makes a persistent one.
    pub(crate) fn begin<T: Element + Default>(
        &self,
        name: CallName,
        owned: Result<Owned<T>>,
        begin: Begin<T>,
    ) -> Result<OwnedCollective<T>> {
        self.call(name, |call| {
            let Owned { arranged, data, room, combine } = owned?;
            let op = combine.map(|combine| combine.op(call.process)).transpose()?;
            let (peer, root, count) = (arranged.peer(), arranged.root(), data.len() as u64);
            let (sent, received) = match arranged.in_receive {
                true => (Vec::new(), data),
                false => (data, room.unwrap_or_else(|| vec![T::default(); arranged.received])),
            };
            let arguments = OwnedArguments {
                which: arranged.which,
                root,
                send: (sent, arranged.send),
                receive: (received, arranged.receive),
                reduction: op.map(|op| (op, count)),
                counts: arranged.counts,
            };
            let mut guard = call.enter(peer, 0, count);
            begin((&call.process.engine, &call.process.coll), &mut guard, &self.comm, arguments)
        })
    }
}

/// A collective operation with its buffers, before it begins.
pub(crate) struct Owned<T: Element> {
    pub arranged: Arrangement,
    pub data: Vec<T>,
    pub room: Option<Vec<T>>,
    pub combine: Option<Combine<T>>,
}

/// [`OwnedCollective::start`] or [`OwnedCollective::persistent`].
type Begin<T> = fn(
    (&'static mpi_p2p::Engine, &mpi_coll::Collectives),
    &mut mpi_core::Guard<'_>,
    &mpi_comm::Comm,
    OwnedArguments<T>,
) -> Result<OwnedCollective<T>>;

impl<'c, T: Element, M: ThreadUse> Started<'c, T, M> {
    pub(crate) fn of(comm: &'c Communicator<'c, M>, operation: OwnedCollective<T>) -> Self {
        Started { comm, _alive: Alive::new(), operation }
    }

    /// Waits until the operation is complete: what this process receives. Nothing in a process that the operation gives
    /// nothing to, such as one that is not the root. Errors: `MPI_ERR_TRUNCATE` when the processes' counts do not match.
    pub fn wait(self) -> Result<Vec<T>> {
        let Started { comm, operation, .. } = self;
        comm.call(WAIT, |call| operation.finish(call.enter(-1, 0, 0)))
    }

    /// Whether it is complete, so that [`Started::wait`] does not wait.
    pub fn is_complete(&self) -> Result<bool> {
        self.comm.call(TEST, |call| self.operation.is_complete(&mut call.enter(-1, 0, 0)))
    }
}

impl<'c, T: Element, M: ThreadUse> Repeated<'c, T, M> {
    pub(crate) fn of(comm: &'c Communicator<'c, M>, operation: OwnedCollective<T>) -> Self {
        Repeated { comm, _alive: Alive::new(), operation }
    }

    /// Starts the operation. Errors: `MPI_ERR_REQUEST` while it is active.
    pub fn start(&mut self) -> Result<()> {
        self.comm.call(RESTART, |call| self.operation.restart(&mut call.enter(-1, 0, 0)))
    }

    /// Waits until the operation is complete. Errors: as [`Started::wait`].
    pub fn wait(&mut self) -> Result<()> {
        self.comm.call(WAIT_REPEATED, |call| self.operation.wait(call.enter(-1, 0, 0)))
    }

    /// Whether [`Repeated::wait`] does not wait.
    pub fn is_complete(&self) -> Result<bool> {
        self.comm.call(TEST_REPEATED, |call| self.operation.is_complete(&mut call.enter(-1, 0, 0)))
    }

    /// The data that this process contributes, to be changed; `None` while the operation is active. Where it contributes
    /// none, they are those of [`Repeated::result`].
    pub fn data_mut(&mut self) -> Option<&mut [T]> {
        self.operation.data_mut()
    }

    /// What the last operation gave to this process, as [`Started::wait`]; `None` while one is active.
    pub fn result(&self) -> Option<&[T]> {
        self.operation.received()
    }
}
