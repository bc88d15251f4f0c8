//! Sending the records of operations to their targets' services, and waiting for the messages that this takes.
//!
//! A fence sends the records for all ranks and learns from a sum when they are applied. Outside of fences a record
//! `Verb::Flush` follows those for a rank: its reply says that the service has applied all records before it. The record
//! that gives a lock back (`Verb::Unlock`) does the same.
//! Invariant: batches that are sent outside of fences are counted for the next fence (`Epoch::early`).
//! Not here: what the services do (`serve`).

use std::ops::Range;
use std::sync::atomic::{Ordering, fence};

use mpi_comm::{Expected, Outcome, PendingOps};
use mpi_core::{Guard, Handle};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;
use mpi_p2p::{Engine, Mode};

use crate::OneSided;
use crate::epoch::Outgoing;
use crate::replies::replied;
use crate::window::Win;
use crate::wire::{BATCH, DATA, Head, Verb};

impl OneSided {
    /// Sends the records for one rank. Returns the number of batches; one that cannot be sent is an error in the outcome
    /// and is not counted. `short` gets the rank once for each message of data that could not be sent.
    pub(crate) fn send_records(
        &self,
        guard: &mut Guard<'_>,
        win: &Win,
        (rank, outgoing): (i32, Outgoing),
        ops: &mut RecordOps<'_>,
        short: &mut Vec<i32>,
        outcome: &mut Outcome,
    ) -> u64 {
        let mut start = |guard: &mut Guard<'_>, tag, data| {
            let send = match tag {
                BATCH => self.engine.send_to_service(guard, win.context(), rank, tag, data),
                _ => self.engine.isend(guard, win.context(), rank, tag, data, Mode::Standard),
            };
            send.map_err(|error| outcome.record(Err(error))).ok()
        };
        let (mut data, mut batches, mut unsent) = (outgoing.data, outgoing.batches.into_iter(), None);
        let mut sent = 0;
        for batch in batches.by_ref() {
            let Some(send) = start(guard, BATCH, ops.keep(batch)) else {
                unsent = ops.kept.pop();
                break;
            };
            ops.add_send(send);
            sent += 1;
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
                short.resize(short.len() + data.len() + 1, rank);
                break;
            };
            ops.add_send(send);
        }
        sent
    }

    /// Sends empty messages instead of data, so that their targets do not wait for them: these need no request.
    pub(crate) fn send_empty(&self, win: &Win, ranks: &[i32], outcome: &mut Outcome) {
        let engine = &self.engine;
        for rank in ranks {
            outcome.record(engine.send(engine.lock(), win.context(), *rank, DATA, SendBuf::empty(), Mode::Standard));
        }
    }

    /// Completes the operations on the memory of these ranks here and there. Waits, with no guard held. Makes progress in
    /// any case, so that a process may wait in calls of this for a change of its memory by others. Errors: those of the
    /// operations.
    #[inline]
    pub(crate) fn flush_ranks(&self, mut guard: Guard<'_>, win: &Win, ranks: Range<u32>) -> Result<()> {
        // See `OneSided::stored`.
        fence(Ordering::Release);
        if win.epoch.get(&guard).has_any_of(ranks.clone()) || win.service.has_parts(ranks.clone()) {
            let with_records = ranks.clone().filter(|rank| win.epoch.get(&guard).has_records(*rank)).collect();
            return self.send_and_wait(guard, win, ranks, (with_records, Verb::Flush));
        }
        self.engine.progress(&mut guard)
    }

    /// Sends the records for some of these ranks, behind them one of a kind, and waits for the replies; waits for all other
    /// messages that complete operations on the memory of the ranks.
    #[cold]
    pub(crate) fn send_and_wait(
        &self,
        mut guard: Guard<'_>,
        win: &Win,
        ranks: Range<u32>,
        (addressed, last): (Vec<u32>, Verb),
    ) -> Result<()> {
        let (mut outcome, mut short) = (Outcome::default(), Vec::new());
        let mut ops = RecordOps::new(&self.engine);
        let mut under_way = Vec::new();
        for rank in addressed {
            outcome.record(self.add_last(&mut guard, win, rank, last));
            let epoch = win.epoch.get_mut(&mut guard);
            let (replies, outgoing) = (epoch.take_replies(rank), epoch.take_outgoing(rank));
            replies.into_iter().for_each(|(receive, bytes)| ops.await_reply(receive, rank, bytes));
            let records = (rank as i32, outgoing);
            let sent = self.send_records(&mut guard, win, records, &mut ops, &mut short, &mut outcome);
            win.epoch.get_mut(&mut guard).sent_early(rank, sent);
            // A flush of another thread waits for these too.
            win.service.count_parts(&mut guard, rank, 1);
            under_way.push(rank);
        }
        drop(guard);
        self.send_empty(win, &short, &mut outcome);
        let waited = ops.wait_all(&mut outcome);
        outcome.record(waited);
        let mut guard = self.engine.lock();
        under_way.into_iter().for_each(|rank| win.service.count_parts(&mut guard, rank, -1));
        self.engine.changed(&mut guard);
        // Operations with requests, which complete by themselves, and those that other threads flush.
        let context = win.comm.collective_context();
        outcome.record(self.engine.wait_until(guard, context, || !win.service.has_parts(ranks.clone())));
        outcome.end()
    }

    /// Adds a record whose reply says that all records for a rank before it are applied, if there are any.
    pub(crate) fn send_flush(&self, guard: &mut Guard<'_>, win: &Win, rank: u32) -> Result<()> {
        if !win.epoch.get(guard).has_records(rank) {
            return Ok(());
        }
        self.add_last(guard, win, rank, Verb::Flush)
    }

    /// Adds a record of a kind whose reply is empty.
    fn add_last(&self, guard: &mut Guard<'_>, win: &Win, rank: u32, verb: Verb) -> Result<()> {
        self.await_reply(guard, win, rank, 0, RecvBuf::empty())?;
        win.epoch.get_mut(guard).send_inline(rank, &Head::bare(verb, 0), &[], |_| {});
        Ok(())
    }
}

/// Requests of records that are sent, and the memory that they use.
pub(crate) struct RecordOps<'e> {
    /// Dropped before `kept`, so that no request uses memory that is freed.
    pending: PendingOps<'e, 'static>,
    kept: Vec<Vec<u8>>,
}

impl<'e> RecordOps<'e> {
    #[allow(unsafe_code)] // promises not to leak the requests
    pub fn new(engine: &'e Engine) -> RecordOps<'e> {
        // SAFETY: `fence` and `send_and_wait` alone make one; they pass it to `wait_all` or drop it.
        RecordOps { pending: unsafe { PendingOps::new(engine) }, kept: Vec::new() }
    }

    /// Takes ownership of the receive of a reply of so many bytes.
    pub fn await_reply(&mut self, receive: Handle, rank: u32, bytes: u64) {
        self.pending.add(receive, Some(Expected { source: rank, bytes }));
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
    pub fn wait_all(self, outcome: &mut Outcome) -> Result<()> {
        let RecordOps { pending, kept } = self;
        let waited = pending.wait_all(|completion, expected| {
            outcome.record(match expected {
                Some(Expected { source, bytes }) => {
                    replied((source, bytes), completion.error, completion.status.bytes())
                }
                None => completion.error.map_or(Ok(()), Err),
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
