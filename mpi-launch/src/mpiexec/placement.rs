//! Which rank is on which host.
//!
//! Invariant: every rank of the job has a host, and every host a rank. A job whose hosts are all this machine has no
//! placement: it is started as one on this host.
//! Not here: the form of lists of hosts (`args`).

use mpi_fabric::host;
use mpi_fabric::layout::{MAX_HOST_RANKS, MAX_RANKS};

use super::refusal::Refusal;
use super::{local_host, nodelist};
use crate::args::{Group, HostEntry, MapBy, Run, hosts_of};

/// The places of all ranks.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Placement {
    /// Names of the hosts, as their launcher is to reach them.
    pub(super) hosts: Vec<String>,
    /// By rank: the number of its host.
    pub(super) of_rank: Vec<u32>,
    /// By program: its number of ranks.
    pub(super) counts: Vec<u32>,
}

impl Placement {
    /// The ranks of a host, in their order.
    pub(super) fn ranks_of(&self, host: u32) -> Vec<u32> {
        (0..self.of_rank.len() as u32).filter(|rank| self.of_rank[*rank as usize] == host).collect()
    }

    /// The places as PMI describes them to programs of other libraries: blocks of ranks of hosts.
    pub(super) fn mapping(&self) -> String {
        // (first host, number of hosts, ranks each)
        let mut blocks: Vec<(u32, u32, u32)> = Vec::new();
        let mut at = 0;
        while at < self.of_rank.len() {
            let host = self.of_rank[at];
            let run = self.of_rank[at..].iter().take_while(|other| **other == host).count();
            match blocks.last_mut() {
                Some((first, hosts, ranks)) if *first + *hosts == host && *ranks == run as u32 => *hosts += 1,
                _ => blocks.push((host, 1, run as u32)),
            }
            at += run;
        }
        let text: Vec<String> =
            blocks.iter().map(|(first, hosts, ranks)| format!("({first},{hosts},{ranks})")).collect();
        format!("(vector,{})", text.join(","))
    }
}

/// A host while ranks are distributed.
struct Host {
    entry: HostEntry,
    /// Ranks of earlier programs.
    used: u32,
}

/// The placement of a job that has several hosts; `None` for one on this machine.
pub(super) fn placement(run: &Run) -> Result<Option<Placement>, Refusal> {
    let options = &run.options;
    if run.groups.iter().all(|group| group.host.is_none()) && options.hostfile.is_none() && options.map_by.is_none() {
        return Ok(None);
    }
    let allocation = nodelist::allocation(&|name| std::env::var_os(name)).map_err(Refusal::Allocation)?;
    place(run, allocation.as_deref())
}

/// The placement of a job; `None` for one on this machine alone. `allocation`: the hosts that the surroundings give the
/// job.
fn place(run: &Run, allocation: Option<&[HostEntry]>) -> Result<Option<Placement>, Refusal> {
    let options = &run.options;
    let (mut hosts, mut of_rank, mut counts) = (Vec::<Host>::new(), Vec::new(), Vec::new());
    for group in &run.groups {
        let entries = match (&group.host, &options.hostfile, allocation) {
            (Some(list), ..) => hosts_of(list),
            (None, Some(file), _) => file.hosts.clone(),
            (None, None, Some(allocation)) if options.map_by.is_some() => allocation.to_vec(),
            _ => vec![this_host()],
        };
        let entries = merged(entries);
        let explicit = entries.iter().any(|entry| entry.slots.is_some());
        let places: Vec<usize> = entries.iter().map(|entry| find(&mut hosts, entry)).collect();
        let room = |place: usize, entry: &HostEntry| match options.map_by {
            Some(MapBy::PerNode(ranks)) => Some(ranks.saturating_sub(hosts[place].used)),
            _ if explicit => Some(entry.slots.unwrap_or(1).saturating_sub(hosts[place].used)),
            _ => None,
        };
        let rooms: Vec<Option<u32>> = places.iter().zip(&entries).map(|(place, entry)| room(*place, entry)).collect();
        let number = number(group, &rooms)?;
        let total = of_rank.len() as u64 + u64::from(number);
        if total > MAX_RANKS.into() {
            return Err(Refusal::TooMany(total));
        }
        let ranks = distribute(number, &rooms, options.map_by, options.oversubscribe).ok_or_else(|| {
            Refusal::Slots { ranks: number, slots: rooms.iter().flatten().sum(), hosts: entries.len() }
        })?;
        for host in &ranks {
            hosts[places[*host]].used += 1;
        }
        if let Some(host) = hosts.iter().find(|host| host.used > MAX_HOST_RANKS) {
            return Err(Refusal::TooManyOnHost { host: host.entry.name.clone(), ranks: host.used });
        }
        of_rank.extend(ranks.into_iter().map(|host| places[host]));
        counts.push(number);
    }
    // Hosts without ranks are left out.
    let used: Vec<usize> = (0..hosts.len()).filter(|host| hosts[*host].used > 0).collect();
    if used.iter().all(|host| local_host::is_local(&hosts[*host].entry.name)) {
        return Ok(None);
    }
    let number_of = |host: usize| used.iter().position(|other| *other == host).expect("it has this rank") as u32;
    Ok(Some(Placement {
        of_rank: of_rank.iter().map(|host| number_of(*host)).collect(),
        hosts: used.iter().map(|host| hosts[*host].entry.name.clone()).collect(),
        counts,
    }))
}

