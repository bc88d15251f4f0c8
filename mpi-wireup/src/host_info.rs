//! The values that processes of one job exchange before they share memory: the host of each, and the address of the
//! memory.
//!
//! Both are values of a launcher's key-value space: printable, without blanks, fields divided by `;`.
//! Invariant: a value that was parsed could have been written by some process; its numbers are in range.

use std::fs;

use mpi_fabric::host;

/// First field of both values; another one means another release of the library.
const FORMAT: &str = "f1";
/// Most ancestors in a value.
const ANCESTORS: usize = 16;
/// Longest list of cores in a value, in bytes; a longer one is replaced by its first and last core.
const CORES_BYTES: usize = 256;
/// The same of several processes together, whose text is put in parts.
const JOINT_CORES_BYTES: usize = 4096;

/// The host of a process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostInfo {
    /// The host's name, for messages.
    pub host: String,
    /// The boot id: it identifies this run of the kernel.
    pub boot: String,
    /// The space of process ids.
    pub namespace: String,
    /// Cores it may run on, as ranges, both ends included.
    pub cores: Vec<(u32, u32)>,
    /// Its parent, the parent's parent and so on.
    pub ancestors: Vec<u32>,
}

/// The place where the job memory is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobAddress {
    /// Process id.
    pub pid: u32,
    /// Start time of that process, in the unit of the kernel: a later process with the same id has another one.
    pub started: u64,
    /// Its descriptor of the memory.
    pub fd: i32,
    /// The job's number.
    pub job_id: u64,
}

impl HostInfo {
    /// That of this process.
    pub fn own() -> HostInfo {
        let file = |name: &str| fs::read_to_string(name).unwrap_or_default();
        let link = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        HostInfo {
            host: plain(&host::name()),
            boot: plain(file("/proc/sys/kernel/random/boot_id").trim()),
            namespace: plain(&link.to_string_lossy()),
            cores: ranges(&host::allowed_cores()),
            ancestors: ancestors(),
        }
    }

    /// Whether processes with these two can see each other, and so may share memory.
    pub fn is_same_as(&self, other: &HostInfo) -> bool {
        self.boot == other.boot && self.namespace == other.namespace
    }

    /// Whether two processes run on one machine and cannot see each other.
    pub fn is_apart_from(&self, other: &HostInfo) -> bool {
        self.boot == other.boot && self.namespace != other.namespace
    }

    /// Adds what another process of this host has put: all cores of both, and the ancestors that they have in common.
    #[cold]
    pub fn join(&mut self, other: &HostInfo) {
        self.cores.extend(&other.cores);
        self.cores.sort_unstable();
        let mut joint: Vec<(u32, u32)> = Vec::new();
        for (first, last) in self.cores.drain(..) {
            match joint.last_mut() {
                Some((_, end)) if first <= *end + 1 => *end = last.max(*end),
                _ => joint.push((first, last)),
            }
        }
        self.cores = joint;
        self.ancestors.retain(|pid| other.ancestors.contains(pid));
    }

    /// As a value.
    pub fn to_value(&self) -> String {
        self.text(CORES_BYTES)
    }

    /// As a text that stands for several processes.
    pub fn to_joint_value(&self) -> String {
        self.text(JOINT_CORES_BYTES)
    }

    #[cold]
    fn text(&self, cores_bytes: usize) -> String {
        let range = |(first, last): &(u32, u32)| format!("{first}-{last}");
        let mut cores = joined(self.cores.iter().map(range));
        if cores.len() > cores_bytes {
            cores = format!("{}-{}", self.cores[0].0, self.cores[self.cores.len() - 1].1);
        }
        let ancestors = joined(self.ancestors.iter().map(u32::to_string));
        let fields = [FORMAT, &self.host, &self.boot, &self.namespace, &cores, &ancestors];
        fields.join(";")
    }

