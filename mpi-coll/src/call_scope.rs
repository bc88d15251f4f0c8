//! One collective call from begin to end: its state, time and events.
//!
//! Invariant: the call's state and time end when the value is dropped, however the call returns. The guard of the
//! call is dropped first, so that the value may take the lock.
//! Not here: counting calls and bytes (`instruments`), choosing algorithms (`plan`).

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use mpi_comm::Comm;
use mpi_core::Guard;
use mpi_p2p::{CommInstruments, Doing, Engine};
use mpi_t::{SourceDef, TError, TResult};

use crate::Collectives;
use crate::algorithms::Chosen;
use crate::coll_op::{CollOp, Form};
use crate::instruments::CollInstruments;
use crate::plan::Plan;

static SOURCE: SourceDef = SourceDef {
    name: "collectives",
    description: "Collective calls of this process: coll_begin is raised under the process lock, coll_end with none held.",
};

mpi_t::events! {
    /// Events of the collective calls of a communicator. Operations are 0 barrier, 1 bcast, 2 reduce, 3 allreduce, 4
    /// gather, 5 scatter, 6 allgather, 7 alltoall, 8 gatherv, 9 scatterv, 10 allgatherv, 11 alltoallv, 12 alltoallw, 13
    /// reduce_scatter, 14 reduce_scatter_block, 15 scan, 16 exscan, and of neighbours 17 allgather, 18 allgatherv, 19
    /// alltoall, 20 alltoallv, 21 alltoallw; algorithms 0 alone, 1 two processes directly, 2 through one process,
    /// 3 tree, 4 split among all, 5 all with all, 6 around a ring, 7
    /// shared memory.
    pub struct CollEvents: Comm, from: SOURCE {
        /// A collective call began, or an operation that does not block was started: its operation and algorithm by
        /// number, and the bytes by which the algorithm was chosen.
        pub begun(operation: i32, algorithm: i32, bytes: u64) =
            { name: "coll_begin", category: "coll.events", at: MpiRestricted },
        /// A collective call ended, or an operation that does not block is complete: its operation and algorithm by
        /// number, and its duration in nanoseconds.
        pub ended(operation: i32, algorithm: i32, nanoseconds: u64) =
            { name: "coll_end", category: "coll.events", at: None },
    }
}

/// The number of calls under way.
#[derive(Debug, Default)]
pub(crate) struct UnderWay(AtomicU32);

impl UnderWay {
    /// One more; without `multiple`, calls come one at a time and a plain store suffices.
    #[inline]
    fn more(&self, multiple: bool) {
        self.add(1, multiple);
    }

    #[inline]
    fn less(&self, multiple: bool) {
        self.add(u32::MAX, multiple);
    }

    #[inline]
    fn add(&self, change: u32, multiple: bool) {
        match multiple {
            true => {
                self.0.fetch_add(change, Relaxed);
            }
            false => self.0.store(self.0.load(Relaxed).wrapping_add(change), Relaxed),
        }
    }

    /// Refuses to set a variable while a call is under way: its process would otherwise continue differently from
    /// others. Async-signal-safe.
    pub fn refuse(&self) -> TResult<()> {
        match self.0.load(Relaxed) {
            0 => Ok(()),
            _ => Err(TError::CVAR_SET_NOT_NOW.because("it cannot be set while a collective call is under way")),
        }
    }
}

/// A call under way.
pub(crate) struct CallScope<'a> {
    coll: &'a Collectives,
    comm: &'a Comm,
    doing: Option<Doing>,
    which: CollOp,
    bytes: u64,
    /// Its choices of algorithms.
    pub plan: Plan,
    /// Start time in nanoseconds; 0 when no tool needs it.
    began: u64,
}

