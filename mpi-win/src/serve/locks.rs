//! Records about the lock of this process's memory, where the processes of the window share none.
//!
//! The lock is granted in any call that makes progress, by an answer with a tag of its own: it comes when others have
//! given the lock back, and not in the order of the replies. A process that has ended has no lock any more, and waits
//! for none; the next ones get it.
//! Invariants: a process that gives the lock back gets its reply, and others get the lock, when all answers to its
//! operations are complete: some are sent from the window's memory. What processes request is checked (`LockQueue`).
//! Not here: the order of the requests (`lock_queue`), what the requesting processes do (`message_locks`).

use mpi_core::Guard;
use mpi_core::abi::MPI_ERR_PROC_ABORTED;
use mpi_datatype::SendBuf;
use mpi_errors::Result;
use mpi_p2p::Engine;

use super::{Operation, WinService};
use crate::lock_queue::{Answer, InvalidRequest, LockRequest};
use crate::wire::{AFTER_OTHERS, AT_ONCE, BUSY, GRANT, Head, Verb, malformed};

impl WinService {
    /// Applies a record about the lock, of a busy rank.
    pub(super) fn change_lock(&self, engine: &Engine, guard: &mut Guard<'_>, source: i32, head: &Head) -> Result<()> {
        match head.verb {
            Verb::Lock => self.request_lock(engine, guard, source, LockRequest::of(head.op)),
            Verb::Overtake => {
                let changed = self.state.get_mut(guard).lock.overtake(source as u32);
                self.grant_next(engine, guard)?;
                changed.map_err(|InvalidRequest| malformed("overtakes without a request to share the lock"))
            }
            _ if self.is_answering(guard, source) => {
                let state = self.state.get_mut(guard);
                state.unlocking.insert(source);
                state.busy.entry(source).or_default().awaits_data = true;
                Ok(())
            }
            _ => self.unlock(engine, guard, source),
        }
    }

    fn request_lock(
        &self,
        engine: &Engine,
        guard: &mut Guard<'_>,
        source: i32,
        kind: Option<LockRequest>,
    ) -> Result<()> {
        let queue = &mut self.state.get_mut(guard).lock;
        match kind.map(|kind| queue.request(source as u32, kind)) {
            Some(Ok(Answer::Granted)) => {
                if !self.grant(engine, guard, source, &[AT_ONCE])? {
                    self.grant_next(engine, guard)?;
                }
                Ok(())
            }
            Some(Ok(Answer::Waits)) => Ok(()),
            Some(Ok(Answer::Busy)) => {
                self.answer(engine, guard, (source, GRANT), SendBuf::from_slice(&[BUSY]), Vec::new())
            }
            Some(Err(InvalidRequest)) | None => {
                self.answer(engine, guard, (source, GRANT), SendBuf::empty(), Vec::new())?;
                Err(malformed(match kind {
                    Some(_) => "requests a lock that its process has, or waits for",
                    None => "requests a lock in an unknown way",
                }))
            }
        }
    }

    /// The process gives the lock back.
    fn unlock(&self, engine: &Engine, guard: &mut Guard<'_>, source: i32) -> Result<()> {
        let has_ended = engine.is_lost(guard, self.members[source as usize]);
        if self.state.get_mut(guard).lock.release(source as u32).is_err() && !has_ended {
            let without = malformed("gives back a lock that its process does not have");
            self.record_error(guard, source, Err(without));
        }
        // First the reply: the operations of the process that gets the lock next may take long.
        let answered = self.answer_last(engine, guard, source);
        self.grant_next(engine, guard)?;
        answered
    }

    /// An answer to a rank is complete: if it was the last one, and the rank gives the lock back, that happens now.
    pub(super) fn unlock_answered(&self, engine: &Engine, guard: &mut Guard<'_>, rank: i32) {
        if self.state.get(guard).unlocking.is_empty() || self.is_answering(guard, rank) {
            return;
        }
        if self.state.get_mut(guard).unlocking.remove(&rank) {
            let unlocked = self.unlock(engine, guard, rank);
            self.record_error(guard, rank, unlocked);
            self.state.get_mut(guard).busy.entry(rank).or_default().awaits_data = false;
            self.resume(engine, guard, rank);
        }
    }

    /// Whether answers to a rank are under way.
    fn is_answering(&self, guard: &Guard<'_>, rank: i32) -> bool {
        let to_rank = |operation: &Operation| matches!(operation, Operation::Answer { dest, .. } if *dest == rank);
        self.state.get(guard).under_way.values().any(to_rank)
    }

    /// A process has ended, by its number among all processes.
    pub(super) fn remove_from_lock(&self, engine: &Engine, guard: &mut Guard<'_>, number: u32) {
        let Some(rank) = self.members.iter().position(|member| *member == number) else { return };
        let (rank, state) = (rank as i32, self.state.get_mut(guard));
        // Its records that still wait for data must not be applied while the next process has the lock.
        let dropped = state.busy.get_mut(&rank).map_or(0, |busy| std::mem::take(&mut busy.behind).len());
        let unlocks = state.unlocking.remove(&rank);
        state.lock.remove(rank as u32);
        self.count_pending(-(dropped as i64));
        if unlocks {
            self.state.get_mut(guard).busy.entry(rank).or_default().awaits_data = false;
            self.resume(engine, guard, rank);
        }
        let granted = self.grant_next(engine, guard);
        self.record_error(guard, self.rank as i32, granted);
    }

    /// Grants the lock to those that can have it now.
    fn grant_next(&self, engine: &Engine, guard: &mut Guard<'_>) -> Result<()> {
        let mut outcome = Ok(());
        while let Some(rank) = self.state.get_mut(guard).lock.next() {
            outcome = outcome.and(self.grant(engine, guard, rank as i32, &[AFTER_OTHERS]).map(drop));
        }
        outcome
    }

    /// Reports to a rank that it has the lock; whether it has. A rank whose process has ended does not have it any more.
    fn grant(&self, engine: &Engine, guard: &mut Guard<'_>, rank: i32, how: &'static [u8]) -> Result<bool> {
        // Its end may have been reported before its request was applied.
        let sent = match engine.is_lost(guard, self.members[rank as usize]) {
            true => None,
            false => Some(self.answer(engine, guard, (rank, GRANT), SendBuf::from_slice(how), Vec::new())),
        };
        match sent {
            Some(Ok(())) => Ok(true),
            Some(Err(error)) if error.class() != MPI_ERR_PROC_ABORTED => {
                // An empty message has reported that it does not have the lock.
                self.state.get_mut(guard).lock.remove(rank as u32);
                Err(error)
            }
            Some(Err(_)) | None => {
                self.state.get_mut(guard).lock.remove(rank as u32);
                Ok(false)
            }
        }
    }
}
