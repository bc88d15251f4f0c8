//! A rank's connection to its job: pushing and polling records, copies, waits, and reports to the launcher.
//!
//! Invariant: this endpoint is the only producer of its outgoing rings and the only consumer of its incoming ones,
//! because a rank's block can be claimed once. An `Endpoint` is used by one thread at a time (`&mut self`, under the
//! process lock); what other threads need (`Copier`, `Doorbell`, `Recorder`) is separate and shareable.

mod calibrate;
mod connections;
mod copier;
mod copy;
mod foreign;
mod lost;
mod open;
mod segments;

use std::cell::OnceCell;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};

use mpi_errors::Result;

use crate::bridge::Bridges;
use crate::coll_room::RoomTable;
use crate::copy_buffer::CopyBuffer;
use crate::doorbell::Doorbell;
use crate::host::HostFacts;
use crate::instruments::JobInstruments;
use crate::job::{AbortCause, Job};
use crate::layout::{LINE, block};
use crate::peer::{Connections, Input, Output};
use crate::peer_arenas::PeerArenas;
use crate::rank_block::{ENDED, Life};
use crate::record::{Full, INLINE_BYTES, RecordHead, Sink};
use crate::recorder::Recorder;
use crate::ring::Expected;
use crate::settings::FabricSettings;
use crate::transfer::TransferSlot;
use crate::transport::{Transport, Way};
use crate::variables::{FabricInstruments, RingInstruments};
pub use calibrate::Near;
pub use copier::Copier;
pub use foreign::NetworkSource;
use foreign::WaysToJobs;
use lost::LostRank;
pub use open::{Attachment, HostShare};
pub use segments::Extent;

/// Payloads from this many bytes on go through the copy buffer.
const AWAY_FROM: usize = 2 << 10;

/// Stands for a place in the list of inputs.
const NO_INPUT: u32 = u32::MAX;

/// Records taken from one ring before the next ring's turn.
const BATCH: usize = 16;

/// One rank's connection to all others.
pub struct Endpoint {
    /// World rank.
    rank: u32,
    /// Ranks in the world.
    size: u32,
    /// Number of the job, which identifies its processes with their ranks.
    job_number: u64,
    /// This rank's place in the job memory.
    pub(crate) local: u32,
    /// Number of ranks that share the job memory.
    here: u32,
    /// This process's id.
    pid: u32,
    /// Whether the others' `membarrier` reaches this process, so that it needs no fence.
    fenced: bool,
    max_payload: usize,
    /// By world rank; empty where no peer shares memory.
    outputs: Box<[Output]>,
    /// Through which longer payloads go.
    buffer: CopyBuffer,
    /// Rings of peers that have sent something, in the order in which their first record was found.
    inputs: Vec<Input>,
    /// By world rank the place of its ring in `inputs`; [`NO_INPUT`] for one that has sent nothing.
    input_of: Box<[u32]>,
    /// World rank of each rank of the job memory.
    world_ranks: Arc<[u32]>,
    /// The connection bits as set by the senders, in this rank's block: the words of all ranks that may set one. The known ones
    /// are of the peers that are in `inputs` already.
    connected: Connections,
    /// The transport to peers that share no memory.
    network: Option<Box<dyn Transport>>,
    /// Whether a network is between ranks of the job.
    over_hosts: bool,
    ways_to_jobs: WaysToJobs,
    /// The bridges to processes of other jobs, once there was one.
    bridges: Option<Box<Bridges>>,
    /// Ranks of this job that have ended while it continues.
    lost: Vec<LostRank>,
    /// Whether there is a network, a bridge or a lost rank, which are to be polled.
    beyond: bool,
    doorbell: Doorbell,
    recorder: Recorder,
    instruments: Arc<JobInstruments>,
    variables: &'static FabricInstruments,
    /// Created when a handle of them is first allocated.
    rings: OnceCell<&'static [RingInstruments]>,
    settings: &'static FabricSettings,
    job: Arc<Job>,
    /// The parts of this rank's room for collectives.
    room: Arc<Mutex<RoomTable>>,
    /// The arenas of the peers, as far as this process has mapped them.
    arenas: PeerArenas,
    /// The word that peers read to find out whether they can copy; its address is in the block.
    probe: Box<u64>,
}

/// Room for a record of one line in a peer's ring.
pub struct LineRoom<'e> {
    output: &'e mut Output,
    /// Length of the payload.
    len: usize,
    // By reference, like the rest: it is read when it is needed, and takes no register until then.
    fenced: &'e bool,
    variables: &'e &'static FabricInstruments,
}

