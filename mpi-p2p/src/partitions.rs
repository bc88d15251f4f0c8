//! The state of partitioned sends and receives (MPI-5.0, 4.2).
//!
//! The n-th partitioned send of a process to another with a tag on a communicator is matched with the n-th partitioned
//! receive there, in the order of their initialisation ([`PairKey`]). Each start of the receive grants the sender one
//! message; until then partitions that are ready wait at the sender.
//! Invariants: a partition is sent once a start. What is sent lies within the room that the receiver has granted.
//! Not here: the records (`partition_transfer`), the calls (`partitioned`).

use std::collections::{HashMap, VecDeque};

use mpi_core::Handle;
use mpi_core::abi::{MPI_ERR_ARG, MPI_ERR_NO_MEM};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::{Error, Result};
use mpi_fabric::{RegionKey, Registration};

use crate::arrivals::Arrivals;

/// Names a pair of a partitioned send and a partitioned receive, on either side.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct PairKey {
    /// The other process and the tag.
    pub channel: Channel,
    /// How many pairs of the channel were made before.
    pub number: u32,
}

/// What the pairs that are matched in order have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Channel {
    pub context: u32,
    /// Rank of the other process in the communicator.
    pub peer: i32,
    pub tag: i32,
    pub is_send: bool,
}

/// What a receiver has granted a sender.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grant {
    /// Handle of the receive.
    pub token: u64,
    /// Bytes of its buffer.
    pub room: u64,
    /// The buffer, if the sender may write into it.
    pub region: RegionKey,
    /// How many messages it has granted so far.
    pub messages: u64,
}

/// All partitioned operations of one process.
#[derive(Debug, Default)]
pub(crate) struct Partitions {
    /// The next number of each channel.
    numbers: HashMap<Channel, u32>,
    /// Sends by pair.
    pub sends: HashMap<PairKey, Handle>,
    /// Grants for sends that are not made yet.
    early: HashMap<PairKey, Grant>,
    /// Sends whose ready partitions wait for room in the ring.
    pub pending: Vec<Handle>,
    /// Arrays of words that no receive uses, by the binary logarithm of their length.
    unused: HashMap<u32, Vec<&'static Arrivals>>,
}

impl Partitions {
    /// The key of a new operation.
    pub fn next_pair(&mut self, channel: Channel) -> PairKey {
        let next = self.numbers.entry(channel).or_insert(0);
        let number = *next;
        *next += 1;
        PairKey { channel, number }
    }

    /// The newest operation of a channel was not made after all.
    pub fn drop_pair(&mut self, pair: PairKey) {
        if let Some(next) = self.numbers.get_mut(&pair.channel) {
            *next -= 1;
        }
    }

    /// Adds a send; returns what its receiver has granted already.
    pub fn add_send(&mut self, pair: PairKey, request: Handle) -> Option<Grant> {
        self.sends.insert(pair, request);
        self.early.remove(&pair)
    }

    /// A grant arrives. Returns the send; `None` if it is not made yet, or not any more. `freed`: the communicator
    /// makes no more sends.
    pub fn granted(&mut self, pair: PairKey, grant: Grant, freed: bool) -> Option<Handle> {
        if let Some(send) = self.sends.get(&pair) {
            return Some(*send);
        }
        if !freed && pair.number >= self.numbers.get(&pair.channel).copied().unwrap_or(0) {
            self.early.entry(pair).or_insert(Grant { messages: 0, ..grant }).messages += 1;
        }
        None
    }

    /// Number of pairs with grants for sends that are not made yet.
    #[cfg(test)]
    pub fn early_grants(&self) -> usize {
        self.early.len()
    }

    /// Removes the state of a communicator that was freed.
    pub fn remove_context(&mut self, context: u32) {
        self.numbers.retain(|channel, _| channel.context != context);
        self.early.retain(|pair, _| pair.channel.context != context);
    }

