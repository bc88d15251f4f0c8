//! Messages between two processes (MPI-5.0, chapter 3).
//!
//! Invariant: ranks and tags are checked before the engine sees them, and a message that does not fit its buffer is an
//! error, never a partial success.
//! Not here: messages of all processes at once (`collective`).

use mpi_core::abi::{
    MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_ERR_COMM, MPI_ERR_INTERN, MPI_ERR_RANK, MPI_ERR_TAG, MPI_ERR_TYPE,
};
use mpi_core::{Status, functions};
use mpi_datatype::{Element, RecvBuf, SendBuf};
use mpi_p2p::Mode;

use crate::call::{Call, CallName};
use crate::threads::{Single, ThreadUse};
use crate::{Communicator, Error, Layout, Result};

const SEND: CallName = CallName::new("Peer::send", functions::MPI_SEND);
const SEND_LAYOUT: CallName = CallName::new("Peer::send_layout", functions::MPI_SEND);
const SEND_SYNCHRONOUSLY: CallName = CallName::new("Peer::send_synchronously", functions::MPI_SSEND);
const RECEIVE: CallName = CallName::new("Peer::receive", functions::MPI_RECV);
const RECEIVE_INTO: CallName = CallName::new("Peer::receive_into", functions::MPI_RECV);
const RECEIVE_LAYOUT: CallName = CallName::new("Peer::receive_layout", functions::MPI_RECV);
const EXCHANGE: CallName = CallName::new("Peer::exchange", functions::MPI_SENDRECV);
const EXCHANGE_IN_PLACE: CallName = CallName::new("Peer::exchange_in_place", functions::MPI_SENDRECV_REPLACE);
const PROBE: CallName = CallName::new("Peer::probe", functions::MPI_PROBE);
const TRY_PROBE: CallName = CallName::new("Peer::try_probe", functions::MPI_IPROBE);

/// A receive with this tag takes a message with any tag.
pub const ANY_TAG: i32 = MPI_ANY_TAG;

/// One process of a communicator, or any: the source or destination of messages.
#[derive(Debug)]
pub struct Peer<'c, M: ThreadUse = Single> {
    pub(crate) comm: &'c Communicator<'c, M>,
    /// `None`: any.
    rank: Option<u32>,
}

impl<M: ThreadUse> Clone for Peer<'_, M> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<M: ThreadUse> Copy for Peer<'_, M> {}

/// The properties of a received message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Received {
    /// Rank of the sender.
    pub source: u32,
    /// Tag of the message.
    pub tag: i32,
    /// Number of elements received.
    pub count: usize,
}

impl<M: ThreadUse> Communicator<'_, M> {
    /// The process with this rank, to send to and receive from. Its calls fail when there is no such process.
    #[inline]
    pub fn process(&self, rank: u32) -> Peer<'_, M> {
        Peer { comm: self, rank: Some(rank) }
    }

    /// Any process, to receive from.
    #[inline]
    pub fn any(&self) -> Peer<'_, M> {
        Peer { comm: self, rank: None }
    }
}

