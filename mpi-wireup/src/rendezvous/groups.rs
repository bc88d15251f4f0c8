//! The groups of ranks that share a memory, one for each host unless ranks of a host were refused its memory.
//!
//! Invariant: every rank is in one group; the ranks of a group are ascending, and the groups are in the order of their first ranks.
//! Not here: which ranks are refused (`memory`).

use mpi_fabric::job::HostRanks;
use mpi_fabric::layout::MAX_HOST_RANKS;
use mpi_fabric::rank_list;

use crate::host_info::HostInfo;
use crate::hosts::{random_secret, secret_of};
use crate::launcher::LauncherError;

/// The groups as rank 0 has them, with what every rank has put about its host, by rank.
pub(super) struct Groups {
    infos: Vec<HostInfo>,
    groups: Vec<Vec<u32>>,
}

impl Groups {
    /// One for each host.
    pub(super) fn by_host(infos: Vec<HostInfo>) -> Groups {
        let mut groups: Vec<Vec<u32>> = Vec::new();
        for (rank, info) in (0..).zip(&infos) {
            match groups.iter_mut().find(|group| infos[group[0] as usize].is_same_as(info)) {
                Some(group) => group.push(rank),
                None => groups.push(vec![rank]),
            }
        }
        Groups { infos, groups }
    }

    pub(super) fn is_one(&self) -> bool {
        self.groups.len() == 1
    }

    /// Refuses a host with more ranks than share a memory.
    /// # Errors
    /// A sentence.
    pub(super) fn check_sizes(&self) -> Result<(), LauncherError> {
        let Some(group) = self.groups.iter().find(|group| group.len() > MAX_HOST_RANKS as usize) else { return Ok(()) };
        let (host, ranks) = (&self.infos[group[0] as usize].host, group.len());
        let rule = format!("host {host} has {ranks} ranks of the job, but one host takes {MAX_HOST_RANKS} at most");
        Err(LauncherError(rule))
    }

    /// A rank that runs on the machine of rank 0, but not in its group, if there is one.
    pub(super) fn first_apart(&self) -> Option<u32> {
        (0..).zip(&self.infos).find(|(_, info)| info.is_apart_from(&self.infos[0])).map(|(rank, _)| rank)
    }

    /// What the ranks of the group of rank 0 have put about their host.
    pub(super) fn infos_of_first(&self) -> Vec<HostInfo> {
        self.groups[0].iter().map(|rank| self.infos[*rank as usize].clone()).collect()
    }

    /// Makes new groups of the ranks that were refused the memory of theirs: one of those of each class, or one of each rank if
    /// `alone` is set. The first rank of a group has made the memory; if it is in the list, it stays where it is.
    pub(super) fn split(&mut self, refused: &[(u32, String)], alone: bool) {
        let mut new: Vec<(&str, Vec<u32>)> = Vec::new();
        for group in &mut self.groups {
            let before = new.len();
            let first = group[0];
            group.retain(|rank| {
                let Some((_, class)) = refused.iter().find(|(other, _)| other == rank && *rank != first) else {
                    return true;
                };
                match new[before..].iter_mut().find(|(other, _)| other == class && !alone) {
                    Some((_, group)) => group.push(*rank),
                    None => new.push((class, vec![*rank])),
                }
                false
            });
        }
        self.groups.extend(new.into_iter().map(|(_, group)| group));
        self.groups.sort_by_key(|group| group[0]);
    }

    /// The groups with the names of their hosts.
    pub(super) fn hosts(&self) -> Vec<HostRanks> {
        let host =
            |ranks: &Vec<u32>| HostRanks { name: self.infos[ranks[0] as usize].host.clone(), ranks: ranks.clone() };
        self.groups.iter().map(host).collect()
    }

    /// A new secret and all groups, as text.
    pub(super) fn to_text(&self) -> Result<String, LauncherError> {
        let field = |host: HostRanks| format!("{}:{}", rank_list::to_text(&host.ranks), host.name);
        let fields: Vec<String> = self.hosts().into_iter().map(field).collect();
        Ok(format!("{:032x};{}", random_secret()?, fields.join(";")))
    }
}