impl<'a> CallScope<'a> {
    /// Begins the call; for the holder of the process lock.
    #[inline(always)] // the operation is a constant in every caller
    pub fn begin(coll: &'a Collectives, comm: &'a Comm, (which, bytes): (CollOp, u64)) -> CallScope<'a> {
        coll.under_way.more(coll.engine.process_lock().is_multiple());
        let plan = coll.plan(comm, which).with_bytes(which, bytes, coll.settings);
        if coll.chosen.is_watched(which) {
            coll.chosen.record(which, bytes, plan);
        }
        let began = if mpi_t::any_callback_registered() {
            record_begin(coll, comm, which, bytes, plan)
        } else if coll.instruments.timer(which).is_watched() {
            mpi_t::now_ns()
        } else {
            0
        };
        comm.instruments().collectives.incr();
        let doing = coll.engine.instruments().begin(Doing::Collective);
        CallScope { coll, comm, doing, which, bytes, plan, began }
    }

    #[cold]
    #[inline(never)]
    fn report_end(&self) {
        let took = mpi_t::now_ns().saturating_sub(self.began);
        let timer = self.coll.instruments.timer(self.which);
        if timer.is_watched() {
            let _guard = self.coll.engine.lock();
            timer.add_ns(took);
        }
        let algorithm = self.plan.algorithm(self.which, self.bytes) as i32;
        self.coll.events.ended.emit_for(|| (key(self.comm), (self.which as i32, algorithm, took)));
    }
}

/// The variables and events of an operation that does not block.
pub(crate) struct Calling {
    which: CollOp,
    form: Form,
    /// The bytes by which its plan chose, and those that are counted.
    bytes: (u64, u64),
    plan: Plan,
    /// The communicator's key in the registrations of tools.
    key: usize,
    instruments: &'static CollInstruments,
    /// The variables of its communicator.
    of_comm: &'static CommInstruments,
    events: &'static CollEvents,
    chosen: Chosen,
    under_way: Arc<UnderWay>,
}

impl Calling {
    /// Those of an operation on `bytes` by which its plan chose, and that are counted.
    pub fn new(
        coll: &Collectives,
        comm: &Comm,
        (which, form): (CollOp, Form),
        bytes: (u64, u64),
        plan: Plan,
    ) -> Calling {
        let Collectives { instruments, events, chosen, under_way, .. } = coll;
        let under_way = under_way.clone();
        let of_comm = comm.instruments().block;
        Calling { which, form, bytes, plan, key: key(comm), instruments, of_comm, events, chosen: *chosen, under_way }
    }

    /// Counts an operation. One that is over in the call that begins it needs neither [`Calling::begin`] nor [`Calling::end`].
    #[inline]
    pub fn count(&self) {
        let Calling { which, plan, bytes: (bytes, counted), .. } = *self;
        self.instruments.count(which, self.form, counted);
        self.of_comm.collectives.incr();
        if self.chosen.is_watched(which) {
            self.chosen.record(which, bytes, plan);
        }
    }

    /// The operation begins; for the holder of the process lock. Returns the time, or 0 when no tool needs it.
    pub fn begin(&self, engine: &Engine) -> u64 {
        let Calling { which, plan, bytes: (bytes, _), .. } = *self;
        self.count();
        self.under_way.more(engine.process_lock().is_multiple());
        if !mpi_t::any_callback_registered() {
            return 0;
        }
        let algorithm = plan.algorithm(which, bytes) as i32;
        self.events.begun.emit_for(|| (self.key, (which as i32, algorithm, bytes)));
        mpi_t::now_ns()
    }

    /// The operation has ended; releases the lock for the event.
    pub fn end(&self, engine: &Engine, guard: &mut Guard<'_>, began: u64) {
        self.under_way.less(engine.process_lock().is_multiple());
        if began == 0 {
            return;
        }
        let took = mpi_t::now_ns().saturating_sub(began);
        let algorithm = self.plan.algorithm(self.which, self.bytes.0) as i32;
        let emit = || self.events.ended.emit_for(|| (self.key, (self.which as i32, algorithm, took)));
        engine.unlocked(guard, emit);
    }
}

/// Raises the event of a call's begin and returns the time. Arguments are passed by value, so that a call without
/// listeners keeps none of them in memory.
#[cold]
#[inline(never)]
fn record_begin(coll: &Collectives, comm: &Comm, which: CollOp, bytes: u64, plan: Plan) -> u64 {
    let algorithm = plan.algorithm(which, bytes) as i32;
    coll.events.begun.emit_for(|| (key(comm), (which as i32, algorithm, bytes)));
    mpi_t::now_ns()
}

/// The key of a communicator in the registrations of tools: the address of its variables.
fn key(comm: &Comm) -> usize {
    std::ptr::from_ref(comm.instruments().block) as usize
}

impl Drop for CallScope<'_> {
    #[inline]
    fn drop(&mut self) {
        self.coll.under_way.less(self.coll.engine.process_lock().is_multiple());
        self.coll.engine.instruments().end(self.doing);
        if self.began != 0 {
            self.report_end();
        }
    }
}
