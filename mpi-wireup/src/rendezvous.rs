//! The rendezvous of the processes of a job that another launcher started: those that can agree on one job memory.
//!
//! Each process puts its host info. Rank 0 creates a job memory and puts its address: a descriptor of its own, which
//! the others open through `/proc`. Then rank 0 has which processes run on which host, combined by a tree (`tree`). If all are on
//! its host, the others open the memory. Otherwise rank 0 puts the ranks of each host, and after another fence the first rank of each
//! other host does there what rank 0 does on its host.
//!
//! The system may refuse a process the memory of another one: containers of one host can have one process id namespace and
//! different users. Then rank 0 makes groups of the refused ranks of a host and puts the groups, and the first rank of each
//! new one does what rank 0 does on its host. That is repeated while processes are refused; in round `LAST_ROUND` each of them is alone.
//!
//! A process that fails puts a sentence. After the fence at the end of each step every process reads that sentence, if there is
//! one, so that all processes fail or none does.
//!
//! Invariant: no process continues alone; values of other processes are checked before they are used. Processes that share
//! a memory have opened it, so that equal names of hosts connect nobody.
//! Not here: the form of the values (`host_info`), the launchers (`pmi`, `pmix`), addresses on the network (`directory`).

mod groups;
mod memory;

use std::os::fd::IntoRawFd;

use mpi_fabric::job::HostRanks;
use mpi_fabric::layout::MAX_RANKS;
use mpi_fabric::{Attachment, Job, host};

use crate::host_info::{HostInfo, access_class};
use crate::hosts::OverHosts;
use crate::launcher::{KeyValueExchange, LauncherError};
use crate::sentence::{End, Refusals, agree_or_regroup, decoded, encoded};
use crate::tree::{Combined, combine, get_long, put_long};
use groups::{Facts, Groups, Part, all_cores};
use memory::Found;

const ADDRESS: &str = "ferrum-job";
const FAILURE: &str = "ferrum-failure";
/// The secret of a job on several hosts and the ranks and name of each, in parts.
const HOSTS: &str = "ferrum-hosts";
/// A sentence about the memory of a host other than that of rank 0.
const HOST_FAILURE: &str = "ferrum-host-failure";
/// The last round of new groups: more than two are needed only where processes of one user refuse each other.
const LAST_ROUND: u32 = 3;

/// This process's place in the job, its memory open, and, if the processes do not all share it, those that do. Collective:
/// all processes of the job call it.
/// # Errors
/// A sentence; then no process has a place.
#[cold]
pub fn share_memory(
    link: &mut dyn KeyValueExchange,
    own: &HostInfo,
    ring_bytes: Option<usize>,
) -> Result<(Attachment, Option<OverHosts>), LauncherError> {
    let (rank, size) = (link.rank(), link.size());
    if size > MAX_RANKS {
        return Err(LauncherError(format!("the launcher started {size} processes; a job has {MAX_RANKS} at most")));
    }
    let appnum = link.program()?;
    put(link, &host_key(rank), own.to_value())?;
    let made = if rank == 0 { Some(memory::make(link, ADDRESS, ring_bytes)) } else { None };
    let mut survey = Survey(Ok(Groups::of(rank, own.clone())));
    combine(link, &mut survey)?;
    let (mut groups, mut refusal) = (None, None);
    let found = match &made {
        // Rank 0 keeps the memory open until all have opened it, also when its check fails.
        Some(Ok(job)) => survey.0.and_then(|found| describe_all(link, own, found, job)).and_then(|found| {
            refusal = found.first_apart().map(no_common_ids);
            groups = Some(found);
            memory::keep(job)
        }),
        Some(Err(trouble)) => Err(trouble.clone()),
        None => match host_of(link, 0) {
            Ok(first) if first.is_same_as(own) => memory::find(link, 0, ADDRESS),
            Ok(first) => {
                refusal = first.is_apart_from(own).then(|| no_common_ids(rank));
                Ok(Found::OnAnotherHost)
            }
            Err(trouble) => Err(trouble),
        },
    };
    let mut refused = settle(link, FAILURE, &found)?;
    let found = found?;
    let tried = if rank == 0 || matches!(found, Found::OnAnotherHost) { None } else { Some(0) };
    let mut seat = Seat { own, ring_bytes, job: made.and_then(Result::ok), tried, found };
    let mut part = match get_long(link, 0, HOSTS)? {
        Some(text) => {
            let (part, more) = seat.take(link, &text, HOST_FAILURE, false)?;
            refused = Refusals::both(refused, more);
            Some(part)
        }
        None => None,
    };
    let mut round = 1;
    while let Some(refusals) = refused {
        if round > LAST_ROUND {
            return Err(LauncherError(format!(
                "the processes of this job find no groups that share memory: {}",
                refusals.why
            )));
        }
        let key = format!("ferrum-groups-{round}");
        if let Some(groups) = &mut groups {
            groups.split(&refusals.ranks, round == LAST_ROUND);
            put_long(link, &key, &groups.to_text()?)?;
        }
        link.fence()?;
        let text = get_long(link, 0, &key)?;
        let text = text.ok_or_else(|| LauncherError("rank 0 has put no ranks that share memory".into()))?;
        let (new, more) = seat.take(link, &text, &format!("{FAILURE}-{round}"), true)?;
        (part, refused) = (Some(new), more);
        refusal = refusal.or(Some(refusals.why));
        round += 1;
    }
    let Found::Memory(fd, job_id) = seat.found else {
        // Rank 0 has found that all are on its host.
        return Err(LauncherError(format!("rank 0 did not see the host of rank {rank}")));
    };
    let place = Attachment { fd: fd.into_raw_fd(), job_id, rank, size, appnum };
    let over = |part: Part| OverHosts { here: part.hosts[0].ranks.as_slice().into(), secret: part.secret, refusal };
    Ok((place, part.map(over)))
}

