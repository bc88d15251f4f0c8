//! Reading and writing (MPI-5.0, 14.4.2 and 14.4.3): between the program's memory and the positions of a view.
//!
//! Memory without gaps is passed to the system directly, any other in pieces of [`PIECE`] bytes; a view with gaps makes
//! one system call for each of its runs, unless `sieve` moves the gaps too.
//! Invariant: a call ends when all data are moved, when the file ends, or with an error; the individual file pointer
//! then is behind the last etype that was moved, or, after an error, unchanged.

use std::io::{self, Read, Write};
use std::os::unix::fs::FileExt;
use std::sync::atomic::Ordering;

use mpi_core::Status;
use mpi_core::abi::{MPI_ERR_ACCESS, MPI_ERR_ARG, MPI_ERR_READ_ONLY, MPI_ERR_TYPE};
use mpi_datatype::{Datatype, RecvBuf, SendBuf};
use mpi_errors::{Error, Result};
use mpi_fabric::signal_mask;

use crate::atomicity::Held;
use crate::fault::Fault;
use crate::file::{File, position};
use crate::interrupted::retry_interrupted;
use crate::moved::{Moved, PIECE};
use crate::registered::Conversion;
use crate::same_file::Hosts;
use crate::typed::Typed;
use crate::view::View;

/// Bytes behind the end of a write up to which later writes need not look at the limit of file sizes.
const UNLIMITED: u64 = 1 << 20;

