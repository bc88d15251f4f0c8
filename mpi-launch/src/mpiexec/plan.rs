//! From the command line to the programs to start: files found, hosts checked, ranks counted.
//!
//! Invariant: all errors that can be detected before the start are reported here.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use mpi_fabric::host;
use mpi_fabric::layout::{MAX_HOST_RANKS, MAX_RANKS};
use mpi_t::name_in_environment;

use super::memory_limit::Memory;
use super::placement::{Placement, default_number};
use super::refusal::Refusal;
use super::tools::Tools;
use super::{bind, local_host, program};
use crate::args::{Group, Input, Run};
use crate::variables;

/// A program and its ranks.
pub(super) struct Program<'a> {
    pub(super) group: &'a Group,
    /// The file to execute.
    pub(super) file: PathBuf,
    /// How many ranks it has.
    pub(super) ranks: u32,
}

/// A job that can be started.
pub(super) struct Plan<'a> {
    /// In the order of their ranks.
    pub(super) programs: Vec<Program<'a>>,
    /// Number of ranks.
    pub(super) ranks: u32,
    /// The cores of the ranks, if they are bound.
    pub(super) cores: Option<Vec<usize>>,
    /// The lines of the settings file, for the ranks.
    pub(super) settings: String,
    /// The tools in front of the library.
    pub(super) tools: Tools,
    /// Warnings about a job that starts nevertheless.
    pub(super) warnings: Vec<String>,
    /// The hosts of the ranks, if they are several.
    pub(super) placement: Option<Placement>,
}

