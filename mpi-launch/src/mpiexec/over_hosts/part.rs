//! What a host runs of a job: the front's options and programs as a message, and that again as options and programs.
//!
//! Invariant: what is not in a message has no meaning on a host: output, reports and time limits are the front's.

use std::ffi::OsStr;
use std::io::{self, IsTerminal};

use mpi_fabric::job::HostRanks;
use mpi_fabric::layout::{MAX_HOST_RANKS, MAX_RANKS};
use mpi_wireup::host_info::HostInfo;

use super::super::environment::of_options;
use super::super::plan::Plan;
use super::frame::{JobPart, ProgramPart};
use crate::args::{Bind, Group, Input, Options, Run, Soft};

/// What all hosts run alike; programs and ranks are those of a host.
pub(super) fn common(plan: &Plan<'_>, options: &Options) -> io::Result<JobPart> {
    let hosts =
        plan.placement.iter().flat_map(|all| (0..).zip(&all.hosts).map(|(i, name)| (name.clone(), all.ranks_of(i))));
    let hosts: Vec<(String, Vec<u32>)> = hosts.collect();
    Ok(JobPart {
        directory: std::env::current_dir()?,
        environment: std::env::vars_os().collect(),
        size: plan.ranks,
        host: (0, hosts.len().max(1) as u32),
        hosts,
        front: (HostInfo::own().to_value(), std::process::id()),
        mapping: plan.placement.as_ref().map(|all| all.mapping()).unwrap_or_default(),
        settings: plan.settings.clone(),
        variables: of_options(options).chain(options.variables.iter().cloned()).collect(),
        cvars: options.cvars.clone(),
        settings_file: options.settings.as_ref().map(std::path::absolute).transpose()?,
        tools: options.tools.clone(),
        profile: options.profile,
        trace: options.trace.is_some(),
        peaks: options.stats.is_some(),
        hang_ms: options.hang_report.map(|limit| limit.as_millis() as u64),
        bind: match options.bind {
            Bind::Auto => 0,
            Bind::Cores => 1,
            Bind::None => 2,
        },
        input: match options.input {
            Input::Rank(rank) => rank,
            Input::All => plan.ranks,
            Input::None => plan.ranks + 1,
        },
        terminal: options.output.is_none() && io::stderr().is_terminal(),
        ..JobPart::default()
    })
}

/// The programs of one host.
pub(super) fn programs(plan: &Plan<'_>, host: u32) -> Vec<ProgramPart> {
    let ranks = plan.placement.as_ref().map(|all| all.ranks_of(host)).unwrap_or_default();
    let part = |(appnum, program): (usize, &super::super::plan::Program<'_>)| {
        let group = program.group;
        ProgramPart {
            program: group.program.clone(),
            arguments: group.arguments.clone(),
            processes: group.processes.unwrap_or(program.ranks),
            ranks: ranks.iter().copied().filter(|rank| plan.appnum(*rank) == appnum).collect(),
            soft: group.soft.as_ref().map(|soft| soft.text().to_owned()),
            host: group.host.clone(),
            arch: group.arch.clone(),
            wdir: group.wdir.clone(),
            path: group.path.clone(),
            file: group.file.clone(),
            variables: group.variables.clone(),
        }
    };
    plan.programs.iter().enumerate().map(part).collect()
}

/// The programs and options that a message describes; `None` if it describes none.
pub(super) fn run_of(part: &JobPart) -> Option<Run> {
    let group = |program: &ProgramPart| {
        Some(Group {
            processes: Some(program.processes),
            soft: match &program.soft {
                Some(soft) => Some(Soft::parse(OsStr::new(soft))?),
                None => None,
            },
            host: program.host.clone(),
            arch: program.arch.clone(),
            wdir: program.wdir.clone(),
            path: program.path.clone(),
            variables: program.variables.clone(),
            passed: Vec::new(),
            file: program.file.clone(),
            program: program.program.clone(),
            arguments: program.arguments.clone(),
        })
    };
    let options = Options {
        variables: part.variables.clone(),
        cvars: part.cvars.clone(),
        settings: part.settings_file.clone(),
        tools: part.tools.clone(),
        profile: part.profile,
        // The name has no meaning here: the front writes the file.
        trace: part.trace.then(Default::default),
        bind: match part.bind {
            0 => Bind::Auto,
            1 => Bind::Cores,
            _ => Bind::None,
        },
        ..Options::default()
    };
    Some(Run { groups: part.programs.iter().map(group).collect::<Option<_>>()?, options })
}

/// All hosts of the job with their ranks, that of the part first; none in a job without a list of hosts. `None` unless the host of
/// the part has the ranks of `world`, and each other one ranks of the job.
pub(super) fn hosts_of(part: &JobPart, world: &[u32]) -> Option<Vec<HostRanks>> {
    if part.hosts.is_empty() {
        return Some(Vec::new());
    }
    let host = |(name, ranks): &(String, Vec<u32>)| {
        let sound = are_of_job(ranks, part.size) && !name.contains(char::is_control);
        sound.then(|| HostRanks { name: name.clone(), ranks: ranks.clone() })
    };
    let mut hosts: Vec<HostRanks> = part.hosts.iter().map(host).collect::<Option<_>>()?;
    let to_own = hosts.get_mut(..=part.host.0 as usize)?;
    to_own.rotate_right(1);
    (hosts.len() == part.host.1 as usize && hosts[0].ranks == world).then_some(hosts)
}

/// The process id of the front, if this process can see that process; `own`: the host of this process.
pub(super) fn front_of(part: &JobPart, own: &HostInfo) -> Option<u32> {
    let (host, pid) = &part.front;
    HostInfo::parse(host).filter(|host| host.is_same_as(own)).map(|_| *pid)
}

