//! The hardware of the host that this process may run on (MPI-5.0, 9.1.3), as the kernel reports it.
//!
//! Invariant: no value is guessed; what the kernel does not report is absent. Each call reads the kernel's data again,
//! because the binding of a process can change.
#![allow(unsafe_code)] // reads the process's CPU affinity mask by a C function

use std::collections::BTreeSet;
use std::fs;

use mpi_core::Info;

/// The supported kinds of hardware, largest first: the memory of the host, a socket, a core with its hardware threads,
/// a hardware thread.
pub const KINDS: [&str; 4] = ["mpi_shared_memory", "sysfs://package", "sysfs://core", "sysfs://cpu"];

/// The number of the one resource of this kind that the process may run on; `None` if it may run on several, or for an
/// unknown kind.
pub fn instance(kind: &str) -> Option<u32> {
    let number = |cpu: u32| match kind {
        "mpi_shared_memory" => Some(0),
        "sysfs://package" => topology(cpu, "physical_package_id"),
        // Core numbers repeat in each package, so the first hardware thread identifies its core.
        "sysfs://core" => first_sibling(cpu),
        "sysfs://cpu" => Some(cpu),
        _ => None,
    };
    let numbers: Option<BTreeSet<u32>> = allowed().into_iter().map(number).collect();
    let numbers = numbers?;
    if numbers.len() == 1 { numbers.first().copied() } else { None }
}

/// `MPI_Get_hw_resource_info`: each supported kind, with "true" if the process may run on one resource of the kind only.
pub fn bindings() -> Info {
    let mut info = Info::new();
    for kind in KINDS {
        let bound = if instance(kind).is_some() { "true" } else { "false" };
        info.set(kind, bound).expect("short texts fit into an info object");
    }
    info
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
    // SAFETY: the numbers are within the set.
    (0..libc::CPU_SETSIZE as usize).filter(|cpu| unsafe { libc::CPU_ISSET(*cpu, &set) }).map(|cpu| cpu as u32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_one_and_unknown_kinds_are_none() {
        assert_eq!((instance(KINDS[0]), instance("sysfs://moon")), (Some(0), None));
        assert_eq!(instance("sysfs://cpu").is_some(), allowed().len() == 1);
        let bindings = bindings();
        assert_eq!((bindings.len(), bindings.get(KINDS[0])), (KINDS.len(), Some("true")));
        assert_eq!(bindings.get("sysfs://cpu") == Some("true"), instance("sysfs://cpu").is_some());
    }
}
