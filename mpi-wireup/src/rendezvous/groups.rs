//! The groups of ranks that share a memory, one for each host unless ranks of a host were refused its memory.
//!
//! Invariant: every rank is in one group; the ranks of a group are ascending, and the groups are in the order of their first ranks.
//! Not here: which ranks are refused (`memory`).

use std::ops::Range;

use mpi_fabric::job::HostRanks;
use mpi_fabric::layout::MAX_HOST_RANKS;
use mpi_fabric::rank_list;

use crate::host_info::HostInfo;
use crate::hosts::{random_secret, secret_of};
use crate::launcher::LauncherError;

/// The groups of some ranks.
#[derive(Debug, PartialEq)]
pub(super) struct Groups {
    groups: Vec<Group>,
}

/// A group, and what its ranks have put about their host: all cores of them, and their common ancestors.
#[derive(Debug, PartialEq)]
struct Group {
    info: HostInfo,
    ranks: Vec<u32>,
}

/// What the first rank of a group records in its memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    /// The number of cores that its ranks may use together; 0 if that is not known.
    pub(super) cores: u32,
    /// Their nearest common ancestor; 0: none.
    pub(super) ancestor: u32,
}

impl Groups {
    /// The group of one rank.
    pub(super) fn of(rank: u32, info: HostInfo) -> Groups {
        Groups { groups: vec![Group { info, ranks: vec![rank] }] }
    }

    /// Adds the groups of ranks that are all higher: those of one host become one.
    #[cold]
    pub(super) fn add(&mut self, higher: Groups) {
        for new in higher.groups {
            match self.groups.iter_mut().find(|group| group.info.is_same_as(&new.info)) {
                Some(group) => {
                    group.info.join(&new.info);
                    group.ranks.extend(new.ranks);
                }
                None => self.groups.push(new),
            }
        }
    }

    /// As a text for [`Groups::parse`].
    #[cold]
    pub(super) fn to_joint_text(&self) -> String {
        let field = |group: &Group| format!("{}@{}", rank_list::to_text(&group.ranks), group.info.to_joint_value());
        self.groups.iter().map(field).collect::<Vec<_>>().join("|")
    }

    /// Reads a text; `None` if it is not that of groups of exactly these ranks.
    #[cold]
    pub(super) fn parse(text: &str, of: Range<u32>) -> Option<Groups> {
        let mut found = Groups { groups: Vec::new() };
        let mut is_there = vec![false; of.len()];
        for field in text.split('|') {
            let (ranks, info) = field.split_once('@')?;
            let group = Group { info: HostInfo::parse(info)?, ranks: rank_list::of_text(ranks, of.end)? };
            let is_apart = |other: &Group| !other.info.is_same_as(&group.info) && other.ranks[0] < group.ranks[0];
            for rank in &group.ranks {
                let place = is_there.get_mut(rank.checked_sub(of.start)? as usize)?;
                if std::mem::replace(place, true) {
                    return None;
                }
            }
            if !found.groups.iter().all(is_apart) {
                return None;
            }
            found.groups.push(group);
        }
        is_there.into_iter().all(|is_there| is_there).then_some(found)
    }

    pub(super) fn is_one(&self) -> bool {
        self.groups.len() == 1
    }

    /// Refuses a host with more ranks than share a memory.
    /// # Errors
    /// A sentence.
    pub(super) fn check_sizes(&self) -> Result<(), LauncherError> {
        let is_too_large = |group: &&Group| group.ranks.len() > MAX_HOST_RANKS as usize;
        let Some(Group { info, ranks }) = self.groups.iter().find(is_too_large) else { return Ok(()) };
        let (host, ranks) = (&info.host, ranks.len());
        let rule = format!("host {host} has {ranks} ranks of the job, but one host takes {MAX_HOST_RANKS} at most");
        Err(LauncherError(rule))
    }

    /// A rank that runs on the machine of rank 0, but not in its group, if there is one.
    pub(super) fn first_apart(&self) -> Option<u32> {
        self.groups.iter().find(|group| group.info.is_apart_from(&self.groups[0].info)).map(|group| group.ranks[0])
    }

    /// What the ranks of the group of rank 0 have put about their host.
    pub(super) fn info_of_first(&self) -> &HostInfo {
        &self.groups[0].info
    }

    /// Makes new groups of the ranks that were refused the memory of theirs: one of those of each class, or one of each rank if
    /// `alone` is set. The first rank of a group has made the memory; if it is in the list, it stays where it is.
    #[cold]
    pub(super) fn split(&mut self, refused: &[(u32, String)], alone: bool) {
        let mut new: Vec<(&str, Group)> = Vec::new();
        for Group { info, ranks } in &mut self.groups {
            let before = new.len();
            let first = ranks[0];
            ranks.retain(|rank| {
                let Some((_, class)) = refused.iter().find(|(other, _)| other == rank && *rank != first) else {
                    return true;
                };
                match new[before..].iter_mut().find(|(other, _)| other == class && !alone) {
                    Some((_, group)) => group.ranks.push(*rank),
                    None => new.push((class, Group { info: info.clone(), ranks: vec![*rank] })),
                }
                false
            });
        }
        self.groups.extend(new.into_iter().map(|(_, group)| group));
        self.groups.sort_by_key(|group| group.ranks[0]);
    }