/// Why a rank of the machine of rank 0 is in another group, where the memory was not tried.
fn no_common_ids(rank: u32) -> String {
    format!("rank {rank} has another process id namespace than rank 0")
}

/// A process while it looks for the memory of its group.
struct Seat<'a> {
    own: &'a HostInfo,
    ring_bytes: Option<usize>,
    /// The memory that it has made. It stays open until all have opened it.
    job: Option<Job>,
    /// The rank whose memory it has tried to open last.
    tried: Option<u32>,
    found: Found,
}

impl Seat<'_> {
    /// Makes or opens the memory of the group that a text of rank 0 has for this process; also returns the ranks that were refused.
    /// Collective. `again`: an earlier step has made rank 0 describe its memory already.
    #[cold]
    fn take(
        &mut self,
        link: &mut dyn KeyValueExchange,
        text: &str,
        failure: &str,
        again: bool,
    ) -> Result<(Part, Option<Refusals>), LauncherError> {
        let rank = link.rank();
        let part = groups::own_part(text, rank, link.size())?;
        let first = part.hosts[0].ranks[0];
        let leads = first == rank && (rank != 0 || again);
        // After a refusal the facts are those of all ranks of the host, of which the group is a part.
        let facts = (!again).then_some(part.facts);
        let led = if leads { self.lead(link, &part.hosts, facts) } else { Ok(()) };
        link.fence()?;
        let has_memory = first == rank || matches!(self.found, Found::Memory(..));
        let refused = match led {
            Err(trouble) => agree_or_regroup(link, failure, End::Failed(&trouble))?,
            // The rank that has refused this process is the first one of its group until the next text.
            Ok(()) if has_memory || self.tried == Some(first) => agree_or_regroup(link, failure, End::Ready)?,
            Ok(()) => {
                self.tried = Some(first);
                let found = memory::find(link, first, &address_key(first));
                let refused = settle(link, failure, &found)?;
                self.found = found?;
                refused
            }
        };
        Ok((part, refused))
    }

    /// The first rank of a group: makes its memory, if it has none, and describes it, without facts by what each rank has put.
    #[cold]
    fn lead(
        &mut self,
        link: &mut dyn KeyValueExchange,
        hosts: &[HostRanks],
        facts: Option<Facts>,
    ) -> Result<(), LauncherError> {
        let key = address_key(link.rank());
        let job = match &mut self.job {
            Some(job) => job,
            none => none.insert(memory::make(link, &key, self.ring_bytes)?),
        };
        self.found = memory::keep(job)?;
        let facts = match facts {
            Some(facts) => facts,
            None => {
                let infos = hosts[0].ranks.iter().map(|rank| host_of(link, *rank)).collect::<Result<Vec<_>, _>>()?;
                facts_of(self.own, &infos)
            }
        };
        describe(self.own, facts, job);
        job.set_hosts(hosts);
        Ok(())
    }
}

/// Waits until all processes have come to the end of a step; the ranks that were refused in it, if any were.
fn settle(
    link: &mut dyn KeyValueExchange,
    key: &str,
    found: &Result<Found, LauncherError>,
) -> Result<Option<Refusals>, LauncherError> {
    let class = if matches!(found, Ok(Found::Refused(_))) { access_class() } else { String::new() };
    let end = match found {
        Ok(Found::Refused(why)) => End::Refused { class: &class, why },
        Ok(_) => End::Ready,
        Err(trouble) => End::Failed(trouble),
    };
    agree_or_regroup(link, key, end)
}