impl File {
    /// `MPI_File_read_at`, at a position in etypes: fewer bytes than there is room for if the file ends, as the status
    /// reports. Errors: `MPI_ERR_ARG`, `MPI_ERR_TYPE` when the data is no whole number of etypes,
    /// `MPI_ERR_ACCESS` for a file opened for writing only, `MPI_ERR_UNSUPPORTED_OPERATION` for a sequential one,
    /// errors of the system.
    pub fn read_at<'a>(&self, offset: i64, data: impl Into<Typed<RecvBuf<'a>>>) -> Result<Status> {
        self.check_read()?;
        let (offset, mut data) = (position(offset)?, data.into());
        let read = self.read_plainly(offset, &mut data.buffer);
        read.unwrap_or_else(|| self.read_from(&self.view(), offset, data)).map(|(status, _)| status)
    }

    /// `MPI_File_write_at`, at a position in etypes. Errors: as [`File::read_at`], but `MPI_ERR_READ_ONLY` for a file
    /// opened for reading only.
    pub fn write_at<'a>(&self, offset: i64, data: impl Into<Typed<SendBuf<'a>>>) -> Result<Status> {
        self.check_write()?;
        self.check_pointers()?;
        let (offset, data) = (position(offset)?, data.into());
        let written = self.write_plainly(offset, &data.buffer);
        written.unwrap_or_else(|| self.write_from(&self.view(), offset, data)).map(|(status, _)| status)
    }

    /// `MPI_File_read`: as [`File::read_at`], at the individual file pointer.
    pub fn read<'a>(&self, data: impl Into<Typed<RecvBuf<'a>>>) -> Result<Status> {
        self.check_read()?;
        let mut pointer = self.pointer();
        let mut data = data.into();
        let read = self.read_plainly(*pointer, &mut data.buffer);
        let (status, etypes) = read.unwrap_or_else(|| self.read_from(&self.view(), *pointer, data))?;
        *pointer += etypes;
        Ok(status)
    }

    /// `MPI_File_write`: as [`File::write_at`], at the individual file pointer.
    pub fn write<'a>(&self, data: impl Into<Typed<SendBuf<'a>>>) -> Result<Status> {
        self.check_write()?;
        self.check_pointers()?;
        let mut pointer = self.pointer();
        let data = data.into();
        let written = self.write_plainly(*pointer, &data.buffer);
        let (status, etypes) = written.unwrap_or_else(|| self.write_from(&self.view(), *pointer, data))?;
        *pointer += etypes;
        Ok(status)
    }

    /// Error unless an access by position or individual file pointer may read.
    pub(crate) fn check_read(&self) -> Result<()> {
        self.check_reads()?;
        self.check_pointers()
    }

    /// Error if the file was opened for writing only.
    pub(crate) fn check_reads(&self) -> Result<()> {
        if self.amode.reads() {
            return Ok(());
        }
        Err(self.refusal(MPI_ERR_ACCESS, "it was opened for writing only, with MPI_MODE_WRONLY"))
    }

    /// Error if the file was opened for reading only.
    pub(crate) fn check_write(&self) -> Result<()> {
        if self.amode.writes() {
            return Ok(());
        }
        Err(self.refusal(MPI_ERR_READ_ONLY, "it was opened for reading only, with MPI_MODE_RDONLY"))
    }

    /// Reads from a position on. Returns also the number of etypes read, one that the file's end divides included.
    pub(crate) fn read_from(&self, view: &View, offset: u64, data: Typed<RecvBuf<'_>>) -> Result<(Status, u64)> {
        let Typed { mut buffer, datatype, memory } = data;
        let each = view.representation().size_in_file(&datatype)?;
        let bytes = stored_bytes(each, buffer.bytes(), &datatype)?;
        let conversion = Conversion::new(view, memory, (&datatype, each), buffer.bytes(), false)?;
        let at = start(view, offset, bytes)?;
        let _locked = self.lock_range(view, at, bytes, false)?;
        let work = || {
            if let Some(conversion) = &conversion {
                return self.read_registered(view, at, conversion);
            }
            if view.is_external32() {
                return Ok(self.read_converted(view, at, bytes, &mut buffer, &datatype));
            }
            let moved = self.fill_buffer(view, at, &mut buffer);
            let bytes = moved.0;
            Ok((moved, bytes))
        };
        let ((bytes, fault), stored) = self.at_work(work, |metrics, moved| {
            metrics.reads.incr();
            metrics.bytes_read.add(moved.as_ref().map_or(0, |((bytes, _), _)| *bytes));
        })?;
        Ok((self.outcome(stored, fault)?, bytes.div_ceil(view.unit())))
    }

    /// Writes from a position on. Returns also the number of etypes written.
    pub(crate) fn write_from(&self, view: &View, offset: u64, data: Typed<SendBuf<'_>>) -> Result<(Status, u64)> {
        let Typed { buffer, datatype, memory } = data;
        let each = view.representation().size_in_file(&datatype)?;
        let bytes = stored_bytes(each, buffer.bytes(), &datatype)?;
        let conversion = Conversion::new(view, memory, (&datatype, each), buffer.bytes(), true)?;
        let at = start(view, offset, bytes)?;
        let _locked = self.lock_range(view, at, bytes, true)?;
        // Relaxed: a later `sync` of this thread sees the store; other threads order their calls themselves.
        self.dirty.store(true, Ordering::Relaxed);
        let work = || match &conversion {
            Some(conversion) => self.write_registered(view, at, conversion),
            None if view.is_external32() => Ok(self.write_converted(view, at, &buffer, &datatype)),
            None => Ok(self.store_buffer(view, at, &buffer)),
        };
        let (bytes, fault) = self.at_work(work, |metrics, moved| {
            metrics.writes.incr();
            metrics.bytes_written.add(moved.as_ref().map_or(0, |(bytes, _)| *bytes));
        })?;
        // Without a fault all data are written.
        Ok((self.outcome(buffer.bytes(), fault)?, bytes.div_ceil(view.unit())))
    }

    /// In atomic mode, locks these bytes of the view.
    pub(crate) fn lock_range(&self, view: &View, at: u64, bytes: u64, write: bool) -> Result<Option<Held<'_>>> {
        if bytes == 0 || !self.is_atomic() {
            return Ok(None);
        }
        let served = self.shared.as_ref().and_then(|shared| shared.served());
        if let (Some(Hosts { locks: false, .. }), Some(served)) = (&self.hosts, served) {
            let held = self.turns.lock_over_hosts(&self.system, served, write)?;
            self.forget_cached();
            return Ok(Some(held));
        }
        let (first, last) = (view.run(at).0, view.run(at + bytes - 1).0);
        let locked = self.turns.lock(&self.system, first, last - first + 1, write);
        locked.map(|range| Some(Held::System { _range: range })).map_err(|error| self.fault(error))
    }

    pub(crate) fn outcome(&self, bytes: u64, fault: Option<Fault>) -> Result<Status> {
        if let Some(fault) = fault {
            return Err(fault.on_file(&self.name));
        }
        let mut status = Status::EMPTY;
        status.set_bytes(bytes);
        Ok(status)
    }

    /// Reads the view's bytes from `at` on until the room is full or the file ends.
    pub(crate) fn fill(&self, view: &View, at: u64, room: &mut [u8]) -> Moved {
        let sieves = self.regular && (room.len() as u64) > view.mean_run();
        if sieves { self.fill_sieving(view, at, room) } else { self.fill_runs(view, at, room) }
    }

    /// As [`File::fill`], with a system call for each run.
    pub(crate) fn fill_runs(&self, view: &View, at: u64, room: &mut [u8]) -> Moved {
        along(view, at, room.len(), |place, from, to| self.fill_run(place, &mut room[from..to]))
    }

    /// Writes all of the data to the view's places from `at` on.
    pub(crate) fn store(&self, view: &View, at: u64, data: &[u8]) -> Moved {
        let strided = self.regular && (data.len() as u64) > view.mean_run();
        let sieves = strided && self.amode.reads() && self.writes_back();
        if sieves {
            return self.store_sieving(view, at, data);
        }
        if data.is_empty() || !(self.must_lock || self.writes_back()) {
            return self.store_runs(view, at, data);
        }
        let (first, last) = (view.run(at).0, view.run(at + data.len() as u64 - 1).0);
        match self.lock_write(first, last - first + 1) {
            Ok(_locked) => self.store_runs(view, at, data),
            Err(error) => (0, Some(error.into())),
        }
    }

    /// As [`File::store`], with a system call for each run.
    pub(crate) fn store_runs(&self, view: &View, at: u64, data: &[u8]) -> Moved {
        along(view, at, data.len(), |place, from, to| self.store_run(place, &data[from..to]))
    }

    /// Reads as they are in memory.
    pub(crate) fn fill_buffer(&self, view: &View, at: u64, buffer: &mut RecvBuf<'_>) -> Moved {
        match buffer.contiguous_mut() {
            Some(room) => self.fill(view, at, room),
            None => self.scatter(view, at, buffer),
        }
    }

    /// Writes data as they are in memory.
    pub(crate) fn store_buffer(&self, view: &View, at: u64, buffer: &SendBuf<'_>) -> Moved {
        match buffer.contiguous() {
            Some(data) => self.store(view, at, data),
            None => self.gather(view, at, buffer),
        }
    }

    /// Reads contiguous bytes of the file until the room is full or the file ends.
    pub(crate) fn fill_run(&self, at: u64, room: &mut [u8]) -> Moved {
        let mut done = 0;
        while done < room.len() {
            match retry_interrupted(|| self.system_read(&mut room[done..], at + done as u64)) {
                Ok(0) => break,
                Ok(bytes) => done += bytes,
                Err(error) => return (done as u64, Some(error.into())),
            }
        }
        (done as u64, None)
    }

    /// Writes all of the data to contiguous bytes of the file.
    pub(crate) fn store_run(&self, at: u64, data: &[u8]) -> Moved {
        let mut done = 0;
        while done < data.len() {
            let write = || self.system_write(&data[done..], at + done as u64);
            match retry_interrupted(|| self.with_signals_blocked_up_to(at + data.len() as u64, write)) {
                // A write of no bytes without an error would be repeated for ever.
                Ok(0) => return (done as u64, Some(Fault::from(io::Error::from(io::ErrorKind::WriteZero)))),
                Ok(bytes) => done += bytes,
                Err(error) => return (done as u64, Some(error.into())),
            }
        }
        (done as u64, None)
    }

    /// A file without positions is read by accesses at the shared file pointer only.
    fn system_read(&self, room: &mut [u8], at: u64) -> io::Result<usize> {
        self.system_calls.fetch_add(1, Ordering::Relaxed);
        if self.is_flow() { (&self.system).read(room) } else { self.system.read_at(room, at) }
    }

    fn system_write(&self, data: &[u8], at: u64) -> io::Result<usize> {
        self.system_calls.fetch_add(1, Ordering::Relaxed);
        if self.is_flow() { (&self.system).write(data) } else { self.system.write_at(data, at) }
    }

    fn is_flow(&self) -> bool {
        self.stream && self.amode.is_sequential()
    }

    /// As [`File::with_signals_blocked`], for a write that ends at a byte of the file. The system is asked for the limit
    /// once for every [`UNLIMITED`] bytes: a limit that the program sets later may go unnoticed by writes that end
    /// before that.
    #[inline]
    fn with_signals_blocked_up_to<R>(&self, end: u64, call: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        // Relaxed: a number alone, and a smaller one only costs a call.
        if self.regular && end <= self.unlimited_to.load(Ordering::Relaxed) {
            return call();
        }
        if self.regular && signal_mask::file_size_limit().is_none() {
            self.unlimited_to.store(end.saturating_add(UNLIMITED), Ordering::Relaxed);
            return call();
        }
        signal_mask::with_signals_blocked(call)
    }

    /// Makes a call that changes the file, with its signals blocked.
    pub(crate) fn with_signals_blocked<R>(&self, call: impl FnOnce() -> io::Result<R>) -> io::Result<R> {
        if self.regular && signal_mask::file_size_limit().is_none() {
            call()
        } else {
            signal_mask::with_signals_blocked(call)
        }
    }

    /// Reads into a buffer with gaps.
    fn scatter(&self, view: &View, at: u64, buffer: &mut RecvBuf<'_>) -> Moved {
        in_pieces(buffer.bytes(), |done, piece| {
            let (bytes, fault) = self.fill(view, at + done, piece);
            buffer.unpack(done, &piece[..bytes as usize]);
            (bytes, fault)
        })
    }

    /// Writes from a buffer with gaps.
    fn gather(&self, view: &View, at: u64, buffer: &SendBuf<'_>) -> Moved {
        in_pieces(buffer.bytes(), |done, piece| {
            let length = buffer.pack(done, piece);
            self.store(view, at + done, &piece[..length])
        })
    }
}

