//! Which ranks of a job run on which host, and which process has started them all, as readers of a job memory see it.
//!
//! Invariant: ranks that were read are ascending and below the size of the job, and names have no control characters.
//! Not here: who finds the hosts (`mpi-wireup`, `mpi-launch`).

use std::sync::atomic::Ordering;

use super::Job;
use crate::layout::header::{FRONT_PID, HOSTS, HOSTS_BYTES, MOST_HOSTS_BYTES};
use crate::rank_list;

/// A host with its ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostRanks {
    /// The name of the host.
    pub name: String,
    /// Its ranks, ascending.
    pub ranks: Vec<u32>,
}

impl Job {
    /// Records the hosts of a job on several hosts, of which the first is this one; for the maker of the memory, before others read
    /// them. A later call replaces them. Hosts that the memory has no room for are left out; of a job on one host nothing is recorded.
    pub fn set_hosts(&self, hosts: &[HostRanks]) {
        if hosts.len() < 2 {
            return;
        }
        let mut text = String::new();
        for host in hosts {
            let line = format!("{} {}\n", rank_list::to_text(&host.ranks), host.name);
            if text.len() + line.len() > MOST_HOSTS_BYTES {
                break;
            }
            text += &line;
        }
        for (i, bytes) in text.as_bytes().chunks(8).enumerate() {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            self.mapping.word(HOSTS + 8 * i).store(u64::from_le_bytes(word), Ordering::Relaxed);
        }
        // Release pairs with the Acquire in `hosts`: the text is there.
        self.mapping.word(HOSTS_BYTES).store(text.len() as u64, Ordering::Release);
    }

    /// Records the process id of the `mpiexec` that the user has started for a job on several hosts, and that runs on this host; for
    /// the maker of the memory, once.
    pub fn set_front(&self, pid: u32) {
        // Relaxed: nothing else is read with this word.
        self.mapping.half(FRONT_PID).store(pid, Ordering::Relaxed);
    }

    /// The process id that [`Job::set_front`] has recorded; 0: none.
    pub fn front_pid(&self) -> u32 {
        self.mapping.half(FRONT_PID).load(Ordering::Relaxed)
    }

