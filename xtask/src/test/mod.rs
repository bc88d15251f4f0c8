//! `cargo xtask test`: the suites, their count, and the last line `N passed, N failed, N skipped`.
//!
//! Invariant: a test that cannot run is counted as skipped and named; every program runs under
//! a time limit. Not here: the suites themselves, one module each.

mod abi;
mod applications;
mod arguments;
mod asan;
mod cargo;
mod clients;
mod collectives;
mod conformance;
mod counting;
mod cxx;
mod datatypes;
mod debuggers;
mod fortran;
mod hangs;
mod headers;
mod hosts;
mod lanes;
mod launch;
mod leftovers;
mod manifest;
mod miri;
mod mpi4py;
mod network;
mod observe;
mod pmi;
mod report;
mod reports;
mod stack;
mod surroundings;
mod tools;
mod topology;
mod wrappers;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

use crate::rules::Tests;
use crate::{Failure, Result, codegen, dist, paths, tidy, tools as programs, ui};
use report::Report;

/// Options of `test`.
#[derive(clap::Args)]
#[command(after_help = suites_help())]
pub struct Options {
    /// Suites to run; none means all
    suites: Vec<String>,
    /// Install missing system packages without being root (through apt-get)
    #[arg(long, conflicts_with = "no_install")]
    install: bool,
    /// Install and fetch nothing, also as root: what is missing is named, and what needs it is skipped
    #[arg(long)]
    no_install: bool,
    /// Run the suites conformance and collectives on this library instead of ours (mpich), as a check of the programs
    #[arg(long, value_name = "LIBRARY")]
    on: Option<String>,
    /// Seed of the random datatypes and collectives: a number, or `random`; the test prints it
    #[arg(long, value_name = "SEED", value_parser = seed)]
    seed: Option<String>,
    /// All that takes long: mpi4py's tests with 1 to 5 ranks in both of its builds (about half an hour), and the programs of
    /// `network` with all their numbers of ranks
    #[arg(long)]
    whole: bool,
    /// Only tests whose name, `SUITE/TEST` as in reports, contains this
    #[arg(long, value_name = "TEXT")]
    only: Option<String>,
}

/// A seed for the models.
fn seed(text: &str) -> std::result::Result<String, String> {
    match text {
        "random" => Ok(text.to_owned()),
        _ => {
            text.parse::<u32>().map(|number| number.to_string()).map_err(|_| "it is a number or \"random\"".to_owned())
        }
    }
}

/// What a suite is.
struct Suite {
    name: &'static str,
    /// What it tests.
    what: &'static str,
    run: fn(&Context, &mut Report) -> Result<()>,
    place: Place,
}

/// What may run at the same time as a suite.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// The neighbours in the table that may, too: it measures no time, and its files are its own.
    Beside,
    /// Nothing: it measures time, looks at all processes of the machine, or uses all cores by itself.
    Alone,
}

use Place::{Alone, Beside};

const fn suite(
    name: &'static str,
    place: Place,
    what: &'static str,
    run: fn(&Context, &mut Report) -> Result<()>,
) -> Suite {
    Suite { name, what, run, place }
}

/// How many suites run beside one another, at most. A compilation uses all cores, but links and a long test use one.
const SUITE_LANES: usize = 2;

/// In the order of running: short and informative suites first, and of those that run beside one another the longest first.
const SUITES: [Suite; 33] = [
    suite("codegen", Beside, "generated files are current", |_, report| {
        report.step("freshness", || codegen::run(true))
    }),
    suite("tidy", Beside, "module docs, dependency direction, machine paths", |_, report| {
        report.step("rules", || tidy::run(&existing()?))
    }),
    suite("unit", Beside, "cargo test of all crates", cargo::unit),
    suite("miri", Beside, "tests of the lower crates' pure modules under Miri", miri::suite),
    suite("symbols", Beside, "both libraries export both names of every function and nothing else", symbols),
    suite("loom", Beside, "all interleavings of the shared-memory protocols", cargo::loom),
    suite("doc", Beside, "the documentation of all crates has no warnings", cargo::doc),
    suite("conformance", Alone, "C programs, one rule of the standard each", conformance::suite),
    suite("asan", Alone, "the conformance programs, up to 4 ranks, on a library with AddressSanitizer", asan::suite),
    suite(
        "counting",
        Alone,
        "a tool that counts every function sees exactly the calls of the conformance programs",
        counting::suite,
    ),
    suite(
        "collectives",
        Alone,
        "every collective function, and random mixes, compared with a serial model in C",
        collectives::suite,
    ),
    suite("mpi4py", Beside, "mpi4py from its source package with our mpicc", mpi4py::suite),
    suite(
        "arguments",
        Beside,
        "every function with every wrong argument, and without MPI, generated from spec/",
        arguments::suite,
    ),
    suite("datatypes", Beside, "random derived types, compared with a model in Python with numpy", datatypes::suite),
    suite("topology", Beside, "random topologies, compared with a model in Python", topology::suite),
    suite("abi", Beside, "header and binaries against the mpich wheel's standard ABI", abi::suite),
    suite(
        "fortran",
        Beside,
        "mpif.h, modules mpi and mpi_f08: programs, and every routine by both names",
        fortran::suite,
    ),
    suite("headers", Beside, "the headers in all versions of C and C++, with all warnings as errors", headers::suite),
    suite("cxx", Beside, "the namespace MPI of mpicxx.h, in all versions of C++", cxx::suite),
    suite("wrappers", Beside, "mpicc and mpicxx, a moved folder, pkg-config, CMake", wrappers::suite),
    suite("applications", Beside, "whole programs print the same with our library and with MPICH", applications::suite),
    suite(
        "clients",
        Beside,
        "clients of MPI_T from MPICH and Open MPI, and tests of topologies, unchanged",
        clients::suite,
    ),
    suite("examples", Beside, "C and Rust examples, the Rust ones with no C compiler involved", cargo::examples),
    suite("tools", Alone, "the example tools in every link model; a plug-in that is loaded and unloaded", tools::suite),
    suite("stack", Alone, "several tools at once, typed tools, mpiexec --trace and --profile", stack::suite),
    suite("hangs", Alone, "jobs that wait for ever: the report names the mistake in its first line", hangs::suite),
    suite("debuggers", Alone, "the processes of a job and message queues, as debuggers find them", debuggers::suite),
    suite("launch", Alone, "mpiexec: exit codes, signals, output, input, nothing left behind", launch::suite),
    suite("observe", Alone, "mpitop, mpi-info and mpiexec --stats: jobs seen from outside", observe::suite),
    suite("pmi", Alone, "under Hydra, Open MPI's mpiexec and srun; MPICH's programs under ours", pmi::suite),
    suite(
        "network",
        Alone,
        "conformance programs whose ranks use the network, as if each were on a host of its own",
        network::suite,
    ),
    suite("hosts", Alone, "mpiexec over several hosts, made of namespaces, by Hydra, PRRTE and Slurm", hosts::suite),
    suite("bench", Alone, "the side-by-side programs run on our library", bench),
];

