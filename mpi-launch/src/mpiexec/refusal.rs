//! The errors because of which a job cannot be started.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

/// Why a job cannot be started. `Display` is one line.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refusal {
    #[error("program {0:?} is not found{1}")]
    NotFound(OsString, &'static str),
    #[error("program {0:?} cannot be executed: {1}")]
    NotExecutable(OsString, String),
    #[error(
        "-host {host:?} is not this machine ({name}); jobs that others spawn are started on this machine only: write \
         localhost, or leave the host out"
    )]
    OtherHost { host: OsString, name: String },
    #[error("-arch {arch:?} is not this machine's architecture, which is {own}")]
    OtherArch { arch: OsString, own: String },
    #[error("-wdir {0:?} cannot be entered: {1}")]
    Directory(PathBuf, io::Error),
    #[error(
        "{variable}={value} is given for one program, but {name} is for the whole job: write --cvar {name}={value}, or -genv"
    )]
    OfJob { name: &'static str, variable: String, value: String },
    #[error("-soft allows no number of processes from 1 to {0}")]
    Soft(u32),
    #[error("all programs together are {0} processes, but one job has at most {most}", most = mpi_fabric::layout::MAX_RANKS)]
    TooMany(u64),
    #[error("host {host} has {ranks} ranks of the job, but one host takes {most} at most", most = mpi_fabric::layout::MAX_HOST_RANKS)]
    TooManyOnHost { host: String, ranks: u32 },
    #[error("{option} is rank {rank}, but the job has the {}", own_ranks(*.last))]
    NoRank { option: &'static str, rank: u32, last: u32 },
    #[error("--bind cores needs a core for each of the {ranks} ranks, but there are {cores}")]
    Cores { ranks: u32, cores: usize },
    #[error(
        "{ranks} ranks need at least {need} MB of memory, but {limit} MB is the limit of this control group, of which \
         {used} MB are in use; start fewer ranks, or raise the limit"
    )]
    Memory { ranks: u32, need: u64, limit: u64, used: u64 },
    #[error("--output {0:?} cannot be written: {1}")]
    Output(PathBuf, io::Error),
    #[error("{by} {tool:?} cannot be used: {why}")]
    Tool { by: String, tool: OsString, why: String },
    #[error("FERRUM_TOOLS={0:?} is given for one program, but tools are for the whole job: write --tool, or -genv")]
    ToolsOfGroup(OsString),
    #[error("tools do not reach the program {0:?}: {1}; link it with the shared library")]
    Static(PathBuf, &'static str),
    #[error("tools need {0:?}, but {1}")]
    NoStack(PathBuf, &'static str),
    #[error("--trace {0:?} cannot be written: {1}")]
    Trace(PathBuf, io::Error),
    #[error("--timeline {0:?} cannot be written: {1}")]
    Timeline(PathBuf, io::Error),
    #[error("--stats {0:?} cannot be written: {1}")]
    Stats(PathBuf, io::Error),
    #[error("cannot start program {0:?}: {1}")]
    Start(OsString, io::Error),
    #[error("cannot start the job: {0}{advice}", advice = advice(.0))]
    System(#[from] io::Error),
    #[error("cannot start the job: {0}")]
    Job(String),
    #[error(
        "{ranks} ranks do not fit: the {} {slots} slots together; name more hosts, give larger numbers (-host a:8, -ppn 8), \
         or write --oversubscribe", if *.hosts == 1 { "host has".to_owned() } else { format!("{} hosts have", .hosts) }
    )]
    Slots { ranks: u32, slots: u32, hosts: usize },
    #[error("{0}")]
    Allocation(String),
    /// A variable of the environment, with what it has to be.
    #[error("{0}")]
    Variable(String),
    #[error(
        "host {host} is not in this Slurm allocation, which has {hosts}; name others, or write --manager prterun or hydra"
    )]
    NotAllocated { host: String, hosts: String },
    #[error(
        "no launcher that reaches other hosts is found in PATH: install MPICH's Hydra (package mpich) or PRRTE (package \
         prrte), or start mpiexec inside a Slurm allocation; one that is elsewhere is named by --manager PATH, or by \
         FERRUM_MANAGER"
    )]
    NoManagers,
    #[error(
        "{0}, which is to reach the other hosts, is not found in PATH; install it, or write --manager PATH, or set \
         FERRUM_MANAGER"
    )]
    NoManager(&'static str),
    #[error("cannot start {0:?}, which is to reach the other hosts: {1}")]
    Manager(PathBuf, io::Error),
    /// A sentence about hosts that could not be reached.
    #[error("{0}")]
    Unreached(String),
    #[error("{} came before the job was started on all hosts", super::outcome::signal_name(*.0))]
    Interrupted(i32),
    /// What a host refuses, with its exit code.
    #[error("host {host}: {sentence}")]
    OnHost { host: String, code: i32, sentence: String },
    #[error("directory {0:?}, where mpiexec was started, cannot be entered: {1}")]
    Current(PathBuf, io::Error),
    #[error("a value for the processes to be spawned cannot be stored: {0}")]
    Value(&'static str),
}

fn own_ranks(last: u32) -> String {
    if last == 0 { "rank 0".to_owned() } else { format!("ranks 0 to {last}") }
}

/// What to do about an error of the system, where that is known.
fn advice(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::EMFILE) => format!(
            "; start fewer ranks, or raise the hard limit of open files, which is {} (ulimit -Hn)",
            super::os::open_files().rlim_max
        ),
        Some(libc::EAGAIN) => {
            "; start fewer ranks, or raise the limit of processes (ulimit -u, or pids.max of the control group)"
                .to_owned()
        }
        _ => String::new(),
    }
}

