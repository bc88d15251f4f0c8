//! The hosts of a job: `-host`, `-hostfile`, and how ranks are distributed over them.
//!
//! Invariant: a parsed list has at least one host, and each host has at least one slot.
//! Not here: whether hosts exist, and which rank comes to which (`mpiexec::over_hosts`).

use std::ffi::{OsStr, OsString};

use mpi_fabric::layout::MAX_HOST_RANKS;

/// A host, and how many ranks it takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostEntry {
    /// Its name or address.
    pub name: String,
    /// Number of ranks for which it has room; `None` if not given.
    pub slots: Option<u32>,
}

/// The hosts that a file lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostFile {
    /// The file, as given.
    pub file: OsString,
    /// In the order of the file.
    pub hosts: Vec<HostEntry>,
}

/// How ranks are distributed over hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MapBy {
    /// One after the other on each host, as long as it has slots.
    Slot,
    /// One rank on each host in turn.
    Node,
    /// So many ranks on each host, one after the other.
    PerNode(u32),
}

const HOST: &str =
    "names of hosts, divided by commas, each with its number of ranks behind a colon if it has one (a,b:4)";

/// `a,b:4`.
/// # Errors
/// A phrase for what it has to be.
pub(super) fn list(value: &OsStr) -> Result<Vec<HostEntry>, String> {
    let text = value.to_str().ok_or_else(|| HOST.to_owned())?;
    text.split(',').map(|item| entry(item.trim())).collect()
}

/// The hosts of a value of `-host` that the parser has accepted.
pub fn hosts_of(value: &OsStr) -> Vec<HostEntry> {
    list(value).unwrap_or_default()
}

/// `name` or `name:slots`. An address of IPv6 with slots is in brackets.
fn entry(text: &str) -> Result<HostEntry, String> {
    let (name, slots) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, "")) => (address, None),
        Some((address, rest)) => (address, Some(rest.strip_prefix(':').ok_or(HOST)?)),
        None => match text.split_once(':') {
            // Several colons are those of an address.
            Some((name, slots)) if !slots.contains(':') => (name, Some(slots)),
            _ => (text, None),
        },
    };
    let slots = slots.map(|slots| self::slots(slots).ok_or_else(|| HOST.to_owned())).transpose()?;
    if is_name(name) { Ok(HostEntry { name: name.into(), slots }) } else { Err(HOST.into()) }
}

/// Whether a word can be a host's name or address; it becomes a word of another launcher's command line.
fn is_name(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b':' | b'%');
    !name.is_empty() && name.len() <= 255 && !name.starts_with('-') && name.bytes().all(plain)
}

fn slots(text: &str) -> Option<u32> {
    digits(OsStr::new(text)).filter(|slots| (1..=MAX_HOST_RANKS).contains(slots))
}

/// A line of a file of hosts that is none: its number from 1, and why.
pub(super) type BadLine = (usize, String);

/// The hosts of a file: a host a line, `name`, `name:N` or `name slots=N`; `#` begins a comment.
pub(super) fn file(text: &[u8]) -> Result<Vec<HostEntry>, BadLine> {
    let mut hosts = Vec::new();
    for (i, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let bad = |why: &str| (i + 1, why.to_owned());
        let line = std::str::from_utf8(line).map_err(|_| bad("it is not text"))?;
        let mut words = line.split('#').next().unwrap_or_default().split_whitespace();
        let Some(first) = words.next() else { continue };
        let rule = |word: &str| {
            bad(&format!("{word:?}: a host is a name, with its number of ranks as NAME:N or NAME slots=N"))
        };
        let mut host = entry(first).map_err(|_| rule(first))?;
        for word in words {
            let slots = match word.split_once('=') {
                Some(("slots", value)) if host.slots.is_none() => self::slots(value),
                // Open MPI's upper limit: room is counted by slots.
                Some(("max_slots" | "max-slots", value)) if self::slots(value).is_some() => continue,
                _ => None,
            };
            host.slots = Some(slots.ok_or_else(|| rule(word))?);
        }
        hosts.push(host);
    }
    if hosts.is_empty() { Err((1, "it lists no host".into())) } else { Ok(hosts) }
}

/// A value of `--map-by`.
pub(super) fn map_by(value: &OsStr) -> Result<MapBy, String> {
    let rule = || "node, slot, core or ppr:N:node".to_owned();
    let text = value.to_str().ok_or_else(rule)?.to_ascii_lowercase();
    match &*text {
        "node" => Ok(MapBy::Node),
        "slot" | "core" => Ok(MapBy::Slot),
        other => {
            let number = other.strip_prefix("ppr:").and_then(|rest| rest.strip_suffix(":node"));
            number.and_then(slots).map(MapBy::PerNode).ok_or_else(rule)
        }
    }
}

/// A value of `-ppn`.
pub(super) fn per_node(value: &OsStr) -> Result<MapBy, String> {
    let rule = || format!("a number of ranks a host, from 1 to {MAX_HOST_RANKS}");
    value.to_str().and_then(slots).map(MapBy::PerNode).ok_or_else(rule)
}

pub(super) fn digits(value: &OsStr) -> Option<u32> {
    // Digits only: `parse` alone would accept a sign.
    let digits = value.to_str().filter(|text| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit()));
    digits.and_then(|text| text.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(name: &str, slots: Option<u32>) -> HostEntry {
        HostEntry { name: name.into(), slots }
    }

    #[test]
    fn a_list_has_names_addresses_and_slots() {
        let due = vec![host("a", None), host("b.c-1", Some(4)), host("10.0.0.1", Some(2)), host("::1", None)];
        assert_eq!(list(OsStr::new("a, b.c-1:4,10.0.0.1:2,::1")), Ok(due));
        assert_eq!(
            list(OsStr::new("[fe80::1%eth0]:3,[::1]")),
            Ok(vec![host("fe80::1%eth0", Some(3)), host("::1", None)])
        );
        for bad in ["", "a,,b", "a:0", "a:x", "a:1025", "a b", "-o", "a;b", "u@h", "[::1", "[::1]4", "$(x)"] {
            assert!(list(OsStr::new(bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_file_has_a_host_a_line() {
        let due = vec![host("a", None), host("b", Some(4)), host("c", Some(2)), host("a", None)];
        assert_eq!(file(b"# all\na\n\nb:4 # big\r\n c  slots=2 max_slots=3\na"), Ok(due));
        for (text, line) in [
            (&b""[..], 1),
            (b"# none\n", 1),
            (b"a\nb slots=x\n", 2),
            (b"a\n\nb two", 3),
            (b"a:2 slots=3", 1),
            (b"\xff", 1),
        ] {
            assert_eq!(file(text).err().map(|(line, _)| line), Some(line), "{}", String::from_utf8_lossy(text));
        }
    }

    #[test]
    fn distributions_have_names() {
        let parsed = |text: &str| map_by(OsStr::new(text)).ok();
        assert_eq!(
            (parsed("node"), parsed("Core"), parsed("slot")),
            (Some(MapBy::Node), Some(MapBy::Slot), Some(MapBy::Slot))
        );
        assert_eq!(
            (parsed("ppr:3:node"), parsed("ppr:0:node"), parsed("ppr:3:socket")),
            (Some(MapBy::PerNode(3)), None, None)
        );
        assert_eq!((per_node(OsStr::new("8")), per_node(OsStr::new("0")).is_err()), (Ok(MapBy::PerNode(8)), true));
    }
}
