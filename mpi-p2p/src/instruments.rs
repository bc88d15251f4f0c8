//! The performance variables of the engine (MPI-4.1, 15.3.7). Each is a field that the engine itself maintains.
//!
//! Invariant: a communicator's instruments count the program's own messages; those that collectives send inside the
//! library are counted by the engine's instruments only.

use std::ops::Deref;
use std::sync::atomic::AtomicU64;

use mpi_core::clock;
use mpi_errors::Result;
use mpi_fabric::traffic::SIZE_CLASSES;
use mpi_fabric::{JobInstruments, OpenWaits, PagesOnDemand};
use mpi_t::Verbosity::{DeveloperBasic, TunerBasic, TunerDetail, UserBasic, UserDetail};
use mpi_t::{
    Aggregate, BlockDescription, Counter, EnumDef, HeapMemory, InstrumentMemory, Level, PeakLevel, Percentage,
    Registry, State, Timer, WatchedTimer,
};

use crate::cvars::CommSettings;

mpi_t::instruments! {
    /// The queues and messages of one communicator.
    pub struct CommInstruments: Comm {
        /// Number of messages that have arrived and wait for a matching receive (the unexpected message queue). A
        /// message is counted from when a call that makes progress, such as MPI_Iprobe, reads it from its ring until it
        /// is received; before that, fabric_ring_used in its sender includes it.
        pub umq_length: PeakLevel =
            { name: "MPI_T_UMQ_LENGTH", class: Level, type: u32, unit: "messages", category: "p2p.unexpected" }
            { name: "MPI_T_UMQ_LENGTH", class: HighWatermark, type: u32, unit: "messages",
              category: "p2p.unexpected",
              doc: "Greatest number of messages that waited at once for a matching receive, counted as \
                    MPI_T_UMQ_LENGTH counts them." },
        /// Bytes of data stored for the messages of MPI_T_UMQ_LENGTH; changes when that variable does. An offered
        /// message, whose data is still in the sender, adds none.
        pub umq_bytes: PeakLevel =
            { name: "p2p_unexpected_bytes", class: Level, type: u64, unit: "bytes", category: "p2p.unexpected",
              verbosity: UserDetail }
            { name: "p2p_unexpected_bytes", class: HighWatermark, type: u64, unit: "bytes",
              category: "p2p.unexpected",
              doc: "Greatest number of bytes of data stored at once for messages that waited for a matching receive.",
              verbosity: UserDetail },
        /// Number of messages that arrived before a matching receive was posted; incremented when a call that makes
        /// progress reads such a message from its ring.
        pub unexpected: Counter =
            { name: "p2p_unexpected_messages", class: Counter, type: u64, unit: "messages",
              category: "p2p.unexpected" },
        /// Time in seconds that messages waited for a matching receive, from when a call that makes progress read them
        /// from their ring; added when a message is received. Only messages that arrive while a handle of this variable
        /// exists are timed.
        pub time_unexpected: WatchedTimer =
            { name: "p2p_time_unexpected", class: Timer, type: f64, unit: "seconds", category: "p2p.unexpected",
              verbosity: UserDetail },
        /// Number of steps of the searches that match messages with receives. A step is a comparison with one item, and
        /// in a queue that is hashed (p2p_match_list_limit) a look-up for the source and tag, and one for each kind of
        /// wildcard in use. Searches of an empty queue, probes, and receives that take the next message of a ring when
        /// they start add none.
        pub search_steps: Counter =
            { name: "p2p_search_steps", class: Counter, type: u64, unit: "steps", category: "p2p.matching",
              verbosity: TunerDetail },
        /// Number of receives that are posted and wait for their message. A blocking receive is counted only if its
        /// first poll finds no message, a non-blocking one only if its message is not the next one in its sender's ring.
        pub posted_length: PeakLevel =
            { name: "p2p_posted_length", class: Level, type: u32, unit: "receives", category: "p2p.posted",
              verbosity: UserDetail }
            { name: "p2p_posted_length", class: HighWatermark, type: u32, unit: "receives", category: "p2p.posted",
              doc: "Greatest number of receives that were posted at once and waited for their message.",
              verbosity: UserDetail },
        /// Number of messages whose send has started; sends to MPI_PROC_NULL are not counted.
        pub messages_sent: Counter =
            { name: "p2p_messages_sent", class: Counter, type: u64, unit: "messages", category: "p2p.traffic" },
        /// Number of messages matched with a receive; incremented when the match is found.
        pub messages_received: Counter =
            { name: "p2p_messages_received", class: Counter, type: u64, unit: "messages", category: "p2p.traffic" },
        /// Bytes of data in messages whose send has started.
        pub bytes_sent: Aggregate =
            { name: "p2p_bytes_sent", class: Aggregate, type: u64, unit: "bytes", category: "p2p.traffic" },
        /// Bytes of data in messages matched with a receive, added at the match. A truncated message adds the number of
        /// bytes that were sent.
        pub bytes_received: Aggregate =
            { name: "p2p_bytes_received", class: Aggregate, type: u64, unit: "bytes", category: "p2p.traffic" },
        /// Number of collective operations of the communicator that have begun: blocking and non-blocking calls, and
        /// starts of persistent requests. Where all processes make the same calls it is the same in all of them.
        pub collectives: Counter =
            { name: "coll_operations", class: Counter, type: u64, unit: "operations", category: "coll.calls" },
    }
}

