//! Collective buffering: data of all processes go through shared windows, each of which one process reads or writes in
//! one system call.
//!
//! A window stands for an aligned range of the file. For a write, each process stores its data in the window; after an
//! exchange one process writes it while the others fill the other window. For a read, one process reads a window;
//! after an exchange all take their data out of it while one reads the next.
//! Invariant: bytes that no process writes are never written: where the data do not fill a window, each process writes
//! its own. A window is used again only after an exchange that all enter when they are done with it. All processes
//! see the same reports, so all end with the same fault.
//! Not here: which accesses go this way (`collective_access`), the windows' memory (`stage`), processes of several hosts
//! (`parcels`).

use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;

use crate::collective_access::Span;
use crate::cover::Cover;
use crate::fault::Fault;
use crate::file::File;
use crate::moved::Moved;
use crate::report::{Report, exchange, first_fault};
use crate::stage::{Staged, Ways, Windows};
use crate::view::View;

/// A range of the file that goes through a window.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Turn {
    pub number: u64,
    pub from: u64,
    pub to: u64,
}

impl Turn {
    pub fn first(span: Span, each: u64) -> Turn {
        Turn { number: 0, from: span.from, to: aligned_end(span.from, each).min(span.to) }
    }

    pub fn next(self, span: Span, each: u64) -> Option<Turn> {
        let to = aligned_end(self.to, each).min(span.to);
        (self.to < span.to).then_some(Turn { number: self.number + 1, from: self.to, to })
    }

    pub fn length(self) -> u64 {
        self.to - self.from
    }

    /// The data bytes of `at .. end` in it: the first, and the one behind the last.
    pub fn data(self, view: &View, at: u64, end: u64) -> (u64, u64) {
        (view.bytes_below(self.from).clamp(at, end), view.bytes_below(self.to).clamp(at, end))
    }
}

/// The end of the aligned range that a place lies in.
fn aligned_end(place: u64, each: u64) -> u64 {
    (place / each + 1).saturating_mul(each)
}

