//! Handling of an arriving record: the engine matches it with its receive, or stores it until the receive comes.
//!
//! Invariant: everything in a record is checked before use: its context, its source, its token.
//! Not here: answers and large transfers, which are queued here and handled after the poll (`progress`, `transfer`).

use mpi_fabric::{Payload, RecordHead, Sink};

use crate::context::user_side;
use crate::core::{Core, Reply};
use crate::delivery::{Content, message_key};
use crate::instruments::CommInstruments;
use crate::message::{Body, Matched, Message};
use crate::posted::room;
use crate::request::Work;
use crate::wire::{self, Offer};

impl Core {
    /// Delivers a message to the receive that was posted first, if it matches that one and has room there in one piece, or,
    /// if none is posted, to the direct receive; and nothing but stores is needed. Otherwise does nothing.
    #[inline(always)] // the usual end of a receive
    fn deliver_quickly(&mut self, from: u32, head: &RecordHead, payload: &Payload<'_>) -> bool {
        let Some(context) = self.contexts.get_mut(head.context) else { return false };
        let Some((key, route)) = message_key(&context.routes, from, head) else { return false };
        if mpi_t::any_callback_registered() {
            return false;
        }
        let (posted, bytes) = (&mut context.sides[(head.context & 1) as usize].posted, payload.len());
        let Some(handle) = posted.first(key) else {
            if !posted.is_empty() || !self.direct.matches(head.context, key) {
                return false;
            }
            context.count_received_from(head.context, route, bytes as u64);
            self.instruments.eager_received.incr();
            self.direct.deliver(key, payload);
            return true;
        };
        if context.freed || context.room.is_kept() {
            return false;
        }
        let Some(request) = self.requests.get_mut(handle).filter(|request| request.marks == 0) else { return false };
        let Work::Posted { buffer, .. } = &mut request.work else { return false };
        if buffer.address().is_none() {
            return false;
        }
        let Some(memory) = buffer.contiguous_mut().and_then(|memory| memory.get_mut(..bytes)) else { return false };
        payload.copy_to(memory);
        // A contiguous buffer needs no drop.
        std::mem::forget(std::mem::replace(&mut request.work, Work::Done));
        request.status.set_message(key.source, key.tag, bytes as u64);
        posted.remove_first();
        if user_side(head.context) {
            let instruments = context.spec.instruments.block;
            instruments.search_steps.incr();
            instruments.posted_length.lower(1);
            instruments.count_received(route.peer, bytes as u64);
        }
        self.instruments.eager_received.incr();
        self.completions += 1;
        true
    }

    #[inline(never)]
    fn record_slowly(&mut self, from: u32, head: &RecordHead, payload: Payload<'_>) {
        match head.kind {
            wire::EAGER => self.eager(from, head, payload, false),
            wire::EAGER_SYNC => self.eager(from, head, payload, true),
            _ => self.other(from, head, payload),
        }
    }

    /// A whole message.
    #[inline(always)] // two callers: records, and the rare message in segments that no receive waits for
    pub fn eager<C: Content>(&mut self, from: u32, head: &RecordHead, content: C, synchronous: bool) {
        let Some(context) = self.contexts.get_mut(head.context) else {
            return self.keep_early(from, head, &content);
        };
        let Some((key, route)) = message_key(&context.routes, from, head) else {
            return self.fault(from, "a message with an invalid tag or source");
        };
        let instruments = user_side(head.context).then_some(context.spec.instruments.block);
        let bytes = content.bytes();
        let (receive, steps) =
            context.sides[(head.context & 1) as usize].posted.take_match(key, || self.settings.list_limit());
        context.count_search(head.context, steps);
        match receive {
            Some(handle) => {
                context.leaves_posted(head.context, || room(&self.requests, handle), &mut self.posting);
                context.count_received_from(head.context, route, bytes);
                self.events.raise_matched(instruments, key, bytes);
                self.instruments.eager_received.incr();
                if synchronous {
                    self.replies.push_back(Reply::about(from, wire::ACK, head.b));
                }
                let freed = context.freed;
                let request = self.requests.get_mut(handle).expect("a posted receive is in its table");
                let Work::Posted { mut buffer, .. } = std::mem::replace(&mut request.work, Work::Done) else {
                    unreachable!("a receive leaves `posted` when it leaves that state")
                };
                let (status, error) = content.deliver(&mut buffer, key);
                request.status = status;
                if error.is_some() {
                    request.error = error;
                }
                let marks = request.marks;
                drop(buffer);
                content.recycle(&mut self.pool);
                if freed {
                    self.contexts.remove_if_idle(head.context);
                }
                self.received(handle, marks);
            }
            None if self.direct.matches(head.context, key) => {
                context.count_received_from(head.context, route, bytes);
                self.events.raise_matched(instruments, key, bytes);
                self.instruments.eager_received.incr();
                if synchronous {
                    self.replies.push_back(Reply::about(from, wire::ACK, head.b));
                }
                self.direct.deliver(key, &content);
                content.recycle(&mut self.pool);
            }
            None => {
                let arrived = instruments.map_or(0, |instruments| arrive(instruments, bytes));
                self.events.raise_unexpected(instruments, key, bytes);
                let body = content.keep(&mut self.pool, synchronous);
                let message = Message { from, returned: false, bytes, body, token: head.b, arrived };
                context.sides[(head.context & 1) as usize].unexpected.add(key, message, self.settings.list_limit());
            }
        }
    }

