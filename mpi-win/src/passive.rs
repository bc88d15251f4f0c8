//! Passive targets (MPI-5.0, 12.5.3 and 12.5.4): locks of the memory of other processes, and flushes.
//!
//! A lock is a word that all processes of the window have mapped (`mpi_fabric::RankLock`): its owner takes no part. Most
//! operations are complete when their calls return; a flush completes those that went to the target as records.
//! Invariant: a call that fails has changed no lock.
//! Not here: the operations (`access`), the messages of a flush (`sending`).

use std::sync::atomic::{Ordering, fence};
use std::time::Duration;

use mpi_core::abi::*;
use mpi_errors::{Error, Result};
use mpi_fabric::RankLock;

use crate::OneSided;
use crate::epoch::Held;
use crate::window::Win;

/// Attempts to take a lock, with progress between them, before the thread yields its core between them.
const SPINS: u32 = 200;
/// Attempts before it sleeps between them.
const YIELDS: u32 = 2000;
/// The sleep between later attempts, after each of which it looks whether the holder still runs.
const SLEEP: Duration = Duration::from_micros(50);

impl OneSided {
    /// `MPI_Win_lock`: begins an epoch for one rank. Waits, with no guard held, until the lock is free.
    ///
    /// Errors: `MPI_ERR_LOCKTYPE`, `MPI_ERR_RANK`, `MPI_ERR_ASSERT`; `MPI_ERR_RMA_SYNC` when the rank is locked, or an
    /// epoch of another kind is open; `MPI_ERR_PROC_ABORTED` when a process that may hold the lock has ended.
    pub fn lock(&self, win: &Win, lock_type: i32, rank: i32, assert: i32) -> Result<()> {
        let alone = match lock_type {
            MPI_LOCK_EXCLUSIVE => true,
            MPI_LOCK_SHARED => false,
            _ => return Err(bad_lock_type(lock_type)),
        };
        let rank = win.rank_named(rank)?;
        check_assertion(assert)?;
        self.begin_locks(win)?;
        let Some(rank) = rank else { return Ok(()) };
        if win.epoch.get(&self.engine.lock()).locks.has(rank) {
            return Err(win.wrong_epoch(format!("rank {rank} is locked by this process")));
        }
        let held = self.take(win, rank, alone, assert)?;
        win.epoch.get_mut(&mut self.engine.lock()).locks.took(rank, held, win.size());
        Ok(())
    }

    /// `MPI_Win_lock_all`: begins an epoch for all ranks, whose locks it shares. Waits, with no guard held. Errors: as
    /// [`OneSided::lock`].
    pub fn lock_all(&self, win: &Win, assert: i32) -> Result<()> {
        check_assertion(assert)?;
        self.begin_locks(win)?;
        if let Some(rank) = win.epoch.get(&self.engine.lock()).locks.ranks().first() {
            return Err(win.wrong_epoch(format!("rank {rank} is locked by this process")));
        }
        for rank in 0..win.size() {
            match self.take(win, rank, false, assert) {
                Ok(held) => win.epoch.get_mut(&mut self.engine.lock()).locks.took(rank, held, win.size()),
                Err(error) => {
                    (0..rank).try_for_each(|rank| self.release(win, rank))?;
                    return Err(error);
                }
            }
        }
        win.epoch.get_mut(&mut self.engine.lock()).locks.all = true;
        Ok(())
    }

    /// `MPI_Win_unlock`: completes the operations on a rank's memory, and ends the epoch for it. Waits, with no guard held.
    /// Errors: `MPI_ERR_RANK`, `MPI_ERR_RMA_SYNC`, those of the operations.
    pub fn unlock(&self, win: &Win, rank: i32) -> Result<()> {
        let Some(rank) = win.rank_named(rank)? else { return Ok(()) };
        {
            let guard = self.engine.lock();
            let locks = &win.epoch.get(&guard).locks;
            if locks.all {
                return Err(win.wrong_epoch("MPI_Win_unlock_all ends what MPI_Win_lock_all has begun".to_owned()));
            }
            if !locks.has(rank) {
                return Err(not_locked(win, rank));
            }
        }
        let flushed = self.flush_ranks(win, &[rank]);
        self.release(win, rank)?;
        flushed
    }

    /// `MPI_Win_unlock_all`: completes all operations, and ends the epoch of `MPI_Win_lock_all`. Waits, with no guard held.
    /// Errors: `MPI_ERR_RMA_SYNC`, those of the operations.
    pub fn unlock_all(&self, win: &Win) -> Result<()> {
        let ranks = {
            let guard = self.engine.lock();
            let locks = &win.epoch.get(&guard).locks;
            if !locks.all {
                return Err(win.wrong_epoch("no epoch of MPI_Win_lock_all is open".to_owned()));
            }
            locks.ranks()
        };
        let flushed = self.flush_ranks(win, &ranks);
        win.epoch.get_mut(&mut self.engine.lock()).locks.all = false;
        ranks.iter().try_for_each(|rank| self.release(win, *rank))?;
        flushed
    }

