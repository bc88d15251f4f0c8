//! Locks of windows whose processes share no memory: requests to the owners of the memory, which grant the locks.
//!
//! The owner's service answers when it grants a lock, in any call that makes progress there. A lock is given back by a
//! record behind the operations of the epoch, whose reply completes these too. The own lock is requested in the same
//! way, so that all requests wait in one order.
//!
//! `MPI_Win_lock_all` shares all locks at once, each without a wait if it can. Where it cannot, it gives back those that it
//! has, waits for the lock that was refused, and tries the others again: a process never waits for one lock of
//! `MPI_Win_lock_all` while it has another one. Requests at all targets that wait there would be one round trip less under
//! contention, but a process that has one exclusive lock and requests another one would wait for ever for a process that
//! shares the second and waits for the first. Locks that are taken with the first operation on a target wait in the same
//! way, and besides in calls that the standard does not let wait.
//! Invariants: as in `passive`; what a call that fails was granted is given back.
//! Not here: the grants (`serve`), the order of the requests (`lock_queue`), locks in shared memory (`passive`).

use std::ops::Range;
use std::sync::LazyLock;

use mpi_comm::{Outcome, PendingOps};
use mpi_core::Guard;
use mpi_core::abi::MPI_ERR_INTERN;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::{Error, Result};

use crate::OneSided;
use crate::epoch::Held;
use crate::lock_queue::LockRequest;
use crate::passive::{PATIENCE, pause};
use crate::window::Win;
use crate::wire::{AFTER_OTHERS, AT_ONCE, BATCH, BUSY, GRANT, Head, Verb};

/// Requests of all kinds, in the order of [`LockRequest`]: records that are the same for all targets.
static REQUESTS: LazyLock<[[u8; Head::BYTES]; 4]> = LazyLock::new(|| {
    let kinds = [LockRequest::Shared, LockRequest::Exclusive, LockRequest::TryShared, LockRequest::TrySharedFirst];
    kinds.map(|kind| Head::bare(Verb::Lock, kind as u32).encode())
});
/// The record by which a request to share a lock may overtake others.
static OVERTAKE: LazyLock<[u8; Head::BYTES]> = LazyLock::new(|| Head::bare(Verb::Overtake, 0).encode());

impl OneSided {
    /// Waits for the lock of a rank, which is awaited from now on.
    #[cold]
    pub(crate) fn lock_by_message(&self, mut guard: Guard<'_>, win: &Win, rank: u32, alone: bool) -> Result<()> {
        win.instruments().locks.incr();
        win.epoch.get_mut(&mut guard).locks.set(rank, Held::Awaited, win.size());
        drop(guard);
        let (kind, held) =
            if alone { (LockRequest::Exclusive, Held::Alone) } else { (LockRequest::Shared, Held::Shared) };
        let granted = self.await_grant(win, rank, kind);
        let held = if granted.is_ok() { held } else { Held::No };
        win.epoch.get_mut(&mut self.engine.lock()).locks.set(rank, held, win.size());
        granted
    }

    /// Shares the locks of all ranks.
    #[cold]
    pub(crate) fn share_all_by_messages(&self, win: &Win) -> Result<()> {
        let (mut waited, mut kind) = (None, LockRequest::TryShared);
        loop {
            let ranks: Vec<u32> = (0..win.size()).filter(|rank| Some(*rank) != waited).collect();
            let mut answers = vec![0; ranks.len()];
            let mut requested = self.request_locks(win, &ranks, kind, &mut answers);
            let refused = ranks.iter().zip(&answers).find(|(_, answer)| **answer == BUSY).map(|(rank, _)| *rank);
            if requested.is_ok() && refused.is_none() {
                return Ok(());
            }
            let has = |(rank, answer): (&u32, &u8)| (*answer == AT_ONCE).then_some(*rank);
            let granted: Vec<u32> = ranks.iter().zip(&answers).filter_map(has).chain(waited).collect();
            let returned = self.give_back(self.engine.lock(), win, 0..win.size(), granted);
            requested = requested.and(returned);
            requested?;
            let refused = refused.expect("a rank has refused, as there is no error");
            self.await_grant(win, refused, LockRequest::Shared)?;
            // It has let others go first when it waited.
            (waited, kind) = (Some(refused), LockRequest::TrySharedFirst);
        }
    }

