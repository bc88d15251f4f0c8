//! Epochs of windows other than those between fences: locks, flushes, post and start (MPI-5.0, 12.5.2 to 12.5.4).
//!
//! Invariant: no guard is held while a call waits.

use mpi_env::Process;

use crate::call_context::{CallContext, WinRef};
use crate::check::Out;
use crate::errors::Outcome;
use crate::imp::group::group;

/// The process, with the lock released, because the call may wait.
fn unlocked(cx: CallContext) -> &'static Process {
    cx.process
}

/// `MPI_Win_lock`
pub fn win_lock(cx: CallContext, lock_type: i32, rank: i32, assert: i32, win: WinRef) -> Outcome {
    let CallContext { process, guard, .. } = cx;
    Ok(process.one_sided.lock(guard, &win.win, lock_type, rank, assert)?)
}

/// `MPI_Win_lock_all`
pub fn win_lock_all(cx: CallContext, assert: i32, win: WinRef) -> Outcome {
    let CallContext { process, guard, .. } = cx;
    Ok(process.one_sided.lock_all(guard, &win.win, assert)?)
}

/// `MPI_Win_unlock`
pub fn win_unlock(cx: CallContext, rank: i32, win: WinRef) -> Outcome {
    let CallContext { process, guard, .. } = cx;
    Ok(process.one_sided.unlock(guard, &win.win, rank)?)
}

/// `MPI_Win_unlock_all`
pub fn win_unlock_all(cx: CallContext, win: WinRef) -> Outcome {
    let CallContext { process, guard, .. } = cx;
    Ok(process.one_sided.unlock_all(guard, &win.win)?)
}

/// `MPI_Win_flush`, and `MPI_Win_flush_local`, which completes no less.
pub fn win_flush(cx: CallContext, rank: i32, win: WinRef) -> Outcome {
    let CallContext { process, guard, .. } = cx;
    Ok(process.one_sided.flush(guard, &win.win, rank)?)
}

/// `MPI_Win_flush_all`, and `MPI_Win_flush_local_all`, which completes no less.
pub fn win_flush_all(cx: CallContext, win: WinRef) -> Outcome {
    let CallContext { process, guard, .. } = cx;
    Ok(process.one_sided.flush_all(guard, &win.win)?)
}

/// `MPI_Win_sync`
pub fn win_sync(cx: CallContext, _win: WinRef) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    Ok(process.one_sided.sync(&mut guard)?)
}

/// `MPI_Win_post`
pub fn win_post(cx: CallContext, origins: usize, assert: i32, win: WinRef) -> Outcome {
    let origins = group(&cx, "group", origins)?;
    Ok(unlocked(cx).one_sided.post(&win.win, &origins, assert)?)
}

/// `MPI_Win_start`
pub fn win_start(cx: CallContext, targets: usize, assert: i32, win: WinRef) -> Outcome {
    let targets = group(&cx, "group", targets)?;
    Ok(unlocked(cx).one_sided.start(&win.win, &targets, assert)?)
}

/// `MPI_Win_complete`
pub fn win_complete(cx: CallContext, win: WinRef) -> Outcome {
    Ok(unlocked(cx).one_sided.complete(&win.win)?)
}

/// `MPI_Win_wait`
pub fn win_wait(cx: CallContext, win: WinRef) -> Outcome {
    Ok(unlocked(cx).one_sided.wait(&win.win)?)
}

/// `MPI_Win_test`
pub fn win_test(cx: CallContext, win: WinRef, flag: Out<i32>) -> Outcome {
    flag.set(i32::from(unlocked(cx).one_sided.test(&win.win)?));
    Ok(())
}
