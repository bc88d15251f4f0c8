//! Per-peer data of an endpoint: the ring to a peer that shares memory, the ring from it, the facts of its process.
//!
//! Invariant: a cell is written only by the process that has it.
//! Not here: the protocol of the rings (`ring`), which cells a process has (`cells`).

use std::ops::RangeInclusive;
use std::ptr::NonNull;
use std::sync::atomic::Ordering;

use mpi_errors::Result;

use crate::cells::Cells;
use crate::doorbell::{Bell, LinuxKernel};
use crate::fault;
use crate::job::Job;
use crate::layout::{CELL_BYTES, FIRST_RING_BYTES};
use crate::peer_process::PeerProcess;
use crate::prefetching::copy_to_reader;
use crate::rank_block::RankBlock;
use crate::record::{INLINE_BYTES, RecordHead, Sink};
use crate::ring::{Consumer, Expected, MappedRing, Producer};
use crate::sync::{AtomicU32, AtomicU64};
use crate::variables::FabricInstruments;

/// Shorter payloads share the line of their head (measured, half round trips between near cores of 64 B: 0.125 us in the ring and
/// 0.114 in a cell, of 128 B 0.133 and 0.112).
const CELLS_FROM: usize = INLINE_BYTES + 1;

/// After each so many payloads in cells the sender measures how far away the receiver is.
const MEASURED: u32 = 64;

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
    /// Payloads that went through the copy buffer or a cell.
    pub(crate) pushed_away: u32,
    /// The cells of the pair that are here.
    pub(crate) cells: Cells,
    /// Where the cells of the pair begin.
    cells_at: NonNull<u8>,
}

// SAFETY: the pointers lead into the job memory, which outlives the `Output` (its endpoint holds the job).
unsafe impl Send for Output {}

