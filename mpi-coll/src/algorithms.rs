//! Variables of the algorithms that collective calls choose (MPI-5.0, 15.3.7); updated while a handle exists.
//!
//! Invariant: a variable shows the algorithm of the call's plan, which the call then follows.
//! Not here: the choice (`plan`), events (`call_scope`).

use mpi_t::{EnumDef, WatchedCounter, WatchedState};

use crate::coll_op::{CollOp, for_each_operation};
use crate::plan::{Algorithm, Plan};

macro_rules! variables {
    ($($op:ident $number:literal $word:ident { $calls:ident $icalls:ident $starts:ident $time:ident }
        [$function:literal $ifunction:literal $init:literal] { $($bytes:ident $what:literal $more:literal)? },)+) => {
        mpi_t::instruments! {
            /// The last algorithm of each collective operation.
            pub struct LastAlgorithms: NoObject, verbosity: TunerDetail {
                $(
                    #[doc = concat!(
                        " Algorithm of the last call of ", $function,
                        " that began while a handle of this variable existed; none before that call."
                    )]
                    pub $word: WatchedState =
                        { name: concat!("coll_", stringify!($word), "_algorithm"), class: State, type: i32, unit: "",
                          category: "coll.algorithms", states: &ALGORITHMS },
                )+
            }
        }

        mpi_t::instruments! {
            /// Calls of each collective operation with one algorithm.
            pub struct AlgorithmCalls: NoObject, verbosity: TunerDetail {
                $(
                    #[doc = concat!(
                        " Number of calls of ", $function, " by algorithm: element n counts the calls with algorithm n of",
                        " the enumeration of coll_", stringify!($word), "_algorithm. Only calls that begin while a handle of",
                        " this variable exists are counted."
                    )]
                    pub $word: WatchedCounter =
                        { name: concat!("coll_", stringify!($word), "_algorithm_calls"), class: Counter, type: u64,
                          unit: "calls", category: "coll.algorithms" },
                )+
            }
        }

        impl Chosen {
            /// The last algorithm of an operation, and for each algorithm the count of calls.
            #[inline(always)] // the operation is a constant in every caller
            fn of(self, which: CollOp) -> (&'static WatchedState, [&'static WatchedCounter; Algorithm::COUNT]) {
                match which {
                    $(CollOp::$op => (&self.last.$word, self.calls.each_ref().map(|row| &row.$word)),)+
                }
            }
        }
    };
}

for_each_operation!(variables);

/// The algorithm of a collective call; events have the same numbers.
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
        (Algorithm::Ring as i32, "around a ring"),
        (Algorithm::Shared as i32, "shared memory"),
        (Algorithm::Hosts as i32, "between hosts by one process of each"),
        (Algorithm::Groups as i32, "between two groups"),
    ],
};
const NONE: i32 = -1;

/// The variables of all operations.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Chosen {
    pub last: &'static LastAlgorithms,
    /// By algorithm.
    pub calls: &'static [AlgorithmCalls; Algorithm::COUNT],
}

impl Chosen {
    /// No algorithm chosen yet. On the heap, not in the job memory: another process would mistake unused counters for
    /// calls that did not happen.
    pub fn new() -> Chosen {
        let calls = mpi_t::place_rows(Algorithm::COUNT).try_into().expect("as many rows as algorithms");
        let chosen = Chosen { last: LastAlgorithms::detached(), calls };
        CollOp::ALL.into_iter().for_each(|which| chosen.of(which).0.set(NONE));
        chosen
    }

    /// Whether a variable of this operation has a handle.
    #[inline(always)]
    pub fn is_watched(self, which: CollOp) -> bool {
        let (last, calls) = self.of(which);
        // A handle of counts is one for all algorithms.
        last.is_watched() | calls[0].is_watched()
    }

    /// Records the plan of a call of this operation on so many bytes, as counted. The caller holds the process lock.
    #[cold]
    #[inline(never)]
    pub fn record(self, which: CollOp, bytes: u64, plan: Plan) {
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
