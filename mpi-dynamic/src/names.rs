//! Published names (MPI-5.0, 11.9.4): which port belongs to which name of a service, for all jobs of a user on a host.
//!
//! A published name is a file in memory that its process keeps open: `/proc/<pid>/fd` of the user's processes shows it.
//! So there is no server, no name in a file system and no socket that another user could take; a name disappears with
//! its process. A name that other hosts find has a file too (`names_folder`), made while its record is claimed.
//!
//! Two processes that publish one name at the same time agree: each first adds a record in the state [`CLAIMED`], and
//! then looks at all others. It withdraws if one of them is published, or claimed by a process with a smaller id; it
//! waits for the end of a claim of a process with a larger id. Of two claims at most one looks before the other exists;
//! the other sees that one, and either withdraws or waits for it. So at most one record is published.
//!
//! Invariant: a record under the process id that it contains counts, any other is that of a forked process. Records of
//! other processes are input.
#![allow(unsafe_code)] // creates a file in memory

use std::collections::HashMap;
use std::ffi::CString;
use std::fs::{self, File};
use std::io;
use std::os::fd::FromRawFd;
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use mpi_core::abi::{MPI_ERR_NAME, MPI_ERR_NO_MEM, MPI_ERR_OTHER, MPI_ERR_SERVICE};
use mpi_errors::{Error, Result};

use crate::names_folder::{self, LONGEST, SharedRecord, quoted};
use crate::user::user;

const MAGIC: [u8; 8] = *b"FERRUMNM";
const CLAIMED: u32 = 1;
const PUBLISHED: u32 = 2;
/// Magic, process id, state, lengths of the two texts.
const HEAD_BYTES: usize = 8 + 4 * 4;
/// Offset of the state.
const STATE_AT: u64 = 12;
/// How long the end of another process's claim is waited for.
const CLAIM_LIMIT: Duration = Duration::from_secs(5);

/// The names that this process has published. Thread-safe.
#[derive(Debug, Default)]
pub struct PublishedNames {
    /// By the service.
    records: Mutex<HashMap<Vec<u8>, Published>>,
}

/// A name that this process has published.
#[derive(Debug)]
struct Published {
    /// Its record. Never read: it is there for other processes.
    _record: File,
    port: Vec<u8>,
    /// Its file, if other hosts find it.
    shared: Option<SharedRecord>,
}

/// A record that was found.
struct Found {
    pid: u32,
    state: u32,
    port: Vec<u8>,
}

