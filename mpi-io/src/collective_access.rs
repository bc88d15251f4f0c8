//! Collective accesses (MPI-5.0, 14.4.2 and 14.4.3).
//!
//! Where the view of some process has gaps between short runs, or the hints ask for it, the processes first exchange
//! the ranges of their accesses and go through shared windows if that saves system calls. In all other cases a
//! collective access is the independent one, and waits for no other process.
//! Invariant: all processes take the same decisions, because these depend on what all of them have agreed on or
//! exchanged. A process with a wrong argument takes part in the exchange, so that all fail and none waits for ever.
//! Not here: the windows (`two_phase`), independent accesses (`access`).

use std::sync::atomic::Ordering;

use mpi_core::Status;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;

use crate::access::start;
use crate::buffering::Choice;
use crate::collective::unless_refused;
use crate::file::{File, position};
use crate::report::{Report, exchange};
use crate::stage::{Stage, Staged};
use crate::typed::Typed;
use crate::view::View;

/// The copying that costs as much time as a system call of one of several processes, in bytes.
const CALL_BYTES: u64 = 8192;
/// System calls that take as much time as one process's part in the exchange for a window.
const EXCHANGE_CALLS: u64 = 8;
/// The file's bytes for each data byte, beyond which not even the hints make an access go through windows.
const MOST_SPARSE: u64 = 64;

/// The range of the file that all accesses together touch.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Span {
    /// Its first byte.
    pub from: u64,
    /// The byte behind its last.
    pub to: u64,
    /// Data bytes of all processes.
    bytes: u64,
    /// Runs of all processes, about.
    runs: u64,
}

/// The part of this process in an access whose arguments are right.
struct Part<Buffer> {
    data: Typed<Buffer>,
    /// The first data byte of the view, and their number.
    at: u64,
    bytes: u64,
    /// Etypes that the individual file pointer has advanced.
    advanced: u64,
}

/// The place of an access.
#[derive(Clone, Copy)]
enum Place {
    Offset(i64),
    Pointer,
}

impl File {
    /// `MPI_File_read_at_all`; may wait for all. An error stands for an argument that was refused in this process.
    /// Errors: as [`File::read_at`].
    pub fn read_at_all(&self, offset: i64, data: Result<Typed<RecvBuf<'_>>>) -> Result<Status> {
        match self.buffers_reads() {
            true => self.read_together(Place::Offset(offset), data),
            false => self.read_at(offset, data?),
        }
    }

    /// `MPI_File_read_all`: as [`File::read_at_all`], at the individual file pointer.
    pub fn read_all(&self, data: Result<Typed<RecvBuf<'_>>>) -> Result<Status> {
        match self.buffers_reads() {
            true => self.read_together(Place::Pointer, data),
            false => self.read(data?),
        }
    }

    /// `MPI_File_write_at_all`; may wait for all. An error stands for an argument that was refused in this process.
    /// Errors: as [`File::write_at`].
    pub fn write_at_all(&self, offset: i64, data: Result<Typed<SendBuf<'_>>>) -> Result<Status> {
        match self.buffers_writes() {
            true => self.write_together(Place::Offset(offset), data),
            false => self.write_at(offset, data?),
        }
    }

    /// `MPI_File_write_all`: as [`File::write_at_all`], at the individual file pointer.
    pub fn write_all(&self, data: Result<Typed<SendBuf<'_>>>) -> Result<Status> {
        match self.buffers_writes() {
            true => self.write_together(Place::Pointer, data),
            false => self.write(data?),
        }
    }

    fn buffers_reads(&self) -> bool {
        self.buffers(self.buffering().cb_read)
    }

    fn buffers_writes(&self) -> bool {
        self.buffers(self.buffering().cb_write)
    }