mpi_t::instruments! {
    /// The messages between this process and one other of a communicator: one element for each rank.
    pub struct PeerInstruments: Comm, verbosity: UserDetail {
        /// Number of messages to each rank whose send has started.
        pub messages_sent: Counter =
            { name: "p2p_peer_messages_sent", class: Counter, type: u64, unit: "messages", category: "p2p.peers" },
        /// Bytes of data in messages to each rank whose send has started.
        pub bytes_sent: Aggregate =
            { name: "p2p_peer_bytes_sent", class: Aggregate, type: u64, unit: "bytes", category: "p2p.peers" },
        /// Number of messages from each rank matched with a receive; incremented when the match is found.
        pub messages_received: Counter =
            { name: "p2p_peer_messages_received", class: Counter, type: u64, unit: "messages",
              category: "p2p.peers" },
        /// Bytes of data in messages from each rank, added at the match. A truncated message adds the number of bytes
        /// that were sent.
        pub bytes_received: Aggregate =
            { name: "p2p_peer_bytes_received", class: Aggregate, type: u64, unit: "bytes", category: "p2p.peers" },
    }
}

mpi_t::instruments! {
    /// Messages of one class of sizes.
    pub struct SizeInstruments: NoObject, verbosity: UserDetail {
        /// Number of messages by size whose send has started, messages of collective operations included. Element 0
        /// counts messages without data, element n those of 2^(n-1) to 2^n - 1 bytes.
        pub sent: Counter =
            { name: "p2p_sizes_sent", class: Counter, type: u64, unit: "messages", category: "p2p.traffic" },
    }
}

/// The rows of all classes.
pub(crate) type SizeRows = [SizeInstruments; SIZE_CLASSES];

impl SizeInstruments {
    /// The rows of a process, visible from outside.
    pub(crate) fn place_in_job(memory: &JobInstruments) -> &'static SizeRows {
        let rows = mpi_t::place_rows_in(&SizeMemory(memory), SIZE_CLASSES);
        rows.try_into().expect("the number of rows is the argument")
    }
}

/// The memory of [`SizeRows`], which is never released.
struct SizeMemory<'a>(&'a JobInstruments);

impl InstrumentMemory for SizeMemory<'_> {
    fn allocate(&self, words: usize, _: &BlockDescription<'_>) -> Option<&'static [AtomicU64]> {
        Some(self.0.sizes()).filter(|sizes| sizes.len() == words)
    }

    fn release(&self, _: &'static [AtomicU64]) -> bool {
        false
    }
}

/// What a process is doing in the library.
pub static STATES: EnumDef = EnumDef {
    name: "process_state",
    items: &[(0, "computing"), (1, "sending"), (2, "waiting"), (3, "in a collective"), (4, "in file i/o")],
};

/// A value of `STATES`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Doing {
    /// The program's own work, or a call that does not wait.
    Computing = 0,
    /// Waiting for a send to be over.
    Sending = 1,
    /// Waiting for anything else.
    Waiting = 2,
    /// In a collective call.
    Collective = 3,
    /// Reading or writing a file.
    File = 4,
}