    fn offer(&mut self, from: u32, head: &RecordHead, payload: Payload<'_>) {
        if payload.len() != Offer::LEN {
            return self.fault(from, "a malformed offer of a large message");
        }
        let offer = Offer::decode([0, 1, 2].map(|i| payload.word(i)), head.flags);
        let ahead = head.a >> 32;
        let head = &RecordHead { a: head.a & u64::from(u32::MAX), ..*head };
        if ahead > 0 {
            self.expect_ahead(from, head, ahead, offer.bytes);
        }
        let Some(context) = self.contexts.get_mut(head.context) else {
            return self.keep_early(from, head, &payload);
        };
        let Some((key, route)) = message_key(&context.routes, from, head) else {
            return self.fault(from, "a message with an invalid tag or source");
        };
        if head.flags & wire::FOR_SERVICE != 0 {
            return self.service_offer(from, head, offer, key);
        }
        let instruments = user_side(head.context).then_some(context.spec.instruments.block);
        let (receive, steps) =
            context.sides[(head.context & 1) as usize].posted.take_match(key, || self.settings.list_limit());
        context.count_search(head.context, steps);
        match receive {
            Some(request) => {
                context.leaves_posted(head.context, || room(&self.requests, request), &mut self.posting);
                context.count_received_from(head.context, route, offer.bytes);
                self.events.raise_matched(instruments, key, offer.bytes);
                self.instruments.rendezvous_received.incr();
                if context.freed {
                    self.contexts.remove_if_idle(head.context);
                }
                self.requests.get_mut(request).expect("a posted receive is in its table").match_offer();
                let matched = Matched { from, token: head.b, offer, key, request };
                match ahead {
                    0 => self.matched.push(matched),
                    _ => self.receive_ahead(matched, ahead),
                }
            }
            None if self.direct.matches(head.context, key) => {
                context.count_received_from(head.context, route, offer.bytes);
                self.events.raise_matched(instruments, key, offer.bytes);
                self.instruments.rendezvous_received.incr();
                self.match_direct(head, from, offer, (key, ahead));
            }
            None => {
                let arrived = instruments.map_or(0, |instruments| arrive(instruments, 0));
                self.events.raise_unexpected(instruments, key, offer.bytes);
                let body = Body::Offered(offer);
                let message = Message { from, returned: false, bytes: offer.bytes, body, token: head.b, arrived };
                context.sides[(head.context & 1) as usize].unexpected.add(key, message, self.settings.list_limit());
            }
        }
    }

    #[inline(never)]
    fn other(&mut self, from: u32, head: &RecordHead, payload: Payload<'_>) {
        match head.kind {
            wire::OFFER => self.offer(from, head, payload),
            wire::SERVICE => self.service_message(from, head, payload),
            wire::ACK => self.acknowledged(from, head),
            wire::STREAM => self.stream_requested(from, head, payload),
            wire::SHARE => self.shared_copy_requested(from, head, payload),
            wire::DONE => self.delivered(from, head),
            wire::REST_IN_FRAGMENTS => self.rest_in_fragments(from, head),
            wire::FIRST_SEGMENT => self.first_segment(from, head, payload),
            wire::SEGMENT => self.segment(from, head, payload),
            wire::FRAGMENT => self.fragment(from, head, payload),
            wire::CANCEL => self.cancel_requests(from, head),
            wire::CANCELLED => self.cancelled(from, head),
            wire::PARTITIONS_GRANTED => self.partitions_granted(from, head, &payload),
            wire::PARTITIONS => self.partitions_arrived(from, head, &payload, false),
            wire::PARTITIONS_WRITTEN => self.partitions_arrived(from, head, &payload, true),
            wire::PARTITIONED_SIZE => self.partitioned_size(from, head),
            wire::CONTEXT => {
                if self.context_id_arrived(from, head, &payload).is_err() {
                    self.keep_early(from, head, &payload);
                }
            }
            _ => self.fault(from, "a record of unknown kind"),
        }
    }
}

impl Sink for Core {
    #[inline]
    fn record(&mut self, from: u32, head: &RecordHead, payload: Payload<'_>) {
        if head.kind == wire::EAGER && self.deliver_quickly(from, head, &payload) {
            return;
        }
        self.record_slowly(from, head, payload)
    }

    fn lost(&mut self, number: u32) {
        self.peer_lost(number);
    }
}

/// Counts an unexpected message with data of this many bytes. Returns the time if a handle watches it, else 0.
#[inline]
fn arrive(instruments: &CommInstruments, held: u64) -> u64 {
    instruments.unexpected.incr();
    instruments.umq_length.raise(1);
    if held > 0 {
        instruments.umq_bytes.raise(held);
    }
    if instruments.time_unexpected.is_watched() { mpi_t::now_ns() } else { 0 }
}
