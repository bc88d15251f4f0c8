//! The memory in which ranks record their calls for `--profile` and `--trace`, and what is made of it at the end.
//!
//! Invariant: the output file is opened before anything starts; the ranks' files have no names, so that nothing is left
//! however the job ends. What a rank has written is input. Not here: the forms (`profile_table`, `mpi_observe::timeline`).
#![allow(unsafe_code)] // files in memory

use std::ffi::CStr;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use mpi_core::functions;
use mpi_pmpi::records::{
    Event, HEAD_WORDS, MAGIC, PART_BYTES, PROFILE_BYTES, PROFILE_FD, Place, ROW_WORDS, TIMELINE_BYTES, TIMELINE_FD,
    TIMELINE_START, head,
};

use super::os::check_writable;
use super::plan::Plan;
use super::profile_table;
use super::refusal::Refusal;
use super::reporter::Reporter;
use crate::args::Options;
use mpi_observe::timeline::{self, Arrows, TracedRank};

/// The files of a job; without the options none.
#[derive(Default)]
pub(super) struct Recordings {
    profiles: Vec<File>,
    timelines: Vec<File>,
    trace: Option<(PathBuf, File)>,
}

/// The files and variables of one rank.
#[derive(Default)]
pub(super) struct OfRank<'a> {
    pub(super) files: Vec<BorrowedFd<'a>>,
    pub(super) variables: Vec<(&'static str, String)>,
}

impl Recordings {
    /// Creates the files that the options need.
    pub(super) fn new(options: &Options, ranks: u32) -> Result<Recordings, Refusal> {
        let mut recordings = Recordings::default();
        if options.profile {
            let memory = || {
                let file = in_memory(c"ferrum-profile")?;
                file.set_len(PROFILE_BYTES)?;
                Ok(file)
            };
            recordings.profiles = (0..ranks).map(|_| memory()).collect::<io::Result<_>>()?;
        }
        if let Some(Some(path)) = &options.stats {
            // Written at the end; that it cannot be is known now.
            let refuse = |error| Refusal::Stats(path.clone(), error);
            check_writable(path).map_err(refuse)?;
        }
        if let Some(path) = &options.trace {
            let refuse = |error| Refusal::Trace(path.clone(), error);
            let trace = File::create(path).map_err(refuse)?;
            let beside = |_| {
                let file = unnamed(path)?;
                make_longest(&file)?;
                Ok(file)
            };
            recordings.timelines = (0..ranks).map(beside).collect::<io::Result<_>>().map_err(refuse)?;
            recordings.trace = Some((path.clone(), trace));
        }
        Ok(recordings)
    }

    /// The files of the ranks of one host of several, whose contents are sent to the host with the output.
    pub(super) fn of_host(profile: bool, trace: bool, ranks: u32) -> io::Result<Recordings> {
        let mut recordings = Recordings::default();
        for _ in 0..ranks {
            if profile {
                let file = in_memory(c"ferrum-profile")?;
                file.set_len(PROFILE_BYTES)?;
                recordings.profiles.push(file);
            }
            if trace {
                let file = in_memory(c"ferrum-timeline")?;
                make_longest(&file)?;
                recordings.timelines.push(file);
            }
        }
        Ok(recordings)
    }

    /// The used parts of a rank's files: whether it is the timeline, the place, and the bytes.
    pub(super) fn parts(&self, rank: u32) -> Vec<(bool, u64, Vec<u8>)> {
        let mut parts = Vec::new();
        for (files, timeline) in [(&self.profiles, false), (&self.timelines, true)] {
            let Some(file) = files.get(rank as usize) else { continue };
            let Ok(mut reader) = file.try_clone() else { continue };
            let Ok(Some(head)) = head_of(&mut reader) else { continue };
            let length = file.metadata().map_or(0, |facts| facts.len());
            let used = TIMELINE_START.saturating_add(head[head::USED].saturating_mul(ROW_WORDS as u64 * 8));
            let end = if timeline { used.min(length) } else { length };
            let mut at = 0;
            while at < end {
                let mut bytes = vec![0; (end - at).min(256 << 10) as usize];
                if file.read_exact_at(&mut bytes, at).is_err() {
                    break;
                }
                let next = at + bytes.len() as u64;
                if bytes.iter().any(|byte| *byte != 0) {
                    parts.push((timeline, at, bytes));
                }
                at = next;
            }
        }
        parts
    }

    /// Stores such a part. Errors: of writing; a part of a file that the job does not have is none.
    pub(super) fn store(&self, rank: u32, timeline: bool, at: u64, bytes: &[u8]) -> io::Result<()> {
        let files = if timeline { &self.timelines } else { &self.profiles };
        let Some(file) = files.get(rank as usize) else { return Ok(()) };
        match at.checked_add(bytes.len() as u64) {
            Some(end) if end <= file.metadata()?.len() => file.write_all_at(bytes, at),
            // Longer than the file here may be; such calls are lost.
            _ => Ok(()),
        }
    }

