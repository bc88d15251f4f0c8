//! Messages that arrived before their receive, messages that a matched probe removed from their queue, and messages of
//! which a part has arrived.
//!
//! Invariant: the stored bytes are a copy; nothing here points into the fabric's rings.

use mpi_core::Handle;
use mpi_fabric::{Payload, RecordHead};

use crate::chains::Key;
use crate::limits::LONGEST;
use crate::wire::Offer;

const INLINE: usize = 48;

/// An unexpected message.
#[derive(Debug)]
pub(crate) struct Message {
    /// World rank of the sender.
    pub from: u32,
    /// A matched probe took it and the program returned it: it is counted as received already.
    pub returned: bool,
    /// Size of the whole message in bytes.
    pub bytes: u64,
    pub body: Body,
    /// The sender's token: of a synchronous eager message, or of an offer.
    pub token: u64,
    /// Since when it waits, in nanoseconds of [`mpi_t::now_ns`]; 0 if no handle watched its arrival.
    pub arrived: u64,
}

#[derive(Debug)]
pub(crate) enum Body {
    /// A short message.
    Inline([u8; INLINE]),
    /// A longer message.
    Heap(Vec<u8>),
    /// As the two above, from a synchronous send.
    Synchronous(Vec<u8>),
    /// The data is still in the sender.
    Offered(Offer),
}

impl Body {
    /// Copies an eager message out of the ring.
    #[inline]
    pub fn keep(payload: &Payload<'_>, synchronous: bool, pool: &mut Pool) -> Body {
        let len = payload.len();
        if synchronous {
            Body::Synchronous(pool.filled(payload))
        } else if len <= INLINE {
            let mut bytes = [0; INLINE];
            payload.copy_to(&mut bytes[..len]);
            Body::Inline(bytes)
        } else {
            Body::Heap(pool.filled(payload))
        }
    }
}

impl Message {
    /// The data, if it is here and its sender does not wait for the receive.
    #[inline]
    pub fn plain_data(&self) -> Option<&[u8]> {
        match &self.body {
            Body::Inline(bytes) => Some(&bytes[..self.bytes as usize]),
            Body::Heap(bytes) => Some(bytes),
            Body::Synchronous(_) | Body::Offered(_) => None,
        }
    }

    /// The data, unless it is still with the sender.
    pub fn data(&self) -> Option<&[u8]> {
        match &self.body {
            Body::Inline(bytes) => Some(&bytes[..self.bytes as usize]),
            Body::Heap(bytes) | Body::Synchronous(bytes) => Some(bytes),
            Body::Offered(_) => None,
        }
    }
}

/// An offer that found its receive.
#[derive(Debug)]
pub(crate) struct Matched {
    pub from: u32,
    pub token: u64,
    pub offer: Offer,
    pub key: Key,
    pub request: Handle,
}

/// A message of which segments are still to come.
#[derive(Debug)]
pub(crate) struct Segmented {
    pub from: u32,
    /// As of a whole message.
    pub head: RecordHead,
    pub bytes: u64,
    pub got: u64,
    pub target: Target,
    /// The segments are the beginning of an offered message, or all of it (`ahead`).
    pub offered: bool,
}

/// Where the segments go.
#[derive(Debug)]
pub(crate) enum Target {
    /// To the direct receive.
    Direct,
    /// To this receive, or to nothing if it is revoked meanwhile.
    Receive(Handle),
    /// No receive waits for the message.
    Kept(Vec<u8>),
    Nothing,
}

/// Buffers of messages already received, for reuse.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    buffers: Vec<Vec<u8>>,
}

impl Pool {
    const KEPT: usize = 64;

    /// An empty buffer.
    fn empty(&mut self) -> Vec<u8> {
        let mut buffer = self.buffers.pop().unwrap_or_default();
        buffer.clear();
        buffer
    }

    /// An empty buffer with room for a message of this many bytes, unless there is no memory for them: then it grows
    /// with what arrives.
    pub fn with_room(&mut self, bytes: u64) -> Vec<u8> {
        let mut buffer = self.empty();
        let _ = buffer.try_reserve_exact(bytes.min(LONGEST) as usize);
        buffer
    }

    fn filled(&mut self, payload: &Payload<'_>) -> Vec<u8> {
        let mut buffer = self.empty();
        payload.append_to(&mut buffer);
        buffer
    }

    /// Takes the buffer of a message that is dropped.
    #[inline]
    pub fn recycle(&mut self, body: &mut Body) {
        if let Body::Heap(buffer) | Body::Synchronous(buffer) = body {
            self.take_back(std::mem::take(buffer));
        }
    }

    /// Takes a buffer whose content is not needed any more.
    pub fn take_back(&mut self, buffer: Vec<u8>) {
        if self.buffers.len() < Self::KEPT {
            self.buffers.push(buffer);
        }
    }

    /// Number of buffers for reuse.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.buffers.len()
    }
}
