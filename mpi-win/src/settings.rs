//! Control variables of one-sided communication.

use mpi_t::Verbosity::UserBasic;

mpi_t::cvars! {
    /// Settings of one-sided operations.
    pub struct WinSettings, verbosity: TunerAll {
        /// Whether puts and gets copy directly to and from the target's memory where the kernel allows it; otherwise
        /// they are sent as messages, which the target applies when it makes progress. Takes effect with the next
        /// operation.
        pub direct: bool = true => { name: "win_direct", unit: "", category: "win", scope: Local },
        /// Whether all processes of a window map the memory of MPI_Win_allocate, so that operations need neither the
        /// kernel nor their target. Takes effect with the next window; if one process has the value no or cannot map
        /// memory, none does, and MPI_Win_allocate_shared fails.
        pub shared: bool = true => { name: "win_shared", unit: "", category: "win", scope: Local },
        /// Whether a thread of the library carries out the operations of other processes on this process's memory, and grants
        /// its locks, while the program computes, where these need this process: accumulations to memory of MPI_Win_create,
        /// all operations on attached memory and over a network. It is started with the first window, and ends in
        /// MPI_Finalize. It sleeps until a message arrives, and altogether without such a window and while a thread of the
        /// program waits in the library. While it exists, every call takes the lock of the process as with
        /// MPI_THREAD_MULTIPLE, and senders wake the thread by a system call. Takes effect with the next window.
        pub progress_thread: bool = false =>
            { name: "win_progress_thread", unit: "", category: "win", scope: Local, verbosity: UserBasic },
        /// Whether all processes of a window map the memory of its locks, which they then take without its owner; otherwise
        /// the owner of the memory grants them when it makes progress, as it does where processes share no memory. Takes
        /// effect with the next window; if one process has the value no, none maps them.
        pub shared_locks: bool = true => { name: "win_shared_locks", unit: "", category: "win", scope: Local },
    }
}
