//! Waiting: how a blocking call releases the lock, polls, and sleeps.
//!
//! A thread that is going to sleep marks the requests that it waits for with its place among the waiters; a request
//! that completes, is freed or is dropped wakes the thread at the place in its mark. A condition that depends on no
//! single request is checked again after every change.
//! Invariants: no call sleeps with the process lock held, and none runs the program's code. A mark names a place only
//! while the thread there sleeps, or is about to.
//! Not here: what a poll moves (`progress`), which thread polls (`waiters`), how a thread sleeps and is woken
//! (`mpi_fabric::Doorbell`).

use mpi_core::abi::MPI_REQUEST_NULL;
use mpi_core::{Guard, Handle, Status};
use mpi_errors::{Error, Result};
use mpi_fabric::WaitStep;

use crate::awaited::{Awaited, RecordedWait};
use crate::core::{Core, State};
use crate::engine::Engine;
use crate::instruments::Doing;
use crate::request::{AWAITED, AWAITED_BY, Completion, DETACHED, ReceiveFailure, Request};
use crate::room_word::{RoomWait, Waiter};
use crate::waiters::{Due, Place};

impl Engine {
    /// Completes a blocking send that could not be complete at once.
    #[inline(never)]
    pub(crate) fn finish_send(&self, guard: Guard<'_>, request: Handle) -> Result<()> {
        let begun = self.instruments.begin(Doing::Sending);
        let sent = self.finish_blocking(guard, request);
        self.instruments.end(begun);
        sent.map(drop).map_err(Error::from)
    }

    /// Completes a blocking call: waits for its request; an error of the operation is an error of the call.
    #[inline]
    pub(crate) fn finish_blocking(&self, guard: Guard<'_>, request: Handle) -> Result<Status, ReceiveFailure> {
        match self.block(guard, Awaited::One(request), |state| state.core.take_if_done(request).flatten()) {
            Ok(Completion { status, error: None, .. }) => Ok(status),
            Ok(Completion { status, error: Some(error), .. }) => Err(ReceiveFailure::received(error, status)),
            Err(fault) => {
                // The buffer is borrowed until this call returns.
                self.revoke(&[request]);
                Err(fault.into())
            }
        }
    }

    /// Waits until `ready` gives a value, moving messages meanwhile. `awaited` is what the value depends on.
    ///
    /// A process of one thread keeps the lock until it must sleep. Beside others a thread polls for a turn, then
    /// releases the lock.
    #[inline]
    pub(crate) fn block<'e, 'a, T>(
        &'e self,
        mut guard: Guard<'e>,
        wait: impl Into<RecordedWait<'a>>,
        mut ready: impl FnMut(&mut State) -> Option<T>,
    ) -> Result<T> {
        let state = self.state.get_mut(&mut guard);
        if let Some(value) = ready(state) {
            return Ok(value);
        }
        for _ in 0..state.core.first_polls() {
            if self.advance(&mut guard)? > 0
                && let Some(value) = ready(self.state.get_mut(&mut guard))
            {
                return Ok(value);
            }
        }
        self.block_slowly(guard, wait.into(), ready)
    }