    /// The groups with the names of their hosts.
    pub(super) fn hosts(&self) -> Vec<HostRanks> {
        let host = |group: &Group| HostRanks { name: group.info.host.clone(), ranks: group.ranks.clone() };
        self.groups.iter().map(host).collect()
    }

    /// A new secret and all groups, as text.
    #[cold]
    pub(super) fn to_text(&self) -> Result<String, LauncherError> {
        let field = |Group { info, ranks }: &Group| {
            let ancestor = info.ancestors.first().copied().unwrap_or(0);
            format!("{}:{}:{}:{ancestor}", rank_list::to_text(ranks), info.host, all_cores(std::slice::from_ref(info)))
        };
        let fields: Vec<String> = self.groups.iter().map(field).collect();
        Ok(format!("{:032x};{}", random_secret()?, fields.join(";")))
    }
}

/// What the text about groups has for a rank.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) secret: u128,
    /// All groups, its own first.
    pub(super) hosts: Vec<HostRanks>,
    /// Those of its host.
    pub(super) facts: Facts,
}

/// # Errors
/// A sentence: the text is not that of groups, one of which has the rank.
#[cold]
pub(super) fn own_part(text: &str, rank: u32, size: u32) -> Result<Part, LauncherError> {
    let read = || {
        let mut fields = text.split(';');
        let secret = secret_of(fields.next()?)?;
        let host = |field: &str| {
            // The name may have colons.
            let (ranks, rest) = field.split_once(':')?;
            let (rest, ancestor) = rest.rsplit_once(':')?;
            let (name, cores) = rest.rsplit_once(':')?;
            let facts = Facts { cores: cores.parse().ok()?, ancestor: ancestor.parse().ok()? };
            Some((HostRanks { name: name.to_owned(), ranks: rank_list::of_text(ranks, size)? }, facts))
        };
        let mut hosts: Vec<(HostRanks, Facts)> = fields.map(host).collect::<Option<_>>()?;
        let own = hosts.iter().position(|(host, _)| host.ranks.contains(&rank))?;
        hosts[..=own].rotate_right(1);
        let facts = hosts[0].1;
        Some(Part { secret, hosts: hosts.into_iter().map(|(host, _)| host).collect(), facts })
    };
    read().ok_or_else(|| {
        // The secret comes before the first semicolon.
        let shown = text.split_once(';').map_or("", |(_, hosts)| hosts);
        LauncherError(format!("rank 0 put {shown:?} where the ranks of each host belong"))
    })
}

