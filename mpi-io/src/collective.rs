//! Collective changes of a file: size, storage, view, closing (MPI-5.0, 14.2.2 to 14.2.5, 14.6.2).
//!
//! Rank 0 makes the change when all processes have called, and sends them the result.
//! Invariant: a call fails in all processes or in none, except [`File::sync`], which is local to each process.

use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::{fs, io};

use mpi_core::Info;
use mpi_core::abi::{MPI_ERR_ARG, MPI_ERR_NOT_SAME};
use mpi_errors::{Error, Result, classes};

use crate::buffering::{Buffering, Choice};
use crate::fault::Fault;
use crate::file::File;
use crate::interrupted::retry_interrupted;
use crate::openers;
use crate::report::{Report, by_first, exchange, exchange_with, first_fault};
use crate::view::View;

/// In the number of a representation that rank 0 sends back: the region of marks is locked for this handle (`openers`).
const REGION_LOCKED: u64 = 1 << 63;

impl File {
    /// `MPI_File_set_size`: truncates or extends the file; waits for all. Errors: `MPI_ERR_ARG` for a negative size,
    /// `MPI_ERR_NOT_SAME` when the processes' sizes differ, `MPI_ERR_READ_ONLY`, `MPI_ERR_UNSUPPORTED_OPERATION` for a
    /// sequential file, errors of the system.
    pub fn set_size(&self, size: i64) -> Result<()> {
        let bytes = self.same_size(size)?;
        self.change(|| self.system.set_len(bytes))
    }

    /// `MPI_File_preallocate`: makes the file at least this long, with storage for all of it; waits for all. Errors: as
    /// [`File::set_size`].
    pub fn preallocate(&self, size: i64) -> Result<()> {
        let bytes = self.same_size(size)?;
        self.change(|| if bytes == 0 { Ok(()) } else { allocate(&self.system, bytes) })
    }

    /// `MPI_File_set_atomicity`; waits for all. Errors: `MPI_ERR_NOT_SAME` when the processes differ.
    pub fn set_atomic(&self, atomic: bool) -> Result<()> {
        let all = exchange(&self.engine, &self.comm, Report { fault: None, numbers: [u64::from(atomic), 0, 0, 0] })?;
        if let Some(rank) = all.iter().position(|report| report.numbers != all[0].numbers) {
            let rule = format!("rank 0 and rank {rank} differ: they must agree");
            return Err(Error::new(MPI_ERR_NOT_SAME, rule).arg("flag", &atomic));
        }
        self.atomic.store(atomic, Ordering::Relaxed);
        Ok(())
    }

    /// `MPI_File_set_view`: from now on positions count the view's etypes, and the individual file pointer is at its
    /// start; waits for all. `hints` are set too. The view of a sequential file starts at the shared file pointer's position in the old one,
    /// whatever its own displacement is. An error stands for an argument that was refused in this process. Errors: the
    /// refused arguments of one process, `MPI_ERR_NOT_SAME` when the representations or the etypes' extents differ,
    /// `MPI_ERR_ARG` when the shared file pointer is beyond the last place that a file can have.
    pub fn set_view(&self, view: Result<View>, hints: &Info) -> Result<()> {
        let hints = self.hints_with(hints);
        let numbers = view.as_ref().map_or([0; 3], |view| {
            [view.etype().datatype.extent() as u64, view.representation().number() & !REGION_LOCKED, 0]
        });
        let mut report = Report::of(&view, numbers);
        let strided = view.as_ref().is_ok_and(View::has_short_runs);
        report.numbers[3] = hints.buffering.to_word() << 1 | u64::from(strided);
        let all = exchange_with(&self.engine, &self.comm, report, |all| {
            // All processes wait now, so that none moves the pointer between these two steps.
            if let (None, true, Ok(pointer)) = (first_fault(all), same(all), self.shared()) {
                let position = pointer.here(0);
                pointer.set(0);
                all.iter_mut().for_each(|report| report.numbers[2] = position);
            }
            if all.iter().any(|report| report.numbers[3] & 1 == 1) && self.claims_region(all[0].numbers[3] >> 1) {
                all.iter_mut().for_each(|report| report.numbers[1] |= REGION_LOCKED);
            }
        })?;
        let view = unless_refused(view, &all)?;
        if let Some(rank) = all.iter().position(|report| report.numbers[..3] != all[0].numbers[..3]) {
            let rule = format!("representation or etype's extent are not the same in rank 0 and rank {rank}");
            return Err(self.refusal(MPI_ERR_NOT_SAME, rule));
        }
        self.replace_view(if self.amode.is_sequential() {
            self.with_current_position(view, all[0].numbers[2])?
        } else {
            view
        });
        // Relaxed: a collective call changes it, while no collective access is under way.
        self.strided.store(all.iter().any(|report| report.numbers[3] & 1 == 1), Ordering::Relaxed);
        self.region_locked.fetch_or(all[0].numbers[1] & REGION_LOCKED != 0, Ordering::Relaxed);
        self.replace_hints(hints, Buffering::from_word(all[0].numbers[3] >> 1));
        Ok(())
    }

