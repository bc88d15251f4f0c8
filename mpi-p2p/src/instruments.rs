//! The performance variables of the engine (MPI-4.1, 15.3.7). Each is a field that the engine itself maintains.
//!
//! Invariant: a communicator's instruments count the program's own messages; those that collectives send inside the
//! library are counted by the engine's instruments only.

use std::ops::Deref;
use std::time::Instant;

use mpi_errors::Result;
use mpi_fabric::PagesOnDemand;
use mpi_t::Verbosity::{DeveloperBasic, TunerBasic, TunerDetail, UserBasic, UserDetail};
use mpi_t::{
    Aggregate, Counter, EnumDef, HeapMemory, InstrumentMemory, Level, PeakLevel, Percentage, Registry, State, Timer,
    WatchedTimer,
};

use crate::cvars::CommSettings;

mpi_t::instruments! {
    /// The queues and messages of one communicator.
    pub struct CommInstruments: Comm {
        /// Messages that this process has found to have arrived and that wait for a receive to be posted. It looks for
        /// messages in calls that make progress, MPI_Iprobe for example, and takes some at each look; those before
        /// lie in the rings, where their senders' fabric_ring_used counts them.
        pub umq_length: PeakLevel =
            { name: "MPI_T_UMQ_LENGTH", class: Level, type: u32, unit: "messages", category: "p2p.unexpected" }
            { name: "MPI_T_UMQ_LENGTH", class: HighWatermark, type: u32, unit: "messages",
              category: "p2p.unexpected",
              doc: "Most messages that waited at once for a receive to be posted, as MPI_T_UMQ_LENGTH counts them: from \
                    when this process found them." },
        /// Bytes of data held for the messages of MPI_T_UMQ_LENGTH: this process has found them, and they wait for a
        /// receive to be posted. Offered messages, whose data is still with the sender, hold none.
        pub umq_bytes: PeakLevel =
            { name: "p2p_unexpected_bytes", class: Level, type: u64, unit: "bytes", category: "p2p.unexpected",
              verbosity: UserDetail }
            { name: "p2p_unexpected_bytes", class: HighWatermark, type: u64, unit: "bytes",
              category: "p2p.unexpected",
              doc: "Most bytes of data held at once for messages that this process had found and that waited for a \
                    receive to be posted.",
              verbosity: UserDetail },
        /// Messages that this process found before a receive was posted for them, whether or not they still wait. It
        /// looks for messages in calls that make progress, so those in the rings are not among them yet.
        pub unexpected: Counter =
            { name: "p2p_unexpected_messages", class: Counter, type: u64, unit: "messages",
              category: "p2p.unexpected" },
        /// Time between when this process found unexpected messages, in a call that makes progress, and their receives,
        /// summed up when each is received; time in the rings is not in it. Taken of messages that are found while a
        /// handle of this variable exists.
        pub time_unexpected: WatchedTimer =
            { name: "p2p_time_unexpected", class: Timer, type: f64, unit: "seconds", category: "p2p.unexpected",
              verbosity: UserDetail },
        /// Steps to match messages with receives. In a queue of up to p2p_match_list_limit items a step is an item
        /// looked at; in a longer one, a look for the very source and tag, and one for each kind of wildcard in use,
        /// however long it is. None while nothing is queued. Probes do not count.
        pub search_steps: Counter =
            { name: "p2p_search_steps", class: Counter, type: u64, unit: "steps", category: "p2p.matching",
              verbosity: TunerDetail },
        /// Receives that are posted and wait for their message. A blocking receive whose message is there at its first
        /// look is not among them.
        pub posted_length: PeakLevel =
            { name: "p2p_posted_length", class: Level, type: u32, unit: "receives", category: "p2p.posted",
              verbosity: UserDetail }
            { name: "p2p_posted_length", class: HighWatermark, type: u32, unit: "receives", category: "p2p.posted",
              doc: "Most receives that were posted at once, waiting for their message.", verbosity: UserDetail },
        /// Messages whose send has been started, whether or not it is complete; none to MPI_PROC_NULL.
        pub messages_sent: Counter =
            { name: "p2p_messages_sent", class: Counter, type: u64, unit: "messages", category: "p2p.traffic" },
        /// Messages that have been matched with a receive.
        pub messages_received: Counter =
            { name: "p2p_messages_received", class: Counter, type: u64, unit: "messages", category: "p2p.traffic" },
        /// Bytes of data in the messages whose send has been started.
        pub bytes_sent: Aggregate =
            { name: "p2p_bytes_sent", class: Aggregate, type: u64, unit: "bytes", category: "p2p.traffic" },
        /// Bytes of data in the messages that have been matched with a receive, as sent: a truncated message counts
        /// whole.
        pub bytes_received: Aggregate =
            { name: "p2p_bytes_received", class: Aggregate, type: u64, unit: "bytes", category: "p2p.traffic" },
    }
}

