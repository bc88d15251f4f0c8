//! Long operations of other processes run with the process lock released: other threads call and make progress
//! meanwhile, and still no operation is lost or overtaken.
#![allow(unsafe_code)] // creates windows of their own memory

use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread::yield_now;
use std::time::{Duration, Instant};

use mpi_coll::Collectives;
use mpi_comm::{Comm, CommSpec, ContextIds, register};
use mpi_core::abi::{MPI_REPLACE, MPI_SUM};
use mpi_core::{Guarded, Info};
use mpi_datatype::Element;
use mpi_fabric::Endpoint;
use mpi_p2p::CommMeters;
use mpi_t::HeapMemory;

use super::*;
use crate::lock_queue::LockRequest;
use crate::window::Win;
use crate::wire::{AT_ONCE, BATCH, GRANT};
use crate::{Exposure, Flavor, OneSided, Target};

const TIME_LIMIT: Duration = Duration::from_secs(120);

struct Rank {
    engine: Arc<Engine>,
    one_sided: OneSided,
    world: Comm,
    ids: Guarded<ContextIds>,
}

/// Runs `body` on ranks at `MPI_THREAD_MULTIPLE`, with a window of `count` words whose accumulations are sent as
/// messages.
fn run(size: u32, count: usize, body: impl Fn(&Arc<Rank>, &Arc<Win>) + Send + Sync + 'static) {
    let (body, (report, reports)) = (Arc::new(body), channel());
    for endpoint in Endpoint::threads(size).expect("memory for a few ranks") {
        let (body, report) = (body.clone(), report.clone());
        std::thread::spawn(move || {
            let lock = Arc::new(ProcessLock::new(true));
            let engine = Arc::new(Engine::new(endpoint, lock.clone(), &HeapMemory));
            let coll = Collectives::new(engine.clone(), true, &HeapMemory);
            let one_sided = OneSided::new(engine.clone(), coll.clone());
            one_sided.settings().direct.set(false);
            one_sided.settings().shared.set(false);
            let spec = CommSpec::world(engine.rank(), engine.size());
            let world = register(&engine, &mut engine.lock(), spec, CommMeters::detached(engine.size()));
            let ids = Guarded::new(&lock, ContextIds::new(engine.rank(), engine.size()));
            let rank = Arc::new(Rank { engine, one_sided, world, ids });
            let size = (count * size_of::<u64>()) as i64;
            let what = Exposure { flavor: Flavor::Allocate { alignment: 0 }, size, disp_unit: 8, hints: Info::new() };
            // SAFETY: the window has memory of its own.
            let win = unsafe { rank.one_sided.create(&rank.world, &rank.ids, what, true, &HeapMemory) };
            let win = Arc::new(win.expect("little memory"));
            rank.one_sided.fence(&win, 0).expect("no fault");
            body(&rank, &win);
            rank.one_sided.end(&win).expect("no fault");
            coll.synchronize(&rank.world).expect("no fault");
            rank.engine.drain(rank.engine.lock()).expect("no fault");
            report.send(rank).expect("the test waits");
        });
    }
    drop(report);
    let ranks: Vec<_> =
        (0..size).map(|_| reports.recv_timeout(TIME_LIMIT).expect("a rank panicked, or hangs")).collect();
    assert_eq!(ranks.len(), size as usize);
}

impl Rank {
    fn accumulate(&self, win: &Win, data: &'static [u64], rank: i32, op: usize) {
        let datatype = u64::datatype();
        let (count, of) = (data.len() as u64, (datatype, u64::HANDLE));
        let target = Target { rank, displacement: 0, count, datatype, handle: u64::HANDLE };
        let data = SendBuf::from_slice(data);
        self.one_sided.accumulate(&mut self.engine.lock(), win, data, of, &target, op).expect("inside");
    }

    fn fence(&self, win: &Win) {
        self.one_sided.fence(win, 0).expect("no fault");
    }

    /// Waits for rank 1 to call [`Rank::start`]: it must not apply operations in the fence before.
    fn await_start(&self) {
        let engine = &self.engine;
        engine.recv(engine.lock(), self.world.context(), 1, 6, RecvBuf::empty()).expect("no fault");
    }