    /// Words for a receive with as many partitions. Errors: `MPI_ERR_NO_MEM`.
    pub fn take_arrivals(&mut self, partitions: usize) -> Result<&'static Arrivals> {
        let capacity = partitions.max(1).next_power_of_two();
        let arrivals = match self.unused.get_mut(&capacity.ilog2()).and_then(Vec::pop) {
            Some(unused) => unused,
            None => Box::leak(Box::new(Arrivals::new(capacity).ok_or_else(|| {
                let rule = "there is no memory for a word for each partition";
                Error::new(MPI_ERR_NO_MEM, rule).arg("partitions", &partitions)
            })?)),
        };
        arrivals.serve(partitions);
        Ok(arrivals)
    }

    /// The words serve no receive any more.
    pub fn give_back(&mut self, arrivals: &'static Arrivals) {
        arrivals.end_all();
        self.unused.entry(arrivals.capacity().ilog2()).or_default().push(arrivals);
    }
}

/// Bytes and number of the partitions of one side.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub partitions: u32,
    /// Bytes of one partition.
    pub each: u64,
}

impl Shape {
    /// Bytes of all.
    pub fn total(self) -> u64 {
        // The buffer of all partitions exists, so the product fits.
        u64::from(self.partitions) * self.each
    }
}

/// A partitioned send.
#[derive(Debug)]
pub(crate) struct PartitionedSend {
    pub pair: PairKey,
    /// World rank of the receiver; `None` for `MPI_PROC_NULL`.
    pub world: Option<u32>,
    pub shape: Shape,
    pub buffer: SendBuf<'static>,
    pub grant: Option<Grant>,
    /// How often it was started.
    pub starts: u64,
    /// One bit for each partition that is ready.
    ready: Vec<u64>,
    ready_count: u32,
    /// Ready partitions that are still to be sent: first partition, and the one behind the last.
    pub waiting: VecDeque<(u32, u32)>,
    /// Bytes of the first range that are sent already.
    pub sent: u64,
    /// Number of ranges that are being written into the receiver's memory, and not reported yet.
    pub copying: u32,
    /// A write failed: the rest goes through the ring.
    pub is_refused: bool,
    /// The receiver has been sent the size of the message, if that differs from its room.
    pub announced: bool,
    /// It is among [`Partitions::pending`].
    pub is_pending: bool,
    /// Partitions were ready before the message was granted: when that began in nanoseconds, 0 if it is not timed.
    pub early: Option<u64>,
}

impl PartitionedSend {
    pub fn new(pair: PairKey, world: Option<u32>, shape: Shape, buffer: SendBuf<'static>) -> PartitionedSend {
        PartitionedSend {
            pair,
            world,
            shape,
            buffer,
            grant: None,
            starts: 0,
            ready: vec![0; shape.partitions.div_ceil(64) as usize],
            ready_count: 0,
            waiting: VecDeque::new(),
            sent: 0,
            copying: 0,
            is_refused: false,
            announced: false,
            is_pending: false,
            early: None,
        }
    }

    /// A start: no partition is ready.
    pub fn start(&mut self) {
        self.ready.fill(0);
        self.ready_count = 0;
        self.sent = 0;
        self.starts += 1;
    }

    /// Marks the partitions of the ranges `low..=high` ready, or none. Errors: `MPI_ERR_ARG`.
    pub fn mark_ready(&mut self, ranges: impl Iterator<Item = (i32, i32)> + Clone) -> Result<()> {
        for (done, range) in ranges.clone().enumerate() {
            if let Err(error) = self.mark(range) {
                let marked = ranges.take(done).flat_map(|(low, high)| low as u32..=high as u32);
                marked.for_each(|partition| self.ready[partition as usize / 64] &= !(1 << (partition % 64)));
                return Err(error);
            }
        }
        for (low, high) in ranges {
            let (low, end) = (low as u32, high as u32 + 1);
            self.ready_count += end - low;
            match self.waiting.back_mut() {
                // The first range is left alone once a part of it is sent.
                Some((_, last)) if *last == low && self.sent == 0 => *last = end,
                _ => self.waiting.push_back((low, end)),
            }
        }
        Ok(())
    }