    /// Reads a value; `None` if no process of this release wrote it.
    #[cold]
    pub fn parse(value: &str) -> Option<HostInfo> {
        let [host, boot, namespace, cores, ancestors] = fields(value)?;
        if [host, boot, namespace].iter().any(|text| plain(text) != **text) {
            return None;
        }
        let range = |text: &str| {
            let (first, last) = text.split_once('-')?;
            Some((number::<u32>(first)?, number(last)?)).filter(|(first, last)| first <= last && *last < 1 << 16)
        };
        Some(HostInfo {
            host: host.to_owned(),
            boot: boot.to_owned(),
            namespace: namespace.to_owned(),
            cores: list(cores, range)?,
            ancestors: list(ancestors, number)?,
        })
    }
}

impl JobAddress {
    /// That of memory that is open in this process as `fd`; `None` where `/proc` cannot be read.
    pub fn own(fd: i32, job_id: u64) -> Option<JobAddress> {
        let pid = std::process::id();
        Some(JobAddress { pid, started: started(pid)?, fd, job_id })
    }

    /// As a value.
    pub fn to_value(&self) -> String {
        format!("{FORMAT};{};{};{};{:016x}", self.pid, self.started, self.fd, self.job_id)
    }

    /// Reads a value; `None` if no process of this release wrote it.
    pub fn parse(value: &str) -> Option<JobAddress> {
        let [pid, started, fd, id] = fields(value)?;
        let job_id = Some(id).filter(|id| id.len() == 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit()));
        Some(JobAddress {
            pid: number(pid).filter(|pid| *pid > 0)?,
            started: number(started)?,
            fd: number(fd)?,
            job_id: u64::from_str_radix(job_id?, 16).ok()?,
        })
    }
}

/// [`host::access_key`] as a value.
pub fn access_class() -> String {
    format!("{:016x}", host::access_key())
}

/// Start time of a process; `None` if there is none.
pub fn started(pid: u32) -> Option<u64> {
    stat(pid)?.nth(19)?.parse().ok()
}

/// Process ids of the parent, its parent and so on.
pub fn ancestors() -> Vec<u32> {
    let above = |pid: &u32| stat(*pid)?.nth(1)?.parse().ok().filter(|pid| *pid > 0);
    std::iter::successors(above(&std::process::id()), above).take(ANCESTORS).collect()
}

/// The words of a process's `stat` behind its name: the state (field 3 in proc(5)), the parent, and so on.
fn stat(pid: u32) -> Option<std::vec::IntoIter<String>> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name may have blanks and parentheses itself.
    let (_, rest) = text.rsplit_once(") ")?;
    Some(rest.split_whitespace().map(str::to_owned).collect::<Vec<_>>().into_iter())
}

/// The ranges of neighbouring numbers in an ascending list.
fn ranges(numbers: &[u32]) -> Vec<(u32, u32)> {
    let mut ranges: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == *number => *last = *number,
            _ => ranges.push((*number, *number)),
        }
    }
    ranges
}

/// A text in which every character other than a plain letter, digit or mark has become a `_`.
fn plain(text: &str) -> String {
    let keep = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_' | ':');
    text.chars().take(64).map(|letter| if keep(letter) { letter } else { '_' }).collect()
}

fn joined(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(",")
}

/// The fields of a value behind its format.
fn fields<const N: usize>(value: &str) -> Option<[&str; N]> {
    let fields: Vec<&str> = value.strip_prefix(FORMAT)?.strip_prefix(';')?.split(';').collect();
    fields.try_into().ok()
}

fn list<T>(text: &str, parse: impl Fn(&str) -> Option<T>) -> Option<Vec<T>> {
    if text.is_empty() { Some(Vec::new()) } else { text.split(',').map(parse).collect() }
}