impl LineRoom<'_> {
    /// Appends the record and wakes the receiver if it sleeps. Panics if the payload has another length than the room.
    #[inline(always)]
    pub fn push(self, head: &RecordHead, payload: &[u8]) {
        assert!(payload.len() == self.len, "the payload is as long as its room");
        // SAFETY: `line_to` has found that a line fits, and that the payload is not longer; no other record was pushed
        // meanwhile, because the endpoint is borrowed.
        unsafe { self.output.ring.push_line(head, payload) };
        self.output.notify(*self.fenced, self.variables);
    }
}

/// The records of one sender.
pub struct Records<'e> {
    input: &'e mut Input,
    outputs: &'e mut [Output],
}

impl Records<'_> {
    /// Waits for the next record with up to `looks` looks at its place, and takes it if it is the expected one, and short or in
    /// a cell; calls `missed` if the first look finds none. Returns what it has taken, and how many looks it took. Looks at
    /// nothing else.
    #[inline(always)] // a receive that waits for its message
    pub fn await_next<E: Expected>(self, looks: u32, missed: impl FnOnce(), expected: E) -> (Option<E::Output>, u32) {
        self.input.await_next(looks, missed, expected, self.outputs)
    }
}

impl Endpoint {
    /// This rank, 0..size.
    #[inline]
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// Number of ranks in the world.
    #[inline]
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Longest payload of one record, in bytes.
    #[inline]
    pub fn max_payload(&self) -> usize {
        self.max_payload
    }

    /// Appends a record to the ring at `dest` (which may be this rank) and wakes the receiver if it sleeps.
    ///
    /// `Full`: there is no room now; poll, so that no processes wait for each other, and try again. A payload that is
    /// longer than [`Self::max_payload`] may never find room. Panics if `dest` is not a rank.
    #[inline(always)] // on the path of every short message
    pub fn push(&mut self, dest: u32, head: &RecordHead, payload: &[u8]) -> Result<(), Full> {
        // A peer on a network has a ring that never has room: the bounds check and the check for room also choose the
        // way, so a peer that shares memory pays nothing for it.
        if self.push_line(dest, head, payload) { Ok(()) } else { self.push_slowly(dest, *head, payload, Extent::Whole) }
    }

    /// As [`Self::push`], for a part of a longer message whose receiver takes one part after the other.
    pub fn push_part(&mut self, dest: u32, head: &RecordHead, payload: &[u8]) -> Result<(), Full> {
        if self.push_line(dest, head, payload) { Ok(()) } else { self.push_slowly(dest, *head, payload, Extent::Part) }
    }

    /// As [`Self::push`], for a record of one line that needs nothing but a store into the ring; false for every other
    /// one, which is not pushed.
    #[inline(always)] // for callers that keep everything else out of line
    pub fn push_line(&mut self, dest: u32, head: &RecordHead, payload: &[u8]) -> bool {
        let Some(output) = self.outputs.get_mut(dest as usize) else { return false };
        if !output.ring.try_push_line(head, payload) {
            return false;
        }
        output.notify(self.fenced, &self.variables);
        true
    }

