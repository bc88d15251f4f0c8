//! The clock of all event sources: the kernel's monotonic clock, so that times of different processes of a host are
//! comparable.
#![allow(unsafe_code)] // one call of the C library

/// Nanoseconds of the monotonic clock. Async-signal-safe; thread-safe.
pub fn now_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call stores into the struct passed, and every kernel has this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
