//! What can be set of the engine (MPI-4.1, 15.3.6); a change holds from the next send or wait on.

mpi_t::cvars! {
    /// How the engine of one process sends and waits.
    pub struct EngineSettings {
        /// Longest message in bytes that is sent whole, without asking the receiver first. Longer messages are offered
        /// and copied once. A limit above what one record of the fabric can carry counts as that.
        pub eager_limit: u64 = 16384 => {
            name: "p2p_eager_limit", unit: "bytes", category: "p2p.protocol", scope: Local, range: 0..=1 << 30 },
        /// How often a waiting call polls before it first yields its core. Initially many times with a core for every
        /// process of the job, else none.
        pub wait_spins: u32 = 0 => {
            name: "p2p_wait_spins", unit: "polls", category: "p2p.waiting", scope: Local, range: 0..=1 << 30 },
        /// How often a waiting call yields its core, polling after each, before it sleeps.
        pub wait_yields: u32 = 0 => {
            name: "p2p_wait_yields", unit: "yields", category: "p2p.waiting", scope: Local, range: 0..=1 << 30 },
        /// Whether a long wait ends in sleep, to be woken by the next message; otherwise it yields for ever.
        pub wait_sleep: bool = true => {
            name: "p2p_wait_sleep", unit: "", category: "p2p.waiting", scope: Local },
    }
}
