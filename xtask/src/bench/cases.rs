//! The bench cases: program, number of ranks, and the source of the numbers.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::peers::Library;
use crate::{Result, paths, process};

/// One run of one program.
pub struct Case {
    /// Name to select it by.
    pub name: &'static str,
    /// Description, for the list.
    pub what: &'static str,
    /// C file in `benches/c/`, without its ending.
    pub program: &'static str,
    argument: Option<&'static str>,
    ranks: usize,
    method: Method,
}

/// The source of a case's numbers.
enum Method {
    /// The program prints them.
    Printed,
    /// The time that `mpiexec` takes from start to end.
    LaunchTime,
    /// Instructions counted by callgrind in these functions of the program.
    Instructions(&'static [&'static str]),
}

/// One measured value.
pub struct Number {
    /// Name of the number, such as `latency/8`.
    pub name: String,
    /// Its value in `unit`.
    pub value: f64,
    /// `us`, `ns`, `ms`, `MB`, `bytes`, `instructions`, `switches`: less is better; `GB/s`, `M/s`, `times`, `%`: more is better.
    pub unit: String,
}

const LIMIT: Duration = Duration::from_secs(120);

/// All cases, in the order of the table.
pub fn all() -> Vec<Case> {
    use Method::{LaunchTime, Printed};
    let mut all = vec![
        case("latency", "latency", None, 2, Printed, "half round trip of 0 B to 8 KiB"),
        case("latency-long", "latency", Some("long"), 2, Printed, "half round trip of 16 KiB to 4 MiB"),
        case(
            "latency-alloc-mem",
            "latency",
            Some("alloc_mem"),
            2,
            Printed,
            "64 KiB to 16 MiB, memory of MPI_Alloc_mem",
        ),
        case("latency-multiple", "latency", Some("multiple"), 2, Printed, "the same at MPI_THREAD_MULTIPLE"),
        case("bandwidth", "bandwidth", None, 2, Printed, "4 KiB to 4 MiB, window of 16"),
        case("rate", "rate", None, 2, Printed, "8-byte messages a second, window of 64"),
        case("rate-4", "rate", None, 5, Printed, "the same to 4 receivers in turn"),
        case("collective-2", "collective", None, 2, Printed, "barrier, bcast, allreduce on 2 ranks"),
        case("collective-4", "collective", None, 4, Printed, "barrier, bcast, allreduce on 4 ranks"),
        case("collectives-2", "collectives", None, 2, Printed, "every collective operation in every form on 2 ranks"),
        case(
            "collectives-between",
            "collectives",
            Some("between"),
            2,
            Printed,
            "the same between two groups of one rank",
        ),
        case("collectives-4", "collectives", Some("blocking"), 4, Printed, "every blocking one on 4 ranks"),
        case("frequent-2", "collectives", Some("frequent"), 2, Printed, "the six most frequent ones on 2 ranks"),
        case("frequent-4", "collectives", Some("frequent"), 4, Printed, "the same on 4 ranks"),
        case("frequent-8", "collectives", Some("frequent"), 8, Printed, "the same on 8 ranks"),
        case(
            "overlap",
            "overlap",
            None,
            2,
            Printed,
            "communication hidden behind computing; starts of persistent ones",
        ),
        case("overlap-thread", "overlap", Some("thread"), 2, Printed, "the same with a progress thread of the library"),
        case("pvar_read", "pvar_read", None, 1, Printed, "MPI_T_pvar_read above an empty loop"),
        case("pvar_read-multiple", "pvar_read", Some("multiple"), 1, Printed, "the same at MPI_THREAD_MULTIPLE"),
        case("tool", "tool_calls", None, 1, Printed, "calls of MPI_T above an empty loop"),
        case("tool-multiple", "tool_calls", Some("multiple"), 1, Printed, "the same at MPI_THREAD_MULTIPLE"),
        case(
            "tool_classes",
            "tool_classes",
            None,
            1,
            Printed,
            "reading, resetting, starting by class, and reading all variables",
        ),
        case("tool_classes-multiple", "tool_classes", Some("multiple"), 1, Printed, "the same at MPI_THREAD_MULTIPLE"),
        case("ddt-vector", "ddt", Some("vector"), 1, Printed, "packing vectors of doubles, beside loops by hand"),
        case(
            "ddt-patterns",
            "ddt",
            Some("patterns"),
            1,
            Printed,
            "packing the data of applications, beside loops by hand",
        ),
        case("ddt-pingpong", "ddt", Some("pingpong"), 2, Printed, "half round trips of both, beside loops by hand"),
        case("partitioned/1", "partitioned", Some("1"), 2, Printed, "a message of 1 MiB in 16 partitions"),
        case("partitioned/2", "partitioned", Some("2"), 2, Printed, "the same, with two threads in each process"),
        case("one-sided", "one_sided", None, 2, Printed, "one-sided operations with locks, flushes, fences, groups"),
        case("file-patterns", "files", None, 2, Printed, "files: segmented, strided and random, shared and own ones"),
        case("file-checkpoint", "files", Some("checkpoint"), 2, Printed, "interleaved records through strided views"),
        case("unexpected", "unexpected", None, 2, Printed, "receives in reverse order of arrival"),
        case("launch", "startend", None, 2, LaunchTime, "mpiexec -n 2 of a program that starts and ends"),
        case("launch-64", "startend", None, 64, LaunchTime, "the same with 64 ranks"),
        case("calls", "calls", None, 1, Printed, "calls that query or update objects"),
        case("calls-multiple", "calls", Some("multiple"), 1, Printed, "the same at MPI_THREAD_MULTIPLE"),
        case("memory", "memory", None, 2, Printed, "resident memory of a rank"),
        case("first_contact-16", "first_contact", None, 16, Printed, "the first alltoall of 4 bytes on 16 ranks"),
        case("first_contact-64", "first_contact", None, 64, Printed, "the same with 64 ranks"),
    ];
    all.extend(of_threads(std::thread::available_parallelism().map_or(1, usize::from)));
    all.extend(counted());
    all
}

