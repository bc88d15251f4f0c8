//! The hosts of a communicator's processes: groups of neighbouring ranks that share memory.
//!
//! Invariant: hosts are in the order of their ranks, and every rank is of one host.
//! Not here: which processes share memory (`mpi-fabric`), how the processes agree on it (`mpi-coll`).

/// The hosts of a communicator, of which at least one has several processes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hosts {
    /// The first rank of each host, and the number of ranks.
    firsts: Vec<u32>,
}

impl Hosts {
    /// The hosts, from a word of each rank that the ranks of a host, and no others, have in common. `None` if there is one host only,
    /// or one for each rank, or if the ranks of a host are not next to each other.
    pub fn of(words: &[u64]) -> Option<Hosts> {
        let starts = (0..words.len()).filter(|at| *at == 0 || words[*at] != words[*at - 1]);
        let mut firsts: Vec<u32> = starts.map(|at| at as u32).collect();
        let mut distinct: Vec<u64> = firsts.iter().map(|first| words[*first as usize]).collect();
        distinct.sort_unstable();
        distinct.dedup();
        if distinct.len() != firsts.len() || firsts.len() < 2 || firsts.len() == words.len() {
            return None;
        }
        firsts.push(words.len() as u32);
        Some(Hosts { firsts })
    }

    /// Number of hosts.
    pub fn count(&self) -> u32 {
        self.firsts.len() as u32 - 1
    }

    /// The host of a rank.
    pub fn of_rank(&self, rank: u32) -> u32 {
        self.firsts.partition_point(|first| *first <= rank) as u32 - 1
    }

    /// The first rank of a host.
    pub fn first(&self, host: u32) -> u32 {
        self.firsts[host as usize]
    }

    /// Number of ranks of a host.
    pub fn size(&self, host: u32) -> u32 {
        self.firsts[host as usize + 1] - self.firsts[host as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_runs_of_ranks_with_one_word() {
        let hosts = Hosts::of(&[7, 7, 3, 5, 5, 5]).expect("three hosts");
        assert_eq!((hosts.count(), hosts.first(1), hosts.size(1), hosts.first(2), hosts.size(2)), (3, 2, 1, 3, 3));
        assert_eq!((0..6).map(|rank| hosts.of_rank(rank)).collect::<Vec<_>>(), [0, 0, 1, 2, 2, 2]);
    }

    #[test]
    fn other_placements_have_none() {
        for words in [&[][..], &[1], &[1, 1, 1], &[1, 2, 3], &[1, 2, 1, 2], &[1, 1, 2, 1]] {
            assert_eq!(Hosts::of(words), None, "{words:?}");
        }
    }
}
