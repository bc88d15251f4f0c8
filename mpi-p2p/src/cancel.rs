//! Cancelling (MPI-5.0, 3.8.4): a receive that is posted, a send that has not left, a message that has not been
//! received.
//!
//! For a message that has left, the sender requests the cancel from the receiver, by the token that the message
//! carries. The receiver removes the message from its unexpected messages, or answers that it was matched. Until the
//! answer arrives, the send is not complete.
//! A wait for a send that was cancelled after it had left therefore lasts until its receiver makes an MPI call.
//! All messages of a persistent send carry the handle of its request. A cancel is for the last of them: if an earlier
//! one still waits, so does the last, because they have one source and one tag and are matched in order.
//! Invariant: the cancel request follows its message in the same ring, so the receiver has processed the message when
//! the request arrives.
//! Not here: handles of cancelled requests (`complete`).

use mpi_core::{Handle, Kind, Status};
use mpi_fabric::{Endpoint, RecordHead};

use crate::context::user_side;
use crate::core::{Core, Reply, State};
use crate::recipe::{Recipe, RecipeRequest};
use crate::request::{CancelState, Work, token};
use crate::wire;

impl State {
    /// Requests the cancel of an operation; its completion reports whether it was cancelled.
    pub fn cancel(&mut self, handle: Handle) {
        if self.take_back(handle) {
            return;
        }
        if self.core.cancel_requests.contains_key(&handle.0) {
            return;
        }
        let State { core, endpoint, .. } = self;
        let sent_to = match (core.at_once.get(handle), core.requests.get(handle), core.recipes.get(handle)) {
            (Some(received), ..) if received.is_receive() => None,
            (Some(sent), ..) => core.contexts.get(sent.context).and_then(|context| {
                let route = context.routes.get(usize::try_from(sent.peer).ok()?)?;
                Some((sent.context, route.world))
            }),
            (None, Some(request), _) => match &request.work {
                Work::Offered { dest, .. } | Work::AwaitMatch { dest, .. } => Some((request.context, *dest)),
                _ => None,
            },
            (None, None, Some(RecipeRequest { context, recipe: Recipe::Eager(eager), .. })) => {
                Some((*context, eager.route.world))
            }
            (None, None, _) => None,
        };
        let Some((context, dest)) = sent_to else { return };
        core.cancel_requests.insert(handle.0, CancelState::Waiting(dest));
        let head = RecordHead { kind: wire::CANCEL, flags: 0, context, tag: 0, a: 0, b: token(handle) };
        match dest == endpoint.rank() {
            true => {
                core.cancel_own(endpoint, &head);
                core.wake_on_any_change();
            }
            false => core.reply(endpoint, Reply { dest, head, payload: [0; 32], len: 0 }),
        }
    }

    /// Withdraws a receive or an unsent send; returns whether that was possible.
    pub fn take_back(&mut self, handle: Handle) -> bool {
        let core = &mut self.core;
        let Some(request) = core.requests.get(handle) else { return false };
        match &request.work {
            Work::Posted { key, buffer } => {
                let (key, id, bytes) = (*key, request.context, buffer.bytes());
                let Some(context) = core.contexts.get_mut(id) else { return false };
                context.sides[(id & 1) as usize].posted.withdraw(key, handle);
                context.leaves_posted(id, || bytes, &mut core.posting);
                core.contexts.remove_if_idle(id);
            }
            Work::Queued(_) => {
                if !core.unqueue(handle) {
                    return false;
                }
            }
            _ => return false,
        }
        let request = core.requests.get_mut(handle).expect("found just above");
        request.status.set_cancelled(true);
        core.finish(handle);
        core.wake_on_any_change();
        true
    }
}

impl Core {
    /// Cancels a send from this process to itself. The message may still be in the ring: the call polls until it finds
    /// the message or nothing comes. A fault found on the way is reported by the next call that makes progress.
    fn cancel_own(&mut self, endpoint: &mut Endpoint, head: &RecordHead) {
        let own = endpoint.rank();
        let mut taken = self.give_back(own, head);
        // The first poll of all rings finds the ring of a process that has just sent its first message to itself.
        let mut polled = if taken { Ok(0) } else { endpoint.poll(self) };
        loop {
            match polled {
                Ok(0) => break,
                Ok(_) => {
                    taken = self.give_back(own, head);
                    polled = if taken { Ok(0) } else { endpoint.poll_from(own, self) };
                }
                Err(error) => {
                    self.fault.get_or_insert(error);
                    break;
                }
            }
        }
        self.cancelled(own, &RecordHead { a: u64::from(taken), ..*head });
    }

    /// A sender requests a message back. The answer reports whether this process still had it.
    #[cold]
    pub fn cancel_requests(&mut self, from: u32, head: &RecordHead) {
        let taken = self.give_back(from, head);
        let answer = RecordHead { a: u64::from(taken), ..Reply::about(from, wire::CANCELLED, head.b).head };
        self.replies.push_back(Reply { dest: from, head: answer, payload: [0; 32], len: 0 });
    }

    /// Removes the message with this token from the unexpected ones; whether it was there.
    fn give_back(&mut self, from: u32, head: &RecordHead) -> bool {
        let Some(context) = self.contexts.get_mut(head.context) else {
            // The communicator has not been made here yet, or was freed.
            return self.drop_early(from, head.context, head.b);
        };
        let side = &mut context.sides[(head.context & 1) as usize];
        let Some((_, mut message)) =
            side.unexpected.take_where(|message| message.from == from && message.token == head.b)
        else {
            return false;
        };
        if user_side(head.context) {
            let instruments = context.spec.instruments;
            instruments.umq_length.lower(1);
            if message.data().is_some() && message.bytes > 0 {
                instruments.umq_bytes.lower(message.bytes);
            }
        }
        self.pool.recycle(&mut message.body);
        true
    }

    /// A receiver answers whether it has given a message back.
    #[cold]
    pub fn cancelled(&mut self, from: u32, head: &RecordHead) {
        let handle = Handle(head.b as usize);
        let taken = head.a == 1;
        if self.cancel_requests.get(&handle.0) != Some(&CancelState::Waiting(from)) {
            return self.fault(from, "an answer to a cancel that was not requested");
        }
        if handle.is(Kind::AtOnce) || handle.is(Kind::Recipe) {
            match self.at_once.get(handle).is_some() || self.recipes.get(handle).is_some() {
                true => self.cancel_requests.insert(handle.0, CancelState::Answered(taken)),
                // The program has freed it meanwhile.
                false => self.cancel_requests.remove(&handle.0),
            };
            self.completions += 1;
            return;
        }
        self.cancel_requests.remove(&handle.0);
        let waiting = |work: &Work| matches!(work, Work::Offered { .. } | Work::AwaitMatch { .. });
        if taken
            && let Some(request) = self.requests.get_mut(handle)
            && waiting(&request.work)
        {
            request.status.set_cancelled(true);
            self.end_offer(handle);
        }
    }

    /// How an operation with this status that was complete when it was started ended, or `None` while its cancel is under
    /// way; takes the answer out if `take`.
    #[cold]
    pub fn answer(&mut self, handle: Handle, mut status: Status, take: bool) -> Option<Status> {
        match self.cancel_requests.get(&handle.0) {
            None => {}
            Some(CancelState::Waiting(_)) => return None,
            Some(CancelState::Answered(taken)) => status.set_cancelled(*taken),
        }
        if take {
            self.cancel_requests.remove(&handle.0);
        }
        Some(status)
    }
}