impl Output {
    /// The output from one rank of the job memory to another.
    pub(crate) fn new(job: &Job, from: u32, to: u32) -> Output {
        let block = job.block(to);
        let (cells_at, count) = cells(job, from, to);
        // The lower rank has the first half.
        let half = count / 2;
        let first = if from < to { 0..half } else { half..count };
        Output {
            cells: Cells::new(first),
            cells_at,
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
        Output { waiters, futex, cells: Cells::new(0..0), ..Output::new(bridge, from, to) }
    }

    /// The output to a peer that the network connects: its ring, the rank's own, never has room, so nothing is written
    /// there.
    pub(crate) fn by_network(job: &Job, own: u32) -> Output {
        Output { local: None, ..Output::new(job, own, own) }
    }

    /// Appends a record whose payload goes through a cell, if the payload fits and there is room for a line and a cell;
    /// whether so.
    #[inline]
    pub(crate) fn push_in_cell(&mut self, head: &RecordHead, payload: &[u8]) -> bool {
        let Some(cell) = self.take_cell(payload.len()) else { return false };
        // SAFETY: the cell was taken for this length.
        unsafe { self.write_cell(head, payload, cell) };
        true
    }

    /// Takes a cell for a payload of `len` bytes, if that fits and there is room for a line.
    #[inline]
    pub(crate) fn take_cell(&mut self, len: usize) -> Option<usize> {
        if !(CELLS_FROM..=CELL_BYTES).contains(&len) || !self.ring.fits_lines(1) { None } else { self.cells.take() }
    }

    /// As [`Self::write_cell`], with a payload made in place: `fill` gets `len` bytes of undefined content.
    /// # Safety
    /// As there.
    #[inline]
    pub(crate) unsafe fn fill_cell(
        &mut self,
        head: &RecordHead,
        len: usize,
        cell: usize,
        fill: impl FnOnce(&mut [u8]),
    ) {
        // SAFETY: the bytes lie inside the mapping, and only this process uses them, because the cell was here; one that
        // breaks the protocol can damage only what its pair sends. The ring has room for a line.
        unsafe {
            fill(std::slice::from_raw_parts_mut(self.cells_at.as_ptr().add(cell * CELL_BYTES), len));
            self.ring.push_in_cell(head, len, cell);
        }
        self.count_cell();
    }

    /// Measures the distance of the receiver now and then.
    #[inline(always)]
    fn count_cell(&mut self) {
        self.pushed_away = self.pushed_away.wrapping_add(1);
        if self.pushed_away.is_multiple_of(MEASURED) {
            self.ring.measure();
        }
    }

    /// Writes a payload to a cell and appends its record.
    /// # Safety
    /// The cell was taken from `cells`, the payload has at most [`CELL_BYTES`], and the ring has room for a line.
    #[inline]
    pub(crate) unsafe fn write_cell(&mut self, head: &RecordHead, payload: &[u8], cell: usize) {
        // SAFETY: the cell lies inside the mapping, and only this process uses it, because it was here; the ring has room
        // for a line.
        unsafe {
            copy_to_reader(payload.as_ptr(), self.cells_at.as_ptr().add(cell * CELL_BYTES), payload.len());
            self.ring.push_in_cell(head, payload.len(), cell);
        }
        self.count_cell();
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

/// The set of ranks that send to this one, as the senders set it, or a range of its words. Read in every poll.
pub(crate) struct Connections {
    words: NonNull<AtomicU64>,
    /// Place in the job memory of the rank that has the first bit.
    first: u32,
    /// The words as they were when they were last taken over.
    known: Box<[u64]>,
}

// SAFETY: the pointer leads into the job memory, which outlives the value (its endpoint holds the job).
unsafe impl Send for Connections {}

impl Connections {
    /// The words that the bits of these places, the first and the last one, are in.
    pub(crate) fn new(block: RankBlock<'_>, places: RangeInclusive<u32>) -> Connections {
        let (start, last) = (*places.start() as usize / 64, *places.end() as usize / 64);
        // The address of the last word is computed for its bounds check alone.
        let (word, _last) = (block.connected(start), block.connected(last));
        Connections { words: NonNull::from(word), first: start as u32 * 64, known: vec![0; last + 1 - start].into() }
    }

    /// Number of words.
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether a word is another one than it was.
    #[inline(always)]
    pub(crate) fn have_changed(&self) -> bool {
        // SAFETY: there are as many words as `known`.
        let is_known = |(i, known): (usize, &u64)| unsafe { self.word_at(i) }.load(Ordering::Relaxed) == *known;
        !self.known.iter().enumerate().all(is_known)
    }

    /// The number of the word with the bit of a place.
    pub(crate) fn number_of(&self, place: u32) -> usize {
        (place.wrapping_sub(self.first) / 64) as usize
    }

    /// The `i`-th word. Panics if there are fewer.
    pub(crate) fn word(&self, i: usize) -> &AtomicU64 {
        assert!(i < self.len());
        // SAFETY: there are as many words as `known`.
        unsafe { self.word_at(i) }
    }

    /// Takes over the `i`-th word, without some bits; the places in the job memory whose bits are new. These may be places that
    /// do not exist: every process can set a bit. Panics if there are fewer words.
    pub(crate) fn take_over(&mut self, i: usize, without: u64) -> impl Iterator<Item = u32> + use<> {
        // Acquire pairs with the Release of the sender that sets its bit.
        let now = self.word(i).load(Ordering::Acquire) & !without;
        let new = now & !std::mem::replace(&mut self.known[i], now);
        let first = self.first + 64 * i as u32;
        (0..64).filter(move |bit| new & 1 << bit != 0).map(move |bit| first + bit)
    }

    /// # Safety
    /// `known` has so many words.
    #[inline(always)]
    unsafe fn word_at(&self, i: usize) -> &AtomicU64 {
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

    /// See [`Consumer::poll`]. `outputs`: by world rank, to which the cells of records go; none where there are no cells.
    #[inline(always)]
    pub(crate) fn poll<S: Sink>(&mut self, most: usize, outputs: &mut [Output], sink: &mut S) -> Result<usize> {
        let from = self.from;
        let put_cell = |cell| outputs.get_mut(from as usize).is_some_and(|output| output.cells.put(cell));
        let polled = self.ring.poll(most, |head, payload| sink.record(from, head, payload), put_cell);
        polled.map_err(|bad| fault::bad_record(from, bad))
    }

    /// See [`Consumer::take_next`].
    #[inline(always)]
    pub(crate) fn take_next<E: Expected>(&mut self, expected: E) -> Option<E::Output> {
        self.ring.take_next(expected)
    }

    /// See [`Consumer::await_next`], and for `outputs` [`Self::poll`].
    #[inline(always)]
    pub(crate) fn await_next<E: Expected>(
        &mut self,
        looks: u32,
        missed: impl FnOnce(),
        expected: E,
        outputs: &mut [Output],
    ) -> (Option<E::Output>, u32) {
        let from = self.from;
        let put_cell = |cell| outputs.get_mut(from as usize).is_some_and(|output| output.cells.put(cell));
        self.ring.await_next(looks, missed, expected, put_cell)
    }
}

fn ring(job: &Job, receiver: u32, sender: u32) -> MappedRing {
    let (layout, mapping) = (job.layout(), job.mapping());
    let place = |at, bytes| (mapping.at(at, bytes), bytes);
    let first = place(layout.first_ring_at(receiver, sender), FIRST_RING_BYTES);
    let next = place(layout.ring_at(receiver, sender), layout.ring_bytes());
    let buffer = place(layout.copy_buffer_at(sender), layout.copy_buffer_bytes());
    let cells = cells(job, receiver, sender);
    // SAFETY: inside the mapping, which the endpoint holds alive together with this value; aligned by the layout; only
    // the two endpoints of these ranks use the rings, one at each end, since a rank can be claimed once, and only the
    // sender writes to its buffer, and to a cell the one that has it.
    unsafe { MappedRing::new(first, next, buffer, cells) }
}

/// Where the cells of a pair begin, and their number; none between a rank and itself.
fn cells(job: &Job, one: u32, other: u32) -> (NonNull<u8>, usize) {
    let (layout, mapping) = (job.layout(), job.mapping());
    match if one == other { 0 } else { layout.pair_cells() } {
        0 => (mapping.at(0, 0), 0),
        count => (mapping.at(layout.cells_at(one, other), count * CELL_BYTES), count),
    }
}
