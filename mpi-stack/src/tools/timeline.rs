//! The tool `timeline`: each call as a record with its times, in a file that `mpiexec` reads.
//!
//! Invariant: a record is complete before its last word is written; a call that has not returned has a record without
//! end.

use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::AtomicPtr;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use mpi_pmpi::interceptor::{Call, Host, Interceptor, Value};
use mpi_pmpi::records::{Event, PART_BYTES, ROW_WORDS, TIMELINE_FD, TIMELINE_START, head, sends_and_receives};

use super::shared::{Inherited, Parts, Recording};
use super::{now_ns, thread};

/// Records of a part of the file.
const PART_RECORDS: usize = PART_BYTES as usize / 8 / ROW_WORDS;

/// The records of this process; `None` where `mpiexec` has given no file.
pub(super) struct Timeline(Option<File>);

struct File {
    head: Recording,
    /// The mapped parts; null where there is none yet.
    parts: Box<[AtomicPtr<AtomicU64>]>,
    /// Taken while a part is added.
    further: Mutex<Further>,
}

/// What is not mapped yet.
struct Further {
    parts: Parts,
    /// Number of the next part.
    next: usize,
    /// Whether there is no more room.
    full: bool,
}

impl File {
    fn find() -> Option<File> {
        let file = Inherited::find(TIMELINE_FD)?;
        let head = Recording::new(file.map(TIMELINE_START)?);
        let parts = file.parts(TIMELINE_START, PART_BYTES)?;
        let mapped = (0..parts.left()).map(|_| AtomicPtr::default()).collect();
        Some(File { head, parts: mapped, further: Mutex::new(Further { parts, next: 0, full: false }) })
    }

    /// The words of a record, whose part is added if necessary.
    fn record(&self, number: usize) -> Option<&'static [AtomicU64]> {
        let mut words = self.parts.get(number / PART_RECORDS).map_or(std::ptr::null_mut(), |part| part.load(Acquire));
        if words.is_null() {
            words = self.add(number / PART_RECORDS)?;
        }
        // SAFETY: a part has this many words and stays mapped.
        let words = unsafe { std::slice::from_raw_parts(words, PART_RECORDS * ROW_WORDS) };
        let first = number % PART_RECORDS * ROW_WORDS;
        Some(&words[first..first + ROW_WORDS])
    }

    #[cold]
    fn add(&self, part: usize) -> Option<*mut AtomicU64> {
        let mut further = self.further.lock().ok()?;
        while further.next <= part && !further.full {
            match further.parts.map() {
                Ok(words) => {
                    let address = std::ptr::from_ref(words.at(0)).cast_mut();
                    // Pairs with the Acquire in `record`.
                    self.parts[further.next].store(address, Release);
                    further.next += 1;
                }
                Err(error) => {
                    further.full = true;
                    let _ = writeln!(std::io::stderr(), "ferrum_stack: timeline: calls are lost from here on: {error}");
                }
            }
        }
        let present = self.parts.get(part)?.load(Relaxed);
        (!present.is_null()).then_some(present)
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
        second: second_of(call),
        ..Event::default()
    }
}

/// Source and tag of the receive, of a call that also sends.
fn second_of(call: &Call<'_>) -> Option<(i32, i32)> {
    let is_both = sends_and_receives(call.function().number() as u16);
    if is_both { call.int("source").zip(call.int("recvtag")) } else { None }
}

impl Interceptor for Timeline {
    fn start(_: &Host<'_>) -> Timeline {
        Timeline(File::find())
    }

    fn enter(&self, call: &mut Call<'_>) {
        let Some(file) = &self.0 else { return };
        let Some(head) = file.head.words() else { return };
        let number = head.at(head::USED).fetch_add(1, Relaxed) as usize;
        let Some(words) = file.record(number) else {
            head.at(head::LOST).fetch_add(1, Relaxed);
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
        words[3].store(values[3], Relaxed);
        // The other half has the source of a receive.
        words[6].store(words[6].load(Relaxed) | values[6], Relaxed);
        words[2].store(end_ns, Release);
    }
}
