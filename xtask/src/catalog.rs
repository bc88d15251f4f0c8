//! `cargo xtask catalog`: writes the catalog of variables for `mpiexec`.
//!
//! A test of `mpi-env` reads the registry of a process, and compares the catalog with it or writes it.
//! Not here: generation from `spec/` (`codegen`).

use std::process::Command;
use std::time::Duration;

use crate::{Result, paths, process, ui};

/// Compiling the engine takes most of it.
const LIMIT: Duration = Duration::from_secs(1200);

/// Writes the catalog anew.
pub fn run() -> Result<()> {
    ui::step("reading the registry of a process".to_owned());
    let mut command = Command::new("cargo");
    command
        .args(["test", "--quiet", "--package", "mpi-env", "--test", "catalog"])
        .current_dir(paths::root())
        .env("CATALOG_WRITE", "1")
        // Without the user's settings.
        .env("FERRUM_SETTINGS", "");
    let outcome = process::run(&mut command, LIMIT)?;
    if !outcome.success() {
        return Err(outcome.report().into());
    }
    ui::note("catalog: written");
    Ok(())
}