/// The number of different cores in all lists.
#[cold]
pub(super) fn all_cores(hosts: &[HostInfo]) -> u32 {
    let mut ranges: Vec<(u32, u32)> = hosts.iter().flat_map(|host| host.cores.iter().copied()).collect();
    ranges.sort_unstable();
    let (mut count, mut next) = (0, 0);
    for (first, last) in ranges {
        count += (last + 1).saturating_sub(first.max(next));
        next = next.max(last + 1);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_fabric::layout::MAX_RANKS;

    fn groups(hosts: &[u32]) -> Groups {
        let own = HostInfo::own();
        let info = |host: &u32| HostInfo { boot: format!("b{host}"), host: format!("h{host}"), ..own.clone() };
        let mut of_each = (0..).zip(hosts).map(|(rank, host)| Groups::of(rank, info(host)));
        let mut all = of_each.next().expect("a rank");
        of_each.for_each(|one| all.add(one));
        all
    }

    fn ranks_of(groups: &Groups) -> Vec<Vec<u32>> {
        groups.groups.iter().map(|group| group.ranks.clone()).collect()
    }

    #[test]
    fn groups_are_read_as_they_were_written() {
        let all = groups(&[0, 1, 0, 2, 1]);
        let text = all.to_joint_text();
        assert_eq!(Groups::parse(&text, 0..5), Some(all));
        assert_eq!(Groups::parse(&text, 0..6), None, "a rank is missing");
        assert_eq!(Groups::parse(&text, 0..4), None, "a rank is beyond");
        assert_eq!(Groups::parse(&text, 1..5), None, "a rank is before");
        let one = groups(&[0]).to_joint_text();
        for wrong in ["", "0@", "0", &format!("{one}|{one}"), &one.replace("0@", "0-0,0@"), &format!("{one}|"), "@f1"] {
            assert_eq!(Groups::parse(wrong, 0..1), None, "{wrong}");
        }
        let same_host = format!("{one}|{}", one.replacen('0', "1", 1));
        assert_eq!(Groups::parse(&same_host, 0..2), None, "ranks of a host are one group");
        let mut lower = groups(&[0, 1]);
        lower.add(Groups::parse(&groups(&[0, 0, 0, 1]).to_joint_text().replacen("0-2", "2", 1), 2..4).expect("groups"));
        assert_eq!(ranks_of(&lower), [[0, 2], [1, 3]]);
    }

    #[test]
    fn a_group_has_the_facts_of_its_ranks_together() {
        let info = |core, ancestors: &[u32]| HostInfo {
            cores: vec![(core, core)],
            ancestors: ancestors.to_vec(),
            host: "a:b".into(),
            ..HostInfo::own()
        };
        let mut all = Groups::of(0, info(3, &[9, 8, 1]));
        all.add(Groups::of(1, info(5, &[8, 1])));
        let part = own_part(&all.to_text().unwrap(), 1, 2).unwrap();
        assert_eq!((part.facts, &*part.hosts[0].name), (Facts { cores: 2, ancestor: 8 }, "a:b"));
    }

    fn refused(ranks: &[(u32, &str)]) -> Vec<(u32, String)> {
        ranks.iter().map(|(rank, class)| (*rank, (*class).to_owned())).collect()
    }

    #[test]
    fn refused_ranks_of_a_class_and_host_are_a_group() {
        let mut all = groups(&[0, 0, 1, 0, 0, 0, 1, 1]);
        assert_eq!(ranks_of(&all), [vec![0, 1, 3, 4, 5], vec![2, 6, 7]]);
        all.split(&refused(&[(1, "a"), (4, "b"), (5, "a"), (7, "a")]), false);
        assert_eq!(ranks_of(&all), [vec![0, 3], vec![1, 5], vec![2, 6], vec![4], vec![7]]);
        let names: Vec<String> = all.hosts().into_iter().map(|host| host.name).collect();
        assert_eq!(names, ["h0", "h0", "h1", "h0", "h1"]);
    }

    #[test]
    fn a_host_of_too_many_ranks_is_named() {
        let hosts = |last: u32| [vec![0; 1024], vec![1; last as usize]].concat();
        groups(&hosts(1024)).check_sizes().unwrap();
        let refusal = groups(&hosts(1025)).check_sizes().unwrap_err().to_string();
        assert!(refusal.contains("host h1 has 1025 ranks of the job, but one host takes 1024"), "{refusal}");
        let text = groups(&hosts(1024)).to_text().unwrap();
        let parts = own_part(&text, 1500, 2048).unwrap().hosts;
        assert_eq!((&*parts[0].name, &*parts[0].ranks), ("h1", &(1024..2048).collect::<Vec<_>>()[..]));
    }

    #[test]
    fn each_rank_of_the_largest_job_finds_its_host() {
        let hosts = MAX_RANKS / MAX_HOST_RANKS;
        for host_of in [|rank: u32| rank / MAX_HOST_RANKS, |rank: u32| rank % (MAX_RANKS / MAX_HOST_RANKS)] {
            let all = groups(&(0..MAX_RANKS).map(host_of).collect::<Vec<_>>());
            all.check_sizes().unwrap();
            let text = all.to_text().unwrap();
            for rank in [0, 1, MAX_HOST_RANKS, MAX_RANKS - 1] {
                let parts = own_part(&text, rank, MAX_RANKS).unwrap().hosts;
                assert_eq!((parts.len() as u32, &parts[0].name), (hosts, &format!("h{}", host_of(rank))));
                assert!(parts[0].ranks.iter().copied().eq((0..MAX_RANKS).filter(|it| host_of(*it) == host_of(rank))));
            }
        }
    }

    #[test]
    fn refused_ranks_are_alone_in_the_end() {
        let mut all = groups(&[0; 4]);
        all.split(&refused(&[(1, "a"), (2, "a"), (3, "a")]), true);
        assert_eq!(ranks_of(&all), [[0], [1], [2], [3]]);
    }

    #[test]
    fn the_first_rank_of_a_group_and_ranks_that_do_not_exist_stay_out() {
        let mut all = groups(&[0, 0]);
        all.split(&refused(&[(0, "a"), (7, "a")]), false);
        assert_eq!(ranks_of(&all), [[0, 1]]);
    }

    #[test]
    fn a_rank_reads_its_own_group_first() {
        let mut all = groups(&[0, 0, 0]);
        all.split(&refused(&[(1, "a")]), false);
        let text = all.to_text().unwrap();
        let hosts = own_part(&text, 1, 3).unwrap().hosts;
        assert_eq!(hosts.iter().map(|host| host.ranks.clone()).collect::<Vec<_>>(), [vec![1], vec![0, 2]]);
        let sentence = own_part(&text, 3, 4).unwrap_err().to_string();
        assert!(sentence.contains("0,2:h0") && !sentence.contains(&text[..32]), "{sentence}");
    }
}
