//! Pushing the record of a whole message.
//!
//! Not here: whether the message may go now (`send`, `recipe`).

use mpi_datatype::SendBuf;
use mpi_fabric::{Endpoint, Full, RecordHead};

/// Puts a message into the ring to a process if there is room.
#[inline(always)] // on the path of every short message
pub(crate) fn push(endpoint: &mut Endpoint, world: u32, head: &RecordHead, buffer: &SendBuf<'_>) -> Result<(), Full> {
    match buffer.contiguous() {
        Some(memory) => endpoint.push(world, head, memory),
        None => push_packed(endpoint, world, *head, buffer),
    }
}

/// Puts a message that does not lie in one piece into the ring.
#[inline(never)]
fn push_packed(endpoint: &mut Endpoint, world: u32, head: RecordHead, buffer: &SendBuf<'_>) -> Result<(), Full> {
    endpoint.push_with(world, &head, buffer.bytes() as usize, |out| {
        buffer.pack(0, out);
    })
}
