//! A rank's connection to the job: pushing and polling records, copying, waiting, and what the launcher may know.
//!
//! Invariant: this endpoint is the only producer of its outgoing rings and the only consumer of its incoming ones,
//! because a rank's block can be claimed once. An `Endpoint` is used by one thread at a time (`&mut self`, under the
//! process lock); what other threads need (`Doorbell`, `Recorder`) is separate and shareable.

mod open;
mod peer;

use std::sync::Arc;
use std::sync::atomic::Ordering;

use mpi_errors::{Error, Result};

use crate::doorbell::Doorbell;
use crate::fault;
use crate::host::HostFacts;
use crate::instruments::JobInstruments;
use crate::job::{AbortCause, Job};
use crate::layout::{LINE, block};
use crate::rank_block::Life;
use crate::record::{Full, RecordHead, Sink, record_bytes};
use crate::recorder::Recorder;
use crate::settings::FabricSettings;
use crate::transfer::TransferSlot;
use crate::variables::{FabricInstruments, RingInstruments};
pub use open::Attachment;
use peer::{Connections, Input, Output};

/// Records taken from one ring before the next ring's turn.
const BATCH: usize = 16;

/// One rank's way to all others.
pub struct Endpoint {
    rank: u32,
    /// Whether the others' `membarrier` reaches this process, so that it need not fence.
    fenced: bool,
    max_payload: usize,
    outputs: Box<[Output]>,
    /// Rings that somebody sends through, in the order they were found.
    inputs: Vec<Input>,
    /// Index into `inputs` of each rank's ring, or `u32::MAX`.
    input_of: Box<[u32]>,
    /// The connection bits as set by the senders, in this rank's block.
    connected: Connections,
    /// Those already in `inputs`.
    known: Box<[u64]>,
    doorbell: Doorbell,
    recorder: Recorder,
    instruments: Arc<JobInstruments>,
    variables: &'static FabricInstruments,
    rings: &'static [RingInstruments],
    settings: &'static FabricSettings,
    job: Arc<Job>,
    /// The word that peers read to find out whether they can; its address is in the block.
    _probe: Box<u64>,
}

impl Endpoint {
    /// This rank, 0..size.
    #[inline]
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// Number of ranks in the job.
    #[inline]
    pub fn size(&self) -> u32 {
        self.outputs.len() as u32
    }

    /// Longest payload of one record, in bytes.
    #[inline]
    pub fn max_payload(&self) -> usize {
        self.max_payload
    }

    /// Appends a record to the ring at `dest` (which may be this rank) and wakes the receiver if it sleeps.
    ///
    /// `Full` says: no room now; poll, so that nobody waits in a circle, and try again. Panics if `dest` is not a rank
    /// or the payload longer than [`Self::max_payload`].
    #[inline(always)] // on the path of every short message
    pub fn push(&mut self, dest: u32, head: &RecordHead, payload: &[u8]) -> Result<(), Full> {
        let output = &mut self.outputs[dest as usize];
        if output.ring.try_push(head, payload).is_err() {
            return self.push_slowly(dest, *head, payload);
        }
        output.notify(self.fenced, self.variables);
        Ok(())
    }

    /// The head by value, so that it stays in registers on the way here that is not slow.
    #[cold]
    fn push_slowly(&mut self, dest: u32, head: RecordHead, payload: &[u8]) -> Result<(), Full> {
        self.make_room(dest, payload.len())?;
        let output = &mut self.outputs[dest as usize];
        output.ring.try_push(&head, payload)?;
        output.notify(self.fenced, self.variables);
        Ok(())
    }

    /// The same with a payload made in place: `fill` gets `len` bytes of undefined content to overwrite.
    #[inline]
    pub fn push_with(
        &mut self,
        dest: u32,
        head: &RecordHead,
        len: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<(), Full> {
        if !self.outputs[dest as usize].ring.fits(len) {
            self.make_room(dest, len)?;
        }
        let output = &mut self.outputs[dest as usize];
        output.ring.try_push_with(head, len, fill)?;
        output.notify(self.fenced, self.variables);
        Ok(())
    }

    #[cold]
    fn make_room(&mut self, dest: u32, len: usize) -> Result<(), Full> {
        let output = &mut self.outputs[dest as usize];
        if !output.announced {
            output.announced = true;
            let word = self.job.block(dest).connected(self.rank as usize / 64);
            // Release pairs with the Acquire in `connect`. The receiver polls the bits together with the rings, so the
            // sleep protocol covers this store as it covers the record's.
            word.fetch_or(1 << (self.rank % 64), Ordering::Release);
        }
        let grown = output.ring.grow(len);
        if grown.is_err() {
            self.variables.queue_full.incr();
        }
        let (used, size) = (output.ring.used(), output.ring.bytes());
        self.variables.ring_room.follow((size - used) as u64);
        let told = &self.rings[dest as usize].used;
        if told.is_watched() {
            // Room for this record alone, so that the next one comes here too.
            output.ring.limit(Some(len));
            let record = if grown.is_ok() { record_bytes(len) } else { 0 };
            told.set((used + record) as u64, size as u64);
        }
        grown
    }

    /// How much of each ring is in use, from now on, while a handle of it exists.
    pub fn watch_rings(&mut self) -> &'static [RingInstruments] {
        for (output, told) in self.outputs.iter_mut().zip(self.rings) {
            output.ring.limit(None);
            told.used.set(output.ring.used() as u64, output.ring.bytes() as u64);
        }
        self.rings
    }

