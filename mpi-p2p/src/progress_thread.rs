//! A thread of the library that makes progress while the program computes: for collective operations that do not block, and for
//! windows whose operations need this process (a window counts as an operation from its creation until it is freed).
//!
//! The thread sleeps on the doorbell while such operations are under way and no thread of the program waits in the
//! library; otherwise it sleeps on a condition of its own. A program that tests for its operations, or waits for them
//! at once, moves them by itself: then, and where no core is free for the thread (fewer than two for each rank of the host, or one
//! that the process may use), it only looks from time to time whether the program still calls the library, and takes
//! over when it has made no call for a period. While it exists the process lock is in the mode of several threads.
//! Operations that call functions of the program keep it asleep, because the program may have one thread.
//! Invariants: whoever changes what the thread depends on holds the process lock, or sets the stop; signals are for
//! the threads of the program. The thread ends before the library's last user departs.
//! Not here: its orders (`background`), which operations there are (`mpi-coll`), how a pass makes progress (`copying`).

use std::io;
use std::sync::{Arc, PoisonError};
use std::thread::{Builder, yield_now};

use mpi_core::Guard;
use mpi_core::abi::MPI_ERR_NO_MEM;
use mpi_errors::{Error, Result};
use mpi_fabric::host::allowed_cores;
use mpi_fabric::signal_mask::with_all_signals_blocked;

use crate::background::{LONGEST_PERIOD, Order, PERIOD};
use crate::core::State;
use crate::engine::Engine;

impl Engine {
    /// Starts the thread, if it does not exist and messages ring a doorbell. `advice` is
    /// that of the error. Errors: `MPI_ERR_NO_MEM` without a thread.
    pub fn start_progress_thread(self: &Arc<Self>, guard: &mut Guard<'_>, advice: &'static str) -> Result<()> {
        if self.state.get(guard).core.background.running || !self.doorbell.can_announce() {
            return Ok(());
        }
        let engine = self.clone();
        let spawn = || Builder::new().name("progress".into()).spawn(move || engine.run_progress_thread());
        let handle = with_all_signals_blocked(spawn).map_err(|error| no_thread(error, advice))?;
        *self.progress_thread.handle.lock().unwrap_or_else(PoisonError::into_inner) = Some(handle);
        let multiple_before = self.lock.is_multiple();
        self.lock.set_multiple(true);
        let State { core, endpoint } = self.state.get_mut(guard);
        let host = endpoint.host_facts();
        // The thread has inherited the affinity of the calling thread.
        core.background.occupied = host.cores < 2 * host.ranks || allowed_cores().len() == 1;
        (core.background.running, core.background.multiple_before) = (true, multiple_before);
        Ok(())
    }

    /// Whether the thread exists.
    pub fn has_progress_thread(&self, guard: &Guard<'_>) -> bool {
        self.state.get(guard).core.background.running
    }

    /// Ends the thread, if it exists, and waits for its end. The caller does not hold the process lock.
    pub fn stop_progress_thread(&self) {
        let handle = self.progress_thread.handle.lock().unwrap_or_else(PoisonError::into_inner).take();
        let Some(handle) = handle else { return };
        self.progress_thread.give(Order::Stop);
        self.doorbell.wake();
        // The thread runs no code of the program, so it does not panic; if it did, it has ended all the same.
        let _ = handle.join();
        let guard = &mut self.lock();
        let background = &mut self.state.get_mut(guard).core.background;
        (background.running, background.working, background.watching) = (false, false, false);
        self.lock.set_multiple(background.multiple_before);
        *self.progress_thread.order.lock().unwrap_or_else(PoisonError::into_inner) = Order::Sleep;
    }

    /// An operation has begun for which the thread makes progress, unless it calls functions of the program.
    pub fn begin_background(&self, guard: &mut Guard<'_>, calls_back: bool) {
        self.state.get_mut(guard).core.background.begin(calls_back);
    }

    /// The first steps of an operation have been carried out, which may leave work that no doorbell announces.
    pub fn resume_background(&self, guard: &mut Guard<'_>) {
        let state = self.state.get_mut(guard);
        state.look_for_undrained();
        let core = &mut state.core;
        if let Some(order) = core.background.order() {
            self.progress_thread.give(order);
        } else if core.background.working && (core.has_pushes_waiting() || core.has_calls()) {
            self.doorbell.wake();
        }
    }

    /// An operation of [`Engine::begin_background`] is over.
    pub fn end_background(&self, guard: &mut Guard<'_>, calls_back: bool) {
        self.state.get_mut(guard).core.background.end(calls_back);
    }

