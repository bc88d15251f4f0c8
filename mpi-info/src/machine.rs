//! Facts of the build and of the machine.
//!
//! Invariant: a fact that cannot be determined is reported as such, with the reason. Not here: the catalog (`entries`).

use std::fs;
use std::path::PathBuf;

use mpi_core::abi::{MPI_ABI_SUBVERSION, MPI_ABI_VERSION, MPI_SUBVERSION, MPI_VERSION};
use mpi_core::json::Object;
use mpi_fabric::{host, layout, remote, signal_mask};
use mpi_observe::words;

/// One fact: its name, that in JSON, and the value.
struct Fact(&'static str, &'static str, String);

/// The sections and their facts.
fn sections() -> Vec<(&'static str, Vec<Fact>)> {
    let standard = format!("MPI {MPI_VERSION}.{MPI_SUBVERSION}, ABI {MPI_ABI_VERSION}.{MPI_ABI_SUBVERSION}");
    let build = vec![
        Fact("version", "version", env!("CARGO_PKG_VERSION").into()),
        Fact("standard", "standard", standard),
        Fact("built for", "target", format!("{}-{}", std::env::consts::ARCH, std::env::consts::OS)),
        Fact("installed in", "prefix", prefix().map_or_else(|| "unknown".into(), |path| path.display().to_string())),
        Fact("C library", "library", file("lib/libmpi_abi.so.1")),
        Fact("Fortran", "fortran", file("lib/libmpifort_abi.so.1")),
        Fact(
            "job memory",
            "job_memory",
            format!(
                "format {}, {} ranks at most, {} on a host",
                layout::VERSION,
                layout::MAX_RANKS,
                layout::MAX_HOST_RANKS
            ),
        ),
        Fact("launchers", "launchers", "mpiexec, PMI-1 (Hydra, Slurm pmi2), PMIx".into()),
        Fact("settings file", "settings", settings()),
    ];
    let machine = vec![
        Fact("host", "host", host::name()),
        Fact("kernel", "kernel", read("/proc/sys/kernel/osrelease")),
        Fact("cores", "cores", cores()),
        Fact("memory", "memory", memory()),
        Fact("single copy", "single_copy", single_copy()),
        Fact("shared memory", "shared_memory", shared_memory()),
        Fact("file size limit", "file_size_limit", file_size()),
        Fact("open files limit", "open_files_limit", limit("Max open files")),
        Fact("processes limit", "processes_limit", limit("Max processes")),
        Fact("locked memory limit", "locked_memory_limit", locked_memory()),
    ];
    vec![("Ferrum MPI", build), ("This machine", machine)]
}

/// The facts as a table.
pub fn text() -> String {
    let mut text = String::new();
    for (title, facts) in sections() {
        text += &format!("{title}\n");
        for Fact(name, _, value) in facts {
            text += &format!("  {name:<20} {value}\n");
        }
        text += "\n";
    }
    text
}

/// The facts as one object.
pub fn json() -> String {
    let object = Object::new().text("source", "mpi-info").text("kind", "library");
    let facts = sections().into_iter().flat_map(|(_, facts)| facts);
    facts.fold(object, |object, Fact(_, name, value)| object.text(name, &value)).end()
}

/// The folder that the program is installed in.
fn prefix() -> Option<PathBuf> {
    Some(std::env::current_exe().ok()?.parent()?.parent()?.to_owned())
}

fn file(name: &str) -> String {
    let Some(path) = prefix().map(|prefix| prefix.join(name)) else { return "unknown".into() };
    match fs::metadata(&path) {
        Ok(facts) => format!("{}, {}", path.display(), words::bytes(facts.len() as f64)),
        Err(_) => format!("not installed ({} is not there)", path.display()),
    }
}

fn settings() -> String {
    let named = std::env::var_os("FERRUM_SETTINGS").map(PathBuf::from);
    let configured = std::env::var_os("XDG_CONFIG_HOME").map(PathBuf::from);
    let home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".config"));
    let usual = || configured.or_else(home).map(|folder| folder.join("ferrum-mpi/settings"));
    match named.or_else(usual) {
        Some(path) if path.as_os_str().is_empty() => "none (FERRUM_SETTINGS is empty)".into(),
        Some(path) if path.exists() => path.display().to_string(),
        Some(path) => format!("none ({} is not there)", path.display()),
        None => "none".into(),
    }
}

fn cores() -> String {
    let allowed = host::allowed_cores();
    let mut text = format!("{} usable", host::usable_cores());
    if !allowed.is_empty() {
        text += &format!(", numbers {}", words::ranges(&allowed));
    }
    match host::quota_cores() {
        Some(quota) => text + &format!("; the control group permits {quota}"),
        None => text,
    }
}

fn memory() -> String {
    let kib = |name: &str| {
        let facts = read("/proc/meminfo");
        let line = facts.lines().find_map(|line| line.strip_prefix(name).map(str::to_owned))?;
        line.trim_start_matches(':').split_whitespace().next()?.parse::<f64>().ok()
    };
    let bytes = words::bytes;
    let of_machine = match (kib("MemTotal"), kib("MemAvailable")) {
        (Some(total), Some(free)) => format!("{}, {} available", bytes(total * 1024.0), bytes(free * 1024.0)),
        _ => "unknown".into(),
    };
    match mpi_launch::mpiexec::memory_limit() {
        Some(limit) => format!("{of_machine}; the control group permits {}", bytes(limit as f64)),
        None => of_machine,
    }
}

fn single_copy() -> String {
    match remote::try_between_children() {
        Ok(()) => "available (process_vm_readv between processes of a job)".into(),
        Err(error) => {
            let scope = read("/proc/sys/kernel/yama/ptrace_scope");
            let yama =
                if scope == "unknown" { String::new() } else { format!("; kernel.yama.ptrace_scope is {scope}") };
            format!("not available: {error}{yama}; long messages go through shared memory in two copies")
        }
    }
}

fn shared_memory() -> String {
    let options = mpi_fabric::JobOptions { ranks: 1, ring_bytes: None, cores: 1 };
    match mpi_fabric::Job::create(&options) {
        Ok(_) => "available (memfd)".into(),
        Err(error) => format!("not available: {error}"),
    }
}

fn file_size() -> String {
    signal_mask::file_size_limit().map_or_else(|| "unlimited".into(), |limit| words::bytes(limit as f64))
}

fn locked_memory() -> String {
    let limit = limit("Max locked memory");
    limit.parse::<u64>().map_or(limit, |limit| words::bytes(limit as f64))
}

/// The soft limit of this name.
fn limit(name: &str) -> String {
    let limits = read("/proc/self/limits");
    let line = limits.lines().find_map(|line| line.strip_prefix(name));
    line.and_then(|line| line.split_whitespace().next()).unwrap_or("unknown").to_owned()
}

/// A file of the system, without the blank at its end.
fn read(path: &str) -> String {
    fs::read_to_string(path).map_or_else(|_| "unknown".into(), |text| text.trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_a_unit() {
        let size = locked_memory();
        assert!(size == "unlimited" || size.ends_with('B'), "{size}");
        assert!(!text().contains(" KB"));
    }
}
