//! The control variables of the engine (MPI-4.1, 15.3.6); a change takes effect with the next send or wait.

use crate::limits::{AS_PROCESS, CommLimit, ProcessLimit};
use mpi_t::Verbosity::TunerAll;

mpi_t::cvars! {
    /// How the engine of one process sends and waits.
    pub struct EngineSettings, verbosity: TunerBasic {
        /// Longest message in bytes that is sent whole, without asking the receiver first. Longer messages are offered
        /// and copied once. A limit above what one record of the fabric can carry counts as that. Holds for all
        /// communicators that have no limit of their own (p2p_comm_eager_limit).
        pub eager_limit: ProcessLimit = 16384 => {
            name: "p2p_eager_limit", unit: "bytes", category: "p2p.protocol", scope: Local },
        /// Longest queue of unexpected messages or of posted receives that is looked through item by item; one that
        /// grows longer is hashed until it is empty. 0: all are hashed. Each communicator has its queues, and its
        /// collectives theirs. In force for each queue from when it next grows, if that makes it too long, or is empty.
        pub match_list_limit: u32 = 16 => {
            name: "p2p_match_list_limit", unit: "items", category: "p2p.matching", scope: Local, range: 0..=4096,
            verbosity: TunerAll },
        /// How often a waiting call polls at most before it yields its core or sleeps, rounded up to 32 if not 0; it
        /// polls less where that has not paid lately, but for one wait in 16. Initially many times with a core for
        /// every process of the job, else none.
        pub wait_spins: u32 = 0 => {
            name: "p2p_wait_spins", unit: "polls", category: "p2p.waiting", scope: Local, range: 0..=1 << 30 },
        /// How often a waiting call yields its core, polling after each, before it sleeps. In force with the next wait.
        pub wait_yields: u32 = 0 => {
            name: "p2p_wait_yields", unit: "yields", category: "p2p.waiting", scope: Local, range: 0..=1 << 30 },
        /// Whether a long wait ends in sleep, to be woken by the next message; otherwise it yields for ever.
        /// In force with the next wait.
        pub wait_sleep: bool = true => {
            name: "p2p_wait_sleep", unit: "", category: "p2p.waiting", scope: Local },
    }
}

mpi_t::cvars! {
    /// How one communicator sends.
    pub struct CommSettings: Comm, verbosity: TunerDetail {
        /// The eager limit of this communicator alone, its collectives' messages included: longest message that is sent
        /// whole, from the next send on; -1: p2p_eager_limit holds. Every communicator begins with -1, a duplicate
        /// too, or with the value of a settings file, the environment or mpiexec --cvar.
        pub eager_limit: CommLimit = AS_PROCESS => {
            name: "p2p_comm_eager_limit", unit: "bytes", category: "p2p.protocol", scope: Local },
    }
}

impl EngineSettings {
    /// Longest queue that is a list.
    #[inline(always)]
    pub(crate) fn list_limit(&self) -> usize {
        self.match_list_limit.get() as usize
    }
}
