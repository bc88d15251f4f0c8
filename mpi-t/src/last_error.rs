//! The reason of each thread's last failed call, for callers that get only a code (the C interface).
//!
//! Invariant: recording takes no memory and no lock, and the text always ends with a null character, so calls that are
//! async-signal-safe can record. A signal handler that fails in the middle of a record leaves a text of both.
//! Not here: which calls record (`handle::access`; mpi-capi for the others), what is printed (mpi-env).
#![allow(unsafe_code)] // the text is read as C reads it

use std::ffi::{CStr, c_char};
use std::fmt::{self, Write};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};

/// Bytes of a thread's text, its null included; a longer one is cut.
const ROOM: usize = 1024;

thread_local! {
    // A value without a destructor: it needs no registration, and is valid until the thread has ended.
    static TEXT: [AtomicU8; ROOM] = const { [const { AtomicU8::new(0) }; ROOM] };
}

/// Called with each reason that is recorded; must be async-signal-safe.
static REPORT: OnceLock<fn(&CStr)> = OnceLock::new();

/// From now on, `report` is called with the reason of each call that fails. It must be thread-safe and
/// async-signal-safe. Only the first function given is used.
pub fn report_failures(report: fn(&CStr)) {
    let _ = REPORT.set(report);
}

/// Records why a call failed, and reports it ([`report_failures`]). Async-signal-safe if `reason` is.
#[cold]
pub fn record_failure(call: &str, reason: &dyn fmt::Display) {
    record(|text| write!(text, "{call}: {reason}"));
    if let Some(report) = REPORT.get() {
        // SAFETY: the text ends with a null; only this thread changes it, at the next failure.
        report(unsafe { CStr::from_ptr(last_failure()) });
    }
}

/// Makes the text of the calling thread empty.
pub fn clear_failure() {
    record(|_| Ok(()));
}

/// The text of the calling thread: of its last failed call, else empty. Its address is constant until the thread has
/// ended; it changes when a call of the thread fails. Async-signal-safe.
pub fn last_failure() -> *const c_char {
    // A value without a destructor is accessible while the thread exists.
    TEXT.with(|text| text.as_ptr().cast())
}

fn record(write: impl FnOnce(&mut Cursor<'_>) -> fmt::Result) {
    TEXT.with(|text| {
        let mut cursor = Cursor { text, length: 0 };
        // An error means that the buffer is full; the part that fitted stays.
        let _ = write(&mut cursor);
        cursor.text[cursor.length].store(0, Relaxed);
    });
}

struct Cursor<'t> {
    text: &'t [AtomicU8; ROOM],
    /// At most `ROOM - 1`, so that the null has room.
    length: usize,
}

impl Write for Cursor<'_> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let room = ROOM - 1 - self.length;
        let end = part.floor_char_boundary(room);
        for byte in part[..end].bytes() {
            // A null inside would end the text early.
            self.text[self.length].store(if byte == 0 { b' ' } else { byte }, Relaxed);
            self.length += 1;
        }
        if end == part.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text() -> String {
        // SAFETY: the text ends with a null and no other thread changes it: it is this thread's.
        unsafe { CStr::from_ptr(last_failure()) }.to_str().expect("UTF-8").to_owned()
    }

    #[test]
    fn the_text_is_the_last_one_of_the_thread_and_is_cut_where_a_character_begins() {
        assert_eq!(text(), "");
        record_failure("MPI_T_pvar_read", &"a \0 reason");
        assert_eq!(text(), "MPI_T_pvar_read: a   reason");
        assert_eq!(std::thread::spawn(text).join().expect("no panic"), "");
        record_failure("f", &"é".repeat(ROOM));
        assert_eq!(text(), format!("f: {}", "é".repeat((ROOM - 4) / 2)));
        clear_failure();
        assert_eq!(text(), "");
    }
}
