//! Requirements of the profiling interface (MPI-3.1, 14.2.1) that no other suite tests: no name clashes however many
//! functions a tool replaces, the documentation of the layers, and wrapper functions that can be taken out of the library.
//!
//! Not here: shifted names (`symbols`, `counting`), single functions in every link model (`links`), MPI_Pcontrol
//! (conformance).

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::super::{Report, counting};
use crate::spec::Spec;
use crate::{Result, paths, process};

const LIMIT: Duration = Duration::from_secs(120);

/// The heading of the documentation of the layers.
const LAYERS: &str = "## Which binding is layered on which\n";

/// All tests.
pub fn all(dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    every_function(dist, folder, report)?;
    documented(dist, report)?;
    separable(dist, folder, report)
}

/// A tool that replaces every function is linked with each library, and gets the calls.
fn every_function(dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    for (test, options) in [
        ("a tool replaces every function, static library", ["-static", "-lpmpi", "-lmpi"].as_slice()),
        ("a tool replaces every function, shared library", &["-lpmpi", "-lmpi"]),
    ] {
        if !report.selects(test) {
            continue;
        }
        let folder = folder.join("every_function");
        let counts = folder.join("counts");
        // Counts of an earlier run would hide a failure.
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&counts)?;
        let (source, object) = (folder.join("tool.c"), folder.join("tool.o"));
        fs::write(&source, counting::tool_source(&Spec::read(&paths::root())?))?;
        let mpicc = dist.join("bin/mpicc");
        let mut build = Command::new(&mpicc);
        process::must(build.args(["-w", "-c"]).arg(&source).arg("-o").arg(&object), LIMIT)?;
        process::must(Command::new("ar").arg("rcs").arg(folder.join("libmyprof.a")).arg(&object), LIMIT)?;
        let program = folder.join("ring");
        let mut build = Command::new(&mpicc);
        build.arg(paths::root().join("examples/ring.c")).arg("-o").arg(&program).arg("-L").arg(&folder);
        let built = process::run(build.arg("-lmyprof").args(options), LIMIT)?;
        if !built.success() {
            report.fail(test, &built.report());
            continue;
        }
        let mut run = Command::new(dist.join("bin/mpiexec"));
        run.args(["-n", "2"]).arg(&program).env("COUNT_FOLDER", &counts);
        let outcome = process::run(&mut run, LIMIT)?;
        let mut seen = BTreeSet::new();
        for file in fs::read_dir(&counts)? {
            // A line is a name, the calls that the linker counted (here none), and those that the tool has seen.
            let text = fs::read_to_string(file?.path())?;
            seen.extend(text.lines().filter_map(|line| line.split_once(" 0 ").map(|(name, _)| name.to_owned())));
        }
        let complete = ["Init", "Sendrecv_replace", "Send", "Recv", "Finalize"].iter().all(|name| seen.contains(*name));
        report.check(test, outcome.success() && outcome.stdout.contains("(correct)") && complete, || {
            format!("the tool saw {seen:?}; {}", outcome.report())
        });
    }
    Ok(())
}

/// The documentation says of each installed header and module on which functions it is layered.
fn documented(dist: &Path, report: &mut Report) -> Result<()> {
    let text = fs::read_to_string(dist.join("share/doc/ferrum-mpi/docs/tools.md"))?;
    let section = text.split_once(LAYERS).map_or("", |(_, rest)| rest.split("\n## ").next().unwrap_or(rest));
    let rows: Vec<&str> = section.lines().filter(|line| line.starts_with("| ")).collect();
    report.check("the documentation has the layers", rows.len() > 1, || format!("no table below {LAYERS:?}"));
    for file in fs::read_dir(dist.join("include"))? {
        let file = file?.file_name().to_string_lossy().into_owned();
        let name = match file.rsplit_once('.') {
            Some((module, "mod")) => format!("module `{module}`"),
            // Headers that others include may be named together.
            Some((part, "h")) if part.starts_with("mpicxx_") => "`mpicxx_*.h`".to_owned(),
            Some((_, "h")) => format!("`{file}`"),
            _ => continue,
        };
        let test = format!("the documentation names the layer of {file}");
        report.check(&test, rows.iter().any(|row| row.contains(&name)), || format!("no row has {name}"));
    }
    Ok(())
}

/// A routine of Fortran, which is a layer over C, is taken out of its library and put into a profiling library: nothing
/// but the routine comes with it, and it calls the tool.
fn separable(dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    let test = "a routine of Fortran in a profiling library";
    if !report.selects(test) {
        return Ok(());
    }
    let archive = dist.join("lib/libmpifort.a");
    if !archive.exists() {
        report.skip(test, "the distribution is without Fortran");
        return Ok(());
    }
    let folder = folder.join("separable");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let examples = paths::root().join("examples");
    let path = format!("{}:{}", dist.join("bin").display(), std::env::var("PATH").unwrap_or_default());
    let shell = |line: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", line]).current_dir(&folder).env("PATH", &path).env("LIBRARY", &archive);
        command.env("TOOL", examples.join("tools/send_count.c"));
        command.env("PROGRAM", paths::root().join("tests/tools/sends.f"));
        process::run(&mut command, LIMIT)
    };
    let extracted = shell("ar x $LIBRARY mpi_send.o && nm -g --defined-only mpi_send.o")?;
    let names: Vec<&str> = extracted.stdout.lines().filter_map(|line| line.split_whitespace().last()).collect();
    let alone =
        names.contains(&"mpi_send_") && names.iter().all(|name| name.trim_end_matches('_').ends_with("mpi_send"));
    report.check("the object of a routine has nothing else", extracted.success() && alone, || extracted.report());
    for (model, option) in [("static", "-static"), ("shared", "")] {
        let title = format!("{test}, {model} library");
        let built = shell(&format!(
            "mpicc -c $TOOL -o tool.o && rm -f libmyprof.a && ar rcs libmyprof.a tool.o mpi_send.o && \
             mpifort {option} $PROGRAM -L. -lmyprof -o sends"
        ))?;
        if !built.success() {
            report.fail(&title, &built.report());
            continue;
        }
        let outcome = shell("mpiexec -n 2 ./sends")?;
        let good = outcome.success() && outcome.stderr.contains("send_count: rank 1 sent 10 messages, 40 bytes in ");
        report.check(&title, good, || outcome.report());
    }
    Ok(())
}