mpi_t::instruments! {
    /// The messages between this process and one other of a communicator: one element for each rank.
    pub struct PeerInstruments: Comm, verbosity: UserDetail {
        /// Messages to each rank whose send has been started.
        pub messages_sent: Counter =
            { name: "p2p_peer_messages_sent", class: Counter, type: u64, unit: "messages", category: "p2p.peers" },
        /// Bytes of data in the messages to each rank.
        pub bytes_sent: Aggregate =
            { name: "p2p_peer_bytes_sent", class: Aggregate, type: u64, unit: "bytes", category: "p2p.peers" },
        /// Messages from each rank that have been matched with a receive.
        pub messages_received: Counter =
            { name: "p2p_peer_messages_received", class: Counter, type: u64, unit: "messages",
              category: "p2p.peers" },
        /// Bytes of data in the messages from each rank, as sent.
        pub bytes_received: Aggregate =
            { name: "p2p_peer_bytes_received", class: Aggregate, type: u64, unit: "bytes", category: "p2p.peers" },
    }
}

mpi_t::instruments! {
    /// Messages of one class of sizes.
    pub struct SizeInstruments: NoObject, verbosity: UserDetail {
        /// Messages by size whose send has been started, collectives' own included: element 0 counts empty ones,
        /// element n those of 2^(n-1) to 2^n - 1 bytes.
        pub sent: Counter =
            { name: "p2p_sizes_sent", class: Counter, type: u64, unit: "messages", category: "p2p.traffic" },
    }
}

