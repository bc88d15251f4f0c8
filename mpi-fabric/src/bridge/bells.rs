//! The doorbells of another job's processes: the pages of its job memory that have them, mapped.
//!
//! Invariant: the header of the job memory has been checked, so each bell lies inside what is mapped.
//! Not here: ringing (`doorbell`).

use std::os::fd::AsFd;
use std::ptr::NonNull;
use std::sync::atomic::Ordering;

use mpi_errors::Result;

use super::wrong_member;
use crate::job::checked_layout;
use crate::layout::{self, Layout, bell, header};
use crate::mapping::{Mapping, open_sealed};
use crate::sync::AtomicU32;
use crate::transport::ProcessId;

pub(super) struct Bells {
    mapping: Mapping,
    layout: Layout,
}

/// The words of one bell: waiters, futex.
pub(crate) type BellWords = [NonNull<AtomicU32>; 2];

impl Bells {
    /// Maps the bells of the job of a process, which has its job memory open under a descriptor.
    /// # Errors
    /// `MPI_ERR_OTHER`: it has not, or may not be looked at.
    pub(super) fn open(id: ProcessId, pid: u32, descriptor: i32) -> Result<Bells> {
        let refused = |error: std::io::Error| {
            let why =
                format!("has no job memory that can be opened as descriptor {descriptor} of process {pid}: {error}");
            wrong_member(id.rank, id, &why)
        };
        let file = open_sealed(pid, descriptor).map_err(refused)?;
        let page = Mapping::open_part(file.as_fd(), 0, layout::PAGE).map_err(refused)?;
        let layout = checked_layout(&page, layout::MAGIC, "the shared memory of a job")?;
        if page.word(header::JOB_ID).load(Ordering::Relaxed) != id.job {
            return Err(wrong_member(id.rank, id, "has the memory of another job open"));
        }
        let (at, bytes) = layout.bells();
        Ok(Bells { mapping: Mapping::open_part(file.as_fd(), at, bytes).map_err(refused)?, layout })
    }

    /// Refuses a place that the job memory has not.
    pub(super) fn check(&self, id: ProcessId, place: u32) -> Result<()> {
        match place < self.layout.ranks() {
            true => Ok(()),
            false => Err(wrong_member(id.rank, id, "names a place outside its job memory")),
        }
    }

    /// The bell of a place that was checked.
    pub(super) fn bell(&self, place: u32) -> BellWords {
        let at = self.layout.bell_at(place) - self.layout.bells().0;
        [bell::WAITERS, bell::FUTEX].map(|word| NonNull::from(self.mapping.half(at + word)))
    }
}
