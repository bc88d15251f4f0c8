//! Requests of operations (MPI-5.0, 12.3.5): `MPI_Rput`, `MPI_Rget` and the like.
//!
//! An operation that was complete when its call returned has a request that is complete. Of another one, the records
//! for its target are sent at once, followed by `Verb::Flush`; the request is complete when all of their messages are,
//! and reports an error of one that could not be sent.
//! Invariant: the memory of records that are sent is kept until their messages are complete (`serve`).

use mpi_core::{Guard, Handle, Status};
use mpi_datatype::SendBuf;
use mpi_errors::Result;
use mpi_p2p::Mode;

use crate::OneSided;
use crate::replies::Part;
use crate::target::Target;
use crate::window::Win;
use crate::wire::{BATCH, DATA};

impl OneSided {
    /// Starts an operation by `start`, and returns its request. Errors: those of `start`; `MPI_ERR_RMA_SYNC` when no epoch of
    /// locks is open for the target, in which the operation has no effect; `MPI_ERR_INTERN` when there are too many
    /// requests.
    pub fn requested(
        &self,
        guard: &mut Guard<'_>,
        win: &Win,
        target: &Target<'_>,
        start: impl FnOnce(&mut Guard<'_>) -> Result<()>,
    ) -> Result<Handle> {
        win.epoch.get_mut(guard).requesting = true;
        let started = start(guard);
        // Where an argument was refused before the epoch was looked at.
        win.epoch.get_mut(guard).requesting = false;
        started?;
        self.request(guard, win, target)
    }

    /// The request of the operation on this target that was started last.
    fn request(&self, guard: &mut Guard<'_>, win: &Win, target: &Target<'_>) -> Result<Handle> {
        let rank = win.rank_named(target.rank)?.filter(|rank| win.epoch.get(guard).has_records(*rank));
        let Some(rank) = rank else { return self.engine.completed(guard, win.context(), Status::EMPTY) };
        // Where these fail, the records are sent by the next call that completes them.
        self.send_flush(guard, win, rank)?;
        let request = win.service.request(&self.engine, guard)?;
        let epoch = win.epoch.get_mut(guard);
        let (replies, outgoing) = (epoch.take_replies(rank), epoch.take_outgoing(rank));
        let mut parts = Vec::new();
        let sent = self.send_parts(guard, win, rank, (outgoing.batches, outgoing.data), &mut parts);
        match &sent {
            Ok(()) => parts.extend(replies.into_iter().map(|(message, bytes)| {
                // A reply has memory of the program.
                Part { message, reply: Some(bytes), kept: Vec::new() }
            })),
            Err(_) => {
                // The replies to what was not sent never come. What was sent completes by itself.
                let receives: Vec<Handle> = replies.iter().map(|(receive, _)| *receive).collect();
                self.engine.unlocked(guard, || self.engine.revoke(&receives));
            }
        }
        win.service.begin_parts(&self.engine, guard, (rank, request), parts, sent.err());
        Ok(request)
    }

    /// Sends batches and data for a rank.
    fn send_parts(
        &self,
        guard: &mut Guard<'_>,
        win: &Win,
        rank: u32,
        (batches, data): (Vec<Vec<u8>>, Vec<SendBuf<'static>>),
        parts: &mut Vec<Part>,
    ) -> Result<()> {
        let (context, dest) = (win.context(), rank as i32);
        for batch in batches {
            let message = self.engine.send_to_service(guard, context, dest, BATCH, kept(&batch))?;
            parts.push(Part { message, reply: None, kept: batch });
            win.epoch.get_mut(guard).sent_early(rank, 1);
        }
        for data in data {
            let message = self.engine.isend(guard, context, dest, DATA, data, Mode::Standard)?;
            parts.push(Part { message, reply: None, kept: Vec::new() });
        }
        Ok(())
    }
}

/// Memory of a batch, for a message.
#[allow(unsafe_code)] // the bytes of a vector stay where they are when the vector moves
fn kept(batch: &[u8]) -> SendBuf<'static> {
    // SAFETY: the caller keeps the vector, unchanged, in a part until its message is complete or revoked.
    unsafe { SendBuf::from_slice(batch).detach() }
}