mpi_t::instruments! {
    /// The engine of one process, collectives' own messages included.
    pub struct EngineInstruments: NoObject, verbosity: TunerDetail {
        /// What the process is doing: computing, sending, waiting, in a collective, in file i/o. With several threads
        /// the last thread that changed the state sets it.
        pub state: State =
            { name: "process_state", class: State, type: i32, unit: "", category: "process", states: &STATES,
              verbosity: UserBasic },
        /// Number of requests that exist: their operation is under way, or is complete and no wait or test has returned
        /// it. A send or receive that was complete when it started, as short sends are, is not counted.
        pub requests: PeakLevel =
            { name: "p2p_requests", class: Level, type: u64, unit: "requests", category: "p2p.requests",
              verbosity: UserDetail }
            { name: "p2p_requests", class: HighWatermark, type: u64, unit: "requests", category: "p2p.requests",
              doc: "Greatest number of requests that existed at once, without those that were complete when they \
                    started.",
              verbosity: UserDetail },
        /// Number of calls that test requests, MPI_Request_get_status among them, that found nothing complete.
        pub failed_tests: Counter =
            { name: "p2p_failed_tests", class: Counter, type: u64, unit: "tests", category: "p2p.requests",
              verbosity: UserDetail },
        /// Number of times that this process polled its rings for records of other processes. A receive that starts and
        /// looks for its message in one ring adds none.
        pub polls: Counter =
            { name: "p2p_polls", class: Counter, type: u64, unit: "polls", category: "p2p.waiting" },
        /// Number of free transfer slots. A transfer slot is a word of shared memory by which both sides of a long
        /// message share the copying; without a free one the receiver copies alone.
        pub slots_free: Level =
            { name: "p2p_transfer_slots_free", class: Level, type: u32, unit: "slots", category: "p2p.protocol",
              verbosity: DeveloperBasic }
            { name: "p2p_transfer_slots_free", class: LowWatermark, type: u32, unit: "slots",
              category: "p2p.protocol", doc: "Smallest number of free transfer slots.", verbosity: DeveloperBasic },
        /// Part of this process's transfer slots that are in use, from 0 to 1; changes when a shared copy begins or
        /// ends.
        pub slots_used: Percentage =
            { name: "p2p_transfer_slots_used", class: Percentage, type: f64, unit: "part of 1",
              category: "p2p.protocol", verbosity: DeveloperBasic },
        /// Number of messages that a matched probe has returned and that are not received yet.
        pub messages_held: PeakLevel =
            { name: "p2p_messages_held", class: Level, type: u64, unit: "messages", category: "p2p.unexpected",
              verbosity: UserDetail }
            { name: "p2p_messages_held", class: HighWatermark, type: u64, unit: "messages",
              category: "p2p.unexpected",
              doc: "Greatest number of messages that matched probes had returned and that were not received yet.",
              verbosity: UserDetail },
        /// Number of messages received by the eager protocol: sent whole, without an offer first.
        pub eager_received: Counter =
            { name: "p2p_eager_received", class: Counter, type: u64, unit: "messages", category: "p2p.protocol",
              verbosity: TunerBasic },
        /// Bytes of data in messages sent by the eager protocol, added when the send starts.
        pub eager_bytes_sent: Aggregate =
            { name: "p2p_eager_bytes_sent", class: Aggregate, type: u64, unit: "bytes", category: "p2p.protocol" },
        /// Number of messages received by the rendezvous protocol: offered by the sender before the data was moved.
        pub rendezvous_received: Counter =
            { name: "p2p_rendezvous_received", class: Counter, type: u64, unit: "messages",
              category: "p2p.protocol", verbosity: TunerBasic },
        /// Bytes of data in messages that this process offered (the rendezvous protocol), added when the send starts.
        pub rendezvous_bytes_sent: Aggregate =
            { name: "p2p_rendezvous_bytes_sent", class: Aggregate, type: u64, unit: "bytes",
              category: "p2p.protocol" },
        /// Bytes that this process copied as receiver directly from a sender's memory.
        pub bytes_copied: Aggregate =
            { name: "p2p_bytes_copied", class: Aggregate, type: u64, unit: "bytes", category: "p2p.protocol" },
        /// Number of messages that this process, as receiver, copied from its own mapping of the sender's memory: of a
        /// window or of MPI_Alloc_mem (p2p_copy_shared_from). Counted when the copy begins.
        pub shared_received: Counter =
            { name: "p2p_shared_received", class: Counter, type: u64, unit: "messages", category: "p2p.protocol" },
        /// Bytes that this process copied as sender directly into a receiver's memory, sharing the receiver's copying.
        pub bytes_helped: Aggregate =
            { name: "p2p_bytes_helped", class: Aggregate, type: u64, unit: "bytes", category: "p2p.protocol" },
        /// Bytes of offered messages that this process received as fragments through the rings.
        pub bytes_in_fragments: Aggregate =
            { name: "p2p_bytes_in_fragments", class: Aggregate, type: u64, unit: "bytes", category: "p2p.protocol" },
        /// Number of messages sent by the eager protocol: whole, without an offer to the receiver first.
        pub eager_sent: Counter =
            { name: "p2p_eager_sent", class: Counter, type: u64, unit: "messages", category: "p2p.protocol",
              verbosity: TunerBasic },
        /// Number of messages sent by the rendezvous protocol: offered to the receiver first, because they are longer
        /// than the eager limit.
        pub rendezvous_sent: Counter =
            { name: "p2p_rendezvous_sent", class: Counter, type: u64, unit: "messages", category: "p2p.protocol",
              verbosity: TunerBasic },
        /// Time in seconds that blocking calls waited; added when a wait ends. A wait begins after the call's first
        /// polls, at most 128 and about a microsecond; a call that completes before that adds nothing.
        pub time_waited: Timer =
            { name: "p2p_time_waited", class: Timer, type: f64, unit: "seconds", category: "p2p.waiting",
              verbosity: UserBasic },
        /// Number of waits counted in p2p_time_waited.
        pub waits: Counter =
            { name: "p2p_waits", class: Counter, type: u64, unit: "waits", category: "p2p.waiting",
              verbosity: UserDetail },
    }
}

