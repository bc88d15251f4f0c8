//! The wrapper `mpifort`, static and moved programs, a tool in C in front of a program in Fortran, and CMake.
//!
//! Not here: the bindings themselves (`super`).

use std::fs;
use std::path::Path;
use std::process::Command;

use super::{LIMIT, build, sources};
use crate::codegen::fortran;
use crate::process::{self, Outcome};
use crate::spec::Spec;
use crate::test::{Context, Report, wrappers};
use crate::{Result, paths};

/// All checks.
pub fn suite(context: &Context, dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    shown(dist, report)?;
    example(dist, folder, report)?;
    fixed(dist, folder, report)?;
    moved(dist, folder, report)?;
    loaded(dist, folder, report)?;
    wide_integers(dist, folder, report)?;
    tool_in_c(dist, folder, report)?;
    values_in_c(dist, folder, report)?;
    absent_function(dist, folder, report)?;
    cmake(context, dist, folder, report)
}

fn sh(report: &mut Report, test: &str, command: &mut Command, good: impl Fn(&Outcome) -> bool) -> Result<()> {
    if !report.selects(test) {
        return Ok(());
    }
    let outcome = process::run(command, LIMIT)?;
    report.check(test, good(&outcome), || format!("{command:?}: {}", outcome.report()));
    Ok(())
}

fn run(dist: &Path, program: &Path) -> Command {
    let mut command = Command::new(dist.join("bin/mpiexec"));
    command.args(["-n", "2"]).arg(program);
    command
}

fn has_no_errors(outcome: &Outcome) -> bool {
    outcome.success() && outcome.stdout.lines().any(|line| line == "No Errors")
}

/// The options that print what the wrapper would do.
fn shown(dist: &Path, report: &mut Report) -> Result<()> {
    let include = format!("-I{}", dist.join("include").display());
    for name in ["mpifort", "mpif90", "mpif77"] {
        for (option, present) in [
            ("-show", [include.as_str(), "-lmpifort_abi", "-lmpi_abi"]),
            ("-showme:link", ["-L", "-lmpifort_abi", "-Wl,-rpath,"]),
            ("-showme:compile", [include.as_str(), "-I", "-I"]),
            ("-link-info", ["gfortran", "-lmpifort_abi", "-lmpi_abi"]),
        ] {
            let mut command = Command::new(dist.join("bin").join(name));
            command.arg(option);
            if option == "-show" {
                command.arg("x.f90");
            }
            let test = format!("{name} {option}");
            sh(report, &test, &mut command, |outcome| {
                outcome.success() && present.iter().all(|word| *word == "gfortran" || outcome.stdout.contains(word))
            })?;
        }
    }
    Ok(())
}

/// The example prints what its message says.
fn example(dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    let program = folder.join("example-ring");
    let mut compile = Command::new(dist.join("bin/mpifort"));
    compile.args(["-Wall", "-Werror"]).arg(paths::root().join("examples/ring.f90")).arg("-o").arg(&program);
    sh(report, "examples/ring.f90", &mut compile, Outcome::success)?;
    sh(report, "examples/ring.f90 runs", &mut run(dist, &program), |outcome| {
        outcome.success() && outcome.stdout.contains("(correct)")
    })
}

/// Compilers refuse programs whose default integers have 8 bytes.
fn wide_integers(dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    let source = sources().join("loaded/part.F90");
    for (name, module, message) in [
        ("mpif.h", None, "mpif.h:7:48:\n\nError: Division by zero"),
        ("module mpi", Some("-DMODULE=mpi"), "Type mismatch"),
        ("module mpi_f08", Some("-DMODULE=mpi_f08"), "no specific subroutine"),
    ] {
        let mut compile = Command::new(dist.join("bin/mpifort"));
        compile
            .args(["-fdefault-integer-8", "-w", "-c"])
            .args(module)
            .arg(&source)
            .arg("-o")
            .arg(folder.join("wide.o"));
        sh(report, &format!("integers of 8 bytes: {name}"), &mut compile, |outcome| {
            !outcome.success() && outcome.stderr.to_lowercase().contains(&message.to_lowercase())
        })?;
    }
    Ok(())
}

