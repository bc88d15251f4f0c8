//! Calls that change a file or a memory object, made so that the kernel returns an error and sends no deadly signal.
//!
//! Writing or growing beyond `RLIMIT_FSIZE` sends `SIGXFSZ`, writing to a pipe without readers sends `SIGPIPE`; the
//! default action of both ends the process. This module blocks both in the calling thread during the call and consumes
//! the one that the call itself raised: the caller sees `EFBIG` or `EPIPE`, and the program's own handlers do not run.
//! Invariant: after a call the thread's mask is as before, and a signal that was pending before still is.

use std::io;
use std::mem::MaybeUninit;
use std::ptr;

/// The size in bytes beyond which the process may not grow a file or a memory object (`RLIMIT_FSIZE`); `None` without
/// such a limit.
pub fn file_size_limit() -> Option<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the call fills the structure.
    let result = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &mut limit) };
    (result == 0 && limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

/// Makes a call that may raise one of the two signals. Thread-safe. Errors: those of the call.
pub fn with_signals_blocked<R>(call: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
    let signals = both();
    let mut before = MaybeUninit::uninit();
    // SAFETY: both sets are the size that the call expects; it fills the second.
    unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &signals, before.as_mut_ptr()) };
    let pending = pending();
    let result = call();
    if let Err(error) = &result {
        match error.raw_os_error() {
            Some(libc::EFBIG) if !pending.0 => consume(libc::SIGXFSZ),
            Some(libc::EPIPE) if !pending.1 => consume(libc::SIGPIPE),
            _ => {}
        }
    }
    // SAFETY: the first call filled the set, and the previous mask is not needed.
    unsafe { libc::pthread_sigmask(libc::SIG_SETMASK, before.as_ptr(), ptr::null_mut()) };
    result
}

/// Makes a call with all signals blocked in the calling thread, such as one that creates a thread, which inherits the
/// mask.
pub fn with_all_signals_blocked<R>(call: impl FnOnce() -> R) -> R {
    let (mut all, mut before) = (MaybeUninit::uninit(), MaybeUninit::uninit());
    // SAFETY: `sigfillset` makes a valid set; the second call reads it and fills the other.
    unsafe {
        libc::sigfillset(all.as_mut_ptr());
        libc::pthread_sigmask(libc::SIG_BLOCK, all.as_ptr(), before.as_mut_ptr());
    }
    let result = call();
    // SAFETY: the call above filled the set, and the previous mask is not needed.
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

/// Consumes a signal that the call has just raised in this thread.
fn consume(number: i32) {
    let at_once = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the set and the time are valid; the facts about the signal are not needed.
    unsafe { libc::sigtimedwait(&set_of(&[number]), ptr::null_mut(), &at_once) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// Runs `body` in a forked child; whether it returned true. The C library keeps its allocator usable there.
    fn in_child(body: impl FnOnce() -> bool) -> bool {
        // SAFETY: the child makes system calls, allocates, and leaves by `_exit`.
        unsafe {
            match libc::fork() {
                0 => libc::_exit(if body() { 0 } else { 1 }),
                child => {
                    let mut status = 0;
                    assert_eq!(libc::waitpid(child, &mut status, 0), child);
                    status == 0
                }
            }
        }
    }

    #[test]
    fn writing_to_a_pipe_without_readers_is_only_an_error() {
        // The test harness ignores SIGPIPE, its default action ends a program: what is tested runs in a child that
        // has the default.
        let mut ends = [0; 2];
        // SAFETY: the call fills both ends, which are then owned by files.
        let (reader, mut writer) = unsafe {
            assert_eq!(libc::pipe(ends.as_mut_ptr()), 0);
            let file = |end| <std::fs::File as std::os::fd::FromRawFd>::from_raw_fd(end);
            (file(ends[0]), file(ends[1]))
        };
        drop(reader);
        let refused = in_child(|| {
            // SAFETY: a child of one thread restores the default action.
            unsafe { libc::signal(libc::SIGPIPE, libc::SIG_DFL) };
            let refused = with_signals_blocked(|| writer.write(b"x"));
            refused.is_err_and(|error| error.raw_os_error() == Some(libc::EPIPE)) && pending() == (false, false)
        });
        assert!(refused, "the child was ended by a signal, or saw no error");
    }

    #[test]
    fn a_memory_object_beyond_the_limit_of_files_is_an_error_with_both_sizes() {
        let refused = in_child(|| {
            let limit = libc::rlimit { rlim_cur: 1 << 20, rlim_max: 1 << 20 };
            // SAFETY: a live structure; the limit is the child's alone.
            unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &limit) };
            let error = crate::SharedMemory::create(2 << 20, 1).err();
            error.is_some_and(|error| {
                let text = error.to_string();
                text.contains("2097152 bytes") && text.contains("1048576") && text.contains("ulimit -f")
            })
        });
        assert!(refused, "the child was ended by SIGXFSZ, or saw another error");
    }

    #[test]
    fn a_process_alone_does_without_a_memory_object_beyond_the_limit() {
        let settings = crate::FabricSettings::new();
        let alone = in_child(|| {
            let limit = libc::rlimit { rlim_cur: 4096, rlim_max: 4096 };
            // SAFETY: a live structure; the limit is the child's alone.
            unsafe { libc::setrlimit(libc::RLIMIT_FSIZE, &limit) };
            crate::Endpoint::alone(settings).is_ok_and(|endpoint| endpoint.job().fd().is_none())
        });
        assert!(alone, "the child was ended by SIGXFSZ, or saw an error");
    }
}
