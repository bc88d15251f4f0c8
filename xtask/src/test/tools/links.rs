//! The example profilers in every link model: `send_count.c` (bytes and time of MPI_Send) and `umq_tool.c` (receives
//! while the unexpected queue is long), each with an unmodified program; and what a static program carries.
//!
//! Invariant: a model is one line of shell in a folder of its own, with the compiler wrappers of the distribution.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::super::Report;
use crate::process::Outcome;
use crate::{Result, paths, process, ui};

const LIMIT: Duration = Duration::from_secs(120);

/// Name, commands that build `run` from `$PROGRAM` and `$TOOL`, and the object to preload. `$LIB` and `$INCLUDE` are the
/// folders of the distribution.
const MODELS: [(&str, &str, Option<&str>); 15] = [
    ("source before the library", "mpicc -Wall -Werror $PROGRAM $TOOL -o run", None),
    ("object before the library", "mpicc -c $TOOL -o tool.o && mpicc $PROGRAM tool.o -o run", None),
    ("archive, shared library", "$ARCHIVE && mpicc $PROGRAM -L. -lmyprof -lpmpi -lmpi -o run", None),
    ("archive, static library", "$ARCHIVE && mpicc -static $PROGRAM -L. -lmyprof -lpmpi -lmpi -o run", None),
    (
        "archive, static library without the wrapper",
        "$ARCHIVE && cc -static -I$INCLUDE $PROGRAM -L. -lmyprof -L$LIB -lpmpi -lmpi -lpthread -ldl -lm -o run",
        None,
    ),
    (
        "archive, only our library static",
        "$ARCHIVE && cc -I$INCLUDE $PROGRAM -L. -lmyprof $LIB/libpmpi.a $LIB/libmpi.a -lpthread -ldl -lm -o run",
        None,
    ),
    ("static-pie", "mpicc -static-pie -fPIE $PROGRAM $TOOL -o run", None),
    ("no-pie, immediate binding", "mpicc -no-pie -fno-pie -Wl,-z,now $PROGRAM $TOOL -o run", None),
    ("preload", "$SHARED && mpicc $PROGRAM -o run", Some("libtool.so")),
    ("dlopen", "$SHARED && mpicc -DPROGRAM_FILE=\\\"$PROGRAM\\\" $LOADER -ldl -o run", None),
    ("link-time optimisation", "mpicc -O2 -flto $PROGRAM $TOOL -o run", None),
    ("link-time optimisation, static library", "mpicc -static -O2 -flto $PROGRAM $TOOL -o run", None),
    ("--no-as-needed", "$SHARED && mpicc $PROGRAM -Wl,--no-as-needed -L. -ltool -Wl,-rpath,$PWD -o run", None),
    (
        "-Bsymbolic tool and program",
        "mpicc -shared -fPIC -Wl,-Bsymbolic $TOOL -o libtool.so && \
         mpicc -shared -fPIC -Wl,-Bsymbolic -Dmain=inner $PROGRAM -o libprogram.so && \
         echo 'int inner(int, char **); int main(int c, char **v) { return inner(c, v); }' | \
         mpicc -x c - -x none -Wl,-Bsymbolic,--no-as-needed -L. -ltool -lprogram -Wl,-rpath,$PWD -o run",
        None,
    ),
    ("no tool", "mpicc $PROGRAM -o run", None),
];

/// The example profilers, each with the program that it is for.
const PROFILERS: [(&str, &str); 2] = [("send_count", "ring"), ("umq_tool", "umq_program")];

/// Every model with each profiler, then the sizes.
pub fn all(dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    for (tool, program) in PROFILERS {
        for (number, (model, build, preload)) in MODELS.into_iter().enumerate() {
            let title = format!("{tool}: {model}");
            if !report.selects(&title) {
                continue;
            }
            let folder = folder.join(format!("{tool}{number}"));
            fs::create_dir_all(&folder)?;
            let built = shell(dist, &folder, tool, program, build)?;
            if !built.success() {
                report.fail(&title, &built.report());
                continue;
            }
            let mut command = Command::new(dist.join("bin/mpiexec"));
            command.args(["-n", "3"]);
            if let Some(object) = preload {
                command.arg("env").arg(format!("LD_PRELOAD={}", folder.join(object).display()));
            }
            command.arg(folder.join("run")).arg(folder.join("libtool.so"));
            let outcome = process::run(&mut command, LIMIT)?;
            report.check(&title, outcome.success() && seen(&outcome, tool, model), || outcome.report());
        }
    }
    sizes(dist, folder, report)
}

