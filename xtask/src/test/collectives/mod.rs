//! Collective operations against a serial model in C (`tests/collectives`): every function on all kinds of
//! communicators, and random mixes of operations under way at once. A rank that is killed inside each of them.
//!
//! Invariant: the functions under test follow from `spec/`, so a function is tested as soon as the library has it; all
//! cases follow from a seed, which the programs print.
//! Not here: rules of single calls and their errors (`conformance`, `arguments`).

mod calls;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{Context, Report, lanes, network};
use crate::peers::Library;
use crate::spec::{Function, Spec};
use crate::{Result, paths, process};

/// Time limit of a run; it takes a few seconds on a machine without other load.
const LIMIT: Duration = Duration::from_secs(180);
/// The seed without the option.
const SEED: &str = "20260101";
/// Programs, with the number of cases of each function and the number of batches: with few ranks, with many, and with
/// another library, whose processes take turns of milliseconds where there are more of them than cores.
const PROGRAMS: [(&str, [&str; 3]); 2] = [("every", ["3", "1", "2"]), ("mix", ["80", "25", "20"])];
/// More ranks than this are many.
const FEW: usize = 4;
/// Numbers of ranks with our library.
const RANKS: [usize; 9] = [1, 2, 3, 4, 5, 6, 7, 8, 9];
/// Numbers of ranks with another library.
const RANKS_OF_OTHERS: [usize; 2] = [1, 2];
/// Numbers of threads of the mixes.
const THREADS: [&str; 2] = ["1", "3"];

/// Messages along trees, also of the blocks of an MPI_Alltoall.
const TREES: &[(&str, &str)] = &[("FERRUM_COLL_SHAPE", "tree"), ("FERRUM_COLL_ALLTOALL_SHAPE", "tree")];
/// A message between each two processes.
const FLAT: &[(&str, &str)] = &[("FERRUM_COLL_SHAPE", "flat"), ("FERRUM_COLL_ALLTOALL_SHAPE", "flat")];

/// Programs with control variables, with the number of ranks and of cases: both shapes of messages, messages where two
/// processes share memory, short parts in shared memory, the comparison of arguments, reproducible sums, the algorithms
/// of many processes, the progress thread, waits that sleep at once, two hosts, and a network between all ranks.
const VARIED: [(&str, usize, &str, &[(&str, &str)]); 20] = [
    ("every", 3, "1", TREES),
    ("every", 6, "1", TREES),
    ("every", 9, "1", TREES),
    ("every", 4, "1", FLAT),
    ("every", 2, "2", &[("FERRUM_COLL_SHARED", "off")]),
    ("every", 2, "2", &[("FERRUM_COLL_SHARED_CHUNK", "1024")]),
    // Where processes share cores this is the part of a broadcast only.
    ("every", 5, "1", &[("FERRUM_COLL_SHARED_CHUNK", "1024")]),
    ("every", 5, "1", &[("FERRUM_COLL_SHARED", "off"), ("FERRUM_COLL_SPLIT_LIMIT", "1")]),
    ("every", 2, "1", &[("FERRUM_COLL_CHECK", "on")]),
    ("every", 3, "1", &[("FERRUM_COLL_CHECK", "on")]),
    ("every", 4, "1", &[("FERRUM_COLL_REPRODUCIBLE_SUMS", "on")]),
    (
        "every",
        5,
        "1",
        &[("FERRUM_COLL_RING_FROM", "3"), ("FERRUM_COLL_SPLIT_LIMIT", "1"), ("FERRUM_COLL_BCAST_SPLIT_LIMIT", "1")],
    ),
    ("mix", 4, "20", &[("FERRUM_COLL_PROGRESS_THREAD", "on")]),
    ("every", 5, "1", &[("FERRUM_P2P_WAIT_SPINS", "0")]),
    ("mix", 4, "20", &[("FERRUM_P2P_WAIT_SPINS", "0")]),
    ("mix", 16, "5", &[("FERRUM_P2P_WAIT_SPINS", "0")]),
    ("every", 5, "1", &[(FORCE, "hosts")]),
    ("mix", 4, "20", &[(FORCE, "hosts")]),
    ("every", 3, "1", &[(FORCE, "all")]),
    ("mix", 3, "10", &[(FORCE, "all")]),
];

/// The root of the calls in which a rank is killed.
const ROOT: &str = "1";
/// Operations whose long data go through shared memory in parts.
const IN_PARTS: [&str; 7] = ["Bcast", "Reduce", "Allreduce", "Gather", "Scatter", "Allgather", "Alltoall"];

/// Makes hosts of the processes of one, between which a network is.
const FORCE: &str = "FERRUM_NET_FORCE";

/// A test: its name, and what it does.
type Test<'a> = (String, Box<dyn Fn() -> Result<()> + Send + Sync + 'a>);

/// Each program with each number of ranks; as many at once as there are lanes.
pub fn suite(context: &Context, report: &mut Report) -> Result<()> {
    let spec = Spec::read(&paths::root())?;
    let (library, header) = match context.on.as_deref() {
        None => (Library::ferrum(context.dist()?), calls::header(&spec, false)?),
        Some("mpich") => (Library::mpich_abi()?, calls::header(&spec, true)?),
        Some(other) => return Err(format!("cannot run on {other}; there is mpich").into()),
    };
    let folder = paths::scratch("collectives").join(library.name);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("calls.h"), header)?;
    let ours = context.on.is_none();
    let seed = seed(context);
    let mut tests = Vec::new();
    for (name, _) in PROGRAMS {
        compile(&library, name, &folder)?;
    }
    usual(&library, &folder, &seed, ours, &mut tests);
    if ours {
        varied(&library, &folder, &seed, report, &mut tests);
        let program = compile(&library, "killed", &folder)?;
        all_killed(&library, &spec, program, &mut tests);
    }
    tests.retain(|(test, _)| report.selects(test));
    let take = |(test, _): Test<'_>, result: Result<()>| match result {
        Ok(()) => report.pass(&test),
        Err(failure) => report.fail(&test, &failure.to_string()),
    };
    lanes::run(lanes::usual(), tests, |(test, _)| test, |_, (_, execute)| execute(), take);
    Ok(())
}

