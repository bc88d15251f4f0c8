//! Control variables of the collectives. All processes of a job must have the same values.
//!
//! Invariant: the choices of a call do not change; setting a variable is refused while a call is under way.
//! Not here: the choice when a variable is `auto` (`plan`).

use mpi_t::EnumDef;
use mpi_t::Verbosity::{TunerBasic, UserBasic};

/// The shape of a collective: the path of its messages.
pub(crate) static SHAPES: EnumDef =
    EnumDef { name: "coll_shape", items: &[(AUTO, "auto"), (FLAT, "flat"), (TREE, "tree")] };
/// The shape of a collective whose messages have one path only.
pub(crate) static ROOTED_SHAPES: EnumDef =
    EnumDef { name: "coll_rooted_shape", items: &[(AUTO, "auto"), (FLAT, "flat")] };
pub(crate) const AUTO: i32 = 0;
pub(crate) const FLAT: i32 = 1;
pub(crate) const TREE: i32 = 2;

mpi_t::cvars! {
    /// The choice of algorithms.
    pub struct CollSettings, verbosity: TunerDetail {
        /// Path of short messages of a collective: flat: through one process; tree: in log2(n) steps; auto: flat where
        /// processes must share cores, else tree (a broadcast is also flat among few processes). Takes effect with the
        /// next call, and cannot be set while a collective call of this process is under way. Must be equal in all
        /// processes of the job.
        pub shape: i32 = 0 =>
            { name: "coll_shape", unit: "", category: "coll", scope: AllEq, states: &SHAPES, verbosity: TunerBasic },
        /// Path of the messages of MPI_Barrier: flat, tree, or auto for the value of coll_shape. Takes effect with the
        /// next call. Must be equal in all processes of the job.
        pub barrier_shape: i32 = 0 =>
            { name: "coll_barrier_shape", unit: "", category: "coll", scope: AllEq, states: &SHAPES },
        /// Path of the messages of an MPI_Bcast that is not split (coll_bcast_split_limit, coll_ring_from): flat, tree, or auto
        /// for the value of coll_shape. Takes effect with the next call. Must be equal in all processes of the job.
        pub bcast_shape: i32 = 0 =>
            { name: "coll_bcast_shape", unit: "", category: "coll", scope: AllEq, states: &SHAPES },
        /// Path of the messages of an MPI_Reduce below coll_split_limit: flat, tree, or auto for the value of
        /// coll_shape. Takes effect with the next call. Must be equal in all processes of the job.
        pub reduce_shape: i32 = 0 =>
            { name: "coll_reduce_shape", unit: "", category: "coll", scope: AllEq, states: &SHAPES },
        /// Path of the messages of an MPI_Allreduce below coll_split_limit: flat, tree, or auto for the value of
        /// coll_shape. Takes effect with the next call. Must be equal in all processes of the job.
        pub allreduce_shape: i32 = 0 =>
            { name: "coll_allreduce_shape", unit: "", category: "coll", scope: AllEq, states: &SHAPES },
        /// Path of the messages of an MPI_Reduce_scatter or MPI_Reduce_scatter_block below coll_split_limit: flat, tree,
        /// or auto for the value of coll_shape. Takes effect with the next call. Must be equal in all processes of the
        /// job.
        pub reduce_scatter_shape: i32 = 0 =>
            { name: "coll_reduce_scatter_shape", unit: "", category: "coll", scope: AllEq, states: &SHAPES },
        /// Path of the messages of an MPI_Allgather up to coll_allgather_limit: flat, tree, or auto for the value of
        /// coll_shape. Takes effect with the next call. Must be equal in all processes of the job.
        pub allgather_shape: i32 = 0 =>
            { name: "coll_allgather_shape", unit: "", category: "coll", scope: AllEq, states: &SHAPES },
        /// Path of the blocks of an MPI_Gather: flat: a message from each process to the root, without shared memory
        /// and not by hosts; auto: the value of coll_shape, where tree has the same messages as flat. Takes effect with
        /// the next call. Must be equal in all processes of the job.
        pub gather_shape: i32 = 0 =>
            { name: "coll_gather_shape", unit: "", category: "coll", scope: AllEq, states: &ROOTED_SHAPES },
        /// Path of the blocks of an MPI_Scatter: flat: a message from the root to each process, without shared memory
        /// and not by hosts; auto: the value of coll_shape, where tree has the same messages as flat. Takes effect with
        /// the next call. Must be equal in all processes of the job.
        pub scatter_shape: i32 = 0 =>
            { name: "coll_scatter_shape", unit: "", category: "coll", scope: AllEq, states: &ROOTED_SHAPES },
        /// Path of the blocks of an MPI_Alltoall: flat: a message from each process to every other one; tree: in log2(n)
        /// steps up to coll_alltoall_limit, for any number of processes from 3 on; both without shared memory. auto: as
        /// coll_ring_from and coll_alltoall_limit say, through shared memory only if coll_shape is auto. Takes effect
        /// with the next call. Must be equal in all processes of the job.
        pub alltoall_shape: i32 = 0 =>
            { name: "coll_alltoall_shape", unit: "", category: "coll", scope: AllEq, states: &SHAPES },
        /// Longest result of MPI_Allgather in bytes, all blocks together, for which blocks are moved more than once to
        /// need fewer messages; for a longer one every process sends to every other one. Of MPI_Allgatherv, the longest
        /// result for which blocks go through one process of each host, if there are several. Takes effect with the next
        /// call. Must be equal in all processes of the job.
        pub allgather_limit: u64 = 8192 =>
            { name: "coll_allgather_limit", unit: "bytes", category: "coll", scope: AllEq },
        /// Number of processes from which long data go around a ring instead of from each process to every other one (long
        /// reductions whose operands may be swapped, long allgathers and broadcasts), and from which MPI_Alltoall and
        /// its variants exchange with one process after the other, or in log2(n) steps (coll_alltoall_limit). Takes
        /// effect with the next call. Must be equal in all processes of the job.
        pub ring_from: u32 = 64 =>
            { name: "coll_ring_from", unit: "processes", category: "coll", scope: AllEq, range: 3..=1 << 30 },
        /// Longest block in bytes for which an MPI_Alltoall of coll_ring_from or more processes (with
        /// coll_alltoall_shape=tree of 3 or more) moves blocks more than once to need log2(n) messages for each process.
        /// Between several hosts also the longest block, if the ranks of a host have no more than 4 KiB for one process and 256 KiB for
        /// all, for which blocks go through one process of each host. Has no effect with coll_alltoall_shape=flat. Takes
        /// effect with the next call. Must be equal in all processes of the job.
        pub alltoall_limit: u64 = 256 =>
            { name: "coll_alltoall_limit", unit: "bytes", category: "coll", scope: AllEq },
        /// Shortest MPI_Bcast in bytes that coll_ring_from or more processes split into parts, which go around a ring.
        /// Takes effect with the next call. Must be equal in all processes of the job.
        pub bcast_split_limit: u64 = 1 << 20 =>
            { name: "coll_bcast_split_limit", unit: "bytes", category: "coll", scope: AllEq },
        /// Shortest reduction in bytes that is split among the processes, each of which combines one part. Takes effect
        /// with the next call. Must be equal in all processes of the job.
        pub split_limit: u64 = 16384 =>
            { name: "coll_split_limit", unit: "bytes", category: "coll", scope: AllEq },
        /// Whether a thread of the library moves collective operations that do not block on while the program computes. It
        /// is started with the first such operation, or persistent request of one, and ends in MPI_Finalize. It sleeps
        /// until a message arrives, and altogether while no such operation is under way, a thread of the program waits
        /// in the library, or an operation calls functions of the program. Where no core is free for it (fewer than two
        /// for each process of the host, or one that the process may use), no network is in use and the thread serves no
        /// window, it moves operations only of a program that has made no call for 0.25 to 2 ms. While it exists, every call takes the lock of
        /// the process as with MPI_THREAD_MULTIPLE, and senders wake the thread by a system call.
        pub progress_thread: bool = false =>
            { name: "coll_progress_thread", unit: "", category: "coll", scope: Local, verbosity: UserBasic },
        /// Whether sums of floating point numbers in reductions and scans (MPI_SUM on real and complex types but those
        /// of quadruple precision) depend on the numbers alone: on neither their order, the number of processes, nor the
        /// algorithm. The result is the sum of all contributions in 97 or more bits from the highest bit of the largest
        /// one on, rounded once: not a number if a contribution is or if both infinities are among them. What a process
        /// sums up by itself before the call is not covered. A number takes 40 bytes in messages. Takes effect with the
        /// next call. Must be equal in all processes of the job. Has no effect on communicators with processes of several
        /// jobs.
        pub reproducible_sums: bool = false =>
            { name: "coll_reproducible_sums", unit: "", category: "coll", scope: AllEq, verbosity: UserBasic },
        /// Whether collectives go through flags and slots in shared memory where all processes of a communicator share it:
        /// MPI_Barrier, MPI_Bcast, MPI_Reduce, MPI_Allreduce, MPI_Gather, MPI_Scatter, MPI_Allgather and MPI_Alltoall, in all
        /// forms, where coll_shape and the variable of their shape are auto. Otherwise they are messages. Takes effect with the next call,
        /// and cannot be set while a collective call of this process is under way. Must be equal in all processes of the
        /// job; otherwise calls hang.
        pub shared: bool = true =>
            { name: "coll_shared", unit: "", category: "coll", scope: AllEq, verbosity: TunerBasic },
        /// Most bytes that a process publishes at once in a collective through shared memory; longer data go in parts. Where
        /// processes must share cores it is 512 KiB at least, of MPI_Bcast 64 KiB at most; between two processes with a core each it
        /// is 128 KiB at most in MPI_Allreduce, MPI_Allgather and MPI_Alltoall. Takes effect with the next call, and cannot be set while a
        /// collective call of this process is under way. Must be equal in all processes of the job; otherwise calls hang.
        pub shared_chunk: u64 = 256 << 10 =>
            { name: "coll_shared_chunk", unit: "bytes", category: "coll", scope: AllEq, range: 1024..=1 << 30 },
        /// Most bytes that a process sends in an MPI_Alltoall through shared memory where processes must share cores; more go as
        /// messages. Takes effect with the next call, and cannot be set while a collective call of this process is under
        /// way. Must be equal in all processes of the job; otherwise calls hang.
        pub shared_alltoall_limit: u64 = 1 << 20 =>
            { name: "coll_shared_alltoall_limit", unit: "bytes", category: "coll", scope: AllEq },
        /// The same where each process has a core of its own: most bytes that a process sends in an MPI_Alltoall through shared
        /// memory; more go as messages. Takes effect with the next call, and cannot be set while a collective call of this
        /// process is under way. Must be equal in all processes of the job; otherwise calls hang.
        pub shared_alltoall_limit_cores: u64 = 128 << 10 =>
            { name: "coll_shared_alltoall_limit_cores", unit: "bytes", category: "coll", scope: AllEq },
        /// Longest MPI_Bcast in bytes between two processes that goes through shared memory; a longer one is a message. Takes
        /// effect with the next call, and cannot be set while a collective call of this process is under way. Must be
        /// equal in all processes of the job; otherwise calls hang.
        pub shared_bcast_limit: u64 = 256 << 10 =>
            { name: "coll_shared_bcast_limit", unit: "bytes", category: "coll", scope: AllEq },
        /// Most processes of a communicator whose collectives go through shared memory; each looks at the words of all
        /// others. At most 64. Takes effect for a communicator at its first blocking collective or persistent request. Must be equal in all
        /// processes of the job; otherwise calls hang.
        pub shared_processes: u32 = 32 =>
            { name: "coll_shared_processes", unit: "processes", category: "coll", scope: AllEq, range: 0..=64 },
        /// Whether the processes of a collective call, of any form and on any communicator, first compare its operation,
        /// root and bytes, the predefined operation and type of reductions, and each block where blocks have lengths of
        /// their own, between neighbours too. Calls that do not match then fail in all processes with an error that
        /// names the ranks, instead of hanging or giving wrong data, also where one blocks and the other does not. What is
        /// not found is a blocking call on one process that meets the start of a persistent request on another: starts may
        /// come in any order. A call needs two more messages for each process, and for such blocks one more to every other one. Takes effect
        /// with the next call, or the next persistent request. Must be equal in all processes of the job; otherwise
        /// calls hang. Has no effect on communicators with processes of several jobs.
        pub check: bool = false => {
            name: "coll_check", unit: "", category: "coll", scope: AllEq, verbosity: UserBasic },
    }
}