/// Number of classes of sizes: one for each that a message can have.
pub(crate) const SIZE_CLASSES: usize = 64;

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
        /// what the last one to change it does.
        pub state: State =
            { name: "process_state", class: State, type: i32, unit: "", category: "process", states: &STATES,
              verbosity: UserBasic },
        /// Requests that exist: their operation is under way, or complete and not yet taken by a wait or test. A send that was over when
        /// it started, as short ones are, is not among them.
        pub requests: PeakLevel =
            { name: "p2p_requests", class: Level, type: u64, unit: "requests", category: "p2p.requests",
              verbosity: UserDetail }
            { name: "p2p_requests", class: HighWatermark, type: u64, unit: "requests", category: "p2p.requests",
              doc: "Most requests that existed at once, without sends that were over when they started.",
              verbosity: UserDetail },
        /// Tests of requests, MPI_Request_get_status among them, that found nothing complete.
        pub failed_tests: Counter =
            { name: "p2p_failed_tests", class: Counter, type: u64, unit: "tests", category: "p2p.requests",
              verbosity: UserDetail },
        /// Looks at the queues of this process for what others have sent.
        pub polls: Counter =
            { name: "p2p_polls", class: Counter, type: u64, unit: "polls", category: "p2p.waiting" },
        /// Long messages that both sides can copy at once from now on before one has to be copied by its receiver
        /// alone.
        pub slots_free: Level =
            { name: "p2p_transfer_slots_free", class: Level, type: u32, unit: "slots", category: "p2p.protocol",
              verbosity: DeveloperBasic }
            { name: "p2p_transfer_slots_free", class: LowWatermark, type: u32, unit: "slots",
              category: "p2p.protocol", doc: "Fewest transfer slots that were free.", verbosity: DeveloperBasic },
        /// Part of this process's transfer slots that are in use. A slot is a cell of shared memory through which both
        /// sides of a long message share out its copying.
        pub slots_used: Percentage =
            { name: "p2p_transfer_slots_used", class: Percentage, type: f64, unit: "part of 1",
              category: "p2p.protocol", verbosity: DeveloperBasic },
        /// Messages that a matched probe has taken and that are not received yet.
        pub messages_held: PeakLevel =
            { name: "p2p_messages_held", class: Level, type: u64, unit: "messages", category: "p2p.unexpected",
              verbosity: UserDetail }
            { name: "p2p_messages_held", class: HighWatermark, type: u64, unit: "messages",
              category: "p2p.unexpected", doc: "Most messages that matched probes had taken and that were not received yet.",
              verbosity: UserDetail },
        /// Messages received whole, without having been offered first.
        pub eager_received: Counter =
            { name: "p2p_eager_received", class: Counter, type: u64, unit: "messages", category: "p2p.protocol",
              verbosity: TunerBasic },
        /// Bytes of data in the messages sent whole.
        pub eager_bytes_sent: Aggregate =
            { name: "p2p_eager_bytes_sent", class: Aggregate, type: u64, unit: "bytes", category: "p2p.protocol" },
        /// Messages received that were offered first.
        pub rendezvous_received: Counter =
            { name: "p2p_rendezvous_received", class: Counter, type: u64, unit: "messages",
              category: "p2p.protocol", verbosity: TunerBasic },
        /// Bytes of data in the messages offered first by this process.
        pub rendezvous_bytes_sent: Aggregate =
            { name: "p2p_rendezvous_bytes_sent", class: Aggregate, type: u64, unit: "bytes",
              category: "p2p.protocol" },
        /// Bytes this process copied straight from a sender's memory.
        pub bytes_copied: Aggregate =
            { name: "p2p_bytes_copied", class: Aggregate, type: u64, unit: "bytes", category: "p2p.protocol" },
        /// Bytes this process copied straight into a receiver's memory, helping it.
        pub bytes_helped: Aggregate =
            { name: "p2p_bytes_helped", class: Aggregate, type: u64, unit: "bytes", category: "p2p.protocol" },
        /// Bytes of offered messages that came through the queues in fragments.
        pub bytes_in_fragments: Aggregate =
            { name: "p2p_bytes_in_fragments", class: Aggregate, type: u64, unit: "bytes", category: "p2p.protocol" },
        /// Messages sent whole, without asking the receiver first.
        pub eager_sent: Counter =
            { name: "p2p_eager_sent", class: Counter, type: u64, unit: "messages", category: "p2p.protocol",
              verbosity: TunerBasic },
        /// Messages offered to the receiver first, because they are longer than the eager limit.
        pub rendezvous_sent: Counter =
            { name: "p2p_rendezvous_sent", class: Counter, type: u64, unit: "messages", category: "p2p.protocol",
              verbosity: TunerBasic },
        /// Time that blocking calls spent waiting. A wait counts from when it has lasted for its first polls, at most
        /// 128 and about a microsecond; what ends sooner is not waiting.
        pub time_waited: Timer =
            { name: "p2p_time_waited", class: Timer, type: f64, unit: "seconds", category: "p2p.waiting",
              verbosity: UserBasic },
        /// Waits of blocking calls that lasted long enough to be timed.
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

    /// The same on the heap, invisible from outside.
    pub fn detached(size: u32) -> CommMeters {
        CommMeters::place(&HeapMemory, "", size)
    }

    /// From here on, tools can bind to the communicator with this handle word. Errors: as [`Registry::declare`].
    pub fn bind(self, registry: &Registry, object: usize) -> Result<()> {
        registry.bind_settings(object, self.settings);
        registry.bind(object, self.block);
        registry.bind_rows(object, self.peers)
    }

    /// From here on, handles for the communicator with this handle word lead to nothing.
    pub fn unbind(self, registry: &Registry, object: usize) {
        registry.unbind_settings::<CommSettings>(object);
        registry.unbind(object, self.block);
    }

    /// Gives the memory back. The object was unbound from all registries, and nothing writes to it any more.
    pub fn retire(self, memory: &dyn InstrumentMemory) {
        mpi_t::retire(memory, self.block);
        mpi_t::retire_rows_in(memory_of_rows(self.peers.len()), self.peers);
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

/// Where the rows of so many peers go: long ones into pages that are made when a peer is first used.
fn memory_of_rows(peers: usize) -> &'static dyn InstrumentMemory {
    match peers * size_of::<PeerInstruments>() < PagesOnDemand::LEAST_BYTES {
        true => &HeapMemory,
        false => &PagesOnDemand,
    }
}

/// The row of messages of this size, which is below 2^63.
#[inline(always)]
pub(crate) fn size_class(rows: &'static [SizeInstruments; SIZE_CLASSES], bytes: u64) -> &'static SizeInstruments {
    &rows[(bytes << 1 | 1).ilog2() as usize]
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

    /// Records that a blocking call has begun to wait in earnest.
    pub(crate) fn begin_wait(&self) -> Waited {
        Waited { doing: self.begin(Doing::Waiting), began: Instant::now() }
    }

    /// Records that the wait is over; for the holder of the process lock.
    pub(crate) fn end_wait(&self, waited: Waited) {
        self.waits.incr();
        self.time_waited.add_ns(waited.began.elapsed().as_nanos() as u64);
        self.end(waited.doing);
    }
}

/// A wait under way.
pub(crate) struct Waited {
    doing: Option<Doing>,
    began: Instant,
}
