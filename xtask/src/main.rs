//! `cargo xtask`: every task of this workspace that is not plain `cargo build` or `cargo test`.
//!
//! Owns the command line; each task is a module. Invariant: a task ends with exit status 0 only when all of
//! it was done. Not here: how a step is shown (`ui`), how a program is run and ended (`process`).

mod bench;
mod catalog;
mod codegen;
mod coverage;
mod demo;
mod dist;
mod failure;
mod lab;
mod paths;
mod peers;
mod process;
mod rules;
mod spec;
mod table;
mod test;
mod tidy;
mod tools;
mod ui;
mod variables;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

pub use failure::{Failure, Result};

/// Build tasks of Ferrum MPI.
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", disable_help_subcommand = true)]
struct Arguments {
    #[command(subcommand)]
    task: Option<Task>,
}

#[derive(Subcommand)]
enum Task {
    /// Build everything and run the main job: a ring on 4 processes, then the unexpected-queue tool
    Demo,
    /// Run the tests: all suites, or the named ones
    Test(test::Options),
    /// Build the distribution: compiler wrappers, mpiexec, header, libraries
    Dist {
        /// Folder to write (it can be moved afterwards)
        #[arg(long, value_name = "DIR")]
        prefix: Option<PathBuf>,
    },
    /// Measure the C library, beside other MPI libraries with --peers
    Bench(bench::Options),
    /// Write all generated files from the tables in spec/
    Codegen {
        /// Change nothing; fail when a generated file is stale
        #[arg(long)]
        check: bool,
    },
    /// Write the catalog of variables, events and categories from which mpiexec describes and checks them
    Catalog,
    /// Count the functions of MPI-5.0 that are implemented and the rules in docs/rules that have a test, and write
    /// docs/coverage.md
    Coverage {
        /// Change nothing; fail when the table is stale, or a rule names a test that is not there
        #[arg(long)]
        check: bool,
    },
    /// Check the rules of the house: module docs, dependency direction, cycles of modules, generated files, machine
    /// paths
    Tidy {
        /// Check nothing; print the graph of a crate's modules, or of all crates', for Graphviz (edges on cycles are
        /// red)
        #[arg(long, value_name = "CRATE", num_args = 0..=1, default_missing_value = "")]
        graph: Option<String>,
    },
}

fn main() -> ExitCode {
    let Some(task) = Arguments::parse().task else {
        // A failure to print the help text cannot be reported either.
        let _ = Arguments::command().print_help();
        return ExitCode::SUCCESS;
    };
    let outcome = match task {
        Task::Demo => demo::run(),
        Task::Test(options) => test::run(&options),
        Task::Dist { prefix } => dist::run(prefix),
        Task::Bench(options) => bench::run(&options),
        Task::Codegen { check } => codegen::run(check),
        Task::Catalog => catalog::run(),
        Task::Coverage { check } => test::existing().and_then(|tests| coverage::run(check, &tests)),
        Task::Tidy { graph: None } => test::existing().and_then(|tests| tidy::run(&tests)),
        Task::Tidy { graph: Some(name) } => tidy::graph(&name),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            ui::clear();
            eprintln!("xtask: {failure}");
            ExitCode::FAILURE
        }
    }
}
