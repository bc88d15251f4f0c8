//! The Fortran part of a distribution: `libmpifort_abi.so.1`, `libmpifort.a`, `libmpifort_variables.a`, `mpif.h`, the
//! modules and the wrappers.
//!
//! Invariant: each routine is an object of its own, so that a static program carries the routines that it calls, and a
//! tool that defines one of them causes no duplicate. An object is compiled again only if its text or the shared
//! beginning has changed. Not here: the texts (`codegen::fortran`, `mpi-capi/fortran`).

mod f08;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::{link, replace, wrapper};
use crate::codegen::fortran::{self, c_layer};
use crate::spec::Spec;
use crate::{Failure, Result, paths, process, tools, ui};

const LIMIT: Duration = Duration::from_secs(300);

/// Objects are compiled by so many compilers at a time.
const JOBS: usize = 2;

/// Modules, in the order of their use.
const MODULES: [&str; 4] = ["types.f90", "mpi.f90", "f08/mpi_f08_types.f90", "f08/mpi_f08.f90"];

/// The wrappers.
pub const WRAPPERS: [&str; 3] = ["mpifort", "mpif90", "mpif77"];

/// The option with which gfortran accepts calls of one external routine with arguments of several types, as programs that
/// include `mpif.h` make them.
const ANY_ARGUMENTS: &str = "-fallow-argument-mismatch";

/// Functions of the system that the runtime library of gfortran refers to weakly. It calls them if the program has threads,
/// which it concludes from another function, so a static program needs all of them.
const THREADS: [&str; 16] = [
    "cond_broadcast",
    "cond_destroy",
    "cond_init",
    "cond_wait",
    "create",
    "getspecific",
    "join",
    "key_create",
    "key_delete",
    "mutex_destroy",
    "mutex_init",
    "mutex_lock",
    "mutex_trylock",
    "mutex_unlock",
    "self",
    "setspecific",
];

/// The Fortran compiler: the value of the environment variable `FC`, or gfortran; `None` if there is none.
pub fn compiler() -> Option<String> {
    match std::env::var("FC") {
        Ok(named) if !named.trim().is_empty() => Some(named),
        _ => tools::found("gfortran").then(|| "gfortran".to_owned()),
    }
}

/// Adds the Fortran part to a distribution, if there is a compiler.
pub fn add(prefix: &Path) -> Result<()> {
    let Some(compiler) = compiler() else {
        ui::note("there is no Fortran compiler (gfortran, or the one in FC): the distribution is without Fortran");
        return remove(prefix);
    };
    if !is_gnu(&compiler)? {
        ui::note(format!("{compiler} is not GNU Fortran: the distribution is without Fortran"));
        return remove(prefix);
    }
    ui::step("building the Fortran library and modules");
    let folder = paths::target().join("dist-build/fortran");
    fs::create_dir_all(&folder)?;
    let mut objects = routines(prefix, &folder)?;
    let mismatch = accepts(&compiler, &folder, ANY_ARGUMENTS)?;
    objects.extend(modules(&compiler, prefix, &folder)?);
    libraries(prefix, &folder, &objects)?;
    let capi = paths::root().join("mpi-capi/fortran/generated/mpif.h");
    replace(&prefix.join("include/mpif.h"), &fs::read(capi)?, 0o644)?;
    let options = if mismatch { ANY_ARGUMENTS } else { "" };
    let static_options: Vec<String> = THREADS.iter().map(|name| format!("-Wl,-u,pthread_{name}")).collect();
    let static_options = static_options.join(" ");
    for name in WRAPPERS {
        let names = wrapper::Names {
            name,
            language: "Fortran",
            compiler: &compiler,
            variable: "FERRUM_FC",
            option: "-fc",
            options,
            static_options: &static_options,
            library: ["-lmpifort_variables -lmpifort_abi ", "-lmpifort "],
        };
        wrapper::write(prefix, &names)?;
    }
    Ok(())
}

