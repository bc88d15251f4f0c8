//! `cargo xtask dist`: the distribution folder: compiler wrappers, launcher, header, libraries.
//!
//! Invariant: no file in the folder holds the folder's path, so that it can be moved; both libraries export the
//! functions of `mpi.h` under both names and nothing else (`symbols`). Not here: the functions themselves
//! (`mpi-capi`), the version script and the header, which `codegen` writes.

pub mod fortran;
pub mod sanitised;
mod share;
mod stack;
pub mod symbols;
mod wrapper;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::{Failure, Result, paths, process, ui};

/// Headers for programs: the standard's, that of the tool interface's first draft, those of the extensions, and
/// those of the namespace `MPI`.
pub const HEADERS: [&str; 17] = [
    "mpi.h",
    "mpit_draft.h",
    "mpit_draft_calls.h",
    "ferrum_tool.h",
    "ferrum_stack.h",
    "mpicxx.h",
    "mpicxx_errors.h",
    "mpicxx_handles.h",
    "mpicxx_requests.h",
    "mpicxx_comm.h",
    "mpicxx_intracomm.h",
    "mpicxx_win.h",
    "mpicxx_file.h",
    "mpicxx_callbacks.h",
    "mpicxx_create.h",
    "mpicxx_functions.h",
    "mpicxx_constants.h",
];

/// The greatest size of the shared library, in bytes: a guard against growth that nobody notices.
const LARGEST_LIBRARY: u64 = 6_500_000;

/// Each function of the library begins at a cache line of 64 bytes. Otherwise a function of two lines may lie in three,
/// which costs a call of 3 ns up to a tenth, and which functions do changes with every build.
const FUNCTION_ALIGNMENT_LOG2: u32 = 6;

const LIMIT: Duration = Duration::from_secs(300);

/// Builds the distribution into the given folder, or `target/dist`.
pub fn run(prefix: Option<PathBuf>) -> Result<()> {
    let prefix = build(&prefix.unwrap_or_else(paths::dist))?;
    let size = fs::metadata(prefix.join("lib/libmpi_abi.so.1"))?.len();
    ui::answer(format_args!(
        "{}: {} functions, library {} KB",
        prefix.display(),
        symbols::functions(&prefix)?.len(),
        size / 1000
    ));
    Ok(())
}

/// Builds the distribution and returns its folder.
pub fn build(prefix: &Path) -> Result<PathBuf> {
    ui::step("building the library and the launcher (profile dist)");
    let cargo_folder = paths::target().join("dist-build");
    let programs = ["mpi-launch", "mpi-top", "mpi-info"].iter().flat_map(|package| ["--package", package]);
    let build: Vec<&str> = ["build", "--bins"].into_iter().chain(programs).collect();
    cargo(&cargo_folder, &build, &[])?;
    let prefix = development(prefix, &cargo_folder, "mpi-names")?;
    replace(&prefix.join("bin/mpiexec"), &fs::read(cargo_folder.join("dist/mpiexec"))?, 0o755)?;
    for program in ["mpitop", "mpi-info"] {
        stripped(&cargo_folder.join("dist").join(program), &prefix.join("bin").join(program))?;
    }
    stack::build(&prefix, &cargo_folder)?;
    ui::step("building the library of message queues for debuggers");
    cargo(&cargo_folder, &["rustc", "--package", "mpi-mqs", "--lib", "--crate-type", "cdylib"], &[])?;
    let queues = fs::read(cargo_folder.join("dist/libmpi_mqs.so"))?;
    replace(&prefix.join("lib/libferrum_mqs.so"), &queues, 0o755)?;
    link(&prefix.join("bin/mpirun"), "mpiexec")?;
    link(&prefix.join("bin/mpic++"), "mpicxx")?;
    fortran::add(&prefix)?;
    share::write(&prefix)?;
    Ok(prefix)
}

/// Builds what the cost of instruments is measured against: header, libraries and compiler wrappers of a library that
/// counts, raises and records nothing. It is in no distribution; its programs run under the launcher of the
/// distribution.
pub fn build_uninstrumented() -> Result<PathBuf> {
    ui::step("building the library without instruments (profile dist)");
    let cargo_folder = paths::target().join("dist-build-uninstrumented");
    development(&paths::scratch("uninstrumented"), &cargo_folder, "mpi-names,uninstrumented")
}

/// The parts needed to build programs; returns the folder's full name.
fn development(prefix: &Path, cargo_folder: &Path, features: &str) -> Result<PathBuf> {
    let archive_of = ["rustc", "--package", "mpi-capi", "--features", features, "--lib", "--crate-type", "staticlib"];
    cargo(cargo_folder, &archive_of, &["-C", &format!("llvm-args=-align-all-functions={FUNCTION_ALIGNMENT_LOG2}")])?;
    let archive = cargo_folder.join("dist/libmpi_capi.a");
    ui::step(format!("writing {}", prefix.display()));
    for folder in ["bin", "include", "lib/pkgconfig"] {
        let folder = prefix.join(folder);
        let made = fs::create_dir_all(&folder).map_err(Failure::from);
        made.map_err(|failure| failure.during(format_args!("the folder {} cannot be made", folder.display())))?;
    }
    // The target of a link must exist before the link, and its full name is needed below.
    let prefix = prefix.canonicalize()?;
    let capi = paths::root().join("mpi-capi");
    for header in HEADERS {
        replace(&prefix.join("include").join(header), &fs::read(capi.join("include").join(header))?, 0o644)?;
    }
    let lib = prefix.join("lib");
    shared_library(&archive, &capi.join("libmpi_abi.map"), &lib)?;
    static_library(&archive, &symbols::exported(&prefix)?, &lib)?;
    symbols::check(&prefix)?;
    wrappers(&prefix)?;
    Ok(prefix)
}

