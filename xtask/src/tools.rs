//! Programs that a task needs and a machine may lack.
//!
//! Invariant: no system package is installed unless that is allowed: for root, or with `--install`; with `--no-install`
//! nothing is fetched from PyPI or the system's distribution either.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::{Result, process, ui};

/// Whether `--no-install` was given; applies to the whole run.
static OFFLINE: AtomicBool = AtomicBool::new(false);

/// Forbids all further fetching.
pub fn forbid_fetching() {
    // Set before any suite starts; no other memory depends on it.
    OFFLINE.store(true, Ordering::Relaxed);
}

/// Fails if fetching is forbidden; the error names what is missing.
pub fn may_fetch(what: &str) -> Result<()> {
    match OFFLINE.load(Ordering::Relaxed) {
        true => Err(format!("{what} is missing, and --no-install forbids fetching it").into()),
        false => Ok(()),
    }
}

/// Excludes other suites while one installs: what both need is installed once, and apt-get refuses to run twice at a time.
pub fn one_installs() -> MutexGuard<'static, ()> {
    static INSTALLING: Mutex<()> = Mutex::new(());
    INSTALLING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether a program of this name can be found.
pub fn found(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(program).is_file()))
}

/// Makes a program available: installs its Debian package if allowed. The error names the package.
pub fn need(program: &str, package: &str, may_install: bool) -> Result<()> {
    let _one = one_installs();
    if found(program) {
        return Ok(());
    }
    if may_install && found("apt-get") {
        ui::step(format!("installing {package} for {program}"));
        let minutes = Duration::from_secs(300);
        let mut install = Command::new("apt-get");
        install
            .args(["install", "-y", "-qq", "--no-install-recommends", package])
            .env("DEBIAN_FRONTEND", "noninteractive");
        if !process::run(&mut install, minutes)?.success() {
            // The package lists may be missing or old.
            process::run(Command::new("apt-get").args(["update", "-qq"]), minutes)?;
            process::run(&mut install, minutes)?;
        }
        if found(program) {
            return Ok(());
        }
    }
    Err(format!("{program} is missing; it is in the package {package}").into())
}

/// Memory of this machine that is available, in MiB; `None` if the system does not report it.
pub fn free_megabytes() -> Option<u64> {
    let facts = fs::read_to_string("/proc/meminfo").ok()?;
    let line = facts.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.split_whitespace().next()?.parse::<u64>().ok().map(|kilobytes| kilobytes / 1024)
}

/// Whether this process may install system packages without an option: it runs as root.
pub fn is_root() -> bool {
    std::os::unix::fs::MetadataExt::uid(&match fs::metadata(Path::new("/proc/self")) {
        Ok(facts) => facts,
        Err(_) => return false,
    }) == 0
}
