//! Accesses of contiguous memory through a view without gaps, with the data as they are in memory: one place in the file,
//! and one system call if the system moves all at once.
//!
//! Invariant: what is unusual, wrong arguments included, is left to the longer way (`access`) before anything is done.

use std::os::unix::fs::FileExt;
use std::sync::atomic::Ordering;

use mpi_core::Status;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;

use crate::fault::Fault;
use crate::file::File;
use crate::moved::Moved;

impl File {
    /// As [`File::read_from`], with the view that the file has now; `None` if the longer way has to read.
    pub(crate) fn read_plainly(&self, offset: u64, buffer: &mut RecvBuf<'_>) -> Option<Result<(Status, u64)>> {
        let plain = self.plain()?;
        let place = plain.place(offset, buffer.bytes())?;
        if !self.regular {
            return None;
        }
        let room = buffer.contiguous_mut().filter(|room| !room.is_empty())?;
        let read = || match self.system.read_at(room, place) {
            Ok(bytes) if bytes == room.len() => (bytes as u64, None),
            Ok(0) => (0, None),
            Ok(bytes) => behind(bytes, self.fill_run(place + bytes as u64, &mut room[bytes..])),
            Err(_) => self.fill_run(place, room),
        };
        let (bytes, fault) = self.at_work(read, |metrics, (bytes, _)| {
            metrics.system_calls.incr();
            metrics.reads.incr();
            metrics.bytes_read.add(*bytes);
        });
        Some(self.outcome(bytes, fault).map(|status| (status, plain.etypes(bytes))))
    }

    /// As [`File::write_from`], with the view that the file has now; `None` if the longer way has to write.
    pub(crate) fn write_plainly(&self, offset: u64, buffer: &SendBuf<'_>) -> Option<Result<(Status, u64)>> {
        let plain = self.plain()?;
        let data = buffer.contiguous().filter(|data| !data.is_empty())?;
        let place = plain.place(offset, data.len() as u64)?;
        // Relaxed: as in `with_signals_blocked_up_to`. Only a regular file has such a range.
        let unlimited = place + data.len() as u64 <= self.unlimited_to.load(Ordering::Relaxed);
        if !unlimited || self.must_lock || self.may_write_back() {
            return None;
        }
        // Relaxed: a later `sync` of this thread sees the store; other threads order their calls themselves.
        self.dirty.store(true, Ordering::Relaxed);
        let write = || match self.system.write_at(data, place) {
            Ok(bytes) if bytes == data.len() => (bytes as u64, None),
            Ok(bytes) => behind(bytes, self.store_run(place + bytes as u64, &data[bytes..])),
            Err(_) => self.store_run(place, data),
        };
        let (bytes, fault): (u64, Option<Fault>) = self.at_work(write, |metrics, (bytes, _)| {
            metrics.system_calls.incr();
            metrics.writes.incr();
            metrics.bytes_written.add(*bytes);
        });
        // Without a fault all data are written.
        Some(self.outcome(bytes, fault).map(|status| (status, plain.etypes(bytes))))
    }
}

/// What was moved, after so many bytes were moved before.
fn behind(before: usize, (moved, fault): Moved) -> Moved {
    (before as u64 + moved, fault)
}