/// Whether these are ranks of a job of a size, in their order, each once.
fn are_of_job(ranks: &[u32], size: u32) -> bool {
    ranks.is_sorted_by(|a, b| a < b) && ranks.iter().all(|rank| *rank < size)
}

/// The ranks of the host; `None` unless they are ranks of the job, in their order, each once.
pub(super) fn ranks_of(part: &JobPart) -> Option<Vec<u32>> {
    let ranks: Vec<u32> = part.programs.iter().flat_map(|program| program.ranks.iter().copied()).collect();
    let sound = !ranks.is_empty() && are_of_job(&ranks, part.size);
    let fits = part.size <= MAX_RANKS && ranks.len() <= MAX_HOST_RANKS as usize;
    (sound && fits).then_some(ranks)
}

#[cfg(test)]
mod tests {
    use super::super::super::placement::placement;
    use super::super::frame::Frame;
    use super::*;
    use crate::args::{Command, parse};

    #[test]
    fn a_front_is_named_where_it_can_be_seen() {
        let own = HostInfo::own();
        let part = |host: HostInfo| JobPart { front: (host.to_value(), 7), ..JobPart::default() };
        assert_eq!(front_of(&part(own.clone()), &own), Some(7));
        assert_eq!(front_of(&part(HostInfo { boot: "other".into(), ..own.clone() }), &own), None);
        assert_eq!(front_of(&part(HostInfo { namespace: "pid:[1]".into(), ..own.clone() }), &own), None);
        assert_eq!(front_of(&JobPart { front: ("nonsense".into(), 7), ..JobPart::default() }, &own), None);
    }

    #[test]
    fn hosts_that_contradict_the_part_are_refused() {
        let part = |host: (u32, u32), lists: [&[u32]; 2], name: &str| JobPart {
            size: 4,
            host,
            hosts: vec![("h1".into(), lists[0].to_vec()), (name.into(), lists[1].to_vec())],
            ..JobPart::default()
        };
        let of = |part: JobPart| hosts_of(&part, &[2, 3]);
        let hosts = of(part((1, 2), [&[0, 1], &[2, 3]], "h2")).expect("hosts that fit");
        assert_eq!(hosts.iter().map(|host| &*host.name).collect::<Vec<_>>(), ["h2", "h1"]);
        for refused in [
            part((2, 2), [&[0, 1], &[2, 3]], "h2"),
            part((1, 3), [&[0, 1], &[2, 3]], "h2"),
            part((0, 2), [&[0, 1], &[2, 3]], "h2"),
            part((1, 2), [&[1, 0], &[2, 3]], "h2"),
            part((1, 2), [&[u32::MAX], &[2, 3]], "h2"),
            part((1, 2), [&[0, 1], &[2, 3]], "h2\n0 h3"),
        ] {
            assert_eq!(of(refused), None);
        }
        assert_eq!(of(JobPart { size: 4, ..JobPart::default() }), Some(Vec::new()));
    }

    /// The part of each host of the largest job, as it travels.
    fn parts_of_the_largest_job() -> Vec<JobPart> {
        let hosts: Vec<String> = (1..=MAX_RANKS / MAX_HOST_RANKS).map(|host| format!("h{host}.invalid")).collect();
        let line = format!("-n {MAX_RANKS} --map-by node -host {} true", hosts.join(","));
        let run = match parse(line.split(' ').map(Into::into), &|_| Ok(Vec::new())) {
            Ok(Command::Run(run)) => run,
            other => panic!("{other:?}"),
        };
        let placement = placement(&run).expect("all ranks fit").expect("other hosts");
        let plan = Plan::over_hosts(&run, String::new(), placement).expect("a job that can be started");
        let common = common(&plan, &run.options).expect("a directory");
        let part = |host: u32| {
            let mut bytes = Vec::new();
            let (all, programs) = (hosts.len() as u32, programs(&plan, host));
            let part = JobPart { host: (host, all), programs, ..common.clone() };
            Frame::Job { part: Box::new(part) }.put(&mut bytes);
            match Frame::take(&bytes[4..]) {
                Some(Frame::Job { part }) => *part,
                other => panic!("host {host}: {other:?}"),
            }
        };
        (0..hosts.len() as u32).map(part).collect()
    }

    #[test]
    fn the_largest_job_reaches_each_host_with_its_ranks() {
        let parts = parts_of_the_largest_job();
        let mut all = Vec::new();
        for (host, part) in (0..).zip(&parts) {
            let ranks = ranks_of(part).expect("a part of the job");
            assert_eq!((ranks.len() as u32, ranks[0], part.size), (MAX_HOST_RANKS, host, MAX_RANKS));
            let hosts = hosts_of(part, &ranks).expect("hosts that fit");
            assert_eq!((hosts.len(), &hosts[0].name), (8, &format!("h{}.invalid", host + 1)));
            assert_eq!(run_of(part).expect("programs").groups.len(), 1);
            all.extend(ranks);
        }
        all.sort_unstable();
        assert!(all.into_iter().eq(0..MAX_RANKS));
    }

    #[test]
    fn a_part_of_more_ranks_than_fit_is_refused() {
        let part = &mut parts_of_the_largest_job()[1];
        part.size = MAX_RANKS + 1;
        assert_eq!(ranks_of(part), None);
        part.size = MAX_RANKS;
        part.programs[0].ranks.push(MAX_RANKS - 1);
        assert_eq!((part.programs[0].ranks.len() as u32, ranks_of(part)), (MAX_HOST_RANKS + 1, None));
    }
}
