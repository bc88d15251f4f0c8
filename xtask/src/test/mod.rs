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

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

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

type Suite = fn(&Context, &mut Report) -> Result<()>;

/// Name, what it tests, and the function. In the order of running: short and informative suites first.
const SUITES: [(&str, &str, Suite); 33] = [
    ("codegen", "generated files are current", |_, report| report.step("freshness", || codegen::run(true))),
    ("tidy", "module docs, dependency direction, machine paths", |_, report| {
        report.step("rules", || tidy::run(&existing()?))
    }),
    ("unit", "cargo test of all crates", cargo::unit),
    ("loom", "all interleavings of the shared-memory protocols", cargo::loom),
    ("miri", "tests of the lower crates' pure modules under Miri", miri::suite),
    ("doc", "the documentation of all crates has no warnings", cargo::doc),
    ("symbols", "both libraries export both names of every function and nothing else", symbols),
    ("conformance", "C programs, one rule of the standard each", conformance::suite),
    ("asan", "the conformance programs, up to 4 ranks, on a library with AddressSanitizer", asan::suite),
    (
        "counting",
        "a tool that counts every function sees exactly the calls of the conformance programs",
        counting::suite,
    ),
    ("arguments", "every function with every wrong argument, and without MPI, generated from spec/", arguments::suite),
    ("datatypes", "random derived types, compared with a model in Python with numpy", datatypes::suite),
    ("topology", "random topologies, compared with a model in Python", topology::suite),
    (
        "collectives",
        "every collective function, and random mixes, compared with a serial model in C",
        collectives::suite,
    ),
    ("abi", "header and binaries against the mpich wheel's standard ABI", abi::suite),
    ("fortran", "mpif.h, modules mpi and mpi_f08: programs, and every routine by both names", fortran::suite),
    ("headers", "the headers in all versions of C and C++, with all warnings as errors", headers::suite),
    ("cxx", "the namespace MPI of mpicxx.h, in all versions of C++", cxx::suite),
    ("wrappers", "mpicc and mpicxx, a moved folder, pkg-config, CMake", wrappers::suite),
    ("tools", "the example tools in every link model; a plug-in that is loaded and unloaded", tools::suite),
    ("stack", "several tools at once, typed tools, mpiexec --trace and --profile", stack::suite),
    ("applications", "whole programs print the same with our library and with MPICH", applications::suite),
    ("clients", "clients of MPI_T from MPICH and Open MPI, and tests of topologies, unchanged", clients::suite),
    ("hangs", "jobs that wait for ever: the report names the mistake in its first line", hangs::suite),
    ("debuggers", "the processes of a job and message queues, as debuggers find them", debuggers::suite),
    ("launch", "mpiexec: exit codes, signals, output, input, nothing left behind", launch::suite),
    ("observe", "mpitop, mpi-info and mpiexec --stats: jobs seen from outside", observe::suite),
    ("pmi", "under Hydra, Open MPI's mpiexec and srun; MPICH's programs under ours", pmi::suite),
    (
        "network",
        "conformance programs whose ranks use the network, as if each were on a host of its own",
        network::suite,
    ),
    ("hosts", "mpiexec over several hosts, made of namespaces, by Hydra, PRRTE and Slurm", hosts::suite),
    ("examples", "C and Rust examples, the Rust ones with no C compiler involved", cargo::examples),
    ("bench", "the side-by-side programs run on our library", bench),
    ("mpi4py", "mpi4py from its source package with our mpicc", mpi4py::suite),
];

fn suites_help() -> String {
    let lines: Vec<String> = SUITES.iter().map(|(name, what, _)| format!("  {name:<12} {what}")).collect();
    format!("Suites:\n{}", lines.join("\n"))
}

/// The parts that suites share: the distribution, built at the first use, and what may be installed.
pub struct Context {
    dist: OnceCell<PathBuf>,
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
        if self.dist.get().is_none() {
            let built = dist::build(&paths::dist())?;
            return Ok(self.dist.get_or_init(|| built));
        }
        Ok(self.dist.get().expect("it was just checked"))
    }
}

/// Runs suites and prints the count.
pub fn run(options: &Options) -> Result<()> {
    if let Some(unknown) = options.suites.iter().find(|name| !SUITES.iter().any(|(suite, ..)| suite == name)) {
        return Err(format!("no suite is named {unknown}; `cargo xtask test --help` lists them").into());
    }
    let context = Context {
        dist: OnceCell::new(),
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
    for (name, what, suite) in SUITES {
        if !options.suites.is_empty() && !options.suites.iter().any(|wanted| wanted == name) {
            continue;
        }
        ui::step(format!("{name}: {what}"));
        report.begin(name);
        if let Err(failure) = suite(&context, &mut report) {
            report.failed_among("suite", &failure.to_string());
        }
        report.end();
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
    Tests::new(programs, arguments::cases()?.into_iter().collect(), SUITES.iter().map(|(name, ..)| *name).collect())
}

fn symbols(context: &Context, report: &mut Report) -> Result<()> {
    let dist = context.dist()?;
    report.step("names and addresses", || dist::symbols::check(dist))
}

fn bench(context: &Context, report: &mut Report) -> Result<()> {
    context.dist()?;
    report.step("one short round", crate::bench::smoke)
}