fn suites_help() -> String {
    let lines: Vec<String> = SUITES.iter().map(|suite| format!("  {:<12} {}", suite.name, suite.what)).collect();
    format!("Suites:\n{}", lines.join("\n"))
}

/// The parts that suites share: the distribution, built at the first use, and what may be installed.
pub struct Context {
    dist: OnceLock<PathBuf>,
    /// Held while the distribution is built.
    building: Mutex<()>,
    /// Whether system packages may be installed.
    pub install: bool,
    /// The library to run conformance and collectives on, when it is not ours.
    pub on: Option<String>,
    /// Whether runs that take long are made.
    pub whole: bool,
    /// The seed of the random datatypes and collectives, when it is not the usual one.
    pub seed: Option<String>,
}

impl Context {
    /// The distribution, built at the first call.
    pub fn dist(&self) -> Result<&Path> {
        let _one = self.building.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(dist) = self.dist.get() {
            return Ok(dist);
        }
        let built = dist::build(&paths::dist())?;
        Ok(self.dist.get_or_init(|| built))
    }
}

/// Runs suites and prints the count.
pub fn run(options: &Options) -> Result<()> {
    if let Some(unknown) = options.suites.iter().find(|name| !SUITES.iter().any(|suite| suite.name == **name)) {
        return Err(format!("no suite is named {unknown}; `cargo xtask test --help` lists them").into());
    }
    let context = Context {
        dist: OnceLock::new(),
        building: Mutex::new(()),
        install: !options.no_install && (options.install || programs::is_root()),
        on: options.on.clone(),
        whole: options.whole,
        seed: options.seed.clone(),
    };
    if options.no_install {
        programs::forbid_fetching();
    }
    let only = options.only.as_deref().unwrap_or_default();
    let mut report = Report::only(only);
    let suites: Vec<&Suite> = SUITES
        .iter()
        .filter(|suite| options.suites.is_empty() || options.suites.iter().any(|wanted| wanted == suite.name))
        .collect();
    for neighbours in suites.chunk_by(|one, other| one.place == Beside && other.place == Beside) {
        let run = |_, suite: &&Suite| {
            ui::step(format!("{}: {}", suite.name, suite.what));
            let mut part = Report::only(only);
            part.begin(suite.name);
            if let Err(failure) = (suite.run)(&context, &mut part) {
                part.failed_among("suite", &failure.to_string());
            }
            part.end();
            part
        };
        let lanes = lanes::usual().min(SUITE_LANES);
        lanes::run(lanes, neighbours.to_vec(), |suite| suite.name, run, |_, part| report.add(&part));
    }
    ui::clear();
    ui::answer(&report);
    if report.total() == 0 {
        return Err(format!("no test has {only:?} in its name; reports name tests as SUITE/TEST").into());
    }
    match report.failed() {
        0 => Ok(()),
        n => Err(Failure::from(format!("{n} tests failed"))),
    }
}

/// The tests that rows of `docs/rules` can name.
pub fn existing() -> Result<Tests> {
    let text = std::fs::read_to_string(paths::root().join("tests/conformance/manifest"))?;
    let programs = manifest::parse(&text)?.into_iter().map(|entry| entry.program).collect();
    Tests::new(programs, arguments::cases()?.into_iter().collect(), SUITES.iter().map(|suite| suite.name).collect())
}

fn symbols(context: &Context, report: &mut Report) -> Result<()> {
    let dist = context.dist()?;
    report.step("names and addresses", || dist::symbols::check(dist))
}

fn bench(context: &Context, report: &mut Report) -> Result<()> {
    context.dist()?;
    report.step("one short round", crate::bench::smoke)
}
