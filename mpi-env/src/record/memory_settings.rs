//! The control variables of memory that programs allocate through the library (MPI-5.0, 9.2).
//!
//! Invariant: a change takes effect with the next allocation.
//! Not here: the memory (`tables::memory`).

mpi_t::cvars! {
    /// Settings of MPI_Alloc_mem.
    pub struct MemorySettings, verbosity: TunerDetail {
        /// Whether MPI_Alloc_mem takes blocks of 64 KiB and more from shared memory, if the job has other processes. A receiver on
        /// the host copies long messages from such memory itself (p2p_copy_shared_from). A child process made by fork has the
        /// blocks as they are when it reads them, not as they were; what it writes stays its own. Otherwise all blocks are
        /// private memory. Takes effect with the next call.
        pub share_alloc_mem: bool = false =>
            { name: "memory_share_alloc_mem", unit: "", category: "memory", scope: Local },
    }
}