/// Moves bytes run by run of the view, as `each(place, from, to)`, until one of the moves ends early.
fn along(view: &View, at: u64, bytes: usize, mut each: impl FnMut(u64, usize, usize) -> Moved) -> Moved {
    let mut done = 0;
    while done < bytes {
        let (place, run) = view.run(at + done as u64);
        let length = run.min((bytes - done) as u64);
        let (moved, fault) = each(place, done, done + length as usize);
        done += moved as usize;
        if fault.is_some() || moved < length {
            return (done as u64, fault);
        }
    }
    (done as u64, None)
}

/// Moves `bytes` bytes through a small piece of memory, until one of the moves ends early.
fn in_pieces(bytes: u64, mut each: impl FnMut(u64, &mut [u8]) -> Moved) -> Moved {
    let mut memory = vec![0; bytes.min(PIECE as u64) as usize];
    let mut done = 0;
    while done < bytes {
        let length = (bytes - done).min(PIECE as u64) as usize;
        let (moved, fault) = each(done, &mut memory[..length]);
        done += moved;
        if fault.is_some() || moved < length as u64 {
            return (done, fault);
        }
    }
    (done, None)
}

/// Bytes of the file that hold the elements of a buffer with so many data bytes; `each` has one element. Errors:
/// `MPI_ERR_ARG` for more than an offset can count.
fn stored_bytes(each: u64, bytes: u64, datatype: &Datatype) -> Result<u64> {
    if bytes == 0 {
        return Ok(0);
    }
    let count = bytes / datatype.size();
    let stored = each.checked_mul(count).filter(|stored| *stored <= i64::MAX as u64);
    stored.ok_or_else(|| Error::new(MPI_ERR_ARG, "no file has that many bytes").arg("count", &count))
}

