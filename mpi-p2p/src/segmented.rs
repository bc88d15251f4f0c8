//! Messages that arrive in several records: the receiver copies one segment while the sender writes the next.
//!
//! The sender puts all segments into the ring in one step, so between the first and the last one of a message no other
//! record of the sender comes. The first one is matched. If no receive waits for the message, it is put together here and
//! arrives as a whole with its last segment.
//! Invariant: a process has at most one such message from each other under way. A receive completes with its last byte;
//! what does not fit into its buffer is dropped.
//! Not here: which messages go in segments (`push`), how one arrives as a whole (`arrival`).

use mpi_core::Handle;
use mpi_errors::Result;
use mpi_fabric::{Payload, RecordHead};

use crate::context::user_side;
use crate::core::Core;
use crate::delivery::{Assembled, accepted, message_key, store_segment};
use crate::direct::Filling;
use crate::message::{Segmented, Target};
use crate::posted::room;
use crate::request::{Request, WATCHED, Work};
use crate::wire;

impl Core {
    /// The first segment of a message: `a` has the length of the whole in its high half.
    pub fn first_segment(&mut self, from: u32, head: &RecordHead, payload: Payload<'_>) {
        let bytes = head.a >> 32;
        let head = RecordHead { kind: wire::EAGER, a: head.a & u64::from(u32::MAX), ..*head };
        if payload.len() as u64 >= bytes || self.segmented.iter().any(|message| message.from == from) {
            return self.fault(from, "the first part of a message that is none");
        }
        let target = self.match_segments(from, &head, bytes);
        self.segmented.push(Segmented { from, head, bytes, got: 0, target, offered: false });
        self.take_segment(self.segmented.len() - 1, payload);
    }

    /// A later segment: `a` is its offset.
    pub fn segment(&mut self, from: u32, head: &RecordHead, payload: Payload<'_>) {
        let at = self.segmented.iter().position(|message| {
            message.from == from && message.got == head.a && payload.len() as u64 <= message.bytes - message.got
        });
        match at {
            Some(at) => self.take_segment(at, payload),
            None => self.fault(from, "part of a message that nothing waits for"),
        }
    }

    /// Finds the receive of a message.
    fn match_segments(&mut self, from: u32, head: &RecordHead, bytes: u64) -> Target {
        // What is wrong with the message is found when it is complete.
        let Some(context) = self.contexts.get_mut(head.context) else { return Target::Kept(Vec::new()) };
        let Some((key, route)) = message_key(&context.routes, from, head) else { return Target::Kept(Vec::new()) };
        let (receive, steps) =
            context.sides[(head.context & 1) as usize].posted.take_match(key, || self.settings.list_limit());
        if receive.is_none() && !self.direct.matches(head.context, key) {
            return Target::Kept(self.pool.with_room(bytes));
        }
        let instruments = user_side(head.context).then_some(context.spec.instruments.block);
        context.count_search(head.context, steps);
        if let Some(handle) = receive {
            context.leaves_posted(head.context, || room(&self.requests, handle), &mut self.posting);
        }
        context.count_received_from(head.context, route, bytes);
        self.events.raise_matched(instruments, key, bytes);
        self.instruments.eager_received.incr();
        let Some(handle) = receive else {
            let (status, error, wanted) = accepted(key, bytes, self.direct.buffer.bytes());
            self.direct.begin_filling(status, error, wanted);
            return Target::Direct;
        };
        let freed = context.freed;
        let request = self.requests.get_mut(handle).expect("a posted receive is in its table");
        let Work::Posted { buffer, .. } = std::mem::replace(&mut request.work, Work::Done) else {
            unreachable!("a receive leaves `posted` when it leaves that state")
        };
        let wanted;
        (request.status, request.error, wanted) = accepted(key, bytes, buffer.bytes());
        request.work = Work::Receiving { buffer, from, wanted, got: 0 };
        if freed {
            self.contexts.remove_if_idle(head.context);
        }
        Target::Receive(handle)
    }

    /// Puts a segment where it belongs.
    fn take_segment(&mut self, at: usize, payload: Payload<'_>) {
        let message = &mut self.segmented[at];
        message.got += payload.len() as u64;
        let (from, offered, last) = (message.from, message.offered, message.got == message.bytes);
        match &mut message.target {
            Target::Direct => {
                if self.direct.fill(&payload) {
                    message.target = Target::Nothing;
                }
            }
            Target::Receive(handle) => {
                let handle = *handle;
                if self.fill_receive(handle, (from, offered), &payload) {
                    self.segmented[at].target = Target::Nothing;
                }
            }
            Target::Kept(data) => {
                payload.append_to(data);
            }
            Target::Nothing => {}
        }
        if last {
            let Segmented { from, head, target, .. } = self.segmented.swap_remove(at);
            if let Target::Kept(data) = target {
                self.eager(from, &head, Assembled(data), false);
            }
        }
    }

    /// Puts a segment into the buffer of a receive; whether the receive needs no more. `offered`: of an offered message.
    fn fill_receive(&mut self, handle: Handle, (sender, offered): (u32, bool), payload: &Payload<'_>) -> bool {
        let (wanted, got) = match self.requests.get_mut(handle).map(|request| &mut request.work) {
            Some(Work::Receiving { buffer, from, wanted, got }) if *from == sender => {
                store_segment(buffer, *got, *wanted, payload);
                (*wanted, got)
            }
            Some(Work::Discarding { from, wanted, got }) if *from == sender => (*wanted, got),
            _ => return true,
        };
        let before = *got;
        *got = wanted.min(before + payload.len() as u64);
        let (all, more) = (*got == wanted, *got - before);
        if offered {
            self.instruments.bytes_in_fragments.add(more);
        }
        if self.requests.get(handle).is_some_and(|request| request.marks & WATCHED != 0) {
            self.update_metrics(handle);
        }
        match (all, offered) {
            (true, true) => self.finish_rendezvous(handle),
            (true, false) => self.finish(handle),
            (false, _) => {}
        }
        all
    }

    /// Turns the direct receive whose message is arriving into a request.
    pub fn post_filling(&mut self, context: u32, filling: Filling) -> Result<Handle> {
        let Filling { buffer, status, error, wanted, got } = filling;
        let direct = self.segmented.iter_mut().find(|message| matches!(message.target, Target::Direct));
        let message = direct.expect("the direct receive takes segments of a message");
        let (from, target) = (message.from, std::mem::replace(&mut message.target, Target::Nothing));
        debug_assert!(matches!(target, Target::Direct));
        let work = Work::Receiving { buffer, from, wanted, got };
        let handle = self.add_request(Request { status, error, ..Request::waiting(context, work) })?;
        if let Some(message) = self.segmented.iter_mut().find(|message| message.from == from) {
            message.target = Target::Receive(handle);
        }
        Ok(handle)
    }

    /// The direct receive has ended by a fault: nothing takes the rest of its message.
    pub fn drop_filling(&mut self) {
        for message in &mut self.segmented {
            if matches!(message.target, Target::Direct) {
                message.target = Target::Nothing;
            }
        }
    }
}
