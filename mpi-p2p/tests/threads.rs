//! Threads of one process that wait at the same time.

mod common;

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use common::{CONTEXT, Rank};
use mpi_core::{ProcessLock, Status};
use mpi_datatype::RecvBuf;
use mpi_errors::Result;
use mpi_fabric::{Endpoint, RecordHead};
use mpi_p2p::{CommMeters, ContextSpec, Engine, Generalized, Mode};
use mpi_t::HeapMemory;

const THREADS: i32 = 8;
const ROUNDS: i32 = 50;

/// Waiting threads sleep at once, so that each wait needs a wake-up.
fn never_spin(engine: &Engine) {
    engine.settings().wait_spins.set(0);
    engine.settings().wait_yields.set(0);
}

/// Starts the threads, each of which runs `body` with its number.
fn spawn(rank: &Arc<Rank>, body: impl Fn(&Rank, i32) + Send + Sync + 'static) -> Vec<std::thread::JoinHandle<()>> {
    let body = Arc::new(body);
    let start = |thread| {
        let (rank, body) = (rank.clone(), body.clone());
        std::thread::spawn(move || body(&rank, thread))
    };
    (0..THREADS).map(start).collect()
}

#[test]
fn a_message_wakes_the_thread_that_polls_and_the_one_it_is_for_and_no_other() {
    common::run_multiple(2, |rank: Arc<Rank>| {
        never_spin(&rank.engine);
        if rank.me() == 0 {
            let threads = spawn(&rank, |rank, thread| {
                for _ in 0..ROUNDS {
                    rank.recv(1, thread, &mut [0; 8]).expect("fits");
                    rank.send(1, thread, &[1], Mode::Standard);
                }
            });
            threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
            // For each message: the doorbell's, that of the message's thread, and that of the thread that polls next
            // when the thread that polled got its own.
            let most = 3 * (THREADS * ROUNDS) as u64;
            assert!(rank.wakeups() <= most, "{} threads were woken, more than {most}", rank.wakeups());
        } else {
            for _ in 0..ROUNDS {
                for turn in 0..THREADS {
                    let thread = turn * 5 % THREADS;
                    rank.send(0, thread, &[7; 8], Mode::Standard);
                    rank.recv(0, thread, &mut [0]).expect("fits");
                }
            }
        }
    });
}

#[test]
fn threads_that_wait_for_all_of_many_get_them_in_any_order() {
    common::run_multiple(2, |rank: Arc<Rank>| {
        never_spin(&rank.engine);
        const MANY: i32 = 20;
        if rank.me() == 0 {
            let threads = spawn(&rank, |rank, thread| {
                let mut inbox = vec![[0u8; 8]; MANY as usize];
                let post = |(n, data): (usize, &mut [u8; 8])| rank.irecv(1, thread * MANY + n as i32, data);
                let requests: Vec<_> = inbox.iter_mut().enumerate().map(post).collect();
                let engine = &rank.engine;
                let complete = |_, completion: mpi_p2p::Completion| assert!(completion.error.is_none());
                engine.wait_all(engine.lock(), &requests, complete).expect("live");
                assert!((0..MANY as u8).all(|n| inbox[n as usize] == [n; 8]));
            });
            threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
        } else {
            // Backwards for every second thread, so that the last receive is over first.
            for turn in 0..MANY {
                for thread in 0..THREADS {
                    let n = if thread % 2 == 0 { turn } else { MANY - 1 - turn };
                    rank.send(0, thread * MANY + n, &[n as u8; 8], Mode::Synchronous);
                }
            }
        }
    });
}

/// Callbacks of a generalized request that do nothing.
struct Nothing;

impl Generalized for Nothing {
    fn query(&self, _: &mut Status) -> Result<()> {
        Ok(())
    }

    fn cancel(&self, _: bool) -> Result<()> {
        Ok(())
    }

    fn free(&self) -> Result<()> {
        Ok(())
    }
}

/// Waits until the only waiting thread of the process, whose folder in `/proc` this is, sleeps for its requests.
fn await_sleep(rank: &Rank, thread: &std::path::Path) {
    let is_asleep = || {
        let stat = std::fs::read_to_string(thread.join("stat")).expect("the thread runs");
        // The state follows the name, which is in parentheses.
        stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('S'))
    };
    // Behind the count it takes no lock that another thread holds.
    while rank.sleeps() == 0 || !is_asleep() {
        std::thread::yield_now();
    }
}

#[test]
fn a_request_that_another_thread_completes_wakes_a_wait_whose_list_has_an_inactive_request_too() {
    common::run_multiple(1, |rank: Arc<Rank>| {
        never_spin(&rank.engine);
        let engine = &rank.engine;
        let inactive = engine.recv_init(&mut engine.lock(), CONTEXT, 0, 1, RecvBuf::empty()).expect("made");
        let request = engine.start_generalized(&mut engine.lock(), Arc::new(Nothing)).expect("made");
        let (report, reports) = channel();
        let waiter = rank.clone();
        let (identify, identified) = channel();
        let thread = std::thread::spawn(move || {
            identify.send(std::fs::read_link("/proc/thread-self").expect("/proc")).expect("the test waits");
            let engine = &waiter.engine;
            let taken = engine.wait_any(engine.lock(), &[inactive, request]).expect("live");
            report.send(taken.map(|(index, _)| index)).expect("the test waits");
        });
        // If the thread were awake, the test would pass whether or not anything wakes the thread.
        await_sleep(&rank, &std::path::Path::new("/proc").join(identified.recv().expect("the thread's name")));
        engine.complete_generalized(&mut engine.lock(), request).expect("waits to be completed");
        assert_eq!(reports.recv_timeout(Duration::from_secs(20)), Ok(Some(1)));
        thread.join().expect("no panic");
        engine.request_free(&mut engine.lock(), inactive).expect("inactive");
    });
}

#[test]
fn a_fault_that_one_thread_finds_is_reported_by_all_that_wait() {
    let [own, mut peer] = <[Endpoint; 2]>::try_from(Endpoint::threads(2).expect("memory for two ranks"))
        .unwrap_or_else(|_| panic!("two endpoints"));
    let engine = Engine::new(own, Arc::new(ProcessLock::new(true)), &HeapMemory);
    let instruments = CommMeters::detached(2);
    engine.add_context(
        &mut engine.lock(),
        ContextSpec {
            id: 0,
            rank: 0,
            world_ranks: Arc::from([0, 1]),
            both_groups: None,
            session: None,
            pins: Default::default(),
            instruments,
        },
    );
    never_spin(&engine);
    let engine = Arc::new(engine);
    let (report, reports) = channel();
    for thread in 0..THREADS {
        let (engine, report) = (engine.clone(), report.clone());
        std::thread::spawn(move || {
            let failed = engine.recv(engine.lock(), 0, 1, thread, RecvBuf::from_slice(&mut [0; 8])).is_err();
            report.send(failed).expect("the test waits");
        });
    }
    // A receive is posted under the guard under which its thread begins to wait.
    while engine.instruments().requests.get() < THREADS as u64 {
        std::thread::yield_now();
    }
    let unknown = RecordHead { kind: 250, ..RecordHead::default() };
    peer.push(0, &unknown, &[]).expect("an empty ring has room");
    for _ in 0..THREADS {
        assert!(reports.recv_timeout(Duration::from_secs(60)).expect("a thread hangs for a minute"));
    }
}
