//! System calls: futex, membarrier, yield, random numbers. Each returns whether the kernel has it where that may differ.

use std::sync::OnceLock;
use std::time::Duration;

use crate::sync::AtomicU32;

const MEMBARRIER_GLOBAL_EXPEDITED: libc::c_int = 1 << 1;
const MEMBARRIER_REGISTER_GLOBAL_EXPEDITED: libc::c_int = 1 << 2;

/// Sleeps while `word` is `expected`, until woken, a signal or the time limit. The word may be shared by processes.
pub(crate) fn futex_wait(word: &AtomicU32, expected: u32, limit: Option<Duration>) {
    let limit = limit.map(|t| libc::timespec { tv_sec: t.as_secs() as _, tv_nsec: t.subsec_nanos() as _ });
    let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: `word` is a live, aligned futex word and `limit` null or a live timespec; all outcomes mean "look again".
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, expected, limit) };
}

/// Wakes all that sleep on `word`.
pub(crate) fn futex_wake(word: &AtomicU32) {
    // SAFETY: `word` is a live, aligned futex word.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}

/// Sleeps while `word`, which only this process uses, is `expected`; may return at any time.
pub(crate) fn thread_wait(word: &AtomicU32, expected: u32) {
    let (operation, no_limit) = (libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG, std::ptr::null::<libc::timespec>());
    // SAFETY: `word` is a live, aligned futex word; all outcomes mean "look again".
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, expected, no_limit) };
}

/// Wakes the thread that sleeps on `word`, which only this process uses.
pub(crate) fn thread_wake(word: &AtomicU32) {
    // SAFETY: `word` is a live, aligned futex word.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG, 1) };
}

fn membarrier(command: libc::c_int) -> bool {
    // SAFETY: no memory is passed.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

/// Lets this process be reached by [`membarrier_all`]; false where the kernel does not offer it.
///
/// Registered once per process: with several threads the kernel takes milliseconds for it.
pub(crate) fn membarrier_register() -> bool {
    static REGISTERED: OnceLock<bool> = OnceLock::new();
    *REGISTERED.get_or_init(|| membarrier(MEMBARRIER_REGISTER_GLOBAL_EXPEDITED))
}

/// Makes every thread of every registered process pass a full memory barrier; false where that is not possible.
pub(crate) fn membarrier_all() -> bool {
    membarrier(MEMBARRIER_GLOBAL_EXPEDITED)
}

/// Gives the core to another runnable thread, if there is one.
pub(crate) fn sched_yield() {
    // SAFETY: no arguments.
    unsafe { libc::sched_yield() };
}

/// A random number, which another job or object of this host is unlikely to have; never 0.
pub(crate) fn random_id() -> u64 {
    let mut id = [0u8; 8];
    // SAFETY: the buffer is writable for its length.
    let got = unsafe { libc::getrandom(id.as_mut_ptr().cast(), id.len(), libc::GRND_NONBLOCK) };
    if got != id.len() as isize {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(1, |t| t.as_nanos() as u64);
        id = (now ^ (std::process::id() as u64) << 48).to_le_bytes();
    }
    u64::from_le_bytes(id).max(1)
}
