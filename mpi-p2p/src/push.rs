//! Pushing the record of a whole message.
//!
//! The data of a short message are passed as a slice and those of any other by value, so that no caller has to keep its
//! buffer in memory for them.
//! Not here: whether the message may go now (`send`, `recipe`).

use mpi_datatype::{Packing, SendBuf};
use mpi_fabric::{Endpoint, Extent, Full, RecordHead};

use crate::wire;

/// Messages from this many bytes on go in segments.
const SEGMENTED_FROM: usize = 4096;

/// Puts a message into the ring to a process if there is room.
#[inline(always)] // on the path of every short message
pub(crate) fn push(endpoint: &mut Endpoint, world: u32, head: &RecordHead, buffer: &SendBuf<'_>) -> Result<(), Full> {
    match buffer.contiguous() {
        Some(memory) if memory.len() < SEGMENTED_FROM => endpoint.push(world, head, memory),
        Some(memory) => push_long(endpoint, world, *head, memory),
        None => push_packed(endpoint, world, *head, buffer.packing()),
    }
}

/// Puts a message of many lines into the ring, in segments if the receiver shares memory.
#[inline(never)]
fn push_long(endpoint: &mut Endpoint, world: u32, head: RecordHead, memory: &[u8]) -> Result<(), Full> {
    if head.kind == wire::EAGER
        && let Some(segment) = endpoint.segment_bytes(world, memory.len(), Extent::Whole)
    {
        let first = RecordHead { kind: wire::FIRST_SEGMENT, a: head.a | (memory.len() as u64) << 32, ..head };
        if endpoint.push_segments(world, &first, wire::SEGMENT, memory, (segment, Extent::Whole)).is_ok() {
            return Ok(());
        }
    }
    endpoint.push(world, &head, memory)
}

/// Puts a message that does not lie in one piece into the ring.
#[inline(never)]
fn push_packed(endpoint: &mut Endpoint, world: u32, head: RecordHead, data: Packing<'_>) -> Result<(), Full> {
    if data.bytes() > endpoint.max_payload() as u64 {
        return Err(Full);
    }
    endpoint.push_with(world, &head, data.bytes() as usize, |out| {
        data.pack(0, out);
    })
}
