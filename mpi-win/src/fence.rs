//! `MPI_Win_fence` (MPI-5.0, 12.5.1): all operations on a window are complete, and all processes agree that they are.
//!
//! Each process sends its batches; then all processes sum up how many batches each of them must expect, which is
//! defined only when all have reached the fence. Each process waits until its service (`serve`) has applied the
//! operations in those batches. If there were any, a barrier follows, so that no process accesses memory that an
//! operation of this epoch still changes. Where all processes have mapped the memory there are no batches, and a
//! barrier is sufficient.
//! Invariant: a process that finds an error continues to the end of the fence, so that the others do not hang.

use mpi_comm::Outcome;
use mpi_core::abi::*;
use mpi_errors::{Error, Result};

use crate::OneSided;
use crate::assertions;
use crate::sending::RecordOps;
use crate::window::Win;

/// The assertions that a fence accepts.
const ASSERTIONS: i32 = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;

impl OneSided {
    /// `MPI_Win_fence`. Collective over the window; waits, with no guard held.
    ///
    /// Errors: at once `MPI_ERR_ASSERT` for other assertions, and `MPI_ERR_RMA_SYNC` while an epoch of another kind is
    /// open, or when the parts of the window were given out as elements; at the end `MPI_ERR_ASSERT` when
    /// `MPI_MODE_NOPRECEDE` was not true, and those of the operations.
    pub fn fence(&self, win: &Win, assert: i32) -> Result<()> {
        let names = "MPI_MODE_NOSTORE, _NOPUT, _NOPRECEDE and _NOSUCCEED";
        assertions::check("a fence", assert, ASSERTIONS, names)?;
        win.check_operable()?;
        win.check_no_epoch(&self.engine.lock(), "MPI_Win_fence")?;
        if win.is_mapped() {
            return self.fence_mapped(win, assert);
        }
        let mut outcome = Outcome::default();
        let (ops, mut counts, started, short) = self.send_all(win, &mut outcome);
        self.send_empty(win, &short, &mut outcome);
        self.coll.sum(&win.comm, &mut counts)?;
        let (expected, anything) = (counts[win.rank() as usize], counts.iter().any(|count| *count > 0));
        let expected = {
            let guard = &mut self.engine.lock();
            let epoch = win.epoch.get_mut(guard);
            epoch.expected += expected;
            epoch.expected
        };
        // The service has applied the batches that have arrived, and applies the others while this waits.
        let context = win.comm.collective_context();
        outcome.record(self.engine.wait_until(self.engine.lock(), context, || win.service.has_applied(expected)));
        outcome.record(win.service.take_error(&mut self.engine.lock()).map_or(Ok(()), Err));
        let waited = ops.wait_all(&mut outcome);
        outcome.record(waited);
        if anything {
            outcome.record(self.coll.synchronize(&win.comm));
        }
        let guard = &mut self.engine.lock();
        win.instruments().fences.incr();
        let epoch = win.epoch.get_mut(guard);
        epoch.open = assert & MPI_MODE_NOSUCCEED == 0 && !win.is_given_out();
        epoch.counts = counts;
        if started > 0 && assert & MPI_MODE_NOPRECEDE != 0 {
            outcome.record(Err(not_the_first(started)));
        }
        outcome.end()
    }

    /// A fence of a window whose memory all processes have mapped: each has performed its operations itself.
    fn fence_mapped(&self, win: &Win, assert: i32) -> Result<()> {
        // The barrier orders the operations of all before it and those of all after it.
        let met = self.coll.synchronize(&win.comm);
        let guard = &mut self.engine.lock();
        win.instruments().fences.incr();
        let epoch = win.epoch.get_mut(guard);
        let started = std::mem::take(&mut epoch.started);
        epoch.open = assert & MPI_MODE_NOSUCCEED == 0 && !win.is_given_out();
        met?;
        match started > 0 && assert & MPI_MODE_NOPRECEDE != 0 {
            true => Err(not_the_first(started)),
            false => Ok(()),
        }
    }

    /// Sends the batches of the epoch. Returns the number of batches for each rank since the last fence, the number of
    /// operations started, and the ranks to which data of those batches could not be sent, once for each. A batch that
    /// cannot be sent is an error in the outcome and is not counted.
    fn send_all(&self, win: &Win, outcome: &mut Outcome) -> (RecordOps<'_>, Vec<u64>, u64, Vec<i32>) {
        let guard = &mut self.engine.lock();
        let epoch = win.epoch.get_mut(guard);
        let started = std::mem::take(&mut epoch.started);
        epoch.small = 0;
        let mut counts = std::mem::take(&mut epoch.counts);
        counts.clear();
        counts.append(&mut epoch.early);
        counts.resize(win.size() as usize, 0);
        let (mut ops, mut short) = (RecordOps::new(&self.engine), Vec::new());
        for (receive, rank, bytes) in epoch.replies.drain(..) {
            ops.await_reply(receive, rank, bytes);
        }
        if !std::mem::take(&mut epoch.sends) {
            return (ops, counts, started, short);
        }
        let outgoing = std::mem::take(&mut epoch.outgoing);
        for (rank, outgoing) in outgoing.into_iter().enumerate() {
            counts[rank] += self.send_records(guard, win, (rank as i32, outgoing), &mut ops, &mut short, outcome);
        }
        (ops, counts, started, short)
    }
}

#[cold]
fn not_the_first(started: u64) -> Error {
    let what = if started == 1 { "1 operation".to_owned() } else { format!("{started} operations") };
    let rule = format!("this process started {what} since the last fence; the fence has completed them nevertheless");
    Error::new(MPI_ERR_ASSERT, rule).arg("assert", &"MPI_MODE_NOPRECEDE")
}
