//! `MPI_Win_fence` (MPI-5.0, 12.5.1): all operations on a window are complete, and all processes agree that they are.
//!
//! Everybody sends what waits, then all add up who has to expect how many batches, which nobody knows before all have
//! come to the fence. Each process carries out what the others asked of it. If there was anything to be carried out,
//! all meet once more, so that nobody goes on to touch memory that an operation of this epoch is still to change.
//! Invariant: a process that finds an error goes on to the end of the fence, so that the others do not hang.

use mpi_core::Handle;
use mpi_core::abi::*;
use mpi_datatype::SendBuf;
use mpi_errors::{Error, Result};
use mpi_p2p::{Engine, Mode};

use crate::OneSided;
use crate::window::Win;
use crate::wire::{BATCH, DATA};

/// What may be asserted of a fence.
const ASSERTIONS: i32 = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;

impl OneSided {
    /// `MPI_Win_fence`. Collective over the window; waits, with no guard held.
    ///
    /// Errors: `MPI_ERR_ASSERT` at once for assertions that a fence has not, and at the end when
    /// `MPI_MODE_NOPRECEDE` was not true; whatever goes wrong with the operations.
    pub fn fence(&self, win: &Win, assert: i32) -> Result<()> {
        if assert & !ASSERTIONS != 0 {
            return Err(bad_assertion(assert));
        }
        let (mut flight, mut counts, started) = self.depart(win)?;
        self.coll.sum(&win.comm, &mut counts)?;
        let (expected, anything) = (counts[win.rank() as usize], counts.iter().any(|count| *count > 0));
        let mut outcome = Outcome::default();
        if anything {
            self.serve(win, expected, &mut flight, &mut outcome)?;
        }
        flight.land(&mut outcome)?;
        if anything {
            self.coll.synchronize(&win.comm)?;
        }
        let guard = &mut self.engine.lock();
        win.instruments().fences.incr();
        let epoch = win.epoch.get_mut(guard);
        epoch.open = assert & MPI_MODE_NOSUCCEED == 0;
        epoch.counts = counts;
        if started > 0 && assert & MPI_MODE_NOPRECEDE != 0 {
            outcome.note(Err(not_the_first(started)));
        }
        outcome.end()
    }

    /// Sends what waits for the fence, and says how many batches go to each rank.
    fn depart(&self, win: &Win) -> Result<(Flight<'_>, Vec<u64>, u64)> {
        let guard = &mut self.engine.lock();
        let epoch = win.epoch.get_mut(guard);
        let started = std::mem::take(&mut epoch.started);
        epoch.small = 0;
        let mut counts = std::mem::take(&mut epoch.counts);
        counts.clear();
        counts.resize(win.size() as usize, 0);
        let mut flight = Flight::new(&self.engine);
        for (receive, rank, bytes) in epoch.replies.drain(..) {
            flight.watch(receive, Some((rank, bytes)));
        }
        if !std::mem::take(&mut epoch.sends) {
            return Ok((flight, counts, started));
        }
        let outgoing = std::mem::take(&mut epoch.outgoing);
        for (rank, outgoing) in outgoing.into_iter().enumerate() {
            counts[rank] = outgoing.batches.len() as u64;
            for batch in outgoing.batches {
                let data = flight.keep(batch);
                let send = self.engine.isend(guard, win.context(), rank as i32, BATCH, data, Mode::Standard)?;
                flight.watch(send, None);
            }
            for data in outgoing.data {
                let send = self.engine.isend(guard, win.context(), rank as i32, DATA, data, Mode::Standard)?;
                flight.watch(send, None);
            }
        }
        Ok((flight, counts, started))
    }
}

/// Requests of one fence, and the memory they need.
///
/// Invariant: when it ends, by `land` or by an early return, none of its requests can touch that memory any more.
pub(crate) struct Flight<'e> {
    engine: &'e Engine,
    requests: Vec<Handle>,
    /// Of each receive: rank and bytes expected; of a send, `None`.
    expected: Vec<Option<(u32, u64)>>,
    kept: Vec<Vec<u8>>,
}

impl<'e> Flight<'e> {
    fn new(engine: &'e Engine) -> Flight<'e> {
        Flight { engine, requests: Vec::new(), expected: Vec::new(), kept: Vec::new() }
    }

    /// Takes over a request.
    pub fn watch(&mut self, request: Handle, expected: Option<(u32, u64)>) {
        self.requests.push(request);
        self.expected.push(expected);
    }

    /// Takes over memory that a request reads, which is watched next.
    #[allow(unsafe_code)] // lends memory to requests that it outlives
    pub fn keep(&mut self, memory: Vec<u8>) -> SendBuf<'static> {
        // SAFETY: the bytes stay where they are when the vector moves, and `self` keeps it, unchanged, until all of its
        // requests are over.
        let data = unsafe { SendBuf::from_slice(&memory).detach() };
        self.kept.push(memory);
        data
    }

    /// Waits until all are over.
    fn land(mut self, outcome: &mut Outcome) -> Result<()> {
        if self.requests.is_empty() {
            return Ok(());
        }
        let expected = &self.expected;
        self.engine.wait_all(self.engine.lock(), &self.requests, |index, completion| {
            outcome.note(match (completion.error, expected[index]) {
                (Some(error), _) => Err(error),
                (None, Some((rank, bytes))) if completion.status.bytes() != bytes => Err(short(rank, bytes)),
                (None, _) => Ok(()),
            });
        })?;
        self.requests.clear();
        Ok(())
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        if !self.requests.is_empty() {
            let guard = &mut self.engine.lock();
            for request in &self.requests {
                // One that is over already is gone, which is as good.
                self.engine.abandon(guard, *request);
            }
        }
    }
}

/// The first error of a fence that goes on to its end.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    first: Option<Error>,
}

impl Outcome {
    pub fn note(&mut self, result: Result<()>) {
        if let Err(error) = result {
            self.first.get_or_insert(error);
        }
    }

    fn end(self) -> Result<()> {
        self.first.map_or(Ok(()), Err)
    }
}

#[cold]
fn short(rank: u32, bytes: u64) -> Error {
    Error::new(MPI_ERR_OTHER, format!("rank {rank} did not answer a get of {bytes} bytes with as many"))
}

#[cold]
fn bad_assertion(assert: i32) -> Error {
    let rule = "a fence takes MPI_MODE_NOSTORE, _NOPUT, _NOPRECEDE and _NOSUCCEED, or 0";
    Error::new(MPI_ERR_ASSERT, rule).arg("assert", &assert)
}

#[cold]
fn not_the_first(started: u64) -> Error {
    let what = if started == 1 { "1 operation".to_owned() } else { format!("{started} operations") };
    let rule = format!("this process started {what} since the last fence; the fence has completed them all the same");
    Error::new(MPI_ERR_ASSERT, rule).arg("assert", &"MPI_MODE_NOPRECEDE")
}