impl Refusal {
    /// Its exit code: that of the shell for programs, 2 for what the command line requests.
    pub(super) fn exit_code(&self) -> i32 {
        match self {
            Refusal::NotFound(..) => 127,
            Refusal::NotExecutable(..) => 126,
            Refusal::Start(_, error) if error.kind() == io::ErrorKind::NotFound => 127,
            Refusal::Start(..) => 126,
            Refusal::OtherHost { .. }
            | Refusal::OtherArch { .. }
            | Refusal::Directory(..)
            | Refusal::OfJob { .. }
            | Refusal::Tool { .. }
            | Refusal::ToolsOfGroup(_)
            | Refusal::Static(..)
            | Refusal::Soft(_)
            | Refusal::TooMany(_)
            | Refusal::TooManyOnHost { .. }
            | Refusal::NoRank { .. }
            | Refusal::Cores { .. }
            | Refusal::Slots { .. }
            | Refusal::Allocation(_)
            | Refusal::Variable(_)
            | Refusal::NotAllocated { .. } => 2,
            Refusal::OnHost { code, .. } => *code,
            Refusal::Interrupted(signal) => 128 + signal,
            Refusal::Memory { .. }
            | Refusal::Output(..)
            | Refusal::Trace(..)
            | Refusal::Timeline(..)
            | Refusal::Stats(..)
            | Refusal::NoStack(..)
            | Refusal::System(_)
            | Refusal::Job(_)
            | Refusal::NoManagers
            | Refusal::NoManager(_)
            | Refusal::Manager(..)
            | Refusal::Unreached(_)
            | Refusal::Current(..)
            | Refusal::Value(_) => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_many_open_files_come_with_the_limit() {
        let text = Refusal::System(io::Error::from_raw_os_error(libc::EMFILE)).to_string();
        let limit = format!("which is {} (ulimit -Hn)", super::super::os::open_files().rlim_max);
        assert!(text.starts_with("cannot start the job: Too many open files") && text.ends_with(&limit), "{text}");
        let other = Refusal::System(io::Error::from_raw_os_error(libc::EIO)).to_string();
        assert!(!other.contains("ulimit"), "{other}");
    }
}