/// Pairs of threads of two ranks: up to 16 in each rank where every thread has a core, and 2 everywhere.
fn of_threads(cores: usize) -> Vec<Case> {
    let what = "message rate and latency of pairs of threads on communicators of their own";
    let pairs = [("threads/1", "1"), ("threads/2", "2"), ("threads/4", "4"), ("threads/8", "8"), ("threads/16", "16")];
    let fits = |threads: &str| threads.parse().is_ok_and(|threads: usize| threads <= 2 || 2 * threads <= cores);
    let mut cases: Vec<Case> = pairs
        .into_iter()
        .filter(|(_, threads)| fits(threads))
        .map(|(name, threads)| case(name, "threads", Some(threads), 2, Method::Printed, what))
        .collect();
    let what = "a message for one of 8 threads that wait";
    cases.push(case("threads/asleep", "threads_asleep", Some("8"), 2, Method::Printed, what));
    let what = "two threads of one process that send to it, beside one";
    cases.push(case("threads/self", "threads_self", Some("2"), 1, Method::Printed, what));
    cases
}

/// The cases in which the build without instruments is compared.
pub fn of_messages() -> Vec<Case> {
    let mut cases = vec![
        case("latency", "latency", Some("8"), 2, Method::Printed, "half round trip of 8 B"),
        case("rate", "rate", None, 2, Method::Printed, "8-byte messages a second, window of 64"),
    ];
    let of_messages = ["start", "irecv", "isend", "send+recv", "window", "test_miss", "iprobe"].map(String::from);
    let short = |case: &Case| case.name.trim_start_matches("instructions/").to_owned();
    cases.extend(counted().into_iter().filter(|case| of_messages.iter().any(|name| short(case).starts_with(name))));
    cases
}

