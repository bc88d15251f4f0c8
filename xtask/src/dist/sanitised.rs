//! The library and its wrappers with AddressSanitizer in them, for the suite `asan`; never part of a distribution.
//!
//! The Rust code is compiled by the stable toolchain with its unstable option unlocked. It calls the runtime that is
//! gcc's libasan, so that the library and C programs share one. The linker defines `MPI_X` as another name of `PMPI_X`,
//! which avoids the link-time optimisation that weak aliases need.
//!

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::{HEADERS, LIMIT, symbols};
use crate::{Result, paths, process, ui};

const TARGET: &str = "x86_64-unknown-linux-gnu";

/// Fails with the reason when this machine's compilers cannot build and run sanitised programs.
pub fn possible() -> Result<()> {
    let folder = paths::scratch("asan");
    fs::create_dir_all(&folder)?;
    let (library, source, program) = (folder.join("probe.rs"), folder.join("probe.c"), folder.join("probe"));
    fs::write(&library, "//! Nothing.\n")?;
    fs::write(&source, "int main(void) { return 0; }\n")?;
    let mut rustc = Command::new("rustc");
    rustc.args(["-Zsanitizer=address", "--crate-type", "lib", "--target", TARGET, "-o"]);
    rustc.arg(folder.join("libprobe.rlib")).arg(&library).env("RUSTC_BOOTSTRAP", "1");
    process::must(&mut rustc, LIMIT)?;
    process::must(Command::new("gcc").args(["-fsanitize=address", "-o"]).arg(&program).arg(&source), LIMIT)?;
    process::must(&mut Command::new(&program), LIMIT).map(drop)
}

/// Builds the library into a folder of its own, with the header, the wrappers and the launcher of the distribution.
pub fn build(dist: &Path) -> Result<PathBuf> {
    ui::step("building the library with AddressSanitizer (profile release)");
    let folder = paths::target().join("asan");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["rustc", "--package", "mpi-capi", "--lib", "--crate-type", "staticlib", "--release", "--quiet"]);
    cargo.args(["--target", TARGET, "--target-dir"]).arg(&folder).current_dir(paths::root());
    process::must_shown(cargo.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", "-Zsanitizer=address"))?;
    let prefix = folder.join("dist");
    for part in ["bin", "include", "lib"] {
        fs::create_dir_all(prefix.join(part))?;
    }
    for name in ["mpiexec", "mpicc"] {
        super::replace(&prefix.join("bin").join(name), &fs::read(dist.join("bin").join(name))?, 0o755)?;
    }
    for name in HEADERS {
        super::replace(&prefix.join("include").join(name), &fs::read(dist.join("include").join(name))?, 0o644)?;
    }
    let library = prefix.join("lib/libmpi_abi.so.1");
    let mut link = Command::new("gcc");
    link.args(["-shared", "-fsanitize=address", "-Wl,-soname,libmpi_abi.so.1", "-Wl,--gc-sections"])
        .arg(format!("-Wl,--version-script={}", paths::root().join("mpi-capi/libmpi_abi.map").display()))
        .args(symbols::declared(dist)?.iter().map(|name| format!("-Wl,--defsym={name}=P{name}")))
        .arg("-Wl,--whole-archive")
        .arg(folder.join(TARGET).join("release/libmpi_capi.a"))
        .args(["-Wl,--no-whole-archive", "-lpthread", "-ldl", "-lm", "-o"])
        .arg(&library);
    process::must(&mut link, Duration::from_secs(300))?;
    super::link(&prefix.join("lib/libmpi_abi.so"), "libmpi_abi.so.1")?;
    Ok(prefix)
}