/// The variables of a communicator: its own blocks, and a row for each of its processes.
#[derive(Debug, Clone, Copy)]
pub struct CommMeters {
    /// Its queues and messages.
    pub block: &'static CommInstruments,
    /// The traffic with each of its processes, by rank.
    pub peers: &'static [PeerInstruments],
    /// What can be set of it.
    pub settings: &'static CommSettings,
}

impl CommMeters {
    /// Zeroed instruments for a communicator of `size` processes, and settings with their initial values.
    pub fn place(memory: &dyn InstrumentMemory, name: &str, size: u32) -> CommMeters {
        let block = CommInstruments::place_for(memory, name);
        let peers = mpi_t::place_rows_in(memory_of_rows(size as usize), size as usize);
        CommMeters { block, peers, settings: mpi_t::place_settings() }
    }

    /// As [`CommMeters::place`], for the communicator of the processes with these numbers in the job. Readers outside find
    /// its traffic by process, and the highest lengths of its queues as far as they are kept.
    pub fn place_in_job(memory: &JobInstruments, name: &str, world_ranks: &[u32]) -> CommMeters {
        let block = CommInstruments::place_for(memory, name);
        // An unexpected message is stored at far greater cost; all other queues are those of the fastest ways.
        [&block.umq_length, &block.umq_bytes].into_iter().for_each(PeakLevel::keep_peak);
        if memory.keeps_peaks() {
            block.posted_length.keep_peak();
        }
        let peers = mpi_t::place_rows_in(&RowMemory { memory, peers: world_ranks }, world_ranks.len());
        CommMeters { block, peers, settings: mpi_t::place_settings() }
    }

    /// The same on the heap, invisible from outside.
    pub fn detached(size: u32) -> CommMeters {
        CommMeters::place(&HeapMemory, "", size)
    }

    /// From now on, tools can bind handles to the communicator with this handle word. Errors: as [`Registry::declare`].
    pub fn bind(self, registry: &Registry, object: usize) -> Result<()> {
        registry.bind_settings(object, self.settings);
        registry.bind(object, self.block);
        registry.bind_rows(object, self.peers)
    }