/// Whether the profiler printed what it must print of this model's program.
fn seen(outcome: &Outcome, tool: &str, model: &str) -> bool {
    let output = format!("{}{}", outcome.stdout, outcome.stderr);
    let right = output.contains("(correct)");
    let reported = match tool {
        "send_count" => output.lines().any(|line| {
            let rest = line.strip_prefix("send_count: rank 1 sent ").and_then(|rest| rest.strip_suffix(" us"));
            let time = rest.and_then(|rest| rest.strip_prefix("1000 messages, 8000 bytes in "));
            time.and_then(|time| time.parse::<f64>().ok()).is_some_and(|time| time > 0.0)
        }),
        // Of rank 0's receives most are made in the wrong order, at one place of the program.
        _ => {
            output.contains("umq_tool: rank 2: 0 of ")
                && output.lines().any(|line| {
                    let slow =
                        line.strip_prefix("umq_tool: rank 0: ").and_then(|rest| rest.split(' ').next()?.parse().ok());
                    let place = line.split_once(" at ").is_some_and(|(_, place)| place.contains("0x"));
                    slow.is_some_and(|slow: u32| slow > 100) && place
                })
        }
    };
    right && reported == (model != "no tool")
}

/// Runs a line of shell with the variables of the models.
fn shell(dist: &Path, folder: &Path, tool: &str, program: &str, line: &str) -> Result<Outcome> {
    let examples = paths::root().join("examples");
    let path = format!("{}:{}", dist.join("bin").display(), std::env::var("PATH").unwrap_or_default());
    let line = line
        .replace("$ARCHIVE", "mpicc -c $TOOL -o tool.o && ar rcs libmyprof.a tool.o")
        .replace("$SHARED", "mpicc -shared -fPIC $TOOL -o libtool.so");
    let mut command = Command::new("sh");
    command.args(["-c", &line]).current_dir(folder).env("PATH", path);
    command.env("TOOL", examples.join("tools").join(tool).with_extension("c"));
    command.env("PROGRAM", examples.join(program).with_extension("c"));
    command.env("LOADER", paths::root().join("tests/tools/loaded.c"));
    command.env("LIB", dist.join("lib")).env("INCLUDE", dist.join("include"));
    process::run(&mut command, LIMIT)
}

/// Static programs: one that defines three functions itself and one that uses a single function carry no duplicate and
/// only what they use.
fn sizes(dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    let title = "a static program carries what it uses";
    if !report.selects(title) {
        return Ok(());
    }
    let source = paths::root().join("tests/tools/three_functions.c");
    let mut sizes = Vec::new();
    for (name, option) in [
        ("no function", "-DNONE"),
        ("one function", "-DONE"),
        ("three of its own", "-DTHREE"),
        ("all", "-Wl,--no-gc-sections"),
    ] {
        let output = folder.join("sized");
        let (lib, include) = (dist.join("lib"), dist.join("include"));
        let mut command = Command::new("cc");
        command.args(["-O2", "-s", "-static", "-Wl,--gc-sections", option, "-I"]).arg(include).arg(&source);
        command.arg("-o").arg(&output).arg("-L").arg(lib).args(["-lpmpi", "-lmpi", "-lpthread", "-ldl", "-lm"]);
        let built = process::run(&mut command, LIMIT)?;
        if !built.success() {
            report.fail(title, &built.report());
            return Ok(());
        }
        sizes.push((name, fs::metadata(&output)?.len() / 1024));
        if name == "three of its own" {
            let mut command = Command::new(dist.join("bin/mpiexec"));
            let outcome = process::run(command.args(["-n", "2"]).arg(&output), LIMIT)?;
            let good = outcome.success() && outcome.stdout.contains("send 1 recv 1 barrier 2");
            report.check("three functions of the program, static", good, || outcome.report());
        }
    }
    let listed: Vec<String> = sizes.iter().map(|(name, size)| format!("{name} {size} KiB")).collect();
    ui::note(format!("static programs: {}", listed.join(", ")));
    let [none, one, three, all] = sizes[..] else { unreachable!("there are four programs") };
    report.check(title, one.1 - none.1 < 100 && three.1 < all.1 * 3 / 4, || listed.join(", "));
    Ok(())
}
