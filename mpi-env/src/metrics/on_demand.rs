//! Metrics of single groups, operations and sessions, created when a handle is allocated for one (MPI-5.0, 15.3.2 and
//! 15.3.7).
//!
//! Programs create and free many of these objects, and tools observe few of them. So an object has instruments only
//! from the allocation of the first MPI_T handle for it until the object is freed, and counts nothing before.
//! Invariant: every object with metrics is in its table; the code that removes the object removes its metrics.
//! Not here: info objects (`infos`), requests and messages (mpi-p2p), objects that always have metrics (`objects`).

use std::sync::Arc;

use mpi_coll::Op;
use mpi_comm::{Comm, ContextIds, Group};
use mpi_core::abi::{MPI_COMM_SELF, MPI_COMM_WORLD, MPI_GROUP_EMPTY};
use mpi_core::{Guard, Guarded, Handle, ProcessLock, Table};
use mpi_errors::Result;
use mpi_p2p::Engine;
use mpi_t::{Aggregate, Counter, Level, OnDemand, Registry, Size, TError};

use crate::metrics::derived::{Counts, Derived};
use crate::tables::infos;
use crate::tables::session::Session;

mpi_t::instruments! {
    /// One group.
    pub struct GroupInstruments: Group, verbosity: UserAll {
        /// Number of processes of the group; constant.
        pub processes: Size =
            { name: "objects_group_processes", class: Size, type: u32, unit: "processes", category: "objects" },
        /// Number of calls that had this group as an argument, without the call that frees it.
        pub uses: Counter =
            { name: "objects_group_uses", class: Counter, type: u64, unit: "calls", category: "objects" },
    }
}

mpi_t::instruments! {
    /// One operation, predefined or the program's own.
    pub struct OpInstruments: Op, verbosity: UserAll {
        /// Number of reductions and accumulations with this operation: collective, local and one-sided ones.
        pub calls: Counter =
            { name: "coll_op_calls", class: Counter, type: u64, unit: "calls", category: "coll.ops" },
        /// Bytes of data that this process passed to the calls counted in coll_op_calls.
        pub bytes: Aggregate =
            { name: "coll_op_bytes", class: Aggregate, type: u64, unit: "bytes", category: "coll.ops" },
    }
}

mpi_t::instruments! {
    /// One session.
    pub struct SessionInstruments: Session, verbosity: UserAll {
        /// Number of calls that had this session as an argument.
        pub uses: Counter =
            { name: "objects_session_uses", class: Counter, type: u64, unit: "calls", category: "objects" },
        /// Number of groups that are derived from this session and are not freed: made from its process sets, or from
        /// objects derived from it.
        pub groups: Level =
            { name: "objects_session_groups", class: Level, type: u64, unit: "groups", category: "objects" }
            { name: "objects_session_groups", class: HighWatermark, type: u64, unit: "groups", category: "objects",
              doc: "Greatest number of groups that were derived from this session and existed at once." },
        /// Number of communicators that are derived from this session and are not freed. A program frees them before it
        /// finalizes the session.
        pub communicators: Level =
            { name: "objects_session_communicators", class: Level, type: u64, unit: "communicators",
              category: "objects" }
            { name: "objects_session_communicators", class: HighWatermark, type: u64, unit: "communicators",
              category: "objects",
                doc: "Greatest number of communicators that were derived from this session and existed at once." },
        /// Number of windows over communicators that are derived from this session, not freed.
        pub windows: Level =
            { name: "objects_session_windows", class: Level, type: u64, unit: "windows", category: "objects" },
        /// Number of files opened with communicators that are derived from this session, not closed.
        pub files: Level =
            { name: "objects_session_files", class: Level, type: u64, unit: "files", category: "objects" },
    }
}

impl SessionInstruments {
    /// Sets the levels of the session's objects.
    fn set_levels(&self, counts: Counts) {
        let levels = [&self.groups, &self.communicators, &self.windows, &self.files];
        levels.into_iter().zip(counts).for_each(|(level, count)| level.follow(count));
    }
}

/// The blocks that MPI_T handles were allocated for, and the objects derived from sessions: a handle that is allocated
/// later starts with their counts.
#[derive(Debug, Default)]
struct OnDemandBlocks {
    groups: OnDemand<GroupInstruments>,
    ops: OnDemand<OpInstruments>,
    sessions: OnDemand<SessionInstruments>,
    derived: Derived,
}

impl OnDemandBlocks {
    /// Updates a session's levels after one of its objects was created or freed.
    fn update_derived(&self, session: Handle) {
        if let Some(instruments) = self.sessions.get(session.0) {
            instruments.set_levels(self.derived.counts(session));
        }
    }
}

/// Metrics of groups, operations and sessions.
pub(crate) struct OnDemandMetrics(Arc<Guarded<OnDemandBlocks>>);

/// The tables of the objects that have metrics on demand.
pub(crate) struct Tables<'a> {
    pub comms: &'a Arc<Guarded<Table<Arc<Comm>>>>,
    pub groups: &'a Arc<Guarded<Table<Group>>>,
    pub ops: &'a Arc<Guarded<Table<Op>>>,
    pub sessions: &'a Arc<Guarded<Table<Session>>>,
}

