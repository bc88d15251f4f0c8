//! Accesses of contiguous memory through a view without gaps, with the data as they are in memory: one place in the file.
//!
//! Invariant: what is unusual, wrong arguments included, is left to the longer way (`access`) before anything is done.

use std::sync::atomic::Ordering;

use mpi_core::Status;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;

use crate::file::File;

impl File {
    /// As [`File::read_from`], with the view that the file has now; `None` if the longer way has to read.
    pub(crate) fn read_plainly(&self, offset: u64, buffer: &mut RecvBuf<'_>) -> Option<Result<(Status, u64)>> {
        let plain = self.plain()?;
        let place = plain.place(offset, buffer.bytes())?;
        let room = buffer.contiguous_mut().filter(|room| !room.is_empty())?;
        let (bytes, fault) = self.at_work(
            || self.fill_run(place, room),
            |metrics, (bytes, _)| {
                metrics.reads.incr();
                metrics.bytes_read.add(*bytes);
            },
        );
        Some(self.outcome(bytes, fault).map(|status| (status, plain.etypes(bytes))))
    }

    /// As [`File::write_from`], with the view that the file has now; `None` if the longer way has to write.
    pub(crate) fn write_plainly(&self, offset: u64, buffer: &SendBuf<'_>) -> Option<Result<(Status, u64)>> {
        let plain = self.plain()?;
        let data = buffer.contiguous().filter(|data| !data.is_empty())?;
        let place = plain.place(offset, data.len() as u64)?;
        if self.must_lock || self.may_write_back() {
            return None;
        }
        // Relaxed: a later `sync` of this thread sees the store; other threads order their calls themselves.
        self.dirty.store(true, Ordering::Relaxed);
        let (bytes, fault) = self.at_work(
            || self.store_run(place, data),
            |metrics, (bytes, _)| {
                metrics.writes.incr();
                metrics.bytes_written.add(*bytes);
            },
        );
        // Without a fault all data are written.
        Some(self.outcome(bytes, fault).map(|status| (status, plain.etypes(bytes))))
    }
}
