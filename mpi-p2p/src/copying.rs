//! Copying long messages with the process lock released.
//!
//! A pass claims a part of a message under the lock, copies it without the lock, and counts it under the lock. The
//! thread that polls for other waiting threads copies one part in a pass, so that it polls between two parts; any other
//! call copies all parts that it can claim. Where no other thread can need the lock it stays held, and a message that
//! this process alone copies is one part. A network copies parts while the process does other things, but for those whose regions a table
//! lists, and those that it writes: a thread waits for these, and another one polls meanwhile.
//! Invariants: no copy of more than [`LOCKED_MAX`] bytes, and none over a network, is made with the lock held while another thread may need it.
//! No message is copied inside a service's call, so that a service that starts a receive keeps the lock.
//! Not here: claims and pins (`copies`, `copy_job`), the other steps of a pass of progress (`progress`).

use mpi_core::Guard;
use mpi_errors::Result;
use mpi_fabric::Copier;

use crate::core::{Core, State};
use crate::engine::Engine;

/// Longest copy that is made with the lock held, in bytes: about one eager message.
const LOCKED_MAX: u64 = 16 << 10;

/// Whether a copy of so many bytes is too long to be made with the lock held.
pub(crate) fn is_long(bytes: u64) -> bool {
    bytes > LOCKED_MAX
}

impl Engine {
    /// One pass of progress. Returns the number of steps that made progress.
    #[inline(always)] // in the loop of every wait; what it calls is out of line
    pub(crate) fn advance(&self, guard: &mut Guard<'_>) -> Result<usize> {
        let state = self.state.get_mut(guard);
        let moved = state.poll()?;
        if state.core.has_work() {
            return self.advance_pending(guard, moved);
        }
        if moved > 0 {
            state.core.wake_on_any_change();
        }
        Ok(moved)
    }

    /// The rest of a pass that has more to do than to poll.
    #[inline(never)]
    fn advance_pending(&self, guard: &mut Guard<'_>, moved: usize) -> Result<usize> {
        let state = self.state.get_mut(guard);
        let moved = state.advance_pending(moved)?;
        if moved > 0 {
            state.core.wake_on_any_change();
        }
        Ok(moved + self.serve_and_copy(guard))
    }

    /// Calls the services that are to be called, and copies parts of long messages. Returns the number of parts.
    pub(crate) fn serve_and_copy(&self, guard: &mut Guard<'_>) -> usize {
        let mut copied = 0;
        loop {
            if self.state.get(guard).core.services.wait_for_call() > 0 {
                self.call_services(guard);
            }
            copied += self.copy_parts(guard);
            // A copy may have completed a receive of a service.
            let core = &mut self.state.get_mut(guard).core;
            if core.services.wait_for_call() == 0 {
                // A service may have queued an answer.
                core.wake_leader_for_work();
                return copied;
            }
        }
    }

    /// Copies parts of long messages. Returns the number of parts of which something was copied.
    pub(crate) fn copy_parts(&self, guard: &mut Guard<'_>) -> usize {
        let (mut copied, mut moved) = (0, 0);
        let concurrently = self.lock.is_contended();
        let Core { completions, waiters, .. } = &self.state.get(guard).core;
        let (completions, led) = (*completions, waiters.is_deferring());
        let state = self.state.get_mut(guard);
        while let Some(part) = state.core.copies.next_over(&mut moved) {
            state.core.count_part(&mut state.endpoint, part);
            copied += 1;
        }
        loop {
            let state = self.state.get_mut(guard);
            let waiters = &state.core.waiters;
            let wanted = waiters.leads_others() || led && !waiters.is_deferring();
            if state.core.copies.open == 0 || copied > 0 && wanted {
                break;
            }
            let Some(part) = state.core.claim_part(&state.endpoint, concurrently) else { break };
            let part = match part.is_over_network() {
                false => self.copy_unlocked(guard, part.bytes(), || part.copy()),
                true => match part.start() {
                    Ok(started) => {
                        state.core.copies.started.push(started);
                        continue;
                    }
                    Err(part) => {
                        let id = part.id;
                        state.core.copies.count_waiting(id, true);
                        let part = self.answered(guard, || part.copy());
                        self.state.get_mut(guard).core.copies.count_waiting(id, false);
                        part
                    }
                },
            };
            let state = self.state.get_mut(guard);
            state.core.count_part(&mut state.endpoint, part);
            copied += 1;
            state.hear_senders();
        }
        let core = &mut self.state.get_mut(guard).core;
        if core.completions != completions {
            core.wake_on_any_change();
        }
        // Also without a part of its own: the chunks that the sender copies are counted in a later pass.
        core.wake_leader_for_work();
        copied + moved
    }

