//! The tools of the stack library itself, written on the typed interface.
//!
//! - `calls`: a line for each call.
//! - `profile`: counts, times and bytes of each function; `mpiexec --profile` prints the table of the job.
//! - `timeline`: each call with its times; `mpiexec --trace` writes the file of the job.
//! - `shared`: the memory that `mpiexec` reads.

mod calls;
mod profile;
mod shared;
mod timeline;

use mpi_pmpi::interceptor::{raw, table};

static CALLS: raw::Interceptor = table::<calls::Calls>();
static PROFILE: raw::Interceptor = table::<profile::Profile>();
static TIMELINE: raw::Interceptor = table::<timeline::Timeline>();

/// The tool with a name of `mpi_pmpi::records::OWN_TOOLS`.
pub(crate) fn find(name: &str) -> Option<&'static raw::Interceptor> {
    match name {
        "calls" => Some(&CALLS),
        "profile" => Some(&PROFILE),
        "timeline" => Some(&TIMELINE),
        _ => None,
    }
}

/// The monotonic clock in nanoseconds, which all processes of a host share.
fn now_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: stores the time in the structure.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The system's number of this thread.
fn thread() -> u32 {
    // SAFETY: no arguments.
    unsafe { libc::gettid() as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tool_of_the_list_exists() {
        for name in mpi_pmpi::records::OWN_TOOLS {
            assert!(find(name).is_some(), "{name}");
        }
        assert!(find("other").is_none());
    }
}
