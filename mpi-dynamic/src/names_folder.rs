//! Published names in a folder that several hosts share: a file for each name, with the host and the process that
//! published it.
//!
//! A file appears whole: its process writes it under another name, and links it to its own one, which fails if that
//! exists, also on NFS. The file of a process of this host that has ended does not count, and the next one to publish the
//! name replaces it; that of another host counts until it is removed. Names of files are hashes, so that lookups open one
//! file: names of services have any bytes, and NFS may show the list of a folder late.
//!
//! Invariant: of the processes of a host only one at a time publishes a name (`names` ensures this), so a file is only
//! replaced by a process that no other one of the host overtakes. Folders and files of others are input.

use std::fmt::Display;
use std::fs::{self, File};
use std::hash::Hasher;
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use mpi_core::abi::{MPI_ERR_NAME, MPI_ERR_OTHER, MPI_ERR_SERVICE};
use mpi_errors::{Error, Result};
use mpi_fabric::{host, runs, start_time};
use siphasher::sip128::{Hasher128, SipHasher24};

use crate::user::user;

/// Longest name of a service, and longest name of a port, in bytes.
pub(crate) const LONGEST: usize = 64 << 10;
/// The last byte is the version of the format.
const MAGIC: u64 = u64::from_le_bytes(*b"FERRUMN\x01");
/// Four words: magic, number of the record, key of the host, start time of the process. Then four of half the length: process id,
/// lengths of the three texts.
const HEAD_BYTES: usize = 4 * 8 + 4 * 4;
/// Longest name of a host.
const HOST_BYTES: usize = 255;

/// How often a file is made in the place of one that goes meanwhile.
const ATTEMPTS: u32 = 3;

/// A file that this process has made.
#[derive(Debug)]
pub(crate) struct SharedRecord {
    path: PathBuf,
    number: u64,
}

/// What a file contains.
#[derive(Debug)]
#[cfg_attr(test, derive(Clone, PartialEq, Eq))]
struct Contents<'a> {
    /// A random number, by which a process identifies its own file.
    number: u64,
    /// What the processes of a host have in common that see each other.
    host_key: u64,
    /// Start time of the process.
    started: u64,
    pid: u32,
    /// The name of the host, the service, the port.
    texts: [&'a [u8]; 3],
}

impl SharedRecord {
    /// Publishes a service in a folder. Of the processes of this host only one does that at a time.
    /// # Errors
    /// `MPI_ERR_SERVICE`: there is a file for the name. `MPI_ERR_OTHER`: the folder cannot be used.
    pub(crate) fn publish(folder: &Path, service: &[u8], port: &[u8]) -> Result<SharedRecord> {
        let path = folder.join(file_name(service));
        match publish_at(folder, &path, service, port) {
            Ok(Ok(number)) => Ok(SharedRecord { path, number }),
            Ok(Err(taken)) => Err(Error::new(MPI_ERR_SERVICE, taken)),
            Err(error) => Err(unusable(folder, &error)),
        }
    }

    /// Removes the file, if it is still that of this process.
    /// # Errors
    /// `MPI_ERR_OTHER`: the system refuses.
    pub(crate) fn remove(&self) -> Result<()> {
        let removed = read(&self.path).and_then(|bytes| match Contents::parse(&bytes) {
            Some(found) if found.number == self.number => take_out(&self.path, self.number),
            _ => Ok(()),
        });
        removed.map_err(|error| unusable(&self.path, &error))
    }
}

/// The port of a service that is published in a folder.
/// # Errors
/// `MPI_ERR_NAME`: it is not. `MPI_ERR_OTHER`: the folder cannot be used.
pub(crate) fn look_up(folder: &Path, service: &[u8]) -> Result<Vec<u8>> {
    let bytes = check(folder).and_then(|()| read(&folder.join(file_name(service))));
    let bytes = bytes.map_err(|error| unusable(folder, &error))?;
    match Contents::of(service, &bytes) {
        Some(found) if !found.has_ended() => Ok(found.texts[2].to_vec()),
        _ => {
            let (name, folder) = (quoted(service), folder.display());
            let rule = format!("no process of this user has published a service {name} on this host or in {folder}");
            Err(Error::new(MPI_ERR_NAME, rule))
        }
    }
}

