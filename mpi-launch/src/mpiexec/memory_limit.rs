//! The limit of memory of the control groups that this process is in, and how often the kernel ended a process for it.
//!
//! Both versions of control groups; without them, or without a limit, there is no check.

use std::fs;
use std::path::{Path, PathBuf};

use super::refusal::Refusal;

const MB: u64 = 1 << 20;
/// Memory of an empty process.
const LEAST_BYTES: u64 = MB / 2;
/// Memory of a rank of a small MPI program.
const USUAL_BYTES: u64 = 3 * MB;

/// A control group's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Memory {
    /// The most bytes that all of its processes may have.
    pub(super) limit: u64,
    /// The bytes that they have, without those that the kernel would reclaim.
    used: u64,
}

impl Memory {
    /// That of the tightest group that this process is in; `None` without a limit.
    pub(super) fn of_this_process() -> Option<Memory> {
        groups().iter().filter_map(Group::memory).min_by_key(Memory::free)
    }

    fn free(&self) -> u64 {
        self.limit.saturating_sub(self.used)
    }

    /// How many ranks can start at all.
    pub(super) fn most_ranks(&self) -> u32 {
        u32::try_from(self.free() / LEAST_BYTES).unwrap_or(u32::MAX)
    }

    /// Refuses this number of ranks if they cannot start; returns a warning if they will hardly have enough memory.
    pub(super) fn check(&self, ranks: u32) -> Result<Option<String>, Refusal> {
        let (need, usual) = (LEAST_BYTES * u64::from(ranks), USUAL_BYTES * u64::from(ranks));
        let (limit, used) = (self.limit / MB, self.used / MB);
        if ranks > self.most_ranks() {
            return Err(Refusal::Memory { ranks, need: need.div_ceil(MB), limit, used });
        }
        let tight = usual > self.free();
        Ok(tight.then(|| {
            format!(
                "memory may not suffice: {ranks} ranks of a small MPI program take about {} MB, but the limit of this \
                 control group is {limit} MB, of which {used} MB are in use",
                usual / MB
            )
        }))
    }
}

/// Processes that the kernel has ended so far because a group of this process had no memory left; without groups, any.
pub(super) fn ended_for_memory() -> u64 {
    let counts: Vec<u64> = groups().iter().filter_map(Group::ended).collect();
    match counts.is_empty() {
        false => counts.iter().sum(),
        true => count_of(&text("/proc/vmstat"), "oom_kill").unwrap_or(0),
    }
}

/// A directory of the control groups' file system for memory.
struct Group {
    directory: PathBuf,
    /// Version 1 has other names.
    first: bool,
}

impl Group {
    fn memory(&self) -> Option<Memory> {
        let (limit, used) = if self.first { ("memory.limit_in_bytes", "rss") } else { ("memory.max", "anon") };
        let limit = self.read(limit).trim().parse::<u64>().ok()?;
        // Version 1 writes a number beyond the memory of any machine for no limit.
        if limit == 0 || limit > 1 << 60 {
            return None;
        }
        let facts = self.read("memory.stat");
        let used = count_of(&facts, used).unwrap_or(0) + count_of(&facts, "shmem").unwrap_or(0);
        Some(Memory { limit, used })
    }

    fn ended(&self) -> Option<u64> {
        count_of(&self.read(if self.first { "memory.oom_control" } else { "memory.events" }), "oom_kill")
    }

    fn read(&self, file: &str) -> String {
        text(self.directory.join(file))
    }
}

/// The memory groups of this process, and those above them.
fn groups() -> Vec<Group> {
    let membership = text("/proc/self/cgroup");
    let mut groups = Vec::new();
    for line in membership.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
        let (mount, first) = match controllers {
            "" => ("/sys/fs/cgroup", false),
            list if list.split(',').any(|name| name == "memory") => ("/sys/fs/cgroup/memory", true),
            _ => continue,
        };
        groups.extend(upwards(mount, path).into_iter().map(|directory| Group { directory, first }));
    }
    groups
}

/// A group's directory and those above it. In a container the path may not exist: then the mount's top does.
fn upwards(mount: &str, path: &str) -> Vec<PathBuf> {
    let path = Path::new(path.trim_start_matches('/'));
    path.ancestors().map(|part| Path::new(mount).join(part)).collect()
}

/// The number behind a name at the begin of a line.
fn count_of(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse().ok())
}

/// A file's text; empty if there is none.
fn text(file: impl AsRef<Path>) -> String {
    fs::read_to_string(file).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_that_is_too_small_is_reported_before_the_start() {
        let small = Memory { limit: 64 * MB, used: 4 * MB };
        assert_eq!(small.check(10).unwrap(), None);
        assert!(small.check(30).unwrap().is_some_and(|text| text.contains("90 MB") && text.contains("64 MB")));
        let refused = small.check(200).unwrap_err().to_string();
        assert!(refused.contains("200 ranks need at least 100 MB") && refused.contains("64 MB"), "{refused}");
        assert!(small.check(small.most_ranks()).is_ok());
    }

    #[test]
    fn groups_are_read_in_both_versions() {
        let directory = std::env::temp_dir().join(format!("mpiexec-group-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let put = |file: &str, text: &str| fs::write(directory.join(file), text).unwrap();
        put("memory.max", "67108864\n");
        put("memory.stat", "anon 1000\nfile 5000\nshmem 24\nanon_thp 7\n");
        put("memory.events", "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\n");
        let group = Group { directory: directory.clone(), first: false };
        assert_eq!((group.memory(), group.ended()), (Some(Memory { limit: 64 * MB, used: 1024 }), Some(2)));
        put("memory.max", "max\n");
        assert_eq!(group.memory(), None);
        put("memory.limit_in_bytes", "9223372036854771712\n");
        put("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 5\n");
        let group = Group { directory: directory.clone(), first: true };
        assert_eq!((group.memory(), group.ended()), (None, Some(5)));
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn groups_above_count_too() {
        let due: Vec<PathBuf> = ["/m/a/b", "/m/a", "/m/"].map(PathBuf::from).to_vec();
        assert_eq!(upwards("/m", "/a/b"), due);
    }
}