/// Whether the compiler has the options and directives of gfortran, which the module needs.
fn is_gnu(compiler: &str) -> Result<bool> {
    Ok(process::must(fortran(compiler).arg("--version"), LIMIT)?.stdout.contains("GNU Fortran"))
}

/// Removes the Fortran part of an earlier version.
fn remove(prefix: &Path) -> Result<()> {
    let mut stale: Vec<PathBuf> = WRAPPERS.iter().map(|name| prefix.join("bin").join(name)).collect();
    stale.push(prefix.join("include/mpif.h"));
    stale.extend(files(&prefix.join("include"), "mod")?);
    let libraries =
        ["libmpifort.a", "libmpifort_variables.a", "libmpifort.so", "libmpifort_abi.so", "libmpifort_abi.so.1"];
    stale.extend(libraries.iter().map(|name| prefix.join("lib").join(name)));
    for path in stale.iter().filter(|path| fs::symlink_metadata(path).is_ok()) {
        fs::remove_file(path)?;
    }
    Ok(())
}

/// A command of the compiler, whose text may hold options.
fn fortran(compiler: &str) -> Command {
    let mut words = compiler.split_whitespace();
    let mut command = Command::new(words.next().unwrap_or("gfortran"));
    command.args(words);
    command
}

/// Whether the compiler takes an option.
fn accepts(compiler: &str, folder: &Path, option: &str) -> Result<bool> {
    let (source, object) = (folder.join("option.f90"), folder.join("option.o"));
    fs::write(&source, "end\n")?;
    let mut command = fortran(compiler);
    Ok(process::run(command.args([option, "-c"]).arg(&source).arg("-o").arg(&object), LIMIT)?.success())
}

