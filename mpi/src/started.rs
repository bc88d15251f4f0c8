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

use mpi_core::functions;

use crate::arrangement::{Combine, Kind};
use crate::call::CallName;
use crate::communicator::Alive;
use crate::threads::{Single, ThreadUse};
use crate::{Communicator, Result};

const START: &str = "Communicator::start";
const PERSISTENT: &str = "Communicator::persistent";
const WAIT: CallName = CallName::new("Started::wait", functions::MPI_WAIT);
const TEST: CallName = CallName::new("Started::is_complete", functions::MPI_REQUEST_GET_STATUS);
const RESTART: CallName = CallName::new("Repeated::start", functions::MPI_START);
const WAIT_REPEATED: CallName = CallName::new("Repeated::wait", functions::MPI_WAIT);
const TEST_REPEATED: CallName = CallName::new("Repeated::is_complete", functions::MPI_REQUEST_GET_STATUS);

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
    combine: Option<Combine<T>>,
}

impl Collective<u8> {
    /// Is complete when all processes have started it. There are no data.
    pub fn barrier() -> Collective<u8> {
        Collective { kind: Kind::Barrier, data: Vec::new(), combine: None }
    }
}

impl<T: Element> Collective<T> {
    fn moving(kind: Kind, data: Vec<T>) -> Collective<T> {
        Collective { kind, data, combine: None }
    }

    fn combining(kind: Kind, data: Vec<T>, combine: impl Into<Combine<T>>) -> Collective<T> {
        Collective { kind, data, combine: Some(combine.into()) }
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
        let name = CallName::new(START, collective.kind.functions().1[0]);
        let operation = self.owned(name, collective, OwnedCollective::start)?;
        Ok(Started { comm: self, _alive: Alive::new(), operation })
    }

    /// Makes a persistent collective operation, which [`Repeated::start`] starts. All processes make them in the same
    /// order. Errors: as [`Communicator::start`].
    pub fn persistent<T: Element + Default>(&self, collective: Collective<T>) -> Result<Repeated<'_, T, M>> {
        let name = CallName::new(PERSISTENT, collective.kind.functions().1[1]);
        let operation = self.owned(name, collective, OwnedCollective::persistent)?;
        Ok(Repeated { comm: self, _alive: Alive::new(), operation })
    }

    fn owned<T: Element + Default>(
        &self,
        name: CallName,
        collective: Collective<T>,
        begin: fn(
            (&'static mpi_p2p::Engine, &mpi_coll::Collectives),
            &mut mpi_core::Guard<'_>,
            &mpi_comm::Comm,
            OwnedArguments<T>,
        ) -> Result<OwnedCollective<T>>,
    ) -> Result<OwnedCollective<T>> {
        self.call(name, |call| {
            let Collective { kind, data, combine } = collective;
            let arranged = kind.arrange(self, data.len())?;
            let op = combine.map(|combine| combine.op(call.process)).transpose()?;
            let (peer, root, count) = (arranged.peer(), arranged.root(), data.len() as u64);
            let (sent, received) = match arranged.in_receive {
                true => (Vec::new(), data),
                false => (data, vec![T::default(); arranged.received]),
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

impl<T: Element, M: ThreadUse> Started<'_, T, M> {
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

impl<T: Element, M: ThreadUse> Repeated<'_, T, M> {
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
