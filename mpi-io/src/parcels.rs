//! Collective buffering over several hosts: data of all processes go by messages to the process whose turn it is, which
//! reads or writes a window in one system call.
//!
//! The steps are those of `two_phase`. A window lies in the memory of one process; for a write, each other process sends
//! it the places of its data and the data; for a read, the places, and gets the data.
//! Invariant: the lengths of messages about places are part of the reports that all exchange, so a process of the window
//! receives what was sent, and nothing else. Places outside the window are refused. A process that has lost another one
//! takes part in the next exchange, which passes the error on.
//! Not here: which accesses go this way (`collective_access`), windows in shared memory (`two_phase`).

use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::{Error, Result};
use mpi_p2p::{Mode, TAGS_OF_SOME};

use crate::collective_access::Span;
use crate::cover::Cover;
use crate::fault::Fault;
use crate::file::File;
use crate::moved::Moved;
use crate::report::{Report, exchange_after, first_fault};
use crate::runs::Runs;
use crate::two_phase::Turn;
use crate::view::View;
use crate::window::{Window, of_length};

/// Tag of places and data for a window; the loss of a process ends messages with it alone.
const TO_WINDOW: i32 = TAGS_OF_SOME + 0x7012;
/// Tag of data out of a window.
const FROM_WINDOW: i32 = TAGS_OF_SOME + 0x7013;

/// Places in a window of data of this process.
struct Part {
    first: u64,
    bytes: u64,
    runs: Runs,
}

impl Part {
    fn of(view: &View, (first, last): (u64, u64), turn: Turn) -> Part {
        Part { first, bytes: last - first, runs: Runs::of_data(view, first, last - first, turn.from) }
    }
}