/// The programs without control variables.
fn usual<'a>(library: &'a Library, folder: &Path, seed: &'a str, ours: bool, tests: &mut Vec<Test<'a>>) {
    let manner = if ours { "strict" } else { "tolerant" };
    for (name, cases) in PROGRAMS {
        for &ranks in if ours { &RANKS[..] } else { &RANKS_OF_OTHERS } {
            let cases = cases[if !ours { 2 } else { usize::from(ranks > FEW) }];
            let program = folder.join(name);
            if name == "every" {
                let run = move || right(library.launch(ranks, &program).args([seed, cases, manner]));
                tests.push((format!("{name} {ranks}"), Box::new(run)));
                continue;
            }
            for threads in THREADS {
                let program = program.clone();
                let run = move || right(library.launch(ranks, &program).args([seed, cases, manner, threads]));
                tests.push((format!("{name} {ranks} x {threads}"), Box::new(run)));
            }
        }
    }
}

/// The programs with control variables.
fn varied<'a>(library: &'a Library, folder: &Path, seed: &'a str, report: &mut Report, tests: &mut Vec<Test<'a>>) {
    for (name, ranks, cases, variables) in VARIED {
        let program = folder.join(name);
        let (variable, value) = variables[0];
        let test = format!("{name} {ranks} {variable}={value}");
        if variable == FORCE && network::skips_without_libfabric(&test, report) {
            continue;
        }
        let run = move || {
            let mut command = library.launch(ranks, &program);
            right(command.args([seed, cases, "strict"]).envs(variables.iter().copied()))
        };
        tests.push((test, Box::new(run)));
    }
}

/// The calls in which a rank is killed.
fn all_killed<'a>(library: &'a Library, spec: &'a Spec, program: PathBuf, tests: &mut Vec<Test<'a>>) {
    for function in calls::functions(spec) {
        let mut test = |what: &str, arguments: &'static [&'static str]| {
            let program = program.clone();
            let run = move || killed(library, &program, function, arguments);
            tests.push((format!("killed {}{what}", function.name), Box::new(run)));
        };
        test("", &["2"]);
        if calls::has(function, "root") {
            test(", the root", &[ROOT]);
        }
        if calls::is_between_groups(function) {
            test(", between groups", &["2", "groups"]);
        }
        if IN_PARTS.contains(&function.name.as_str()) {
            test(", long data", &["2", "long"]);
        }
    }
}

/// The seed of all cases.
pub fn seed(context: &Context) -> String {
    match context.seed.as_deref() {
        None => SEED.to_owned(),
        Some("random") => random(),
        Some(number) => number.to_owned(),
    }
}

/// Compiles the programs of random cases into a folder.
pub fn compile_random(library: &Library, folder: &Path) -> Result<()> {
    fs::write(folder.join("calls.h"), calls::header(&Spec::read(&paths::root())?, false)?)?;
    for (name, _) in PROGRAMS {
        compile(library, name, folder)?;
    }
    Ok(())
}

/// The report of a job whose rank was killed inside a function names the rank, the first argument, and the call.
fn killed(library: &Library, program: &Path, function: &Function, arguments: &[&str]) -> Result<()> {
    let name = function.name.as_str();
    let outcome = process::run(library.launch(4, program).arg(name).args(arguments), LIMIT)?;
    let line = outcome.stderr.lines().find(|line| line.contains("was killed by signal 9"));
    let rank = format!("rank {} of 4", arguments[0]);
    let waits = calls::has(function, "request");
    let in_call = |line: &str| {
        let mut words = line.split(|it: char| it != '_' && !it.is_ascii_alphanumeric());
        words.any(|word| word.strip_prefix("MPI_") == Some(name) || waits && ["MPI_Start", "MPI_Wait"].contains(&word))
    };
    match line {
        Some(line) if line.contains(&rank) && in_call(line) => Ok(()),
        _ => Err(outcome.report().into()),
    }
}

/// Runs a command that has to find no errors.
fn right(command: &mut Command) -> Result<()> {
    let outcome = process::run(command, LIMIT)?;
    match outcome.success() && outcome.stdout.lines().any(|line| line == "No Errors") {
        true => Ok(()),
        false => Err(outcome.report().into()),
    }
}

fn compile(library: &Library, name: &str, folder: &Path) -> Result<PathBuf> {
    let (sources, program) = (paths::root().join("tests/collectives"), folder.join(name));
    let include = [format!("-I{}", folder.display()), format!("-I{}", sources.display())];
    let options = ["-O1", "-g", "-Wall", "-Wextra", "-Werror", "-pthread", &include[0], &include[1]];
    library.compile(&sources.join(name).with_extension("c"), &program, &options)?;
    Ok(program)
}

fn random() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |age| age.as_nanos());
    (now as u64 & 0xffff_ffff).to_string()
}
