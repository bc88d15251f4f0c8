//! One collective call from begin to end: what it tells while it lasts.
//!
//! Invariant: what began ends when the value goes, whichever way the call returns. It goes after the guard of the call, so
//! that it may take the lock.
//! Not here: counting calls and bytes (`instruments`), choosing algorithms (`plan`).

use mpi_comm::Comm;
use mpi_p2p::{Doing, Engine};
use mpi_t::{SourceDef, WatchedTimer};

use crate::plan::{Algorithm, Plan};

static SOURCE: SourceDef = SourceDef {
    name: "collectives",
    description: "Collective calls of this process: coll_begin is raised under the process lock, coll_end with none held.",
};

mpi_t::events! {
    /// The collective calls of a communicator. Operations are 0 barrier, 1 bcast, 2 reduce, 3 allreduce, 4 gather,
    /// 5 scatter, 6 allgather, 7 alltoall; algorithms 0 alone, 1 two processes directly, 2 through one process, 3 tree,
    /// 4 split among all, 5 all with all.
    pub struct CollEvents: Comm, from: SOURCE {
        /// A collective call has begun: which, with which algorithm, and the bytes its instruments count.
        pub begun(operation: i32, algorithm: i32, bytes: u64) =
            { name: "coll_begin", category: "coll.events", at: MpiRestricted },
        /// A collective call has ended: which, with which algorithm, and the nanoseconds it took.
        pub ended(operation: i32, algorithm: i32, nanoseconds: u64) =
            { name: "coll_end", category: "coll.events", at: None },
    }
}

/// A collective operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum Which {
    Barrier = 0,
    Bcast = 1,
    Reduce = 2,
    Allreduce = 3,
    Gather = 4,
    Scatter = 5,
    Allgather = 6,
    Alltoall = 7,
}

/// A call under way.
pub(crate) struct Calling<'a> {
    engine: &'a Engine,
    timer: &'static WatchedTimer,
    events: &'static CollEvents,
    doing: Option<Doing>,
    key: usize,
    which: Which,
    bytes: u64,
    plan: Plan,
    /// When it began, in nanoseconds; 0 if nobody asks.
    began: u64,
}

impl<'a> Calling<'a> {
    /// The call begins; for the holder of the process lock.
    #[inline]
    pub fn begin(
        engine: &'a Engine,
        events: &'static CollEvents,
        timer: &'static WatchedTimer,
        comm: &Comm,
        (which, bytes): (Which, u64),
        plan: Plan,
    ) -> Calling<'a> {
        let key = std::ptr::from_ref(comm.instruments().block) as usize;
        events.begun.emit_for(|| (key, (which as i32, plan.algorithm(which, bytes) as i32, bytes)));
        let timed = timer.is_watched() || mpi_t::somebody_listens();
        let began = if timed { mpi_t::now_ns() } else { 0 };
        let doing = engine.instruments().begin(Doing::Collective);
        Calling { engine, timer, events, doing, key, which, bytes, plan, began }
    }

    #[cold]
    #[inline(never)]
    fn tell(&self) {
        let took = mpi_t::now_ns().saturating_sub(self.began);
        if self.timer.is_watched() {
            let _guard = self.engine.lock();
            self.timer.add_ns(took);
        }
        let algorithm: Algorithm = self.plan.algorithm(self.which, self.bytes);
        self.events.ended.emit_for(|| (self.key, (self.which as i32, algorithm as i32, took)));
    }
}

impl Drop for Calling<'_> {
    #[inline]
    fn drop(&mut self) {
        self.engine.instruments().end(self.doing);
        if self.began != 0 {
            self.tell();
        }
    }
}