    /// Completes the operations on the memory of these ranks, whose locks this process has, and gives the locks back. The
    /// epoch is over for other threads before that.
    #[cold]
    pub(crate) fn unlock_by_messages(&self, mut guard: Guard<'_>, win: &Win, ranks: Range<u32>) -> Result<()> {
        let locks = &mut win.epoch.get_mut(&mut guard).locks;
        match locks.all {
            true => locks.set_all(Held::No, win.size()),
            false => ranks.clone().for_each(|rank| {
                locks.set(rank, Held::No, win.size());
            }),
        }
        self.give_back(guard, win, ranks.clone(), ranks.collect())
    }

    /// Gives the locks of some of these ranks back, behind the operations on their memory; waits for the replies.
    fn give_back(&self, guard: Guard<'_>, win: &Win, ranks: Range<u32>, held: Vec<u32>) -> Result<()> {
        self.send_and_wait(guard, win, ranks, (held, Verb::Unlock))
    }

    /// Requests the lock of a rank and waits until this process has it.
    fn await_grant(&self, win: &Win, rank: u32, kind: LockRequest) -> Result<()> {
        let instruments = win.instruments();
        let began = instruments.lock_wait_time.is_watched().then(mpi_t::now_ns);
        let mut answer = [0];
        let requested = self.request_locks(win, &[rank], kind, &mut answer);
        if requested.is_err() || answer == [AFTER_OTHERS] {
            let _guard = self.engine.lock();
            instruments.locks_awaited.incr();
            if let Some(began) = began {
                instruments.lock_wait_time.add_ns(mpi_t::now_ns().saturating_sub(began));
            }
        }
        if requested.is_err() && [AT_ONCE, AFTER_OTHERS].contains(&answer[0]) {
            // Granted, but the call fails.
            let _ = self.give_back(self.engine.lock(), win, rank..rank + 1, vec![rank]);
        }
        requested
    }

    /// Requests the locks of these ranks and waits for the answers, which are stored; 0 stands for none. Errors: one of a
    /// rank that has not answered, or not in this way.
    fn request_locks(&self, win: &Win, ranks: &[u32], kind: LockRequest, answers: &mut [u8]) -> Result<()> {
        let mut outcome = Outcome::default();
        let waited = PendingOps::scope(&self.engine, |ops| {
            let guard = &mut self.engine.lock();
            for (rank, answer) in ranks.iter().zip(answers.chunks_exact_mut(1)) {
                let begun = ops.irecv(guard, win.context(), *rank, GRANT, RecvBuf::from_slice(answer)).and_then(|()| {
                    let sent = self.send_record(guard, win, (*rank, &REQUESTS[kind as usize - 1]), ops);
                    // Where nothing was sent no answer comes.
                    sent.inspect_err(|_| ops.exclude_last(*rank))
                });
                outcome.record(begun);
            }
            // An error that has nothing to do with the answers does not end the wait for them.
            let soon = kind != LockRequest::Shared
                || self.answered_soon(guard, ops).unwrap_or_else(|error| {
                    outcome.record(Err(error));
                    true
                });
            if !soon {
                ranks.iter().for_each(|rank| outcome.record(self.send_record(guard, win, (*rank, &*OVERTAKE), ops)));
            }
            Ok(())
        });
        outcome.record(waited);
        for (rank, answer) in ranks.iter().zip(answers) {
            let expected = match kind {
                LockRequest::Shared | LockRequest::Exclusive => [AT_ONCE, AFTER_OTHERS],
                LockRequest::TryShared | LockRequest::TrySharedFirst => [AT_ONCE, BUSY],
            };
            if !expected.contains(answer) {
                // Where there is an error already, it is that of an answer that did not come.
                outcome.record(Err(no_answer(*rank)));
                *answer = 0;
            }
        }
        outcome.end()
    }

    /// Sends a record that is the same for all targets.
    fn send_record(
        &self,
        guard: &mut Guard<'_>,
        win: &Win,
        (rank, record): (u32, &'static [u8]),
        ops: &mut PendingOps<'_, '_>,
    ) -> Result<()> {
        let record = SendBuf::from_slice(record);
        ops.add(self.engine.send_to_service(guard, win.context(), rank as i32, BATCH, record)?, None);
        win.epoch.get_mut(guard).sent_early(rank, 1);
        Ok(())
    }

    /// Whether all operations are complete within the time in which a request to share a lock lets others go first.
    fn answered_soon(&self, guard: &mut Guard<'_>, ops: &PendingOps<'_, '_>) -> Result<bool> {
        for turn in 0..PATIENCE {
            if ops.are_complete(guard)? {
                return Ok(true);
            }
            guard.unlocked(|| pause(turn));
        }
        Ok(false)
    }
}

#[cold]
fn no_answer(rank: u32) -> Error {
    let text = format!("rank {rank} refused a request for the lock of its memory, or could not answer it");
    Error::new(MPI_ERR_INTERN, text)
}
