//! Epochs among groups of processes (MPI-5.0, 12.5.2): post, start, complete and wait.
//!
//! Processes that share memory count their epochs there, for each pair of processes (`mpi_fabric::EpochCounts`):
//! `MPI_Win_post` raises the count for each process of its group, and `MPI_Win_start` waits for it; `MPI_Win_complete`
//! completes the operations and raises another count, for which `MPI_Win_wait` waits. Otherwise empty messages do the same.
//! Invariants: which of both it is, is the same in all processes of a window. Counts, and messages between two processes
//! in one direction, are in the order of their epochs.
//! Not here: the operations (`access`), the messages that complete them (`sending`).

use std::sync::Arc;

use mpi_comm::{Group, Outcome};
use mpi_core::Guard;
use mpi_core::abi::*;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::{Error, Result};
use mpi_fabric::EpochCounts;
use mpi_p2p::{AwaitedWord, Completion, EpochCount, Mode};

use crate::OneSided;
use crate::assertions;
use crate::epoch::{Epoch, Exposed, Step};
use crate::window::Win;
use crate::wire::{COMPLETE, POST};

/// The assertions that `MPI_Win_post` accepts.
const OF_POST: i32 = MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT;

impl OneSided {
    /// `MPI_Win_post`: the processes of a group may access this process's memory. Does not wait for them.
    ///
    /// Errors: `MPI_ERR_GROUP` for a process that the window does not have, `MPI_ERR_ASSERT`, `MPI_ERR_RMA_SYNC` while such
    /// an epoch is open.
    pub fn post(&self, win: &Win, group: &Group, assert: i32) -> Result<()> {
        let guard = &mut self.engine.lock();
        let origins = win.ranks_of(guard, group)?;
        assertions::check("MPI_Win_post", assert, OF_POST, "MPI_MODE_NOCHECK, _NOSTORE and _NOPUT")?;
        win.check_operable()?;
        win.check_fenced(guard)?;
        if win.epoch.get(guard).exposure.is_some() {
            return Err(win.wrong_epoch("MPI_Win_post has begun an epoch, which MPI_Win_wait ends".to_owned()));
        }
        let checked = assert & MPI_MODE_NOCHECK == 0;
        if let Some(counts) = win.counts() {
            let epoch = win.epoch.get_mut(guard);
            epoch.open = false;
            if checked {
                for origin in origins.iter() {
                    counts.raise(*origin, EpochCount::Posts, epoch.pairs.next(*origin, Step::Post));
                }
            }
            epoch.exposure = Some(Exposed::Counted(origins));
            return Ok(());
        }
        let mut ends = Vec::with_capacity(origins.len());
        for origin in origins.iter() {
            match self.engine.irecv(guard, win.context(), *origin as i32, COMPLETE, RecvBuf::empty()) {
                Ok(end) => ends.push(end),
                Err(error) => {
                    guard.unlocked(|| self.engine.revoke(&ends));
                    return Err(error);
                }
            }
        }
        let epoch = win.epoch.get_mut(guard);
        epoch.open = false;
        epoch.exposure = Some(Exposed::Messages(ends));
        if checked { guard.unlocked(|| self.send_to_each(win, &origins, POST)) } else { Ok(()) }
    }

    /// `MPI_Win_start`: begins an epoch for the processes of a group. Waits, with no guard held, until each of them has
    /// called `MPI_Win_post`. Errors: as [`OneSided::post`].
    pub fn start(&self, win: &Win, group: &Group, assert: i32) -> Result<()> {
        let guard = &mut self.engine.lock();
        let targets = win.ranks_of(guard, group)?;
        assertions::check("MPI_Win_start", assert, MPI_MODE_NOCHECK, "MPI_MODE_NOCHECK")?;
        win.check_operable()?;
        win.check_fenced(guard)?;
        let epoch = win.epoch.get_mut(guard);
        if epoch.access.is_some() {
            return Err(win.wrong_epoch("MPI_Win_start has begun an epoch, which MPI_Win_complete ends".to_owned()));
        }
        if epoch.locks.any() {
            return Err(win.wrong_epoch("this process has locked ranks".to_owned()));
        }
        epoch.open = false;
        if assert & MPI_MODE_NOCHECK != 0 {
            epoch.access = Some(targets);
            return Ok(());
        }
        // While this waits no thread begins another one, and no operation may start.
        epoch.access = Some(Arc::default());
        let begun = match win.counts() {
            Some(counts) => self.await_counts(guard, win, &targets, |epoch, target| {
                counts.awaited(target, EpochCount::Posts, epoch.pairs.next(target, Step::Start))
            }),
            None => guard.unlocked(|| self.await_posts(win, &targets)),
        };
        win.epoch.get_mut(guard).access = begun.is_ok().then_some(targets);
        begun
    }