impl File {
    /// As [`File::write_windows`], by messages.
    pub(crate) fn write_parcels(
        &self,
        view: &View,
        (at, buffer): (u64, &SendBuf<'_>),
        (span, each): (Span, u64),
        memory: &mut Vec<u8>,
    ) -> Result<Moved> {
        let end = at + buffer.bytes();
        let mut turn = Some(Turn::first(span, each));
        let (mut fault, mut through, mut message) = (None, 0, Vec::new());
        let mut lost = None;
        while let Some(now) = turn {
            let part = Part::of(view, now.data(view, at, end), now);
            let cover = Cover::of_data(view, part.first, part.bytes);
            let report = Report { fault, numbers: [cover.0, part.runs.message_bytes(), part.bytes, 0] };
            let all = exchange_after(&self.engine, &self.comm, lost.take(), report)?;
            if let Some((_, fault)) = first_fault(&all) {
                return Ok((through, Some(fault)));
            }
            let of_all = Cover::sum(all.iter().map(|report| Cover(report.numbers[0])));
            if of_all != Cover::of_range(now.from, now.to) {
                fault = self.store_own(view, part.first, &buffer.part(part.first - at, end - part.first));
                break;
            }
            through += part.bytes;
            let own = buffer.part(part.first - at, part.bytes);
            if self.takes_turn(now) {
                let window = of_length(memory, now.length());
                Window::new(window, now.from).room(view, part.first, part.bytes).copy_from(&own);
                (fault, lost) = self.collect(&all, window, &mut message);
                if fault.is_none() && lost.is_none() {
                    fault = self.store_window(now, window);
                }
            } else if part.bytes > 0 {
                message.clear();
                part.runs.append_to(&mut message);
                let places = message.len();
                message.resize(places + part.bytes as usize, 0);
                own.pack(0, &mut message[places..]);
                lost = self.send_parcel(self.owner(now), TO_WINDOW, &message).err();
            }
            turn = now.next(span, each);
        }
        let all = exchange_after(&self.engine, &self.comm, lost, Report { fault, numbers: [0; 4] })?;
        Ok((through, first_fault(&all).map(|(_, fault)| fault)))
    }

    /// As [`File::read_windows`], by messages.
    pub(crate) fn read_parcels(
        &self,
        view: &View,
        (at, buffer): (u64, &mut RecvBuf<'_>),
        (span, each): (Span, u64),
        memory: &mut Vec<u8>,
    ) -> Result<Moved> {
        let end = at + buffer.bytes();
        let mut turn = Some(Turn::first(span, each));
        let (mut done, mut message, mut lost) = (at, Vec::new(), None);
        while let Some(now) = turn {
            let part = Part::of(view, now.data(view, at, end), now);
            let (own, fault) = match self.takes_turn(now) {
                true => self.fill_window(now, of_length(memory, now.length())),
                false => (0, None),
            };
            let report = Report { fault, numbers: [own, part.runs.message_bytes(), 0, 0] };
            let all = exchange_after(&self.engine, &self.comm, lost.take(), report)?;
            if let Some((_, fault)) = first_fault(&all) {
                return Ok((done - at, Some(fault)));
            }
            let got = all[self.owner(now) as usize].numbers[0].min(now.length());
            let (first, last) = Turn { to: now.from + got, ..now }.data(view, at, end);
            let mut room = buffer.part(first - at, last - first);
            if self.takes_turn(now) {
                let window = of_length(memory, now.length());
                room.copy_from(&Window::new(window, now.from).data(view, first, last - first));
                lost = self.distribute(&all, (window, got), &mut message);
            } else if part.bytes > 0 {
                message.clear();
                part.runs.append_to(&mut message);
                // The process of the window waits for places also if the file ends before the data.
                let mut moved = self.send_parcel(self.owner(now), TO_WINDOW, &message);
                if moved.is_ok() && last > first {
                    message.resize((last - first) as usize, 0);
                    moved = self.receive_parcel(self.owner(now), FROM_WINDOW, &mut message);
                }
                match moved {
                    Ok(()) if last > first => drop(room.unpack(0, &message)),
                    moved => lost = moved.err(),
                }
            }
            done = last;
            turn = now.next(span, each).filter(|_| got == now.length());
        }
        lost.map_or(Ok((done - at, None)), Err)
    }

    /// Stores the data of the other processes in the window, in the process of the window. Returns also the first error of
    /// a message; those of the other processes are received all the same, so that none waits for ever.
    fn collect(&self, all: &[Report], window: &mut [u8], message: &mut Vec<u8>) -> (Option<Fault>, Option<Error>) {
        let (mut fault, mut lost) = (None, None);
        for rank in self.others(all) {
            let [_, places, data, _] = all[rank].numbers;
            let Some(length) = message_length(places, data, window.len()) else {
                fault = Some(Fault::MALFORMED);
                continue;
            };
            message.resize(length, 0);
            if let Err(error) = self.receive_parcel(rank as u32, TO_WINDOW, message) {
                lost.get_or_insert(error);
                continue;
            }
            let (places, data) = message.split_at(places as usize);
            match Runs::from_message(places, window.len() as u64).filter(|runs| runs.bytes() == data.len() as u64) {
                Some(runs) => {
                    let mut rest = data;
                    runs.each_below(window.len() as u64, |start, end| {
                        let (run, behind) = rest.split_at(end - start);
                        window[start..end].copy_from_slice(run);
                        rest = behind;
                    });
                }
                None => fault = Some(Fault::MALFORMED),
            }
        }
        (fault, lost)
    }

    /// Sends the other processes their data out of the first `got` bytes of the window, in the process of the window.
    /// Returns the first error; the other processes get their data all the same.
    fn distribute(&self, all: &[Report], (window, got): (&[u8], u64), message: &mut Vec<u8>) -> Option<Error> {
        let mut lost = None;
        for rank in self.others(all) {
            let Some(length) = message_length(all[rank].numbers[1], 0, window.len()) else { continue };
            message.resize(length, 0);
            if let Err(error) = self.receive_parcel(rank as u32, TO_WINDOW, message) {
                lost.get_or_insert(error);
                continue;
            }
            let runs = Runs::from_message(message, window.len() as u64).unwrap_or_default();
            message.clear();
            runs.each_below(got, |start, end| message.extend_from_slice(&window[start..end]));
            if !message.is_empty()
                && let Err(error) = self.send_parcel(rank as u32, FROM_WINDOW, message)
            {
                lost.get_or_insert(error);
            }
        }
        lost
    }

    /// The other processes that have data in the window.
    fn others<'a>(&self, all: &'a [Report]) -> impl Iterator<Item = usize> + use<'a> {
        let own = self.comm.rank() as usize;
        (0..all.len()).filter(move |rank| *rank != own && all[*rank].numbers[1] > 0)
    }

    fn send_parcel(&self, rank: u32, tag: i32, data: &[u8]) -> Result<()> {
        let (engine, context) = (&self.engine, self.comm.collective_context());
        engine.send(engine.lock(), context, rank as i32, tag, SendBuf::from_slice(data), Mode::Standard)
    }

    fn receive_parcel(&self, rank: u32, tag: i32, room: &mut [u8]) -> Result<()> {
        let (engine, context) = (&self.engine, self.comm.collective_context());
        engine.recv(engine.lock(), context, rank as i32, tag, RecvBuf::from_slice(room))?;
        Ok(())
    }
}

/// Bytes of a message with places and data, if so many can be about a window of this length: each run has a byte.
fn message_length(places: u64, data: u64, window: usize) -> Option<usize> {
    let most = (window as u64).saturating_mul(16);
    (places <= most && data <= window as u64).then_some((places + data) as usize)
}