impl<'a> Plan<'a> {
    /// For this host. `part`: the numbers of ranks that it has of each program, if the job has other hosts too.
    pub(super) fn new(run: &'a Run, settings: String, part: Option<&[u32]>) -> Result<Plan<'a>, Refusal> {
        let memory = Memory::of_this_process();
        let tools = Tools::new(&run.options, std::env::var_os(mpi_pmpi::records::TOOLS))?;
        let (mut programs, mut warnings) = (Vec::new(), Vec::new());
        let mut total = 0;
        for (appnum, group) in run.groups.iter().enumerate() {
            let own = part.map(|counts| counts.get(appnum).copied().unwrap_or(0));
            if own == Some(0) {
                programs.push(Program { group, file: PathBuf::new(), ranks: 0 });
                continue;
            }
            group.arch.as_deref().map_or(Ok(()), local_host::check_arch)?;
            group.wdir.as_deref().map_or(Ok(()), check_directory)?;
            variables::of_job().try_for_each(|name| check_variables(group, name))?;
            let file = program::find(group)?;
            tools.check_program(group, &file)?;
            let room = memory.map_or(u32::MAX, |memory| memory.most_ranks().saturating_sub(total as u32));
            let ranks = own.map_or_else(|| number(run, group, room), Ok)?;
            total += u64::from(ranks);
            if total > MAX_RANKS.into() {
                return Err(Refusal::TooMany(total));
            }
            if total > MAX_HOST_RANKS.into() {
                return Err(Refusal::TooManyOnHost { host: host::name(), ranks: total as u32 });
            }
            warnings.extend(not_passed(group));
            programs.push(Program { group, file, ranks });
        }
        let ranks = total as u32;
        if let Some(memory) = memory {
            warnings.extend(memory.check(ranks)?);
        }
        if part.is_none() {
            check_ranks(run, ranks)?;
        }
        let cores = bind::cores(run.options.bind, ranks)?;
        Ok(Plan { programs, ranks, cores, settings, tools, warnings, placement: None })
    }

    /// For all hosts; what each has to have, it checks itself.
    pub(super) fn over_hosts(run: &'a Run, settings: String, placement: Placement) -> Result<Plan<'a>, Refusal> {
        for group in &run.groups {
            variables::of_job().try_for_each(|name| check_variables(group, name))?;
        }
        let ranks = placement.of_rank.len() as u32;
        check_ranks(run, ranks)?;
        let program =
            |(group, ranks): (&'a Group, &u32)| Program { group, file: (&group.program).into(), ranks: *ranks };
        let programs = run.groups.iter().zip(&placement.counts).map(program).collect();
        let tools = Tools::default();
        let warnings = run.groups.iter().flat_map(not_passed).collect();
        Ok(Plan { programs, ranks, cores: None, settings, tools, warnings, placement: Some(placement) })
    }

    /// The name of a rank's host.
    pub(super) fn host_of(&self, rank: u32) -> String {
        self.placement.as_ref().map_or_else(host::name, |all| all.hosts[all.of_rank[rank as usize] as usize].clone())
    }

    /// Number of a rank's program, from 0. The rank is one of the job.
    pub(super) fn appnum(&self, rank: u32) -> usize {
        let mut below = 0;
        let found = self.programs.iter().position(|program| {
            below += program.ranks;
            rank < below
        });
        found.expect("a rank of the job has a program")
    }

    /// A rank's program, as it was given.
    pub(super) fn program_of(&self, rank: u32) -> &'a OsStr {
        &self.programs[self.appnum(rank)].group.program
    }
}

/// Warnings about variables that a group passes on and that are not set.
fn not_passed(group: &Group) -> impl Iterator<Item = String> {
    let missing = group.passed.iter().filter(|name| std::env::var_os(name).is_none());
    missing.map(|name| format!("-x {} passes nothing on: it is not set", name.to_string_lossy()))
}

/// The number of processes of a group, with room for at most so many.
fn number(run: &Run, group: &Group, room: u32) -> Result<u32, Refusal> {
    let processes = group.processes.or_else(|| default_number(run, group));
    let Some(soft) = &group.soft else { return Ok(processes.unwrap_or(1)) };
    // Without a number: the number of cores.
    let most = processes.unwrap_or_else(|| host::usable_cores().min(MAX_HOST_RANKS));
    soft.largest(most.min(room)).ok_or(Refusal::Soft(most))
}

/// A variable that mpiexec itself uses cannot differ between programs.
fn check_variables(group: &Group, name: &'static str) -> Result<(), Refusal> {
    let variable = name_in_environment(name);
    match group.variables.iter().find(|(given, _)| *given == *variable) {
        Some((_, value)) => Err(Refusal::OfJob { name, variable, value: value.to_string_lossy().into_owned() }),
        None => Ok(()),
    }
}

/// Refuses options that name ranks that the job does not have.
fn check_ranks(run: &Run, ranks: u32) -> Result<(), Refusal> {
    let of_gdb = run.options.gdb.as_ref().and_then(|list| list.greatest());
    let of_input = if let Input::Rank(rank) = run.options.input { Some(rank) } else { None };
    match [("--stdin", of_input), ("--gdb", of_gdb)]
        .into_iter()
        .find(|(_, rank)| rank.is_some_and(|rank| rank >= ranks))
    {
        Some((option, Some(rank))) => Err(Refusal::NoRank { option, rank, last: ranks - 1 }),
        _ => Ok(()),
    }
}

fn check_directory(directory: &Path) -> Result<(), Refusal> {
    match fs::metadata(directory) {
        Ok(facts) if facts.is_dir() => Ok(()),
        Ok(_) => Err(Refusal::Directory(directory.into(), std::io::Error::from_raw_os_error(libc::ENOTDIR))),
        Err(error) => Err(Refusal::Directory(directory.into(), error)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::placement::placement;
    use super::*;
    use crate::args::{Command, parse};

    fn run(line: &str) -> Run {
        let read = |_: &Path| Err(std::io::ErrorKind::NotFound.into());
        match parse(line.split(' ').map(Into::into), &read) {
            Ok(Command::Run(run)) => run,
            other => panic!("{line}: {other:?}"),
        }
    }

    fn refusal(line: &str) -> Refusal {
        Plan::new(&run(line), String::new(), None).err().unwrap()
    }

    #[test]
    fn ranks_follow_the_order_of_the_programs() {
        let run = run("-n 2 true : false : -n 3 sh");
        let plan = Plan::new(&run, String::new(), None).unwrap();
        assert_eq!(plan.ranks, 6);
        assert_eq!((0..6).map(|rank| plan.appnum(rank)).collect::<Vec<_>>(), [0, 0, 1, 2, 2, 2]);
    }

    #[test]
    fn soft_takes_the_largest_number_that_will_do() {
        assert_eq!(Plan::new(&run("-n 7 -soft 2:10000:2 true"), String::new(), None).unwrap().ranks, 6);
        assert_eq!(Plan::new(&run("-soft 0:1 true"), String::new(), None).unwrap().ranks, 1);
        assert!(matches!(refusal("-n 4 -soft 5:9 true"), Refusal::Soft(4)));
        assert!(matches!(
            refusal("-n 1000 true : -n 25 true"),
            Refusal::TooManyOnHost { ranks: 1025, .. } | Refusal::Memory { .. }
        ));
    }

    #[test]
    fn a_job_that_fits_on_this_host_needs_no_other() {
        let run = run(&format!("-host {}:2,ferrari:2 -n 2 true", host::name()));
        assert!(placement(&run).unwrap().is_none());
        assert_eq!(Plan::new(&run, String::new(), None).unwrap().ranks, 2);
    }

    #[test]
    fn what_is_not_there_is_refused_before_the_start() {
        assert_eq!(refusal("-arch rs6000 true").exit_code(), 2);
        assert_eq!(refusal("-wdir /nonexistent true").exit_code(), 2);
        assert!(refusal("-wdir /etc/passwd true").to_string().contains("/etc/passwd"));
        let of_job = refusal("true : -env FERRUM_STATS_AT_END 1 true");
        let due = "FERRUM_STATS_AT_END=1 is given for one program, but stats_at_end is for the whole job: write --cvar \
                    stats_at_end=1, or -genv";
        assert_eq!((of_job.exit_code(), &*of_job.to_string()), (2, due));
        let of_job = refusal("-x FERRUM_FABRIC_RING_BYTES=64k true");
        let due = "FERRUM_FABRIC_RING_BYTES=64k is given for one program, but fabric_ring_bytes is for the whole job: \
                    write --cvar fabric_ring_bytes=64k, or -genv";
        assert_eq!((of_job.exit_code(), &*of_job.to_string()), (2, due));
        assert!(Plan::new(&run("-env FERRUM_ERROR_FORMAT json true"), String::new(), None).is_ok());
        assert_eq!(refusal("true : /nonexistent").exit_code(), 127);
        assert!(
            refusal("-n 2 --stdin 2 true").to_string().contains("--stdin is rank 2, but the job has the ranks 0 to 1")
        );
        let of_gdb = refusal("--gdb 9 true");
        let due = "--gdb is rank 9, but the job has the rank 0";
        assert_eq!((of_gdb.exit_code(), &*of_gdb.to_string()), (2, due));
        let of_gdb = refusal("-n 4 --gdb 1,4-7 true").to_string();
        assert_eq!(of_gdb, "--gdb is rank 7, but the job has the ranks 0 to 3");
        assert!(Plan::new(&run("-n 2 --gdb all true"), String::new(), None).is_ok());
    }
}