    /// Whether the processes exchange their ranges; the same in all.
    fn buffers(&self, choice: Choice) -> bool {
        let view = self.view();
        let as_in_memory = !view.is_external32() && view.registered().is_none();
        let possible = self.comm.size() > 1 && self.regular && as_in_memory && !self.is_atomic();
        // Relaxed: see `set_view`.
        possible && (choice == Choice::Enable || choice == Choice::Automatic && self.strided.load(Ordering::Relaxed))
    }

    fn read_together(&self, place: Place, data: Result<Typed<RecvBuf<'_>>>) -> Result<Status> {
        let view = self.view();
        let part = data.and_then(|data| {
            self.check_read()?;
            let bytes = data.buffer.bytes();
            self.part(&view, place, data, bytes)
        });
        let advanced = part.as_ref().map_or(0, |part| part.advanced);
        let mut moved = 0;
        let outcome = self.read_part(&view, part, &mut moved);
        self.set_back(&view, advanced, if outcome.is_ok() { moved } else { 0 });
        outcome
    }

    fn read_part(&self, view: &View, part: Result<Part<RecvBuf<'_>>>, moved: &mut u64) -> Result<Status> {
        let (mut part, span) = self.agree(view, part, self.buffering().cb_read)?;
        let Some((span, mut staged)) = span else {
            let (status, _) = self.read_from(view, part.at / view.unit(), part.data)?;
            *moved = status.bytes();
            return Ok(status);
        };
        let (bytes, fault) = self.read_windows(view, (part.at, &mut part.data.buffer), span, &mut staged)?;
        *moved = bytes;
        self.at_work(
            || (),
            |metrics, ()| {
                metrics.reads.incr();
                metrics.bytes_read.add(bytes);
                metrics.buffered.incr();
                metrics.bytes_buffered.add(bytes);
            },
        );
        self.outcome(bytes, fault)
    }

    fn write_together(&self, place: Place, data: Result<Typed<SendBuf<'_>>>) -> Result<Status> {
        let view = self.view();
        let part = data.and_then(|data| {
            self.check_write()?;
            self.check_pointers()?;
            let bytes = data.buffer.bytes();
            self.part(&view, place, data, bytes)
        });
        let (advanced, bytes) = part.as_ref().map_or((0, 0), |part| (part.advanced, part.bytes));
        let outcome = self.write_part(&view, part);
        self.set_back(&view, advanced, if outcome.is_ok() { bytes } else { 0 });
        outcome
    }

    fn write_part(&self, view: &View, part: Result<Part<SendBuf<'_>>>) -> Result<Status> {
        let (part, span) = self.agree(view, part, self.buffering().cb_write)?;
        let Some((span, mut staged)) = span else {
            return self.write_from(view, part.at / view.unit(), part.data).map(|(status, _)| status);
        };
        // Relaxed: as in `write_from`.
        self.dirty.store(true, Ordering::Relaxed);
        let (buffered, fault) = self.write_windows(view, (part.at, &part.data.buffer), span, &mut staged)?;
        self.at_work(
            || (),
            |metrics, ()| {
                metrics.writes.incr();
                metrics.bytes_written.add(if fault.is_none() { part.bytes } else { 0 });
                metrics.buffered.incr();
                metrics.bytes_buffered.add(buffered);
            },
        );
        self.outcome(part.bytes, fault)
    }

    /// This process's part. The individual file pointer advances by all of it, so that it is free for other threads
    /// while this one waits.
    fn part<Buffer>(&self, view: &View, place: Place, data: Typed<Buffer>, bytes: u64) -> Result<Part<Buffer>> {
        let etypes = bytes / view.unit();
        match place {
            Place::Offset(offset) => {
                let at = start(view, position(offset)?, bytes)?;
                Ok(Part { data, at, bytes, advanced: 0 })
            }
            Place::Pointer => {
                let mut pointer = self.pointer();
                let at = start(view, *pointer, bytes)?;
                *pointer += etypes;
                Ok(Part { data, at, bytes, advanced: etypes })
            }
        }
    }

