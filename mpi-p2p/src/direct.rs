//! The direct receive: a blocking receive that waits without a request while its thread holds the lock.
//!
//! It stands behind all posted receives of its context, as the latest of them, and takes its message straight from the
//! ring. When the wait gets long, the engine posts it like any other receive before another thread can take the lock.
//! Invariant: at most one direct receive exists, and none when the lock is released.

use mpi_core::abi::{MPI_ANY_SOURCE, MPI_ANY_TAG};
use mpi_core::{Handle, Status};
use mpi_datatype::RecvBuf;
use mpi_errors::Error;
use mpi_fabric::Payload;

use crate::chains::Key;
use crate::delivery::deliver;
use crate::instruments::CommInstruments;

/// No communicator has this context id: it is odd and the even id below it is never given out.
const NO_CONTEXT: u32 = u32::MAX;

pub(crate) struct Direct {
    /// Context of the receive that waits, or [`NO_CONTEXT`].
    pub context: u32,
    pub key: Key,
    pub buffer: RecvBuf<'static>,
    pub outcome: Option<Outcome>,
    /// Counts the receive as posted, if it is one of the program's own.
    pub instruments: Option<&'static CommInstruments>,
}

/// The result of a direct receive.
pub(crate) enum Outcome {
    /// The message is in the buffer.
    Received(Status, Option<Error>),
    /// A large message was matched; the receive continues as a request.
    Under(Handle),
}

impl Direct {
    pub fn new() -> Direct {
        Direct {
            context: NO_CONTEXT,
            key: Key { source: 0, tag: 0 },
            buffer: RecvBuf::empty(),
            outcome: None,
            instruments: None,
        }
    }

    /// Ends the direct receive and returns its buffer; does nothing if it has ended already.
    #[inline]
    pub fn leave(&mut self) -> RecvBuf<'static> {
        self.context = NO_CONTEXT;
        if let Some(instruments) = self.instruments.take() {
            instruments.posted_length.lower(1);
        }
        std::mem::replace(&mut self.buffer, RecvBuf::empty())
    }

    #[inline]
    pub fn matches(&self, context: u32, key: Key) -> bool {
        self.context == context
            && (self.key.source == key.source || self.key.source == MPI_ANY_SOURCE)
            && (self.key.tag == key.tag || self.key.tag == MPI_ANY_TAG)
    }

    /// Puts the awaited message into the buffer.
    #[inline]
    pub fn deliver(&mut self, key: Key, payload: &Payload<'_>) {
        let (status, error) = deliver(&mut self.buffer, key, payload);
        self.outcome = Some(Outcome::Received(status, error));
        self.leave();
    }
}
