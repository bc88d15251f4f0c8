//! Published names in a folder that several hosts share: a file for each name, with the host and the process that
//! published it.
//!
//! A file appears whole: its process writes it under another name, and links it to its own one, which fails if that
//! exists, also on NFS. The file of a process of this host that has ended does not count, and the next one to publish the
//! name replaces it; that of another host counts until it is removed. Names of files are hashes, so that lookups open one
//! file: names of services have any bytes, and NFS may show the list of a folder late.
//!
//! Invariant: of the processes of a host only one at a time publishes a name (`names` sees to that), so a file is only
//! replaced by a process that no other one of the host overtakes. Folders and files of others are input.
#![allow(unsafe_code)] // the user of this process, and whether another one exists

use std::fs::{self, File};
use std::hash::Hasher;
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use mpi_core::abi::{MPI_ERR_NAME, MPI_ERR_OTHER, MPI_ERR_SERVICE};
use mpi_errors::{Error, Result};
use mpi_fabric::host;
use siphasher::sip128::{Hasher128, SipHasher};

use crate::names::{LONGEST, quoted};

/// The last byte is the version of the format.
const MAGIC: [u8; 8] = *b"FERRUMN\x01";
/// Magic; number of the record, key of the host, start time of the process; process id, lengths of the three texts.
const HEAD_BYTES: usize = 8 + 3 * 8 + 4 * 4;
/// Longest name of a host.
const HOST_BYTES: usize = 255;

/// A file that this process has made.
#[derive(Debug)]
pub(crate) struct SharedRecord {
    path: PathBuf,
    number: u64,
}

/// What a file contains.
#[derive(Debug, PartialEq, Eq)]
struct Contents {
    /// A random number, by which a process knows its own file.
    number: u64,
    /// What the processes of a host have in common that see each other.
    host_key: u64,
    /// Start time of the process.
    started: u64,
    pid: u32,
    host: Vec<u8>,
    service: Vec<u8>,
    port: Vec<u8>,
}

impl SharedRecord {
    /// Publishes a service in a folder. Of the processes of this host only one does that at a time.
    /// # Errors
    /// `MPI_ERR_SERVICE`: there is a file for the name. `MPI_ERR_OTHER`: the folder cannot be used.
    pub(crate) fn publish(folder: &Path, service: &[u8], port: &[u8]) -> Result<SharedRecord> {
        check(folder)?;
        let path = folder.join(file_name(service));
        let own = Contents::of_this_process(service, port).map_err(|error| refused(folder, &error))?;
        // The second time without the file of a process that has ended.
        for _ in 0..2 {
            if create(&path, own.number, &own.to_bytes()).map_err(|error| refused(folder, &error))? {
                return Ok(SharedRecord { path, number: own.number });
            }
            match read(&path).map_err(|error| refused(folder, &error))? {
                Some(other) if other.service == service && other.has_ended() => {
                    fs::remove_file(&path).or_else(unless_gone).map_err(|error| refused(folder, &error))?;
                }
                Some(other) if other.service == service => return Err(other.taken(&path)),
                Some(_) => return Err(no_record(&path)),
                // It was removed meanwhile, or is no record.
                None if path.symlink_metadata().is_ok() => return Err(no_record(&path)),
                None => (),
            }
        }
        Err(Error::new(MPI_ERR_SERVICE, format!("others publish and withdraw the service {} now", quoted(service))))
    }

    /// Removes the file, if it is still that of this process.
    /// # Errors
    /// `MPI_ERR_OTHER`: the system refuses.
    pub(crate) fn remove(self) -> Result<()> {
        let removed = read(&self.path).and_then(|found| match found {
            Some(found) if found.number == self.number => fs::remove_file(&self.path).or_else(unless_gone),
            _ => Ok(()),
        });
        removed.map_err(|error| {
            let path = self.path.display();
            Error::new(MPI_ERR_OTHER, format!("the file {path} of a published name cannot be removed: {error}"))
        })
    }
}

/// The port of a service that is published in a folder.
/// # Errors
/// `MPI_ERR_NAME`: it is not. `MPI_ERR_OTHER`: the folder cannot be used.
pub(crate) fn look_up(folder: &Path, service: &[u8]) -> Result<Vec<u8>> {
    check(folder)?;
    let found = read(&folder.join(file_name(service))).map_err(|error| refused(folder, &error))?;
    let found = found.filter(|found| found.service == service && !found.has_ended());
    found.map(|found| found.port).ok_or_else(|| {
        let (name, folder) = (quoted(service), folder.display());
        let rule = "no process of this user has published a service";
        Error::new(MPI_ERR_NAME, format!("{rule} {name} on this host, or in the folder {folder} (net_names_folder)"))
    })
}

/// Refuses a folder in which others can make files.
fn check(folder: &Path) -> Result<()> {
    if !folder.is_absolute() {
        return Err(unusable(folder, "its path has to be absolute"));
    }
    let facts = fs::metadata(folder).map_err(|error| refused(folder, &error))?;
    if !facts.is_dir() {
        return Err(unusable(folder, "it is no folder"));
    }
    if facts.uid() != user() {
        return Err(unusable(folder, "it belongs to another user"));
    }
    if facts.mode() & 0o022 != 0 {
        return Err(unusable(folder, "others than its owner may write into it (chmod go-w)"));
    }
    Ok(())
}