    /// `MPI_Win_flush` and `MPI_Win_flush_local`: completes the operations on a rank's memory. Waits, with no guard held.
    /// Errors: as [`OneSided::unlock`].
    pub fn flush(&self, win: &Win, rank: i32) -> Result<()> {
        let Some(rank) = win.rank_named(rank)? else { return Ok(()) };
        if !win.epoch.get(&self.engine.lock()).locks.has(rank) {
            return Err(not_locked(win, rank));
        }
        self.flush_ranks(win, &[rank])
    }

    /// `MPI_Win_flush_all` and `MPI_Win_flush_local_all`: completes the operations on all ranks' memory. Waits, with no
    /// guard held. Errors: as [`OneSided::unlock`].
    pub fn flush_all(&self, win: &Win) -> Result<()> {
        let ranks = win.epoch.get(&self.engine.lock()).locks.ranks();
        if ranks.is_empty() {
            return Err(win.wrong_epoch("no rank is locked by this process".to_owned()));
        }
        self.flush_ranks(win, &ranks)
    }

    /// `MPI_Win_sync`: orders the accesses of this process to the window's memory before and after it. All processes see
    /// one memory, so a fence of the processor does it.
    pub fn sync(&self) {
        fence(Ordering::SeqCst);
    }

    /// Begins an epoch of locks. One between fences without operations ends.
    fn begin_locks(&self, win: &Win) -> Result<()> {
        win.check_operable()?;
        let guard = &mut self.engine.lock();
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

    /// Takes the lock of a rank's memory.
    fn take(&self, win: &Win, rank: u32, alone: bool, assert: i32) -> Result<Held> {
        if assert & MPI_MODE_NOCHECK != 0 {
            return Ok(Held::Assured);
        }
        let lock = win.lock_of(rank)?;
        if alone {
            if !lock.try_hold(win.rank()) {
                lock.claim();
                let taken = self.await_lock(win, lock, || lock.try_hold(win.rank()));
                lock.end_claim();
                taken?;
            }
            return Ok(Held::Alone);
        }
        if !lock.try_share() {
            self.await_lock(win, lock, || lock.try_share())?;
        }
        Ok(Held::Shared)
    }

    /// Releases the lock of a rank's memory, which is held.
    fn release(&self, win: &Win, rank: u32) -> Result<()> {
        let held = win.epoch.get_mut(&mut self.engine.lock()).locks.released(rank);
        match held {
            Held::Shared => win.lock_of(rank)?.stop_sharing(),
            Held::Alone => win.lock_of(rank)?.release(),
            Held::No | Held::Assured => {}
        }
        Ok(())
    }

    /// Waits until `taken` is true, moving messages meanwhile.
    #[cold]
    fn await_lock(&self, win: &Win, lock: RankLock<'_>, taken: impl Fn() -> bool) -> Result<()> {
        let mut turns = 0u32;
        while !taken() {
            let mut guard = self.engine.lock();
            self.engine.progress(&mut guard)?;
            turns = turns.saturating_add(1);
            let ended = match turns {
                ..SPINS => None,
                SPINS..YIELDS => {
                    drop(guard);
                    std::thread::yield_now();
                    continue;
                }
                _ => (0..win.size()).find(|rank| !self.engine.is_alive(&guard, win.world_rank(*rank))),
            };
            drop(guard);
            match (ended, lock.holder()) {
                // The lock of a process that has ended is free, whatever became of the memory.
                (Some(ended), Some(holder)) if ended == holder => {
                    lock.take_over(holder, win.rank());
                    if lock.holder() == Some(win.rank()) {
                        lock.release();
                    }
                }
                (Some(ended), None) => return Err(may_be_held(win, ended)),
                _ if turns < YIELDS => std::hint::spin_loop(),
                _ => std::thread::sleep(SLEEP),
            }
        }
        Ok(())
    }
}

/// Errors: `MPI_ERR_ASSERT` for any but the only assertion that locks accept.
fn check_assertion(assert: i32) -> Result<()> {
    match assert & !MPI_MODE_NOCHECK {
        0 => Ok(()),
        _ => Err(Error::new(MPI_ERR_ASSERT, "a lock takes MPI_MODE_NOCHECK, or 0").arg("assert", &assert)),
    }
}

#[cold]
fn bad_lock_type(lock_type: i32) -> Error {
    let rule = "a lock is MPI_LOCK_EXCLUSIVE or MPI_LOCK_SHARED";
    Error::new(MPI_ERR_LOCKTYPE, rule).arg("lock_type", &lock_type)
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