    /// Sets the individual file pointer back, which has advanced by so many etypes, to behind the last one moved.
    fn set_back(&self, view: &View, advanced: u64, moved: u64) {
        if advanced > 0 {
            let mut pointer = self.pointer();
            *pointer = pointer.saturating_sub(advanced - moved.div_ceil(view.unit()).min(advanced));
        }
    }

    /// Exchanges the ranges of all accesses. Returns where all of them lie, with the windows, if they go through those.
    /// Errors: the refused argument of one process, in all.
    #[allow(clippy::type_complexity)] // a part, and where the parts of all are
    fn agree<Buffer>(
        &self,
        view: &View,
        part: Result<Part<Buffer>>,
        choice: Choice,
    ) -> Result<(Part<Buffer>, Option<(Span, Staged<'_>)>)> {
        let numbers = match &part {
            Ok(part) if part.bytes > 0 => {
                let (first, last) = (view.run(part.at).0, view.run(part.at + part.bytes - 1).0);
                [first, last + 1, part.bytes, part.bytes.div_ceil(view.mean_run())]
            }
            _ => [u64::MAX, 0, 0, 0],
        };
        let report = Report { numbers, ..Report::of(&part, [0; 3]) };
        let all = exchange(&self.engine, &self.comm, report)?;
        let part = unless_refused(part, &all)?;
        let sum = |which: usize| all.iter().fold(0, |sum: u64, report| sum.saturating_add(report.numbers[which]));
        let span = Span {
            from: all.iter().map(|report| report.numbers[0]).min().unwrap_or(u64::MAX),
            to: all.iter().map(|report| report.numbers[1]).max().unwrap_or(0),
            bytes: sum(2),
            runs: sum(3),
        };
        let window = self.buffering().window;
        if !span.is_worth_windows(choice, window, u64::from(self.comm.size())) {
            return Ok((part, None));
        }
        let staged = match self.hosts {
            Some(_) => Some(Stage::by_messages(&self.stage, window)),
            None => Stage::obtain(&self.stage, window, &self.engine, &self.comm)?,
        };
        Ok((part, staged.map(|staged| (span, staged))))
    }
}

impl Span {
    /// A range alone.
    #[cfg(test)]
    pub fn of(from: u64, to: u64) -> Span {
        Span { from, to, bytes: 0, runs: 0 }
    }

    /// Whether the accesses go through windows of this length.
    fn is_worth_windows(&self, choice: Choice, window: u64, processes: u64) -> bool {
        if self.bytes == 0 {
            return false;
        }
        let length = self.to - self.from;
        if choice == Choice::Enable {
            return length / MOST_SPARSE <= self.bytes;
        }
        let calls = |calls: u64| calls.saturating_mul(CALL_BYTES);
        let windows = length.div_ceil(window).saturating_mul(processes.saturating_mul(EXCHANGE_CALLS));
        // Data and gaps are moved by the system, and the data copied once more; without windows, the data alone.
        let through = length.saturating_add(calls(windows));
        // Gaps are not written, and data that leave some do not go through windows.
        through < calls(self.runs) && length / 2 <= self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_many_short_runs_close_to_each_other_are_worth_windows() {
        let worth = |choice, length: u64, bytes, runs| {
            Span { from: 100, to: 100 + length, bytes, runs }.is_worth_windows(choice, 1 << 20, 4)
        };
        assert!(worth(Choice::Automatic, 1 << 20, 1 << 20, 4096));
        assert!(!worth(Choice::Automatic, 1 << 20, 1 << 20, 160), "few runs");
        assert!(!worth(Choice::Automatic, 1 << 30, 1 << 20, 4096), "far apart");
        assert!(!worth(Choice::Automatic, 100, 100, 4), "one run in each process");
        assert!(worth(Choice::Enable, 100, 100, 4) && worth(Choice::Enable, 1 << 26, 1 << 20, 1));
        assert!(!worth(Choice::Enable, 1 << 40, 1 << 20, 4), "a window for each byte");
        assert!(!worth(Choice::Enable, 0, 0, 0), "no data");
    }
}