    /// What a rank is started with.
    pub(super) fn of_rank(&self, rank: u32) -> io::Result<OfRank<'_>> {
        let mut own = OfRank::default();
        for (files, variable) in [(&self.profiles, PROFILE_FD), (&self.timelines, TIMELINE_FD)] {
            if let Some(file) = files.get(rank as usize) {
                let status = file.metadata()?;
                let place = Place { descriptor: file.as_raw_fd(), device: status.dev(), inode: status.ino() };
                own.files.push(file.as_fd());
                own.variables.push((variable, place.to_string()));
            }
        }
        Ok(own)
    }

    /// Writes the trace and returns the table of the profile, empty without one; a sentence on what could not be
    /// written. `shifts`: by rank, from the clock of its host to a common one; empty on one host.
    pub(super) fn finish(mut self, plan: &Plan<'_>, reporter: Reporter, shifts: &[i64]) -> (String, Option<String>) {
        let mut table = String::new();
        let mut absent = Vec::new();
        if !self.profiles.is_empty() {
            let rows = self.profiles.iter_mut().map(|file| profile(file).unwrap_or_default()).collect::<Vec<_>>();
            table = profile_table::text(&rows, reporter.job());
            absent.push(("--profile", ranks_where(rows.iter().map(Vec::is_empty))));
        }
        let mut ranks = Vec::new();
        for (rank, file) in self.timelines.into_iter().enumerate() {
            let program = plan.program_of(rank as u32).to_string_lossy().into_owned();
            let mut events = Timeline::new(file).unwrap_or_default();
            if events.lost > 0 {
                let calls = if events.lost == 1 { "call" } else { "calls" };
                let is = if events.lost == 1 { "is" } else { "are" };
                reporter.warn(&format!("--trace: {} {calls} of rank {rank} {is} not in it: no room", events.lost));
            }
            events.shift_by(shifts.get(rank).copied().unwrap_or(0));
            let host = plan.placement.as_ref().map(|_| plan.host_of(rank as u32));
            ranks.push(TracedRank { program, host, calls: events });
        }
        if self.trace.is_some() {
            absent.push(("--trace", ranks_where(ranks.iter().map(|rank| rank.calls.from.is_none()))));
        }
        warnings(&absent).iter().for_each(|warning| reporter.warn(warning));
        let Some((path, trace)) = self.trace else { return (table, None) };
        let first = ranks.iter().filter_map(|rank| rank.calls.next.as_ref()).map(|event| event.start_ns).min();
        let arrows = Arrows::of_all(ranks.len() as u32);
        match timeline::write(trace, first.unwrap_or(0), ranks, arrows, None) {
            Ok(_) => (table, None),
            Err(error) => (table, Some(format!("--trace {path:?} could not be written: {error}"))),
        }
    }
}

/// The ranks for which a statement is true.
fn ranks_where(states: impl Iterator<Item = bool>) -> Vec<u32> {
    states.zip(0..).filter_map(|(state, rank)| state.then_some(rank)).collect()
}

/// A sentence for each list of ranks that are absent from the outputs of options.
fn warnings(absent: &[(&str, Vec<u32>)]) -> Vec<String> {
    let sentence = |options: &str, ranks: &[u32]| {
        let (s, are, they) = if ranks.len() == 1 { ("", "is", "it") } else { ("s", "are", "they") };
        format!(
            "{options}: rank{s} {} {are} not recorded: {they} called no function of MPI, or reached the library without \
             the tools (a script that starts a statically linked program, removes LD_PRELOAD from the environment or \
             closes descriptors)",
            mpi_observe::words::ranges(ranks)
        )
    };
    match absent {
        [(one, ranks), (other, same)] if ranks == same && !ranks.is_empty() => {
            vec![sentence(&format!("{one} and {other}"), ranks)]
        }
        lists => {
            let lists = lists.iter().filter(|(_, ranks)| !ranks.is_empty());
            lists.map(|(option, ranks)| sentence(option, ranks)).collect()
        }
    }
}

/// Makes the file of a timeline as long as the limits permit. What is not written takes no room.
fn make_longest(file: &File) -> io::Result<()> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: stores the limit in the structure.
    let known = unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) } == 0;
    let mut bytes = TIMELINE_BYTES.min(if known { limit.rlim_cur } else { TIMELINE_BYTES });
    loop {
        match file.set_len(bytes) {
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge && bytes > TIMELINE_START + PART_BYTES => {
                bytes = TIMELINE_START + (bytes - TIMELINE_START) / 2;
            }
            outcome => return outcome,
        }
    }
}

/// A file that exists in memory only.
fn in_memory(name: &CStr) -> io::Result<File> {
    // SAFETY: a C string.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a new descriptor that nothing else owns.
    Ok(unsafe { File::from_raw_fd(fd) })
}

/// A file without a name, on the disk of the file at a path; in memory where the file system has no such files.
fn unnamed(path: &Path) -> io::Result<File> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let made = File::options().read(true).write(true).custom_flags(libc::O_TMPFILE).open(folder);
    made.or_else(|_| in_memory(c"ferrum-timeline"))
}

type Words<const N: usize> = [u64; N];

