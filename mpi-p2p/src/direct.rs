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
use crate::delivery::{Content, store_segment};
use crate::instruments::CommInstruments;

/// No communicator has this context id: it is odd and the even id below it is never given out.
const NO_CONTEXT: u32 = u32::MAX;

pub(crate) struct Direct {
    /// Context of the receive that waits, or [`NO_CONTEXT`].
    pub context: u32,
    pub key: Key,
    pub buffer: RecvBuf<'static>,
    pub outcome: Option<Outcome>,
    /// The message is arriving in segments: its status, and how much of it is there. The buffer stays above.
    pub filling: Option<Filled>,
    /// Counts the receive as posted, if it is one of the program's own.
    pub instruments: Option<&'static CommInstruments>,
}

/// How much of a message in segments is there.
pub(crate) struct Filled {
    status: Status,
    error: Option<Error>,
    wanted: u64,
    got: u64,
}

/// A receive buffer and how much of its message is there.
#[derive(Debug)]
pub(crate) struct Filling {
    pub buffer: RecvBuf<'static>,
    pub status: Status,
    pub error: Option<Error>,
    pub wanted: u64,
    pub got: u64,
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
            filling: None,
            instruments: None,
        }
    }

    /// The first segment of the awaited message has come; no other message matches from here on, and the receive does
    /// not count as posted.
    pub fn begin_filling(&mut self, status: Status, error: Option<Error>, wanted: u64) {
        self.context = NO_CONTEXT;
        self.not_posted();
        self.filling = Some(Filled { status, error, wanted, got: 0 });
    }

    /// Puts a segment of the awaited message into the buffer; whether the receive needs no more.
    pub fn fill(&mut self, payload: &Payload<'_>) -> bool {
        let Some(filled) = &mut self.filling else { return true };
        store_segment(&mut self.buffer, filled.got, filled.wanted, payload);
        filled.got = filled.wanted.min(filled.got + payload.len() as u64);
        if filled.got < filled.wanted {
            return false;
        }
        let Filled { status, error, .. } = self.filling.take().expect("seen above");
        self.outcome = Some(Outcome::Received(status, error));
        self.leave();
        true
    }

    /// Ends the direct receive while its message is arriving, if it is.
    pub fn leave_filling(&mut self) -> Option<Filling> {
        let Filled { status, error, wanted, got } = self.filling.take()?;
        Some(Filling { buffer: self.leave(), status, error, wanted, got })
    }

    /// Ends the direct receive and returns its buffer; does nothing if it has ended already.
    #[inline]
    pub fn leave(&mut self) -> RecvBuf<'static> {
        self.context = NO_CONTEXT;
        self.not_posted();
        std::mem::replace(&mut self.buffer, RecvBuf::empty())
    }

    /// Ends the count of the receive as posted, if it is counted.
    #[inline]
    fn not_posted(&mut self) {
        if let Some(instruments) = self.instruments.take() {
            instruments.posted_length.lower(1);
        }
    }

    #[inline]
    pub fn matches(&self, context: u32, key: Key) -> bool {
        self.context == context
            && (self.key.source == key.source || self.key.source == MPI_ANY_SOURCE)
            && (self.key.tag == key.tag || self.key.tag == MPI_ANY_TAG)
    }

    /// Puts the awaited message into the buffer.
    #[inline]
    pub fn deliver(&mut self, key: Key, content: &impl Content) {
        let (status, error) = content.deliver(&mut self.buffer, key);
        self.outcome = Some(Outcome::Received(status, error));
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::instruments::CommMeters;

    #[test]
    fn a_receive_whose_message_is_arriving_is_not_posted() {
        let instruments = CommMeters::detached(1).block;
        let mut direct = Direct::new();
        instruments.posted_length.raise(1);
        direct.instruments = Some(instruments);
        direct.begin_filling(Status::EMPTY, None, 8);
        assert_eq!(instruments.posted_length.get(), 0);
        direct.leave_filling().expect("it was arriving");
        assert_eq!(instruments.posted_length.get(), 0);
    }
}