    #[inline(never)]
    pub(crate) fn block_slowly<'e, T>(
        &'e self,
        guard: Guard<'e>,
        RecordedWait { awaited, entry }: RecordedWait<'_>,
        mut ready: impl FnMut(&mut State) -> Option<T>,
    ) -> Result<T> {
        let mut value = None;
        let ready = &mut |state: &mut State| {
            value = ready(state);
            value.is_some()
        };
        if let Some(entry) = entry {
            self.record_wait(&guard, awaited, entry);
        }
        self.wait_slowly(guard, awaited, ready)?;
        Ok(value.expect("the wait ended because there is one"))
    }

    /// Waits until `ready` is true. A separate function, so that only one copy of the loop exists.
    fn wait_slowly<'e>(&'e self, guard: Guard<'e>, awaited: Awaited<'_>, ready: Ready<'_>) -> Result<()> {
        let policy = self.doorbell.policy();
        policy.set_spins(self.settings.wait_spins.get());
        policy.set_yields(self.settings.wait_yields.get());
        policy.set_sleeps(self.settings.wait_sleep.get());
        let waited = self.instruments.begin_wait(&self.open_waits);
        let began = self.wait_events.raise_begin(self.instruments.requests.get());
        let mut due = Due::new();
        let (guard, result) = match self.lock.is_multiple() {
            true => self.wait_among_threads(guard, awaited, ready, &mut due),
            false => {
                let (guard, result) = self.poll_until(guard, None, ready);
                (guard, result.map(drop))
            }
        };
        self.instruments.end_wait(waited, &self.open_waits);
        self.wait_events.raise_end(began);
        let mut guard = guard;
        let left = self.state.get_mut(&mut guard).leave_to_background();
        drop(guard);
        self.wake_due(&due);
        if let Some(order) = left {
            self.give_order(order);
        }
        result
    }

    /// Polls, or sleeps until another thread of the process, which polls, has completed what this one waits for.
    fn wait_among_threads<'e>(
        &'e self,
        mut guard: Guard<'e>,
        awaited: Awaited<'_>,
        ready: Ready<'_>,
        due: &mut Due,
    ) -> (Guard<'e>, Result<()>) {
        let state = self.state.get_mut(&mut guard);
        if ready(state) {
            return (guard, Ok(()));
        }
        let (place, word) = state.core.waiters.enter();
        let result = loop {
            let core = &mut self.state.get_mut(&mut guard).core;
            if core.waiters.try_lead(place) {
                core.waiters.defer();
                let result;
                (guard, result) = self.poll_until(guard, Some(Seat { place, awaited }), ready);
                match result {
                    Ok(End::LeadTaken) => continue,
                    Ok(End::Over) => break Ok(()),
                    Err(fault) => break Err(fault),
                }
            }
            // `ready` was false under this guard, so any later change finds the thread marked as asleep.
            let marked = core.begin_sleep(place, awaited);
            if core.has_pushes_waiting() {
                core.waiters.wake_leader();
            }
            drop(guard);
            self.doorbell.wait_on(&word);
            guard = self.lock.lock_soon();
            let state = self.state.get_mut(&mut guard);
            state.core.end_sleep(place, marked);
            if ready(state) {
                break Ok(());
            }
            if let Some(fault) = state.core.waiters.take_failure(place) {
                break Err(fault);
            }
        };
        *due = self.state.get_mut(&mut guard).core.waiters.leave(place);
        (guard, result)
    }

    /// Polls, and sleeps on the doorbell, until `ready` is true. With a seat the thread leads: it releases the lock
    /// between polls, and ends if another thread has taken the lead.
    fn poll_until<'e>(
        &'e self,
        mut guard: Guard<'e>,
        seat: Option<Seat<'_>>,
        ready: Ready<'_>,
    ) -> (Guard<'e>, Result<End>) {
        let mut wait = self.doorbell.begin_wait();
        let mut turns = 0u32;
        loop {
            let moved = match self.advance(&mut guard) {
                Ok(moved) => moved,
                Err(fault) => return (guard, Err(fault)),
            };
            let state = self.state.get_mut(&mut guard);
            if let Some(result) = state.outcome(seat, ready) {
                return (guard, result);
            }
            if moved > 0 {
                turns = 0;
                wait = self.doorbell.begin_wait();
                if seat.is_some() {
                    guard = self.pause(guard, seat, || ());
                }
                continue;
            }
            let soon = !state.core.copies.started.is_empty() && turns < STARTED_TURNS;
            if soon || state.core.has_pushes_waiting() {
                // No doorbell rings for room in a ring: poll again, and yield to other processes now and then.
                turns = turns.saturating_add(1);
                let yields = turns.is_multiple_of(64) || self.settings.wait_spins.get() == 0;
                if yields || seat.is_some() {
                    let between = if yields { std::thread::yield_now } else { || () };
                    guard = self.pause(guard, seat, between);
                }
                continue;
            }
            // `next` may yield the core, so a thread with a seat calls it with the lock released: other threads may
            // need it.
            let mut step = WaitStep::Again;
            match seat {
                Some(_) => guard = self.pause(guard, seat, || step = wait.next()),
                None => step = wait.next(),
            }
            let WaitStep::Sleep(ticket) = step else { continue };
            // The ticket announces the sleeper. This last poll finds whatever arrived before it.
            let moved = match self.advance(&mut guard) {
                Ok(moved) => moved,
                Err(fault) => return (guard, Err(fault)),
            };
            let state = self.state.get_mut(&mut guard);
            if let Some(result) = state.outcome(seat, ready) {
                return (guard, result);
            }
            if moved == 0 && !state.core.has_pushes_waiting() {
                let marked = seat.map(|seat| state.core.begin_sleep(seat.place, seat.awaited));
                guard = self.pause(guard, seat, || self.doorbell.sleep(ticket));
                if let (Some(seat), Some(marked)) = (seat, marked) {
                    self.state.get_mut(&mut guard).core.end_sleep(seat.place, marked);
                }
            }
        }
    }

    /// Runs `between` with the lock released. A leader first wakes the threads whose operations it has completed.
    fn pause<'e>(&'e self, mut guard: Guard<'e>, seat: Option<Seat<'_>>, between: impl FnOnce()) -> Guard<'e> {
        let leads = seat.is_some();
        let due = if leads { self.state.get_mut(&mut guard).core.waiters.end_deferring() } else { Due::new() };
        // Another thread may have more to do than to poll.
        guard.give_way();
        self.wake_due(&due);
        between();
        let mut guard = self.lock.lock_soon();
        if leads {
            self.state.get_mut(&mut guard).core.waiters.defer();
        }
        guard
    }

    pub(crate) fn wake_due(&self, due: &Due) {
        due.iter().for_each(|word| self.doorbell.wake_thread(word));
    }
}

