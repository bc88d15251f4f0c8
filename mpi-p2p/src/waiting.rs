//! Waiting: how a blocking call gives the lock up, polls, and sleeps.
//!
//! Invariant: no call sleeps with the process lock held, and none runs the program's code.
//! Not here: what a poll moves (`progress`), how a process sleeps and is woken (`mpi_fabric::Doorbell`).

use mpi_core::{Guard, Handle, Status};
use mpi_errors::{Error, Result};
use mpi_fabric::WaitStep;

use crate::core::State;
use crate::engine::Engine;
use crate::instruments::Doing;
use crate::request::{Completion, ReceiveFailure};

impl Engine {
    /// The end of a blocking send that could not be over at once.
    #[inline(never)]
    pub(crate) fn finish_send(&self, guard: Guard<'_>, request: Handle) -> Result<()> {
        let begun = self.instruments.begin(Doing::Sending);
        let sent = self.finish_blocking(guard, request);
        self.instruments.end(begun);
        sent.map(drop).map_err(Error::from)
    }

    /// The end of a blocking call: waits for its request; an error of the operation is the call's.
    #[inline]
    pub(crate) fn finish_blocking(&self, guard: Guard<'_>, request: Handle) -> Result<Status, ReceiveFailure> {
        match self.block(guard, |state| state.core.take_if_done(request).flatten()) {
            Ok(Completion { status, error: None, .. }) => Ok(status),
            Ok(Completion { status, error: Some(error), .. }) => Err(ReceiveFailure::received(error, status)),
            Err(fault) => {
                // The buffer is borrowed until this call returns.
                self.revoke(&[request]);
                Err(fault.into())
            }
        }
    }

    /// Waits until `ready` gives a value, moving messages meanwhile.
    ///
    /// Alone, the thread keeps the lock until it must sleep. Beside others it polls for a turn, then lets them in.
    #[inline]
    pub(crate) fn block<'e, T>(
        &'e self,
        mut guard: Guard<'e>,
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
        self.block_slowly(guard, ready)
    }

    #[inline(never)]
    fn block_slowly<'e, T>(
        &'e self,
        mut guard: Guard<'e>,
        mut ready: impl FnMut(&mut State) -> Option<T>,
    ) -> Result<T> {
        let multiple = self.lock.is_multiple();
        let policy = self.doorbell.policy();
        policy.set_spins(self.settings.wait_spins.get());
        policy.set_yields(self.settings.wait_yields.get());
        policy.set_sleeps(self.settings.wait_sleep.get());
        let mut spell = self.doorbell.begin_wait();
        let waited = self.instruments.begin_wait();
        let began = self.wait_events.tell_begin(self.instruments.requests.get());
        let mut turns = 0u32;
        let result = loop {
            match self.advance(&mut guard) {
                Err(error) => break Err(error),
                Ok(moved) => {
                    if let Some(value) = ready(self.state.get_mut(&mut guard)) {
                        break Ok(value);
                    }
                    if moved > 0 {
                        spell = self.doorbell.begin_wait();
                        continue;
                    }
                }
            }
            if self.state.get(&guard).core.wants_to_push() {
                // No doorbell rings for room in a ring: look again, and let others run now and then.
                turns += 1;
                if turns.is_multiple_of(64) || self.settings.wait_spins.get() == 0 {
                    drop(guard);
                    std::thread::yield_now();
                    guard = self.lock.lock();
                }
                continue;
            }
            // `next` may yield the core: never with the lock, where another thread wants it.
            let step = if multiple {
                drop(guard);
                let step = spell.next();
                guard = self.lock.lock();
                step
            } else {
                spell.next()
            };
            if let WaitStep::Sleep(ticket) = step {
                // The ticket announces the sleeper; what came before it is seen by this last poll.
                let moved = match self.advance(&mut guard) {
                    Ok(moved) => moved,
                    Err(error) => break Err(error),
                };
                let state = self.state.get_mut(&mut guard);
                if let Some(value) = ready(state) {
                    break Ok(value);
                }
                if moved == 0 && !state.core.wants_to_push() {
                    drop(guard);
                    self.doorbell.sleep(ticket);
                    guard = self.lock.lock();
                }
            }
        };
        self.instruments.end_wait(waited);
        self.wait_events.tell_end(began);
        result
    }
}
