//! `cargo xtask bench stack`: the cost of tools in front of the library: none, the stack without tools, and one, two and
//! four empty tools of both kinds.
//!
//! Invariant: instructions are those of 1,000 calls of `MPI_Send` to `MPI_PROC_NULL`, as the difference of two runs, so
//! that they do not depend on other load. Not here: the programs (`benches/c/stack_cost.c`, `empty_tool.c`).

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::{cases, table};
use crate::{Result, dist, paths, process, ui};

const LIMIT: Duration = Duration::from_secs(120);

/// One row: its name, and the arguments of `mpiexec`.
pub struct Row {
    pub name: String,
    arguments: Vec<String>,
}

/// Program and tools, built.
pub struct Bench {
    mpiexec: PathBuf,
    program: PathBuf,
    /// In the order in which they are measured: no tool first.
    pub rows: Vec<Row>,
}

/// Prints instructions and the median of the times of each row.
pub fn run(rounds: u32) -> Result<()> {
    let bench = Bench::new(&dist::build(&paths::dist())?)?;
    ui::step(format!("{rounds} rounds of {} rows", bench.rows.len()));
    let mut times = vec![Vec::new(); bench.rows.len()];
    for _ in 0..rounds {
        for (row, times) in bench.rows.iter().zip(&mut times) {
            times.push(bench.nanoseconds(row)?);
        }
    }
    ui::answer(format_args!("\n{:<40} {:>12} {:>10}", "tools in front of MPI_Send", "instructions", "ns"));
    for (row, times) in bench.rows.iter().zip(&times) {
        let instructions = bench.instructions(row)?;
        ui::answer(format_args!("{:<40} {instructions:>12.1} {:>10}", row.name, table::digits(table::median(times))));
    }
    Ok(())
}

impl Bench {
    /// Builds program and tools with a distribution.
    pub fn new(dist: &Path) -> Result<Bench> {
        let (sources, folder) = (paths::root().join("benches/c"), paths::scratch("bench-stack"));
        fs::create_dir_all(&folder)?;
        for (source, output, options) in [
            ("stack_cost.c", "stack_cost", ["-O2"].as_slice()),
            ("empty_tool.c", "empty.so", &["-O2", "-shared", "-fPIC"]),
            ("empty_tool.c", "typed.so", &["-O2", "-shared", "-fPIC", "-DTYPED"]),
        ] {
            let mut build = Command::new(dist.join("bin/mpicc"));
            build.args(["-Wall", "-Werror"]).args(options).arg(sources.join(source)).arg("-o").arg(folder.join(output));
            process::must(&mut build, LIMIT)?;
        }
        let tool = |file: &str| ["--tool".to_owned(), folder.join(file).display().to_string()];
        let mut rows = vec![Row { name: "none".into(), arguments: Vec::new() }];
        let preload = format!("LD_PRELOAD={}", dist.join("lib/libferrum_stack.so").display());
        let arguments = ["-env".to_owned(), preload].into();
        rows.push(Row { name: "none, the stack is loaded".into(), arguments });
        for (kind, file) in [("empty", "empty.so"), ("empty, typed interface", "typed.so")] {
            for count in [1, 2, 4] {
                let arguments = (0..count).flat_map(|_| tool(file)).collect();
                rows.push(Row { name: format!("{count} {kind}"), arguments });
            }
        }
        Ok(Bench { mpiexec: dist.join("bin/mpiexec"), program: folder.join("stack_cost"), rows })
    }

    fn mpiexec(&self, row: &Row) -> Command {
        let mut command = Command::new(&self.mpiexec);
        command.args(["-n", "1"]).args(&row.arguments);
        command
    }

    /// Instructions of a call.
    pub fn instructions(&self, row: &Row) -> Result<f64> {
        let count = |calls: u32| {
            let mut command = self.mpiexec(row);
            cases::count_instructions(command.arg("valgrind"), &["stack_cost_calls"], |valgrind| {
                valgrind.arg(&self.program).arg(calls.to_string())
            })
        };
        Ok((count(1200)? - count(200)?) / 1000.0)
    }

    /// Nanoseconds of a call.
    fn nanoseconds(&self, row: &Row) -> Result<f64> {
        let outcome = process::must(self.mpiexec(row).arg(&self.program).arg("1000000"), LIMIT)?;
        let value = outcome.stdout.split_whitespace().nth(1).and_then(|word| word.parse().ok());
        value.ok_or_else(|| format!("stack_cost printed {:?}", outcome.stdout).into())
    }
}
