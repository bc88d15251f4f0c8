//! The types of a parsed command line.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::{HostFile, MapBy, RankList, Soft};

/// A command.
// One value in the life of a process.
#[allow(clippy::large_enum_variant)]
#[derive(Debug, PartialEq)]
pub enum Command {
    /// Print the help text.
    Help,
    /// Print the variables, events or categories that contain these words.
    List(Listing, Vec<String>),
    /// Print the version.
    Version,
    /// Run a job.
    Run(Run),
}

/// The lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// Control variables.
    Cvars,
    /// Performance variables.
    Pvars,
    /// Event types.
    Events,
    /// Categories.
    Categories,
}

/// A job to run: one or more programs, their ranks in the order of the groups.
#[derive(Debug, PartialEq)]
pub struct Run {
    /// The programs; at least one.
    pub groups: Vec<Group>,
    /// Options of the whole job.
    pub options: Options,
}

/// A variable for the ranks' environment: name and value.
pub type Variable = (OsString, OsString);

/// One program and its ranks.
#[derive(Debug, Default, PartialEq)]
pub struct Group {
    /// Number of processes, 1..=8192; `None` if not given.
    pub processes: Option<u32>,
    /// The acceptable numbers of processes, at most `processes`.
    pub soft: Option<Soft>,
    /// The hosts to run on, as given; the parser has accepted them (`hosts_of`).
    pub host: Option<OsString>,
    /// The architecture to run on.
    pub arch: Option<OsString>,
    /// The directory to start in.
    pub wdir: Option<PathBuf>,
    /// Where to search for the program, in the form of `PATH`.
    pub path: Option<OsString>,
    /// Variables that are set for this program.
    pub variables: Vec<Variable>,
    /// Variables that are to be passed on, as all are; stored for a warning about one that is not set.
    pub passed: Vec<OsString>,
    /// The file of options of the group.
    pub file: Option<OsString>,
    /// The program as given; searched for if it has no slash.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

/// Options of the whole job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options {
    /// Variables that are set for all programs.
    pub variables: Vec<Variable>,
    /// Values of control variables: names as given, values.
    pub cvars: Vec<(String, String)>,
    /// The file of values of control variables.
    pub settings: Option<PathBuf>,
    /// The tools in front of the library, in their order: files, or names of the stack's own.
    pub tools: Vec<OsString>,
    /// Whether a table of all calls is printed at the end.
    pub profile: bool,
    /// The file for the times of all calls.
    pub trace: Option<PathBuf>,
    /// The file for the last calls of a job that fails.
    pub timeline: Option<PathBuf>,
    /// Whether a summary is written at the end, and its file; none: the standard error output.
    pub stats: Option<Option<PathBuf>>,
    /// Whether each line of output begins with the rank that wrote it.
    pub tag_output: bool,
    /// Whether each line of output begins with the time at which it came.
    pub timestamp: bool,
    /// The directory for a file per rank and stream.
    pub output: Option<PathBuf>,
    /// The time limit, if the option was given; `Some(None)`: no limit.
    pub timeout: Option<Option<Duration>>,
    /// The hosts of the programs without hosts of their own.
    pub hostfile: Option<HostFile>,
    /// How ranks are distributed over hosts; `None` if not given.
    pub map_by: Option<MapBy>,
    /// Whether hosts may have more ranks than slots.
    pub oversubscribe: bool,
    /// The launcher that reaches other hosts; `None` if not given.
    pub manager: Option<Manager>,
    /// After how long without progress a report is written.
    pub hang_report: Option<Duration>,
    /// The ranks that gdb shows when the job fails.
    pub gdb: Option<RankList>,
    /// The placement of the ranks on their host.
    pub bind: Bind,
    /// Which ranks get the standard input.
    pub input: Input,
    /// Whether failures and warnings are suppressed.
    pub quiet: bool,
    /// Whether the start and end of each rank are reported.
    pub verbose: bool,
    /// The form of reports; `None` if not given.
    pub error_format: Option<ErrorFormat>,
    /// The initial error handler, as in the environment of the ranks.
    pub initial_errhandler: Option<&'static str>,
}

/// A launcher that starts processes on other hosts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manager {
    /// Which one it is.
    pub kind: ManagerKind,
    /// The program, if a path was given.
    pub program: Option<PathBuf>,
}

/// The launchers that `mpiexec` can use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ManagerKind {
    /// Slurm's `srun`.
    Srun,
    /// PRRTE's `prterun`.
    Prterun,
    /// MPICH's and Intel MPI's `mpiexec.hydra`.
    Hydra,
}

/// The placement of the ranks on their host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bind {
    /// Each on a core of its own if there are exactly as many ranks as cores, else chosen by the system.
    #[default]
    Auto,
    /// Each on a core of its own; it is an error if there are not enough.
    Cores,
    /// Chosen by the system.
    None,
}

/// Which ranks get the standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input {
    /// One rank.
    Rank(u32),
    /// Each gets all of it.
    All,
    /// No rank.
    None,
}

impl Default for Input {
    fn default() -> Input {
        Input::Rank(0)
    }
}

/// The form of reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorFormat {
    /// Sentences.
    Text,
    /// One JSON object a failure, each in a line.
    Json,
}