/// Makes the file; returns the number of its record, or the sentence that another one has the name.
fn publish_at(folder: &Path, path: &Path, service: &[u8], port: &[u8]) -> io::Result<Result<u64, String>> {
    check(folder)?;
    let [number] = host::random_words()?;
    let (host, pid) = (host::name(), std::process::id());
    let host = &host.as_bytes()[..host.len().min(HOST_BYTES)];
    let started = start_time(pid).ok_or_else(|| io::Error::other("/proc does not show this process"))?;
    let own = Contents { number, host_key: host::key(), started, pid, texts: [host, service, port] }.to_bytes();
    let found = place(path, service, &mut || create(path, number, &own))?;
    Ok(found.map_or(Ok(number), |bytes| {
        let (name, file) = (quoted(service), path.display());
        let by = match Contents::of(service, &bytes) {
            Some(Contents { pid, texts: [host, ..], .. }) => {
                format!("process {pid} on host {}", String::from_utf8_lossy(host))
            }
            None => "something else".into(),
        };
        Err(format!("{by} has the file {file} of the service {name}; if that has ended, remove the file"))
    }))
}

/// Makes a file by `create`, which returns whether there was none, also in the place of one whose process has ended or that is
/// removed meanwhile. Returns what is in the file of another one that has the name.
fn place(path: &Path, service: &[u8], create: &mut dyn FnMut() -> io::Result<bool>) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    for _ in 0..ATTEMPTS {
        if create()? {
            return Ok(None);
        }
        bytes = read(path)?;
        match Contents::of(service, &bytes).filter(Contents::has_ended).map(|ended| ended.number) {
            Some(ended) => {
                take_out(path, ended)?;
                bytes.clear();
            }
            // Removed meanwhile, or no file.
            None if bytes.is_empty() => {}
            None => break,
        }
    }
    Ok(Some(bytes))
}

/// Refuses a folder in which others can make files.
fn check(folder: &Path) -> io::Result<()> {
    if !folder.is_absolute() {
        return Err(io::Error::other("its path has to be absolute"));
    }
    let facts = fs::metadata(folder)?;
    let why = if !facts.is_dir() {
        "it is no folder"
    } else if facts.uid() != user() {
        "it belongs to another user"
    } else if facts.mode() & 0o022 != 0 {
        "others than its owner may write into it (chmod go-w)"
    } else {
        return Ok(());
    };
    Err(io::Error::other(why))
}

#[cold]
fn unusable(path: &Path, why: &dyn Display) -> Error {
    Error::new(
        MPI_ERR_OTHER,
        format!("the folder {path:?} cannot be used for published names (net_names_folder): {why}"),
    )
}

pub(crate) fn quoted(service: &[u8]) -> String {
    format!("{:?}", String::from_utf8_lossy(service))
}

/// Removes the file of the record with this number, and no other one that has taken its place meanwhile: what is removed was
/// moved before. Another one gets its name back, and is not found for that moment, in which a further process may get the name.
fn take_out(path: &Path, number: u64) -> io::Result<()> {
    let [word] = host::random_words()?;
    let moved = path.with_extension(format!("{word:016x}"));
    if let Err(error) = fs::rename(path, &moved) {
        return if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) };
    }
    let is_it = read(&moved).is_ok_and(|bytes| Contents::parse(&bytes).is_some_and(|found| found.number == number));
    if !is_it
        && let Err(error) = fs::hard_link(&moved, path)
        && error.kind() != io::ErrorKind::AlreadyExists
    {
        return Err(error);
    }
    // Its name is random, so a file that cannot be removed blocks no later publish.
    let _ = fs::remove_file(&moved);
    Ok(())
}