fn this_host() -> HostEntry {
    HostEntry { name: host::name(), slots: None }
}

/// Number of processes of a program that gives none on the command line, by its hosts; `None` where they do not count.
pub(super) fn default_number(run: &Run, group: &Group) -> Option<u32> {
    let named =
        group.host.as_deref().map(hosts_of).or_else(|| run.options.hostfile.as_ref().map(|file| file.hosts.clone()));
    let here = || matches!(run.options.map_by, Some(MapBy::PerNode(_))).then(|| vec![this_host()]);
    let entries = merged(named.or_else(here)?);
    match run.options.map_by {
        Some(MapBy::PerNode(ranks)) => Some(ranks * entries.len() as u32),
        _ if entries.iter().all(|entry| entry.slots.is_none()) => None,
        _ => Some(entries.iter().map(|entry| entry.slots.unwrap_or(1)).sum()),
    }
}

/// Entries of one host as one, all names of this machine as its own.
fn merged(entries: Vec<HostEntry>) -> Vec<HostEntry> {
    let mut all: Vec<HostEntry> = Vec::new();
    for mut entry in entries {
        if local_host::is_local(&entry.name) {
            entry.name = host::name();
        }
        match all.iter_mut().find(|known| known.name.eq_ignore_ascii_case(&entry.name)) {
            Some(known) => known.slots = Some(known.slots.unwrap_or(1) + entry.slots.unwrap_or(1)),
            None => all.push(entry),
        }
    }
    all
}

fn find(hosts: &mut Vec<Host>, entry: &HostEntry) -> usize {
    let known = hosts.iter().position(|host| host.entry.name.eq_ignore_ascii_case(&entry.name));
    known.unwrap_or_else(|| {
        hosts.push(Host { entry: entry.clone(), used: 0 });
        hosts.len() - 1
    })
}

/// The number of processes of a program: as requested, else one for each place, or one a host.
fn number(group: &Group, rooms: &[Option<u32>]) -> Result<u32, Refusal> {
    let places = rooms.iter().map(|room| room.unwrap_or(1)).sum::<u32>().max(1);
    let most = group.processes.unwrap_or(places);
    match &group.soft {
        Some(soft) => soft.largest(most.min(MAX_RANKS)).ok_or(Refusal::Soft(most)),
        None => Ok(most),
    }
}