    fn start(&self, rank: i32) {
        let engine = &self.engine;
        engine.send(engine.lock(), self.world.context(), rank, 6, SendBuf::empty(), Mode::Standard).expect("no fault");
    }

    /// Runs `calls` in a thread of its own, which reports when it has ended.
    fn spawn(self: &Arc<Rank>, win: &Arc<Win>, calls: impl FnOnce(&Rank, &Win) + Send + 'static) -> Receiver<()> {
        let ((report, reports), rank, win) = (channel(), self.clone(), win.clone());
        std::thread::spawn(move || {
            calls(&rank, &win);
            report.send(()).expect("the test waits");
        });
        reports
    }
}

/// A word of this process's part of the window.
fn word(win: &Win, index: u64) -> u64 {
    let basic = Basic::predefined(u64::HANDLE).expect("predefined");
    let place = win.memory.elements(8 * index, &Elements { count: 1, basic, derived: None });
    let mut word = [0; 8];
    place.expect("inside").pack(0, &mut word);
    u64::from_ne_bytes(word)
}

#[test]
fn other_threads_call_while_one_applies_a_long_accumulation() {
    const COUNT: usize = 100_000;
    run(2, COUNT, |rank, win| {
        if rank.world.rank == 0 {
            rank.await_start();
            rank.accumulate(win, vec![3; COUNT].leak(), 1, MPI_SUM);
            return rank.fence(win);
        }
        // While this thread holds the memory's lock, the thread in the fence cannot apply the accumulation.
        let held = win.memory.lock();
        rank.start(0);
        let fence = rank.spawn(win, |rank, win| rank.fence(win));
        let calls = rank.spawn(win, |rank, win| {
            let (engine, context) = (&rank.engine, rank.world.context());
            let applies = || {
                let _guard = engine.lock();
                win.service.unlocked.load(Relaxed) > 0
            };
            while !applies() {
                yield_now();
            }
            engine.send(engine.lock(), context, 1, 5, SendBuf::empty(), Mode::Standard).expect("no fault");
            engine.recv(engine.lock(), context, 1, 5, RecvBuf::empty()).expect("no fault");
        });
        let called = calls.recv_timeout(TIME_LIMIT / 2);
        let before = word(win, 0);
        drop(held);
        assert!(called.is_ok(), "the thread that applies an accumulation holds the process lock");
        assert_eq!(before, 0);
        fence.recv_timeout(TIME_LIMIT).expect("no fault");
        assert!((0..COUNT as u64).all(|index| word(win, index) == 3));
    });
}

#[test]
fn later_operations_of_a_rank_wait_while_a_thread_applies_earlier_ones() {
    const RECORDS: u64 = 5000;
    run(2, 1, |rank, win| {
        if rank.world.rank == 0 {
            rank.await_start();
            for value in 1..=RECORDS {
                rank.accumulate(win, vec![value].leak(), 1, MPI_REPLACE);
            }
            return rank.fence(win);
        }
        let held = win.memory.lock();
        rank.start(0);
        let fence = rank.spawn(win, |rank, win| rank.fence(win));
        // One of two threads applies the first batch. The other takes the next batches, and must not apply them, which
        // would need the memory's lock.
        let progress = rank.spawn(win, |rank, win| {
            while win.service.batches.load(Relaxed) < 3 {
                rank.engine.progress(&mut rank.engine.lock()).expect("no fault");
            }
        });
        let begun = Instant::now();
        while win.service.batches.load(Relaxed) < 3 && begun.elapsed() < TIME_LIMIT / 2 {
            yield_now();
        }
        let arrived = win.service.batches.load(Relaxed);
        drop(held);
        assert!(arrived >= 3, "a later batch was not stored");
        progress.recv_timeout(TIME_LIMIT).expect("no fault");
        fence.recv_timeout(TIME_LIMIT).expect("no fault");
        assert_eq!(word(win, 0), RECORDS, "the last operation of the rank comes last");
    });
}