impl<M: ThreadUse> Peer<'_, M> {
    /// A call on the communicator of the process.
    #[inline]
    pub(crate) fn call<T>(&self, name: CallName, body: impl FnOnce(&mut Call) -> Result<T>) -> Result<T> {
        self.comm.call(name, body)
    }

    /// Sends a message; returns when the data may be changed again. Errors: `MPI_ERR_RANK`, `MPI_ERR_TAG`.
    pub fn send<T: Element>(&self, data: &[T], tag: i32) -> Result<()> {
        self.send_as(SEND, data, tag, Mode::Standard)
    }

    /// Sends the elements of `data` that a layout selects. Errors: as [`Peer::send`], and `MPI_ERR_BUFFER` when the
    /// layout reaches out of `data`.
    pub fn send_layout<T: Element>(&self, data: &[T], layout: &Layout<T>, tag: i32) -> Result<()> {
        self.call(SEND_LAYOUT, |call| {
            let (dest, data) = (self.destination(tag)?, layout.send_from(data)?);
            let guard = call.enter(dest, tag, 1);
            call.process.engine.send(guard, call.context, dest, tag, data, Mode::Standard)
        })
    }

    /// Receives a message into the elements of `buffer` that a layout selects, in its order. Errors: as
    /// [`Peer::receive_into`], and `MPI_ERR_BUFFER` when the layout reaches out of `buffer` or has overlapping blocks.
    pub fn receive_layout<T: Element>(&self, buffer: &mut [T], layout: &Layout<T>, tag: i32) -> Result<Received> {
        self.call(RECEIVE_LAYOUT, |call| {
            let (source, buffer) = (self.source(tag)?, layout.receive_into(buffer)?);
            let guard = call.enter(source, tag, 1);
            received::<T>(&call.process.engine.recv(guard, call.context, source, tag, buffer)?)
        })
    }

    /// As [`Peer::send`], but returns only once the message is being received.
    pub fn send_synchronously<T: Element>(&self, data: &[T], tag: i32) -> Result<()> {
        self.send_as(SEND_SYNCHRONOUSLY, data, tag, Mode::Synchronous)
    }

    /// Receives a message of unknown length. Errors: `MPI_ERR_RANK`, `MPI_ERR_TAG`; `MPI_ERR_TYPE` when the message is
    /// not made of whole elements.
    pub fn receive<T: Element + Default>(&self, tag: i32) -> Result<(Vec<T>, Received)> {
        self.call(RECEIVE, |call| {
            let source = self.source(tag)?;
            let (guard, engine) = (call.enter(source, tag, 0), &call.process.engine);
            let (message, status) = engine.mprobe(guard, call.context, source, tag)?;
            let mut data = vec![T::default(); (status.bytes() as usize).div_ceil(T::BYTES.max(1))];
            let status = engine
                .mrecv(engine.lock(), message, RecvBuf::from_slice(&mut data))?
                .ok_or_else(|| Error::new(MPI_ERR_INTERN, "a message that was found does not exist any more"))?;
            received_data(data, &status)
        })
    }

    /// Receives a message into the front of `buffer`. Errors: as [`Peer::receive`], and `MPI_ERR_TRUNCATE` when the
    /// message is longer than the buffer.
    pub fn receive_into<T: Element>(&self, buffer: &mut [T], tag: i32) -> Result<Received> {
        self.call(RECEIVE_INTO, |call| {
            let source = self.source(tag)?;
            let guard = call.enter(source, tag, buffer.len() as u64);
            let buffer = RecvBuf::from_slice(buffer);
            received::<T>(&call.process.engine.recv(guard, call.context, source, tag, buffer)?)
        })
    }

    /// Sends to this process and receives from another one at once, so that a ring of such calls cannot wait in a
    /// circle. Errors: as [`Peer::send`] and [`Peer::receive_into`]; `MPI_ERR_COMM` for peers of different
    /// communicators.
    pub fn exchange<T: Element>(&self, data: &[T], from: &Peer<'_, M>, into: &mut [T], tag: i32) -> Result<Received> {
        self.call(EXCHANGE, |call| {
            let (dest, source) = (self.destination(tag)?, self.source_beside(from, tag)?);
            let guard = call.enter(dest, tag, data.len() as u64);
            call.process.recorder.receives(source, tag);
            let (send, receive) = (SendBuf::from_slice(data), RecvBuf::from_slice(into));
            let status = call.process.engine.sendrecv(guard, call.context, dest, tag, send, source, tag, receive)?;
            received::<T>(&status)
        })
    }

    /// As [`Peer::exchange`], with one slice: `data` are sent and replaced by what is received (`MPI_Sendrecv_replace`).
    pub fn exchange_in_place<T: Element>(&self, data: &mut [T], from: &Peer<'_, M>, tag: i32) -> Result<Received> {
        self.call(EXCHANGE_IN_PLACE, |call| {
            let (dest, source) = (self.destination(tag)?, self.source_beside(from, tag)?);
            let guard = call.enter(dest, tag, data.len() as u64);
            let (engine, context, buffer) = (&call.process.engine, call.context, RecvBuf::from_slice(data));
            received::<T>(&engine.sendrecv_replace(guard, context, (dest, tag), (source, tag), buffer)?)
        })
    }

    /// Waits for a message and reports its properties; the message is not received. Errors: as [`Peer::receive`].
    pub fn probe<T: Element>(&self, tag: i32) -> Result<Received> {
        self.call(PROBE, |call| {
            let source = self.source(tag)?;
            let guard = call.enter(source, tag, 0);
            received::<T>(&call.process.engine.probe(guard, call.context, source, tag)?)
        })
    }

    /// As [`Peer::probe`], without waiting: `None` when no message is there (`MPI_Iprobe`).
    pub fn try_probe<T: Element>(&self, tag: i32) -> Result<Option<Received>> {
        self.call(TRY_PROBE, |call| {
            let source = self.source(tag)?;
            let mut guard = call.enter(source, tag, 0);
            let found = call.process.engine.iprobe(&mut guard, call.context, source, tag)?;
            found.map(|status| received::<T>(&status)).transpose()
        })
    }

    /// Sends in a mode, under the name of a call.
    pub(crate) fn send_as<T: Element>(&self, name: CallName, data: &[T], tag: i32, mode: Mode) -> Result<()> {
        self.call(name, |call| {
            let dest = self.destination(tag)?;
            let guard = call.enter(dest, tag, data.len() as u64);
            call.process.engine.send(guard, call.context, dest, tag, SendBuf::from_slice(data), mode)
        })
    }

    /// The rank to receive from, if it and the tag are valid for a receive.
    pub(crate) fn source(&self, tag: i32) -> Result<i32> {
        let source = self.rank.map_or(Ok(MPI_ANY_SOURCE), |rank| self.check_rank(rank))?;
        check_tag(tag, true)?;
        Ok(source)
    }

    /// The rank to send to, if it and the tag are valid for a send.
    pub(crate) fn destination(&self, tag: i32) -> Result<i32> {
        let dest = match self.rank {
            Some(rank) => self.check_rank(rank)?,
            None => return Err(Error::new(MPI_ERR_RANK, "a message goes to one process, not to any")),
        };
        check_tag(tag, false)?;
        Ok(dest)
    }

    fn check_rank(&self, rank: u32) -> Result<i32> {
        let size = self.comm.comm.peers();
        let known = i32::try_from(rank).ok().filter(|_| rank < size);
        known.ok_or_else(|| {
            let rule = format!("the {} has {}", self.comm.among(), mpi_errors::processes(size));
            Error::new(MPI_ERR_RANK, rule).arg("rank", &rank)
        })
    }

    /// The rank to receive from in a call that also sends to this process: on the same communicator.
    pub(crate) fn source_beside(&self, from: &Peer<'_, M>, tag: i32) -> Result<i32> {
        if from.comm.handle() != self.comm.handle() {
            let rule = "a message is sent and another one received on one communicator";
            return Err(Error::new(MPI_ERR_COMM, rule).arg("from", &format_args!("of the {}", from.comm.among())));
        }
        from.source(tag)
    }
}