/// The host of each rank; `None` if there is not enough room.
fn distribute(number: u32, rooms: &[Option<u32>], map_by: Option<MapBy>, oversubscribe: bool) -> Option<Vec<usize>> {
    let hosts = rooms.len();
    let total: u32 = rooms.iter().map(|room| room.unwrap_or(u32::MAX / 4096)).fold(0, u32::saturating_add);
    // So many ranks on each host, by its room.
    let mut shares = vec![0; hosts];
    if total < number && !oversubscribe {
        return None;
    }
    let mut left = number;
    if map_by == Some(MapBy::Node) || rooms.contains(&None) || total < number {
        // Even, as far as there is room; without room for all, beyond it.
        let beyond = total < number;
        if beyond {
            for (share, room) in shares.iter_mut().zip(rooms) {
                *share = room.unwrap_or(0);
                left -= *share;
            }
        }
        while left > 0 {
            for host in 0..hosts {
                if left > 0 && (beyond || rooms[host].is_none_or(|room| shares[host] < room)) {
                    shares[host] += 1;
                    left -= 1;
                }
            }
        }
    } else {
        for (share, room) in shares.iter_mut().zip(rooms) {
            *share = left.min(room.unwrap_or(left));
            left -= *share;
        }
    }
    let mut ranks = Vec::new();
    if map_by == Some(MapBy::Node) {
        let mut round = 0;
        while ranks.len() < number as usize {
            ranks.extend((0..hosts).filter(|host| shares[*host] > round));
            round += 1;
        }
    } else {
        for (host, share) in shares.iter().enumerate() {
            ranks.extend(std::iter::repeat_n(host, *share as usize));
        }
    }
    Some(ranks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{Command, parse};

    fn run(line: &str) -> Run {
        let read = |_: &std::path::Path| Ok(b"f1:2\nf2 slots=2\n".to_vec());
        match parse(line.split(' ').map(Into::into), &read) {
            Ok(Command::Run(run)) => run,
            other => panic!("{line}: {other:?}"),
        }
    }

    /// Hosts, and the letter of each rank's.
    fn placed(line: &str) -> String {
        let allocation =
            [("n1", 2), ("n2", 2)].map(|(name, slots)| HostEntry { name: name.into(), slots: Some(slots) });
        match place(&run(line), Some(&allocation)) {
            Ok(Some(placement)) => {
                let letters: String = placement.of_rank.iter().map(|host| (b'0' + *host as u8) as char).collect();
                format!("{} {letters}", placement.hosts.join(","))
            }
            Ok(None) => "here".into(),
            Err(refusal) => refusal.to_string(),
        }
    }

    #[test]
    fn ranks_follow_hosts_and_slots() {
        for (line, due) in [
            ("x", "here"),
            ("-n 4 -host localhost x", "here"),
            ("-n 4 -host localhost,127.0.0.1:3 x", "here"),
            ("-n 4 -host a.invalid,b.invalid x", "a.invalid,b.invalid 0011"),
            ("-n 5 -host a.invalid,b.invalid x", "a.invalid,b.invalid 00011"),
            ("-host a.invalid,b.invalid x", "a.invalid,b.invalid 01"),
            ("-host a.invalid:2,b.invalid:3 x", "a.invalid,b.invalid 00111"),
            ("-n 3 -host a.invalid:2,b.invalid:3 x", "a.invalid,b.invalid 001"),
            ("-n 2 -host a.invalid:2,b.invalid:3 x", "a.invalid 00"),
            ("-n 5 --map-by node -host a.invalid:2,b.invalid:3 x", "a.invalid,b.invalid 01011"),
            ("-n 4 -ppn 2 -host a.invalid,b.invalid x", "a.invalid,b.invalid 0011"),
            (
                "-n 3 -ppn 1 -host a.invalid,a.invalid,b.invalid x",
                "3 ranks do not fit: the 2 hosts have 2 slots together; name more",
            ),
            ("-ppn 2 -host a.invalid,b.invalid x", "a.invalid,b.invalid 0011"),
            ("-n 3 -host a.invalid,a.invalid,b.invalid x", "a.invalid,b.invalid 001"),
            ("-hostfile f x", "f1,f2 0011"),
            ("-hostfile f -n 2 x : -n 2 y", "f1,f2 0011"),
            ("-n 1 -host a.invalid x : -n 2 -host b.invalid,a.invalid y", "a.invalid,b.invalid 010"),
            ("-n 1 x : -n 1 -host b.invalid y", ""),
            ("-ppn 2 x", "n1,n2 0011"),
            ("-n 3 --map-by node x", "n1,n2 010"),
            ("-n 6 -host a.invalid:2,b.invalid:3 x", "6 ranks do not fit"),
            ("-n 2049 -ppn 1024 -host a.invalid,b.invalid,c.invalid x", "a.invalid,b.invalid,c.invalid 0"),
            (
                "-n 2050 -host a.invalid,b.invalid x",
                "host a.invalid has 1025 ranks of the job, but one host takes 1024 at most",
            ),
            ("-n 8192 -ppn 1024 -host a.invalid x : -n 1 -host b.invalid x", "8192 ranks do not fit"),
            ("-n 8192 -host a.invalid x : -n 1 -host b.invalid x", "host a.invalid has 8192 ranks"),
            (
                "-n 1 -host b.invalid x : -n 8192 -host a.invalid x",
                "all programs together are 8193 processes, but one job has at most 8192",
            ),
            ("-n 7 --oversubscribe -host a.invalid:2,b.invalid:3 x", "a.invalid,b.invalid 0001111"),
        ] {
            let placed = placed(line);
            assert!(placed.starts_with(due), "{line}: {placed}");
        }
    }

    #[test]
    fn places_are_described_in_blocks() {
        let mapping =
            |of_rank: &[u32]| Placement { hosts: Vec::new(), of_rank: of_rank.to_vec(), counts: Vec::new() }.mapping();
        assert_eq!(mapping(&[0, 0, 1, 1]), "(vector,(0,2,2))");
        assert_eq!(mapping(&[0, 0, 1]), "(vector,(0,1,2),(1,1,1))");
        assert_eq!(mapping(&[0, 1, 0, 1]), "(vector,(0,2,1),(0,2,1))");
    }
}
