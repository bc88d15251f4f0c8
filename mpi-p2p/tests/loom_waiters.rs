//! Model of waiting threads of a process in every order in which they pass on the lead, complete each other's
//! operations and sleep: the files of the engine and the fabric on loom's atomics, and a small form of
//! `Engine::wait_among_threads` and `poll_until`. A lost wake-up is a deadlock, which loom reports.
//!
//! Not here: the doorbell's own protocol, which `mpi-fabric` models; here it always rings.
#![allow(dead_code, clippy::unwrap_used)] // the models use a part of the files; loom's locks are never poisoned

mod sync {
    use std::sync::Arc;

    pub(crate) use super::thread_word::ThreadWord;
    pub(crate) use loom::sync::atomic::{AtomicU32, Ordering};
    use loom::sync::{Condvar, Mutex};

    /// The kernel's part: sleeping on the doorbell and on the words of threads, and waking.
    #[derive(Clone)]
    pub(crate) struct Doorbell {
        kernel: Arc<Kernel>,
    }

    struct Kernel {
        rung: Mutex<u32>,
        bell: Condvar,
        words: Condvar,
    }

    impl Doorbell {
        pub(crate) fn new() -> Doorbell {
            let kernel = Kernel { rung: Mutex::new(0), bell: Condvar::new(), words: Condvar::new() };
            Doorbell { kernel: Arc::new(kernel) }
        }

        pub(crate) fn wake(&self) {
            *self.kernel.rung.lock().unwrap() += 1;
            self.kernel.bell.notify_all();
        }

        pub(crate) fn ticket(&self) -> u32 {
            *self.kernel.rung.lock().unwrap()
        }

        pub(crate) fn sleep(&self, ticket: u32) {
            let mut rung = self.kernel.rung.lock().unwrap();
            while *rung == ticket {
                rung = self.kernel.bell.wait(rung).unwrap();
            }
        }

        pub(crate) fn wait_on(&self, word: &ThreadWord) {
            word.sleep(|state, expected| {
                let guard = self.kernel.rung.lock().unwrap();
                if state.load(Ordering::Relaxed) == expected {
                    drop(self.kernel.words.wait(guard).unwrap());
                }
            });
        }

        pub(crate) fn wake_thread(&self, word: &ThreadWord) {
            word.wake(|_| {
                let _guard = self.kernel.rung.lock().unwrap();
                self.kernel.words.notify_all();
            });
        }
    }
}

#[path = "../../mpi-fabric/src/doorbell/thread_word.rs"]
mod thread_word;
#[path = "../src/waiters.rs"]
mod waiters;

use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
use loom::thread;
use mpi_errors::Error;

use sync::{AtomicU32, Doorbell, Ordering};
use waiters::{Place, Waiters};

/// The data under the process lock: two receives, and the place of the thread that waits for each.
struct State {
    waiters: Waiters,
    done: [bool; 2],
    awaited_by: [Option<Place>; 2],
    /// The fault has been reported: a wait that begins now does not receive it.
    failed: bool,
}

struct Process {
    state: Mutex<State>,
    doorbell: Doorbell,
    /// Stands for the rings.
    records: [AtomicU32; 2],
    /// The first thread copies once, if it leads, until another process answers.
    copy: Option<Answer>,
}

/// The answer of another process.
struct Answer {
    came: Mutex<bool>,
    changed: Condvar,
}

/// The relation between a wait and its requests.
#[derive(Clone, Copy, PartialEq)]
enum Tied {
    ToRequest,
    ToAnyChange,
}

impl State {
    /// As `State::progress`.
    fn poll(&mut self, records: &[AtomicU32; 2]) {
        let mut moved = false;
        for (receive, record) in records.iter().enumerate() {
            if !self.done[receive] && record.load(Ordering::Acquire) == 1 {
                self.complete(receive);
                moved = true;
            }
        }
        if moved && self.waiters.any_watchful() {
            self.waiters.wake_on_any_change();
        }
    }

    fn complete(&mut self, receive: usize) {
        self.done[receive] = true;
        if let Some(place) = self.awaited_by[receive] {
            self.waiters.wake(place);
        }
    }

    fn begin_sleep(&mut self, place: Place, receive: usize, tied: Tied) {
        if tied == Tied::ToRequest {
            self.awaited_by[receive] = Some(place);
        }
        self.waiters.begin_sleep(place, tied == Tied::ToAnyChange);
    }

    fn end_sleep(&mut self, place: Place, receive: usize) {
        self.awaited_by[receive] = None;
        self.waiters.end_sleep(place);
    }
}

impl Process {
    fn new(copies: bool) -> Arc<Process> {
        let doorbell = Doorbell::new();
        let waiters = Waiters::new(doorbell.clone());
        Arc::new(Process {
            state: Mutex::new(State { waiters, done: [false; 2], awaited_by: [None; 2], failed: false }),
            doorbell,
            records: [AtomicU32::new(0), AtomicU32::new(0)],
            copy: copies.then(|| Answer { came: Mutex::new(false), changed: Condvar::new() }),
        })
    }

    /// Another process sends.
    fn send(&self, receive: usize) {
        self.records[receive].store(1, Ordering::Release);
        self.doorbell.wake();
    }

    /// A thread that does not wait makes progress, as in a test that finds no completion.
    fn test(&self) {
        self.state.lock().unwrap().poll(&self.records);
    }