impl OnDemandMetrics {
    /// Declares the variables. Their callbacks look objects up in these tables.
    pub(crate) fn new(
        lock: &ProcessLock,
        registry: &Registry,
        engine: &Arc<Engine>,
        tables: &Tables<'_>,
    ) -> Result<OnDemandMetrics> {
        let blocks = Arc::new(Guarded::new(lock, OnDemandBlocks::default()));
        let own = || (engine.process_lock().clone(), blocks.clone());
        let ((lock, own_blocks), groups) = (own(), tables.groups.clone());
        registry.declare_on_demand::<GroupInstruments>(move |object, open| {
            let mut guard = lock.lock_beside().ok_or(TError::NOT_ACCESSIBLE)?;
            let processes = match object {
                MPI_GROUP_EMPTY => 0,
                _ => groups.get(&guard).get(Handle(object)).ok_or(TError::INVALID)?.size(),
            };
            let fill = |group: &GroupInstruments| group.processes.set(u64::from(processes));
            own_blocks.get_mut(&mut guard).groups.open_for(object, fill, open)
        })?;
        let ((lock, own_blocks), ops) = (own(), tables.ops.clone());
        registry.declare_on_demand::<OpInstruments>(move |object, open| {
            let mut guard = lock.lock_beside().ok_or(TError::NOT_ACCESSIBLE)?;
            if Op::predefined(object).is_none() && ops.get(&guard).get(Handle(object)).is_none() {
                return Err(TError::INVALID);
            }
            own_blocks.get_mut(&mut guard).ops.open_for(object, |_| (), open)
        })?;
        let ((lock, own_blocks), sessions) = (own(), tables.sessions.clone());
        registry.declare_on_demand::<SessionInstruments>(move |object, open| {
            let mut guard = lock.lock_beside().ok_or(TError::NOT_ACCESSIBLE)?;
            sessions.get(&guard).get(Handle(object)).ok_or(TError::INVALID)?;
            let blocks = own_blocks.get_mut(&mut guard);
            let counts = blocks.derived.counts(Handle(object));
            blocks.sessions.open_for(object, |session| session.set_levels(counts), open)
        })?;
        registry.declare_on_demand::<infos::InfoInstruments>(infos::open_handle)?;
        let (of, comms) = (engine.clone(), tables.comms.clone());
        registry.declare_on_demand(move |object, open| {
            let mut guard = of.process_lock().lock_beside().ok_or(TError::NOT_ACCESSIBLE)?;
            let context = match object {
                MPI_COMM_WORLD => ContextIds::WORLD,
                MPI_COMM_SELF => ContextIds::SELF,
                _ => comms.get(&guard).get(Handle(object)).ok_or(TError::INVALID)?.context(),
            };
            of.open_posted(&mut guard, context, open)
        })?;
        let of = engine.clone();
        registry.declare_on_demand(move |object, open| of.open_request(object, open))?;
        let of = engine.clone();
        registry.declare_on_demand(move |object, open| of.open_message(object, open))?;
        let of = engine.clone();
        registry.declare_on_demand(move |_, open| of.open_rings(open))?;
        Ok(OnDemandMetrics(blocks))
    }

    /// Counts a call that uses this live group.
    pub(crate) fn group_used(&self, guard: &Guard<'_>, group: Handle) {
        if let Some(instruments) = self.0.get(guard).groups.get(group.0) {
            instruments.uses.incr();
        }
    }

    /// Removes the metrics of a group whose handle is stale.
    pub(crate) fn group_freed(&self, guard: &mut Guard<'_>, group: Handle) {
        self.0.get_mut(guard).groups.end(group.0);
        self.object_freed(guard, group);
    }

    /// Records a new object: this group, or an object over its processes.
    pub(crate) fn made(&self, guard: &mut Guard<'_>, object: Handle, group: &Group) {
        if let Some(session) = group.session() {
            let blocks = self.0.get_mut(guard);
            blocks.derived.made(object, session);
            blocks.update_derived(session);
        }
    }

    /// Removes the record of an object whose handle is stale.
    pub(crate) fn object_freed(&self, guard: &mut Guard<'_>, object: Handle) {
        let blocks = self.0.get_mut(guard);
        if let Some(session) = blocks.derived.remove(object) {
            blocks.update_derived(session);
        }
    }

    /// Removes the metrics of an operation whose handle is stale.
    pub(crate) fn op_freed(&self, guard: &mut Guard<'_>, op: Handle) {
        self.0.get_mut(guard).ops.end(op.0);
    }

    /// Counts a call that uses this live session.
    pub(crate) fn session_used(&self, guard: &Guard<'_>, session: Handle) {
        if let Some(instruments) = self.0.get(guard).sessions.get(session.0) {
            instruments.uses.incr();
        }
    }

    /// Removes the metrics of a finalised session.
    pub(crate) fn session_ended(&self, guard: &mut Guard<'_>, session: Handle) {
        let blocks = self.0.get_mut(guard);
        blocks.sessions.end(session.0);
        blocks.derived.session_ended(session);
    }

    /// Whether an operation has a handle allocated for one of its metrics.
    #[inline(always)]
    pub(crate) fn counts_ops(&self, guard: &Guard<'_>) -> bool {
        !self.0.get(guard).ops.is_empty()
    }

    /// Counts a reduction or accumulation with this operation over this number of bytes. `op` may be any word.
    #[inline]
    pub(crate) fn op_used(&self, guard: &Guard<'_>, op: usize, bytes: u64) {
        if let Some(instruments) = self.0.get(guard).ops.get(op) {
            instruments.calls.incr();
            instruments.bytes.add(bytes);
        }
    }
}