/// The cases that callgrind counts.
fn counted() -> Vec<Case> {
    let isend = Method::Instructions(&["one_isend"]);
    let pair = || Method::Instructions(&["one_send", "one_receive"]);
    let start = || Method::Instructions(&["one_start"]);
    vec![
        case("instructions/start", "start_cost", Some("start"), 2, start(), "MPI_Start of a send of 8 bytes"),
        case(
            "instructions/start_recv",
            "start_cost",
            Some("start_recv"),
            2,
            start(),
            "MPI_Start of a receive of 8 bytes",
        ),
        case("instructions/irecv", "start_cost", Some("irecv"), 2, start(), "MPI_Irecv of 8 bytes"),
        case("instructions/isend", "isend_cost", None, 2, isend, "instructions of MPI_Isend of 8 bytes (callgrind)"),
        case("instructions/send+recv", "pair_cost", Some("send"), 2, pair(), "MPI_Send and MPI_Recv of 8 bytes"),
        case(
            "instructions/isend+wait+recv",
            "pair_cost",
            Some("isend"),
            2,
            pair(),
            "the same with MPI_Isend and MPI_Wait",
        ),
        case(
            "instructions/window",
            "call_cost",
            Some("window"),
            2,
            Method::Instructions(&["one_window_out", "one_window_in"]),
            "64 of MPI_Isend and MPI_Irecv of 8 bytes, and MPI_Waitall in each process",
        ),
        collective("instructions/collective-barrier", "MPI_Barrier in the process that comes last"),
        collective("instructions/collective-bcast", "MPI_Bcast of 8 bytes in both processes"),
        collective("instructions/collective-reduce", "MPI_Reduce of 8 bytes in both processes"),
        collective("instructions/collective-allreduce", "MPI_Allreduce of 8 bytes in the process that comes last"),
        collective("instructions/collective-gather", "MPI_Gather of 8 bytes in both processes"),
        collective("instructions/collective-scatter", "MPI_Scatter of 8 bytes in both processes"),
        collective("instructions/collective-allgather", "MPI_Allgather of 8 bytes in the process that comes last"),
        collective("instructions/collective-alltoall", "MPI_Alltoall of 8 bytes in the process that comes last"),
        collective(
            "instructions/collective-persistent",
            "MPI_Start and MPI_Wait of a persistent MPI_Allreduce of 8 bytes in the process that comes last",
        ),
        single(
            "instructions/test_miss",
            "test_miss",
            &["one_test_miss"],
            "MPI_Test of a receive whose message has not arrived",
        ),
        single("instructions/iprobe_miss", "iprobe_miss", &["one_iprobe_miss"], "MPI_Iprobe without a message"),
        single("instructions/iprobe_hit", "iprobe_hit", &["one_iprobe_hit"], "MPI_Iprobe with a message"),
        single("instructions/comm_rank", "comm_rank", &["one_comm_rank"], "MPI_Comm_rank of the world"),
        single("instructions/comm_rank_dup", "comm_rank_dup", &["one_comm_rank_dup"], "MPI_Comm_rank of a duplicate"),
        single("instructions/wtime", "wtime", &["one_wtime"], "MPI_Wtime"),
        single(
            "instructions/error_class",
            "error_class",
            &["one_error_class"],
            "MPI_Error_class of a code of the program",
        ),
        single("instructions/error_string", "error_string", &["one_error_string"], "MPI_Error_string of such a code"),
        single("instructions/add_code", "add_code", &["one_add_code"], "MPI_Add_error_code"),
        single("instructions/pvar_read", "pvar_read", &["one_pvar_read"], "MPI_T_pvar_read of a counter"),
        single("instructions/pvar_read_array", "pvar_read_array", &["one_pvar_read_array"], "that of 10 counters"),
    ]
}

/// A collective call on 2 ranks, counted by callgrind: in both processes if it is rooted, else in the one that comes last.
fn collective(name: &'static str, what: &'static str) -> Case {
    let operation = name.rsplit('-').next();
    let functions: &[&str] = match operation {
        Some("bcast" | "reduce" | "gather" | "scatter") => &["one_first", "one_last"],
        _ => &["one_last"],
    };
    case(name, "collective_cost", operation, 2, Method::Instructions(functions), what)
}

/// A call of one process, counted by callgrind.
fn single(name: &'static str, argument: &'static str, functions: &'static [&'static str], what: &'static str) -> Case {
    case(name, "call_cost", Some(argument), 1, Method::Instructions(functions), what)
}

fn case(
    name: &'static str,
    program: &'static str,
    argument: Option<&'static str>,
    ranks: usize,
    method: Method,
    what: &'static str,
) -> Case {
    Case { name, what, program, argument, ranks, method }
}

