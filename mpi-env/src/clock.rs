//! Time (MPI-4.1, 9.6): the system's monotonic clock, the same for all processes of a host.
//!
//! Thread-safe and async-signal-safe; works at any time.
#![allow(unsafe_code)] // one system call that fills a struct

/// Seconds since a moment in the past that stays the same while the host is up (`MPI_Wtime`).
#[inline]
pub fn wtime() -> f64 {
    let now = read(libc::CLOCK_MONOTONIC);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

/// Resolution of [`wtime`] in seconds (`MPI_Wtick`).
pub fn wtick() -> f64 {
    let mut resolution = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel fills the struct it is given; the clock exists on every Linux.
    unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC, &mut resolution) };
    resolution.tv_sec as f64 + resolution.tv_nsec as f64 * 1e-9
}

#[inline]
fn read(clock: libc::clockid_t) -> libc::timespec {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel fills the struct it is given; the clock exists on every Linux.
    unsafe { libc::clock_gettime(clock, &mut now) };
    now
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_moves_forward_in_ticks() {
        let (first, second) = (wtime(), wtime());
        assert!(second >= first && first > 0.0);
        assert!(wtick() > 0.0 && wtick() < 0.1);
    }
}
