//! Which algorithms collective calls choose, told while somebody asks (MPI-5.0, 15.3.7).
//!
//! Invariant: told is what the plan of the call says, which the call then follows, as it begins.
//! Not here: choosing (`plan`), events (`calling`).

use mpi_t::{EnumDef, WatchedCounter, WatchedState};

use crate::coll_op::CollOp;
use crate::plan::{Algorithm, Plan};

mpi_t::instruments! {
    /// The last algorithm of each collective operation.
    pub struct LastAlgorithms: NoObject, verbosity: TunerDetail {
        /// Algorithm of the last call of MPI_Barrier that began while a handle of this variable existed; none before.
        pub barrier: WatchedState =
            { name: "coll_barrier_algorithm", class: State, type: i32, unit: "", category: "coll.algorithms",
              states: &ALGORITHMS },
        /// Algorithm of the last call of MPI_Bcast that began while a handle of this variable existed; none before.
        pub bcast: WatchedState =
            { name: "coll_bcast_algorithm", class: State, type: i32, unit: "", category: "coll.algorithms",
              states: &ALGORITHMS },
        /// Algorithm of the last call of MPI_Reduce that began while a handle of this variable existed; none before.
        pub reduce: WatchedState =
            { name: "coll_reduce_algorithm", class: State, type: i32, unit: "", category: "coll.algorithms",
              states: &ALGORITHMS },
        /// Algorithm of the last call of MPI_Allreduce that began while a handle of this variable existed; none before.
        pub allreduce: WatchedState =
            { name: "coll_allreduce_algorithm", class: State, type: i32, unit: "", category: "coll.algorithms",
              states: &ALGORITHMS },
        /// Algorithm of the last call of MPI_Gather that began while a handle of this variable existed; none before.
        pub gather: WatchedState =
            { name: "coll_gather_algorithm", class: State, type: i32, unit: "", category: "coll.algorithms",
              states: &ALGORITHMS },
        /// Algorithm of the last call of MPI_Scatter that began while a handle of this variable existed; none before.
        pub scatter: WatchedState =
            { name: "coll_scatter_algorithm", class: State, type: i32, unit: "", category: "coll.algorithms",
              states: &ALGORITHMS },
        /// Algorithm of the last call of MPI_Allgather that began while a handle of this variable existed; none before.
        pub allgather: WatchedState =
            { name: "coll_allgather_algorithm", class: State, type: i32, unit: "", category: "coll.algorithms",
              states: &ALGORITHMS },
        /// Algorithm of the last call of MPI_Alltoall that began while a handle of this variable existed; none before.
        pub alltoall: WatchedState =
            { name: "coll_alltoall_algorithm", class: State, type: i32, unit: "", category: "coll.algorithms",
              states: &ALGORITHMS },
    }
}

mpi_t::instruments! {
    /// The collective calls that go about it in one way.
    pub struct AlgorithmCalls: NoObject, verbosity: TunerDetail {
        /// Calls of MPI_Barrier by algorithm, counted of those that begin while a handle of this variable exists:
        /// element n counts those with the algorithm whose number in the enumeration of coll_barrier_algorithm is n.
        pub barrier: WatchedCounter =
            { name: "coll_barrier_algorithm_calls", class: Counter, type: u64, unit: "calls",
              category: "coll.algorithms" },
        /// Calls of MPI_Bcast by algorithm, counted of those that begin while a handle of this variable exists:
        /// element n counts those with the algorithm whose number in the enumeration of coll_bcast_algorithm is n.
        pub bcast: WatchedCounter =
            { name: "coll_bcast_algorithm_calls", class: Counter, type: u64, unit: "calls",
              category: "coll.algorithms" },
        /// Calls of MPI_Reduce by algorithm, counted of those that begin while a handle of this variable exists:
        /// element n counts those with the algorithm whose number in the enumeration of coll_reduce_algorithm is n.
        pub reduce: WatchedCounter =
            { name: "coll_reduce_algorithm_calls", class: Counter, type: u64, unit: "calls",
              category: "coll.algorithms" },
        /// Calls of MPI_Allreduce by algorithm, counted of those that begin while a handle of this variable exists:
        /// element n counts those with the algorithm whose number in the enumeration of coll_allreduce_algorithm is n.
        pub allreduce: WatchedCounter =
            { name: "coll_allreduce_algorithm_calls", class: Counter, type: u64, unit: "calls",
              category: "coll.algorithms" },
        /// Calls of MPI_Gather by algorithm, counted of those that begin while a handle of this variable exists:
        /// element n counts those with the algorithm whose number in the enumeration of coll_gather_algorithm is n.
        pub gather: WatchedCounter =
            { name: "coll_gather_algorithm_calls", class: Counter, type: u64, unit: "calls",
              category: "coll.algorithms" },
        /// Calls of MPI_Scatter by algorithm, counted of those that begin while a handle of this variable exists:
        /// element n counts those with the algorithm whose number in the enumeration of coll_scatter_algorithm is n.
        pub scatter: WatchedCounter =
            { name: "coll_scatter_algorithm_calls", class: Counter, type: u64, unit: "calls",
              category: "coll.algorithms" },
        /// Calls of MPI_Allgather by algorithm, counted of those that begin while a handle of this variable exists:
        /// element n counts those with the algorithm whose number in the enumeration of coll_allgather_algorithm is n.
        pub allgather: WatchedCounter =
            { name: "coll_allgather_algorithm_calls", class: Counter, type: u64, unit: "calls",
              category: "coll.algorithms" },
        /// Calls of MPI_Alltoall by algorithm, counted of those that begin while a handle of this variable exists:
        /// element n counts those with the algorithm whose number in the enumeration of coll_alltoall_algorithm is n.
        pub alltoall: WatchedCounter =
            { name: "coll_alltoall_algorithm_calls", class: Counter, type: u64, unit: "calls",
              category: "coll.algorithms" },
    }
}

