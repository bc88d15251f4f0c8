//! The cases: which program, with how many ranks, and how its numbers come about.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::peers::Library;
use crate::{Result, paths, process};

/// One run of one program.
pub struct Case {
    /// Name to select it by.
    pub name: &'static str,
    /// What it measures, for people.
    pub what: &'static str,
    /// C file in `benches/c/`, without its ending.
    pub program: &'static str,
    argument: Option<&'static str>,
    ranks: usize,
    method: Method,
}

/// Where the numbers come from.
#[derive(PartialEq)]
enum Method {
    /// The program prints them.
    Printed,
    /// The time that `mpiexec` takes from start to end.
    LaunchTime,
    /// Instructions counted by callgrind.
    Instructions,
}

/// One measured value.
pub struct Number {
    /// Name of the number, such as `latency/8`.
    pub name: String,
    /// Its value in `unit`.
    pub value: f64,
    /// `us`, `ns`, `ms`, `MB`, `instructions`: less is better; `GB/s`, `M/s`: more is better.
    pub unit: String,
}

const LIMIT: Duration = Duration::from_secs(120);

/// All cases, in the order of the table.
pub fn all() -> Vec<Case> {
    let case = |name, program, argument, ranks, method, what| Case { name, what, program, argument, ranks, method };
    use Method::{Instructions, LaunchTime, Printed};
    vec![
        case("latency", "latency", None, 2, Printed, "half round trip of 8 B to 8 KiB"),
        case("latency-multiple", "latency", Some("multiple"), 2, Printed, "the same at MPI_THREAD_MULTIPLE"),
        case("bandwidth", "bandwidth", None, 2, Printed, "64 KiB to 4 MiB, window of 16"),
        case("rate", "rate", None, 2, Printed, "8-byte messages a second, window of 64"),
        case("collective-2", "collective", None, 2, Printed, "barrier, bcast, allreduce on 2 ranks"),
        case("collective-4", "collective", None, 4, Printed, "barrier, bcast, allreduce on 4 ranks"),
        case("pvar_read", "pvar_read", None, 1, Printed, "MPI_T_pvar_read above an empty loop"),
        case("pvar_read-multiple", "pvar_read", Some("multiple"), 1, Printed, "the same at MPI_THREAD_MULTIPLE"),
        case("tool", "tool_calls", None, 1, Printed, "calls of MPI_T above an empty loop"),
        case("tool-multiple", "tool_calls", Some("multiple"), 1, Printed, "the same at MPI_THREAD_MULTIPLE"),
        case("tool_classes", "tool_classes", None, 1, Printed, "MPI_T_pvar_read by class, and of all variables"),
        case("tool_classes-multiple", "tool_classes", Some("multiple"), 1, Printed, "the same at MPI_THREAD_MULTIPLE"),
        case("unexpected", "unexpected", None, 2, Printed, "receives in reverse order of arrival"),
        case("launch", "startend", None, 2, LaunchTime, "mpiexec -n 2 of a program that starts and ends"),
        case("launch-64", "startend", None, 64, LaunchTime, "the same with 64 ranks"),
        case("calls", "calls", None, 1, Printed, "calls that ask or keep books"),
        case("calls-multiple", "calls", Some("multiple"), 1, Printed, "the same at MPI_THREAD_MULTIPLE"),
        case("memory", "memory", None, 2, Printed, "resident memory of a rank"),
        case("instructions", "isend_cost", None, 2, Instructions, "instructions of MPI_Isend of 8 bytes (callgrind)"),
    ]
}

impl Case {
    /// Whether one of the given beginnings fits; none given fits all.
    pub fn matches(&self, names: &[String]) -> bool {
        names.is_empty() || names.iter().any(|name| self.name.starts_with(name.as_str()))
    }

    /// Whether every round would give the same value, so that one is enough.
    pub fn counts_only(&self) -> bool {
        self.method == Method::Instructions
    }

    /// Runs it once.
    pub fn measure(&self, library: &Library, folder: &Path) -> Result<Vec<Number>> {
        let program = folder.join(self.program);
        match self.method {
            Method::Printed => {
                let outcome = process::must(library.launch(self.ranks, &program).args(self.argument), LIMIT)?;
                outcome.stdout.lines().map(parse).collect()
            }
            Method::LaunchTime => {
                let outcome = process::must(&mut library.launch(self.ranks, &program), LIMIT)?;
                let value = outcome.wall.as_secs_f64() * 1e3;
                Ok(vec![Number { name: format!("launch/{}", self.ranks), value, unit: "ms".into() }])
            }
            Method::Instructions => {
                let few = instructions(library, &program, self.ranks, 200)?;
                let many = instructions(library, &program, self.ranks, 1200)?;
                let value = (many - few) / 1000.0;
                Ok(vec![Number { name: "instructions/isend".into(), value, unit: "instructions".into() }])
            }
        }
    }
}

fn parse(line: &str) -> Result<Number> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if let [name, value, unit] = words[..]
        && let Ok(value) = value.parse()
    {
        return Ok(Number { name: name.into(), value, unit: unit.into() });
    }
    Err(format!("not a line `name value unit`: {line}").into())
}

/// Instructions that the ranks spend inside the program's `one_isend` for this many messages.
fn instructions(library: &Library, program: &Path, ranks: usize, messages: u32) -> Result<f64> {
    let folder = paths::scratch("callgrind");
    // Counts of an earlier run must not be added.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    let mut command = library.launch(ranks, Path::new("valgrind"));
    command
        .args(["--quiet", "--tool=callgrind", "--collect-atstart=no", "--toggle-collect=one_isend"])
        .arg(format!("--callgrind-out-file={}/%p", folder.display()))
        .arg(program)
        .arg(messages.to_string());
    process::must(&mut command, LIMIT)?;
    let mut sum = 0.0;
    for entry in fs::read_dir(&folder)? {
        let text = fs::read_to_string(entry?.path())?;
        for line in text.lines() {
            if let Some(total) = line.strip_prefix("totals:") {
                sum += total.trim().parse::<f64>().map_err(|error| format!("callgrind's totals: {error}"))?;
            }
        }
    }
    Ok(sum)
}
