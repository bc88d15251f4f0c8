//! The Fortran bindings: programs that each test an area, and generated programs that call every routine of `mpif.h` and of
//! module `mpi` by both names and check each argument on its way to C and back.
//!
//! Invariant: every program of `tests/fortran` is in its manifest, and every routine is called in the generated programs.
//! Not here: the generated program of module `mpi_f08` (`f08`).

mod arguments;
mod f08;
mod functions_of_c;
mod links;
mod program;
mod values;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::conformance::Verdict;
use super::manifest::{self, Entry};
use super::{Context, Report};
use crate::codegen::fortran;
use crate::dist;
use crate::spec::{Function, Spec};
use crate::{Result, paths, process, tools, ui};
use program::Source;

const LIMIT: Duration = Duration::from_secs(180);

/// The suite `fortran`.
pub fn suite(context: &Context, report: &mut Report) -> Result<()> {
    if dist::fortran::compiler().is_none()
        && let Err(failure) = tools::need("gfortran", "gfortran", context.install)
    {
        report.skip("all programs", &failure.to_string());
        return Ok(());
    }
    let dist = context.dist()?;
    if !dist.join("bin/mpifort").exists() {
        // The compiler came after the distribution was built.
        dist::fortran::add(dist)?;
    }
    let folder = paths::scratch("fortran");
    fs::create_dir_all(&folder)?;
    programs(dist, &folder, report)?;
    routines(dist, &folder, report)?;
    f08::procedures(dist, &folder, report)?;
    links::suite(context, dist, &folder, report)
}

fn sources() -> PathBuf {
    paths::root().join("tests/fortran")
}

/// The programs of the manifest.
fn programs(dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    let entries = manifest::parse(&fs::read_to_string(sources().join("manifest"))?)?;
    for missing in unlisted(&entries)? {
        report.fail(&missing, "is not in the manifest");
    }
    let temporary = folder.join("tmp");
    fs::create_dir_all(&temporary)?;
    let mut progress = ui::Progress::new(entries.len());
    for entry in &entries {
        progress.part(&entry.program);
        if !entry.ranks.iter().any(|&ranks| report.selects(&entry.title(ranks))) {
            continue;
        }
        let program = match build(dist, folder, &entry.program) {
            Ok(program) => program,
            Err(failure) => {
                report.fail(&entry.program, &failure.to_string());
                continue;
            }
        };
        for &ranks in &entry.ranks {
            let mut command = Command::new(dist.join("bin/mpiexec"));
            command.args(["-n", &ranks.to_string()]).arg(&program).args(&entry.arguments);
            command.envs(entry.environment.iter().map(|(name, value)| (name, value))).env("TMPDIR", &temporary);
            let outcome = process::run(&mut command, entry.limit)?;
            let verdict = entry.verdict(&outcome).map_or(Verdict::Passed, Verdict::Failed);
            match verdict {
                Verdict::Failed(text) | Verdict::Skipped(text) => report.fail(&entry.title(ranks), &text),
                Verdict::Passed => report.pass(&entry.title(ranks)),
            }
        }
    }
    fs::remove_dir_all(&temporary)?;
    Ok(())
}

/// Builds a program of the source tree, in free form with the module of checks.
fn build(dist: &Path, folder: &Path, program: &str) -> Result<PathBuf> {
    let free = !program.starts_with("f77/");
    let checks = if program.starts_with("f08/") { "checks_f08.f90" } else { "checks.f90" };
    let source = sources().join(program).with_extension(if free { "f90" } else { "f" });
    let name = program.rsplit('/').next().unwrap_or(program);
    let made = folder.join(program.replace('/', "_"));
    let _ = fs::remove_dir_all(&made);
    fs::create_dir_all(&made)?;
    let output = made.join("program");
    let mut command = Command::new(dist.join("bin/mpifort"));
    command.args(["-O1", "-Wall", "-Wno-unused-dummy-argument", "-J"]).arg(&made);
    if free {
        command.args(["-Werror"]).arg(sources().join(checks));
    }
    // A part that is compiled by itself: in C, or a tool whose arguments the compiler would compare with the interface.
    for (ending, compiler) in [("f90", "bin/mpifort"), ("c", "bin/mpicc")] {
        let part = sources().join("tools").join(name).with_extension(ending);
        if part.exists() {
            let object = made.join("part.o");
            let mut compile = Command::new(dist.join(compiler));
            process::must(compile.args(["-O1", "-Wall", "-c"]).arg(part).arg("-o").arg(&object), LIMIT)?;
            command.arg(object);
        }
    }
    process::must(command.arg(source).arg("-o").arg(&output).current_dir(&made), LIMIT)?;
    Ok(output)
}

