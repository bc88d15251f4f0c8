//! Putting a whole message into a receive buffer.
//!
//! Invariant: no byte behind the buffer's end is written; a message that is too long is an error of the receive.
//! Not here: which receive gets the message (`arrival`, `receive`).
#![allow(unsafe_code)] // unpacks straight from the ring

use mpi_core::Status;
use mpi_core::abi::{MPI_ANY_TAG, MPI_ERR_TRUNCATE};
use mpi_datatype::RecvBuf;
use mpi_errors::Error;
use mpi_fabric::{Payload, RecordHead};

use crate::chains::Key;
use crate::context::Route;
use crate::message::{Body, Pool};

/// The source and tag of a message, and the route to its sender, if the record comes from the rank that it names and its tag is not the wildcard.
/// The library's own messages may have negative tags.
#[inline]
pub(crate) fn message_key(routes: &[Route], from: u32, head: &RecordHead) -> Option<(Key, Route)> {
    let source = head.a as usize;
    let route = routes.get(source).filter(|route| route.world == from && head.tag != MPI_ANY_TAG)?;
    Some((Key { source: source as i32, tag: head.tag }, *route))
}

/// The data of a whole message that arrives.
pub(crate) trait Content {
    /// Its length.
    fn bytes(&self) -> u64;
    /// Puts it into a receive buffer.
    fn deliver(&self, buffer: &mut RecvBuf<'_>, key: Key) -> (Status, Option<Error>);
    /// Keeps it until its receive comes.
    fn keep(self, pool: &mut Pool, synchronous: bool) -> Body;
    /// Frees its memory, if it has some, for another message.
    fn recycle(self, pool: &mut Pool);
    /// A copy as words, for a message whose communicator does not exist yet.
    fn to_words(&self) -> Vec<u64>;
}

impl Content for Payload<'_> {
    #[inline(always)]
    fn bytes(&self) -> u64 {
        self.len() as u64
    }

    #[inline(always)]
    fn deliver(&self, buffer: &mut RecvBuf<'_>, key: Key) -> (Status, Option<Error>) {
        deliver(buffer, key, self)
    }

    #[inline(always)]
    fn keep(self, pool: &mut Pool, synchronous: bool) -> Body {
        Body::keep(&self, synchronous, pool)
    }

    #[inline(always)]
    fn recycle(self, _pool: &mut Pool) {}

    fn to_words(&self) -> Vec<u64> {
        (0..self.len().div_ceil(8)).map(|i| self.word(i)).collect()
    }
}

/// A message that was put together from its segments.
pub(crate) struct Assembled(pub Vec<u8>);

impl Content for Assembled {
    fn bytes(&self) -> u64 {
        self.0.len() as u64
    }

    fn deliver(&self, buffer: &mut RecvBuf<'_>, key: Key) -> (Status, Option<Error>) {
        deliver_stored(buffer, key, &self.0)
    }

    fn keep(self, _pool: &mut Pool, synchronous: bool) -> Body {
        if synchronous { Body::Synchronous(self.0) } else { Body::Heap(self.0) }
    }

    fn recycle(self, pool: &mut Pool) {
        pool.take_back(self.0);
    }

    fn to_words(&self) -> Vec<u64> {
        let word = |bytes: &[u8]| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_ne_bytes(word)
        };
        self.0.chunks(8).map(word).collect()
    }
}

/// Puts a whole message into a receive buffer.
#[inline]
pub(crate) fn deliver(buffer: &mut RecvBuf<'_>, key: Key, payload: &Payload<'_>) -> (Status, Option<Error>) {
    let bytes = payload.len();
    if let Some(memory) = buffer.contiguous_mut()
        && bytes <= memory.len()
    {
        payload.copy_to(&mut memory[..bytes]);
        return (Status::new(key.source, key.tag, bytes as u64), None);
    }
    deliver_in_parts(buffer, key, payload)
}

/// Puts a whole message into a receive buffer that is too short, or not in one piece.
#[inline(never)]
fn deliver_in_parts(buffer: &mut RecvBuf<'_>, key: Key, payload: &Payload<'_>) -> (Status, Option<Error>) {
    unpack_payload(buffer, 0, payload);
    let (status, error, _) = accepted(key, payload.len() as u64, buffer.bytes());
    (status, error)
}

/// Stores a payload in a buffer from packed byte `at` on, as far as there is room.
pub(crate) fn unpack_payload(buffer: &mut RecvBuf<'_>, at: u64, payload: &Payload<'_>) {
    // SAFETY: a payload is readable, and only its sender writes it: a sound one does not while the payload exists, and
    // another one damages its own message.
    unsafe { buffer.unpack_shared(at, payload.as_ptr(), payload.len()) };
}

/// Puts a segment into a receive buffer behind the `got` bytes that are there, of `wanted`.
pub(crate) fn store_segment(buffer: &mut RecvBuf<'_>, got: u64, wanted: u64, payload: &Payload<'_>) {
    let end = wanted.min(got + payload.len() as u64) as usize;
    match buffer.contiguous_mut() {
        Some(memory) => _ = payload.copy_to(&mut memory[got as usize..end]),
        None => unpack_payload(buffer, got, payload),
    }
}

/// Puts a stored message into a receive buffer.
#[inline]
pub(crate) fn deliver_stored(buffer: &mut RecvBuf<'_>, key: Key, data: &[u8]) -> (Status, Option<Error>) {
    if let Some(memory) = buffer.contiguous_mut()
        && data.len() <= memory.len()
    {
        memory[..data.len()].copy_from_slice(data);
        return (Status::new(key.source, key.tag, data.len() as u64), None);
    }
    deliver_slowly(buffer, key, data)
}

/// Puts a stored message into a receive buffer that is too short, or not in one piece.
#[inline(never)]
fn deliver_slowly(buffer: &mut RecvBuf<'_>, key: Key, data: &[u8]) -> (Status, Option<Error>) {
    let (status, error, wanted) = accepted(key, data.len() as u64, buffer.bytes());
    buffer.unpack(0, &data[..wanted as usize]);
    (status, error)
}

/// How a receive with this much room ends that gets a message of so many bytes, and how many of them it wants.
pub(crate) fn accepted(key: Key, bytes: u64, room: u64) -> (Status, Option<Error>, u64) {
    let wanted = bytes.min(room);
    (Status::new(key.source, key.tag, wanted), (room < bytes).then(|| truncated(key, bytes, room)), wanted)
}

#[cold]
pub(crate) fn truncated(key: Key, bytes: u64, room: u64) -> Error {
    let (message, place) = (mpi_errors::counted(bytes, "byte"), mpi_errors::counted(room, "byte"));
    let rule =
        format!("the message from rank {} has {message}, but the receive buffer has room for {place}", key.source);
    Error::new(MPI_ERR_TRUNCATE, rule)
        .detail("tag", &key.tag)
        .fact("message_source", key.source.into())
        .fact("message_tag", key.tag.into())
        .fact("message_bytes", bytes as i64)
        .fact("buffer_bytes", room as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_that_was_put_together_gives_its_buffer_back() {
        let mut pool = Pool::default();
        let mut data = pool.with_room(1000);
        let (start, room) = (data.as_ptr(), data.capacity());
        assert!(room >= 1000 && data.is_empty());
        Payload::from_words(&[7, 8], 16).append_to(&mut data);
        assert_eq!((data.len(), data.as_ptr()), (16, start), "it does not move");
        Assembled(data).recycle(&mut pool);
        assert_eq!(pool.len(), 1);
        let again = pool.with_room(10);
        assert_eq!((again.as_ptr(), again.capacity(), again.len()), (start, room, 0));
    }
}