fn file_name(service: &[u8]) -> String {
    // Without a secret: all processes need the same function.
    let mut hasher = SipHasher24::new();
    hasher.write(service);
    format!("ferrum-name-{:032x}", hasher.finish128().as_u128())
}

/// Makes a file with these bytes, if there is none; returns whether it did.
fn create(path: &Path, number: u64, bytes: &[u8]) -> io::Result<bool> {
    let new = path.with_extension(format!("{number:016x}"));
    let made = (|| {
        let mut file = File::options().write(true).create_new(true).mode(0o600).open(&new)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        match fs::hard_link(&new, path) {
            Ok(()) => Ok(true),
            // The answer of a server may be lost, and the repeated request fails then.
            Err(_) if file.metadata()?.nlink() == 2 => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    })();
    // Its name is random, so a file that cannot be removed blocks no later publish.
    let _ = fs::remove_file(&new);
    made
}

/// Whether a file with the same bytes is written for the record that these bytes are; `None` if they are none.
pub(crate) fn is_written_as_read(bytes: &[u8]) -> Option<bool> {
    Contents::parse(bytes).map(|found| found.to_bytes() == bytes)
}

/// What is in a file of this user; nothing if there is none.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // Without following a link, and without waiting for what is no file.
    let file = match File::options().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path) {
        Ok(file) => file,
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ELOOP)) => return Ok(bytes),
        Err(error) => return Err(error),
    };
    let facts = file.metadata()?;
    if facts.is_file() && facts.uid() == user() {
        let most = HEAD_BYTES + HOST_BYTES + 2 * LONGEST;
        file.take(most as u64 + 1).read_to_end(&mut bytes)?;
    }
    Ok(bytes)
}

impl<'a> Contents<'a> {
    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        [MAGIC, self.number, self.host_key, self.started].iter().for_each(|word| bytes.extend(word.to_le_bytes()));
        let [host, service, port] = self.texts.map(|text| text.len() as u32);
        [self.pid, host, service, port].iter().for_each(|half| bytes.extend(half.to_le_bytes()));
        self.texts.iter().for_each(|text| bytes.extend_from_slice(text));
        bytes
    }

    /// `None` unless these are all bytes of a record.
    fn parse(bytes: &'a [u8]) -> Option<Contents<'a>> {
        let (head, texts) = bytes.split_at_checked(HEAD_BYTES)?;
        let word = |i: usize| u64::from_le_bytes(std::array::from_fn(|byte| head[8 * i + byte]));
        let half = |i: usize| u32::from_le_bytes(std::array::from_fn(|byte| head[32 + 4 * i + byte]));
        let [host, service, port] = [half(1), half(2), half(3)].map(|length| length as usize);
        let all = host <= HOST_BYTES && service <= LONGEST && port <= LONGEST && host + service + port == texts.len();
        if word(0) != MAGIC || !all {
            return None;
        }
        let texts = [&texts[..host], &texts[host..host + service], &texts[host + service..]];
        Some(Contents { number: word(1), host_key: word(2), started: word(3), pid: half(0), texts })
    }

    /// The record in these bytes, if it is one of this service.
    fn of(service: &[u8], bytes: &'a [u8]) -> Option<Contents<'a>> {
        Contents::parse(bytes).filter(|found| found.texts[1] == service)
    }

    /// Whether the process is one of this host and has ended.
    fn has_ended(&self) -> bool {
        self.host_key == host::key() && self.has_ended_if_shown(start_time(self.pid))
    }

    /// The same for a process of this host, with the start time that the system shows for its id. A process that runs may be one
    /// whose start time cannot be read, and one that has ended is shown until its exit status is collected.
    fn has_ended_if_shown(&self, started: Option<u64>) -> bool {
        started.is_some_and(|started| started != self.started) || !runs(self.pid)
    }
}

#[cfg(test)]
mod tests;
