//! The line that `error_verbosity=full` prints for each failed call of the tool interface.
//!
//! Invariant: printing allocates no memory and takes no lock, because async-signal-safe calls can fail, too. Each line
//! is one `write`, so lines of several threads do not mix.
//! Not here: the reasons (mpi-t), reports of errors that have error handlers (`failing`).
#![allow(unsafe_code)] // calls `write` directly

use std::ffi::CStr;
use std::fmt::{self, Write};
use std::sync::OnceLock;

use crate::record::error_settings::ErrorSettings;

/// Bytes of a line: the longest reason of mpi-t with each character escaped, and the text around it.
const ROOM: usize = 6500;

/// The settings and the rank of the C interface's process.
static PROCESS: OnceLock<(&'static ErrorSettings, u32)> = OnceLock::new();

/// Prints failed calls from now on, according to these settings.
pub(crate) fn begin(settings: &'static ErrorSettings, rank: u32) {
    let _ = PROCESS.set((settings, rank));
    mpi_t::report_failures(report);
}

/// Prints why a call of the tool interface failed, if `error_verbosity` is `full`; the form is that of `error_format`.
/// Thread-safe and async-signal-safe.
#[cold]
fn report(reason: &CStr) {
    let Some((settings, rank)) = PROCESS.get().filter(|(settings, _)| settings.verbosity.get() == 2) else { return };
    let mut line = Line { bytes: [0; ROOM], length: 0 };
    // A line that does not fit is cut.
    let _ = line.fill(settings.is_json(), *rank, reason.to_str().unwrap_or_default());
    // SAFETY: the system call reads initialised memory of this frame. A closed stream is ignored.
    unsafe { libc::write(libc::STDERR_FILENO, line.bytes.as_ptr().cast(), line.length) };
}

struct Line {
    bytes: [u8; ROOM],
    length: usize,
}

impl Line {
    fn fill(&mut self, json: bool, rank: u32, sentence: &str) -> fmt::Result {
        if !json {
            return writeln!(self, "Ferrum MPI: rank {rank}: {sentence}");
        }
        write!(self, "{{\"source\":\"library\",\"kind\":\"tool_error\",\"rank\":{rank},\"message\":\"")?;
        sentence.chars().try_for_each(|letter| match letter {
            '"' | '\\' => write!(self, "\\{letter}"),
            control if control < ' ' => write!(self, "\\u{:04x}", control as u32),
            other => self.write_char(other),
        })?;
        self.write_str("\"}\n")
    }
}

impl Write for Line {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let room = self.bytes.get_mut(self.length..self.length + part.len()).ok_or(fmt::Error)?;
        room.copy_from_slice(part.as_bytes());
        self.length += part.len();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(json: bool, sentence: &str) -> String {
        let mut line = Line { bytes: [0; ROOM], length: 0 };
        line.fill(json, 3, sentence).expect("it fits");
        String::from_utf8(line.bytes[..line.length].to_vec()).expect("UTF-8")
    }

    #[test]
    fn the_line_is_a_sentence_or_an_object() {
        assert_eq!(line(false, "MPI_T_f: a \"b\""), "Ferrum MPI: rank 3: MPI_T_f: a \"b\"\n");
        let object = "{\"source\":\"library\",\"kind\":\"tool_error\",\"rank\":3,\"message\":\"a \\\"b\\\\\\u000a\"}\n";
        assert_eq!(line(true, "a \"b\\\n"), object);
        assert!(line(true, &"\u{1}".repeat(1023)).ends_with("\\u0001\"}\n"));
    }
}
