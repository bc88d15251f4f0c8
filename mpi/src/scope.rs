//! Several messages at once whose data are borrowed (MPI-5.0, 3.7).
//!
//! Invariant: all operations of a scope are over when [`Communicator::scope`] returns, so the data may be borrowed.
//! Not here: operations that own their data (`immediate`), how those of a scope end (`mpi_comm::PendingOps`).

use mpi_comm::PendingOps;
use mpi_core::abi::{MPI_ERR_COMM, MPI_ERR_INTERN};
use mpi_core::functions;
use mpi_datatype::{Element, RecvBuf, SendBuf};

use crate::call::CallName;
use crate::communicator::EndOnPanic;
use crate::peer::{Peer, Received, received_of};
use crate::threads::{Single, ThreadUse};
use crate::{Communicator, Error, Layout, Result, SendMode};

const SCOPE: CallName = CallName::new("Communicator::scope", functions::MPI_WAITALL);
const SEND: CallName = CallName::new("Scope::send", functions::MPI_ISEND);
const RECEIVE: CallName = CallName::new("Scope::receive", functions::MPI_IRECV);

/// Sends and receives of borrowed data that are over when the scope ends.
#[derive(Debug)]
pub struct Scope<'s, 'c, 'b, M: ThreadUse = Single> {
    comm: &'c Communicator<'c, M>,
    operations: &'s mut PendingOps<'c, 'b>,
    receives: &'s mut Vec<Receive>,
}

/// A receive of a scope.
#[derive(Debug)]
struct Receive {
    /// Among the operations.
    place: usize,
    /// Bytes of an element.
    each: usize,
    received: Option<Result<Received>>,
}

impl<M: ThreadUse> Communicator<'_, M> {
    /// Runs `body`, which starts sends and receives of this communicator, and waits until all of them are complete. The
    /// properties of the received messages, in the order in which their receives were started.
    ///
    /// ```no_run
    /// # fn work(world: &mpi::World) -> mpi::Result<()> {
    /// let (next, previous) = ((world.rank() + 1) % world.size(), (world.rank() + world.size() - 1) % world.size());
    /// let own = [world.rank(); 4];
    /// let (mut left, mut right) = ([0; 4], [0; 4]);
    /// world.scope(|scope| {
    ///     scope.receive(&world.process(previous), &mut left, 0)?;
    ///     scope.receive(&world.process(next), &mut right, 1)?;
    ///     scope.send(&world.process(next), &own, 0)?;
    ///     scope.send(&world.process(previous), &own, 1)
    /// })?;
    /// assert_eq!((left[0], right[0]), (previous, next));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Errors: the first of `body` or of an operation. After an error of `body` the operations that are under way are
    /// cancelled; those that another process has matched are waited for. A panic of `body` ends the job.
    pub fn scope<'b>(&self, body: impl FnOnce(&mut Scope<'_, '_, 'b, M>) -> Result<()>) -> Result<Vec<Received>> {
        let receives = self.call(SCOPE, |call| {
            PendingOps::scope_each(
                &self.process.engine,
                |operations| {
                    let mut receives = Vec::new();
                    let end_on_panic = EndOnPanic(self.process);
                    body(&mut Scope { comm: self, operations, receives: &mut receives })?;
                    drop(end_on_panic);
                    // The wait is what the flight recorder shows.
                    drop(call.enter(-1, 0, 0));
                    Ok(receives)
                },
                |receives, place, status| {
                    if let Ok(found) = receives.binary_search_by_key(&place, |receive| receive.place) {
                        receives[found].received = Some(received_of(status, receives[found].each));
                    }
                },
            )
        })?;
        let missing = || Error::new(MPI_ERR_INTERN, "a receive ended without a status");
        receives.into_iter().map(|receive| receive.received.ok_or_else(missing)?).collect()
    }
}