/// What the text about groups has for a rank: the secret; and all groups, its own first.
/// # Errors
/// A sentence: the text is not that of groups, one of which has the rank.
pub(super) fn own_part(text: &str, rank: u32, size: u32) -> Result<(u128, Vec<HostRanks>), LauncherError> {
    let read = || {
        let mut fields = text.split(';');
        let secret = secret_of(fields.next()?)?;
        let host = |field: &str| {
            let (ranks, name) = field.split_once(':')?;
            Some(HostRanks { name: name.to_owned(), ranks: rank_list::of_text(ranks, size)? })
        };
        let mut hosts: Vec<HostRanks> = fields.map(host).collect::<Option<_>>()?;
        let own = hosts.iter().position(|host| host.ranks.contains(&rank))?;
        hosts[..=own].rotate_right(1);
        Some((secret, hosts))
    };
    read().ok_or_else(|| {
        // The secret comes before the first semicolon.
        let shown = text.split_once(';').map_or("", |(_, hosts)| hosts);
        LauncherError(format!("rank 0 put {shown:?} where the ranks of each host belong"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_fabric::layout::MAX_RANKS;

    fn groups(hosts: &[u32]) -> Groups {
        let own = HostInfo::own();
        let info = |host: &u32| HostInfo { boot: format!("b{host}"), host: format!("h{host}"), ..own.clone() };
        Groups::by_host(hosts.iter().map(info).collect())
    }

    fn refused(ranks: &[(u32, &str)]) -> Vec<(u32, String)> {
        ranks.iter().map(|(rank, class)| (*rank, (*class).to_owned())).collect()
    }

    #[test]
    fn refused_ranks_of_a_class_and_host_are_a_group() {
        let mut all = groups(&[0, 0, 1, 0, 0, 0, 1, 1]);
        assert_eq!(all.groups, [vec![0, 1, 3, 4, 5], vec![2, 6, 7]]);
        all.split(&refused(&[(1, "a"), (4, "b"), (5, "a"), (7, "a")]), false);
        assert_eq!(all.groups, [vec![0, 3], vec![1, 5], vec![2, 6], vec![4], vec![7]]);
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
        let (_, parts) = own_part(&text, 1500, 2048).unwrap();
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
                let (_, parts) = own_part(&text, rank, MAX_RANKS).unwrap();
                assert_eq!((parts.len() as u32, &parts[0].name), (hosts, &format!("h{}", host_of(rank))));
                assert!(parts[0].ranks.iter().copied().eq((0..MAX_RANKS).filter(|it| host_of(*it) == host_of(rank))));
            }
        }
    }

    #[test]
    fn refused_ranks_are_alone_in_the_end() {
        let mut all = groups(&[0; 4]);
        all.split(&refused(&[(1, "a"), (2, "a"), (3, "a")]), true);
        assert_eq!(all.groups, [[0], [1], [2], [3]]);
    }

    #[test]
    fn the_first_rank_of_a_group_and_ranks_that_do_not_exist_stay_out() {
        let mut all = groups(&[0, 0]);
        all.split(&refused(&[(0, "a"), (7, "a")]), false);
        assert_eq!(all.groups, [[0, 1]]);
    }

    #[test]
    fn a_rank_reads_its_own_group_first() {
        let mut all = groups(&[0, 0, 0]);
        all.split(&refused(&[(1, "a")]), false);
        let text = all.to_text().unwrap();
        let (_, hosts) = own_part(&text, 1, 3).unwrap();
        assert_eq!(hosts.iter().map(|host| host.ranks.clone()).collect::<Vec<_>>(), [vec![1], vec![0, 2]]);
        let sentence = own_part(&text, 3, 4).unwrap_err().to_string();
        assert!(sentence.contains("0,2:h0") && !sentence.contains(&text[..32]), "{sentence}");
    }
}