    /// The hosts of the job with their ranks, this host first; empty if all ranks are on this host. Ranks that are in no
    /// list are on further hosts.
    pub fn hosts(&self) -> Vec<HostRanks> {
        // Acquire pairs with the Release in `set_hosts`.
        let bytes = self.mapping.word(HOSTS_BYTES).load(Ordering::Acquire);
        let Some(bytes) = usize::try_from(bytes).ok().filter(|bytes| *bytes <= MOST_HOSTS_BYTES) else {
            return Vec::new();
        };
        let word = |i: usize| self.mapping.word(HOSTS + 8 * i).load(Ordering::Relaxed).to_le_bytes();
        let text: Vec<u8> = (0..bytes.div_ceil(8)).flat_map(word).take(bytes).collect();
        let host = |line: &str| {
            let (ranks, name) = line.split_once(' ')?;
            let name = name.chars().filter(|letter| !letter.is_control()).collect();
            Some(HostRanks { name, ranks: rank_list::of_text(ranks, self.ranks())? })
        };
        String::from_utf8_lossy(&text).lines().filter_map(host).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JobOptions;
    use crate::layout::{MAX_HOST_RANKS, MAX_RANKS};
    use mpi_core::abi::MPI_ERR_ARG;
    use proptest::prelude::*;

    fn host(name: &str, ranks: impl IntoIterator<Item = u32>) -> HostRanks {
        HostRanks { name: name.to_owned(), ranks: ranks.into_iter().collect() }
    }

    #[test]
    fn hosts_are_read_as_they_were_recorded() {
        let job = Job::create(&JobOptions { ranks: 8, ring_bytes: None, cores: 1 }).expect("memory");
        job.set_hosts(&[host("a", 0..8)]);
        assert_eq!(job.hosts(), []);
        let hosts = [host("node7.example", [2, 3, 5]), host("b", [0, 1]), host("c", [4, 6, 7])];
        job.set_hosts(&hosts);
        assert_eq!(job.hosts(), hosts);
        assert_eq!(job.front_pid(), 0);
        job.set_front(77);
        assert_eq!((job.front_pid(), job.hosts()), (77, hosts.to_vec()));
    }

    #[test]
    fn hosts_without_room_are_left_out() {
        let job = Job::create(&JobOptions { ranks: 1000, ring_bytes: None, cores: 1 }).expect("memory");
        let in_turn: Vec<HostRanks> = (0..100).map(|at| host("node", (0..10).map(|i| i * 100 + at))).collect();
        job.set_hosts(&in_turn);
        assert_eq!(job.hosts(), in_turn);
        // A random one for each rank.
        let of = |rank: &u32| (rank.wrapping_mul(2_654_435_761) >> 16) % 10;
        let hosts: Vec<HostRanks> =
            (0..10).map(|at| host("a", (0..1000).filter(|rank| of(rank) == at).collect::<Vec<_>>())).collect();
        job.set_hosts(&hosts);
        let read = job.hosts();
        assert!(!read.is_empty() && read.len() < 10 && hosts.starts_with(&read), "{}", read.len());
    }

    #[test]
    fn the_largest_job_has_room_for_its_hosts() {
        let (hosts, each) = (MAX_RANKS / MAX_HOST_RANKS, MAX_HOST_RANKS);
        let options = JobOptions { ranks: MAX_RANKS, ring_bytes: None, cores: 1 };
        let job = Job::create_part(&options, &[0, MAX_RANKS - 1]).expect("addresses");
        let blocks: Vec<HostRanks> = (0..hosts).map(|at| host("node", at * each..(at + 1) * each)).collect();
        let in_turn: Vec<HostRanks> =
            (0..hosts).map(|at| host("node", (0..each).map(|i| i * hosts + at).collect::<Vec<_>>())).collect();
        let of_64: Vec<HostRanks> = (0..64).map(|at| host("node", at * 128..(at + 1) * 128)).collect();
        for hosts in [blocks, in_turn, of_64] {
            job.set_hosts(&hosts);
            assert_eq!(job.hosts(), hosts);
        }
        let more = JobOptions { ranks: MAX_RANKS + 1, ..options };
        assert_eq!(Job::create_part(&more, &[0]).err().map(|error| error.class()), Some(MPI_ERR_ARG));
        assert_eq!(Job::create_part(&options, &[MAX_RANKS]).err().map(|error| error.class()), Some(MPI_ERR_ARG));
    }

    fn store(job: &Job, text: &[u8], length: u64) {
        for (i, bytes) in text.chunks(8).enumerate() {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            job.mapping.word(HOSTS + 8 * i).store(u64::from_le_bytes(word), Ordering::Relaxed);
        }
        job.mapping.word(HOSTS_BYTES).store(length, Ordering::Relaxed);
    }

    proptest! {
        #[test]
        fn what_is_read_of_any_text_keeps_the_invariant(
            text in prop_oneof![
                "([0-9,/-]{0,8} [a-z\\x00-\\x7f]{0,8}\n){0,8}".prop_map(String::into_bytes),
                prop::collection::vec(any::<u8>(), 0..200),
            ],
            more in prop_oneof![Just(0), any::<u64>()],
        ) {
            let job = Job::create(&JobOptions { ranks: 8, ring_bytes: None, cores: 1 }).expect("memory");
            store(&job, &text, more.wrapping_add(text.len() as u64));
            for host in job.hosts() {
                prop_assert!(!host.ranks.is_empty() && host.ranks.is_sorted_by(|a, b| a < b));
                prop_assert!(host.ranks.iter().all(|rank| *rank < 8));
                prop_assert!(!host.name.contains(char::is_control));
            }
        }
    }

    #[test]
    fn lines_that_are_no_hosts_are_left_out() {
        let job = Job::create(&JobOptions { ranks: 8, ring_bytes: None, cores: 1 }).expect("memory");
        let lines = b"0-1 a\nx b\n2 c\x1b[d\n9 e\n7\n";
        store(&job, lines, lines.len() as u64);
        assert_eq!(job.hosts(), [host("a", [0, 1]), host("c[d", [2])]);
        job.mapping.word(HOSTS_BYTES).store(1 << 40, Ordering::Relaxed);
        assert_eq!(job.hosts(), []);
    }
}
