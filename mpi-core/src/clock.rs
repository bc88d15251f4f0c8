//! The clock of `MPI_Wtime` and of the flight recorder: nanoseconds of `CLOCK_MONOTONIC`, read from the processor's time stamp counter where the
//! kernel's clock is made of that counter too.
//!
//! The values are those of the kernel's clock, which all processes of a host share, up to 250 ns while a time server
//! corrects the clock as fast as the kernel allows, and about 20 ns otherwise (`line`). The counter is read in order
//! with the loads before it, as the kernel's own code does. A counter that turns out to be no clock is not read again.
//!
//! Invariant: no thread reads a time that is earlier than one that it, or a thread that has passed it a message, read
//! before. Reading takes no lock, and a signal handler may interrupt it anywhere.
//! Not here: how a line is made (`line`).
#![allow(unsafe_code)] // reads the clock by C functions, and the counter by an instruction

mod line;

#[cfg(all(target_os = "linux", target_arch = "x86_64", not(miri)))]
mod counter;

#[cfg(all(target_os = "linux", target_arch = "x86_64", not(miri)))]
pub use counter::{find, now_ns};

/// Looks for a counter; here there is none.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64", not(miri))))]
pub fn find() {}

/// The time in nanoseconds.
#[cfg(not(all(target_os = "linux", target_arch = "x86_64", not(miri))))]
pub use monotonic_ns as now_ns;

/// The kernel's clock, in nanoseconds. Async-signal-safe.
pub fn monotonic_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists on every Linux, and the struct is writable.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}
