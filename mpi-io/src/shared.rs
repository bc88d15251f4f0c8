//! Accesses at the shared file pointer (MPI-5.0, 14.4.4): each advances the pointer, then moves its data.
//!
//! A pipe or a terminal, opened with `MPI_MODE_SEQUENTIAL`, has no positions: its data are a stream.
//! Invariant: the pointer advances before the data move, by the number of etypes in the buffer, also if the file ends
//! earlier or the access fails.

use mpi_core::Status;
use mpi_core::abi::{MPI_ERR_ARG, MPI_ERR_NOT_SAME, MPI_ERR_UNSUPPORTED_OPERATION};
use mpi_datatype::{Datatype, RecvBuf, SendBuf};
use mpi_errors::{Error, Result};
use mpi_p2p::Mode;

use crate::access::etypes_of;
use crate::collective::unless_refused;
use crate::file::{File, Whence};
use crate::pointer::SharedPointer;
use crate::report::{Report, exchange_with, first_fault};
use crate::typed::Typed;
use crate::view::View;

/// Tag of the messages by which ordered accesses to a stream follow each other.
const TURN: i32 = 0x7011;
/// Stands for a position that no file has.
const NOWHERE: u64 = u64::MAX;

impl File {
    /// `MPI_File_read_shared`. Errors: as [`File::read_at`], and `MPI_ERR_UNSUPPORTED_OPERATION` when the processes
    /// could not share memory.
    pub fn read_shared<'a>(&self, data: impl Into<Typed<RecvBuf<'a>>>) -> Result<Status> {
        let data = data.into();
        self.check_reads()?;
        let view = self.view();
        let place = self.shared()?.advance(etypes_of(&view, data.buffer.bytes(), &data.datatype)?)?;
        self.read_from(&view, place, data).map(|(status, _)| status)
    }

    /// `MPI_File_write_shared`. Errors: as [`File::read_shared`], but `MPI_ERR_READ_ONLY`.
    pub fn write_shared<'a>(&self, data: impl Into<Typed<SendBuf<'a>>>) -> Result<Status> {
        let data = data.into();
        self.check_write()?;
        let view = self.view();
        let place = self.shared()?.advance(etypes_of(&view, data.buffer.bytes(), &data.datatype)?)?;
        self.write_from(&view, place, data).map(|(status, _)| status)
    }

    /// `MPI_File_read_ordered`: all processes, in the order of their ranks; waits for all. Errors: as
    /// [`File::read_shared`]; an error in one process is an error in all.
    pub fn read_ordered<'a>(&self, data: impl Into<Typed<RecvBuf<'a>>>) -> Result<Status> {
        let data = data.into();
        let view = self.view();
        let place = self.ordered(&view, (data.buffer.bytes(), &data.datatype), self.check_reads())?;
        self.in_turn(|| self.read_from(&view, place, data).map(|(status, _)| status))
    }

    /// `MPI_File_write_ordered`: as [`File::read_ordered`].
    pub fn write_ordered<'a>(&self, data: impl Into<Typed<SendBuf<'a>>>) -> Result<Status> {
        let data = data.into();
        let view = self.view();
        let place = self.ordered(&view, (data.buffer.bytes(), &data.datatype), self.check_write())?;
        self.in_turn(|| self.write_from(&view, place, data).map(|(status, _)| status))
    }

    /// `MPI_File_seek_shared`; waits for all. Errors: as [`File::seek`], in all processes, and `MPI_ERR_NOT_SAME` when
    /// they pass different positions.
    pub fn seek_shared(&self, offset: i64, whence: Whence) -> Result<()> {
        let checked = self.check_pointers().and_then(|()| self.shared()).and_then(|_| match whence {
            Whence::End => self.size().map(|size| self.view().etypes_in(size)),
            _ => Ok(0),
        });
        let end = *checked.as_ref().unwrap_or(&0);
        let report = Report::of(&checked, [offset as u64, whence as u64, 0]);
        let all = exchange_with(&self.engine, &self.comm, report, |all| {
            if first_fault(all).is_some() || all.iter().any(|report| report.numbers != all[0].numbers) {
                return;
            }
            let pointer = self.shared().expect("it was checked");
            let from = match whence {
                Whence::Start => 0,
                Whence::Current => pointer.here(0),
                Whence::End => end,
            };
            let place = from.checked_add_signed(offset).filter(|place| *place <= i64::MAX as u64);
            place.inspect(|place| pointer.set(*place));
            all[0].numbers[2] = if place.is_some() { 0 } else { NOWHERE };
        })?;
        unless_refused(checked, &all)?;
        let wanted = |report: &Report| [report.numbers[0], report.numbers[1]];
        if let Some(rank) = all.iter().position(|report| wanted(report) != wanted(&all[0])) {
            let rule = format!("rank 0 and rank {rank} pass different positions: they must be the same");
            return Err(Error::new(MPI_ERR_NOT_SAME, rule).arg("offset", &offset));
        }
        if all[0].numbers[2] == NOWHERE {
            return Err(Error::new(MPI_ERR_ARG, "that is no place in a file").arg("offset", &offset));
        }
        Ok(())
    }

    /// The shared file pointer, in etypes of the view (`MPI_File_get_position_shared`). Errors:
    /// `MPI_ERR_UNSUPPORTED_OPERATION` for a sequential file, and when the processes could not share memory;
    /// `MPI_ERR_PROC_ABORTED` when they are on several hosts and one is lost.
    pub fn position_shared(&self) -> Result<u64> {
        self.check_pointers()?;
        self.shared()?.get()
    }

    /// The shared pointer's word.
    pub(crate) fn shared(&self) -> Result<&SharedPointer> {
        let rule = "its processes could not share memory, so that it has no shared file pointer";
        self.shared.as_ref().ok_or_else(|| self.refusal(MPI_ERR_UNSUPPORTED_OPERATION, rule))
    }

    /// The position of this process's part in an ordered access.
    fn ordered(&self, view: &View, (bytes, datatype): (u64, &Datatype), allowed: Result<()>) -> Result<u64> {
        let etypes = allowed.and_then(|()| self.shared()).and_then(|_| etypes_of(view, bytes, datatype));
        let report = Report::of(&etypes, [*etypes.as_ref().unwrap_or(&0), 0, 0]);
        let all = exchange_with(&self.engine, &self.comm, report, |all| {
            if first_fault(all).is_none() {
                let total = all.iter().map(|report| report.numbers[0]).fold(0, u64::wrapping_add);
                let mut place = self.shared().expect("it was checked").here(total);
                for report in all {
                    report.numbers[1] = place;
                    place = place.wrapping_add(report.numbers[0]);
                }
            }
        })?;
        unless_refused(etypes, &all)?;
        Ok(all[self.comm.rank() as usize].numbers[1])
    }

    /// Makes an ordered access; to a stream, after those of all lower ranks.
    fn in_turn(&self, access: impl FnOnce() -> Result<Status>) -> Result<Status> {
        if !self.stream {
            return access();
        }
        let (engine, context, rank) = (&self.engine, self.comm.collective_context(), self.comm.rank() as i32);
        if rank > 0 {
            engine.recv(engine.lock(), context, rank - 1, TURN, RecvBuf::empty())?;
        }
        // After an error too, so that the next process does not wait for ever.
        let result = access();
        if rank + 1 < self.comm.size() as i32 {
            engine.send(engine.lock(), context, rank + 1, TURN, SendBuf::empty(), Mode::Standard)?;
        }
        result
    }
}
