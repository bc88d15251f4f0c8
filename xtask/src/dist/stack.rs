//! The tool stack in a distribution: `lib/libferrum_stack.so`, which `mpiexec --tool` preloads, and
//! `lib/libferrum_adapter.so`, of which each tool with the typed interface gets a copy.
//!
//! Invariant checked: the stack library defines the `MPI_X` of `mpi.h`, no other function, and no `PMPI_X`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{LIMIT, cargo, symbols};
use crate::{Failure, Result, paths, process, ui};

/// Builds both libraries into a distribution that has its headers.
pub fn build(prefix: &Path, cargo_folder: &Path) -> Result<()> {
    ui::step("building the tool stack");
    cargo(cargo_folder, &["rustc", "--package", "mpi-stack", "--lib", "--crate-type", "staticlib"], &[])?;
    let (source, lib) = (paths::root().join("mpi-stack"), prefix.join("lib"));
    let link = |name: &str, options: &[&str], input: &Path, libraries: &[&str]| -> Result<()> {
        let fresh = lib.join(format!(".{name}"));
        let mut command = Command::new("gcc");
        command.args(["-shared", "-fPIC", "-Wl,-s", "-Wl,--gc-sections", "-Wl,-z,relro", "-Wl,-O1"]);
        command.arg(format!("-Wl,-soname,{name}")).args(options);
        command.arg(format!("-Wl,--version-script={}", source.join("libferrum_stack.map").display()));
        command.arg(input).args(libraries).arg("-o").arg(&fresh);
        process::must(&mut command, LIMIT)?;
        // Renamed, not overwritten: a program that runs on the old library keeps it.
        Ok(fs::rename(&fresh, lib.join(name))?)
    };
    let archive = cargo_folder.join("dist/libmpi_stack.a");
    let whole = ["-static-libgcc", "-Wl,-z,now", "-Wl,--as-needed", "-Wl,--whole-archive"];
    let system = ["-Wl,--no-whole-archive", "-lpthread", "-ldl", "-lm"];
    link("libferrum_stack.so", &whole, &archive, &system)?;
    let include = format!("-I{}", prefix.join("include").display());
    // Lazy: a function that the library of a program does not have is not called. Deprecated functions have places too.
    let adapter = ["-O2", "-Wall", "-Wextra", "-Werror", "-Wno-deprecated-declarations", "-Wl,-z,lazy", &include];
    link("libferrum_adapter.so", &adapter, &source.join("src/generated/adapter.c"), &[])?;
    check(prefix)
}

/// Compares the functions of both libraries with those of the header.
fn check(prefix: &Path) -> Result<()> {
    let declared: BTreeSet<String> = symbols::declared(prefix)?.into_iter().collect();
    for file in ["libferrum_stack.so", "libferrum_adapter.so"] {
        let mut readelf = Command::new("readelf");
        readelf.args(["--dyn-syms", "--wide"]).arg(prefix.join("lib").join(file));
        let listing = process::must(&mut readelf, Duration::from_secs(60))?.stdout;
        let defined = symbols::defined(&listing).into_iter().filter(|name| !name.starts_with("ferrum_adapter_"));
        let defined: BTreeSet<String> = defined.collect();
        let different: Vec<&String> = defined.symmetric_difference(&declared).collect();
        if !different.is_empty() {
            let text = format!("its functions are not those of mpi.h: {different:?}");
            return Err(Failure::from(text).during(file));
        }
    }
    Ok(())
}
