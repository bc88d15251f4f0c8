//! A message to one process and another one from a process, both under way at once (`MPI_Isendrecv`; MPI-5.0, 3.10).
//!
//! An operation owns its data until it is complete.
//! Invariant: an operation borrows its communicator; one that is dropped goes on.
//! Not here: the same in one call ([`Peer::exchange`]).

use mpi_core::functions;
use mpi_datatype::Element;
use mpi_p2p::OwnedExchange;

use crate::call::CallName;
use crate::communicator::Alive;
use crate::peer::{Peer, Received, received_data};
use crate::threads::{Single, ThreadUse};
use crate::{Communicator, Result};

const START: CallName = CallName::new("Peer::start_exchange", functions::MPI_ISENDRECV);
const WAIT: CallName = CallName::new("Exchange::wait", functions::MPI_WAIT);
const TEST: CallName = CallName::new("Exchange::is_complete", functions::MPI_REQUEST_GET_STATUS);

/// A send and a receive that are under way.
///
/// ```no_run
/// # fn work(world: &mpi::World) -> mpi::Result<()> {
/// let (next, previous) = ((world.rank() + 1) % world.size(), (world.rank() + world.size() - 1) % world.size());
/// let exchange = world.process(next).start_exchange(vec![world.rank(); 8], &world.process(previous), 8, 0)?;
/// // Work that does not need the data.
/// let (numbers, _) = exchange.wait()?;
/// assert_eq!(numbers, [previous; 8]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
#[must_use = "the received data are those of `wait`"]
pub struct Exchange<'c, T: Element, M: ThreadUse = Single> {
    pub(crate) comm: &'c Communicator<'c, M>,
    _alive: Alive<'c>,
    pub(crate) operation: OwnedExchange<T>,
}

impl<'c, M: ThreadUse> Peer<'c, M> {
    /// Starts to send `data` to this process, and to receive at most `count` elements from another one, with the same
    /// tag. Errors: as [`Peer::exchange`], but for those of the receive.
    pub fn start_exchange<T: Element + Default>(
        &self,
        data: Vec<T>,
        from: &Peer<'_, M>,
        count: usize,
        tag: i32,
    ) -> Result<Exchange<'c, T, M>> {
        self.call(START, |call| {
            let (dest, source) = (self.destination(tag)?, self.source_beside(from, tag)?);
            let room = vec![T::default(); count];
            let mut guard = call.enter(dest, tag, data.len() as u64);
            let (send, receive) = (((dest, tag), data), ((source, tag), room));
            let operation = OwnedExchange::start(&call.process.engine, &mut guard, call.context, send, receive)?;
            Ok(Exchange { comm: self.comm, _alive: Alive::new(), operation })
        })
    }
}

impl<T: Element, M: ThreadUse> Exchange<'_, T, M> {
    /// Waits until both messages are complete: the received elements. Errors: `MPI_ERR_TRUNCATE` for a message that is
    /// too long, `MPI_ERR_TYPE` for one that is not made of whole elements.
    pub fn wait(self) -> Result<(Vec<T>, Received)> {
        let Exchange { comm, operation, .. } = self;
        comm.call(WAIT, |call| {
            let (data, status) = operation.wait(call.enter(-1, 0, 0))?;
            received_data(data, &status)
        })
    }

    /// Whether both messages are complete, so that [`Exchange::wait`] does not wait.
    pub fn is_complete(&self) -> Result<bool> {
        self.comm.call(TEST, |call| self.operation.is_complete(&mut call.enter(-1, 0, 0)))
    }
}