    /// Sets the bits of one range, or none.
    fn mark(&mut self, (low, high): (i32, i32)) -> Result<()> {
        if let Some(wrong) = [low, high].into_iter().find(|end| *end < 0 || *end as u32 >= self.shape.partitions) {
            return Err(out_of_range(wrong, self.shape.partitions as usize));
        }
        if high < low {
            return Err(Error::new(MPI_ERR_ARG, "the last partition of a range is not below the first")
                .arg("partition_high", &high)
                .arg("partition_low", &low));
        }
        let range = low as u32..=high as u32;
        if let Some(ready) = range.clone().find(|at| self.ready[*at as usize / 64] & 1 << (at % 64) != 0) {
            let rule = "the partition has been marked ready since the request was started";
            return Err(Error::new(MPI_ERR_ARG, rule).arg("partition", &ready));
        }
        range.for_each(|partition| self.ready[partition as usize / 64] |= 1 << (partition % 64));
        Ok(())
    }

    pub fn are_all_ready(&self) -> bool {
        self.ready_count == self.shape.partitions
    }

    /// What may be sent now: the receiver has granted the message of this start.
    pub fn granted(&self) -> Option<Grant> {
        self.grant.filter(|grant| grant.messages >= self.starts)
    }
}

#[cold]
pub(crate) fn out_of_range(partition: i32, partitions: usize) -> Error {
    let rule = match partitions {
        0 => "the request has no partitions".to_owned(),
        _ => format!("the request has {partitions} partitions, 0 to {}", partitions - 1),
    };
    Error::new(MPI_ERR_ARG, rule).arg("partition", &partition)
}

/// A partitioned receive.
#[derive(Debug)]
pub(crate) struct PartitionedReceive {
    pub pair: PairKey,
    /// World rank of the sender; `None` for `MPI_PROC_NULL`.
    pub world: Option<u32>,
    pub shape: Shape,
    pub buffer: RecvBuf<'static>,
    pub arrivals: &'static Arrivals,
    /// The buffer as the sender may write into it.
    pub region: RegionKey,
    pub _registration: Registration,
    /// Bytes of the sender's message, where they differ from the room here.
    pub message: Option<u64>,
    /// Bytes that have arrived since the start.
    pub got: u64,
}

impl PartitionedReceive {
    /// Bytes that arrive each start.
    pub fn expected(&self) -> u64 {
        let room = self.shape.total();
        self.message.map_or(room, |message| message.min(room))
    }

    /// A start: nothing is there. Partitions without data are there when the sender's are all ready.
    pub fn start(&mut self) {
        self.got = 0;
        self.arrivals.expect_all(self.shape.each.max(1));
    }

    /// Whether bytes `at .. at + bytes`, which lie in the message, are still missing.
    pub fn misses(&self, at: u64, bytes: u64) -> bool {
        self.by_partition(at, bytes).all(|(partition, bytes)| self.arrivals.misses(partition, bytes))
    }

    /// Missing bytes `at .. at + bytes` of the message have been stored.
    pub fn stored(&mut self, at: u64, bytes: u64) {
        self.by_partition(at, bytes).for_each(|(partition, bytes)| self.arrivals.stored(partition, bytes));
        self.got += bytes;
    }

    /// The partitions that bytes `at .. at + bytes` lie in, each with its number of them.
    fn by_partition(&self, at: u64, bytes: u64) -> impl Iterator<Item = (usize, u64)> + use<> {
        let (each, end, mut from) = (self.shape.each, at + bytes, at);
        std::iter::from_fn(move || {
            let partition = (from < end).then(|| from / each)?;
            let until = end.min((partition + 1) * each);
            let piece = (partition as usize, until - from);
            from = until;
            Some(piece)
        })
    }
}