    /// `MPI_Win_complete`: completes the operations of the epoch that `MPI_Win_start` has begun, and ends it. Waits, with no
    /// guard held. Errors: `MPI_ERR_RMA_SYNC`, those of the operations.
    pub fn complete(&self, win: &Win) -> Result<()> {
        let mut guard = self.engine.lock();
        let targets = win.epoch.get(&guard).access.clone();
        let Some(targets) = targets else {
            return Err(win.wrong_epoch("no epoch of MPI_Win_start is open".to_owned()));
        };
        let mut outcome = Outcome::default();
        // In mapped memory every operation is complete when its call returns.
        if !win.is_mapped() {
            outcome.record(self.flush_ranks(guard, win, 0..win.size()));
            guard = self.engine.lock();
        }
        let epoch = win.epoch.get_mut(&mut guard);
        epoch.access = None;
        match win.counts() {
            // Whoever finds the count finds the data of the operations.
            Some(counts) => targets.iter().for_each(|target| {
                counts.raise(*target, EpochCount::Completes, epoch.pairs.next(*target, Step::Complete));
            }),
            None => {
                drop(guard);
                outcome.record(self.send_to_each(win, &targets, COMPLETE));
            }
        }
        outcome.end()
    }

    /// `MPI_Win_wait`: ends the epoch that `MPI_Win_post` has begun when all processes of its group have called
    /// `MPI_Win_complete`. Waits, with no guard held. Errors: `MPI_ERR_RMA_SYNC`; `MPI_ERR_PROC_ABORTED` when one of them
    /// has ended.
    pub fn wait(&self, win: &Win) -> Result<()> {
        let guard = &mut self.engine.lock();
        let exposed = win.epoch.get_mut(guard).exposure.take().ok_or_else(|| no_exposure(win))?;
        match (exposed, win.counts()) {
            (Exposed::Messages(ends), _) => guard.unlocked(|| {
                let mut outcome = Outcome::default();
                let each = |_, end: Completion| outcome.record(end.error.map_or(Ok(()), Err));
                let waited = self.engine.wait_all(self.engine.lock(), &ends, each);
                outcome.record(waited);
                outcome.end()
            }),
            (Exposed::Counted(origins), Some(counts)) => self.await_counts(guard, win, &origins, |epoch, origin| {
                counts.awaited(origin, EpochCount::Completes, epoch.pairs.next(origin, Step::Wait))
            }),
            (Exposed::Counted(_), None) => Ok(()),
        }
    }

    /// `MPI_Win_test`: as [`OneSided::wait`] if that would not wait; whether the epoch has ended, as it has after an error.
    /// Errors: as there.
    pub fn test(&self, win: &Win) -> Result<bool> {
        let guard = &mut self.engine.lock();
        let exposed = win.epoch.get(guard).exposure.clone().ok_or_else(|| no_exposure(win))?;
        let tested = match (&exposed, win.counts()) {
            (Exposed::Messages(ends), _) => {
                let mut outcome = Outcome::default();
                let each = |_, end: Completion| outcome.record(end.error.map_or(Ok(()), Err));
                let tested = self.engine.test_all(guard, ends, each);
                tested.and_then(|ended| outcome.end().map(|()| ended))
            }
            (Exposed::Counted(origins), Some(counts)) => self.test_counts(guard, win, counts, origins),
            (Exposed::Counted(_), None) => Ok(true),
        };
        if !matches!(tested, Ok(false)) {
            let epoch = win.epoch.get_mut(guard);
            epoch.exposure = None;
            if let Exposed::Counted(origins) = &exposed {
                for origin in origins.iter() {
                    epoch.pairs.next(*origin, Step::Wait);
                }
            }
        }
        tested
    }