impl Case {
    /// Whether the name begins with one of these; true without any.
    pub fn matches(&self, names: &[String]) -> bool {
        names.is_empty() || names.iter().any(|name| self.name.starts_with(name.as_str()))
    }

    /// Whether every round gives the same value, so that one is enough.
    pub fn counts_only(&self) -> bool {
        matches!(self.method, Method::Instructions(_))
    }

    /// Whether all its work is one thread's: launchers place such a program on different cores, and the cores of a
    /// virtual machine differ in speed.
    fn has_one_thread(&self) -> bool {
        self.ranks == 1 && !["tool_calls", "threads_self"].contains(&self.program)
    }

    /// Runs it once.
    pub fn measure(&self, library: &Library, folder: &Path) -> Result<Vec<Number>> {
        let program = folder.join(self.program);
        match &self.method {
            Method::Printed => {
                let mut command = library.launch(self.ranks, &program);
                if self.has_one_thread() {
                    command = on_last_core(&command);
                }
                let outcome = process::must(command.args(self.argument), LIMIT)?;
                outcome.stdout.lines().map(parse).collect()
            }
            Method::LaunchTime => {
                let outcome = process::must(&mut library.launch(self.ranks, &program), LIMIT)?;
                let value = outcome.wall.as_secs_f64() * 1e3;
                Ok(vec![Number { name: format!("launch/{}", self.ranks), value, unit: "ms".into() }])
            }
            Method::Instructions(functions) => {
                let few = self.instructions(library, &program, functions, 200)?;
                let many = self.instructions(library, &program, functions, 1200)?;
                let value = (many - few) / 1000.0;
                Ok(vec![Number { name: self.name.into(), value, unit: "instructions".into() }])
            }
        }
    }

    /// Instructions that the ranks spend inside these functions of the program for this many messages.
    fn instructions(&self, library: &Library, program: &Path, functions: &[&str], messages: u32) -> Result<f64> {
        let mut valgrind = library.launch(self.ranks, Path::new("valgrind"));
        count_instructions(&mut valgrind, functions, |valgrind| {
            valgrind.arg(program).arg(messages.to_string()).args(self.argument)
        })
    }
}

/// The command, restricted to the last core; the first is often the one that serves interrupts.
fn on_last_core(command: &Command) -> Command {
    let last = std::thread::available_parallelism().map_or(0, |cores| cores.get() - 1);
    let mut restricted = Command::new("taskset");
    restricted.args(["-c", &last.to_string()]).arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            restricted.env(name, value);
        }
    }
    restricted
}

/// Runs valgrind, with the program and its arguments appended by `program`, and adds up the instructions that all its
/// processes spend inside these functions.
pub fn count_instructions(
    valgrind: &mut Command,
    functions: &[&str],
    program: impl FnOnce(&mut Command) -> &mut Command,
) -> Result<f64> {
    let folder = paths::scratch("callgrind");
    // Counts of an earlier run must not be added.
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder)?;
    valgrind.args(["--quiet", "--tool=callgrind", "--collect-atstart=no"]);
    valgrind.args(functions.iter().map(|function| format!("--toggle-collect={function}")));
    valgrind.arg(format!("--callgrind-out-file={}/%p", folder.display()));
    process::must(program(valgrind), LIMIT)?;
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

pub fn parse(line: &str) -> Result<Number> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if let [name, value, unit] = words[..]
        && let Ok(value) = value.parse()
    {
        return Ok(Number { name: name.into(), value, unit: unit.into() });
    }
    Err(format!("not a line `name value unit`: {line}").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(cores: usize) -> Vec<&'static str> {
        of_threads(cores).iter().map(|case| case.name).collect()
    }

    #[test]
    fn pairs_of_threads_go_as_far_as_there_are_cores() {
        assert_eq!(names(1), ["threads/1", "threads/2", "threads/asleep", "threads/self"]);
        assert_eq!(names(16), ["threads/1", "threads/2", "threads/4", "threads/8", "threads/asleep", "threads/self"]);
        assert_eq!(names(32).len(), 7);
    }
}
