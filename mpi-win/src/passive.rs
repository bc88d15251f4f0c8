//! Passive targets (MPI-5.0, 12.5.3 and 12.5.4): locks of the memory of other processes, and flushes.
//!
//! A lock is a word that all processes of the window have mapped (`mpi_fabric::RankLock`): its owner takes no part. Where
//! they cannot, its owner grants it (`message_locks`). Most operations are complete when their calls return; a flush
//! completes those that went to the target as records.
//! Invariant: a call that fails has changed no lock.
//! Not here: the operations (`access`), the messages of a flush (`sending`).

use std::time::Duration;

use mpi_core::Guard;
use mpi_core::abi::*;
use mpi_errors::{Error, Result};
use mpi_fabric::{RankLock, RankLocks};

use crate::OneSided;
use crate::assertions;
use crate::epoch::Held;
use crate::window::Win;

/// Attempts to take a lock, with progress between them, before the thread yields its core between them.
const SPINS: u32 = 200;
/// Attempts before it sleeps between them.
const YIELDS: u32 = 2000;
/// The first sleep between later attempts.
const SLEEP: Duration = Duration::from_micros(50);
/// Attempts after which sleeps are longer by the first one.
const LONGER: u32 = 200;
/// The longest sleep, as a multiple of the first one.
const LONGEST: u32 = 20;
/// Attempts in which a process that wants to share a lock lets those go first that wait to hold it alone. Longer might
/// be for ever: one that shares the lock may wait for this process before it releases it.
pub(crate) const PATIENCE: u32 = YIELDS + 40;
/// Sleeps between two checks of whether the holder still runs.
const CHECKS: u32 = 20;
/// Checks that have found the lock shared, and one of the processes ended, after which the wait is given up.
const HOPELESS: u32 = 100;

impl OneSided {
    /// `MPI_Win_lock`: begins an epoch for one rank. Waits, with no guard held, until the lock is free.
    ///
    /// Errors: `MPI_ERR_LOCKTYPE`, `MPI_ERR_RANK`, `MPI_ERR_ASSERT`; `MPI_ERR_RMA_SYNC` when a thread of this process has
    /// locked the rank or waits to, or an epoch of another kind is open; `MPI_ERR_PROC_ABORTED` when a process that may
    /// share the lock has ended, or the rank where it grants the lock itself.
    pub fn lock(&self, mut guard: Guard<'_>, win: &Win, lock_type: i32, rank: i32, assert: i32) -> Result<()> {
        let alone = match lock_type {
            MPI_LOCK_EXCLUSIVE => true,
            MPI_LOCK_SHARED => false,
            _ => return Err(bad_lock_type(lock_type)),
        };
        let rank = win.rank_named(rank)?;
        check_assertion(assert)?;
        self.begin_locks(&mut guard, win)?;
        let locks = &mut win.epoch.get_mut(&mut guard).locks;
        let Some(rank) = rank else {
            if std::mem::replace(&mut locks.nobody, true) {
                return Err(win.wrong_epoch("MPI_PROC_NULL is locked by this process".to_owned()));
            }
            return Ok(());
        };
        if locks.of(rank) != Held::No {
            return Err(locked_here(win, rank));
        }
        let lock = match (assert & MPI_MODE_NOCHECK == 0, win.locks()) {
            (true, Some(locks)) => Some(locks.of_rank(rank)),
            (true, None) => return self.lock_by_message(guard, win, rank, alone),
            (false, _) => None,
        };
        win.instruments().locks.incr();
        let at_once = match lock {
            None => Some(Held::Assured),
            Some(lock) if alone => lock.try_hold(win.rank()).then_some(Held::Alone),
            Some(lock) => lock.try_share().then_some(Held::Shared),
        };
        locks.set(rank, at_once.unwrap_or(Held::Awaited), win.size());
        match lock {
            Some(lock) if at_once.is_none() => self.lock_later(guard, win, (rank, lock), alone),
            _ => Ok(()),
        }
    }