fn refused(folder: &Path, error: &io::Error) -> Error {
    unusable(folder, &error.to_string())
}

#[cold]
fn unusable(folder: &Path, why: &str) -> Error {
    let folder = folder.display();
    Error::new(
        MPI_ERR_OTHER,
        format!("the folder {folder} of published names (net_names_folder) cannot be used: {why}"),
    )
}

#[cold]
fn no_record(path: &Path) -> Error {
    let path = path.display();
    Error::new(MPI_ERR_SERVICE, format!("the file {path} of the name is there and is none of this service: remove it"))
}

fn unless_gone(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) }
}

fn user() -> u32 {
    // SAFETY: no memory is passed.
    unsafe { libc::geteuid() }
}

fn file_name(service: &[u8]) -> String {
    // Without a key: all processes need the same function.
    let mut hasher = SipHasher::new();
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
            Err(_) if fs::metadata(&new)?.nlink() == 2 => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        }
    })();
    // Its name is random, so a file that cannot be removed hinders nobody.
    let _ = fs::remove_file(&new);
    made
}

/// The contents of a file; `None` if there is none, or it is no record of this user.
fn read(path: &Path) -> io::Result<Option<Contents>> {
    // Without following a link, and without waiting for what is no file.
    let file = File::options().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(path);
    let file = match file {
        Ok(file) => file,
        Err(error) if matches!(error.raw_os_error(), Some(libc::ENOENT | libc::ELOOP)) => return Ok(None),
        Err(error) => return Err(error),
    };
    let facts = file.metadata()?;
    if !facts.is_file() || facts.uid() != user() {
        return Ok(None);
    }
    let most = HEAD_BYTES + HOST_BYTES + 2 * LONGEST;
    let mut bytes = Vec::new();
    file.take(most as u64 + 1).read_to_end(&mut bytes)?;
    Ok(Contents::parse(&bytes))
}

impl Contents {
    fn of_this_process(service: &[u8], port: &[u8]) -> io::Result<Contents> {
        let [number] = host::random_words()?;
        let mut host = host::name().into_bytes();
        host.truncate(HOST_BYTES);
        let (pid, service, port) = (std::process::id(), service.to_vec(), port.to_vec());
        let started = state_and_start(pid).map_or(0, |(_, started)| started);
        Ok(Contents { number, host_key: host::key(), started, pid, host, service, port })
    }

    fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        [self.number, self.host_key, self.started].iter().for_each(|word| bytes.extend(word.to_le_bytes()));
        bytes.extend(self.pid.to_le_bytes());
        let texts = [&self.host, &self.service, &self.port];
        texts.iter().for_each(|text| bytes.extend((text.len() as u32).to_le_bytes()));
        texts.iter().for_each(|text| bytes.extend(*text));
        bytes
    }

    /// `None` unless these are all bytes of a record.
    fn parse(bytes: &[u8]) -> Option<Contents> {
        let (head, mut rest) = bytes.split_at_checked(HEAD_BYTES)?;
        let (magic, numbers) = head.split_first_chunk()?;
        let (words, halves) = numbers.split_at(3 * 8);
        let word = |i: usize| u64::from_le_bytes(std::array::from_fn(|byte| words[8 * i + byte]));
        let half = |i: usize| u32::from_le_bytes(std::array::from_fn(|byte| halves[4 * i + byte]));
        let mut text = |i: usize, most: usize| {
            let length = Some(half(i) as usize).filter(|length| *length <= most)?;
            let (text, behind) = rest.split_at_checked(length)?;
            rest = behind;
            Some(text.to_vec())
        };
        let [host, service, port] = [text(1, HOST_BYTES)?, text(2, LONGEST)?, text(3, LONGEST)?];
        let (number, host_key, started, pid) = (word(0), word(1), word(2), half(0));
        let sound = *magic == MAGIC && rest.is_empty() && (1..=i32::MAX as u32).contains(&pid);
        sound.then_some(Contents { number, host_key, started, pid, host, service, port })
    }

    /// Whether the process is one of this host and has ended; `false` if that cannot be known.
    fn has_ended(&self) -> bool {
        if self.host_key != host::key() {
            return false;
        }
        match state_and_start(self.pid) {
            Some((state, started)) => matches!(state, 'Z' | 'X') || started != self.started,
            // SAFETY: signal 0 has no effect.
            None => unsafe {
                libc::kill(self.pid as i32, 0) != 0 && io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH)
            },
        }
    }

    #[cold]
    fn taken(&self, path: &Path) -> Error {
        let (service, pid, path) = (quoted(&self.service), self.pid, path.display());
        let (host, key) = (String::from_utf8_lossy(&self.host), host::key());
        let rest = if self.host_key == key { "" } else { "; if that process has ended, remove the file" };
        let by = format!("the process {pid} on host {host} has published the service {service} already");
        Error::new(MPI_ERR_SERVICE, format!("{by} (file {path}){rest}"))
    }
}

/// The state of a process and when it started, in the unit of the kernel; `None` if the kernel does not show them.
fn state_and_start(pid: u32) -> Option<(char, u64)> {
    let facts = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // Behind the name, which may contain anything, the fields begin with the third one (proc(5)).
    let mut fields = facts.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((state, fields.nth(18)?.parse().ok()?))
}

#[cfg(test)]
mod tests;