impl PublishedNames {
    /// Publishes a service (`MPI_Publish_name`), also in a folder that hosts share.
    /// # Errors
    /// `MPI_ERR_SERVICE`: a process has published the name, the name is empty, or a name or port is longer than 64 KiB.
    /// `MPI_ERR_NO_MEM`, `MPI_ERR_OTHER`: the system refuses, or the folder cannot be used.
    pub fn publish(&self, service: &[u8], port: &[u8], folder: Option<&Path>) -> Result<()> {
        if service.len() > LONGEST || port.len() > LONGEST {
            let most = LONGEST;
            return Err(Error::new(MPI_ERR_SERVICE, format!("names of services and ports have {most} bytes at most")));
        }
        if service.is_empty() {
            return Err(Error::new(MPI_ERR_SERVICE, "the name of a service is not empty"));
        }
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        if records.contains_key(service) {
            return Err(taken(service, std::process::id()));
        }
        // Dropped on each error: the claim ends.
        let record = claim(service, port).map_err(system)?;
        let limit = Instant::now() + CLAIM_LIMIT;
        let own = std::process::id();
        loop {
            let others = find(service).map_err(system)?.into_iter().filter(|found| found.pid != own);
            let others: Vec<Found> = others.collect();
            if let Some(other) = others.iter().find(|other| other.state == PUBLISHED || other.pid < own) {
                return Err(taken(service, other.pid));
            }
            let Some(other) = others.first() else { break };
            if Instant::now() >= limit {
                return Err(taken(service, other.pid));
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        let shared = folder.map(|folder| SharedRecord::publish(folder, service, port)).transpose()?;
        if let Err(error) = record.write_all_at(&PUBLISHED.to_ne_bytes(), STATE_AT) {
            let removed = remove_file(shared.as_ref());
            return removed.and(Err(system(error)));
        }
        records.insert(service.to_vec(), Published { _record: record, port: port.to_vec(), shared });
        Ok(())
    }

    /// Withdraws a service that this process has published with a port (`MPI_Unpublish_name`).
    /// # Errors
    /// `MPI_ERR_SERVICE`: this process has not published it, or with another port. `MPI_ERR_OTHER`: its file cannot be
    /// removed; the service stays published.
    pub fn unpublish(&self, service: &[u8], port: &[u8]) -> Result<()> {
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        let refused = |rule: String| Err(Error::new(MPI_ERR_SERVICE, rule));
        match records.get(service) {
            Some(published) if published.port == port => {
                remove_file(published.shared.as_ref())?;
                records.remove(service);
                Ok(())
            }
            Some(published) => {
                let port = quoted(&published.port);
                refused(format!("the service {} was published with the port {port}", quoted(service)))
            }
            None => refused(format!("this process has published no service {}", quoted(service))),
        }
    }

    /// Moves all names out, for a process that withdraws them while others may be published.
    pub fn take(&self) -> PublishedNames {
        let records = std::mem::take(&mut *self.records.lock().unwrap_or_else(PoisonError::into_inner));
        PublishedNames { records: Mutex::new(records) }
    }

    /// Withdraws all services.
    /// # Errors
    /// `MPI_ERR_OTHER`: a file cannot be removed; that of one of them.
    pub fn unpublish_all(self) -> Result<()> {
        let records = self.records.into_inner().unwrap_or_else(PoisonError::into_inner);
        records.into_values().fold(Ok(()), |removed, published| remove_file(published.shared.as_ref()).and(removed))
    }
}

/// The port of a service that a process of this user has published on this host, or else in a folder (`MPI_Lookup_name`).
/// # Errors
/// `MPI_ERR_NAME`: no process has. `MPI_ERR_OTHER`: the system does not list the processes, or the folder cannot be used.
pub fn look_up(service: &[u8], folder: Option<&Path>) -> Result<Vec<u8>> {
    let found = find(service).map_err(system)?;
    match (found.into_iter().find(|found| found.state == PUBLISHED), folder) {
        (Some(found), _) => Ok(found.port),
        (None, Some(folder)) => names_folder::look_up(folder, service),
        (None, None) => {
            let name = quoted(service);
            let rule = "no process of this user on this host has published a service";
            Err(Error::new(MPI_ERR_NAME, format!("{rule} {name}")))
        }
    }
}

fn remove_file(shared: Option<&SharedRecord>) -> Result<()> {
    shared.map_or(Ok(()), SharedRecord::remove)
}

fn taken(service: &[u8], pid: u32) -> Error {
    let name = quoted(service);
    Error::new(MPI_ERR_SERVICE, format!("the process {pid} has published the service {name} already"))
}

fn system(error: io::Error) -> Error {
    let class = match error.raw_os_error() {
        Some(libc::ENOMEM | libc::EMFILE | libc::ENFILE) => MPI_ERR_NO_MEM,
        _ => MPI_ERR_OTHER,
    };
    Error::new(class, format!("published names cannot be used: {error}"))
}

/// The name of the file of a record, as `/proc` shows it. Different services may have one.
fn file_name(service: &[u8]) -> String {
    // FNV-1a of 64 bits: all builds of the library need the same function.
    let hash = service
        .iter()
        .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3));
    format!("ferrum-name-{hash:016x}")
}