    /// Waits for a lock that is awaited from now on.
    #[cold]
    fn lock_later(&self, guard: Guard<'_>, win: &Win, (rank, lock): (u32, RankLock<'_>), alone: bool) -> Result<()> {
        drop(guard);
        let taken = match alone {
            true => {
                lock.claim();
                let taken = self.await_lock(win, lock, |_| lock.try_hold(win.rank()));
                lock.end_claim();
                taken.map(|()| Held::Alone)
            }
            false => self.await_share(win, lock).map(|()| Held::Shared),
        };
        let guard = &mut self.engine.lock();
        let locks = &mut win.epoch.get_mut(guard).locks;
        locks.set(rank, *taken.as_ref().unwrap_or(&Held::No), win.size());
        taken.map(drop)
    }

    /// `MPI_Win_lock_all`: begins an epoch for all ranks, whose locks it shares. Waits, with no guard held. Errors: as
    /// [`OneSided::lock`].
    pub fn lock_all(&self, mut guard: Guard<'_>, win: &Win, assert: i32) -> Result<()> {
        check_assertion(assert)?;
        self.begin_locks(&mut guard, win)?;
        let epoch = win.epoch.get_mut(&mut guard);
        if let Some(rank) = epoch.locks.first() {
            return Err(locked_here(win, rank));
        }
        if epoch.locks.nobody {
            return Err(win.wrong_epoch("MPI_PROC_NULL is locked by this process".to_owned()));
        }
        if assert & MPI_MODE_NOCHECK != 0 {
            win.instruments().locks.incr();
            epoch.locks.set_all(Held::Assured, win.size());
            return Ok(());
        }
        win.instruments().locks.incr();
        epoch.locks.set_all(Held::Awaited, win.size());
        drop(guard);
        let shared = match win.locks() {
            Some(locks) => self.share_all(win, locks),
            None => self.share_all_by_messages(win),
        };
        let held = if shared.is_ok() { Held::Shared } else { Held::No };
        win.epoch.get_mut(&mut self.engine.lock()).locks.set_all(held, win.size());
        shared
    }

    /// Shares the locks of all ranks. While it waits for one it has none of the others, so that a process that holds that
    /// one and wants another does not wait for this process.
    fn share_all(&self, win: &Win, locks: &RankLocks) -> Result<()> {
        let (size, mut first, mut waited) = (win.size(), 0, false);
        loop {
            let lock = locks.of_rank(first);
            if !lock.try_share() {
                self.await_share(win, lock)?;
                waited = true;
            }
            let mut refused = None;
            for next in 1..size {
                let lock = locks.of_rank((first + next) % size);
                // It has let others go first when it waited.
                if !(if waited { lock.try_share_first() } else { lock.try_share() }) {
                    refused = Some(next);
                    break;
                }
            }
            let Some(refused) = refused else { return Ok(()) };
            for next in 0..refused {
                locks.of_rank((first + next) % size).stop_sharing();
            }
            first = (first + refused) % size;
        }
    }

    /// `MPI_Win_unlock`: completes the operations on a rank's memory, and ends the epoch for it. Waits, with no guard held.
    /// Errors: `MPI_ERR_RANK`, `MPI_ERR_RMA_SYNC`, those of the operations.
    pub fn unlock(&self, mut guard: Guard<'_>, win: &Win, rank: i32) -> Result<()> {
        let rank = win.rank_named(rank)?;
        let locks = &mut win.epoch.get_mut(&mut guard).locks;
        if locks.all {
            return Err(win.wrong_epoch("MPI_Win_unlock_all ends what MPI_Win_lock_all has begun".to_owned()));
        }
        let Some(rank) = rank else {
            return match std::mem::take(&mut locks.nobody) {
                true => Ok(()),
                false => Err(win.wrong_epoch("MPI_PROC_NULL is not locked by this process".to_owned())),
            };
        };
        if !locks.has(rank) {
            return Err(not_locked(win, rank));
        }
        if win.locks().is_none() && locks.of(rank) != Held::Assured {
            return self.unlock_by_messages(guard, win, rank..rank + 1);
        }
        let flushed = self.flush_ranks(guard, win, rank..rank + 1);
        let guard = &mut self.engine.lock();
        let locks = &mut win.epoch.get_mut(guard).locks;
        if !locks.has(rank) {
            // Another thread has ended the epoch meanwhile.
            return Err(not_locked(win, rank));
        }
        let held = locks.set(rank, Held::No, win.size());
        if let Some(lock) = win.lock_at(rank) {
            match held {
                Held::Shared => lock.stop_sharing(),
                Held::Alone => lock.release(),
                Held::No | Held::Awaited | Held::Assured => {}
            }
        }
        flushed
    }

    /// `MPI_Win_unlock_all`: completes all operations, and ends the epoch of `MPI_Win_lock_all`. Waits, with no guard held.
    /// Errors: `MPI_ERR_RMA_SYNC`, those of the operations.
    pub fn unlock_all(&self, guard: Guard<'_>, win: &Win) -> Result<()> {
        // All are held in the same way.
        let held = |guard: &Guard<'_>| {
            let locks = &win.epoch.get(guard).locks;
            match locks.all && locks.has(0) {
                true => Ok(locks.of(0)),
                false => Err(win.wrong_epoch("no epoch of MPI_Win_lock_all is open".to_owned())),
            }
        };
        if held(&guard)? != Held::Assured && win.locks().is_none() {
            return self.unlock_by_messages(guard, win, 0..win.size());
        }
        let flushed = self.flush_ranks(guard, win, 0..win.size());
        let guard = &mut self.engine.lock();
        // Not in another thread meanwhile.
        if held(guard)? == Held::Shared
            && let Some(locks) = win.locks()
        {
            (0..win.size()).for_each(|rank| locks.of_rank(rank).stop_sharing());
        }
        win.epoch.get_mut(guard).locks.set_all(Held::No, win.size());
        flushed
    }

    /// `MPI_Win_flush` and `MPI_Win_flush_local`: completes the operations on a rank's memory. Waits, with no guard held.
    /// Errors: as [`OneSided::unlock`].
    pub fn flush(&self, guard: Guard<'_>, win: &Win, rank: i32) -> Result<()> {
        let Some(rank) = win.rank_named(rank)? else { return Ok(()) };
        if !win.epoch.get(&guard).locks.has(rank) {
            return Err(not_locked(win, rank));
        }
        win.instruments().flushes.incr();
        self.flush_ranks(guard, win, rank..rank + 1)
    }

    /// `MPI_Win_flush_all` and `MPI_Win_flush_local_all`: completes the operations on all ranks' memory. Waits, with no
    /// guard held. Errors: as [`OneSided::unlock`].
    pub fn flush_all(&self, guard: Guard<'_>, win: &Win) -> Result<()> {
        if !win.epoch.get(&guard).locks.any() {
            return Err(win.wrong_epoch("no rank is locked by this process".to_owned()));
        }
        win.instruments().flushes.incr();
        self.flush_ranks(guard, win, 0..win.size())
    }

    /// `MPI_Win_sync`: orders the accesses of this process to the window's memory before and after it. All processes see
    /// one memory, so a fence of the processor does it. Makes progress, so that a process may wait in calls of this for a
    /// change of its memory by others. Errors: those of the progress.
    pub fn sync(&self, guard: &mut Guard<'_>) -> Result<()> {
        self.order_stores_now(guard);
        self.engine.progress(guard)
    }

    /// Begins an epoch of locks. One between fences without operations ends.
    fn begin_locks(&self, guard: &mut Guard<'_>, win: &Win) -> Result<()> {
        win.check_operable()?;
        win.check_fenced(guard)?;
        let epoch = win.epoch.get_mut(guard);
        if epoch.locks.all {
            return Err(win.wrong_epoch("all ranks are locked by this process".to_owned()));
        }
        if epoch.access.is_some() {
            return Err(win.wrong_epoch("MPI_Win_start has begun an epoch".to_owned()));
        }
        epoch.open = false;
        Ok(())
    }

    /// Waits until this process shares a lock.
    fn await_share(&self, win: &Win, lock: RankLock<'_>) -> Result<()> {
        self.await_lock(win, lock, |turn| if turn < PATIENCE { lock.try_share() } else { lock.try_share_first() })
    }

    /// Waits until `taken`, called with the number of the attempt, is true; moves messages meanwhile.
    #[cold]
    fn await_lock(&self, win: &Win, lock: RankLock<'_>, taken: impl Fn(u32) -> bool) -> Result<()> {
        let instruments = win.instruments();
        let began = instruments.lock_wait_time.is_watched().then(mpi_t::now_ns);
        let (mut turn, mut hopeless) = (0u32, 0);
        let waited = loop {
            if taken(turn) {
                break Ok(());
            }
            let moved = self.engine.progress(&mut self.engine.lock());
            if moved.is_err() {
                break moved;
            }
            turn = turn.saturating_add(1);
            pause(turn);
            if turn >= YIELDS && turn.is_multiple_of(CHECKS) {
                match self.check_holder(win, lock) {
                    None => hopeless = 0,
                    Some(ended) if hopeless == HOPELESS => break Err(may_be_held(win, ended)),
                    Some(_) => hopeless += 1,
                }
            }
        };
        let _guard = self.engine.lock();
        instruments.locks_awaited.incr();
        if let Some(began) = began {
            instruments.lock_wait_time.add_ns(mpi_t::now_ns().saturating_sub(began));
        }
        waited
    }

    /// Frees the lock if the process that holds it alone has ended, and forgets that processes wait for it if one has ended
    /// that may be one of those. Where processes share it, returns one that has ended: it may be one of those.
    fn check_holder(&self, win: &Win, lock: RankLock<'_>) -> Option<u32> {
        let guard = &self.engine.lock();
        let ended = |rank: u32| !self.engine.is_alive(guard, win.world_rank(rank));
        match lock.holder() {
            // The lock of a process that has ended is free, whatever became of the memory. One of those that wait takes
            // it over; what holds it later is not changed.
            Some(holder) if holder < win.size() && ended(holder) => {
                if lock.take_over(holder, win.rank()) {
                    lock.release();
                }
                None
            }
            Some(_) => None,
            None => {
                let shared = lock.is_shared();
                let of_ended = (0..win.size()).find(|rank| (shared || lock.is_claimed()) && ended(*rank))?;
                lock.forget_claims();
                shared.then_some(of_ended)
            }
        }
    }
}