impl<'b, M: ThreadUse> Scope<'_, '_, 'b, M> {
    /// Starts to send `data` to a process. Errors: `MPI_ERR_RANK`, `MPI_ERR_TAG`; `MPI_ERR_COMM` for a process of another
    /// communicator.
    pub fn send<T: Element>(&mut self, to: &Peer<'_, M>, data: &'b [T], tag: i32) -> Result<()> {
        self.send_buffer(to, SendBuf::from_slice(data), data.len(), tag)
    }

    /// As [`Scope::send`], in another mode. Errors: also those of the mode.
    pub fn send_in_mode<T: Element>(
        &mut self,
        to: &Peer<'_, M>,
        data: &'b [T],
        tag: i32,
        mode: SendMode,
    ) -> Result<()> {
        self.comm.call(mode.started("Scope::send_in_mode"), |call| {
            self.check_peer("to", to)?;
            let dest = to.destination(tag)?;
            let mut guard = call.enter(dest, tag, data.len() as u64);
            let (to, buffer) = ((dest as u32, tag), SendBuf::from_slice(data));
            self.operations.isend_in_mode(&mut guard, call.context, to, buffer, mode.mode())
        })
    }

    /// Starts to receive a message into the front of `buffer`. Errors: as [`Scope::send`]. Those of the message,
    /// `MPI_ERR_TRUNCATE` and `MPI_ERR_TYPE`, are the scope's.
    pub fn receive<T: Element>(&mut self, from: &Peer<'_, M>, buffer: &'b mut [T], tag: i32) -> Result<()> {
        let count = buffer.len();
        self.receive_buffer(from, RecvBuf::from_slice(buffer), (count, T::BYTES), tag)
    }

    /// Starts to send the elements of `data` that a layout selects. Errors: as [`Scope::send`], and `MPI_ERR_BUFFER` when
    /// the layout reaches out of `data`.
    pub fn send_layout<T: Element>(
        &mut self,
        to: &Peer<'_, M>,
        data: &'b [T],
        layout: &Layout<T>,
        tag: i32,
    ) -> Result<()> {
        self.send_buffer(to, layout.send_from(data)?, 1, tag)
    }

    /// Starts to receive a message into the elements of `buffer` that a layout selects. Errors: as [`Scope::receive`], and
    /// `MPI_ERR_BUFFER` when the layout reaches out of `buffer` or has overlapping blocks.
    pub fn receive_layout<T: Element>(
        &mut self,
        from: &Peer<'_, M>,
        buffer: &'b mut [T],
        layout: &Layout<T>,
        tag: i32,
    ) -> Result<()> {
        self.receive_buffer(from, layout.receive_into(buffer)?, (1, T::BYTES), tag)
    }

    fn send_buffer(&mut self, to: &Peer<'_, M>, data: SendBuf<'b>, count: usize, tag: i32) -> Result<()> {
        self.comm.call(SEND, |call| {
            self.check_peer("to", to)?;
            let dest = to.destination(tag)?;
            let mut guard = call.enter(dest, tag, count as u64);
            self.operations.isend(&mut guard, call.context, dest as u32, tag, data)
        })
    }

    fn receive_buffer(
        &mut self,
        from: &Peer<'_, M>,
        buffer: RecvBuf<'b>,
        (count, each): (usize, usize),
        tag: i32,
    ) -> Result<()> {
        self.comm.call(RECEIVE, |call| {
            self.check_peer("from", from)?;
            let source = from.source(tag)?;
            let mut guard = call.enter(source, tag, count as u64);
            let place = self.operations.len();
            // Any process has a negative number, which the cast back restores.
            self.operations.irecv(&mut guard, call.context, source as u32, tag, buffer)?;
            self.receives.push(Receive { place, each, received: None });
            Ok(())
        })
    }

    /// The process is one of the scope's communicator.
    fn check_peer(&self, name: &'static str, peer: &Peer<'_, M>) -> Result<()> {
        if peer.comm.handle() == self.comm.handle() {
            return Ok(());
        }
        let rule = "the messages of a scope are of its communicator";
        Err(Error::new(MPI_ERR_COMM, rule).arg(name, &format_args!("of the {}", peer.comm.among())))
    }
}
