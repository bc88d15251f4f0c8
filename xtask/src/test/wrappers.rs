//! What the compiler wrappers promise, and that build systems find the library, wherever the folder is.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::{Context, Report};
use crate::process::Outcome;
use crate::{Result, paths, peers, process, tools};

const LIMIT: Duration = Duration::from_secs(120);

/// All checks, on the distribution where it is and after moving it.
pub fn suite(context: &Context, report: &mut Report) -> Result<()> {
    let dist = context.dist()?.to_owned();
    let folder = paths::scratch("wrappers");
    // What an earlier run left would hide a failure.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    shown(&dist, report)?;
    passed_on(&dist, &folder, report)?;
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

/// What is not the wrapper's goes to the compiler unchanged.
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

/// What a linked program says about where its library is, and that it runs.
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
    sh(
        report,
        "-static",
        Command::new(dist.join("bin/mpicc")).arg("-static").arg(ring()).arg("-o").arg(&fixed),
        Outcome::success,
    )?;
    runs(dist, &fixed, "correct", "static program", report)
}

fn runs(dist: &Path, program: &Path, says: &str, test: &str, report: &mut Report) -> Result<()> {
    let mut command = Command::new(dist.join("bin/mpiexec"));
    sh(report, test, command.args(["-n", "3"]).arg(program), |outcome| {
        outcome.success() && outcome.stdout.contains(says)
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
    runs(dist, &folder.join("ring-pkg"), "correct", "pkg-config program", report)
}

fn cmake(context: &Context, dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    if let Err(failure) = tools::need("make", "make", context.install) {
        report.skip("cmake", &failure.to_string());
        return Ok(());
    }
    let cmake = match tools::found("cmake") {
        true => PathBuf::from("cmake"),
        false => match peers::environment("cmake", "cmake==4.1.2", "bin/cmake") {
            Ok(venv) => venv.join("bin/cmake"),
            Err(failure) => {
                report.skip("cmake", &failure.to_string());
                return Ok(());
            }
        },
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