fn check_tag(tag: i32, any: bool) -> Result<()> {
    if tag >= 0 || any && tag == ANY_TAG {
        return Ok(());
    }
    let rule = match tag {
        ANY_TAG => "ANY_TAG is for receives and probes only",
        _ => "a tag must not be negative",
    };
    Err(Error::new(MPI_ERR_TAG, rule).arg("tag", &tag))
}

/// The elements that a message has left in the room for it, and its properties.
pub(crate) fn received_data<T: Element>(mut room: Vec<T>, status: &Status) -> Result<(Vec<T>, Received)> {
    let received = received::<T>(status)?;
    room.truncate(received.count);
    Ok((room, received))
}

pub(crate) fn received<T: Element>(status: &Status) -> Result<Received> {
    received_of(status, T::BYTES)
}

/// The properties of a message of elements that have `each` bytes of data.
pub(crate) fn received_of(status: &Status, each: usize) -> Result<Received> {
    let (bytes, size) = (status.bytes() as usize, each.max(1));
    if !bytes.is_multiple_of(size) {
        let (one, all) = (mpi_errors::counted(size, "byte"), mpi_errors::counted(bytes, "byte"));
        let rule = format!("an element has {one}, and a message of {all} came from rank {}", status.source);
        return Err(Error::new(MPI_ERR_TYPE, rule));
    }
    let source = u32::try_from(status.source)
        .map_err(|_| Error::new(MPI_ERR_INTERN, "a message without a sender").arg("source", &status.source))?;
    Ok(Received { source, tag: status.tag, count: bytes / size })
}
