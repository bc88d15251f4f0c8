//! Control variables of the collectives. All processes of a job must have the same values.
//!
//! Invariant: the choices of a call do not change; setting a variable is refused while a call is under way.
//! Not here: the choice when a variable is `auto` (`plan`).

use mpi_t::EnumDef;
use mpi_t::Verbosity::{TunerBasic, UserBasic};

/// The shape of a collective: the way of its messages.
pub(crate) static SHAPES: EnumDef =
    EnumDef { name: "coll_shape", items: &[(AUTO, "auto"), (FLAT, "flat"), (TREE, "tree")] };
pub(crate) const AUTO: i32 = 0;
pub(crate) const FLAT: i32 = 1;
pub(crate) const TREE: i32 = 2;

mpi_t::cvars! {
    /// The choice of algorithms.
    pub struct CollSettings, verbosity: TunerDetail {
        /// How short messages of a collective travel: through one process (flat), in log2(n) steps (tree), or flat
        /// where processes must share cores and tree elsewhere (auto; a broadcast is flat among few processes, too). In
        /// force with the next call; set it alike in all processes of the job. Cannot be set while a collective call of
        /// this process is under way.
        pub shape: i32 = 0 =>
            { name: "coll_shape", unit: "", category: "coll", scope: AllEq, states: &SHAPES, verbosity: TunerBasic },
        /// How the messages of MPI_Barrier travel: flat, tree, or as coll_shape is set (auto). Set it alike in all
        /// processes of the job.
        pub barrier_shape: i32 = 0 =>
            { name: "coll_barrier_shape", unit: "", category: "coll", scope: AllEq, states: &SHAPES },
        /// How the messages of MPI_Bcast travel, however long: flat, tree, or as coll_shape is set (auto). Set it
        /// alike in all processes of the job.
        pub bcast_shape: i32 = 0 =>
            { name: "coll_bcast_shape", unit: "", category: "coll", scope: AllEq, states: &SHAPES },
        /// How the messages of an MPI_Reduce below coll_split_limit travel: flat, tree, or as coll_shape is set (auto).
        /// Set it alike in all processes of the job.
        pub reduce_shape: i32 = 0 =>
            { name: "coll_reduce_shape", unit: "", category: "coll", scope: AllEq, states: &SHAPES },
        /// How the messages of an MPI_Allreduce below coll_split_limit travel: flat, tree, or as coll_shape is set
        /// (auto). Set it alike in all processes of the job.
        pub allreduce_shape: i32 = 0 =>
            { name: "coll_allreduce_shape", unit: "", category: "coll", scope: AllEq, states: &SHAPES },
        /// How the messages of an MPI_Allgather up to coll_allgather_limit travel: flat, tree, or as coll_shape is set
        /// (auto). Set it alike in all processes of the job.
        pub allgather_shape: i32 = 0 =>
            { name: "coll_allgather_shape", unit: "", category: "coll", scope: AllEq, states: &SHAPES },
        /// Longest result of MPI_Allgather, all blocks together, whose blocks are moved more than once to need fewer
        /// messages; above it every process sends to every other one. Set it alike
        /// in all processes of the job.
        pub allgather_limit: u64 = 8192 =>
            { name: "coll_allgather_limit", unit: "bytes", category: "coll", scope: AllEq },
        /// Reductions of at least this many bytes are split among the processes, each combining one part. Set it
        /// alike in all processes of the job.
        pub split_limit: u64 = 16384 =>
            { name: "coll_split_limit", unit: "bytes", category: "coll", scope: AllEq },
        /// Whether the processes of a collective call first compare what they call: operation, root, bytes, and
        /// predefined operation and type of reductions. Calls that do not match then fail in all processes with an
        /// error that names the ranks, where they would hang or give wrong data; a call takes two more messages for
        /// each process. Set it alike in all processes of the job: where it differs they wait for each other for ever.
        pub check: bool = false => {
            name: "coll_check", unit: "", category: "coll", scope: AllEq, verbosity: UserBasic },
    }
}