fn words<const N: usize>(from: &mut impl Read) -> io::Result<Words<N>> {
    let mut bytes = vec![0; N * 8];
    from.read_exact(&mut bytes)?;
    let word = |at: usize| u64::from_ne_bytes(bytes[at * 8..at * 8 + 8].try_into().expect("eight bytes"));
    Ok(std::array::from_fn(word))
}

/// The head of a file that a process of this release has used.
fn head_of(file: &mut File) -> io::Result<Option<Words<HEAD_WORDS>>> {
    file.seek(SeekFrom::Start(0))?;
    let words: Words<HEAD_WORDS> = words(file)?;
    let own = words[head::MAGIC] == MAGIC && words[head::FUNCTIONS] == u64::from(functions::COUNT);
    Ok(own.then_some(words))
}

/// The rows of a profile by the functions' numbers; empty if the rank has used none.
fn profile(file: &mut File) -> io::Result<Vec<Words<ROW_WORDS>>> {
    if head_of(file)?.is_none() {
        return Ok(Vec::new());
    }
    let mut from = io::BufReader::new(file);
    (0..=functions::COUNT).map(|_| words(&mut from)).collect()
}

/// The events of a rank.
#[derive(Default)]
struct Timeline {
    from: Option<io::BufReader<File>>,
    left: u64,
    /// The first event that is left.
    next: Option<Event>,
    lost: u64,
    /// Added to all times, in nanoseconds.
    shift: i64,
}

impl Timeline {
    fn new(mut file: File) -> io::Result<Timeline> {
        let Some(head) = head_of(&mut file)? else { return Ok(Timeline::default()) };
        file.seek(SeekFrom::Start(TIMELINE_START))?;
        let from = Some(io::BufReader::with_capacity(1 << 16, file));
        let mut timeline = Timeline { from, left: head[head::USED], next: None, lost: head[head::LOST], shift: 0 };
        timeline.next = timeline.read();
        Ok(timeline)
    }

    /// Moves the times of all events.
    fn shift_by(&mut self, ns: i64) {
        self.next = self.next.take().map(|event| shifted(event, ns));
        self.shift = ns;
    }

    fn read(&mut self) -> Option<Event> {
        let from = self.from.as_mut()?;
        while self.left > 0 {
            self.left -= 1;
            // The file may be shorter than its head says.
            let Ok(words) = words::<ROW_WORDS>(from) else { break };
            if let Some(event) = Event::from_words(&words) {
                return Some(shifted(event, self.shift));
            }
        }
        self.left = 0;
        None
    }
}

fn shifted(event: Event, ns: i64) -> Event {
    let moved = |time: u64| time.checked_add_signed(ns).unwrap_or(time);
    let end_ns = if event.end_ns == 0 { 0 } else { moved(event.end_ns) };
    Event { start_ns: moved(event.start_ns), end_ns, ..event }
}

impl Iterator for Timeline {
    type Item = (Event, Option<String>);

    fn next(&mut self) -> Option<Self::Item> {
        let event = self.next.take()?;
        self.next = self.read();
        Some((event, None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn ranks_that_are_not_recorded_are_named() {
        assert!(warnings(&[("--profile", vec![])]).is_empty());
        let one = warnings(&[("--trace", vec![3])]);
        assert!(one.len() == 1 && one[0].starts_with("--trace: rank 3 is not recorded: it called "), "{one:?}");
        let both = warnings(&[("--profile", vec![0, 2, 3]), ("--trace", vec![0, 2, 3])]);
        assert!(both.len() == 1 && both[0].starts_with("--profile and --trace: ranks 0, 2-3 are not "), "{both:?}");
        assert_eq!(warnings(&[("--profile", vec![1]), ("--trace", vec![0, 1])]).len(), 2);
    }

    #[test]
    fn a_file_that_no_rank_has_used_or_that_is_cut_off_has_no_rows() {
        let mut file = in_memory(c"test").unwrap();
        assert!(profile(&mut file).is_err());
        file.set_len(PROFILE_BYTES).unwrap();
        assert_eq!(profile(&mut file).unwrap(), Vec::<Words<ROW_WORDS>>::new());
        let head = [MAGIC, functions::COUNT.into(), 7, 5, 2, 0, 0, 0].map(u64::to_ne_bytes).concat();
        file.seek(SeekFrom::Start(0)).unwrap();
        file.write_all(&head).unwrap();
        assert_eq!(profile(&mut file).unwrap().len(), usize::from(functions::COUNT) + 1);
        file.set_len(TIMELINE_START).unwrap();
        let event = Event { function: 3, start_ns: 9, ..Event::default() };
        file.seek(SeekFrom::Start(TIMELINE_START)).unwrap();
        // A record that was not completed lies between two, and the file ends within the third.
        for words in [event.to_words(), [0; 8], event.to_words(), event.to_words()] {
            file.write_all(&words.map(u64::to_ne_bytes).concat()).unwrap();
        }
        file.set_len(TIMELINE_START + 4 * 64 - 1).unwrap();
        let timeline = Timeline::new(file).unwrap();
        assert_eq!((timeline.lost, timeline.collect::<Vec<_>>()), (2, vec![(event, None); 2]));
    }
}
