//! The control variables of the engine (MPI-4.1, 15.3.6); a change takes effect with the next send or wait.

use mpi_fabric::RecordHead;

use crate::limits::{AS_PROCESS, CommLimit, ProcessLimit};
use crate::wire;
use mpi_t::EnumDef;
use mpi_t::Verbosity::TunerAll;

/// Which processes make single copies.
static COPIERS: EnumDef = EnumDef {
    name: "p2p_single_copy_by",
    items: &[(BY_AUTO, "auto"), (BY_RECEIVER, "receiver"), (BY_SENDER, "sender"), (BY_BOTH, "both")],
};
pub(crate) const BY_AUTO: i32 = 0;
pub(crate) const BY_RECEIVER: i32 = 1;
pub(crate) const BY_SENDER: i32 = 2;
pub(crate) const BY_BOTH: i32 = 3;

/// The value of `p2p_pipelined_limit` with which the limits are those of the calibration.
pub const AUTOMATIC: i32 = -1;

mpi_t::cvars! {
    /// How the engine of one process sends and waits.
    pub struct EngineSettings, verbosity: TunerBasic {
        /// Longest message in bytes that is sent whole (the eager protocol), as one record or in segments. Longer
        /// messages are offered to the receiver first (the rendezvous protocol). A limit above the longest message that
        /// fits into the ring or, in segments, into the copy buffer counts as that length. Applies from the next send
        /// on to all communicators without a limit of their own (p2p_comm_eager_limit).
        pub eager_limit: ProcessLimit = 16384 => {
            name: "p2p_eager_limit", unit: "bytes", category: "p2p.protocol", scope: Local },
        /// Smallest mean length in bytes of the pieces of a datatype with gaps, from which this process copies its long
        /// messages directly between the pieces and the memory of the other process. Messages of types with shorter
        /// pieces, and those whose other side has many pieces too, are packed into fragments. Over a network only a receiver copies so, and
        /// 64 KiB is the least. Takes effect with the next message.
        pub copy_runs_from: u64 = 16384 => {
            name: "p2p_copy_runs_from", unit: "bytes", category: "p2p.protocol", scope: Local,
            range: 1..=1 << 30, verbosity: TunerAll },
        /// Smallest message in bytes above the eager limit that the receiver copies from its own mapping, if the data is in one
        /// piece and lies in memory that both processes can map: that of MPI_Alloc_mem (memory_share_alloc_mem), and that of a
        /// window, by MPI_Win_allocate_shared or MPI_Win_allocate; to a receiver that is near (fabric_ring_distance is below 50,
        /// with processors of Intel 80, and not 0, or fabric_copy_stores is cached), except one such message in 32, which measures the distance again; and
        /// messages above p2p_calibration_limit_far to all receivers. If the receiver has not mapped the memory, or receives
        /// into many short pieces, the message goes in fragments. Takes effect with the next send.
        pub copy_shared_from: u64 = 64 << 10 => {
            name: "p2p_copy_shared_from", unit: "bytes", category: "p2p.protocol", scope: Local, verbosity: TunerAll },
        /// Which process makes the single copy of a message that this process receives by the kernel's copies from another one of
        /// its host: receiver: this one; sender: the other one; both: each copies chunks that the other one has not begun, of
        /// 16 KiB at least, until none is left; auto: both from p2p_both_copy_from on, and the receiver of shorter ones. The receiver
        /// alone copies while its transfer slots are all in use (p2p_transfer_slots_free), and from itself. A sender that
        /// cannot copy (fabric_single_copy) sends fragments where it was to copy alone. Where memory has gaps that only
        /// one process can copy (p2p_copy_runs_from), that one copies; partitions are copied by their sender. Which
        /// messages go in fragments is not changed (p2p_pipelined_limit, fabric_single_copy). Takes effect with the next
        /// message.
        pub single_copy_by: i32 = BY_AUTO => {
            name: "p2p_single_copy_by", unit: "", category: "p2p.protocol", scope: Local, states: &COPIERS,
            verbosity: TunerAll },
        /// Smallest message in bytes in one piece that both processes copy by the kernel where p2p_single_copy_by is auto. -1: as
        /// receivers measure it, each class of lengths from 16 KiB to 128 KiB by its first 16 messages that come one at a time,
        /// half of them in each way; one process measures a class for its host, in no more messages than take 2 ms. Until then
        /// 32 KiB (p2p_calibration_both_from). Takes effect with the next message.
        pub both_copy_from: i32 = AUTOMATIC => {
            name: "p2p_both_copy_from", unit: "bytes", category: "p2p.protocol", scope: Local,
            range: -1..=i32::MAX as i128, verbosity: TunerAll },
        /// Longest message in bytes of a blocking send, and of a started one for whose end a call waits, that goes in
        /// fragments, which both processes copy at the same time, where the kernel could copy it too: between processes of one
        /// thread. -1: as one process of the host measures it at its first such send of 64 KiB or more
        /// (p2p_calibration_limit_near, p2p_calibration_limit_far), and of started sends to a far receiver at most 512 KiB.
        /// 0: the kernel copies all of them. 2147483647: all go in fragments, longer ones too. Takes effect with the next send.
        pub pipelined_limit: i32 = AUTOMATIC => {
            name: "p2p_pipelined_limit", unit: "bytes", category: "p2p.protocol", scope: Local,
            range: -1..=i32::MAX as i128, verbosity: TunerAll },
        /// Most bytes of an offered message that go with the offer, through the sender's copy buffer, so that a receive
        /// that waits takes them at once: of a blocking send that goes in fragments the first ones, of another send the
        /// whole message or nothing. Data that no receive waits for is sent again later. 0: none go ahead. Processes of
        /// several threads send none. Takes effect with the next send.
        pub ahead_limit: u64 = 64 << 10 => {
            name: "p2p_ahead_limit", unit: "bytes", category: "p2p.protocol", scope: Local, verbosity: TunerAll },
        /// Longest message in bytes that is sent whole although it is longer than eager ones, if it lies in one piece and there are
        /// cells for all of it: shared memory that passes between two processes with their messages, so that there is
        /// enough for messages that are answered, and soon none for others. 0: none. Communicators with an eager limit of
        /// less than 16384 bytes and processes of several threads send none. Takes effect with the next send.
        pub cell_limit: u64 = 256 << 10 => {
            name: "p2p_cell_limit", unit: "bytes", category: "p2p.protocol", scope: Local, verbosity: TunerAll },
        /// Most items that a search of unexpected messages or of posted receives may look at one by one: after a longer
        /// search the queue is hashed until it is empty. 0: all are hashed. Each communicator has its own queues, and
        /// separate ones for its collective operations. Takes effect with the next search; 0 when an item is added.
        pub match_list_limit: u32 = 16 => {
            name: "p2p_match_list_limit", unit: "items", category: "p2p.matching", scope: Local, range: 0..=4096,
            verbosity: TunerAll },
        /// Number of polls of a waiting call before it yields its core or sleeps, rounded up to a multiple of 32. A
        /// call polls less while recent waits had to sleep, except one wait in 16. Initially positive if the job has a
        /// core for every process, else 0. Takes effect with the next wait.
        pub wait_spins: u32 = 0 => {
            name: "p2p_wait_spins", unit: "polls", category: "p2p.waiting", scope: Local, range: 0..=1 << 30 },
        /// Number of times that a waiting call yields its core, polling after each, before it sleeps. Takes effect with
        /// the next wait.
        pub wait_yields: u32 = 0 => {
            name: "p2p_wait_yields", unit: "yields", category: "p2p.waiting", scope: Local, range: 0..=1 << 30 },
        /// Whether a long wait ends in sleep until the next message arrives; otherwise it yields repeatedly. Takes
        /// effect with the next wait.
        pub wait_sleep: bool = true => {
            name: "p2p_wait_sleep", unit: "", category: "p2p.waiting", scope: Local },
    }
}

mpi_t::cvars! {
    /// How one communicator sends.
    pub struct CommSettings: Comm, verbosity: TunerDetail {
        /// Longest message in bytes that is sent whole on this communicator, messages of its collective operations
        /// included; -1: p2p_eager_limit applies. Takes effect with the next send. Initially -1, also in a duplicate,
        /// or the value of a settings file, the environment or mpiexec --cvar.
        pub eager_limit: CommLimit = AS_PROCESS => {
            name: "p2p_comm_eager_limit", unit: "bytes", category: "p2p.protocol", scope: Local },
    }
}

impl EngineSettings {
    /// How many of the `bytes` bytes of an offered message go with the offer.
    pub(crate) fn ahead_of(&self, head: &RecordHead, bytes: usize) -> usize {
        let most = self.ahead_limit.get() as usize;
        match head.flags & wire::PIPELINED != 0 {
            true => bytes.min(most),
            false if bytes <= most => bytes,
            false => 0,
        }
    }

    /// Most items that a search of a list may look at.
    #[inline(always)]
    pub(crate) fn list_limit(&self) -> usize {
        self.match_list_limit.get() as usize
    }
}