    /// In rank 0: whether strided writes may write gaps back from now on (`openers`), with these hints.
    fn claims_region(&self, hints: u64) -> bool {
        let wanted = Buffering::from_word(hints).ds_write == Choice::Automatic && self.regular;
        let moves_both_ways = self.amode.reads() && self.amode.writes();
        let reaches_all = self.hosts.as_ref().is_none_or(|hosts| hosts.locks);
        wanted
            && reaches_all
            && moves_both_ways
            && !self.amode.is_unique()
            && !self.must_lock
            && openers::claim(&self.system)
    }

    /// `MPI_File_set_info`: sets the supported hints; waits for all. Those on which the processes have to agree are
    /// taken from rank 0. An error stands for an argument that was refused in this process. Errors: the refused
    /// argument of one process, in all.
    pub fn set_hints(&self, info: Result<Info>) -> Result<()> {
        let hints = info.map(|info| self.hints_with(&info));
        let word = hints.as_ref().map_or(0, |hints| hints.buffering.to_word());
        let all = exchange(&self.engine, &self.comm, Report::of(&hints, [word, 0, 0]))?;
        self.replace_hints(unless_refused(hints, &all)?, Buffering::from_word(all[0].numbers[0]));
        Ok(())
    }

    /// The view, starting at a position of the present one.
    fn with_current_position(&self, view: View, position: u64) -> Result<View> {
        let present = self.view();
        match position.checked_mul(present.unit()).and_then(|at| present.place(at)) {
            Some(place) => Ok(view.starting_at(place)),
            None => {
                let rule = "the shared file pointer is beyond the last place that a file can have";
                Err(Error::new(MPI_ERR_ARG, rule).arg("disp", &"MPI_DISPLACEMENT_CURRENT"))
            }
        }
    }

    /// The size that all processes pass; an error in all of them when one is invalid, or they differ.
    fn same_size(&self, size: i64) -> Result<u64> {
        let bytes = u64::try_from(size)
            .map_err(|_| Error::new(MPI_ERR_ARG, "a file's size must not be negative").arg("size", &size));
        let own = self.check_write().and_then(|()| self.check_pointers()).and(bytes);
        let report = Report::of(&own, [*own.as_ref().unwrap_or(&0), 0, 0]);
        let all = exchange(&self.engine, &self.comm, report)?;
        let own = unless_refused(own, &all)?;
        if let Some((rank, other)) = all.iter().enumerate().find(|(_, report)| report.numbers[0] != all[0].numbers[0]) {
            let rule =
                format!("rank 0 has {} and rank {rank} has {}: they must agree", all[0].numbers[0], other.numbers[0]);
            return Err(Error::new(MPI_ERR_NOT_SAME, rule).arg("size", &size));
        }
        Ok(own)
    }

    fn change(&self, act: impl Fn() -> io::Result<()>) -> Result<()> {
        let act = || {
            self.dirty.store(true, Ordering::Relaxed);
            retry_interrupted(|| self.with_signals_blocked(&act)).map(|()| [0; 2]).map_err(Fault::from)
        };
        let changed = by_first(&self.engine, &self.comm, act)?.map(drop).map_err(|fault| fault.on_file(&self.name));
        self.forget_cached();
        changed
    }

