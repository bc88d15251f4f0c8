//! Control variables of the collectives. All processes of a job must have the same values.
//!
//! Invariant: the choices of a call do not change; setting a variable is refused while a call is under way.
//! Not here: the choice when a variable is `auto` (`plan`).

use mpi_t::EnumDef;
use mpi_t::Verbosity::{TunerBasic, UserBasic};

/// The shape of a collective: the path of its messages.
pub(crate) static SHAPES: EnumDef =
    EnumDef { name: "coll_shape", items: &[(AUTO, "auto"), (FLAT, "flat"), (TREE, "tree")] };
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
        /// Path of the messages of MPI_Bcast, of any length: flat, tree, or auto for the value of coll_shape. Takes
        /// effect with the next call. Must be equal in all processes of the job.
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
        /// Path of the messages of an MPI_Allgather up to coll_allgather_limit: flat, tree, or auto for the value of
        /// coll_shape. Takes effect with the next call. Must be equal in all processes of the job.
        pub allgather_shape: i32 = 0 =>
            { name: "coll_allgather_shape", unit: "", category: "coll", scope: AllEq, states: &SHAPES },
        /// Longest result of MPI_Allgather in bytes, all blocks together, for which blocks are moved more than once to
        /// need fewer messages; for a longer one every process sends to every other one. Takes effect with the next
        /// call. Must be equal in all processes of the job.
        pub allgather_limit: u64 = 8192 =>
            { name: "coll_allgather_limit", unit: "bytes", category: "coll", scope: AllEq },
        /// Shortest reduction in bytes that is split among the processes, each of which combines one part. Takes effect
        /// with the next call. Must be equal in all processes of the job.
        pub split_limit: u64 = 16384 =>
            { name: "coll_split_limit", unit: "bytes", category: "coll", scope: AllEq },
        /// Whether the processes of a collective call first compare its operation, root and bytes, and the predefined
        /// operation and type of reductions. Calls that do not match then fail in all processes with an error that
        /// names the ranks, instead of hanging or giving wrong data; a call needs two more messages for each process.
        /// Takes effect with the next call. Must be equal in all processes of the job; otherwise calls hang.
        pub check: bool = false => {
            name: "coll_check", unit: "", category: "coll", scope: AllEq, verbosity: UserBasic },
    }
}
