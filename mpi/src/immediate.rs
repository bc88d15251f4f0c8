//! Messages under way while the process works (`MPI_Isend`, `MPI_Irecv`; MPI-5.0, 3.7).
//!
//! An operation owns its data until it is complete, so it may be dropped, forgotten or returned.
//! Invariant: an operation borrows its communicator. A send that is dropped goes on, and MPI is finalized only when it
//! is received; a receive that is dropped is cancelled, but a message that it has matched is lost.
//! Not here: operations on borrowed data (`scope`), those that are started again (`persistent`).

use mpi_core::{Status, functions};
use mpi_datatype::Element;
use mpi_p2p::{Mode, OwnedMessage};

use crate::call::CallName;
use crate::communicator::Alive;
use crate::peer::{Peer, Received, received, received_data};
use crate::threads::{Single, ThreadUse};
use crate::{Communicator, Layout, Result};

const SEND: CallName = CallName::new("Peer::start_send", functions::MPI_ISEND);
const RECEIVE: CallName = CallName::new("Peer::start_receive", functions::MPI_IRECV);
const SEND_LAYOUT: CallName = CallName::new("Peer::start_send_layout", functions::MPI_ISEND);
const RECEIVE_LAYOUT: CallName = CallName::new("Peer::start_receive_layout", functions::MPI_IRECV);
const WAIT_SENT: CallName = CallName::new("Sending::wait", functions::MPI_WAIT);
const WAIT_RECEIVED: CallName = CallName::new("Receiving::wait", functions::MPI_WAIT);
const CANCEL: CallName = CallName::new("Receiving::cancel", functions::MPI_CANCEL);
const WAIT_ANY: CallName = CallName::new("Receiving::wait_any", functions::MPI_WAITANY);
const TEST_SENT: CallName = CallName::new("Sending::is_complete", functions::MPI_REQUEST_GET_STATUS);
const TEST_RECEIVED: CallName = CallName::new("Receiving::is_complete", functions::MPI_REQUEST_GET_STATUS);

/// A send that is under way. When it is dropped, it goes on: the drop of [`World`](crate::World) waits for it.
///
/// ```compile_fail
/// let sending;
/// let world = mpi::init().unwrap();
/// sending = world.process(0).start_send(vec![1u8], 0).unwrap(); // it may not outlive the world
/// ```
#[derive(Debug)]
#[must_use = "`wait` gives the data back"]
pub struct Sending<'c, T: Element, M: ThreadUse = Single> {
    pub(crate) comm: &'c Communicator<'c, M>,
    _alive: Alive<'c>,
    pub(crate) message: OwnedMessage<T>,
}

/// A receive that is under way. When it is dropped, it is cancelled; a message that it has matched by then is lost.
///
/// ```no_run
/// # fn work(world: &mpi::World) -> mpi::Result<()> {
/// let (next, previous) = ((world.rank() + 1) % world.size(), (world.rank() + world.size() - 1) % world.size());
/// let receiving = world.process(previous).start_receive::<u32>(8, 0)?;
/// let sending = world.process(next).start_send(vec![world.rank(); 8], 0)?;
/// // Work that does not need the data.
/// let (numbers, _) = receiving.wait()?;
/// assert_eq!(numbers, [previous; 8]);
/// sending.wait()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "the received data are those of `wait`"]
pub struct Receiving<'c, T: Element, M: ThreadUse = Single> {
    pub(crate) comm: &'c Communicator<'c, M>,
    _alive: Alive<'c>,
    pub(crate) message: OwnedMessage<T>,
    /// Whether a layout selects the elements, so that all of the room is the result.
    selected: bool,
}

impl<'c, M: ThreadUse> Peer<'c, M> {
    /// Starts to send `data`. Errors: `MPI_ERR_RANK`, `MPI_ERR_TAG`.
    pub fn start_send<T: Element>(&self, data: Vec<T>, tag: i32) -> Result<Sending<'c, T, M>> {
        self.start_as(SEND, (data, None), tag, Mode::Standard)
    }

    /// Starts to send the elements of `data` that a layout selects. Errors: as [`Peer::start_send`], and `MPI_ERR_BUFFER`
    /// when the layout reaches out of `data`.
    pub fn start_send_layout<T: Element>(
        &self,
        data: Vec<T>,
        layout: &Layout<T>,
        tag: i32,
    ) -> Result<Sending<'c, T, M>> {
        self.start_as(SEND_LAYOUT, (data, Some(layout)), tag, Mode::Standard)
    }

    /// Starts to send all of the data, or the elements that a layout selects, in a mode, under the name of a call.
    pub(crate) fn start_as<T: Element>(
        &self,
        name: CallName,
        (data, layout): (Vec<T>, Option<&Layout<T>>),
        tag: i32,
        mode: Mode,
    ) -> Result<Sending<'c, T, M>> {
        self.call(name, |call| {
            let to = (self.destination(tag)?, tag);
            let count = count_from(&data, layout)?;
            let mut guard = call.enter(to.0, tag, count);
            let (engine, context, layout) = (&call.process.engine, call.context, layout.map(Layout::datatype));
            let message = OwnedMessage::send(engine, &mut guard, context, to, data, layout, mode)?;
            Ok(Sending::of(self.comm, message))
        })
    }

    /// Starts to receive into the elements of `room` that a layout selects; the result of [`Receiving::wait`] is all of
    /// `room`. Errors: as [`Peer::start_receive`], and `MPI_ERR_BUFFER` when the layout reaches out of `room` or has
    /// overlapping blocks.
    pub fn start_receive_layout<T: Element>(
        &self,
        mut room: Vec<T>,
        layout: &Layout<T>,
        tag: i32,
    ) -> Result<Receiving<'c, T, M>> {
        self.call(RECEIVE_LAYOUT, |call| {
            let from = (self.source(tag)?, tag);
            layout.receive_into(&mut room)?;
            let mut guard = call.enter(from.0, tag, layout.count() as u64);
            let (engine, context, layout) = (&call.process.engine, call.context, Some(layout.datatype()));
            let message = OwnedMessage::receive(engine, &mut guard, context, from, room, layout)?;
            Ok(Receiving { selected: true, ..Receiving::of(self.comm, message) })
        })
    }

    /// Starts to receive at most `count` elements. Errors: `MPI_ERR_RANK`, `MPI_ERR_TAG`.
    pub fn start_receive<T: Element + Default>(&self, count: usize, tag: i32) -> Result<Receiving<'c, T, M>> {
        self.call(RECEIVE, |call| {
            let from = (self.source(tag)?, tag);
            let mut guard = call.enter(from.0, tag, count as u64);
            let (engine, context, room) = (&call.process.engine, call.context, vec![T::default(); count]);
            let message = OwnedMessage::receive(engine, &mut guard, context, from, room, None)?;
            Ok(Receiving::of(self.comm, message))
        })
    }
}