/// Runs cargo with the profile of the distribution; `compiler` is passed to the last compilation, which generates the
/// code of all crates.
fn cargo(folder: &Path, arguments: &[&str], compiler: &[&str]) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(arguments).args(["--profile", "dist", "--quiet", "--target-dir"]).arg(folder);
    if !compiler.is_empty() {
        command.arg("--").args(compiler);
    }
    process::must_shown(command.current_dir(paths::root()))
}

/// The shared library, and the names that the linker looks for.
fn shared_library(archive: &Path, version_script: &Path, lib: &Path) -> Result<()> {
    let library = lib.join("libmpi_abi.so.1");
    let fresh = lib.join(".libmpi_abi.so.1");
    let mut command = Command::new("gcc");
    command
        .args(["-shared", "-static-libgcc", "-Wl,-soname,libmpi_abi.so.1", "-Wl,-s", "-Wl,--gc-sections"])
        .args(["-Wl,-z,relro,-z,now", "-Wl,-O1", "-Wl,--as-needed"])
        .arg(format!("-Wl,--version-script={}", version_script.display()))
        .arg("-Wl,--whole-archive")
        .arg(archive)
        .args(["-Wl,--no-whole-archive", "-lpthread", "-ldl", "-lm", "-o"])
        .arg(&fresh);
    process::must(&mut command, LIMIT)?;
    // Renamed, not overwritten: a program that runs on the old library keeps it.
    fs::rename(&fresh, &library)?;
    link(&lib.join("libmpi_abi.so"), "libmpi_abi.so.1")?;
    link(&lib.join("libmpi.so"), "libmpi_abi.so.1")?;
    link(&lib.join("libpmpi.so"), "libmpi_abi.so.1")?;
    let size = fs::metadata(&library)?.len();
    match size < LARGEST_LIBRARY {
        true => Ok(()),
        false => Err(format!("{} has {size} bytes, more than {LARGEST_LIBRARY}", library.display()).into()),
    }
}

/// The static library: one object in which only the functions of the standard are visible, so that the symbols of
/// Rust's own library do not collide with the program's. Every function stays a section of its own, so that a program
/// that is linked with `--gc-sections` carries only what it uses.
///
/// `libpmpi` is the same library by another name, for the usual `-lmyprof -lpmpi -lmpi`: each `MPI_X` is weak, so a tool's
/// definition is no duplicate, and whichever name comes first resolves both names of a function in one library.
fn static_library(archive: &Path, functions: &[String], lib: &Path) -> Result<()> {
    let (object, names) = (lib.join(".mpi.o"), lib.join(".names"));
    fs::write(&names, functions.join("\n") + "\n")?;
    let mut command = Command::new("ld");
    command.args(["-r", "--force-group-allocation", "--gc-sections"]);
    command.args(functions.iter().map(|name| format!("--undefined={name}")));
    command.arg("--whole-archive").arg(archive).arg("-o").arg(&object);
    process::must(&mut command, LIMIT)?;
    let mut command = Command::new("objcopy");
    // Rust's own library contains LLVM bitcode, which is no longer valid after joining.
    command.args(["--strip-debug", "--remove-section=.llvmbc", "--remove-section=.llvmcmd"]);
    command.arg(format!("--keep-global-symbols={}", names.display())).arg(&object);
    process::must(&mut command, LIMIT)?;
    let fresh = lib.join(".libmpi.a");
    // `ar` adds to an archive that is there.
    let _ = fs::remove_file(&fresh);
    process::must(Command::new("ar").arg("rcs").arg(&fresh).arg(&object), LIMIT)?;
    fs::rename(&fresh, lib.join("libmpi.a"))?;
    link(&lib.join("libpmpi.a"), "libmpi.a")?;
    // By the name of the shared library, for `pkg-config --static`.
    link(&lib.join("libmpi_abi.a"), "libmpi.a")?;
    fs::remove_file(object)?;
    fs::remove_file(names)?;
    Ok(())
}

fn wrappers(prefix: &Path) -> Result<()> {
    wrapper::write_c(prefix)?;
    let text = include_str!("mpi.pc").replace("@VERSION@", env!("CARGO_PKG_VERSION"));
    replace(&prefix.join("lib/pkgconfig/mpi.pc"), text.as_bytes(), 0o644)
}

/// Installs a program without its symbols.
fn stripped(from: &Path, to: &Path) -> Result<()> {
    let fresh = from.with_extension("stripped");
    process::must(Command::new("strip").arg("-o").arg(&fresh).arg(from), LIMIT)?;
    replace(to, &fs::read(&fresh)?, 0o755)
}

/// Writes a file beside its place and renames it there.
fn replace(path: &Path, content: &[u8], mode: u32) -> Result<()> {
    let name = path.file_name().expect("a file to write has a name").to_string_lossy();
    let fresh = path.with_file_name(format!(".{name}"));
    fs::write(&fresh, content)?;
    fs::set_permissions(&fresh, fs::Permissions::from_mode(mode))?;
    fs::rename(&fresh, path)?;
    Ok(())
}

fn link(path: &Path, target: &str) -> Result<()> {
    if fs::symlink_metadata(path).is_ok() {
        fs::remove_file(path)?;
    }
    Ok(symlink(target, path)?)
}
