//! `MPI_Win_fence` (MPI-5.0, 12.5.1): all operations on a window are complete, and all processes agree that they are.
//!
//! Each process sends its batches; then all processes sum up how many batches each of them must expect, which is
//! defined only when all have reached the fence. Each process waits until its service (`serve`) has applied the
//! operations in those batches. If there were any, a barrier follows, so that no process accesses memory that an
//! operation of this epoch still changes.
//! Invariant: a process that finds an error continues to the end of the fence, so that the others do not hang.

use mpi_comm::{Expected, Outcome, PendingOps};
use mpi_core::abi::*;
use mpi_core::{Guard, Handle};
use mpi_datatype::SendBuf;
use mpi_errors::{Error, Result};
use mpi_p2p::{Engine, Mode};

use crate::OneSided;
use crate::window::Win;
use crate::wire::{BATCH, DATA, Head};

/// The assertions that a fence accepts.
const ASSERTIONS: i32 = MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED;

impl OneSided {
    /// `MPI_Win_fence`. Collective over the window; waits, with no guard held.
    ///
    /// Errors: `MPI_ERR_ASSERT` at once for other assertions, and at the end when `MPI_MODE_NOPRECEDE` was not true;
    /// `MPI_ERR_RMA_SYNC` at once when the parts of the window were given out as elements; those of the operations.
    pub fn fence(&self, win: &Win, assert: i32) -> Result<()> {
        if assert & !ASSERTIONS != 0 {
            return Err(bad_assertion(assert));
        }
        win.check_operable()?;
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
        outcome.record(self.engine.wait_until(self.engine.lock(), || win.service.has_applied(expected)));
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

    /// Sends the batches of the epoch. Returns the number of batches for each rank, the number of operations started,
    /// and the ranks to which data of those batches could not be sent, once for each. A batch that cannot be sent is an
    /// error in the outcome and is not counted.
    fn send_all(&self, win: &Win, outcome: &mut Outcome) -> (FenceOps<'_>, Vec<u64>, u64, Vec<i32>) {
        let guard = &mut self.engine.lock();
        let epoch = win.epoch.get_mut(guard);
        let started = std::mem::take(&mut epoch.started);
        epoch.small = 0;
        let mut counts = std::mem::take(&mut epoch.counts);
        counts.clear();
        counts.resize(win.size() as usize, 0);
        let (mut ops, mut short) = (FenceOps::new(&self.engine), Vec::new());
        for (receive, rank, bytes) in epoch.replies.drain(..) {
            ops.pending.add(receive, Some(Expected { source: rank, bytes }));
        }
        if !std::mem::take(&mut epoch.sends) {
            return (ops, counts, started, short);
        }
        let outgoing = std::mem::take(&mut epoch.outgoing);
        for (rank, outgoing) in outgoing.into_iter().enumerate() {
            let mut start = |guard: &mut Guard<'_>, tag, data| {
                let send = match tag {
                    BATCH => self.engine.send_to_service(guard, win.context(), rank as i32, tag, data),
                    _ => self.engine.isend(guard, win.context(), rank as i32, tag, data, Mode::Standard),
                };
                send.map_err(|error| outcome.record(Err(error))).ok()
            };
            let (mut data, mut batches, mut unsent) = (outgoing.data, outgoing.batches.into_iter(), None);
            for batch in batches.by_ref() {
                let Some(send) = start(guard, BATCH, ops.keep(batch)) else {
                    unsent = ops.kept.pop();
                    break;
                };
                ops.add_send(send);
                counts[rank] += 1;
            }
            for head in unsent.into_iter().chain(batches).flat_map(|batch| heads(&batch)) {
                if head.has_data_behind() {
                    data.pop();
                }
                if head.is_answered() {
                    ops.pending.exclude_last(rank as u32);
                }
            }
            let mut data = data.into_iter();
            while let Some(next) = data.next() {
                let Some(send) = start(guard, DATA, next) else {
                    // The target assigns data to records by their order, so no more data go there.
                    short.resize(short.len() + data.len() + 1, rank as i32);
                    break;
                };
                ops.add_send(send);
            }
        }
        (ops, counts, started, short)
    }

    /// Sends empty messages instead of data, so that their targets do not wait for them: these need no request.
    fn send_empty(&self, win: &Win, ranks: &[i32], outcome: &mut Outcome) {
        let engine = &self.engine;
        for rank in ranks {
            outcome.record(engine.send(engine.lock(), win.context(), *rank, DATA, SendBuf::empty(), Mode::Standard));
        }
    }
}

/// Requests of one fence, and the memory that they use.
pub(crate) struct FenceOps<'e> {
    /// Dropped before `kept`, so that no request uses memory that is freed.
    pending: PendingOps<'e, 'static>,
    kept: Vec<Vec<u8>>,
}

impl<'e> FenceOps<'e> {
    #[allow(unsafe_code)] // promises not to leak the requests
    fn new(engine: &'e Engine) -> FenceOps<'e> {
        // SAFETY: `fence` alone makes one; it passes it to `wait_all` or drops it.
        FenceOps { pending: unsafe { PendingOps::new(engine) }, kept: Vec::new() }
    }

    /// Takes ownership of a send.
    pub fn add_send(&mut self, request: Handle) {
        self.pending.add(request, None);
    }

    /// Takes ownership of memory that a request reads, which is added next.
    #[allow(unsafe_code)] // gives memory to requests that it outlives
    pub fn keep(&mut self, memory: Vec<u8>) -> SendBuf<'static> {
        // SAFETY: the bytes stay where they are when the vector moves, and `self` keeps it, unchanged, until all of its
        // requests are over.
        let data = unsafe { SendBuf::from_slice(&memory).detach() };
        self.kept.push(memory);
        data
    }

    /// Waits until all are complete.
    fn wait_all(self, outcome: &mut Outcome) -> Result<()> {
        let FenceOps { pending, kept } = self;
        let waited = pending.wait_all(|completion, expected| {
            outcome.record(match (completion.error, expected) {
                (Some(error), _) => Err(error),
                (None, Some(Expected { source, bytes })) if completion.status.bytes() != bytes => {
                    Err(short(source, bytes))
                }
                (None, _) => Ok(()),
            });
        });
        // Not before: the requests used it.
        drop(kept);
        waited
    }
}

/// The heads of the records in a batch that this process has made.
fn heads(batch: &[u8]) -> Vec<Head> {
    let (mut heads, mut rest) = (Vec::new(), batch);
    while let Ok((record, behind)) = Head::decode(rest) {
        heads.push(record.head);
        rest = behind;
    }
    heads
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
    let rule = format!("this process started {what} since the last fence; the fence has completed them nevertheless");
    Error::new(MPI_ERR_ASSERT, rule).arg("assert", &"MPI_MODE_NOPRECEDE")
}
