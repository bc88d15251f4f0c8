//! The epoch of a window between two fences: whether operations may be started, and those that wait for the next fence.
//!
//! Invariant: all of it belongs to operations started since the last fence, and is sent by the next one.

use mpi_core::Handle;
use mpi_datatype::SendBuf;

use crate::blocks::Block;
use crate::wire::{BATCH_FULL, Head};

/// Longest put, in bytes, that is sent as a record if there are many.
const SMALL: u64 = 512;
/// Number of small puts between two fences up to which they are copied directly.
const FEW: u32 = 16;

/// The state of one window, under the process lock.
#[derive(Debug)]
pub(crate) struct Epoch {
    /// A fence has been called, without `MPI_MODE_NOSUCCEED`.
    pub open: bool,
    /// Operations started since the last fence.
    pub started: u64,
    /// Operations to be sent, by the target's rank; empty until the first operation that goes as a message.
    pub outgoing: Vec<Outgoing>,
    /// Whether `outgoing` has records.
    pub sends: bool,
    /// Batches that the other processes have sent in all fences so far.
    pub expected: u64,
    /// Small puts that were copied directly since the last fence.
    pub small: u32,
    /// Receives of replies, with rank and bytes expected.
    pub replies: Vec<(Handle, u32, u64)>,
    /// Memory of the last fence, kept for the next one.
    pub counts: Vec<u64>,
    size: usize,
}

/// Operations on one target.
#[derive(Debug, Default)]
pub(crate) struct Outgoing {
    pub batches: Vec<Vec<u8>>,
    /// Data too long for a batch, in the order of their records.
    pub data: Vec<SendBuf<'static>>,
}

impl Epoch {
    pub fn new(size: u32) -> Epoch {
        let size = size as usize;
        Epoch {
            open: false,
            started: 0,
            outgoing: Vec::new(),
            sends: false,
            expected: 0,
            small: 0,
            replies: Vec::new(),
            counts: vec![0; size],
            size,
        }
    }

    /// Whether a put of so many bytes is sent as a record and not copied directly. A direct copy costs a system call,
    /// records cost the fence a barrier, which is cheaper for many small puts.
    pub fn prefers_sending(&mut self, bytes: u64) -> bool {
        if bytes > SMALL {
            return false;
        }
        self.small = self.small.saturating_add(1);
        self.sends || self.small > FEW
    }

    /// Adds a record with its blocks, and its data if it has any.
    pub fn send(&mut self, target: u32, head: &Head, blocks: &[Block], data: Option<SendBuf<'static>>) {
        match data {
            Some(data) if head.is_inline() => self.send_inline(target, head, blocks, |room| {
                data.pack(0, room);
            }),
            data => {
                self.send_inline(target, head, blocks, |_| {});
                self.outgoing[target as usize].data.extend(data);
            }
        }
    }

    /// Adds a record with data inside the batch, stored by `fill`.
    pub fn send_inline(&mut self, target: u32, head: &Head, blocks: &[Block], fill: impl FnOnce(&mut [u8])) {
        if self.outgoing.is_empty() {
            self.outgoing.resize_with(self.size, Outgoing::default);
        }
        self.sends = true;
        let outgoing = &mut self.outgoing[target as usize];
        if outgoing.batches.last().is_none_or(|batch| batch.len() >= BATCH_FULL) {
            outgoing.batches.push(Vec::new());
        }
        let batch = outgoing.batches.last_mut().expect("there is one now");
        let end = batch.len() + head.record_bytes();
        batch.extend_from_slice(&head.encode());
        blocks.iter().for_each(|block| batch.extend_from_slice(&block.encode()));
        if head.is_inline() {
            let start = batch.len();
            batch.resize(end, 0);
            fill(&mut batch[start..start + head.bytes as usize]);
        }
    }
}