impl File {
    /// Writes the data of all processes; this one's begin with the data byte `at` of its view. Returns the bytes that
    /// went through windows, and the fault of the process of the lowest rank that has one. Collective.
    pub(crate) fn write_windows(
        &self,
        view: &View,
        (at, buffer): (u64, &SendBuf<'_>),
        span: Span,
        staged: &mut Staged<'_>,
    ) -> Result<Moved> {
        let windows = match staged.windows() {
            Ways::Shared(windows) => windows,
            Ways::Messages(each, memory) => return self.write_parcels(view, (at, buffer), (span, each), memory),
        };
        let end = at + buffer.bytes();
        let mut turn = Some(Turn::first(span, windows.each()));
        let (mut fault, mut through) = (None, 0);
        while let Some(now) = turn {
            let (first, last) = now.data(view, at, end);
            let mut window = windows.window(now.number, now.length(), now.from);
            window.room(view, first, last - first).copy_from(&buffer.part(first - at, last - first));
            let cover = Cover::of_data(view, first, last - first);
            let all = exchange(&self.engine, &self.comm, Report { fault, numbers: [cover.0, 0, 0, 0] })?;
            if let Some((_, fault)) = first_fault(&all) {
                return Ok((through, Some(fault)));
            }
            let of_all = Cover::sum(all.iter().map(|report| Cover(report.numbers[0])));
            if of_all != Cover::of_range(now.from, now.to) {
                let rest = buffer.part(first - at, end - first);
                fault = self.store_own(view, first, &rest);
                break;
            }
            through += last - first;
            if self.takes_turn(now) {
                fault = self.store_window(now, windows.alone(now.number, now.length()));
            }
            turn = now.next(span, windows.each());
        }
        let all = exchange(&self.engine, &self.comm, Report { fault, numbers: [0; 4] })?;
        Ok((through, first_fault(&all).map(|(_, fault)| fault)))
    }

    /// Reads for all processes; this one's data begin with the data byte `at` of its view. Returns the bytes read, fewer
    /// where the file ends, and the fault of the process of the lowest rank that has one. Collective.
    pub(crate) fn read_windows(
        &self,
        view: &View,
        (at, buffer): (u64, &mut RecvBuf<'_>),
        span: Span,
        staged: &mut Staged<'_>,
    ) -> Result<Moved> {
        let windows = match staged.windows() {
            Ways::Shared(windows) => windows,
            Ways::Messages(each, memory) => return self.read_parcels(view, (at, buffer), (span, each), memory),
        };
        let end = at + buffer.bytes();
        let mut turn = Some(Turn::first(span, windows.each()));
        let mut done = at;
        let mut own = turn.and_then(|first| self.fill_if_own(first, windows)).unwrap_or((0, None));
        while let Some(now) = turn {
            let all = exchange(&self.engine, &self.comm, Report { fault: own.1, numbers: [own.0, 0, 0, 0] })?;
            if let Some((_, fault)) = first_fault(&all) {
                return Ok((done - at, Some(fault)));
            }
            // Of all processes only the one whose turn it was reports bytes.
            let got = all.iter().map(|report| report.numbers[0]).max().unwrap_or(0).min(now.length());
            turn = now.next(span, windows.each()).filter(|_| got == now.length());
            own = turn.and_then(|next| self.fill_if_own(next, windows)).unwrap_or((0, None));
            let (first, last) = Turn { to: now.from + got, ..now }.data(view, at, end);
            let data = windows.window(now.number, now.length(), now.from);
            buffer.part(first - at, last - first).copy_from(&data.data(view, first, last - first));
            done = last;
        }
        Ok((done - at, None))
    }

    /// Whether this process makes the system call for a window.
    pub(crate) fn takes_turn(&self, turn: Turn) -> bool {
        self.owner(turn) == self.comm.rank()
    }

    /// The rank of the process that makes the system call for a window.
    pub(crate) fn owner(&self, turn: Turn) -> u32 {
        let (all, nodes) = (u64::from(self.comm.size()), self.buffering().nodes(self.comm.size(), self.host_count()));
        match &self.hosts {
            // One process of each host, or of some hosts.
            Some(hosts) if nodes <= hosts.firsts.len() as u64 => {
                hosts.firsts[(turn.number % nodes * hosts.firsts.len() as u64 / nodes) as usize]
            }
            _ => (turn.number % nodes * all / nodes) as u32,
        }
    }

    /// Writes a window that is full.
    pub(crate) fn store_window(&self, turn: Turn, data: &[u8]) -> Option<Fault> {
        let store = || {
            let locked = self.lock_write(turn.from, turn.length());
            locked.map_err(Fault::from).map_or_else(Some, |_locked| self.store_run(turn.from, data).1)
        };
        self.at_work(store, |_, _| {})
    }

    /// Writes this process's own data, of which those of all leave gaps.
    pub(crate) fn store_own(&self, view: &View, at: u64, data: &SendBuf<'_>) -> Option<Fault> {
        let store = || match self.lock_range(view, at, data.bytes(), true) {
            Ok(_locked) => self.store_buffer(view, at, data).1,
            Err(error) => Some(Fault { class: error.class(), errno: 0 }),
        };
        self.at_work(store, |_, _| {})
    }

    /// Reads a window if that is this process's turn: the bytes until the file ends.
    fn fill_if_own(&self, turn: Turn, windows: &mut Windows) -> Option<Moved> {
        self.takes_turn(turn).then(|| self.fill_window(turn, windows.alone(turn.number, turn.length())))
    }

    /// Reads a window: the bytes until the file ends.
    pub(crate) fn fill_window(&self, turn: Turn, room: &mut [u8]) -> Moved {
        self.at_work(|| self.fill_run(turn.from, room), |_, _| {})
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_are_aligned_and_cover_the_span() {
        let span = Span::of(1000, 13_000);
        let all: Vec<_> = std::iter::successors(Some(Turn::first(span, 4096)), |turn| turn.next(span, 4096)).collect();
        let ranges: Vec<_> = all.iter().map(|turn| (turn.number, turn.from, turn.to)).collect();
        assert_eq!(ranges, [(0, 1000, 4096), (1, 4096, 8192), (2, 8192, 12288), (3, 12288, 13_000)]);
        let last = Turn::first(Span::of(u64::MAX >> 1, (u64::MAX >> 1) + 1), 4096);
        assert_eq!(last.length(), 1);
    }
}