    /// `MPI_File_sync`: writes the data of this process to the device. Data of other processes can be read once they
    /// have called it too. Errors: those of the system, also of earlier writes.
    pub fn sync(&self) -> Result<()> {
        // Opened for reading only, so there are no data to write to the device.
        if !self.amode.writes() {
            self.forget_cached();
            return Ok(());
        }
        self.dirty.store(false, Ordering::Relaxed);
        let synchronised = self.at_work(|| retry_interrupted(|| self.system.sync_all()), |_, _| {});
        let synchronised = self.turns.take_error().and(synchronised);
        self.forget_cached();
        match synchronised {
            // A pipe or a terminal, which cannot be synchronised.
            Err(error) if !self.regular && error.raw_os_error() == Some(libc::EINVAL) => Ok(()),
            result => result.map_err(|error| self.fault(error)),
        }
    }

    /// `MPI_File_close`, except freeing the objects of this process. Data are written to the device if there are any.
    /// Waits for all processes if the file may be written or they are on several hosts; one that is deleted on closing is deleted when all have called. Errors: as [`File::sync`], and those
    /// of the deletion, in all processes. The file is to be dropped after an error too.
    pub fn close(&self) -> Result<()> {
        if !self.amode.deletes() {
            let finished = self.finish();
            // The mark of rank 0 stays until no process writes.
            // Rank 0 serves the others of several hosts until all have called.
            let met = if self.hosts.is_some() || self.regular && self.amode.writes() && self.comm.size() > 1 {
                exchange(&self.engine, &self.comm, Report { fault: None, numbers: [0; 4] }).map(drop)
            } else {
                Ok(())
            };
            // Closing the file does the same; the program may have passed it on to a child process.
            let _ = openers::remove(&self.system);
            return finished.and(met);
        }
        // Deletes when all processes have called: another open of the same name could need the file until then.
        exchange(&self.engine, &self.comm, Report { fault: None, numbers: [0; 4] })?;
        let deleted = by_first(&self.engine, &self.comm, || self.delete().map(|()| [0; 2]))?;
        deleted.map(drop).map_err(|fault| fault.on_file(&self.name))
    }

    /// Closes without the others, for a program that ends with the file open. Rank 0 deletes the file if its mode is
    /// delete-on-close.
    /// Errors: as [`File::close`].
    pub fn close_alone(&self) -> Result<()> {
        match (self.amode.deletes(), self.comm.rank()) {
            (false, _) => self.finish(),
            (true, 0) => self.delete().map_err(|fault| fault.on_file(&self.name)),
            (true, _) => Ok(()),
        }
    }

    /// Deletes the file unless it was deleted already.
    fn delete(&self) -> Result<(), Fault> {
        match delete(&self.path) {
            Err(fault) if fault.errno == libc::ENOENT => Ok(()),
            result => result,
        }
    }

    fn finish(&self) -> Result<()> {
        if self.dirty.load(Ordering::Relaxed) { self.sync() } else { Ok(()) }
    }
}

/// Deletes a file by its name.
pub(crate) fn delete(path: &Path) -> Result<(), Fault> {
    retry_interrupted(|| fs::remove_file(path)).map_err(Fault::from)
}

fn same(all: &[Report]) -> bool {
    all.iter().all(|report| report.numbers[..3] == all[0].numbers[..3])
}

/// This process's own result, when none was refused.
pub(crate) fn unless_refused<T>(own: Result<T>, all: &[Report]) -> Result<T> {
    let Some((rank, fault)) = first_fault(all) else { return own };
    Err(match own {
        Err(own) if own.class() == fault.class => own,
        _ => refused_elsewhere(rank, fault.class),
    })
}

/// An argument of another process was refused.
#[cold]
pub(crate) fn refused_elsewhere(rank: usize, class: i32) -> Error {
    let text = classes::text(class).unwrap_or("an error that has no name");
    Error::new(class, format!("an argument of rank {rank} was refused: {text}"))
}

#[allow(unsafe_code)] // the standard library has no call for this
fn allocate(file: &fs::File, bytes: u64) -> io::Result<()> {
    let length = libc::off_t::try_from(bytes).map_err(|_| io::Error::from_raw_os_error(libc::EFBIG))?;
    // SAFETY: the call takes numbers only.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, length) } {
        0 => Ok(()),
        errno => Err(io::Error::from_raw_os_error(errno)),
    }
}
