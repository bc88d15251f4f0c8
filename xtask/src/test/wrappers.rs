//! The compiler wrappers: their options, linked programs, a moved folder; and that build systems find the library.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::{Context, Report};
use crate::process::Outcome;
use crate::spec::Spec;
use crate::{Result, paths, peers, process, tools};

const LIMIT: Duration = Duration::from_secs(120);

/// All checks, on the distribution in its place and after moving it.
pub fn suite(context: &Context, report: &mut Report) -> Result<()> {
    let dist = context.dist()?.to_owned();
    let folder = paths::scratch("wrappers");
    // Files of an earlier run would hide a failure.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    shown(&dist, report)?;
    passed_on(&dist, &folder, report)?;
    absent_functions(&dist, &folder, report)?;
    documents(&dist, report)?;
    linked(&dist, &folder, report)?;
    moved(&dist, &folder, report)?;
    pkg_config(context, &dist, &folder, report)?;
    cmake(context, &dist, &folder, report)
}

fn sh(report: &mut Report, test: &str, command: &mut Command, good: impl Fn(&Outcome) -> bool) -> Result<()> {
    let outcome = process::run(command, LIMIT)?;
    report
        .check(test, good(&outcome), || format!("{:?}: {}", command.get_args().collect::<Vec<_>>(), outcome.report()));
    Ok(())
}

fn ring() -> PathBuf {
    paths::root().join("examples/ring.c")
}

/// The options that print what the wrapper would do.
fn shown(dist: &Path, report: &mut Report) -> Result<()> {
    let mpicc = dist.join("bin/mpicc");
    let include = format!("-I{}", dist.join("include").display());
    let lib = format!("-L{}", dist.join("lib").display());
    let both = [include.as_str(), lib.as_str(), "-lmpi_abi", "-Wl,-rpath,", "x.c"];
    let cases: [(&[&str], &[&str], &[&str]); 8] = [
        (&["-show", "x.c", "-o", "x"], &both, &[]),
        (&["-showme", "x.c"], &both, &[]),
        (&["-show", "-c", "x.c"], &[&include, "-c", "x.c"], &["-lmpi_abi", "-L"]),
        (&["-show", "-E", "x.c"], &[&include], &["-lmpi_abi"]),
        (&["-showme:compile"], &[&include], &["-lmpi_abi", "cc"]),
        (&["-showme:link"], &[&lib, "-lmpi_abi", "-Wl,-rpath,"], &["-I"]),
        (&["-compile-info"], &["cc", &include], &["-lmpi_abi"]),
        (&["-link-info"], &["cc", &lib, "-lmpi_abi"], &[]),
    ];
    for (arguments, present, absent) in cases {
        sh(report, &arguments.join(" "), Command::new(&mpicc).args(arguments), |outcome| {
            outcome.success()
                && present.iter().all(|word| outcome.stdout.contains(word))
                && !absent.iter().any(|word| outcome.stdout.split_whitespace().any(|shown| shown.starts_with(word)))
        })?;
    }
    Ok(())
}

/// Arguments that are not the wrapper's go to the compiler unchanged.
fn passed_on(dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    let mpicc = dist.join("bin/mpicc");
    sh(report, "--version", Command::new(&mpicc).arg("--version"), |outcome| {
        outcome.success() && !outcome.stdout.is_empty()
    })?;
    let source = folder.join("quoted.c");
    fs::write(&source, "#include <stdio.h>\nint main(void) { puts(TEXT); return 0; }\n")?;
    let program = folder.join("quoted");
    sh(
        report,
        "quotes",
        Command::new(&mpicc).arg("-DTEXT=\"two  words\"").arg(&source).arg("-o").arg(&program),
        Outcome::success,
    )?;
    sh(report, "quotes kept", &mut Command::new(&program), |outcome| outcome.stdout == "two  words\n")?;
    let mut replaced = Command::new(&mpicc);
    sh(report, "FERRUM_CC", replaced.arg("x.c").env("FERRUM_CC", "echo chosen"), |outcome| {
        outcome.stdout.starts_with("chosen ") && outcome.stdout.contains("-lmpi_abi")
    })?;
    sh(report, "-cc=", Command::new(&mpicc).args(["-cc=echo", "x.c"]), |outcome| {
        outcome.stdout.contains("x.c") && !outcome.stdout.contains("-cc=")
    })?;
    sh(report, "failure", Command::new(&mpicc).arg("/nonexistent.c"), |outcome| !outcome.success())
}

