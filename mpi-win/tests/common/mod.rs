//! Ranks as threads of one process, each with its own one-sided calls over `MPI_COMM_WORLD`, under a watchdog.
#![allow(unsafe_code)] // windows' memory is accessed through its address, as programs do
#![allow(dead_code)] // not every test file needs all of it

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use mpi_coll::Collectives;
use mpi_comm::{Comm, CommSpec, ContextIds, register};
use mpi_core::{Guarded, Info, ProcessLock};
use mpi_datatype::{Element, RecvBuf, SendBuf};
use mpi_errors::Result;
use mpi_fabric::Endpoint;
use mpi_p2p::{CommMeters, Engine};
use mpi_t::HeapMemory;
use mpi_win::{Exposure, Flavor, OneSided, Target, Win};

/// Far more than any test needs, also on a machine under load.
const TIME_LIMIT: Duration = Duration::from_secs(240);

pub struct Rank {
    pub engine: Arc<Engine>,
    pub one_sided: OneSided,
    pub world: Comm,
    pub ids: Guarded<ContextIds>,
}

impl Rank {
    pub fn rank(&self) -> usize {
        self.world.rank as usize
    }

    pub fn size(&self) -> usize {
        self.world.size() as usize
    }

    /// A window with memory of its own, of as many elements, in units of one element.
    pub fn allocate<T: Element>(&self, count: usize) -> Win {
        self.try_allocate((count * size_of::<T>()) as i64, size_of::<T>() as i64).expect("little memory")
    }

    pub fn try_allocate(&self, size: i64, disp_unit: i64) -> Result<Win> {
        let what = Exposure { flavor: Flavor::Allocate { alignment: 0 }, size, disp_unit, hints: Info::new() };
        self.try_create(what, true)
    }

    /// A window with memory of its own, if there is room for it.
    pub fn try_create(&self, what: Exposure, room: bool) -> Result<Win> {
        assert!(!matches!(what.flavor, Flavor::Create { .. }), "the window has memory of its own");
        // SAFETY: see above.
        unsafe { self.one_sided.create(&self.world, &self.ids, what, room, &HeapMemory) }
    }

    pub fn put<T: Element>(&self, win: &Win, data: &'static [T], rank: usize, displacement: usize) -> Result<()> {
        let target = target::<T>(rank, displacement, data.len());
        self.one_sided.put(&mut self.engine.lock(), win, SendBuf::from_slice(data), &target)
    }

    pub fn get<T: Element>(&self, win: &Win, into: &'static mut [T], rank: usize, displacement: usize) -> Result<()> {
        let target = target::<T>(rank, displacement, into.len());
        self.one_sided.get(&mut self.engine.lock(), win, RecvBuf::from_slice(into), &target)
    }

    pub fn accumulate<T: Element>(
        &self,
        win: &Win,
        data: &'static [T],
        rank: usize,
        displacement: usize,
        op: usize,
    ) -> Result<()> {
        let (target, origin) = (target::<T>(rank, displacement, data.len()), (T::datatype(), T::HANDLE));
        self.one_sided.accumulate(&mut self.engine.lock(), win, SendBuf::from_slice(data), origin, &target, op)
    }

    pub fn fetch<T: Element>(
        &self,
        win: &Win,
        data: &'static [T],
        into: &'static mut [T],
        (rank, displacement): (usize, usize),
        op: usize,
    ) -> Result<()> {
        let (target, of) = (target::<T>(rank, displacement, into.len()), (T::datatype(), T::HANDLE));
        let (data, into) = (SendBuf::from_slice(data), RecvBuf::from_slice(into));
        self.one_sided.get_accumulate(&mut self.engine.lock(), win, data, of, into, of, &target, op)
    }

    pub fn fence(&self, win: &Win) -> Result<()> {
        self.one_sided.fence(win, 0)
    }