    /// Invalidates the MPI_T handles bound to the communicator with this handle word.
    pub fn unbind(self, registry: &Registry, object: usize) {
        registry.unbind_settings::<CommSettings>(object);
        registry.unbind(object, self.block);
    }

    /// As [`CommMeters::retire`], after [`CommMeters::place_in_job`]: the counts of the rows stay visible from outside.
    pub fn retire_in_job(self, memory: &JobInstruments) {
        let block = self.block;
        memory.note_peaks([&block.umq_length, &block.umq_bytes, &block.posted_length].map(PeakLevel::peak));
        self.retire(memory);
    }

    /// Releases the memory. The object was unbound from all registries, and nothing writes to it any more.
    pub fn retire(self, memory: &dyn InstrumentMemory) {
        mpi_t::retire(memory, self.block);
        mpi_t::retire_rows_in(&RowMemory { memory, peers: &[] }, self.peers);
        self.settings.eager_limit.leave();
        mpi_t::retire_settings(self.settings);
    }
}

impl Deref for CommMeters {
    type Target = CommInstruments;

    #[inline(always)]
    fn deref(&self) -> &CommInstruments {
        self.block
    }
}

/// The memory of rows of peers: another memory that has rows of them, else that of [`memory_of_rows`].
struct RowMemory<'a> {
    memory: &'a dyn InstrumentMemory,
    peers: &'a [u32],
}

impl InstrumentMemory for RowMemory<'_> {
    fn allocate(&self, words: usize, description: &BlockDescription<'_>) -> Option<&'static [AtomicU64]> {
        self.memory.allocate_rows(words, self.peers).or_else(|| {
            let rows = memory_of_rows(self.peers.len()).allocate(words, description)?;
            self.memory.note_rows(rows, self.peers);
            Some(rows)
        })
    }

    fn release(&self, words: &'static [AtomicU64]) -> bool {
        self.memory.release(words) || PagesOnDemand.release(words)
    }
}

/// The memory for the rows of so many peers: many rows are placed in pages that are mapped when a peer is first used.
fn memory_of_rows(peers: usize) -> &'static dyn InstrumentMemory {
    match peers * size_of::<PeerInstruments>() < PagesOnDemand::LEAST_BYTES {
        true => &HeapMemory,
        false => &PagesOnDemand,
    }
}

/// The row of messages of this size, which is below 2^63.
#[inline(always)]
pub(crate) fn size_class(rows: &'static SizeRows, bytes: u64) -> &'static SizeInstruments {
    &rows[(bytes << 1 | 1).ilog2() as usize]
}

impl CommInstruments {
    /// Counts a message that was matched with a receive, from this peer.
    #[inline(always)]
    pub(crate) fn count_received(&self, peer: &PeerInstruments, bytes: u64) {
        self.messages_received.incr();
        self.bytes_received.add(bytes);
        peer.messages_received.incr();
        peer.bytes_received.add(bytes);
    }
}

impl EngineInstruments {
    /// Records what the process does from here on, unless an outer call is more specific; `None`: nothing was recorded.
    #[inline]
    pub fn begin(&self, doing: Doing) -> Option<Doing> {
        let idle = self.state.get() == Doing::Computing as i32;
        idle.then(|| {
            self.state.set(doing as i32);
            doing
        })
    }

    /// Records the end of what [`begin`](EngineInstruments::begin) recorded.
    #[inline]
    pub fn end(&self, begun: Option<Doing>) {
        if begun.is_some() {
            self.state.set(Doing::Computing as i32);
        }
    }

    /// Records that a blocking call begins to wait, after its first polls.
    pub(crate) fn begin_wait(&self, open: &OpenWaits) -> Waited {
        let began_ns = clock::now_ns();
        open.begin(began_ns);
        Waited { doing: self.begin(Doing::Waiting), began_ns }
    }

    /// Records that the wait is over; for the holder of the process lock.
    pub(crate) fn end_wait(&self, waited: Waited, open: &OpenWaits) {
        self.waits.incr();
        self.time_waited.add_ns(clock::now_ns().saturating_sub(waited.began_ns));
        open.end(waited.began_ns);
        self.end(waited.doing);
    }
}

/// A wait under way.
pub(crate) struct Waited {
    doing: Option<Doing>,
    began_ns: u64,
}
