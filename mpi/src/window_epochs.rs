//! Epochs in which not all processes of a window take part: under locks, and among groups (MPI-5.0, 12.5.2 and 12.5.3).
//!
//! Invariant: as in the epochs of all processes, all operations are complete when the function returns.
//! Not here: the operations (`window`).

use mpi_comm::Group;
use mpi_core::abi::{MPI_LOCK_EXCLUSIVE, MPI_LOCK_SHARED};
use mpi_core::functions;
use mpi_datatype::Element;

use crate::call::{Call, CallName};
use crate::threads::ThreadUse;
use crate::window::{Epoch, Window, end};
use crate::{Error, Result};

const LOCK: CallName = CallName::new("Window::lock", functions::MPI_WIN_LOCK);
const LOCK_ALL: CallName = CallName::new("Window::lock_all", functions::MPI_WIN_LOCK_ALL);
const EPOCH_AMONG: CallName = CallName::new("Window::epoch_among", functions::MPI_WIN_START);
const FLUSH: CallName = CallName::new("Epoch::flush", functions::MPI_WIN_FLUSH);

/// How the elements of a process are locked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lock {
    /// Together with other processes (`MPI_LOCK_SHARED`).
    Shared,
    /// While no other process has the lock (`MPI_LOCK_EXCLUSIVE`).
    Exclusive,
}

impl<T: Element, M: ThreadUse> Window<'_, T, M> {
    /// Runs `body`, which starts operations on the elements of one process, while this process has their lock: all of
    /// them are complete when it returns. That process takes no part, and the call waits only for others that have the
    /// lock (`MPI_Win_lock`, `MPI_Win_unlock`).
    ///
    /// The process that has the elements reads and writes them in an epoch of its own, by a lock of its own rank:
    /// [`Window::read`] may find what other processes are changing.
    ///
    /// Errors: `MPI_ERR_RANK`; `MPI_ERR_PROC_ABORTED` when a process that may have the lock has ended; those of `body`, whose
    /// operations are complete all the same. An error of the end, and a panic of `body`, end the job.
    ///
    /// ```no_run
    /// # fn work(world: &mpi::World) -> mpi::Result<()> {
    /// // Each process takes the next number from rank 0, which need not call anything meanwhile.
    /// let mut counter = world.window::<u64>(usize::from(world.rank() == 0))?;
    /// let (one, mut number) = ([1], [0]);
    /// counter.lock(0, mpi::Lock::Shared, |epoch| epoch.fetch(0, 0, &one, &mut number, mpi::Operation::Sum))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn lock<'b>(
        &mut self,
        rank: u32,
        lock: Lock,
        body: impl FnOnce(&mut Epoch<'_, '_, 'b, T, M>) -> Result<()>,
    ) -> Result<()> {
        let lock_type = match lock {
            Lock::Shared => MPI_LOCK_SHARED,
            Lock::Exclusive => MPI_LOCK_EXCLUSIVE,
        };
        let target = i32::try_from(rank).unwrap_or(i32::MAX);
        self.locked(LOCK, Some((target, lock_type)), body)
    }

    /// As [`Window::lock`], for the elements of all processes, whose locks are shared (`MPI_Win_lock_all`,
    /// `MPI_Win_unlock_all`). Errors: as there.
    pub fn lock_all<'b>(&mut self, body: impl FnOnce(&mut Epoch<'_, '_, 'b, T, M>) -> Result<()>) -> Result<()> {
        self.locked(LOCK_ALL, None, body)
    }

    fn locked<'b>(
        &mut self,
        name: CallName,
        target: Option<(i32, i32)>,
        body: impl FnOnce(&mut Epoch<'_, '_, 'b, T, M>) -> Result<()>,
    ) -> Result<()> {
        let (window, process) = (&*self, self.comm.process);
        Call::run(process, self.win.context(), name, |call| {
            drop(call.enter(target.map_or(-1, |(rank, _)| rank), 0, 0));
            process.one_sided.locked_epoch(&self.win, target, end, |access| body(&mut Epoch { window, access }))
        })
    }

    /// Exposes the elements of this process to those of `origins`, and runs `body`, which starts operations on the elements
    /// of `targets`. Each of these has this process among its origins, and the reverse; no other process takes part
    /// (`MPI_Win_post`, `MPI_Win_start`, `MPI_Win_complete`, `MPI_Win_wait`). When it returns, all operations of `body` are
    /// complete, and those of the origins on this process's elements.
    ///
    /// Errors: `MPI_ERR_RANK`; those of `body`, whose operations are complete all the same. An error of the end, and a panic
    /// of `body`, end the job.
    pub fn epoch_among<'b>(
        &mut self,
        (origins, targets): (&[u32], &[u32]),
        body: impl FnOnce(&mut Epoch<'_, '_, 'b, T, M>) -> Result<()>,
    ) -> Result<()> {
        let (window, process) = (&*self, self.comm.process);
        Call::run(process, self.win.context(), EPOCH_AMONG, |call| {
            let groups = (self.group_of("origins", origins)?, self.group_of("targets", targets)?);
            drop(call.enter(-1, 0, 0));
            process
                .one_sided
                .group_epoch(&self.win, (&groups.0, &groups.1), end, |access| body(&mut Epoch { window, access }))
        })
    }

    /// The group of these ranks. Errors: `MPI_ERR_RANK`.
    fn group_of(&self, name: &'static str, ranks: &[u32]) -> Result<Group> {
        let all = self.win.group().world_ranks();
        let world_rank = |rank: &u32| {
            all.get(*rank as usize).copied().ok_or_else(|| {
                let processes = mpi_errors::processes_and_ranks(self.win.size());
                let rule = format!("the window has {processes}");
                Error::new(mpi_core::abi::MPI_ERR_RANK, rule).arg(name, rank)
            })
        };
        Ok(Group::new(ranks.iter().map(world_rank).collect::<Result<Vec<u32>>>()?))
    }
}

impl<T: Element, M: ThreadUse> Epoch<'_, '_, '_, T, M> {
    /// Completes the operations on the elements of a process, here and there, in [`Window::lock`] and [`Window::lock_all`]
    /// (`MPI_Win_flush`): what comes later finds their effect. Errors: `MPI_ERR_RANK`, `MPI_ERR_RMA_SYNC` in other epochs.
    pub fn flush(&mut self, rank: u32) -> Result<()> {
        let (process, context) = (self.window.comm.process, self.window.win.context());
        Call::run(process, context, FLUSH, |call| {
            let rank = i32::try_from(rank).unwrap_or(i32::MAX);
            drop(call.enter(rank, 0, 0));
            self.access.flush(rank)
        })
    }
}
