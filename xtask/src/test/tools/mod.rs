//! The example tools in every link model (`links`); the requirements of the profiling interface (`requirements`); a plug-in that is loaded and unloaded while a tool runs.

mod links;
mod requirements;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::{Context, Report};
use crate::{Result, paths, process};

const LIMIT: Duration = Duration::from_secs(120);

/// The suite `tools`.
pub fn suite(context: &Context, report: &mut Report) -> Result<()> {
    let dist = context.dist()?;
    let folder = paths::scratch("tools");
    // A shared tool of an earlier run beside the static one would be linked instead.
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    links::all(dist, &folder, report)?;
    requirements::all(dist, &folder, report)?;
    plugin(dist, &folder, report)?;
    example_plugin(dist, &folder, report)
}

/// The example of a plug-in, built as its comment describes: with the table of its variables, with a value that they do
/// not accept, without the library.
fn example_plugin(dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    let examples = paths::root().join("examples/tools");
    let (sources, include) = (examples.display(), dist.join("include"));
    let strict = "-Wall -Wextra -Werror";
    let table = "--cvar stats_at_end=all --cvar stats_format=json ./cache_program 2>&1";
    let row = |name: &str, class: &str, unit: &str, values: &str| {
        format!(
            "\"object\":\"\",\"variable\":\"{name}\",\"class\":\"{class}\",\"unit\":\"{unit}\",\"values\":[{values}]}}\n"
        )
    };
    let full = "cache_entries is \"65\", but it takes a whole number from 1 to 64 (entries)\n";
    let main = "double cache_get(int); int main(void) { return cache_get(1) == cache_get(1) ? 0 : 1; }";
    let twice = "#include <dlfcn.h>\\n#include <mpi.h>\\nint main(void) { int done; void *cache = dlopen(\"./libcache.so\", RTLD_NOW); \
                 dlclose(cache); MPI_Initialized(&done); return !dlopen(\"./libcache.so\", RTLD_NOW); }";
    let taken = "tools will not see cache_hits: ferrum_tool_add: name is \"cache_hits\", which another variable of MPI_T_PVAR_CLASS_COUNTER has\n";
    let listed = "p2p_eager_limit = 16384\n    Longest message in bytes that is sent whole";
    let early = "event_report: rank 0: ";
    let cases: [(&str, String, Vec<String>); 7] = [
        (
            "example that lists control variables",
            format!("mpicc {strict} {sources}/list_cvars.c -o list_cvars && ./list_cvars eager && ./list_cvars shape"),
            vec![listed.into(), "now 32768 (written)".into(), "coll_shape = auto\n".into()],
        ),
        (
            "example of events",
            format!(
                "mpicc {strict} -shared -fPIC {sources}/event_report.c -o libevent_report.so && \
                 mpicc {sources}/../umq_program.c -o umq_program && \
                 mpiexec -n 3 env LD_PRELOAD=./libevent_report.so ./umq_program"
            ),
            vec![early.into(), " of rank 2 came before their receive\n".into()],
        ),
        (
            "example of a plug-in",
            format!(
                "mpicc {strict} -shared -fPIC {sources}/cache.c -o libcache.so && mpicc {strict} {sources}/cache_program.c -L. \
                 -lcache -Wl,-rpath,'$ORIGIN' -o cache_program && mpiexec -n 2 {table}"
            ),
            vec![
                row("cache_hits", "counter", "values", "72,72"),
                row("cache_misses", "counter", "values", "8,8"),
                row("cache_filled", "level", "entries", "8,8"),
            ],
        ),
        (
            "its control variable",
            format!("mpiexec -n 2 --cvar cache_entries=4 {table}"),
            vec![row("cache_misses", "counter", "values", "80,80"), row("cache_filled", "level", "entries", "4,4")],
        ),
        ("a bad value of it", "mpiexec -n 1 --cvar cache_entries=65 ./cache_program 2>&1".into(), vec![full.into()]),
        (
            "it is loaded again",
            format!("printf '%b' '{twice}' | mpicc -x c - -x none -ldl -o twice && ./twice 2>&1"),
            vec![taken.into()],
        ),
        (
            "the same without the library",
            format!(
                "cc -I{} -shared -fPIC {sources}/cache.c -o libalone.so && echo '{main}' | cc -x c - -L. -lalone \
                 -Wl,-rpath,'$ORIGIN' -o alone && ./alone && echo good",
                include.display()
            ),
            vec!["good\n".into()],
        ),
    ];
    let path = format!("{}:{}", dist.join("bin").display(), std::env::var("PATH").unwrap_or_default());
    for (name, line, texts) in cases {
        let mut command = Command::new("sh");
        let outcome = process::run(command.args(["-c", &line]).current_dir(folder).env("PATH", &path), LIMIT)?;
        let good = outcome.success() && texts.iter().all(|text| outcome.stdout.contains(text));
        report.check(name, good, || outcome.report());
    }
    Ok(())
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