/// Polls in a wait before a thread sleeps while a network copies: a part takes less, unless the other process computes.
const STARTED_TURNS: u32 = 2000;

/// The greatest place that fits into a mark.
const PLACES: Place = 1 << (32 - AWAITED_BY);

/// How a wait of a thread that polls ends.
enum End {
    /// What it waited for has come.
    Over,
    /// Another thread took the lead while this one waited for another process without the lock.
    LeadTaken,
}

/// Whether a wait is over.
type Ready<'a> = &'a mut dyn FnMut(&mut State) -> bool;

/// The leader's place among the waiters, and what it waits for.
#[derive(Clone, Copy)]
struct Seat<'a> {
    place: Place,
    awaited: Awaited<'a>,
}

impl State {
    /// The result of the wait, if it is over: `ready` is true, another thread found a fault, or leads now.
    fn outcome(&mut self, seat: Option<Seat<'_>>, ready: Ready<'_>) -> Option<Result<End>> {
        if ready(self) {
            return Some(Ok(End::Over));
        }
        let Seat { place, .. } = seat?;
        if let Some(fault) = self.core.waiters.take_failure(place) {
            return Some(Err(fault));
        }
        (!self.core.waiters.leads(place)).then_some(Ok(End::LeadTaken))
    }
}

impl Core {
    /// The thread at `place`, whose condition does not hold, is about to sleep. Returns the argument of
    /// [`Core::end_sleep`].
    pub fn begin_sleep<'a>(&mut self, place: Place, awaited: Awaited<'a>) -> Awaited<'a> {
        let marked = match awaited {
            // Messages mostly come in order: when the last request is over, so are the others.
            Awaited::All(requests) => self.last_under_way(requests).map_or(Awaited::Change, Awaited::One),
            other => other,
        };
        let tied = match marked {
            Awaited::One(request) => self.mark(request, place),
            Awaited::Any(requests) => {
                let mut active = requests.iter().filter(|request| request.0 != MPI_REQUEST_NULL);
                active.all(|request| self.mark(*request, place))
            }
            Awaited::Word(word) => {
                self.room_waits.push(RoomWait { word: word.clone(), waiter: Waiter::Thread(place) });
                true
            }
            Awaited::All(_) | Awaited::Change => false,
        };
        if !tied {
            self.posting += 1;
        }
        self.waiters.begin_sleep(place, !tied);
        marked
    }

    /// The thread at `place` is awake; `marked` is what [`Core::begin_sleep`] returned.
    pub fn end_sleep(&mut self, place: Place, marked: Awaited<'_>) {
        match marked {
            Awaited::One(request) => self.unmark(request, place),
            Awaited::Any(requests) | Awaited::All(requests) => {
                requests.iter().for_each(|request| self.unmark(*request, place));
            }
            Awaited::Word(_) => self.room_waits.retain(|wait| wait.waiter != Waiter::Thread(place)),
            Awaited::Change => {}
        }
        if self.waiters.end_sleep(place) {
            self.posting -= 1;
        }
    }

    /// Wakes the threads whose condition any change may affect.
    #[inline(always)]
    pub fn wake_on_any_change(&mut self) {
        if self.waiters.any_watchful() {
            self.waiters.wake_on_any_change();
        }
    }

    /// Wakes the thread that sleeps until the request is over.
    pub fn wake_waiter_of(&mut self, request: Handle) {
        if let Some(place) = self.requests.get(request).and_then(Request::awaited_by) {
            self.waiters.wake(place);
        }
    }

    /// The last request of the list that is not over.
    fn last_under_way(&self, requests: &[Handle]) -> Option<Handle> {
        let operations = requests.iter().rev().map(|request| self.under_way(*request));
        let mut under_way = operations.filter(|request| self.requests.get(*request).is_some_and(|it| !it.is_done()));
        under_way.next()
    }

    /// Marks a request that is under way; false if it cannot be: it is no such request, or another thread waits for it.
    fn mark(&mut self, handle: Handle, place: Place) -> bool {
        let handle = self.under_way(handle);
        match self.requests.get_mut(handle) {
            Some(request) if !request.is_done() && request.marks & (AWAITED | DETACHED) == 0 && place < PLACES => {
                request.marks |= AWAITED | place << AWAITED_BY;
                true
            }
            Some(request) => request.awaited_by() == Some(place),
            None => false,
        }
    }

    fn unmark(&mut self, handle: Handle, place: Place) {
        let handle = self.under_way(handle);
        if let Some(request) = self.requests.get_mut(handle)
            && request.awaited_by() == Some(place)
        {
            request.marks &= ((1 << AWAITED_BY) - 1) & !AWAITED;
        }
    }
}