fn address_key(first: u32) -> String {
    format!("ferrum-job-{first}")
}

fn host_key(rank: u32) -> String {
    format!("ferrum-host-{rank}")
}

fn put(link: &mut dyn KeyValueExchange, key: &str, value: String) -> Result<(), LauncherError> {
    let most = link.longest_value();
    if value.len() > most {
        return Err(LauncherError(format!(
            "the launcher takes values of {most} bytes; starting needs {}",
            value.len()
        )));
    }
    link.put(key, &value)
}

/// What the ranks of a part of the job have put about their hosts, or why that is not usable.
struct Survey(Result<Groups, LauncherError>);

impl Survey {
    #[cold]
    fn read(link: &mut dyn KeyValueExchange, child: u32, stride: u32) -> Result<Groups, LauncherError> {
        if stride == 1 {
            return host_of(link, child).map(|info| Groups::of(child, info));
        }
        let ranks = child..link.size().min(child + stride);
        let text = get_long(link, child, &survey_key(child, stride))?.unwrap_or_default();
        match text.strip_prefix('-') {
            Some(sentence) => Err(LauncherError(decoded(sentence))),
            None => text.strip_prefix('+').and_then(|text| Groups::parse(text, ranks.clone())).ok_or_else(|| {
                LauncherError(format!(
                    "rank {child} put {text:?} where the hosts of ranks {child}-{} belong",
                    ranks.end - 1
                ))
            }),
        }
    }
}

impl Combined for Survey {
    fn add_of(&mut self, link: &mut dyn KeyValueExchange, child: u32, stride: u32) {
        if let Ok(groups) = &mut self.0 {
            match Survey::read(link, child, stride) {
                Ok(higher) => groups.add(higher),
                Err(trouble) => self.0 = Err(trouble),
            }
        }
    }

    fn put(&self, link: &mut dyn KeyValueExchange, stride: u32) -> Result<(), LauncherError> {
        let text = match &self.0 {
            Ok(groups) => format!("+{}", groups.to_joint_text()),
            Err(trouble) => format!("-{}", encoded(&trouble.0, link.longest_value())),
        };
        let key = survey_key(link.rank(), stride);
        put_long(link, &key, &text)
    }
}

fn survey_key(rank: u32, stride: u32) -> String {
    format!("ferrum-hosts-{stride}-{rank}")
}

/// Rank 0: describes its memory, and, if the ranks run on several hosts, puts those of each.
#[cold]
fn describe_all(
    link: &mut dyn KeyValueExchange,
    own: &HostInfo,
    groups: Groups,
    job: &Job,
) -> Result<Groups, LauncherError> {
    groups.check_sizes()?;
    if !groups.is_one() {
        put_long(link, HOSTS, &groups.to_text()?)?;
        job.set_hosts(&groups.hosts());
    } else if link.waits_for_values() {
        link.put(&format!("{HOSTS}-0"), "0:")?;
    }
    describe(own, facts_of(own, std::slice::from_ref(groups.info_of_first())), job);
    Ok(groups)
}

#[cold]
fn facts_of(own: &HostInfo, infos: &[HostInfo]) -> Facts {
    let shared = |pid: &&u32| infos.iter().all(|host| host.ancestors.contains(pid));
    Facts { cores: all_cores(infos), ancestor: own.ancestors.iter().find(shared).copied().unwrap_or(0) }
}

/// Records the number of cores of the processes of a host, and their common ancestor.
#[cold]
fn describe(own: &HostInfo, Facts { cores, ancestor }: Facts, job: &Job) {
    let quota = host::quota_cores().unwrap_or(u32::MAX);
    let launcher = if ancestor == 0 { own.ancestors.first().copied().unwrap_or(0) } else { ancestor };
    job.describe(if cores == 0 { job.cores() } else { cores.min(quota) }, launcher);
}

#[cold]
fn host_of(link: &mut dyn KeyValueExchange, rank: u32) -> Result<HostInfo, LauncherError> {
    let value = link.get(rank, &host_key(rank))?;
    value.as_deref().and_then(HostInfo::parse).ok_or_else(|| {
        let has = value.map_or("nothing".into(), |value| format!("{value:?}"));
        LauncherError(format!(
            "rank {rank} put {has} where its host info belongs; all processes of a job have to be of one release of this library"
        ))
    })
}

#[cfg(test)]
mod tests;
