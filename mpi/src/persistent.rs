//! Persistent and partitioned messages (MPI-5.0, 3.9 and 4.2): operations that are started again and again.
//!
//! An operation owns its data. They are accessible while it is inactive, and by partitions as these come and go.
//! Invariant: an operation borrows its communicator, so it is freed before MPI is finalized.
//! Not here: single messages (`peer`).

use std::ops::Range;

use mpi_core::abi::MPI_ERR_REQUEST;
use mpi_core::functions;
use mpi_datatype::Element;
use mpi_p2p::{Mode, OwnedOperation};

use crate::call::CallName;
use crate::communicator::Alive;
use crate::immediate::count_from;
use crate::peer::{Peer, Received, received};
use crate::threads::{Single, ThreadUse};
use crate::{Communicator, Error, Layout, Result};

const SEND_INIT: CallName = CallName::new("Peer::persistent_send", functions::MPI_SEND_INIT);
const RECV_INIT: CallName = CallName::new("Peer::persistent_receive", functions::MPI_RECV_INIT);
const SEND_INIT_LAYOUT: CallName = CallName::new("Peer::persistent_send_layout", functions::MPI_SEND_INIT);
const RECV_INIT_LAYOUT: CallName = CallName::new("Peer::persistent_receive_layout", functions::MPI_RECV_INIT);
const PSEND_INIT: CallName = CallName::new("Peer::partitioned_send", functions::MPI_PSEND_INIT);
const PRECV_INIT: CallName = CallName::new("Peer::partitioned_receive", functions::MPI_PRECV_INIT);
const START: CallName = CallName::new("Persistent::start", functions::MPI_START);
const WAIT: CallName = CallName::new("Persistent::wait", functions::MPI_WAIT);
const TEST: CallName = CallName::new("Persistent::is_complete", functions::MPI_REQUEST_GET_STATUS);
const READY: CallName = CallName::new("Persistent::ready", functions::MPI_PREADY);
const READY_RANGE: CallName = CallName::new("Persistent::ready_range", functions::MPI_PREADY_RANGE);
const READY_LIST: CallName = CallName::new("Persistent::ready_list", functions::MPI_PREADY_LIST);
const ARRIVED: CallName = CallName::new("Persistent::arrived", functions::MPI_PARRIVED);

/// A send or a receive that is started again and again.
///
/// ```no_run
/// # fn work(world: &mpi::World) -> mpi::Result<()> {
/// let mut values = world.process(1).persistent_send(vec![0.0f64; 8], 0)?;
/// for step in 0..100 {
///     values.data_mut().expect("inactive").fill(f64::from(step));
///     values.start()?;
///     values.wait()?;
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Persistent<'c, T: Element, M: ThreadUse = Single> {
    pub(crate) comm: &'c Communicator<'c, M>,
    _alive: Alive<'c>,
    pub(crate) operation: OwnedOperation<T>,
}