/// Adds a record in the state [`CLAIMED`].
fn claim(service: &[u8], port: &[u8]) -> io::Result<File> {
    let name = CString::new(file_name(service)).expect("the name has no NUL");
    // SAFETY: a C string; the descriptor is ours alone.
    let file = unsafe {
        match libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) {
            fd if fd < 0 => return Err(io::Error::last_os_error()),
            fd => File::from_raw_fd(fd),
        }
    };
    let numbers = [std::process::id(), CLAIMED, service.len() as u32, port.len() as u32];
    let mut bytes = MAGIC.to_vec();
    numbers.iter().for_each(|number| bytes.extend(number.to_ne_bytes()));
    bytes.extend(service);
    bytes.extend(port);
    file.write_all_at(&bytes, 0)?;
    Ok(file)
}

/// The records of a service, in no order.
fn find(service: &[u8]) -> io::Result<Vec<Found>> {
    let name = file_name(service);
    let mut found = Vec::new();
    for process in fs::read_dir("/proc")?.flatten() {
        let Some(pid) = process.file_name().to_str().and_then(|text| text.parse::<u32>().ok()) else { continue };
        // Processes of others, and those that end meanwhile, cannot be read.
        let Ok(descriptors) = fs::read_dir(process.path().join("fd")) else { continue };
        let shows = |path: &Path| {
            fs::read_link(path).is_ok_and(|link| {
                let text = link.to_string_lossy();
                text.strip_prefix("/memfd:").is_some_and(|rest| rest.strip_prefix(&name).is_some_and(ends_name))
            })
        };
        let records = descriptors.flatten().map(|entry| entry.path()).filter(|path| shows(path));
        found.extend(records.filter_map(|path| read(&path, pid, service)));
    }
    Ok(found)
}

/// Whether a link's text ends behind the name of a file in memory.
fn ends_name(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with(' ')
}

