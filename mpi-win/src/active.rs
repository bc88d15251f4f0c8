//! Epochs among groups of processes (MPI-5.0, 12.5.2): post, start, complete and wait.
//!
//! `MPI_Win_post` sends an empty message to each process of its group, which `MPI_Win_start` receives there;
//! `MPI_Win_complete` completes the operations and sends one back, which `MPI_Win_wait` receives.
//! Invariant: the messages between two processes of a window, in one direction, are in the order of their epochs.
//! Not here: the operations (`access`), the messages that complete them (`sending`).

use mpi_comm::{Group, Outcome};
use mpi_core::Handle;
use mpi_core::abi::*;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::{Error, Result};
use mpi_p2p::Mode;

use crate::OneSided;
use crate::assertions;
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
        let origins = win.ranks_of(group)?;
        assertions::check("MPI_Win_post", assert, OF_POST, "MPI_MODE_NOCHECK, _NOSTORE and _NOPUT")?;
        win.check_operable()?;
        {
            let guard = &mut self.engine.lock();
            win.check_fenced(guard)?;
            if win.epoch.get(guard).exposure.is_some() {
                return Err(win.wrong_epoch("MPI_Win_post has begun an epoch, which MPI_Win_wait ends".to_owned()));
            }
            let mut ends = Vec::with_capacity(origins.len());
            for origin in &origins {
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
            epoch.exposure = Some(ends);
        }
        if assert & MPI_MODE_NOCHECK != 0 {
            return Ok(());
        }
        self.send_to_each(win, &origins, POST)
    }

    /// `MPI_Win_start`: begins an epoch for the processes of a group. Waits, with no guard held, until each of them has
    /// called `MPI_Win_post`. Errors: as [`OneSided::post`].
    pub fn start(&self, win: &Win, group: &Group, assert: i32) -> Result<()> {
        let targets = win.ranks_of(group)?;
        assertions::check("MPI_Win_start", assert, MPI_MODE_NOCHECK, "MPI_MODE_NOCHECK")?;
        win.check_operable()?;
        {
            let guard = &mut self.engine.lock();
            win.check_fenced(guard)?;
            let epoch = win.epoch.get_mut(guard);
            if epoch.access.is_some() {
                return Err(win.wrong_epoch("MPI_Win_start has begun an epoch, which MPI_Win_complete ends".to_owned()));
            }
            if epoch.locks.any() {
                return Err(win.wrong_epoch("this process has locked ranks".to_owned()));
            }
            epoch.open = false;
            epoch.access = Some(Box::default());
        }
        let mut outcome = Outcome::default();
        if assert & MPI_MODE_NOCHECK == 0 {
            for target in &targets {
                let posted =
                    self.engine.recv(self.engine.lock(), win.context(), *target as i32, POST, RecvBuf::empty());
                outcome.record(posted.map(drop).map_err(Error::from));
            }
        }
        let begun = outcome.end();
        win.epoch.get_mut(&mut self.engine.lock()).access = begun.is_ok().then(|| targets.into());
        begun
    }

    /// `MPI_Win_complete`: completes the operations of the epoch that `MPI_Win_start` has begun, and ends it. Waits, with no
    /// guard held. Errors: `MPI_ERR_RMA_SYNC`, those of the operations.
    pub fn complete(&self, win: &Win) -> Result<()> {
        let targets = win.epoch.get(&self.engine.lock()).access.clone();
        let Some(targets) = targets else {
            return Err(win.wrong_epoch("no epoch of MPI_Win_start is open".to_owned()));
        };
        let mut outcome = Outcome::default();
        outcome.record(self.flush_ranks(self.engine.lock(), win, 0..win.size()));
        win.epoch.get_mut(&mut self.engine.lock()).access = None;
        outcome.record(self.send_to_each(win, &targets, COMPLETE));
        outcome.end()
    }

    /// `MPI_Win_wait`: ends the epoch that `MPI_Win_post` has begun when all processes of its group have called
    /// `MPI_Win_complete`. Waits, with no guard held. Errors: `MPI_ERR_RMA_SYNC`.
    pub fn wait(&self, win: &Win) -> Result<()> {
        let ends = win.epoch.get_mut(&mut self.engine.lock()).exposure.take().ok_or_else(|| no_exposure(win))?;
        self.engine.wait_all(self.engine.lock(), &ends, |_, _| {})
    }

    /// `MPI_Win_test`: as [`OneSided::wait`] if that would not wait; whether the epoch has ended. Errors: as there.
    pub fn test(&self, win: &Win) -> Result<bool> {
        let guard = &mut self.engine.lock();
        let ends: Vec<Handle> = win.epoch.get(guard).exposure.clone().ok_or_else(|| no_exposure(win))?;
        let ended = self.engine.test_all(guard, &ends, |_, _| {})?;
        if ended {
            win.epoch.get_mut(guard).exposure = None;
        }
        Ok(ended)
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
    fn ranks_of(&self, group: &Group) -> Result<Vec<u32>> {
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