#[test]
fn threads_that_apply_operations_of_several_ranks_lose_none() {
    const COUNT: usize = 40_000;
    const ROUNDS: u64 = 5;
    run(3, COUNT, |rank, win| {
        // Each rank accumulates to rank 2, which does so itself while its threads make progress.
        let helpers: Vec<_> = (0..if rank.world.rank == 2 { 3 } else { 0 })
            .map(|_| {
                rank.spawn(win, |rank, win| {
                    let nothing: &'static [u64] = vec![0; COUNT].leak();
                    while !win.service.has_applied(2) {
                        rank.engine.progress(&mut rank.engine.lock()).expect("no fault");
                        rank.accumulate(win, nothing, 2, MPI_SUM);
                    }
                })
            })
            .collect();
        for _ in 0..ROUNDS {
            rank.accumulate(win, vec![1; COUNT].leak(), 2, MPI_SUM);
        }
        if rank.world.rank == 2 {
            helpers.into_iter().for_each(|helper| helper.recv_timeout(TIME_LIMIT).expect("no fault"));
        }
        rank.fence(win);
        if rank.world.rank == 2 {
            assert!((0..COUNT as u64).all(|index| word(win, index) == 3 * ROUNDS));
        }
    });
}

/// Sends a record about the lock of rank 1; its answer, if it has one.
fn request(rank: &Rank, win: &Win, verb: Verb, op: u32) -> Option<Vec<u8>> {
    let (engine, head) = (&rank.engine, Head::bare(verb, op));
    let record: &'static [u8] = head.encode().to_vec().leak();
    let guard = &mut engine.lock();
    let send = engine.send_to_service(guard, win.context(), 1, BATCH, SendBuf::from_slice(record)).expect("alive");
    guard.unlocked(|| engine.wait(engine.lock(), send)).expect("no fault");
    head.is_answered().then(|| {
        let mut answer = vec![0; 2];
        let (context, tag) = (win.context(), head.answer_tag());
        let received = guard.unlocked(|| {
            engine.recv(engine.lock(), context, 1, tag, RecvBuf::from_slice(&mut answer)).expect("an answer")
        });
        answer.truncate(received.bytes() as usize);
        answer
    })
}

#[test]
fn requests_for_locks_that_do_not_fit_are_errors_of_their_process_and_change_nothing() {
    run(2, 1, |rank, win| {
        if rank.world.rank == 0 {
            let request = |verb, op: u32| request(rank, win, verb, op);
            let (share, hold) = (LockRequest::Shared as u32, LockRequest::Exclusive as u32);
            assert_eq!(request(Verb::Unlock, 0), Some(vec![1]), "it has no lock");
            assert_eq!(request(Verb::Lock, 77), Some(vec![]), "no such kind");
            assert_eq!(request(Verb::Lock, hold), Some(vec![AT_ONCE]));
            assert_eq!(request(Verb::Lock, share), Some(vec![]), "it has the lock");
            assert_eq!(request(Verb::Flush, 0), Some(vec![1]), "of the two requests");
            assert_eq!(request(Verb::Flush, 0), Some(vec![]));
            assert_eq!(request(Verb::Overtake, 0), None);
            assert_eq!(request(Verb::Unlock, 0), Some(vec![1]), "it has not requested to share the lock");
            assert_eq!(request(Verb::Lock, share), Some(vec![AT_ONCE]));
            assert_eq!(request(Verb::Unlock, 0), Some(vec![]));
            assert_eq!(request(Verb::Unlock, 0), Some(vec![1]), "it has the lock no more");
            // A record with data is no request.
            let engine = &rank.engine;
            let head = Head { bytes: 8, ..Head::bare(Verb::Lock, hold) };
            let record: &'static [u8] = [&head.encode()[..], &[0; 8]].concat().leak();
            let guard = &mut engine.lock();
            let send = engine.send_to_service(guard, win.context(), 1, BATCH, SendBuf::from_slice(record));
            guard.unlocked(|| engine.wait(engine.lock(), send.expect("alive"))).expect("no fault");
            let answer = guard.unlocked(|| engine.recv(engine.lock(), win.context(), 1, GRANT, RecvBuf::empty()));
            assert_eq!(answer.expect("an answer").bytes(), 0);
        }
    });
}
