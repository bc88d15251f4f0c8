//! Returning a message that a matched probe took and the program did not receive.
//!
//! MPI has no such call: in C a message that was taken has to be received. A value of a program in Rust may be dropped
//! instead, so its message goes where it was before the probe.
//! Invariant: a message that is returned is matched as if it had not been taken, except by receives that have matched
//! later messages meanwhile.
//! Not here: matched probes, and receives of their messages (`probe`).

use mpi_core::{Guard, Handle};

use crate::chains::Key;
use crate::context::user_side;
use crate::core::{MatchedMessage, Reply, State};
use crate::delivery::deliver_stored;
use crate::engine::Engine;
use crate::message::{Body, Matched, Message};
use crate::posted::room;
use crate::request::Work;
use crate::wire;

impl Engine {
    /// Returns the message that a matched probe took: the oldest posted receive that matches it gets it, and without one
    /// it is unexpected again, before all later ones. Does nothing when `message` names none, as after its receive. A
    /// message of a communicator that was freed is dropped.
    pub fn return_message(&self, guard: &mut Guard<'_>, message: Handle) {
        let state = self.state.get_mut(guard);
        let Some(held) = state.core.held.remove(message) else { return };
        state.core.end_message_handles(message);
        state.core.instruments.messages_held.lower(1);
        state.return_held(held);
        state.core.wake_on_any_change();
        self.copy_at_start(guard);
    }
}

impl State {
    fn return_held(&mut self, MatchedMessage { mut message, stamp, key, context: id }: MatchedMessage) {
        let core = &mut self.core;
        message.returned = true;
        if message.arrived != 0 {
            // The time until the probe is counted.
            message.arrived = mpi_t::now_ns();
        }
        let Some(context) = core.contexts.get_mut(id).filter(|context| !context.freed) else {
            return core.pool.recycle(&mut message.body);
        };
        let instruments = user_side(id).then_some(context.spec.instruments);
        let side = &mut context.sides[(id & 1) as usize];
        let (receive, steps) = side.posted.take_match(key, || core.settings.list_limit());
        match receive {
            None => {
                if let Some(instruments) = instruments {
                    instruments.umq_length.raise(1);
                    match message.data() {
                        Some(data) if !data.is_empty() => instruments.umq_bytes.raise(data.len() as u64),
                        _ => {}
                    }
                }
                side.unexpected.put_back(key, stamp, message, core.settings.list_limit());
                context.count_search(id, steps);
            }
            Some(request) => {
                context.count_search(id, steps);
                context.leaves_posted(id, || room(&core.requests, request), &mut core.posting);
                core.events.raise_matched(instruments.map(|it| it.block), key, message.bytes);
                self.give(request, message, key);
            }
        }
    }

    /// Gives a message to a receive that is posted no longer.
    fn give(&mut self, handle: Handle, mut message: Message, key: Key) {
        let core = &mut self.core;
        let request = core.requests.get_mut(handle).expect("a posted receive is in its table");
        if let Body::Offered(offer) = message.body {
            request.match_offer();
            let matched = Matched { from: message.from, token: message.token, offer, key, request: handle };
            return core.begin_transfer(&mut self.endpoint, matched);
        }
        if let (Work::Posted { buffer, .. }, Some(data)) = (&mut request.work, message.data()) {
            (request.status, request.error) = deliver_stored(buffer, key, data);
        }
        if matches!(message.body, Body::Synchronous(_)) {
            core.reply(&mut self.endpoint, Reply::about(message.from, wire::ACK, message.token));
        }
        core.pool.recycle(&mut message.body);
        core.finish(handle);
    }
}
