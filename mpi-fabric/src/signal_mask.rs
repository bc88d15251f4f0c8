//! Calls that change a file, made so that the system answers with an error where it would send a deadly signal.
//!
//! Writing beyond `RLIMIT_FSIZE` sends `SIGXFSZ`, writing to a pipe that nobody reads sends `SIGPIPE`; the default of
//! both is to end the process. Here they are blocked in the calling thread while the call lasts, and the one that the
//! call itself raised is taken back: the caller sees `EFBIG` or `EPIPE`, and the program's own handlers nothing.
//! Invariant: after a call the thread's mask is as before, and a signal that was pending before still is.
#![allow(unsafe_code)] // the system's interface to signals and limits

use std::io;
use std::mem::MaybeUninit;
use std::ptr;

/// The size that the process may not make files exceed, if there is such a limit.
pub(crate) fn file_size_limit() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call fills the structure.
    let result = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) };
    (result == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

/// Makes a call that may raise one of the two signals.
pub(crate) fn with_signals_blocked<R>(call: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
    let signals = both();
    let mut before = MaybeUninit::uninit();
    // SAFETY: both sets are the size that the call expects; it fills the second.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &signals, before.as_mut_ptr()) };
    let pending = pending();
    let result = call();
    if let Err(error) = &result {
        match error.raw_os_error() {
            Some(libc::EFBIG) if !pending.0 => take(libc::SIGXFSZ),
            Some(libc::EPIPE) if !pending.1 => take(libc::SIGPIPE),
            _ => {}
        }
    }
    // SAFETY: the first call filled the set, and nothing is asked for in return.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut()) };
    result
}

fn set_of(numbers: &[i32]) -> libc::sigset_t {
    let mut set = MaybeUninit::uninit();
    // SAFETY: `sigemptyset` makes a valid set, which is then added to.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        numbers.iter().for_each(|number| {
            libc::sigaddset(set.as_mut_ptr(), *number);
        });
        set.assume_init()
    }
}

fn both() -> libc::sigset_t {
    set_of(&[libc::SIGXFSZ, libc::SIGPIPE])
}

/// Whether each of the two waits to be delivered.
fn pending() -> (bool, bool) {
    let mut set = set_of(&[]);
    // SAFETY: the call fills the set, which `sigismember` then reads.
    unsafe {
        libc::sigpending(&mut set);
        (libc::sigismember(&set, libc::SIGXFSZ) == 1, libc::sigismember(&set, libc::SIGPIPE) == 1)
    }
}

/// Takes back a signal that the call has just raised in this thread.
fn take(number: i32) {
    let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the set and the time are valid; no facts about the signal are asked for.
    unsafe { libc::sigtimedwait(&set_of(&[number]), ptr::null_mut(), &at_once) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn writing_to_a_pipe_that_nobody_reads_is_an_error_and_nothing_more() {
        // The test harness ignores SIGPIPE, a program's default is to die of it: what is tested runs in a child that
        // has the default.
        let mut ends = [0; 2];
        // SAFETY: the call fills both ends, which are then owned by files.
        let (reader, mut writer) = unsafe {
            assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
            let file = |end| <std::fs::File as std::os::fd::FromRawFd>::from_raw_fd(end);
            (file(ends[0]), file(ends[1]))
        };
        drop(reader);
        // SAFETY: the child makes system calls only, and leaves by `_exit`.
        let status = unsafe {
            match libc::fork() {
                0 => {
                    libc::signal(libc::SIGPIPE, libc::SIG_DFL);
                    let refused = with_signals_blocked(|| writer.write(b"x"))
                        .is_err_and(|e| e.raw_os_error() == Some(libc::EPIPE));
                    libc::_exit(if refused && pending() == (false, false) { 0 } else { 1 })
                }
                child => {
                    let mut status = 0;
                    assert_eq!(libc::waitpid(child, &mut status, 0), child);
                    status
                }
            }
        };
        assert_eq!(status, 0, "the child was ended by a signal, or saw no error");
    }
}