/// Shared objects that a program loads without making their symbols global, in any order, also behind the library.
fn loaded(dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    let (source, program) = (sources().join("loaded"), folder.join("load"));
    let mut compile = Command::new("cc");
    compile.arg(source.join("load.c")).arg("-ldl").arg("-o").arg(&program);
    sh(report, "loaded objects: the program that loads them", &mut compile, Outcome::success)?;
    let mut parts = vec![dist.join("lib/libmpifort_abi.so.1")];
    for (name, module) in [("header", None), ("module", Some("-DMODULE=mpi")), ("f08", Some("-DMODULE=mpi_f08"))] {
        let part = folder.join(format!("part-{name}.so"));
        let mut compile = Command::new(dist.join("bin/mpifort"));
        compile.args(["-shared", "-fPIC", "-w"]).args(module).arg(source.join("part.F90")).arg("-o").arg(&part);
        sh(report, &format!("loaded objects: compilation of {name}"), &mut compile, Outcome::success)?;
        parts.push(part);
    }
    for first in 0..parts.len() {
        let mut run = Command::new(&program);
        run.arg(&parts[first]).args(&parts).args(parts.iter().rev());
        let name = parts[first].file_name().unwrap_or_default().to_string_lossy().into_owned();
        sh(report, &format!("loaded objects: {name} first"), &mut run, has_no_errors)?;
    }
    Ok(())
}

/// Static programs carry the routines that they call, and may define a routine themselves.
fn fixed(dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    let program = folder.join("ring-static");
    let mut compile = Command::new(dist.join("bin/mpifort"));
    compile.args(["-static", "-w"]).arg(sources().join("f77/ring.f")).arg("-o").arg(&program);
    sh(report, "mpifort -static", &mut compile, Outcome::success)?;
    sh(report, "static program", &mut run(dist, &program), has_no_errors)?;
    sh(report, "static program without routines that it does not call", Command::new("nm").arg(&program), |outcome| {
        let defined = |name: &str| outcome.stdout.lines().any(|line| line.ends_with(&format!(" {name}")));
        outcome.success() && defined("mpi_sendrecv_") && !defined("mpi_put_") && !defined("mpi_barrier_")
    })?;
    for (checks, name, absent) in
        [("checks.f90", "f90/tool", "mpi_put_"), ("checks_f08.f90", "f08/tool_f08", "mpi_put_f08ts_")]
    {
        let tool = name.rsplit('/').next().unwrap_or(name);
        let modules = folder.join(format!("{tool}-static-modules"));
        fs::create_dir_all(&modules)?;
        let (object, program) = (modules.join("tool.o"), modules.join("program"));
        let mut compile = Command::new(dist.join("bin/mpifort"));
        compile.args(["-w", "-c"]).arg(sources().join("tools").join(tool).with_extension("f90")).arg("-o").arg(&object);
        sh(report, &format!("a tool in Fortran: {name}"), &mut compile, Outcome::success)?;
        let mut compile = Command::new(dist.join("bin/mpifort"));
        compile.args(["-static", "-w", "-J"]).arg(&modules).arg(sources().join(checks));
        compile.arg(sources().join(name).with_extension("f90")).arg(&object).arg("-o").arg(&program);
        sh(report, &format!("a static program with a tool: {name}"), &mut compile, Outcome::success)?;
        sh(report, &format!("static program and tool: {name}"), &mut run(dist, &program), has_no_errors)?;
        let test = format!("static program and tool without others: {name}");
        sh(report, &test, Command::new("nm").arg(&program), |outcome| {
            outcome.success() && !outcome.stdout.lines().any(|line| line.ends_with(&format!(" {absent}")))
        })?;
    }
    Ok(())
}

/// A copy of the folder elsewhere works without the first.
fn moved(dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    let (place, program) = (folder.join("another place"), folder.join("ring-moved"));
    let _ = fs::remove_dir_all(&place);
    sh(report, "copy", Command::new("cp").arg("-a").arg(dist).arg(&place), Outcome::success)?;
    let mut compile = Command::new(place.join("bin/mpif77"));
    compile.arg("-w").arg(sources().join("f77/ring.f")).arg("-o").arg(&program);
    sh(report, "moved mpif77", &mut compile, Outcome::success)?;
    sh(report, "moved program", &mut run(&place, &program), has_no_errors)?;
    let _ = fs::remove_dir_all(&place);
    Ok(())
}

