//! Control variables of one-sided communication.

mpi_t::cvars! {
    /// The transport of one-sided operations.
    pub struct WinSettings, verbosity: TunerAll {
        /// Whether puts and gets copy to and from the target's memory at once where the kernel allows it; otherwise
        /// they go as messages, which the target carries out when it makes progress. In force with the next operation.
        pub direct: bool = true => { name: "win_direct", unit: "", category: "win", scope: Local },
        /// Whether the memory of MPI_Win_allocate is such that all processes of the window can map it, so that
        /// operations need neither the kernel nor their target. In force with the next window; one process that is set
        /// to no, or cannot map memory, decides for all of the window, and MPI_Win_allocate_shared then fails.
        pub shared: bool = true => { name: "win_shared", unit: "", category: "win", scope: Local },
    }
}