/// After a failed link the wrapper names those undefined functions of the standard that this version lacks, and no
/// others.
fn absent_functions(dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    let absent = Spec::read(&paths::root())?.functions.into_iter().find(|function| function.implementation.is_none());
    let Some(absent) = absent.map(|function| format!("MPI_{}", function.name)) else { return Ok(()) };
    let hint = format!("{absent} is not implemented in this version, see docs/coverage.md");
    let mpicc = dist.join("bin/mpicc");
    let compile = |name: &str, functions: &[&str]| -> Result<Command> {
        let source = folder.join(format!("{name}.c"));
        let declared: String = functions.iter().map(|function| format!("int {function}();\n")).collect();
        let calls: String = functions.iter().map(|function| format!("{function}(); ")).collect();
        fs::write(&source, format!("{declared}int main(void) {{ {calls}return 0; }}\n"))?;
        let mut command = Command::new(&mpicc);
        command.arg(&source).arg("-o").arg(folder.join(name));
        Ok(command)
    };
    let status = process::run(Command::new("cc").arg("-Wl,--no-undefined").arg("/nonexistent.o"), LIMIT)?.status.code();
    sh(report, "absent function", &mut compile("absent", &[&absent, "MPI_Barrier", "other"])?, |outcome| {
        let hints = outcome.stderr.lines().filter(|line| line.contains("is not implemented")).count();
        outcome.stderr.contains(&hint)
            && hints == 1
            && outcome.stderr.contains("`other'")
            && outcome.status.code() == status
    })?;
    sh(report, "other undefined symbols", &mut compile("undefined", &["other", "MPI_No_such_function"])?, |outcome| {
        !outcome.success() && !outcome.stderr.contains("is not implemented")
    })
}

/// The documents and man pages that a distribution holds.
fn documents(dist: &Path, report: &mut Report) -> Result<()> {
    for file in [
        "share/doc/ferrum-mpi/README.md",
        "share/doc/ferrum-mpi/docs/coverage.md",
        "share/doc/ferrum-mpi/docs/tools.md",
        "share/doc/ferrum-mpi/examples/tools/umq_tool.c",
        "share/doc/ferrum-mpi/LICENSE-MIT",
        "share/man/man1/mpicc.1",
        "share/man/man1/mpiexec.1",
    ] {
        report.check(file, dist.join(file).is_file(), || "is not in the distribution".to_owned());
    }
    let options = Command::new(dist.join("bin/mpicc")).arg("--help").output()?;
    let help = String::from_utf8_lossy(&options.stdout).into_owned();
    let (ours, theirs) = (help.find("-showme"), help.find("-std="));
    report.check("--help", ours.is_some_and(|ours| theirs.is_none_or(|theirs| ours < theirs)), || help.clone());
    Ok(())
}

/// The library path that a linked program records, and that it runs.
fn linked(dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    let link = folder.join("wrapper-by-another-name");
    symlink(dist.join("bin/mpicc"), &link)?;
    let (program, cxx, fixed) = (folder.join("ring"), folder.join("rank"), folder.join("ring-static"));
    sh(report, "through a link", Command::new(&link).arg(ring()).arg("-o").arg(&program), Outcome::success)?;
    sh(report, "RUNPATH and soname", Command::new("readelf").arg("-d").arg(&program), |outcome| {
        let runpath = outcome.stdout.lines().any(|line| line.contains("RUNPATH") && line.contains("lib"));
        runpath && outcome.stdout.contains("[libmpi_abi.so.1]")
    })?;
    runs(dist, &program, "correct", "ring", report)?;
    let rank = paths::root().join("tests/cmake/rank.cpp");
    sh(report, "mpicxx", Command::new(dist.join("bin/mpicxx")).arg(rank).arg("-o").arg(&cxx), Outcome::success)?;
    runs(dist, &cxx, "last rank 2", "C++ program", report)?;
    let link = fs::read_link(dist.join("bin/mpic++")).ok();
    report.check("mpic++", link.is_some_and(|link| link == Path::new("mpicxx")), || "is no link to mpicxx".to_owned());
    sh(
        report,
        "-static",
        Command::new(dist.join("bin/mpicc")).arg("-static").arg(ring()).arg("-o").arg(&fixed),
        Outcome::success,
    )?;
    runs(dist, &fixed, "correct", "static program", report)
}

