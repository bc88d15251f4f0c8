//! Per-peer data of an endpoint: the ring to a peer that shares memory, the ring from it, the facts of its process.

use std::ptr::NonNull;

use mpi_errors::Result;

use crate::doorbell::{Bell, LinuxKernel};
use crate::fault;
use crate::job::Job;
use crate::layout::FIRST_RING_BYTES;
use crate::peer_process::PeerProcess;
use crate::rank_block::RankBlock;
use crate::record::{Payload, RecordHead, Sink};
use crate::ring::{Consumer, MappedRing, Producer};
use crate::sync::{AtomicU32, AtomicU64};
use crate::variables::FabricInstruments;

/// The output to one peer.
pub(crate) struct Output {
    pub(crate) ring: Producer<MappedRing>,
    /// Whether this rank's bit is set in the peer's block.
    pub(crate) announced: bool,
    waiters: NonNull<AtomicU32>,
    futex: NonNull<AtomicU32>,
    /// The peer's place in the job memory; `None` if the network connects it.
    pub(crate) local: Option<u32>,
    pub(crate) process: PeerProcess,
    /// Payloads that went through the copy buffer.
    pub(crate) pushed_away: u32,
}

// SAFETY: the pointers lead into the job memory, which outlives the `Output` (its endpoint holds the job).
unsafe impl Send for Output {}

impl Output {
    /// The output from one rank of the job memory to another.
    pub(crate) fn new(job: &Job, from: u32, to: u32) -> Output {
        let block = job.block(to);
        Output {
            ring: Producer::new(ring(job, to, from)),
            announced: false,
            waiters: NonNull::from(block.waiters()),
            futex: NonNull::from(block.futex()),
            local: Some(to),
            process: PeerProcess::default(),
            pushed_away: 0,
        }
    }

    /// The output from one place of a bridge to another, whose process has its bell elsewhere, mapped for as long.
    pub(crate) fn over_bridge(bridge: &Job, from: u32, to: u32, [waiters, futex]: [NonNull<AtomicU32>; 2]) -> Output {
        Output { waiters, futex, ..Output::new(bridge, from, to) }
    }

    /// The output to a peer that the network connects: its ring, the rank's own, never has room, so nothing is written
    /// there.
    pub(crate) fn by_network(job: &Job, own: u32) -> Output {
        Output { local: None, ..Output::new(job, own, own) }
    }

    /// Wakes the peer if it sleeps. To be called after every push.
    #[inline(always)]
    pub(crate) fn notify(&self, fenced: bool, variables: &&'static FabricInstruments) {
        if self.bell().has_waiters(fenced) {
            self.wake(variables);
        }
    }

    /// Out of line, with what only it needs.
    #[cold]
    #[inline(never)]
    fn wake(&self, variables: &&'static FabricInstruments) {
        variables.wakeups_sent.incr();
        self.bell().ring(&LinuxKernel);
    }

    #[inline(always)]
    fn bell(&self) -> Bell<'_> {
        // SAFETY: see `Send`: the job memory is alive.
        unsafe { Bell { waiters: self.waiters.as_ref(), futex: self.futex.as_ref() } }
    }

    /// Whether the peer is known to be another process than the one with this id.
    pub(crate) fn is_other_process(&self, block: RankBlock<'_>, own: u32) -> bool {
        self.process.pid(block).is_some_and(|pid| pid != own)
    }
}

/// The set of ranks that send to this one, as the senders set it. Read in every poll.
pub(crate) struct Connections {
    words: NonNull<AtomicU64>,
}

// SAFETY: the pointer leads into the job memory, which outlives the value (its endpoint holds the job).
unsafe impl Send for Connections {}

impl Connections {
    pub(crate) fn new(block: RankBlock<'_>, ranks: u32) -> Connections {
        let count = ranks.div_ceil(64) as usize;
        // The address of the last word is computed for its bounds check alone.
        let (first, _last) = (block.connected(0), block.connected(count - 1));
        Connections { words: NonNull::from(first) }
    }

    /// The `i`-th 64 ranks of the job memory.
    ///
    /// # Safety
    /// There are so many ranks.
    #[inline(always)]
    pub(crate) unsafe fn word(&self, i: usize) -> &AtomicU64 {
        // SAFETY: the words follow each other in the block, all inside the mapping (see `new`).
        unsafe { self.words.add(i).as_ref() }
    }
}

/// The input from one peer.
pub(crate) struct Input {
    /// World rank of the sender.
    pub(crate) from: u32,
    ring: Consumer<MappedRing>,
}

impl Input {
    /// The input at one rank of the job memory from another, whose world rank is `from`.
    pub(crate) fn new(job: &Job, local: u32, sender: u32, from: u32) -> Input {
        Input { from, ring: Consumer::new(ring(job, local, sender)) }
    }

    #[inline(always)]
    pub(crate) fn poll<S: Sink>(&mut self, most: usize, sink: &mut S) -> Result<usize> {
        let from = self.from;
        let polled = self.ring.poll(most, |head, payload| sink.record(from, head, payload));
        polled.map_err(|bad| fault::bad_record(from, bad))
    }

    /// See [`Consumer::take_next`].
    #[inline(always)]
    pub(crate) fn take_next(
        &mut self,
        wanted: impl FnOnce(&RecordHead, usize) -> bool,
        each: impl FnOnce(&RecordHead, Payload<'_>),
    ) -> bool {
        self.ring.take_next(wanted, each)
    }
}

fn ring(job: &Job, receiver: u32, sender: u32) -> MappedRing {
    let (layout, mapping) = (job.layout(), job.mapping());
    let place = |at, bytes| (mapping.at(at, bytes), bytes);
    let first = place(layout.first_ring_at(receiver, sender), FIRST_RING_BYTES);
    let next = place(layout.ring_at(receiver, sender), layout.ring_bytes());
    let buffer = place(layout.copy_buffer_at(sender), layout.copy_buffer_bytes());
    // SAFETY: inside the mapping, which the endpoint holds alive together with this value; aligned by the layout; only
    // the two endpoints of these ranks use the rings, one at each end, since a rank can be claimed once, and only the
    // sender writes to its buffer.
    unsafe { MappedRing::new(first, next, buffer) }
}
