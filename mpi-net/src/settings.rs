//! The control variables of the network.
//!
//! Not here: where values come from (mpi-t).

use mpi_t::EnumDef;
use mpi_t::Text;
use mpi_t::Verbosity::{TunerAll, TunerBasic, UserAll, UserBasic};

/// Which processes of one host are connected by the network all the same.
static FORCE: EnumDef = EnumDef {
    name: "net_force",
    items: &[(net_force::OFF, "off"), (net_force::HOSTS, "hosts"), (net_force::ALL, "all")],
};

/// The states of `net_force`.
pub mod net_force {
    /// Processes that share memory use it.
    pub const OFF: i32 = 0;
    /// The ranks of a host form two groups, as if they were on two hosts.
    pub const HOSTS: i32 = 1;
    /// No two processes use shared memory.
    pub const ALL: i32 = 2;
}

mpi_t::cvars! {
    /// How processes of several hosts are connected.
    pub struct NetSettings {
        /// Connects processes that share memory by the network all the same, for tests: off: none; hosts: the ranks of a
        /// host form two groups, the first and the second half, as if they were on two hosts; all: all processes. All processes of
        /// a job need the same value. Takes effect when the job starts.
        pub force: i32 = net_force::OFF => {
            name: "net_force", unit: "", category: "net", scope: Constant, states: &FORCE, verbosity: TunerAll },
        /// The file of libfabric to load, or a name that the system searches; empty: libfabric.so.1. Takes effect when
        /// the job starts, if it needs a network.
        pub library: Text = "" => {
            name: "net_library", unit: "", category: "net", scope: Constant, verbosity: UserAll },
        /// The provider of libfabric to use, as fi_info names it, such as tcp or verbs;ofi_rxm; empty: the first one that
        /// libfabric offers for this job. All processes of a job need the same one. Takes effect when the job starts, if it
        /// needs a network.
        pub provider: Text = "" => {
            name: "net_provider", unit: "", category: "net", scope: Constant, verbosity: UserBasic },
        /// Longest message in bytes that is sent whole to a process over the network, without waiting for its receive. Longer ones are
        /// offered first. If p2p_eager_limit is below 16384 or greater than this, that is the limit, up to 65536. Takes effect with the
        /// next send.
        pub eager_limit: u64 = 65536 => {
            name: "net_eager_limit", unit: "bytes", category: "net", scope: Local, range: 0..=65536, verbosity: TunerBasic },
        /// How many seconds a host may answer nothing before its processes count as lost; then operations with them end with an
        /// error. 0: for ever. Takes effect when the job starts, if it needs a network.
        pub timeout: u32 = 30 => {
            name: "net_timeout", unit: "seconds", category: "net", scope: Constant, verbosity: UserBasic },
        /// Whether this process lets the network copy long messages directly from and to the memory of other processes,
        /// where the provider can; otherwise they travel as fragments. Takes effect with the next message.
        pub remote_access: bool = true => {
            name: "net_remote_access", unit: "", category: "net", scope: Local, verbosity: TunerAll },
        /// The library that connects this process with others, its version, the provider, and what that can do; empty: this
        /// process uses no network.
        pub in_use: Text = "" => {
            name: "net_in_use", unit: "", category: "net", scope: Readonly, verbosity: UserBasic },
        /// The first rank of each host writes net_in_use to standard error when the job starts, if it uses a network.
        /// mpiexec --verbose sets it.
        pub report: bool = false => {
            name: "net_report", unit: "", category: "net", scope: Constant, verbosity: UserBasic },
    }
}