    /// Hands records of all connected rings to `sink`, a bounded number of each, and says how many there were.
    /// # Errors
    /// A rank wrote something that is no record; its ring stays at that place.
    #[inline]
    pub fn poll<S: Sink>(&mut self, sink: &mut S) -> Result<usize> {
        self.look_for_connections();
        let mut seen = 0;
        for input in &mut self.inputs {
            seen += input.poll(BATCH, sink)?;
        }
        Ok(seen)
    }

    /// The same for the ring of one sender.
    #[inline]
    pub fn poll_from<S: Sink>(&mut self, from: u32, sink: &mut S) -> Result<usize> {
        match self.inputs.get_mut(self.input_of[from as usize] as usize) {
            Some(input) => input.poll(BATCH, sink),
            None => {
                self.look_for_connections();
                Ok(0)
            }
        }
    }

    #[inline(always)]
    fn look_for_connections(&mut self) {
        for i in 0..self.known.len() {
            if self.connected.word(i).load(Ordering::Relaxed) != self.known[i] {
                self.connect(i);
            }
        }
    }

    #[cold]
    fn connect(&mut self, i: usize) {
        // Acquire pairs with the Release in `make_room`.
        let now = self.connected.word(i).load(Ordering::Acquire);
        for bit in 0..64 {
            let from = i * 64 + bit;
            // Bits of ranks that do not exist, and bits that went away, are another process's nonsense.
            if now & !self.known[i] & 1 << bit != 0 && from < self.outputs.len() {
                self.input_of[from] = self.inputs.len() as u32;
                self.variables.connections.incr();
                self.inputs.push(Input::new(&self.job, self.rank, from as u32));
            }
        }
        self.known[i] = now;
    }

    /// The fabric's performance variables, for the process to register.
    pub fn instruments(&self) -> &'static FabricInstruments {
        self.variables
    }

    /// What can be set of this endpoint, for the process to register.
    pub fn settings(&self) -> &'static FabricSettings {
        self.settings
    }

    /// Whether to use [`Self::read_remote`] and [`Self::write_remote`] with a peer: they work, and are wanted. False
    /// until the peer has attached.
    pub fn can_copy(&self, peer: u32) -> bool {
        self.settings.single_copy.get() && self.outputs[peer as usize].can_copy(self.job.block(peer))
    }

    /// Copies from an address in a peer's memory; also when the peer is a thread of this process, and from oneself.
    /// # Errors
    /// The kernel refuses, or the address is bad: `MPI_ERR_OTHER`, naming the peer.
    pub fn read_remote(&self, peer: u32, addr: u64, dst: &mut [u8]) -> Result<()> {
        crate::remote::read(self.pid_of(peer), addr, dst).map_err(|error| self.copy_failed("read", peer, &error))
    }

    /// Copies to an address in a peer's memory; otherwise like [`Self::read_remote`].
    pub fn write_remote(&self, peer: u32, addr: u64, src: &[u8]) -> Result<()> {
        crate::remote::write(self.pid_of(peer), addr, src).map_err(|error| self.copy_failed("write", peer, &error))
    }

    fn pid_of(&self, peer: u32) -> u32 {
        self.job.pid(peer)
    }

    #[cold]
    fn copy_failed(&self, what: &str, peer: u32, error: &std::io::Error) -> Error {
        fault::system(&format!("cannot {what} the memory of rank {peer} (process {})", self.pid_of(peer)), error)
    }

    /// A transfer slot in a rank's block, `index` 0..256. Panics if there is no such rank or slot.
    pub fn transfer_slot(&self, owner: u32, index: u32) -> TransferSlot<'_> {
        assert!((index as usize) < block::TRANSFER_SLOTS, "transfer slot {index}");
        let at = self.job.layout().block_at(owner) + block::TRANSFERS + index as usize * LINE;
        TransferSlot { claimed: self.job.mapping().word(at), done: self.job.mapping().word(at + 8) }
    }

    /// Where to wait for messages without holding the process lock.
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

    /// The job this rank belongs to.
    pub fn job(&self) -> &Arc<Job> {
        &self.job
    }

    /// Name of the host, cores, ranks on it.
    pub fn host_facts(&self) -> HostFacts {
        HostFacts { host: crate::host::name(), cores: self.job.cores(), ranks: self.size() }
    }

    /// Whether a peer still runs. One that has not attached yet counts as alive.
    pub fn alive(&self, peer: u32) -> bool {
        self.outputs[peer as usize].alive(self.job.block(peer))
    }

    /// Tells the launcher how far this rank has come.
    pub fn set_life(&self, life: Life) {
        self.job.block(self.rank).set_life(life);
    }

    /// Makes the launcher end the whole job with an exit code, once this process has exited. Only the job's first
    /// request counts; true if this was it.
    pub fn request_abort(&self, code: i32, cause: AbortCause) -> bool {
        self.job.request_abort(self.rank, code, cause)
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        let block = self.job.block(self.rank);
        block.probe_address().store(0, Ordering::Relaxed);
        // Release pairs with the Acquire in `Output::alive`.
        block.gone().store(1, Ordering::Release);
    }
}