    /// Room for a record of one line with a payload of `len` bytes, if that needs nothing but a store into the ring.
    #[inline(always)] // on the path of every short message
    pub fn line_to(&mut self, dest: u32, len: usize) -> Option<LineRoom<'_>> {
        let output = self.outputs.get_mut(dest as usize)?;
        let fits = len <= INLINE_BYTES && output.ring.fits_lines(1);
        fits.then_some(LineRoom { output, len, fenced: &self.fenced, variables: &self.variables })
    }

    /// A record of several lines, or one for which there is no room yet. The head is passed by value, so that it stays in
    /// registers up to this call.
    #[inline(never)]
    fn push_slowly(&mut self, dest: u32, head: RecordHead, payload: &[u8], extent: Extent) -> Result<(), Full> {
        if self.permits_cells()
            && let Some(output) = self.outputs.get_mut(dest as usize)
            && output.push_in_cell(&head, payload)
        {
            self.pushed_in_cell(dest, payload.len());
            return Ok(());
        }
        if payload.len() >= AWAY_FROM && self.push_segments(dest, &head, 0, payload, (payload.len(), extent)).is_ok() {
            return Ok(());
        }
        if let Some(output) = self.outputs.get_mut(dest as usize)
            && output.ring.try_push(&head, payload).is_ok()
        {
            output.notify(self.fenced, &self.variables);
            return Ok(());
        }
        self.push_after_making_room(dest, head, payload)
    }

    #[cold]
    fn push_after_making_room(&mut self, dest: u32, head: RecordHead, payload: &[u8]) -> Result<(), Full> {
        if self.way(dest) == Way::Network
            && let Some(network) = &mut self.network
        {
            return network.push(dest, &head, payload);
        }
        if dest >= self.size {
            return self.push_over_bridge(dest, &head, payload.len(), |room| room.copy_from_slice(payload));
        }
        // A longer payload than that: the caller offers the message.
        if payload.len() > self.max_payload || self.make_room(dest, payload.len()).is_err() {
            return Err(self.full());
        }
        self.outputs[dest as usize].ring.try_push(&head, payload)?;
        self.pushed(dest);
        Ok(())
    }

    /// As [`Self::push`], with a payload made in place: `fill` gets `len` bytes of undefined content to overwrite.
    #[inline]
    pub fn push_with(
        &mut self,
        dest: u32,
        head: &RecordHead,
        len: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), Full> {
        if self.permits_cells()
            && let Some(output) = self.outputs.get_mut(dest as usize)
            && let Some(cell) = output.take_cell(len)
        {
            // SAFETY: the cell was taken for this length.
            unsafe { output.fill_cell(head, len, cell, fill) };
            self.pushed_in_cell(dest, len);
            return Ok(());
        }
        if !self.outputs.get(dest as usize).is_some_and(|output| output.ring.fits(len)) {
            if self.way(dest) == Way::Network
                && let Some(network) = &mut self.network
            {
                let mut payload = vec![0; len];
                fill(&mut payload);
                return network.push(dest, head, &payload);
            }
            if dest >= self.size {
                return self.push_over_bridge(dest, head, len, fill);
            }
            if self.make_room(dest, len).is_err() {
                return Err(self.full());
            }
        }
        self.outputs[dest as usize].ring.try_push_with(head, len, fill)?;
        self.pushed(dest);
        Ok(())
    }

    /// Counts a push that failed.
    fn full(&self) -> Full {
        self.variables.queue_full.incr();
        Full
    }

    /// Wakes the receiver of a record, which may have needed room that was made for it.
    #[inline]
    fn pushed(&self, dest: u32) {
        self.outputs[dest as usize].notify(self.fenced, &self.variables);
        self.show_used(dest);
    }

    /// Stores how much of a ring is in use, if a handle exists.
    #[inline]
    fn show_used(&self, dest: u32) {
        if let Some(rings) = self.rings.get()
            && rings[dest as usize].used.is_watched()
        {
            let ring = &self.outputs[dest as usize].ring;
            rings[dest as usize].used.set(ring.used() as u64, ring.bytes() as u64);
        }
    }

    /// Makes room in the ring for a record with `len` bytes of payload. A caller that pushes nothing then counts it.
    #[cold]
    fn make_room(&mut self, dest: u32, len: usize) -> Result<(), Full> {
        if self.is_lost(dest) {
            return Err(Full);
        }
        let output = &mut self.outputs[dest as usize];
        if !output.announced {
            output.announced = true;
            let local = output.local.expect("the network's peers have no ring");
            if local == self.local {
                self.add_input(local);
            } else {
                let word = self.job.block(local).connected(self.local as usize / 64);
                // Release pairs with the Acquire in `connect`. The receiver polls the bits together with the rings, so the
                // sleep protocol covers this store as it covers the record's.
                word.fetch_or(1 << (self.local % 64), Ordering::Release);
            }
        }
        let output = &mut self.outputs[dest as usize];
        let grown = output.ring.grow(len);
        let (used, size) = (output.ring.used(), output.ring.bytes());
        self.variables.ring_room.follow((size - used) as u64);
        if let Some(rings) = self.rings.get()
            && rings[dest as usize].used.is_watched()
        {
            // Room for this record alone, so that the next one comes here too.
            output.ring.limit(Some(len));
        }
        self.show_used(dest);
        grown
    }

    /// Measures from now on, while a handle exists, how much of each ring is in use.
    pub fn watch_rings(&mut self) -> &'static [RingInstruments] {
        let rings = *self.rings.get_or_init(|| mpi_t::place_rows(self.size as usize));
        for (output, row) in self.outputs.iter_mut().zip(rings).filter(|(output, _)| output.local.is_some()) {
            output.ring.limit(None);
            row.used.set(output.ring.used() as u64, output.ring.bytes() as u64);
            row.distance.set(output.ring.distance().ns().into());
        }
        rings
    }

    /// Hands records of all connected rings to `sink`, a bounded number of each, and returns how many there were.
    /// # Errors
    /// A peer wrote something that is no record (its ring stays at that place), or the network reports a lost peer.
    #[inline]
    pub fn poll<S: Sink>(&mut self, sink: &mut S) -> Result<usize> {
        self.poll_inline(sink)
    }

    /// As [`Self::poll`], always inlined: for a loop that polls for one message, where a call would take longer than
    /// the look at the rings.
    #[inline(always)]
    pub fn poll_inline<S: Sink>(&mut self, sink: &mut S) -> Result<usize> {
        self.look_for_connections();
        let mut seen = 0;
        for input in &mut self.inputs {
            seen += input.poll(BATCH, &mut self.outputs, sink)?;
        }
        if self.beyond {
            seen += self.poll_beyond(sink)?;
        }
        Ok(seen)
    }

    /// The same for the ring of one sender, or for what connects that sender. Not for hot paths.
    pub fn poll_from<S: Sink>(&mut self, from: u32, sink: &mut S) -> Result<usize> {
        self.look_for_connections();
        if from >= self.size {
            return self.poll_beyond(sink);
        }
        if let Some(network) = &mut self.network
            && self.outputs.get(from as usize).is_none_or(|output| output.local.is_none())
        {
            return network.poll(sink);
        }
        match self.inputs.iter_mut().find(|input| input.from == from) {
            Some(input) => input.poll(BATCH, &mut self.outputs, sink),
            None => Ok(0),
        }
    }

    /// Takes the next record of one sender's ring if it has arrived, is short, and is the expected one. Looks at nothing else.
    /// `None` also for a sender that no poll has found yet.
    #[inline(always)] // a receive that starts looks for its message
    pub fn take_next<E: Expected>(&mut self, from: u32, expected: E) -> Option<E::Output> {
        let place = self.input_of.get(from as usize).copied().unwrap_or(NO_INPUT);
        self.inputs.get_mut(place as usize)?.take_next(expected)
    }

    /// The records of one sender; `None` for a sender that no poll has found yet.
    #[inline(always)] // on the path of every short message
    pub fn records_of(&mut self, from: u32) -> Option<Records<'_>> {
        let place = self.input_of.get(from as usize).copied()?;
        Some(Records { input: self.inputs.get_mut(place as usize)?, outputs: &mut self.outputs })
    }

    #[inline(always)]
    fn look_for_connections(&mut self) {
        if self.connected.have_changed() {
            self.connect();
        }
    }

    /// The fabric's performance variables, for the process to register.
    pub fn instruments(&self) -> &'static FabricInstruments {
        self.variables
    }

    /// The endpoint's control variables, for the process to register.
    pub fn settings(&self) -> &'static FabricSettings {
        self.settings
    }

    /// A transfer slot in the block of a rank that shares memory, `index` 0..256. Panics if there is no such rank or
    /// slot.
    pub fn transfer_slot(&self, owner: u32, index: u32) -> TransferSlot<'_> {
        assert!((index as usize) < block::TRANSFER_SLOTS, "transfer slot {index}");
        let local = self.outputs[owner as usize].local.expect("a rank that shares memory");
        let at = self.job.layout().block_at(local) + block::TRANSFERS + index as usize * LINE;
        TransferSlot { claimed: self.job.mapping().word(at), done: self.job.mapping().word(at + 8) }
    }

    /// The doorbell, on which threads wait for messages without holding the process lock.
    pub fn doorbell(&self) -> Doorbell {
        self.doorbell.clone()
    }

    /// The rank's flight recorder.
    pub fn recorder(&self) -> Recorder {
        self.recorder.clone()
    }

    /// Memory for this rank's instruments, visible from outside. Thread-safe; the same one for every caller.
    pub fn instrument_memory(&self) -> Arc<JobInstruments> {
        self.instruments.clone()
    }

    /// The parts of this rank's room for collectives.
    pub(crate) fn room(&self) -> &Arc<Mutex<RoomTable>> {
        &self.room
    }

    /// The place of a world rank in the job memory, if it shares it with this one.
    pub(crate) fn place_in_job(&self, rank: u32) -> Option<u32> {
        self.outputs.get(rank as usize)?.local
    }

    /// The job this rank belongs to.
    pub fn job(&self) -> &Arc<Job> {
        &self.job
    }

    /// Name of the host, cores, ranks on it.
    pub fn host_facts(&self) -> HostFacts {
        HostFacts { host: crate::host::name(), cores: self.job.cores(), ranks: self.here }
    }

    /// Reports to the launcher the rank's state.
    pub fn set_life(&self, life: Life) {
        self.job.block(self.local).set_life(life);
    }

    /// Makes the launcher end the whole job with an exit code, once this process has exited. Only the job's first
    /// request counts; true if this was it.
    pub fn request_abort(&self, code: i32, cause: AbortCause) -> bool {
        self.job.request_abort(self.local, code, cause)
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        let block = self.job.block(self.local);
        block.probe_address().store(0, Ordering::Relaxed);
        // Release pairs with the Acquire in `PeerProcess::alive`.
        block.ended().store(ENDED, Ordering::Release);
    }
}
