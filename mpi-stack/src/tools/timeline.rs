//! The tool `timeline`: each call as a record with its times, in a file that `mpiexec` reads.
//!
//! Invariant: a record is complete before its last word is written; a call that has not returned has a record without
//! end.

use std::io::Write;
use std::os::fd::RawFd;
use std::sync::Mutex;
use std::sync::atomic::Ordering::{Relaxed, Release};
use std::sync::atomic::{AtomicPtr, AtomicU64};

use mpi_pmpi::interceptor::{Call, Host, Interceptor, Value};
use mpi_pmpi::records::{Event, ROW_WORDS, TIMELINE_FD, TIMELINE_START, head};

use super::shared::{self, Words};
use super::{now_ns, thread};

/// Records of a part of the file.
const PART_RECORDS: usize = 1 << 15;
const PART_BYTES: usize = PART_RECORDS * ROW_WORDS * 8;
/// Parts of a file.
const PARTS: usize = 1 << 13;

/// The records of this process; `None` where `mpiexec` has given no file, or to another process.
pub(super) struct Timeline(Option<File>);

struct File {
    fd: RawFd,
    head: Words,
    /// The mapped parts; null where there is none yet.
    parts: Box<[AtomicPtr<AtomicU64>]>,
    /// Taken while a part is added; whether the file has no more room.
    full: Mutex<bool>,
}

impl File {
    /// The words of a record, whose part is added if necessary.
    fn record(&self, number: usize) -> Option<&'static [AtomicU64]> {
        let part = self.parts.get(number / PART_RECORDS)?;
        let mut words = part.load(std::sync::atomic::Ordering::Acquire);
        if words.is_null() {
            words = self.add(number / PART_RECORDS)?;
        }
        // SAFETY: a part has this many words and stays mapped.
        let words = unsafe { std::slice::from_raw_parts(words, PART_RECORDS * ROW_WORDS) };
        let first = number % PART_RECORDS * ROW_WORDS;
        Some(&words[first..first + ROW_WORDS])
    }

    fn add(&self, part: usize) -> Option<*mut AtomicU64> {
        let mut full = self.full.lock().ok()?;
        let present = self.parts[part].load(Relaxed);
        if !present.is_null() || *full {
            return (!present.is_null()).then_some(present);
        }
        let offset = TIMELINE_START + (part * PART_BYTES) as u64;
        // Without room on the disk a store into the mapping would be a fatal signal.
        // SAFETY: a descriptor and numbers.
        let error = unsafe { libc::posix_fallocate(self.fd, offset as libc::off_t, PART_BYTES as libc::off_t) };
        let mapped = match error {
            0 => Words::map(self.fd, offset, PART_BYTES),
            error => Err(std::io::Error::from_raw_os_error(error)),
        };
        match mapped {
            Ok(words) => {
                let address = std::ptr::from_ref(words.at(0)).cast_mut();
                // Pairs with the Acquire in `record`.
                self.parts[part].store(address, Release);
                Some(address)
            }
            Err(error) => {
                *full = true;
                let _ = writeln!(std::io::stderr(), "ferrum_stack: timeline: calls are lost from here on: {error}");
                None
            }
        }
    }
}

fn event_of(call: &Call<'_>) -> Event {
    Event {
        function: call.function().number() as u16,
        thread: thread(),
        start_ns: now_ns(),
        peer: call.peer(),
        tag: call.tag(),
        object: call.object().map(|handle| handle as u64),
        ..Event::default()
    }
}

impl Interceptor for Timeline {
    fn start(_: &Host<'_>) -> Timeline {
        let Some(fd) = shared::descriptor(TIMELINE_FD) else { return Timeline(None) };
        let head = Words::map(fd, 0, TIMELINE_START as usize).ok().filter(|head| head.take());
        let parts = (0..PARTS).map(|_| AtomicPtr::default()).collect();
        Timeline(head.map(|head| File { fd, head, parts, full: Mutex::new(false) }))
    }

    fn enter(&self, call: &mut Call<'_>) {
        let Some(file) = &self.0 else { return };
        let number = file.head.at(head::USED).fetch_add(1, Relaxed) as usize;
        let Some(words) = file.record(number) else {
            file.head.at(head::LOST).fetch_add(1, Relaxed);
            return;
        };
        let values = event_of(call).to_words();
        for (word, value) in words.iter().zip(values).take(ROW_WORDS - 1) {
            word.store(value, Relaxed);
        }
        // The reader sees the words in this order, also after a kill.
        words[ROW_WORDS - 1].store(values[ROW_WORDS - 1], Release);
        call.keep(number as u64 + 1);
    }

    fn leave(&self, call: &mut Call<'_>) {
        let end_ns = now_ns();
        let record = call.kept().checked_sub(1).zip(self.0.as_ref());
        let Some(words) = record.and_then(|(number, file)| file.record(number as usize)) else { return };
        let code = match call.result() {
            Some(Value::Int(code)) if call.function().returns_error_code() => code,
            _ => 0,
        };
        let values = Event { end_ns, bytes: call.bytes(), code, ..Event::default() }.to_words();
        for column in [3, 6] {
            words[column].store(values[column], Relaxed);
        }
        words[2].store(end_ns, Release);
    }
}
