//! Waiting for words in memory of other processes, which collectives of communicators that share memory raise, and epochs
//! of windows.
//!
//! A process that raises a word rings the doorbells of those that sleep. A thread that polls, and every call that makes
//! progress, looks at the words that other threads of its process, and operations that do not block, wait for.
//! Invariant: a wait is in the list only while its thread sleeps, or its operation cannot continue.
//! Not here: the words (`mpi_fabric::Channel`, `mpi_fabric::EpochCounts`), what operations do when they continue (`mpi-coll`).

use mpi_core::{Guard, Handle};
use mpi_errors::Result;
use mpi_fabric::RoomWord;

use crate::awaited::Awaited;
use crate::collective_request::SCHEDULES;
use crate::core::{Core, State};
use crate::engine::Engine;
use crate::room_word::{RoomWait, Waiter};
use crate::service_queue::{Event, What};

/// Looks at a word before a waiting call looks at the rings too, where every process has a core: for about a fifth of a
/// microsecond.
const LOOKS: u32 = 96;

impl Engine {
    /// Waits until another process has raised a word, moving messages meanwhile.
    #[inline(always)]
    pub fn await_word(&self, awaited: mpi_fabric::Awaited<'_>) -> Result<()> {
        let looks = if self.settings.wait_spins.get() == 0 { 2 } else { LOOKS };
        for _ in 0..looks {
            if awaited.is_over() {
                return Ok(());
            }
        }
        self.await_word_slowly(awaited)
    }

    #[inline(never)]
    fn await_word_slowly(&self, awaited: mpi_fabric::Awaited<'_>) -> Result<()> {
        let mut guard = self.lock();
        for _ in 0..self.state.get(&guard).core.first_polls() {
            self.advance(&mut guard)?;
            if awaited.is_over() {
                return Ok(());
            }
        }
        let word = awaited.to_word();
        self.block_slowly(guard, Awaited::Word(&word).into(), |state| match word.is_over() {
            true => Some(Ok(())),
            false => state.check_members(word.members()).err().map(Err),
        })?
    }

    /// Whether another process has raised a word; moves messages if not.
    /// # Errors
    /// `MPI_ERR_PROC_ABORTED` if it will not, because that process has ended; those of the progress.
    pub fn test_word(&self, guard: &mut Guard<'_>, awaited: mpi_fabric::Awaited<'_>) -> Result<bool> {
        if awaited.is_over() {
            return Ok(true);
        }
        self.advance_for_test(guard)?;
        let word = awaited.to_word();
        if word.is_over() {
            return Ok(true);
        }
        self.state.get(guard).check_members(word.members())?;
        self.failed_test(guard);
        Ok(false)
    }

    /// Has the service of collective operations called when another process has raised a word.
    /// # Errors
    /// `MPI_ERR_PROC_ABORTED`: one of the processes that raise words for each other has ended.
    pub fn serve_word(&self, guard: &mut Guard<'_>, word: RoomWord, operation: Handle) -> Result<()> {
        let state = self.state.get_mut(guard);
        if !word.is_over() {
            state.check_members(word.members())?;
        }
        state.core.room_waits.push(RoomWait { word, waiter: Waiter::Operation(operation) });
        Ok(())
    }

    /// Has the service of collective operations called for an operation that can continue.
    pub fn continue_operation(&self, guard: &mut Guard<'_>, operation: Handle) {
        let core = &mut self.state.get_mut(guard).core;
        core.services.queue.push_back(raised(operation));
        core.wake_leader_for_work();
    }
}

impl State {
    /// Errors: `MPI_ERR_PROC_ABORTED`, if one of these processes has ended.
    pub(crate) fn check_members(&self, members: &[u32]) -> Result<()> {
        match members.iter().find(|member| self.core.lost.contains(member)) {
            Some(lost) => Err(self.endpoint.lost_error(*lost)),
            None => Ok(()),
        }
    }
}

impl Core {
    /// Wakes the threads, and queues the operations, whose words have been raised, or will not be.
    pub fn serve_room_waits(&mut self) {
        let Core { room_waits, waiters, services, lost, .. } = self;
        room_waits.retain(|wait| {
            if !wait.word.is_over() && !wait.word.members().iter().any(|member| lost.contains(member)) {
                return true;
            }
            match wait.waiter {
                Waiter::Thread(place) => waiters.wake(place),
                Waiter::Operation(operation) => services.queue.push_back(raised(operation)),
            }
            false
        });
    }
}

/// An operation can continue.
fn raised(operation: Handle) -> Event {
    Event { context: SCHEDULES, what: What::Raised(operation) }
}