/// The number of etypes that hold the elements of a buffer with so many data bytes. Error if it is not whole.
pub(crate) fn etypes_of(view: &View, bytes: u64, datatype: &Datatype) -> Result<u64> {
    whole_etypes(view, stored_bytes(view.representation().size_in_file(datatype)?, bytes, datatype)?)
}

/// The number of etypes in these bytes of the file. Error if it is not whole.
fn whole_etypes(view: &View, bytes: u64) -> Result<u64> {
    if bytes.is_multiple_of(view.unit()) {
        return Ok(bytes / view.unit());
    }
    let etype = mpi_errors::counted(view.unit(), "byte");
    let rule = format!(
        "the data are no whole number of the view's etypes: {}, of {etype} each",
        mpi_errors::counted(bytes, "byte")
    );
    let advice = "Pass a count and a datatype whose data are a whole number of etypes of MPI_File_set_view.";
    Err(Error::new(MPI_ERR_TYPE, rule).hint(advice))
}

/// The data byte where an access begins. Error if it moves parts of etypes, or ends beyond the last position of a file.
pub(crate) fn start(view: &View, offset: u64, bytes: u64) -> Result<u64> {
    whole_etypes(view, bytes)?;
    let at = offset.checked_mul(view.unit());
    let end = at.and_then(|at| at.checked_add(bytes)).filter(|end| *end <= i64::MAX as u64);
    let last = |end: u64| end == 0 || view.place(end - 1).is_some();
    match (at, end) {
        (Some(at), Some(end)) if last(end) => Ok(at),
        _ => {
            let rule = format!(
                "{} from there on: beyond the last place that a file can have",
                mpi_errors::counted(bytes, "byte")
            );
            Err(Error::new(MPI_ERR_ARG, rule).arg("offset", &offset))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_beyond_the_last_place_is_refused() {
        let view = View::bytes();
        assert!(start(&view, 0, i64::MAX as u64).is_ok() && start(&view, i64::MAX as u64, 0).is_ok());
        assert_eq!(start(&view, i64::MAX as u64, 1).expect_err("beyond").class(), MPI_ERR_ARG);
        assert_eq!(start(&view, u64::MAX, 2).expect_err("beyond").class(), MPI_ERR_ARG);
        assert_eq!(position(-1).expect_err("negative").class(), MPI_ERR_ARG);
    }

    #[test]
    fn pieces_end_where_a_move_falls_short() {
        let bytes = 2 * PIECE as u64 + 7;
        assert_eq!(in_pieces(bytes, |_, piece| (piece.len() as u64, None)), (bytes, None));
        let mut seen = Vec::new();
        let short = in_pieces(bytes, |done, piece| {
            seen.push((done, piece.len()));
            (if done == 0 { piece.len() as u64 } else { 5 }, None)
        });
        assert_eq!((short, seen.len()), ((PIECE as u64 + 5, None), 2));
    }
}
