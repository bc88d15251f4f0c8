//! What can be set of the collectives. All processes of a job must be given the same values.

use mpi_t::EnumDef;

/// How messages of a collective travel.
pub(crate) const SHAPES: EnumDef = EnumDef { name: "coll_shape", items: &[(0, "auto"), (1, "flat"), (2, "tree")] };

mpi_t::cvars! {
    /// How collectives pick their algorithms.
    pub struct CollSettings {
        /// How short messages of a collective travel: through one process (flat), in log2(n) steps (tree), or flat
        /// where processes must share cores and tree elsewhere (auto). In force with the next call; set it alike in
        /// all processes of the job, while no collective is under way.
        pub shape: i32 = 0 =>
            { name: "coll_shape", unit: "", category: "coll", scope: AllEq, states: &SHAPES },
        /// Reductions of at least this many bytes are split among the processes, each combining one part. In force
        /// with the next call; set it alike in all processes of the job, while no collective is under way.
        pub split_limit: u64 = 16384 =>
            { name: "coll_split_limit", unit: "bytes", category: "coll", scope: AllEq },
    }
}
