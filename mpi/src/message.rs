//! Matched probes: a message that is found first and received later, by this thread alone (MPI-5.0, 3.8.2 and 3.8.3).
//!
//! Invariant: a [`Message`] is received at most once, because receiving consumes it. One that is dropped, or whose receive
//! is refused, goes back to its place among the messages that wait, so that no message is lost.
//! Not here: probes that leave the message where it is (`peer`), how a message goes back (`mpi_p2p`).

use mpi_core::abi::{MPI_ERR_INTERN, MPI_ERR_TRUNCATE};
use mpi_core::{Handle, Status, functions};
use mpi_datatype::{Element, RecvBuf};
use mpi_p2p::OwnedMessage;

use crate::call::{Call, CallName};
use crate::communicator::Alive;
use crate::immediate::Receiving;
use crate::peer::{Peer, Received, received, received_data};
use crate::threads::{Single, ThreadUse};
use crate::{Communicator, Error, Layout, Result};

const MATCHED_PROBE: CallName = CallName::new("Peer::matched_probe", functions::MPI_MPROBE);
const TRY_MATCHED_PROBE: CallName = CallName::new("Peer::try_matched_probe", functions::MPI_IMPROBE);
const RECEIVE: CallName = CallName::new("Message::receive", functions::MPI_MRECV);
const RECEIVE_INTO: CallName = CallName::new("Message::receive_into", functions::MPI_MRECV);
const RECEIVE_LAYOUT: CallName = CallName::new("Message::receive_layout", functions::MPI_MRECV);
const START_RECEIVE: CallName = CallName::new("Message::start_receive", functions::MPI_IMRECV);

/// A message that a matched probe has found: no other receive gets it.
///
/// When it is dropped, it is as if it had not been probed: the oldest receive that waits for it gets it, or the next
/// receive or probe. One that is forgotten (`std::mem::forget`) is never received, and its sender may wait for ever.
///
/// ```no_run
/// # fn work(world: &mpi::World) -> mpi::Result<()> {
/// // Threads that share the world receive messages of any length and type, each message once.
/// let message = world.any().matched_probe(mpi::ANY_TAG)?;
/// match message.tag() {
///     0 => println!("{:?}", message.receive::<f64>()?),
///     _ => println!("{:?}", message.receive::<u8>()?),
/// }
/// # Ok(())
/// # }
/// ```
///
/// ```compile_fail
/// let message;
/// let world = mpi::init().unwrap();
/// message = world.any().matched_probe(0).unwrap(); // it may not outlive the world
/// ```
#[derive(Debug)]
#[must_use = "a message that is not received goes back"]
pub struct Message<'c, M: ThreadUse = Single> {
    comm: &'c Communicator<'c, M>,
    _alive: Alive<'c>,
    message: Handle,
    status: Status,
}

impl<'c, M: ThreadUse> Peer<'c, M> {
    /// Waits for a message and takes it out of those that wait. Errors: `MPI_ERR_RANK`, `MPI_ERR_TAG`.
    pub fn matched_probe(&self, tag: i32) -> Result<Message<'c, M>> {
        self.call(MATCHED_PROBE, |call| {
            let source = self.source(tag)?;
            let guard = call.enter(source, tag, 0);
            let (message, status) = call.process.engine.mprobe(guard, call.context, source, tag)?;
            Ok(Message { comm: self.comm, _alive: Alive::new(), message, status })
        })
    }

    /// As [`Peer::matched_probe`], without waiting: `None` when no message is there.
    pub fn try_matched_probe(&self, tag: i32) -> Result<Option<Message<'c, M>>> {
        self.call(TRY_MATCHED_PROBE, |call| {
            let source = self.source(tag)?;
            let mut guard = call.enter(source, tag, 0);
            let found = call.process.engine.improbe(&mut guard, call.context, source, tag)?;
            let of = |(message, status)| Message { comm: self.comm, _alive: Alive::new(), message, status };
            Ok(found.map(of))
        })
    }
}