    fn wait(&self, receive: usize, tied: Tied) -> Result<(), Error> {
        let mut state = self.state.lock().unwrap();
        if state.done[receive] {
            return Ok(());
        }
        if state.failed {
            return Err(fault());
        }
        let (place, word) = state.waiters.enter();
        let result = loop {
            if state.waiters.try_lead(place) {
                state.waiters.defer();
                let result;
                (state, result) = self.lead(state, place, receive, tied);
                match result {
                    Ok(true) => break Ok(()),
                    Ok(false) => continue,
                    Err(fault) => break Err(fault),
                }
            }
            state.begin_sleep(place, receive, tied);
            drop(state);
            self.doorbell.wait_on(&word);
            state = self.state.lock().unwrap();
            state.end_sleep(place, receive);
            if state.done[receive] {
                break Ok(());
            }
            if let Some(fault) = state.waiters.take_failure(place) {
                break Err(fault);
            }
        };
        let due = state.waiters.leave(place);
        drop(state);
        due.iter().for_each(|word| self.doorbell.wake_thread(word));
        result
    }

    /// Whether the wait is over; false: another thread leads.
    fn lead<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        place: Place,
        receive: usize,
        tied: Tied,
    ) -> (MutexGuard<'a, State>, Result<bool, Error>) {
        let mut copy = self.copy.as_ref().filter(|_| receive == 0);
        loop {
            // The poll of `poll_until` before the ticket is the same step as the one after it.
            let ticket;
            (state, ticket) = self.pause(state, || self.doorbell.ticket());
            state.poll(&self.records);
            if let Some(answer) = copy.take() {
                state = self.await_answer(state, answer);
            }
            if state.done[receive] {
                return (state, Ok(true));
            }
            if let Some(fault) = state.waiters.take_failure(place) {
                return (state, Err(fault));
            }
            if !state.waiters.leads(place) {
                return (state, Ok(false));
            }
            state.begin_sleep(place, receive, tied);
            (state, ()) = self.pause(state, || self.doorbell.sleep(ticket));
            state.end_sleep(place, receive);
        }
    }

    /// As `Engine::answered`.
    fn await_answer<'a>(&'a self, mut state: MutexGuard<'a, State>, answer: &Answer) -> MutexGuard<'a, State> {
        let lent = state.waiters.lend_lead();
        (state, ()) = self.pause(state, || {
            let mut came = answer.came.lock().unwrap();
            while !*came {
                came = answer.changed.wait(came).unwrap();
            }
        });
        if let Some(place) = lent {
            state.waiters.lead_again(place);
        }
        state
    }

    fn pause<'a, T>(
        &'a self,
        mut state: MutexGuard<'a, State>,
        between: impl FnOnce() -> T,
    ) -> (MutexGuard<'a, State>, T) {
        let due = state.waiters.end_deferring();
        drop(state);
        due.iter().for_each(|word| self.doorbell.wake_thread(word));
        let value = between();
        let mut state = self.state.lock().unwrap();
        state.waiters.defer();
        (state, value)
    }
}

fn fault() -> Error {
    Error::new(mpi_core::abi::MPI_ERR_INTERN, "a fault")
}

/// Two threads wait for a receive each. `rest` runs on a third, which then joins the first of them and sends to the
/// second.
fn two_wait(tied: [Tied; 2], rest: fn(&Process), ends_well: [bool; 2]) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(move || {
        let process = Process::new(false);
        let [first, second] = [0, 1].map(|receive| {
            let process = process.clone();
            thread::spawn(move || process.wait(receive, tied[receive]).is_ok())
        });
        rest(&process);
        assert_eq!(first.join().expect("no panic"), ends_well[0]);
        if ends_well[1] {
            process.send(1);
        }
        assert_eq!(second.join().expect("no panic"), ends_well[1]);
    });
}

#[test]
fn each_thread_gets_its_own_message() {
    two_wait([Tied::ToRequest; 2], |process| process.send(0), [true, true]);
}

#[test]
fn messages_that_come_at_once_reach_both_threads() {
    two_wait(
        [Tied::ToRequest; 2],
        |process| {
            process.send(1);
            process.send(0);
        },
        [true, true],
    );
}

#[test]
fn a_message_that_a_third_thread_finds_wakes_its_thread() {
    two_wait(
        [Tied::ToRequest; 2],
        |process| {
            // No doorbell rings: only the third thread's poll must find it.
            process.records[0].store(1, Ordering::Release);
            process.test();
        },
        [true, true],
    );
}

#[test]
fn a_thread_that_waits_for_any_change_sees_what_others_find() {
    two_wait(
        [Tied::ToAnyChange, Tied::ToRequest],
        |process| {
            process.records[0].store(1, Ordering::Release);
            process.test();
        },
        [true, true],
    );
}

#[test]
fn an_operation_that_another_thread_ends_wakes_its_thread() {
    two_wait([Tied::ToRequest; 2], |process| process.state.lock().unwrap().complete(0), [true, true]);
}

/// The first thread's copy ends only when the second one has its message.
#[test]
fn a_leader_that_waits_for_another_process_leaves_the_lead_to_others() {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(2);
    builder.check(|| {
        let process = Process::new(true);
        let [first, second] = [0, 1].map(|receive| {
            let process = process.clone();
            thread::spawn(move || process.wait(receive, Tied::ToRequest).is_ok())
        });
        process.send(1);
        assert!(second.join().expect("no panic"));
        let answer = process.copy.as_ref().expect("it copies");
        *answer.came.lock().unwrap() = true;
        answer.changed.notify_all();
        process.send(0);
        assert!(first.join().expect("no panic"));
    });
}

#[test]
fn a_fault_that_one_thread_finds_ends_all_waits() {
    two_wait(
        [Tied::ToRequest; 2],
        |process| {
            let mut state = process.state.lock().unwrap();
            state.failed = true;
            state.waiters.fail_all(&fault());
        },
        [false, false],
    );
}