impl<'c, T: Element, M: ThreadUse> Sending<'c, T, M> {
    pub(crate) fn of(comm: &'c Communicator<'c, M>, message: OwnedMessage<T>) -> Self {
        Sending { comm, _alive: Alive::new(), message }
    }

    /// Waits until the data may be used again, and gives them back. Errors: those of the operation.
    pub fn wait(self) -> Result<Vec<T>> {
        let Sending { comm, message, .. } = self;
        comm.call(WAIT_SENT, |call| message.wait(call.enter(-1, 0, 0)).map(|(data, _)| data))
    }

    /// Whether it is complete, so that [`Sending::wait`] does not wait.
    pub fn is_complete(&self) -> Result<bool> {
        self.comm.call(TEST_SENT, |call| self.message.is_complete(&mut call.enter(-1, 0, 0)))
    }
}

impl<'c, T: Element, M: ThreadUse> Receiving<'c, T, M> {
    pub(crate) fn of(comm: &'c Communicator<'c, M>, message: OwnedMessage<T>) -> Self {
        Receiving { comm, _alive: Alive::new(), message, selected: false }
    }

    /// Waits for the message: its elements. Errors: `MPI_ERR_TRUNCATE` for a message that is too long, `MPI_ERR_TYPE`
    /// for one that is not made of whole elements.
    pub fn wait(self) -> Result<(Vec<T>, Received)> {
        let Receiving { comm, message, selected, .. } = self;
        comm.call(WAIT_RECEIVED, |call| {
            let (data, status) = message.wait(call.enter(-1, 0, 0))?;
            result(data, &status, selected)
        })
    }

    /// Whether it is complete, so that [`Receiving::wait`] does not wait.
    pub fn is_complete(&self) -> Result<bool> {
        self.comm.call(TEST_RECEIVED, |call| self.message.is_complete(&mut call.enter(-1, 0, 0)))
    }

    /// Cancels it (`MPI_Cancel`): `None` if no message has matched it; otherwise the message, so that none is lost. Errors:
    /// as [`Receiving::wait`].
    pub fn cancel(self) -> Result<Option<(Vec<T>, Received)>> {
        let Receiving { comm, message, selected, .. } = self;
        comm.call(CANCEL, |call| {
            let message = message.cancel(call.enter(-1, 0, 0))?;
            message.map(|(data, status)| result(data, &status, selected)).transpose()
        })
    }

    /// Waits until one of several receives is complete, and returns its place; `None` if there are none. Its
    /// [`Receiving::wait`] does not wait.
    pub fn wait_any(receives: &mut [Receiving<'_, T, M>]) -> Result<Option<usize>> {
        let Some(comm) = receives.first().map(|receive| receive.comm) else { return Ok(None) };
        comm.call(WAIT_ANY, |call| {
            let messages = receives.iter_mut().map(|receive| &mut receive.message);
            OwnedMessage::wait_any(call.enter(-1, 0, 0), messages)
        })
    }
}

/// The number of elements of all the data, or of those that a layout selects. Errors: `MPI_ERR_BUFFER` when it reaches out
/// of the data.
pub(crate) fn count_from<T: Element>(data: &[T], layout: Option<&Layout<T>>) -> Result<u64> {
    layout.map_or(Ok(data.len()), |layout| layout.send_from(data).map(|_| layout.count())).map(|count| count as u64)
}

/// The elements that were received, or all of the room if a layout selects some, and the properties of the message.
fn result<T: Element>(room: Vec<T>, status: &Status, selected: bool) -> Result<(Vec<T>, Received)> {
    match selected {
        true => received::<T>(status).map(|received| (room, received)),
        false => received_data(room, status),
    }
}