/// Which way a collective call went; the numbers are those of the events, too.
static ALGORITHMS: EnumDef = EnumDef {
    name: "coll_algorithm",
    items: &[
        (NONE, "none"),
        (Algorithm::Alone as i32, "alone"),
        (Algorithm::Pair as i32, "two processes directly"),
        (Algorithm::Flat as i32, "through one process"),
        (Algorithm::Tree as i32, "tree"),
        (Algorithm::Split as i32, "split among all"),
        (Algorithm::Direct as i32, "all with all"),
    ],
};
const NONE: i32 = -1;

/// What calls tell of their algorithms, while somebody asks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chosen {
    pub last: &'static LastAlgorithms,
    /// By algorithm.
    pub calls: &'static [AlgorithmCalls; Algorithm::COUNT],
}

impl Chosen {
    /// Nothing chosen yet. On the heap: to who looks from outside, what nobody asked for would look as if nothing ran.
    pub fn new() -> Chosen {
        let calls = mpi_t::place_rows(Algorithm::COUNT).try_into().expect("as many as asked for");
        let chosen = Chosen { last: LastAlgorithms::detached(), calls };
        CollOp::ALL.into_iter().for_each(|which| chosen.of(which).0.set(NONE));
        chosen
    }

    /// The last algorithm of an operation, and for each algorithm the count of calls.
    #[inline(always)] // the operation is a constant in every caller
    fn of(self, which: CollOp) -> (&'static WatchedState, [&'static WatchedCounter; Algorithm::COUNT]) {
        let last = self.last;
        match which {
            CollOp::Barrier => (&last.barrier, self.calls.each_ref().map(|row| &row.barrier)),
            CollOp::Bcast => (&last.bcast, self.calls.each_ref().map(|row| &row.bcast)),
            CollOp::Reduce => (&last.reduce, self.calls.each_ref().map(|row| &row.reduce)),
            CollOp::Allreduce => (&last.allreduce, self.calls.each_ref().map(|row| &row.allreduce)),
            CollOp::Gather => (&last.gather, self.calls.each_ref().map(|row| &row.gather)),
            CollOp::Scatter => (&last.scatter, self.calls.each_ref().map(|row| &row.scatter)),
            CollOp::Allgather => (&last.allgather, self.calls.each_ref().map(|row| &row.allgather)),
            CollOp::Alltoall => (&last.alltoall, self.calls.each_ref().map(|row| &row.alltoall)),
        }
    }

    /// Whether somebody asks which algorithms calls of this operation choose.
    #[inline(always)]
    pub fn is_asked(self, which: CollOp) -> bool {
        let (last, calls) = self.of(which);
        // A handle of counts is one for all algorithms.
        last.is_watched() | calls[0].is_watched()
    }

    /// A call of this operation on so many bytes, as counted, has this plan; for the holder of the process lock.
    #[cold]
    #[inline(never)]
    pub fn tell(self, which: CollOp, bytes: u64, plan: Plan) {
        let (algorithm, (last, calls)) = (plan.algorithm(which, bytes), self.of(which));
        if last.is_watched() {
            last.set(algorithm as i32);
        }
        let calls = calls[algorithm as usize];
        if calls.is_watched() {
            calls.incr();
        }
    }
}