    /// A window has begun, which needs the thread as soon as others access it.
    pub fn begin_background_window(&self, guard: &mut Guard<'_>) {
        self.state.get_mut(guard).core.background.windows += 1;
        self.begin_background(guard, false);
        self.resume_background(guard);
    }

    /// A window of [`Engine::begin_background_window`] is freed.
    pub fn end_background_window(&self, guard: &mut Guard<'_>) {
        self.state.get_mut(guard).core.background.windows -= 1;
        self.end_background(guard, false);
    }

    fn run_progress_thread(&self) {
        loop {
            match self.progress_thread.next() {
                Order::Work => self.progress_in_background(),
                Order::Watch => self.watch(),
                Order::Sleep => {}
                Order::Stop => return,
            }
        }
    }

    /// Makes progress when the program has made no call for a period while operations are under way; sleeps when it has
    /// begun none. The periods become longer while the program makes calls, because each look interrupts its computing.
    fn watch(&self) {
        let (mut before, mut period) = (None, PERIOD);
        while self.progress_thread.watches_on(period) {
            let guard = &mut self.lock();
            let state = self.state.get_mut(guard);
            state.look_for_undrained();
            let core = &mut state.core;
            let now = (core.background.begun, core.background.tests);
            let last = before.replace(now);
            if core.background.windows > 0 {
                // Peers may wait for it.
                period = PERIOD;
            } else if last.is_some_and(|last| last != now) {
                period = (2 * period).min(LONGEST_PERIOD);
            }
            let background = &mut core.background;
            if last != Some(now) || background.is_wanted() && core.waiters.has_leader() {
                continue;
            }
            background.watching = false;
            background.working = background.is_wanted();
            return self.progress_thread.give(if background.working { Order::Work } else { Order::Sleep });
        }
    }

    /// Makes progress until no operation needs it from this thread.
    fn progress_in_background(&self) {
        loop {
            let ticket = self.doorbell.announce();
            let mut guard = self.lock();
            let state = self.state.get_mut(&mut guard);
            state.look_for_undrained();
            let core = &mut state.core;
            if !core.background.is_wanted() || core.waiters.has_leader() || self.progress_thread.is_stopping() {
                core.background.working = false;
                // The look that a sleep over a network begins with may have taken what wakes the leader.
                core.waiters.wake_leader();
                return self.progress_thread.give(Order::Sleep);
            }
            match self.advance(&mut guard) {
                Ok(0) if !self.state.get(&guard).core.has_pushes_waiting() => {
                    drop(guard);
                    if let Some(ticket) = ticket {
                        self.doorbell.sleep(ticket);
                    }
                }
                Ok(moved) => {
                    let core = &mut self.state.get_mut(&mut guard).core;
                    core.background.helped += u64::from(moved > 0);
                    let pushes = core.has_pushes_waiting();
                    drop((ticket, guard));
                    if pushes {
                        yield_now();
                    }
                }
                Err(fault) => {
                    // A call of the program reports it.
                    let core = &mut self.state.get_mut(&mut guard).core;
                    core.fault.get_or_insert(fault);
                    core.background.working = false;
                    return self.progress_thread.give(Order::Sleep);
                }
            }
        }
    }
}

impl State {
    /// No thread of the program waits any more: an order for the thread, for [`Engine::give_order`].
    pub fn leave_to_background(&mut self) -> Option<Order> {
        if self.core.waiters.has_leader() {
            return None;
        }
        self.look_for_undrained();
        let core = &mut self.core;
        if core.background.working && (core.has_pushes_waiting() || core.has_calls() || core.background.undrained) {
            // It may sleep, and no doorbell announces what is left to do.
            core.waiters.wake_background();
        }
        core.background.order()
    }

    /// Finds whether a network has something that it sends only while somebody polls.
    fn look_for_undrained(&mut self) {
        let State { core, endpoint } = self;
        core.background.networked = core.background.running && endpoint.uses_network();
        core.background.undrained = core.background.networked && (core.has_pushes_waiting() || !endpoint.is_drained());
    }
}

impl Engine {
    /// Gives the thread an order of [`Core::leave_to_background`].
    pub(crate) fn give_order(&self, order: Order) {
        self.progress_thread.give(order);
    }
}

#[cold]
fn no_thread(error: io::Error, advice: &'static str) -> Error {
    Error::new(MPI_ERR_NO_MEM, format!("the progress thread cannot be started: {error}")).hint(advice)
}