impl<'c, M: ThreadUse> Message<'c, M> {
    /// Rank of the sender.
    pub fn source(&self) -> u32 {
        self.status.source as u32
    }

    /// Its tag.
    pub fn tag(&self) -> i32 {
        self.status.tag
    }

    /// Its length in bytes.
    pub fn bytes(&self) -> usize {
        self.status.bytes() as usize
    }

    /// Its properties as a message of elements of this type. Errors: `MPI_ERR_TYPE` when it is not made of whole elements.
    pub fn properties<T: Element>(&self) -> Result<Received> {
        received::<T>(&self.status)
    }

    /// Receives it. Errors: `MPI_ERR_TYPE` when it is not made of whole elements; it goes back then.
    pub fn receive<T: Element + Default>(self) -> Result<(Vec<T>, Received)> {
        self.comm.call(RECEIVE, |call| {
            let mut data = vec![T::default(); self.properties::<T>()?.count];
            let status = self.receive_buffer(call, RecvBuf::from_slice(&mut data))?;
            received_data(data, &status)
        })
    }

    /// Receives it into the front of `buffer`. Errors: as [`Message::receive`], and `MPI_ERR_TRUNCATE` when it is longer
    /// than the buffer; it goes back then.
    pub fn receive_into<T: Element>(self, buffer: &mut [T]) -> Result<Received> {
        self.comm.call(RECEIVE_INTO, |call| {
            self.check_room::<T>(buffer.len())?;
            received::<T>(&self.receive_buffer(call, RecvBuf::from_slice(buffer))?)
        })
    }

    /// Receives it into the elements of `buffer` that a layout selects, in its order. Errors: as
    /// [`Message::receive_into`], and `MPI_ERR_BUFFER` when the layout reaches out of `buffer` or has overlapping blocks;
    /// it goes back then.
    pub fn receive_layout<T: Element>(self, buffer: &mut [T], layout: &Layout<T>) -> Result<Received> {
        self.comm.call(RECEIVE_LAYOUT, |call| {
            self.check_room::<T>(layout.count())?;
            received::<T>(&self.receive_buffer(call, layout.receive_into(buffer)?)?)
        })
    }

    /// Starts to receive it; the operation owns the room for it. Errors: as [`Message::receive`].
    pub fn start_receive<T: Element + Default>(self) -> Result<Receiving<'c, T, M>> {
        self.comm.call(START_RECEIVE, |call| {
            let room = vec![T::default(); self.properties::<T>()?.count];
            let mut guard = call.enter(self.status.source, self.status.tag, room.len() as u64);
            let engine = &call.process.engine;
            Ok(Receiving::of(self.comm, OwnedMessage::receive_matched(engine, &mut guard, self.message, room)?))
        })
    }

    fn check_room<T: Element>(&self, room: usize) -> Result<()> {
        let count = self.properties::<T>()?.count;
        if count <= room {
            return Ok(());
        }
        let (all, room) = (mpi_errors::counted(count, "element"), mpi_errors::counted(room, "element"));
        let rule = format!("the message from rank {} has {all}, but the buffer has room for {room}", self.source());
        Err(Error::new(MPI_ERR_TRUNCATE, rule).detail("tag", &self.tag()))
    }

    fn receive_buffer(&self, call: &mut Call, buffer: RecvBuf<'_>) -> Result<Status> {
        let guard = call.enter(self.status.source, self.status.tag, buffer.bytes());
        let status = call.process.engine.mrecv(guard, self.message, buffer)?;
        status.ok_or_else(|| Error::new(MPI_ERR_INTERN, "a message that was found does not exist any more"))
    }
}

impl<M: ThreadUse> Drop for Message<'_, M> {
    fn drop(&mut self) {
        // After a receive the handle names no message.
        let engine = &self.comm.process.engine;
        engine.return_message(&mut engine.lock(), self.message);
    }
}