    /// Copies the message of a receive that has just been started, and what else there is to copy. What a service
    /// starts is copied when the service has returned.
    #[cold]
    pub(crate) fn copy_at_start(&self, guard: &mut Guard<'_>) {
        if self.state.get(guard).core.services.calls == 0 {
            self.copy_parts(guard);
        }
    }

    /// Makes a copy of so many bytes: without the process lock, if the copy is long and another thread may need the
    /// lock. Other threads may have changed every object of the process meanwhile.
    #[inline]
    pub fn copy_unlocked<R>(&self, guard: &mut Guard<'_>, bytes: u64, copy: impl FnOnce() -> R) -> R {
        if !is_long(bytes) || !self.lock.is_contended() {
            return copy();
        }
        self.unlocked(guard, copy)
    }

    /// As [`Self::copy_unlocked`], with a copier. A copy over a network, of whatever length, waits until the other process's host
    /// answers, which may be after a call of that process only.
    #[inline]
    pub fn copy_by<R>(&self, guard: &mut Guard<'_>, copier: &Copier, bytes: u64, copy: impl FnOnce() -> R) -> R {
        match copier.is_over_network() {
            true => self.answered(guard, copy),
            false => self.copy_unlocked(guard, bytes, copy),
        }
    }

    /// Runs `wait`, which waits for another process: without the process lock, if another thread may need it. If the calling thread polls
    /// for others, one of these polls meanwhile.
    #[inline(never)]
    fn answered<R>(&self, guard: &mut Guard<'_>, wait: impl FnOnce() -> R) -> R {
        if !self.lock.is_contended() {
            return wait();
        }
        let lent = self.state.get_mut(guard).core.waiters.lend_lead();
        let result = self.unlocked(guard, wait);
        if let Some(place) = lent {
            self.state.get_mut(guard).core.waiters.lead_again(place);
        }
        result
    }

    /// Runs `body` with the process lock released. Other threads may have changed every object of the process
    /// meanwhile.
    #[inline(never)]
    pub fn unlocked<R>(&self, guard: &mut Guard<'_>, body: impl FnOnce() -> R) -> R {
        let waiters = &mut self.state.get_mut(guard).core.waiters;
        // Another thread that completes an operation meanwhile wakes the thread that waits for it itself.
        let deferring = waiters.is_deferring();
        let due = waiters.end_deferring();
        let result = guard.unlocked(|| {
            self.wake_due(&due);
            body()
        });
        let core = &mut self.state.get_mut(guard).core;
        if deferring {
            core.waiters.defer();
        }
        #[cfg(test)]
        {
            core.copies.releases += 1;
        }
        result
    }
}

impl State {
    /// Between two chunks of a receive that its sender copies too, looks whether the sender sends the rest in fragments.
    #[inline]
    fn hear_senders(&mut self) {
        // A fault stays where it is: the next poll reports it.
        if self.core.copies.await_chunks() && self.poll().is_ok() {
            self.core.complete_copies(&mut self.endpoint);
        }
    }
}

#[cfg(test)]
mod tests;