/// Compiles the routines and the code that they share; the objects.
fn routines(prefix: &Path, folder: &Path) -> Result<Vec<PathBuf>> {
    let source = paths::root().join("mpi-capi/fortran");
    let mut texts: Vec<(String, String)> = Vec::new();
    let spec = Spec::read(&paths::root())?;
    for chapter in fortran::chapters(&spec) {
        texts.extend(c_layer::split(&fs::read_to_string(source.join(format!("generated/c/{chapter}.c")))?));
    }
    for path in files(&source.join("generated/f08/c"), "c")? {
        texts.extend(c_layer::split(&fs::read_to_string(path)?));
    }
    for path in
        [files(&source, "c")?, files(&source.join("f08"), "c")?, files(&source.join("generated"), "c")?].concat()
    {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        texts.push((name, fs::read_to_string(&path)?));
    }
    // What every object depends on, besides its own text.
    let mut shared = fs::read_to_string(prefix.join("include/mpi.h"))?;
    for header in
        [files(&source, "h")?, files(&source.join("f08"), "h")?, files(&source.join("generated"), "h")?].concat()
    {
        shared.push_str(&fs::read_to_string(header)?);
    }
    let mut waiting = Vec::new();
    let mut objects = Vec::new();
    for (name, text) in texts {
        let (file, object, stamp) =
            (folder.join(format!("{name}.c")), folder.join(format!("{name}.o")), folder.join(format!("{name}.of")));
        let current = format!("{text}{shared}");
        if !object.exists() || fs::read_to_string(&stamp).ok().as_deref() != Some(&current) {
            fs::write(&file, text)?;
            waiting.push((file, object.clone(), stamp, current));
        }
        objects.push(object);
    }
    let share = waiting.len().div_ceil(JOBS).max(1);
    std::thread::scope(|scope| {
        let threads: Vec<_> = waiting
            .chunks(share)
            .map(|chunk| {
                scope.spawn(|| {
                    chunk.iter().try_for_each(|(file, object, stamp, current)| {
                        compile(prefix, &source, file, object).map_err(|failure| failure.to_string())?;
                        fs::write(stamp, current).map_err(|error| error.to_string())
                    })
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap_or_else(|_| Err("a thread panicked".to_owned())))
    })
    .map_err(Failure::from)?;
    Ok(objects)
}

fn compile(prefix: &Path, source: &Path, file: &Path, object: &Path) -> Result<()> {
    let mut command = Command::new("cc");
    command
        .args(["-std=gnu11", "-O2", "-fPIC", "-Wno-deprecated-declarations", "-I"])
        .arg(prefix.join("include"))
        .arg("-I")
        .arg(source)
        .arg("-I")
        .arg(source.join("f08"))
        .arg("-I")
        .arg(source.join("generated"))
        .arg("-c")
        .arg(file)
        .arg("-o")
        .arg(object);
    process::must(&mut command, LIMIT)?;
    Ok(())
}

/// The files of a folder with an ending, in the order of their names.
fn files(folder: &Path, ending: &str) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(|error| Failure::from(error).during(folder.display()))?;
    let mut all: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    all.retain(|path| path.extension().is_some_and(|found| found == ending));
    all.sort();
    Ok(all)
}

/// Compiles the modules and installs their interfaces; the objects.
fn modules(compiler: &str, prefix: &Path, folder: &Path) -> Result<Vec<PathBuf>> {
    let made = folder.join("modules");
    let _ = fs::remove_dir_all(&made);
    fs::create_dir_all(&made)?;
    let source = paths::root().join("mpi-capi/fortran/generated");
    let mut objects = Vec::new();
    for module in MODULES {
        let name = module.rsplit('/').next().unwrap_or(module);
        let object = folder.join(name).with_extension("mod.o");
        let mut command = fortran(compiler);
        // The preprocessor leaves out what is for kinds that the compiler does not have.
        command
            .args(["-cpp", "-O2", "-fPIC", "-J"])
            .arg(&made)
            .arg("-c")
            .arg(source.join(module))
            .arg("-o")
            .arg(&object);
        process::must(&mut command, LIMIT)?;
        objects.push(object);
    }
    objects.extend(f08::procedures(compiler, &made, folder)?);
    for module in files(&made, "mod")? {
        let name = module.file_name().unwrap_or_default().to_owned();
        replace(&prefix.join("include").join(name), &fs::read(&module)?, 0o644)?;
    }
    Ok(objects)
}

/// Joins the objects: both libraries, and the names that the linker looks for.
fn libraries(prefix: &Path, folder: &Path, objects: &[PathBuf]) -> Result<()> {
    let lib = prefix.join("lib");
    let fresh = lib.join(".libmpifort.a");
    // `ar` adds to an archive that is there.
    let _ = fs::remove_file(&fresh);
    process::must(Command::new("ar").arg("rcs").arg(&fresh).args(objects), LIMIT)?;
    fs::rename(&fresh, lib.join("libmpifort.a"))?;
    let fresh = lib.join(".libmpifort_variables.a");
    let _ = fs::remove_file(&fresh);
    process::must(Command::new("ar").arg("rcs").arg(&fresh).arg(folder.join("variables.o")), LIMIT)?;
    fs::rename(&fresh, lib.join("libmpifort_variables.a"))?;
    let fresh = lib.join(".libmpifort_abi.so.1");
    let mut command = Command::new("cc");
    command
        .args(["-shared", "-Wl,-soname,libmpifort_abi.so.1", "-Wl,-s", "-Wl,-z,relro,-z,now", "-Wl,--no-undefined"])
        .args(["-Wl,--enable-new-dtags", "-Wl,-rpath,$ORIGIN", "-o"])
        .arg(&fresh)
        .args(objects)
        .arg("-L")
        .arg(&lib)
        .arg("-lmpi_abi");
    process::must(command.current_dir(folder), LIMIT)?;
    fs::rename(&fresh, lib.join("libmpifort_abi.so.1"))?;
    link(&lib.join("libmpifort_abi.so"), "libmpifort_abi.so.1")?;
    link(&lib.join("libmpifort.so"), "libmpifort_abi.so.1")
}
