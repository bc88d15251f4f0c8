//! Which parts of the host this process may run on (MPI-5.0, 9.1.3), as the kernel reports them.
//!
//! Invariant: what the kernel does not report is absent, never guessed. Each call reads it anew: a process may be bound
//! differently later.
#![allow(unsafe_code)] // the set of processors that the process may run on

use std::collections::BTreeSet;
use std::fs;

/// The kinds of hardware that can be distinguished, largest first: the whole host's memory, a socket, a core with its
/// hardware threads, a hardware thread.
pub const KINDS: [&str; 4] = ["mpi_shared_memory", "sysfs://package", "sysfs://core", "sysfs://cpu"];

/// The number of the one part of this kind that the process may run on; `None` when it may run on several, and for a
/// kind that is not known.
pub fn instance(kind: &str) -> Option<u32> {
    let number = |cpu: u32| match kind {
        "mpi_shared_memory" => Some(0),
        "sysfs://package" => topology(cpu, "physical_package_id"),
        // Cores are numbered anew in each package; the first hardware thread stands for its core.
        "sysfs://core" => first_sibling(cpu),
        "sysfs://cpu" => Some(cpu),
        _ => None,
    };
    let numbers: Option<BTreeSet<u32>> = allowed().into_iter().map(number).collect();
    let numbers = numbers?;
    if numbers.len() == 1 { numbers.first().copied() } else { None }
}

fn topology(cpu: u32, fact: &str) -> Option<u32> {
    fs::read_to_string(format!("/sys/devices/system/cpu/cpu{cpu}/topology/{fact}")).ok()?.trim().parse().ok()
}

fn first_sibling(cpu: u32) -> Option<u32> {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
    let list = fs::read_to_string(path).ok()?;
    list.trim().split([',', '-']).next()?.parse().ok()
}

/// The processors that the process may run on.
fn allowed() -> Vec<u32> {
    // SAFETY: all bits zero is an empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    // SAFETY: the set is writable and of the size given.
    if unsafe { libc::sched_getaffinity(0, size_of_val(&set), &mut set) } != 0 {
        return Vec::new();
    }
    // SAFETY: the numbers lie within the set.
    (0..libc::CPU_SETSIZE as usize).filter(|cpu| unsafe { libc::CPU_ISSET(*cpu, &set) }).map(|cpu| cpu as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_one_and_unknown_kinds_are_none() {
        assert_eq!((instance(KINDS[0]), instance("sysfs://moon")), (Some(0), None));
        assert_eq!(instance("sysfs://cpu").is_some(), allowed().len() == 1);
    }
}
