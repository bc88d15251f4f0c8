//! Epochs of windows other than those between fences: locks, flushes, post and start (MPI-5.0, 12.5.2 to 12.5.4).
//!
//! Invariant: no guard is held while a call waits.

use core::ffi::c_int;

use mpi_core::{Guard, functions};
use mpi_env::Process;
use mpi_win::Win;

use crate::call_context::{CallContext, WinRef};
use crate::check::Out;
use crate::errors::Outcome;
use crate::imp::group::group;
use crate::imp::win_access::on_window;

/// The process, with the lock released, because the call may wait.
fn unlocked(cx: CallContext) -> &'static Process {
    cx.process
}

/// Runs the short way of a call on one window.
#[inline(always)] // a few callers: short ways
fn quickly(
    (function, rank, win): (u16, c_int, usize),
    call: impl FnOnce(&Process, &mut Guard<'_>, &Win) -> Option<()>,
) -> bool {
    let Some(process) = mpi_env::running_quickly() else { return false };
    if mpi_t::whole_calls_requested() {
        return false;
    }
    on_window(process, win, |mut guard, win| {
        let Some(()) = call(process, &mut guard, win) else { return Err(guard) };
        process.recorder.record_untimed(function, win.context(), rank, 0, 0);
        Ok(())
    })
}

/// The short way of `MPI_Win_lock`, of a lock that is free.
#[inline(always)] // one caller: the entry point
pub fn win_lock_quickly(lock_type: c_int, rank: c_int, assert: c_int, win: usize) -> bool {
    quickly((functions::MPI_WIN_LOCK, rank, win), |process, guard, win| {
        process.one_sided.lock_quickly(guard, win, lock_type, rank, assert)
    })
}

/// The short way of `MPI_Win_unlock`, with nothing under way.
#[inline(always)] // one caller: the entry point
pub fn win_unlock_quickly(rank: c_int, win: usize) -> bool {
    quickly((functions::MPI_WIN_UNLOCK, rank, win), |process, guard, win| {
        process.one_sided.unlock_quickly(guard, win, rank)
    })
}

/// The short way of `MPI_Win_flush`, with nothing under way.
#[inline(always)] // one caller: the entry point
pub fn win_flush_quickly(rank: c_int, win: usize) -> bool {
    quickly((functions::MPI_WIN_FLUSH, rank, win), |process, guard, win| {
        process.one_sided.flush_quickly(guard, win, rank)
    })
}

/// The short way of `MPI_Win_flush_local`, as that of `MPI_Win_flush`.
#[inline(always)] // one caller: the entry point
pub fn win_flush_local_quickly(rank: c_int, win: usize) -> bool {
    quickly((functions::MPI_WIN_FLUSH_LOCAL, rank, win), |process, guard, win| {
        process.one_sided.flush_quickly(guard, win, rank)
    })
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

/// `MPI_Win_flush`
pub fn win_flush(cx: CallContext, rank: i32, win: WinRef) -> Outcome {
    let CallContext { process, guard, .. } = cx;
    Ok(process.one_sided.flush(guard, &win.win, rank)?)
}

/// `MPI_Win_flush_local`, which completes no less than `MPI_Win_flush`.
pub fn win_flush_local(cx: CallContext, rank: i32, win: WinRef) -> Outcome {
    win_flush(cx, rank, win)
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