/// Sources that no line of the manifest names.
fn unlisted(entries: &[Entry]) -> Result<Vec<String>> {
    let listed: BTreeSet<&str> = entries.iter().map(|entry| entry.program.as_str()).collect();
    let mut unlisted = Vec::new();
    for form in ["f08", "f90", "f77"] {
        for file in fs::read_dir(sources().join(form))? {
            let file = file?.path();
            let name = format!("{form}/{}", file.file_stem().unwrap_or_default().to_string_lossy());
            if !listed.contains(name.as_str()) {
                unlisted.push(name);
            }
        }
    }
    unlisted.sort();
    Ok(unlisted)
}

/// Every routine, by both names, in two programs: with the header and with the module.
fn routines(dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    let spec = Spec::read(&paths::root())?;
    let functions: Vec<&Function> = fortran::routines(&spec).collect();
    let c = folder.join("functions_of_c.c");
    fs::write(&c, functions_of_c::functions(&spec, &functions)?)?;
    let object = c.with_extension("o");
    let mut compile = Command::new(dist.join("bin/mpicc"));
    compile.args(["-O0", "-Wall", "-Wno-deprecated-declarations", "-fPIC", "-c"]).arg(&c).arg("-o").arg(&object);
    process::must(&mut compile, LIMIT)?;
    for (name, source) in [("mpif.h", Source::Header), ("module mpi", Source::Module)] {
        let test = format!("every routine of {name}");
        if !report.selects(&test) {
            continue;
        }
        let file = folder.join(if source == Source::Header { "header.f90" } else { "module.f90" });
        fs::write(&file, program::program(&spec, source, &functions, false)?)?;
        calls(dist, &test, &file, &[&object], functions.len(), report)?;
    }
    absent(&spec, dist, folder, report)
}

/// Builds and runs a program that calls routines.
fn calls(dist: &Path, test: &str, file: &Path, objects: &[&Path], number: usize, report: &mut Report) -> Result<()> {
    let output = file.with_extension("");
    let mut compile = Command::new(dist.join("bin/mpifort"));
    let built = process::run(compile.args(["-O0", "-w"]).arg(file).args(objects).arg("-o").arg(&output), LIMIT)?;
    if !built.success() {
        report.fail(test, &built.report());
        return Ok(());
    }
    let outcome = process::run(&mut Command::new(&output), LIMIT)?;
    let good = outcome.success() && outcome.stdout.lines().any(|line| line == "No Errors");
    report.check(test, good, || outcome.report());
    if good {
        report.add_passed(number);
    }
    Ok(())
}

/// The routines of functions that C does not have yet, so that each function will come with its binding.
fn absent(spec: &Spec, dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    let test = "routines of absent functions";
    let functions: Vec<&Function> = fortran::absent_routines(spec).collect();
    if functions.is_empty() || !report.selects(test) {
        return Ok(());
    }
    let layer = paths::root().join("mpi-capi/fortran");
    let mut text = String::from("#include \"ferrum_fortran.h\"\n");
    // The library keeps its helpers to itself.
    for helpers in ["lists.c", "texts.c", "no_memory.c"] {
        text.push_str(&format!("#include \"{helpers}\"\n"));
    }
    text.push_str(&functions_of_c::prototypes(spec, &functions));
    for function in &functions {
        text.push_str(&fortran::c_layer::routine(spec, function)?);
    }
    let mut objects = Vec::new();
    for (name, text) in
        [("absent_routines.c", text), ("absent_functions.c", functions_of_c::functions(spec, &functions)?)]
    {
        let (c, object) = (folder.join(name), folder.join(name).with_extension("o"));
        fs::write(&c, text)?;
        let mut compile = Command::new(dist.join("bin/mpicc"));
        compile.args(["-O1", "-Wall", "-Wextra", "-Werror", "-Wno-maybe-uninitialized", "-Wno-unused-parameter", "-I"]);
        compile.arg(&layer).arg("-I").arg(layer.join("generated")).arg("-c").arg(&c).arg("-o").arg(&object);
        process::must(&mut compile, LIMIT)?;
        objects.push(object);
    }
    let file = folder.join("absent.f90");
    fs::write(&file, program::program(spec, Source::Header, &functions, true)?)?;
    let objects: Vec<&Path> = objects.iter().map(PathBuf::as_path).collect();
    calls(dist, test, &file, &objects, functions.len(), report)
}