impl<'c, M: ThreadUse> Peer<'c, M> {
    /// A persistent send of `data`. Errors: `MPI_ERR_RANK`, `MPI_ERR_TAG`.
    pub fn persistent_send<T: Element>(&self, data: Vec<T>, tag: i32) -> Result<Persistent<'c, T, M>> {
        self.persistent_send_as(SEND_INIT, (data, None), tag, Mode::Standard)
    }

    /// A persistent receive of at most `count` elements. Errors: as [`Peer::persistent_send`].
    pub fn persistent_receive<T: Element + Default>(&self, count: usize, tag: i32) -> Result<Persistent<'c, T, M>> {
        self.call(RECV_INIT, |call| {
            let (source, data) = (self.source(tag)?, vec![T::default(); count]);
            let mut guard = call.enter(source, tag, count as u64);
            let operation =
                OwnedOperation::receive(&call.process.engine, &mut guard, call.context, (source, tag), data, None)?;
            Ok(Persistent::of(self.comm, operation))
        })
    }

    /// A persistent send of the elements of `data` that a layout selects. Errors: as [`Peer::persistent_send`], and
    /// `MPI_ERR_BUFFER` when the layout reaches out of `data`.
    pub fn persistent_send_layout<T: Element>(
        &self,
        data: Vec<T>,
        layout: &Layout<T>,
        tag: i32,
    ) -> Result<Persistent<'c, T, M>> {
        self.persistent_send_as(SEND_INIT_LAYOUT, (data, Some(layout)), tag, Mode::Standard)
    }

    /// A persistent send of all of the data, or of the elements that a layout selects, in a mode, under the name of a call.
    pub(crate) fn persistent_send_as<T: Element>(
        &self,
        name: CallName,
        (data, layout): (Vec<T>, Option<&Layout<T>>),
        tag: i32,
        mode: Mode,
    ) -> Result<Persistent<'c, T, M>> {
        self.call(name, |call| {
            let to = (self.destination(tag)?, tag);
            let count = count_from(&data, layout)?;
            let mut guard = call.enter(to.0, tag, count);
            let (engine, context, layout) = (&call.process.engine, call.context, layout.map(Layout::datatype));
            let operation = OwnedOperation::send(engine, &mut guard, context, to, data, layout, mode)?;
            Ok(Persistent::of(self.comm, operation))
        })
    }

    /// A persistent receive into the elements of `data` that a layout selects; the others stay as they are. Errors: as
    /// [`Peer::persistent_receive`], and `MPI_ERR_BUFFER` when the layout reaches out of `data` or has overlapping blocks.
    pub fn persistent_receive_layout<T: Element>(
        &self,
        mut data: Vec<T>,
        layout: &Layout<T>,
        tag: i32,
    ) -> Result<Persistent<'c, T, M>> {
        self.call(RECV_INIT_LAYOUT, |call| {
            let from = (self.source(tag)?, tag);
            layout.receive_into(&mut data)?;
            let mut guard = call.enter(from.0, tag, layout.count() as u64);
            let (engine, context, layout) = (&call.process.engine, call.context, Some(layout.datatype()));
            let operation = OwnedOperation::receive(engine, &mut guard, context, from, data, layout)?;
            Ok(Persistent::of(self.comm, operation))
        })
    }

    /// A send of `data` in equal partitions, each of which leaves when it is ready ([`Persistent::ready`]). The n-th
    /// one to a process with a tag goes to the n-th partitioned receive there. Errors: as [`Peer::persistent_send`],
    /// and `MPI_ERR_COUNT` when the partitions would not be equal.
    pub fn partitioned_send<T: Element>(
        &self,
        data: Vec<T>,
        partitions: u32,
        tag: i32,
    ) -> Result<Persistent<'c, T, M>> {
        self.call(PSEND_INIT, |call| {
            let to = (self.destination(tag)?, tag);
            let mut guard = call.enter(to.0, tag, data.len() as u64);
            let (engine, context) = (&call.process.engine, call.context);
            let operation = OwnedOperation::partitioned_send(engine, &mut guard, context, to, data, partitions)?;
            Ok(Persistent::of(self.comm, operation))
        })
    }

    /// A receive of `count` elements in equal partitions, as many as the sender has or not ([`Persistent::arrived`]).
    /// Errors: as [`Peer::partitioned_send`]; `MPI_ERR_RANK` for any process and `MPI_ERR_TAG` for any tag, too.
    pub fn partitioned_receive<T: Element + Default>(
        &self,
        count: usize,
        partitions: u32,
        tag: i32,
    ) -> Result<Persistent<'c, T, M>> {
        self.call(PRECV_INIT, |call| {
            let (from, data) = ((self.destination(tag)?, tag), vec![T::default(); count]);
            let mut guard = call.enter(from.0, tag, count as u64);
            let (engine, context) = (&call.process.engine, call.context);
            let operation = OwnedOperation::partitioned_receive(engine, &mut guard, context, from, data, partitions)?;
            Ok(Persistent::of(self.comm, operation))
        })
    }
}

impl<'c, T: Element, M: ThreadUse> Persistent<'c, T, M> {
    pub(crate) fn of(comm: &'c Communicator<'c, M>, operation: OwnedOperation<T>) -> Self {
        Persistent { comm, _alive: Alive::new(), operation }
    }