    /// Whether each of these ranks has counted the end of its epoch.
    fn test_counts(&self, guard: &mut Guard<'_>, win: &Win, counts: &EpochCounts, origins: &[u32]) -> Result<bool> {
        for origin in origins {
            let number = win.epoch.get(guard).pairs.count(*origin, Step::Wait) + 1;
            if !self.engine.test_word(guard, counts.awaited(*origin, EpochCount::Completes, number))? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Waits until each of these ranks has raised the count that `awaited` returns for it.
    #[inline]
    fn await_counts<'w>(
        &self,
        guard: &mut Guard<'_>,
        win: &'w Win,
        ranks: &[u32],
        awaited: impl Fn(&mut Epoch, u32) -> AwaitedWord<'w>,
    ) -> Result<()> {
        let mut outcome = Outcome::default();
        for rank in ranks {
            let word = awaited(win.epoch.get_mut(guard), *rank);
            if !word.is_over() {
                outcome.record(guard.unlocked(|| self.engine.await_word(word)));
            }
        }
        if !win.epoch.get_mut(guard).may_skip_progress() {
            outcome.record(self.engine.progress(guard));
        }
        outcome.end()
    }

    /// Receives the messages of `MPI_Win_post`.
    fn await_posts(&self, win: &Win, targets: &[u32]) -> Result<()> {
        let mut outcome = Outcome::default();
        for target in targets {
            let posted = self.engine.recv(self.engine.lock(), win.context(), *target as i32, POST, RecvBuf::empty());
            outcome.record(posted.map(drop).map_err(Error::from));
        }
        outcome.end()
    }

    /// Sends an empty message to each of these ranks.
    fn send_to_each(&self, win: &Win, ranks: &[u32], tag: i32) -> Result<()> {
        let mut outcome = Outcome::default();
        for rank in ranks {
            let guard = self.engine.lock();
            let empty = SendBuf::empty();
            outcome.record(self.engine.send(guard, win.context(), *rank as i32, tag, empty, Mode::Standard));
        }
        outcome.end()
    }
}

impl Win {
    /// The ranks in the window of a group's processes, ascending. Errors: `MPI_ERR_GROUP`.
    fn ranks_of(&self, guard: &mut Guard<'_>, group: &Group) -> Result<Arc<[u32]>> {
        let last = &self.epoch.get(guard).last_groups;
        // The numbers of the window's processes do not change, so the same group has the same ranks.
        if let Some((_, ranks)) = last.iter().flatten().find(|(members, _)| Arc::ptr_eq(members, group.world_ranks())) {
            return Ok(ranks.clone());
        }
        let ranks: Arc<[u32]> = self.find_ranks(group)?.into();
        let last = &mut self.epoch.get_mut(guard).last_groups;
        last.swap(0, 1);
        last[0] = Some((group.world_ranks().clone(), ranks.clone()));
        Ok(ranks)
    }

    fn find_ranks(&self, group: &Group) -> Result<Vec<u32>> {
        let rank_of = |(rank, world_rank): (usize, &u32)| {
            self.group().rank_of(*world_rank).ok_or_else(|| {
                let rule = format!("the process of rank {rank} in the group is not one of {}", self.described());
                Error::new(MPI_ERR_GROUP, rule)
            })
        };
        let mut ranks = group.world_ranks().iter().enumerate().map(rank_of).collect::<Result<Vec<u32>>>()?;
        ranks.sort_unstable();
        Ok(ranks)
    }
}

#[cold]
fn no_exposure(win: &Win) -> Error {
    win.wrong_epoch("no epoch of MPI_Win_post is open".to_owned())
}
