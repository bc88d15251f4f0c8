//! Whether processes of several hosts have opened the same file, and what their hosts share of it.
//!
//! Device numbers differ from host to host, and two files on local disks may have the same number, name and length. So
//! rank 0 makes something that others can find by way of the file system only: it locks one byte of the file far behind
//! the data, at a random place. Processes that see the lock have opened the same file, and locks reach their host. Where
//! one does not see it, rank 0 makes a file with a random name beside its own for a moment. Only a file that is open for
//! reading, in a directory that rank 0 cannot write, is compared by number, length and times.
//! Invariants: the file beside does not stay; without evidence a file is not the same, and the open fails.
//! Not here: processes of the first one's host, whose device numbers can be compared (`open`).

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

use mpi_comm::Comm;
use mpi_core::abi::{MPI_ERR_NO_SUCH_FILE, MPI_ERR_NOT_SAME};
use mpi_errors::Result;
use mpi_fabric::host;
use mpi_p2p::{Engine, TAGS_OF_SOME};

use crate::atomicity::{Kind, is_locked_at, set, try_set};
use crate::fault::Fault;
use crate::report::{Report, by_first, exchange};

/// The first place of locks that are evidence: far behind the data, and before the region of marks (`openers`).
const PLACES: u64 = 1 << 62;
/// Tag of the names of hosts.
const TAG: i32 = TAGS_OF_SOME + 0x7018;
/// Reported by a process on the host of rank 0.
const NEAR: u64 = 1;
/// Reported by the first process of a host.
const FIRST_OF_HOST: u64 = 2;
/// Reported by a process that sees the lock of rank 0.
const SEES_LOCK: u64 = 4;

/// A file that is open on several hosts, as all of its processes have found it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hosts {
    /// Locks of the file system exclude those of other hosts.
    pub locks: bool,
    /// The first rank of each host.
    pub firsts: Vec<u32>,
}

/// This process among the hosts of a communicator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Standing {
    near: bool,
    first: bool,
}

impl Standing {
    /// `None` when all processes are on one host.
    pub fn of(engine: &Engine, comm: &Comm) -> Option<Standing> {
        let (ranks, own) = (comm.group().world_ranks(), comm.rank() as usize);
        let guard = engine.lock();
        if engine.on_one_host(&guard, ranks) {
            return None;
        }
        let near = |rank: usize| engine.on_one_host(&guard, &ranks[rank..=rank]);
        Some(Standing { near: near(0), first: !(0..own).any(near) })
    }

    /// Whether it is on the host of rank 0.
    pub fn is_near(self) -> bool {
        self.near
    }
}

/// The place of the lock that a random number stands for.
fn place_of(token: u64) -> u64 {
    PLACES + (token >> 8)
}

/// In rank 0: a lock that others can look for, by the number that is returned; 0 where the system has none.
pub(crate) fn lock_evidence(file: &File, writes: bool) -> u64 {
    let token = random();
    if token == 0 {
        return 0;
    }
    let kind = if writes { Kind::Write } else { Kind::Read };
    if try_set(file, kind, place_of(token), 1).unwrap_or(false) { token } else { 0 }
}

/// A random number; 0 if the system has none.
fn random() -> u64 {
    host::random_words().map_or(0, |[word]| word)
}