/// Waits a moment before an attempt, the longer the more attempts there were.
pub(crate) fn pause(turn: u32) {
    match turn {
        ..SPINS => std::hint::spin_loop(),
        SPINS..YIELDS => std::thread::yield_now(),
        _ => std::thread::sleep(SLEEP * (1 + (turn - YIELDS) / LONGER).min(LONGEST)),
    }
}

/// Errors: `MPI_ERR_ASSERT` for any but the only assertion that locks accept.
fn check_assertion(assert: i32) -> Result<()> {
    assertions::check("a lock", assert, MPI_MODE_NOCHECK, "MPI_MODE_NOCHECK")
}

#[cold]
fn bad_lock_type(lock_type: i32) -> Error {
    let rule = "a lock is MPI_LOCK_EXCLUSIVE or MPI_LOCK_SHARED";
    Error::new(MPI_ERR_LOCKTYPE, rule).arg("lock_type", &lock_type)
}

#[cold]
fn locked_here(win: &Win, rank: u32) -> Error {
    win.wrong_epoch(format!("rank {rank} is locked by this process"))
}

#[cold]
fn not_locked(win: &Win, rank: u32) -> Error {
    win.wrong_epoch(format!(
        "rank {rank} is not locked by this process: MPI_Win_lock and MPI_Win_lock_all begin epochs"
    ))
}

#[cold]
fn may_be_held(win: &Win, ended: u32) -> Error {
    let text = format!("rank {ended} of {} has ended, and may hold the lock", win.described());
    Error::new(MPI_ERR_PROC_ABORTED, text)
}