    /// Starts the operation. Errors: `MPI_ERR_REQUEST` while it is active.
    pub fn start(&mut self) -> Result<()> {
        self.comm.call(START, |call| {
            let (peer, tag) = self.operation.peer_and_tag();
            self.operation.start(&mut call.enter(peer, tag, 0))
        })
    }

    /// Waits until the send is over. Errors: those of the operation.
    pub fn wait(&mut self) -> Result<()> {
        self.comm.call(WAIT, |call| self.operation.wait(call.enter(-1, 0, 0)).map(drop))
    }

    /// Waits until the receive is over. Errors: `MPI_ERR_TRUNCATE` for a message that is too long, `MPI_ERR_TYPE` for
    /// one that is not made of whole elements, `MPI_ERR_REQUEST` for a send and for a receive that is not started.
    pub fn wait_received(&mut self) -> Result<Received> {
        self.comm.call(WAIT, |call| {
            let rule = match (self.operation.is_receive(), self.operation.data()) {
                (false, _) => "the operation is a send, which receives nothing: Persistent::wait waits for it",
                (true, Some(_)) => "the operation is not started",
                (true, None) => return received::<T>(&self.operation.wait(call.enter(-1, 0, 0))?),
            };
            Err(Error::new(MPI_ERR_REQUEST, rule))
        })
    }

    /// Whether it is inactive or complete, so that a wait does not wait.
    pub fn is_complete(&self) -> Result<bool> {
        self.comm.call(TEST, |call| self.operation.is_complete(&mut call.enter(-1, 0, 0)))
    }

    /// The data; `None` while the operation is active.
    pub fn data(&self) -> Option<&[T]> {
        self.operation.data()
    }

    /// The data, to be changed; `None` while the operation is active.
    pub fn data_mut(&mut self) -> Option<&mut [T]> {
        self.operation.data_mut()
    }

    /// A partition of a partitioned send, to be changed before it is ready, or of any inactive operation. Errors:
    /// `MPI_ERR_ARG` for one that does not exist, is ready, or belongs to another active operation.
    pub fn partition_mut(&mut self, partition: u32) -> Result<&mut [T]> {
        self.operation.partition_mut(partition)
    }

    /// Marks a partition of an active send ready: it leaves now. Errors: `MPI_ERR_ARG` as
    /// [`Persistent::partition_mut`], `MPI_ERR_REQUEST` for an inactive send or another operation.
    pub fn ready(&mut self, partition: u32) -> Result<()> {
        self.mark_ready(READY, std::iter::once((partition, partition)))
    }

    /// As [`Persistent::ready`], for all partitions of a range, or for none if one cannot be marked
    /// (`MPI_Pready_range`). An empty range marks none.
    pub fn ready_range(&mut self, partitions: Range<u32>) -> Result<()> {
        let range = (!partitions.is_empty()).then(|| (partitions.start, partitions.end - 1));
        self.mark_ready(READY_RANGE, range.into_iter())
    }

    /// As [`Persistent::ready`], for all partitions of a list, or for none if one cannot be marked or is there twice
    /// (`MPI_Pready_list`).
    pub fn ready_list(&mut self, partitions: &[u32]) -> Result<()> {
        self.mark_ready(READY_LIST, partitions.iter().map(|partition| (*partition, *partition)))
    }

    fn mark_ready(&mut self, name: CallName, ranges: impl Iterator<Item = (u32, u32)> + Clone) -> Result<()> {
        self.comm.call(name, |call| self.operation.mark_ready(&mut call.enter(-1, 0, 0), ranges))
    }

    /// A partition of a receive, once it has arrived. Errors: as [`Persistent::ready`].
    pub fn arrived(&self, partition: u32) -> Result<Option<&[T]>> {
        let recorder = &self.comm.process.recorder;
        let record = || recorder.record(ARRIVED.function, 0, -1, 0, 0);
        self.operation.arrived(partition, record).map_err(|error| error.call(ARRIVED.rust))
    }
}