/// Digits as a number.
fn number<T: std::str::FromStr>(text: &str) -> Option<T> {
    Some(text).filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn values_are_read_as_they_were_written() {
        let info = HostInfo::own();
        assert_eq!(HostInfo::parse(&info.to_value()), Some(info.clone()));
        assert!(!info.cores.is_empty() && info.ancestors.contains(&std::os::unix::process::parent_id()), "{info:?}");
        let address = JobAddress::own(7, 0xabc).unwrap();
        assert_eq!(JobAddress::parse(&address.to_value()), Some(address));
        let none = HostInfo { cores: vec![], ancestors: vec![], ..info };
        assert_eq!(HostInfo::parse(&none.to_value()), Some(none));
    }

    #[test]
    fn a_long_list_of_cores_is_replaced_by_its_ends() {
        let cores = (0..400).map(|core| (2 * core, 2 * core)).collect();
        let info = HostInfo { cores, ..HostInfo::own() };
        assert_eq!(HostInfo::parse(&info.to_value()).unwrap().cores, [(0, 798)]);
    }

    #[test]
    fn processes_of_a_host_have_all_cores_of_both_and_the_ancestors_of_each() {
        let of = |cores: &[(u32, u32)], ancestors: &[u32]| HostInfo {
            cores: cores.to_vec(),
            ancestors: ancestors.to_vec(),
            ..HostInfo::own()
        };
        let mut one = of(&[(0, 1), (6, 9)], &[50, 7, 1]);
        one.join(&of(&[(2, 3), (8, 12), (20, 20)], &[60, 7, 1]));
        assert_eq!((&one.cores, &one.ancestors), (&vec![(0, 3), (6, 12), (20, 20)], &vec![7, 1]));
        one.join(&of(&[], &[]));
        assert_eq!((one.cores.len(), one.ancestors.len()), (3, 0));
        let scattered = of(&(0..100).map(|core| (2 * core, 2 * core)).collect::<Vec<_>>(), &[]);
        assert_eq!(HostInfo::parse(&scattered.to_joint_value()).unwrap().cores.len(), 100);
        assert_eq!(HostInfo::parse(&scattered.to_value()).unwrap().cores, [(0, 198)]);
    }

    #[test]
    fn numbers_side_by_side_are_a_range() {
        assert_eq!(ranges(&[]), []);
        assert_eq!(ranges(&[0, 1, 2, 5, 7, 8]), [(0, 2), (5, 5), (7, 8)]);
    }

    #[test]
    fn other_values_are_refused() {
        for value in [
            "",
            "f1",
            "f1;",
            "f2;1;2;3;00000000000000ff",
            "f1;0;2;3;00000000000000ff",
            "f1;1;2;-3;00000000000000ff",
            "f1;1;2;3;+0000000000000ff",
            "f1;1;2;3;ff",
            "f1;1;2;3;00000000000000ff;",
        ] {
            assert_eq!(JobAddress::parse(value), None, "{value}");
        }
        for value in
            ["f1;h;b;n;0-1", "f1;h;b;n;1-0;1", "f1;h;b;n;0;1", "f1;h;b;n;0-99999;1", "f1;h;b;n;;1,", "f1;h h;b;n;;"]
        {
            assert_eq!(HostInfo::parse(value), None, "{value}");
        }
    }

    #[test]
    fn processes_have_a_start() {
        assert_eq!(started(std::process::id()), started(std::process::id()));
        assert!(started(std::process::id()).is_some() && started(u32::MAX).is_none());
    }

    #[test]
    fn a_class_is_a_short_value() {
        let class = access_class();
        assert_eq!(class, access_class());
        assert!(class.len() == 16 && class.bytes().all(|byte| byte.is_ascii_hexdigit()), "{class}");
    }

    proptest! {
        #[test]
        fn any_value_is_refused_or_could_have_been_written(value in "(f1)?[;0-9a-f,-]{0,60}") {
            if let Some(info) = HostInfo::parse(&value) {
                prop_assert_eq!(HostInfo::parse(&info.to_value()).unwrap().ancestors, info.ancestors);
            }
            if let Some(address) = JobAddress::parse(&value) {
                prop_assert_eq!(JobAddress::parse(&address.to_value()), Some(address));
            }
        }
    }
}