fn runs(dist: &Path, program: &Path, text: &str, test: &str, report: &mut Report) -> Result<()> {
    let mut command = Command::new(dist.join("bin/mpiexec"));
    sh(report, test, command.args(["-n", "3"]).arg(program), |outcome| {
        outcome.success() && outcome.stdout.contains(text)
    })
}

/// A copy of the folder elsewhere, with a blank in its name, works without the first.
fn moved(dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    let place = folder.join("another place");
    sh(report, "copy", Command::new("cp").arg("-a").arg(dist).arg(&place), Outcome::success)?;
    let program = folder.join("ring-moved");
    sh(
        report,
        "moved mpicc",
        Command::new(place.join("bin/mpicc")).arg(ring()).arg("-o").arg(&program),
        Outcome::success,
    )?;
    sh(report, "moved RUNPATH", Command::new("readelf").arg("-d").arg(&program), |outcome| {
        outcome.stdout.contains("another place/lib")
    })?;
    runs(&place, &program, "correct", "moved mpiexec", report)
}

fn pkg_config(context: &Context, dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    if let Err(failure) = tools::need("pkg-config", "pkg-config", context.install) {
        report.skip("pkg-config", &failure.to_string());
        return Ok(());
    }
    let mut command = Command::new("sh");
    let line = format!("cc $(pkg-config --cflags mpi) '{}' -o ring-pkg $(pkg-config --libs mpi)", ring().display());
    command.args(["-c", &line]).current_dir(folder).env("PKG_CONFIG_PATH", dist.join("lib/pkgconfig"));
    sh(report, "pkg-config", &mut command, Outcome::success)?;
    runs(dist, &folder.join("ring-pkg"), "correct", "pkg-config program", report)?;
    let mut command = Command::new("sh");
    let line =
        format!("cc -static '{}' -o ring-pkg-static $(pkg-config --static --cflags --libs mpi)", ring().display());
    command.args(["-c", &line]).current_dir(folder).env("PKG_CONFIG_PATH", dist.join("lib/pkgconfig"));
    sh(report, "pkg-config --static", &mut command, Outcome::success)?;
    runs(dist, &folder.join("ring-pkg-static"), "correct", "pkg-config --static program", report)
}

/// CMake, and make, which its projects need; the error names what is missing.
pub fn cmake_program(context: &Context) -> Result<PathBuf> {
    tools::need("make", "make", context.install)?;
    match tools::found("cmake") {
        true => Ok(PathBuf::from("cmake")),
        false => Ok(peers::environment("cmake", "cmake==4.1.2", "bin/cmake")?.join("bin/cmake")),
    }
}

fn cmake(context: &Context, dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    let cmake = match cmake_program(context) {
        Ok(cmake) => cmake,
        Err(failure) => {
            report.skip("cmake", &failure.to_string());
            return Ok(());
        }
    };
    let build = folder.join("cmake");
    let path = format!("{}:{}", dist.join("bin").display(), std::env::var("PATH").unwrap_or_default());
    let mut configure = Command::new(&cmake);
    configure.arg("-S").arg(paths::root().join("tests/cmake")).arg("-B").arg(&build).args(["-G", "Unix Makefiles"]);
    configure.arg(format!("-DRING_SOURCE={}", ring().display())).env("PATH", path);
    let lib = dist.join("lib").display().to_string();
    sh(report, "cmake finds", &mut configure, |outcome| outcome.success() && outcome.stdout.contains(&lib))?;
    sh(report, "cmake builds", Command::new(&cmake).arg("--build").arg(&build), Outcome::success)?;
    runs(dist, &build.join("ring"), "correct", "cmake C program", report)?;
    runs(dist, &build.join("rank"), "last rank 2", "cmake C++ program", report)
}
