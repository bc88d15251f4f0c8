//! Two ranks of this process, over a network whose first copy waits at a gate.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use mpi_core::abi::MPI_ERR_OTHER;
use mpi_core::{Handle, ProcessLock};
use mpi_datatype::SendBuf;
use mpi_errors::{Error, Result};
use mpi_fabric::{
    Access, Endpoint, FabricSettings, Full, NetworkCopies, Payload, RecordHead, RegionKey, Registration, Sink,
    Transport, Waiter,
};
use mpi_p2p::{CommMeters, ContextSpec, Engine, Mode};
use mpi_t::HeapMemory;

/// The length of the long message, and what each of its bytes is.
pub const BYTES: usize = 8 << 20;
pub const BYTE: u8 = 42;
/// A communicator that each rank has for itself.
pub const OTHER_CONTEXT: u32 = 2;

/// Long enough for any thread to get a core.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// The first copy begins, and waits until the gate is open.
#[derive(Clone, Default)]
pub struct Gate(Arc<(Mutex<GateState>, Condvar)>);

#[derive(Default)]
struct GateState {
    copies: u32,
    open: bool,
    failed: bool,
    lost: bool,
}

impl Gate {
    pub fn new() -> Gate {
        Gate::default()
    }

    fn state(&self) -> MutexGuard<'_, GateState> {
        self.0.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_until(&self, mut ready: impl FnMut(&GateState) -> bool) -> bool {
        let waited = self.0.1.wait_timeout_while(self.state(), TIME_LIMIT, |state| !ready(state));
        !waited.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Waits until a copy has begun.
    pub fn await_copy(&self) {
        assert!(self.wait_until(|state| state.copies > 0), "no copy began");
    }

    pub fn open(&self) {
        self.state().open = true;
        self.0.1.notify_all();
    }

    /// Number of copies that have begun.
    pub fn copies(&self) -> u32 {
        self.state().copies
    }

    /// Whether a copy waited in vain.
    pub fn has_failed(&self) -> bool {
        self.state().failed
    }

    /// From now on all copies fail.
    pub fn lose_regions(&self) {
        self.state().lost = true;
    }

    /// A copy begins.
    fn pass(&self) -> Result<()> {
        let first = {
            let mut state = self.state();
            state.copies += 1;
            state.copies == 1
        };
        self.0.1.notify_all();
        if first && !self.wait_until(|state| state.open) {
            self.state().failed = true;
        }
        if self.state().lost { Err(Error::new(MPI_ERR_OTHER, "the peer is lost")) } else { Ok(()) }
    }
}

type Record = (u32, RecordHead, Vec<u64>, usize);

struct Region {
    start: *mut u8,
    bytes: usize,
}

// SAFETY: an address, whose memory stays while it is registered.
unsafe impl Send for Region {}

/// The records for one rank.
#[derive(Default)]
struct Inbox {
    records: VecDeque<Record>,
    /// The rank was woken since it last slept.
    woken: bool,
}

struct Network {
    inboxes: [(Mutex<Inbox>, Condvar); 2],
    regions: Mutex<HashMap<u64, Region>>,
    gate: Gate,
}

impl Network {
    fn inbox(&self, rank: u32) -> MutexGuard<'_, Inbox> {
        self.inboxes[rank as usize].0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn regions(&self) -> MutexGuard<'_, HashMap<u64, Region>> {
        self.regions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn find(&self, key: RegionKey, offset: u64, bytes: usize) -> Result<*mut u8> {
        self.gate.pass()?;
        let regions = self.regions();
        let region = regions.get(&key.number()).filter(|region| offset as usize + bytes <= region.bytes);
        region
            .map(|region| region.start.wrapping_add(offset as usize))
            .ok_or_else(|| Error::new(MPI_ERR_OTHER, "no such region"))
    }
}

impl NetworkCopies for Network {
    fn read(&self, _: u32, key: RegionKey, offset: u64, into: &mut [u8]) -> Result<()> {
        let from = self.find(key, offset, into.len())?;
        // SAFETY: the region has these bytes, and the engines keep it registered while they copy.
        unsafe { std::ptr::copy(from, into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    fn write(&self, _: u32, key: RegionKey, offset: u64, data: &[u8]) -> Result<()> {
        let to = self.find(key, offset, data.len())?;
        // SAFETY: as in `read`.
        unsafe { std::ptr::copy(data.as_ptr(), to, data.len()) };
        Ok(())
    }
}

struct Registered {
    network: Arc<Network>,
    number: u64,
}

impl Drop for Registered {
    fn drop(&mut self) {
        self.network.regions().remove(&self.number);
    }
}

struct Port {
    network: Arc<Network>,
    rank: u32,
}

/// Number of the job; one such job does not meet another.
const JOB: u64 = 1;

impl Transport for Port {
    fn job(&self) -> u64 {
        JOB
    }

    fn max_payload(&self) -> usize {
        16 << 10
    }

    fn push(&mut self, dest: u32, head: &RecordHead, payload: &[u8]) -> Result<(), Full> {
        let mut words = vec![0u64; payload.len().div_ceil(8)];
        for (word, bytes) in words.iter_mut().zip(payload.chunks(8)) {
            let mut all = [0; 8];
            all[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_ne_bytes(all);
        }
        self.network.inbox(dest).records.push_back((self.rank, *head, words, payload.len()));
        self.network.inboxes[dest as usize].1.notify_all();
        Ok(())
    }

    fn poll(&mut self, sink: &mut dyn Sink) -> Result<usize> {
        let arrived = std::mem::take(&mut self.network.inbox(self.rank).records);
        for (from, head, words, len) in &arrived {
            sink.record(*from, head, Payload::from_words(words, *len));
        }
        Ok(arrived.len())
    }

    fn can_copy(&self, _: u32) -> bool {
        true
    }

    unsafe fn register(&self, start: *mut u8, bytes: usize, _: Access) -> (u64, Registration) {
        let mut regions = self.network.regions();
        let number = (1..).find(|number| !regions.contains_key(number)).expect("few regions");
        regions.insert(number, Region { start, bytes });
        (number, Registration::new(Registered { network: self.network.clone(), number }))
    }

    fn copies(&self) -> Arc<dyn NetworkCopies> {
        self.network.clone()
    }

    fn alive(&self, _: u32) -> bool {
        true
    }

    fn waiting(&self) -> mpi_fabric::Waiting {
        mpi_fabric::Waiting::Own(Arc::new(Bed { network: self.network.clone(), rank: self.rank }))
    }
}

struct Bed {
    network: Arc<Network>,
    rank: u32,
}

impl Waiter for Bed {
    fn sleep(&self) {
        let (inbox, arrived) = (self.network.inbox(self.rank), &self.network.inboxes[self.rank as usize].1);
        let slept = arrived.wait_timeout_while(inbox, TIME_LIMIT, |inbox| inbox.records.is_empty() && !inbox.woken);
        slept.unwrap_or_else(PoisonError::into_inner).0.woken = false;
    }

    fn wake(&self) {
        self.network.inbox(self.rank).woken = true;
        self.network.inboxes[self.rank as usize].1.notify_all();
    }
}

pub struct Rank {
    pub engine: Engine,
}

pub struct Pair {
    pub receiver: Arc<Rank>,
    pub sender: Arc<Rank>,
}

/// Two ranks at `MPI_THREAD_MULTIPLE`.
pub fn pair(gate: Gate) -> Pair {
    let network = Arc::new(Network { inboxes: Default::default(), regions: Mutex::default(), gate });
    let rank = |rank| {
        let port = Box::new(Port { network: network.clone(), rank });
        let endpoint = Endpoint::over(port, rank, 2, None, FabricSettings::new()).expect("memory for a rank");
        let engine = Engine::new(endpoint, Arc::new(ProcessLock::new(true)), &HeapMemory);
        for (id, own, world_ranks) in [(0, rank, vec![0, 1]), (OTHER_CONTEXT, 0, vec![rank])] {
            let instruments = CommMeters::detached(world_ranks.len() as u32);
            let spec = ContextSpec {
                id,
                rank: own,
                world_ranks: Arc::from(world_ranks),
                both_groups: None,
                session: None,
                pins: Default::default(),
                instruments,
            };
            engine.add_context(&mut engine.lock(), spec);
        }
        Arc::new(Rank { engine })
    };
    Pair { receiver: rank(0), sender: rank(1) }
}

impl Rank {
    pub fn isend(&self, tag: i32) -> (Handle, Vec<u8>) {
        let data = vec![BYTE; BYTES];
        // SAFETY: the caller keeps the data until the request is complete.
        let buffer = unsafe { SendBuf::from_slice(&data).detach() };
        let request = self.engine.isend(&mut self.engine.lock(), 0, 0, tag, buffer, Mode::Standard).expect("started");
        (request, data)
    }

    /// Sends the long message from a thread of its own.
    pub fn spawn_send(self: &Arc<Rank>, tag: i32) -> JoinHandle<()> {
        let rank = self.clone();
        std::thread::spawn(move || {
            let (request, data) = rank.isend(tag);
            rank.engine.wait(rank.engine.lock(), request).expect("no fault");
            drop(data);
        })
    }

    /// Waiting threads sleep at once.
    pub fn never_spin(&self) {
        self.engine.settings().wait_spins.set(0);
        self.engine.settings().wait_yields.set(0);
    }

    /// Waits until this many requests are under way.
    pub fn await_requests(&self, requests: u64) {
        while self.engine.instruments().requests.get() < requests {
            std::thread::yield_now();
        }
    }
}