/// A tool in C that is preloaded or linked sees each call of a Fortran program once: `f90/messages` sends 501 times to no
/// process.
fn tool_in_c(dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    let library = folder.join("libsend_count.so");
    let mut compile = Command::new(dist.join("bin/mpicc"));
    compile.args(["-shared", "-fPIC"]).arg(paths::root().join("examples/tools/send_count.c")).arg("-o").arg(&library);
    sh(report, "a tool in C", &mut compile, Outcome::success)?;
    let program = build(dist, folder, "f90/messages")?;
    let mut command = Command::new(dist.join("bin/mpiexec"));
    command.args(["-n", "1", "env"]).arg(format!("LD_PRELOAD={}", library.display())).arg(program);
    let counted = |outcome: &Outcome| has_no_errors(outcome) && outcome.stderr.contains("rank 0 sent 501 messages");
    sh(report, "a tool in C sees the calls of Fortran", &mut command, counted)?;

    let (object, archive) = (folder.join("send_count.o"), folder.join("libmyprof.a"));
    let mut compile = Command::new(dist.join("bin/mpicc"));
    compile.arg("-c").arg(paths::root().join("examples/tools/send_count.c")).arg("-o").arg(&object);
    sh(report, "the tool as an object", &mut compile, Outcome::success)?;
    let _ = fs::remove_file(&archive);
    sh(report, "the tool in an archive", Command::new("ar").arg("rcs").arg(&archive).arg(&object), Outcome::success)?;
    let place = |folder: &Path| format!("-L{}", folder.display());
    let behind = [place(folder), place(&dist.join("lib")), "-lmpifort".into(), "-lmyprof".into(), "-lpmpi".into()];
    for (name, linked) in [
        ("object", vec![object.display().to_string()]),
        ("archive", behind.to_vec()),
        ("static object", vec!["-static".to_owned(), object.display().to_string()]),
        ("static archive", [&["-static".to_owned()][..], &behind].concat()),
    ] {
        let program = folder.join(format!("counted {name}"));
        let mut link = Command::new(dist.join("bin/mpifort"));
        link.args(["-w", "-J"]).arg(folder).arg(sources().join("checks.f90")).arg(sources().join("f90/messages.f90"));
        link.args(linked).arg("-o").arg(&program);
        sh(report, &format!("link with the tool: {name}"), &mut link, Outcome::success)?;
        let mut command = Command::new(dist.join("bin/mpiexec"));
        command.args(["-n", "1"]).arg(&program);
        sh(report, &format!("the tool counts: {name}"), &mut command, counted)?;
    }
    Ok(())
}

/// A tool in C that reads each attribute as soon as Fortran has set it.
fn values_in_c(dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    let library = folder.join("libvalues.so");
    let mut compile = Command::new(dist.join("bin/mpicc"));
    compile.args(["-Wall", "-Werror", "-shared", "-fPIC"]).arg(sources().join("tools/values.c"));
    sh(report, "a tool that reads attributes", compile.arg("-o").arg(&library), Outcome::success)?;
    let program = build(dist, folder, "f90/attributes")?;
    let mut command = Command::new(dist.join("bin/mpiexec"));
    command.args(["-n", "2", "--tool"]).arg(library).arg(program);
    let right = |outcome: &Outcome| has_no_errors(outcome) && outcome.stderr.matches("values: right").count() == 2;
    sh(report, "attributes have their language at once", &mut command, right)
}

/// After a failed link the wrapper names the function that this version lacks.
fn absent_function(dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    let spec = Spec::read(&paths::root())?;
    let Some(absent) = fortran::absent_routines(&spec).next() else { return Ok(()) };
    let source = folder.join("missing.f90");
    fs::write(&source, format!("INCLUDE 'mpif.h'\nCALL MPI_{}(i)\nCALL other\nEND\n", absent.name.to_uppercase()))?;
    let hint = format!("mpifort: MPI_{} is not implemented in this version", absent.name);
    let mut compile = Command::new(dist.join("bin/mpifort"));
    compile.arg(&source).arg("-o").arg(folder.join("missing"));
    sh(report, "absent function", &mut compile, |outcome| {
        let hints = outcome.stderr.lines().filter(|line| line.contains("is not implemented")).count();
        !outcome.success() && outcome.stderr.contains(&hint) && hints == 1
    })
}

fn cmake(context: &Context, dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    let cmake = match wrappers::cmake_program(context) {
        Ok(cmake) => cmake,
        Err(failure) => {
            report.skip("cmake", &failure.to_string());
            return Ok(());
        }
    };
    let build = folder.join("cmake");
    let _ = fs::remove_dir_all(&build);
    let path = format!("{}:{}", dist.join("bin").display(), std::env::var("PATH").unwrap_or_default());
    let mut configure = Command::new(&cmake);
    configure.arg("-S").arg(paths::root().join("tests/cmake/fortran")).arg("-B").arg(&build);
    configure.args(["-G", "Unix Makefiles"]).arg(format!("-DRING_SOURCE={}", sources().join("f77/ring.f").display()));
    let lib = dist.join("lib").display().to_string();
    sh(report, "cmake finds mpifort", configure.env("PATH", path), |outcome| {
        outcome.success() && outcome.stdout.contains(&lib) && outcome.stdout.contains("mpif.h TRUE, module mpi TRUE")
    })?;
    sh(report, "cmake builds Fortran", Command::new(&cmake).arg("--build").arg(&build), Outcome::success)?;
    sh(report, "cmake program", &mut run(dist, &build.join("ring")), has_no_errors)
}