/// The record in a file, if it is one of this process and service.
fn read(path: &Path, pid: u32, service: &[u8]) -> Option<Found> {
    // Without waiting: the descriptor may be another file by now.
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path).ok()?;
    let mut head = [0u8; HEAD_BYTES];
    if !file.metadata().is_ok_and(|facts| facts.is_file() && facts.uid() == user()) {
        return None;
    }
    file.read_exact_at(&mut head, 0).ok()?;
    let number = |i: usize| u32::from_ne_bytes(std::array::from_fn(|byte| head[8 + 4 * i + byte]));
    let [owner, state, service_bytes, port_bytes] = [0, 1, 2, 3].map(number);
    let known = head[..8] == MAGIC && owner == pid && (state == CLAIMED || state == PUBLISHED);
    if !known || service_bytes as usize != service.len() || port_bytes as usize > LONGEST {
        return None;
    }
    let mut texts = vec![0; service.len() + port_bytes as usize];
    file.read_exact_at(&mut texts, HEAD_BYTES as u64).ok()?;
    let port = texts.split_off(service.len());
    (texts == service).then_some(Found { pid, state, port })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufRead, BufReader};
    use std::process::{Child, Command, Stdio};

    /// A name that no other test or run uses.
    fn unique(text: &str) -> Vec<u8> {
        format!("{text} {}", std::process::id()).into_bytes()
    }

    #[test]
    fn a_published_name_is_found_until_it_is_withdrawn() {
        let (names, service) = (PublishedNames::default(), unique("found"));
        assert_eq!(look_up(&service, None).unwrap_err().class(), MPI_ERR_NAME);
        names.publish(&service, b"a port", None).unwrap();
        assert_eq!(look_up(&service, None).unwrap(), b"a port");
        assert_eq!(names.publish(&service, b"other", None).unwrap_err().class(), MPI_ERR_SERVICE);
        assert_eq!(names.unpublish(&service, b"other").unwrap_err().class(), MPI_ERR_SERVICE);
        assert_eq!(look_up(&service, None).unwrap(), b"a port");
        names.unpublish(&service, b"a port").unwrap();
        assert_eq!(look_up(&service, None).unwrap_err().class(), MPI_ERR_NAME);
        assert_eq!(names.unpublish(&service, b"a port").unwrap_err().class(), MPI_ERR_SERVICE);
        names.publish(&service, b"again", None).unwrap();
        assert_eq!(look_up(&service, None).unwrap(), b"again");
    }

    #[test]
    fn names_and_ports_hold_any_bytes_up_to_their_limit() {
        let names = PublishedNames::default();
        let mut service = unique("long");
        service.resize(LONGEST, b'\xff');
        names.publish(&service, &vec![b'p'; LONGEST], None).unwrap();
        assert_eq!(look_up(&service, None).unwrap().len(), LONGEST);
        assert_eq!(names.publish(b"", b"p", None).unwrap_err().class(), MPI_ERR_SERVICE);
        service.push(0);
        assert_eq!(names.publish(&service, b"p", None).unwrap_err().class(), MPI_ERR_SERVICE);
    }

    #[test]
    fn a_record_of_a_forked_process_does_not_count() {
        let (names, service) = (PublishedNames::default(), unique("forked"));
        names.publish(&service, b"p", None).unwrap();
        // A record that another process has inherited names the process that published it.
        let records = names.records.lock().unwrap();
        let descriptor = format!("/proc/self/fd/{}", std::os::fd::AsRawFd::as_raw_fd(&records[&service]._record));
        assert!(read(Path::new(&descriptor), std::process::id(), &service).is_some());
        assert!(read(Path::new(&descriptor), std::process::id() + 1, &service).is_none());
    }

    #[test]
    fn damaged_records_are_ignored() {
        let (names, service) = (PublishedNames::default(), unique("damaged"));
        names.publish(&service, b"port", None).unwrap();
        let records = names.records.lock().unwrap();
        let record = &records[&service]._record;
        let whole = HEAD_BYTES + service.len() + 4;
        for at in [0, 8, 12, 16, 20] {
            let mut before = [0; 4];
            record.read_exact_at(&mut before, at).unwrap();
            record.write_all_at(&u32::MAX.to_ne_bytes(), at).unwrap();
            assert!(look_up(&service, None).is_err(), "changed at {at}");
            record.write_all_at(&before, at).unwrap();
        }
        for bytes in 0..whole {
            record.set_len(bytes as u64).unwrap();
            assert!(look_up(&service, None).is_err(), "{bytes} bytes");
        }
    }

    const SERVICE_OF_TEST: &str = "MPI_DYNAMIC_TEST_SERVICE";

    #[test]
    #[ignore = "what the processes of the next test do"]
    fn publish_for_another_test() {
        let Some(service) = std::env::var_os(SERVICE_OF_TEST) else { return };
        let names = PublishedNames::default();
        let published = names.publish(service.as_encoded_bytes(), b"p", None).is_ok();
        println!("published: {published}");
        // The record stays until all have tried.
        let _ = io::stdin().read_line(&mut String::new());
    }

    #[test]
    fn one_of_many_processes_publishes_a_name() {
        let service = String::from_utf8(unique("race")).unwrap();
        let start = |_| {
            let mut command = Command::new(std::env::current_exe().unwrap());
            command.args(["--ignored", "--exact", "names::tests::publish_for_another_test", "--nocapture"]);
            command.env(SERVICE_OF_TEST, &service).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap()
        };
        let mut children: Vec<_> = (0..8).map(start).collect();
        let result = |child: &mut Child| {
            let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
            let line = lines.find(|line| line.contains("published: ")).expect("each process prints its result");
            // With the pipe, which stays open until the process ends.
            (line.contains("true"), lines)
        };
        let results: Vec<_> = children.iter_mut().map(result).collect();
        for mut child in children {
            drop(child.stdin.take());
            child.wait().unwrap();
        }
        assert_eq!(results.iter().filter(|(published, _)| *published).count(), 1);
    }
}
