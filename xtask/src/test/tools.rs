//! PMPI tools in the three ways that the standard knows: before the library in link order, as a static library, preloaded; and
//! what the example tool reports. Then a plug-in that is loaded and unloaded while a tool is at work.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{Context, Report};
use crate::{Result, paths, process};

const LIMIT: Duration = Duration::from_secs(120);

/// The example tool in all ways, on the unmodified example program.
pub fn suite(context: &Context, report: &mut Report) -> Result<()> {
    let dist = context.dist()?;
    let folder = paths::scratch("tools");
    // What an earlier run left, a shared tool beside the static one, would be linked instead.
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let examples = paths::root().join("examples");
    let (program, tool) = (examples.join("umq_program.c"), examples.join("tools/umq_tool.c"));
    let (program, tool) = (program.display(), tool.display());
    let lib = dist.join("lib");
    let lib = lib.display();
    let include = dist.join("include");
    let include = include.display();
    // What each way needs to be built, and the program to run, and what is preloaded.
    let ways: [(&str, String, &str, Option<&str>); 5] = [
        ("link order", format!("mpicc -Wall -Werror {program} {tool} -o linked"), "linked", None),
        (
            "tool as a static library",
            format!(
                "mpicc -Wall -c {tool} -o tool.o && ar rcs libtool.a tool.o && mpicc -c {program} -o program.o && \
                 mpicc program.o -L. -ltool -o by_archive"
            ),
            "by_archive",
            None,
        ),
        (
            "static library of ours",
            format!("cc -I{include} {program} {tool} {lib}/libmpi.a -lpthread -ldl -lm -o with_archive"),
            "with_archive",
            None,
        ),
        (
            "preload",
            format!("mpicc {program} -o plain && mpicc -shared -fPIC {tool} -o libtool.so"),
            "plain",
            Some("libtool.so"),
        ),
        ("no tool", format!("mpicc {program} -o plain"), "plain", None),
    ];
    for (way, build, name, preload) in ways {
        let path = format!("{}:{}", dist.join("bin").display(), std::env::var("PATH").unwrap_or_default());
        let mut command = Command::new("sh");
        let built = process::run(command.args(["-c", &build]).current_dir(&folder).env("PATH", path), LIMIT)?;
        if !built.success() {
            report.fail(way, &built.report());
            continue;
        }
        run(dist, &folder, way, name, preload, report)?;
    }
    plugin(dist, &folder, report)
}

/// A shared object that adds variables when it is loaded, and a program that loads and unloads it.
fn plugin(dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    let sources = paths::root().join("tests/tools");
    let (object, program) = (folder.join("libplugin.so"), folder.join("load"));
    for (source, output, options) in [("plugin.c", &object, ["-shared", "-fPIC"].as_slice()), ("load.c", &program, &[])]
    {
        let mut command = Command::new(dist.join("bin/mpicc"));
        command.args(["-Wall", "-Wextra", "-Werror"]).args(options).arg(sources.join(source)).arg("-o").arg(output);
        process::must(command.arg("-ldl"), LIMIT)?;
    }
    let mut command = Command::new(dist.join("bin/mpiexec"));
    let outcome = process::run(command.args(["-n", "2"]).arg(program).arg(object), LIMIT)?;
    let good = outcome.success() && outcome.stdout.matches("No Errors").count() == 2;
    report.check("plug-in loaded and unloaded", good, || outcome.report());
    Ok(())
}

fn run(dist: &Path, folder: &Path, way: &str, name: &str, preload: Option<&str>, report: &mut Report) -> Result<()> {
    let mut command = Command::new(dist.join("bin/mpiexec"));
    command.args(["-n", "3"]);
    if let Some(tool) = preload {
        command.arg("env").arg(format!("LD_PRELOAD={}", folder.join(tool).display()));
    }
    let outcome = process::run(command.arg(folder.join(name)), LIMIT)?;
    let line = outcome.stdout.lines().find_map(|line| line.strip_prefix("umq_tool: rank 0: "));
    let slow: Option<u32> = line.and_then(|line| line.split(' ').next()?.parse().ok());
    let expected = match way {
        "no tool" => line.is_none(),
        // Of rank 0's receives most are made in the wrong order.
        _ => slow.is_some_and(|slow| slow > 100) && outcome.stdout.contains("umq_tool: rank 2: 0 of "),
    };
    let good = outcome.success() && outcome.stdout.contains("(correct)") && expected;
    report.check(way, good, || outcome.report());
    Ok(())
}