/// The number of a file, and one of its length and times. They are the same on all hosts.
fn facts(file: &File) -> [u64; 2] {
    let Ok(facts) = file.metadata() else { return [0; 2] };
    let words = [facts.size(), facts.mtime() as u64, facts.mtime_nsec() as u64, facts.ctime() as u64];
    let sum = words.iter().chain(&[facts.ctime_nsec() as u64]).fold(0u64, |sum, word| {
        // Multiplied, so that the order counts.
        (sum ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    });
    [facts.ino(), sum]
}

/// The directory of a file: links are followed, so that it is the one of the file's own entry.
fn directory_of(path: &Path) -> io::Result<PathBuf> {
    let path = fs::canonicalize(path)?;
    Ok(path.parent().unwrap_or(Path::new("/")).to_owned())
}

fn beside(path: &Path, token: u64) -> io::Result<PathBuf> {
    Ok(directory_of(path)?.join(format!(".ferrum-{token:016x}")))
}

/// A file beside another one; removed when dropped.
struct Beside(PathBuf);

impl Beside {
    fn create(path: &Path, token: u64) -> io::Result<Beside> {
        let path = beside(path, token)?;
        OpenOptions::new().write(true).create_new(true).open(&path)?;
        Ok(Beside(path))
    }
}

impl Drop for Beside {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// This process's file and its name, and a number of the name that equal names have in common.
pub(crate) struct Named<'a> {
    pub system: &'a File,
    pub path: &'a Path,
    pub number: u64,
    pub writes: bool,
}

/// Whether all processes have opened the file of rank 0; collective over them. `token` is the number of the lock of rank
/// 0. `is_other`: this process is on the host of rank 0 and has opened another file. Returns the first process that has
/// not opened it, with its fault: `MPI_ERR_NOT_SAME` if it gave another name, else `MPI_ERR_NO_SUCH_FILE`.
pub(crate) fn agree(
    engine: &Engine,
    comm: &Comm,
    (standing, is_other): (Standing, bool),
    file: &Named<'_>,
    token: u64,
) -> Result<Result<Hosts, (usize, i32)>> {
    let sees = standing.near && !is_other || token != 0 && is_locked_at(file.system, place_of(token)).unwrap_or(false);
    let bit = |is: bool, bit: u64| if is { bit } else { 0 };
    let bits = bit(standing.near, NEAR) | bit(standing.first, FIRST_OF_HOST) | bit(sees, SEES_LOCK);
    let all = exchange(engine, comm, Report { fault: None, numbers: [bits, 0, 0, 0] })?;
    if comm.rank() == 0 && token != 0 {
        // Only the marks of `openers` stay; they have other places.
        let _ = set(file.system, Kind::None, place_of(token), 1);
    }
    let has = |report: &Report, bit: u64| report.numbers[0] & bit != 0;
    let firsts = (0..comm.size()).filter(|rank| has(&all[*rank as usize], FIRST_OF_HOST)).collect();
    let hosts = Hosts { locks: all.iter().all(|report| has(report, SEES_LOCK)), firsts };
    if hosts.locks {
        return Ok(Ok(hosts));
    }
    let mut made = None;
    let token = by_first(engine, comm, || {
        let token = random();
        made = Beside::create(file.path, token).ok();
        Ok([token, u64::from(made.is_some())])
    })?;
    let Ok([token, is_made]) = token else { return Ok(Err((0, MPI_ERR_NO_SUCH_FILE))) };
    let finds = is_made == 1 && beside(file.path, token).is_ok_and(|path| path.exists());
    let [number, times] = facts(file.system);
    let found =
        exchange(engine, comm, Report { fault: None, numbers: [u64::from(finds), number, times, file.number] })?;
    drop(made);
    let same = |rank: usize| {
        let (own, first) = (&found[rank].numbers, &found[0].numbers);
        let in_directory = own[0] == 1 && !has(&all[rank], NEAR) && (own[1] == first[1] || own[3] == first[3]);
        let alike = is_made == 0 && !file.writes && own[1..3] == first[1..3];
        has(&all[rank], SEES_LOCK) || in_directory || alike && !has(&all[rank], NEAR)
    };
    let other = (0..all.len()).find(|rank| !same(*rank));
    Ok(other.map_or(Ok(hosts), |rank| {
        let another_name = found[rank].numbers[3] != found[0].numbers[3];
        Err((rank, if another_name { MPI_ERR_NOT_SAME } else { MPI_ERR_NO_SUCH_FILE }))
    }))
}

/// What a link that `open_created` makes for a moment points to. It is in no directory, so an open that follows the link
/// fails with `ENOENT`, whether it would create a file or not.
const NOWHERE: &str = "/.ferrum-nowhere/file";

/// Opens a file that rank 0 has just created. A host may remember that it was not there; making an entry of the name looks
/// in the file system itself. The entry is a link to nothing: no other process of this host opens it in the meantime.
pub(crate) fn open_created(options: &OpenOptions, path: &Path) -> io::Result<File> {
    match options.open(path) {
        Err(error) if error.raw_os_error() == Some(libc::ENOENT) => {}
        result => return result,
    }
    match symlink(NOWHERE, path) {
        // It is not there, so this host has another directory.
        Ok(()) => fs::remove_file(path).and(Err(io::Error::from_raw_os_error(libc::ENOENT))),
        Err(error) if error.raw_os_error() == Some(libc::EEXIST) => options.open(path),
        Err(_) => Err(io::Error::from_raw_os_error(libc::ENOENT)),
    }
}

/// The fault of a file that has no meaning beyond its host.
pub(crate) fn check_regular(regular: bool) -> Result<(), Fault> {
    if regular { Ok(()) } else { Err(Fault::OF_ONE_HOST) }
}

/// The names of the hosts of all processes, cut to 64 bytes; collective.
pub(crate) fn host_names(engine: &Engine, comm: &Comm) -> Result<Vec<String>> {
    let mut words = [0; 8];
    let name = mpi_fabric::host::name();
    for (word, bytes) in words.iter_mut().zip(name.as_bytes().chunks(8)) {
        let mut eight = [0; 8];
        eight[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_ne_bytes(eight);
    }
    let all = mpi_comm::Exchange::among_all(engine, comm, TAG).all(words)?;
    let text = |words: &[u64; 8]| {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).take_while(|byte| *byte != 0).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    Ok(all.iter().map(text).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str) -> (File, PathBuf) {
        let path = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
        let file = File::options().read(true).write(true).create(true).truncate(true).open(&path).expect("a file");
        (file, path)
    }

    #[test]
    fn a_lock_is_seen_through_the_same_file_only() {
        let (one, path) = file("same-file-lock");
        let (other, other_path) = file("same-file-other");
        let again = File::open(&path).expect("it is there");
        let token = lock_evidence(&one, true);
        assert_ne!(token, 0);
        assert!(is_locked_at(&again, place_of(token)).expect("a lock"));
        assert!(!is_locked_at(&other, place_of(token)).expect("no lock"));
        set(&one, Kind::None, place_of(token), 1).expect("unlocked");
        assert!(!is_locked_at(&again, place_of(token)).expect("no lock"));
        // A lock of the whole file is no evidence.
        set(&one, Kind::Write, 0, i64::MAX as u64).expect("locked");
        assert!(!is_locked_at(&again, place_of(token)).expect("another lock"));
        fs::remove_file(path).and(fs::remove_file(other_path)).expect("they are there");
    }

    #[test]
    fn a_file_open_for_reading_has_evidence_too() {
        let (_file, path) = file("same-file-reading");
        let (one, other) = (File::open(&path).expect("it is there"), File::open(&path).expect("it is there"));
        let token = lock_evidence(&one, false);
        assert!(token != 0 && is_locked_at(&other, place_of(token)).expect("a lock"));
        fs::remove_file(path).expect("it is there");
    }

    #[test]
    fn a_file_beside_is_found_and_does_not_stay() {
        let (_file, path) = file("same-file-beside");
        let made = Beside::create(&path, 77).expect("the directory can be written");
        assert!(beside(&path, 77).expect("a name").exists());
        drop(made);
        assert!(!beside(&path, 77).expect("a name").exists());
        fs::remove_file(path).expect("it is there");
    }

    #[test]
    fn a_file_that_is_not_there_is_not_created() {
        let path = std::env::temp_dir().join(format!("same-file-absent-{}", std::process::id()));
        let error = open_created(OpenOptions::new().read(true).write(true), &path).expect_err("no file");
        assert_eq!(error.raw_os_error(), Some(libc::ENOENT));
        assert!(!path.exists());
    }

    #[test]
    fn processes_of_one_host_that_open_at_once_all_find_that_it_is_not_there() {
        let path = std::env::temp_dir().join(format!("same-file-at-once-{}", std::process::id()));
        std::thread::scope(|scope| {
            for writes in [false, true] {
                let path = &path;
                scope.spawn(move || {
                    for _ in 0..2000 {
                        let error = open_created(File::options().read(true).write(writes), path).expect_err("no file");
                        assert_eq!(error.raw_os_error(), Some(libc::ENOENT));
                    }
                });
            }
        });
        assert!(fs::symlink_metadata(&path).is_err());
    }

    #[test]
    fn facts_are_those_of_a_file() {
        let ((one, path), (other, other_path)) = (file("same-file-one"), file("same-file-two"));
        assert_eq!(facts(&one), facts(&File::open(&path).expect("it is there")));
        assert_ne!(facts(&one), facts(&other));
        fs::remove_file(path).and(fs::remove_file(other_path)).expect("they are there");
    }
}