    /// The contents of this process's part of the window.
    pub fn memory<T: Element>(&self, win: &Win) -> &'static mut [T] {
        let attributes = win.attributes();
        // SAFETY: the window's own memory; the test reads it between fences only, and while the window exists.
        unsafe {
            std::slice::from_raw_parts_mut(
                std::ptr::with_exposed_provenance_mut(attributes.base),
                attributes.size as usize / size_of::<T>(),
            )
        }
    }
}

fn target<T: Element>(rank: usize, displacement: usize, count: usize) -> Target<'static> {
    let (rank, displacement, count) = (rank as i32, displacement as i64, count as u64);
    Target { rank, displacement, count, datatype: T::datatype(), handle: T::HANDLE }
}

/// Memory that stays valid until the test's process ends, as the operations demand.
pub fn kept<T: Element>(data: Vec<T>) -> &'static mut [T] {
    data.leak()
}

/// The path of operations to their target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// In memory that all have mapped.
    Shared,
    /// By the kernel's help where it allows, else as messages.
    Copied,
    /// As messages.
    Sent,
    /// As messages, under locks that the owners of the memory grant.
    Granted,
}

pub const WAYS: [Way; 4] = [Way::Shared, Way::Copied, Way::Sent, Way::Granted];

/// Runs `body` on `size` ranks; fails when they take longer than [`TIME_LIMIT`].
pub fn run(size: u32, way: Way, body: impl Fn(&Rank) + Send + Sync + 'static) {
    let body = Arc::new(body);
    let (report, reports) = channel();
    for endpoint in Endpoint::threads(size).expect("memory for a few ranks") {
        let (body, report) = (body.clone(), report.clone());
        std::thread::spawn(move || {
            let lock = Arc::new(ProcessLock::new(false));
            let engine = Arc::new(Engine::new(endpoint, lock.clone(), &HeapMemory));
            let coll = Collectives::new(engine.clone(), true, &HeapMemory);
            let one_sided = OneSided::new(engine.clone(), coll.clone());
            one_sided.settings().direct.set(matches!(way, Way::Shared | Way::Copied));
            one_sided.settings().shared_locks.set(way != Way::Granted);
            one_sided.settings().shared.set(way == Way::Shared);
            let spec = CommSpec::world(engine.rank(), engine.size());
            let world = register(&engine, &mut engine.lock(), spec, CommMeters::detached(engine.size()));
            let ids = Guarded::new(&lock, ContextIds::new(engine.rank(), engine.size()));
            let rank = Rank { engine, one_sided, world, ids };
            body(&rank);
            coll.synchronize(&rank.world).expect("no fault");
            rank.engine.drain(rank.engine.lock()).expect("no fault");
            report.send(rank).expect("the test waits");
        });
    }
    drop(report);
    // Ranks stay alive until all are done: a peer may still copy from them.
    let ranks: Vec<_> =
        (0..size).map(|_| reports.recv_timeout(TIME_LIMIT).expect("a rank panicked, or hangs")).collect();
    assert_eq!(ranks.len(), size as usize);
}

/// Runs `body` with several numbers of processes, on every way.
pub fn run_all(body: impl Fn(&Rank) + Send + Sync + Clone + 'static) {
    for size in [1, 2, 3, 5] {
        for way in WAYS {
            run(size, way, body.clone());
        }
    }
}

/// A sequence of numbers that depends on all of its arguments, the same in every process.
pub struct Numbers(u64);

impl Numbers {
    pub fn new(parts: &[usize]) -> Numbers {
        Numbers(parts.iter().fold(0x9e37_79b9_7f4a_7c15, |state, part| mixed(state ^ *part as u64)))
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = mixed(self.0);
        (self.0 >> 16) as usize % limit
    }
}

fn mixed(state: u64) -> u64 {
    let state = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9).wrapping_add(0x1234_5678_9abc_def1);
    (state ^ state >> 27).wrapping_mul(0x94d0_49bb_1331_11eb)
}
