//! Starting receives and probes: first among the unexpected messages, else posted.
//!
//! Invariant: a receive is matched with the oldest message it fits, and posted only if none waits.

use mpi_core::abi::{MPI_MESSAGE_NO_PROC, MPI_PROC_NULL};
use mpi_core::{Handle, Status};
use mpi_datatype::RecvBuf;
use mpi_errors::{Error, Result};

use crate::chains::Key;
use crate::context::{Context, unknown_context, user_side};
use crate::core::{Core, MatchedMessage, Reply, State};
use crate::delivery::deliver_stored;
use crate::direct::Outcome;
use crate::events::MessageEvents;
use crate::instruments::EngineInstruments;
use crate::message::{Body, Matched, Message};
use crate::posted::room;
use crate::request::{AtOnce, Request, Work, too_many_requests};
use crate::short_receive::{Received, ShortMessage};
use crate::wire;

/// How a receive began.
pub(crate) enum Begun {
    /// No message waits for it: it is posted.
    Posted(Handle),
    /// Its message has arrived, or has been offered.
    Arrived(Outcome),
}

impl State {
    /// Starts a receive; the caller keeps the buffer valid until the request is done.
    #[inline]
    pub fn start_receive(
        &mut self,
        context_id: u32,
        source: i32,
        tag: i32,
        buffer: RecvBuf<'static>,
    ) -> Result<Handle> {
        match self.begin_receive(context_id, source, tag, buffer)? {
            Begun::Posted(request) | Begun::Arrived(Outcome::Under(request)) => Ok(request),
            Begun::Arrived(Outcome::Received(status, error)) => self.core.received_request(context_id, status, error),
        }
    }

    /// As [`State::start_receive`], without a request for a receive that is over at once.
    #[inline(always)] // the caller's branches take the place of its result
    pub fn begin_receive(&mut self, context_id: u32, source: i32, tag: i32, buffer: RecvBuf<'static>) -> Result<Begun> {
        if source == MPI_PROC_NULL {
            return Ok(Begun::Arrived(Outcome::Received(Status::PROC_NULL, None)));
        }
        let key = Key { source, tag };
        match self.core.find_unexpected(context_id, key)? {
            None => self.core.post(context_id, key, buffer).map(Begun::Posted),
            Some(slot) => self.receive_unexpected(context_id, slot, buffer).map(Begun::Arrived),
        }
    }

    /// Starts a receive from one process while no message of the context waits, and returns its request. If no receive
    /// waits either, and the next message in the ring of the sender is short, matches, and finds room in one piece, the
    /// receive is complete: the message is neither posted nor found. Otherwise the receive is posted. An error is the buffer:
    /// nothing has happened, and the longer way has to start it; so for receives from any source.
    ///
    /// The mark at the end of each lap of the ring is left to a poll, so a program that receives from one process without
    /// end serves the others too.
    #[inline(always)] // the short way of a receive that starts
    pub fn start_receive_quickly(
        &mut self,
        context_id: u32,
        key: Key,
        mut buffer: RecvBuf<'static>,
    ) -> std::result::Result<Handle, RecvBuf<'static>> {
        let State { endpoint, core } = self;
        let Some(context) = core.contexts.get_mut(context_id) else { return Err(buffer) };
        // As an unsigned number MPI_ANY_SOURCE is larger than any rank.
        let Some(route) = context.routes.get(key.source as u32 as usize).copied() else { return Err(buffer) };
        let side = &mut context.sides[(context_id & 1) as usize];
        if !side.unexpected.is_empty() {
            return Err(buffer);
        }
        if side.posted.is_empty()
            && core.at_once.has_room()
            && let Some(memory) = buffer.contiguous_mut()
        {
            let expected = ShortMessage { context: context_id, key, memory };
            let request = endpoint.take_next(route.world, expected).and_then(|Received { tag, bytes }| {
                let (key, bytes) = (Key { source: key.source, tag }, bytes as u64);
                context.count_received_from(context_id, route, bytes);
                core.events.raise_matched(user_side(context_id).then_some(context.spec.instruments.block), key, bytes);
                core.instruments.eager_received.incr();
                core.at_once.insert(AtOnce::received(context_id, key.source, key.tag, bytes)).ok()
            });
            if let Some(request) = request {
                return Ok(request);
            }
        }
        let side = &mut context.sides[(context_id & 1) as usize];
        let limit = core.settings.list_limit();
        let mut buffer = Some(buffer);
        let request = |handle| {
            side.posted.post(key, handle, limit);
            let buffer = buffer.take().expect("a request is made once");
            Request::waiting(context_id, Work::Posted { key, buffer })
        };
        let Ok(handle) = core.requests.insert_with(request) else {
            return Err(buffer.expect("no request was made"));
        };
        core.instruments.requests.raise(1);
        context.count_posted(context_id, key, core.events, || room(&core.requests, handle), &mut core.posting);
        Ok(handle)
    }

    /// Starts a receive under the request `operation`, which is complete, or under a new one; the caller keeps the
    /// buffer valid until it is done. Returns the request.
    #[inline(never)]
    pub fn restart_receive(
        &mut self,
        context_id: u32,
        key: Key,
        buffer: RecvBuf<'static>,
        operation: Handle,
    ) -> Result<Handle> {
        match self.core.post_under(context_id, key, buffer, operation, false)? {
            None => Ok(operation),
            Some(buffer) => self.restart_matched(context_id, key, buffer, operation),
        }
    }

    /// As [`State::restart_receive`], for a receive from `MPI_PROC_NULL`, or while there are unexpected messages.
    #[inline(never)]
    fn restart_matched(
        &mut self,
        context_id: u32,
        key: Key,
        buffer: RecvBuf<'static>,
        operation: Handle,
    ) -> Result<Handle> {
        let outcome = match key.source {
            MPI_PROC_NULL => Outcome::Received(Status::PROC_NULL, None),
            _ => match self.core.find_unexpected(context_id, key)? {
                Some(slot) => self.receive_unexpected(context_id, slot, buffer)?,
                None => return self.core.post_under(context_id, key, buffer, operation, true).map(|_| operation),
            },
        };
        match outcome {
            Outcome::Under(request) => Ok(request),
            Outcome::Received(status, error) => {
                let request = self.core.requests.get_mut(operation).expect(KEPT);
                (request.status, request.error) = (status, error);
                self.core.instruments.requests.raise(1);
                Ok(operation)
            }
        }
    }

    /// Receives at once what has arrived, or waits for it for a while without a request.
    #[inline]
    pub fn receive_blocking(
        &mut self,
        context_id: u32,
        source: i32,
        tag: i32,
        buffer: RecvBuf<'static>,
    ) -> Result<Outcome> {
        if source == MPI_PROC_NULL {
            return Ok(Outcome::Received(Status::PROC_NULL, None));
        }
        let key = Key { source, tag };
        let Some(context) = self.core.contexts.get_mut(context_id) else { return Err(unknown_context(context_id)) };
        let limit = self.core.settings.list_limit();
        let (found, steps) = context.sides[(context_id & 1) as usize].unexpected.find(key, limit);
        context.count_search(context_id, steps);
        if let Some(slot) = found {
            return self.receive_unexpected(context_id, slot, buffer);
        }
        let instruments = user_side(context_id).then_some(context.spec.instruments.block);
        if self.core.has_work() || self.core.posting != 0 {
            return self.core.post(context_id, key, buffer).map(Outcome::Under);
        }
        self.receive_directly(context_id, key, buffer, instruments)
    }

    /// Receives the unexpected message in `slot`: directly out of the slot if its data is there and its sender does not
    /// wait for the receive.
    #[inline]
    fn receive_unexpected(&mut self, context_id: u32, slot: u32, mut buffer: RecvBuf<'static>) -> Result<Outcome> {
        let core = &mut self.core;
        let context = core.contexts.get_mut(context_id).expect(FOUND_IN_IT);
        let unexpected = &mut context.sides[(context_id & 1) as usize].unexpected;
        let (key, message) = unexpected.get(slot);
        if let Some(data) = message.plain_data() {
            let (status, error) = deliver_stored(&mut buffer, key, data);
            let taken = Taken::of(message);
            core.pool.recycle(&mut message.body);
            unexpected.discard(slot);
            taken.count(context, context_id, key, core.instruments, core.events);
            return Ok(Outcome::Received(status, error));
        }
        let (key, message) = core.take_unexpected(context_id, slot);
        self.receive_message(context_id, key, message, buffer)
    }

    /// Receives a message that has arrived: an unexpected one, or one that a matched probe took.
    pub fn receive_message(
        &mut self,
        context_id: u32,
        key: Key,
        mut message: Message,
        mut buffer: RecvBuf<'static>,
    ) -> Result<Outcome> {
        let core = &mut self.core;
        if let Some(data) = message.data() {
            let (status, error) = deliver_stored(&mut buffer, key, data);
            if matches!(message.body, Body::Synchronous(_)) {
                core.reply(&mut self.endpoint, Reply::about(message.from, wire::ACK, message.token));
            }
            core.pool.recycle(&mut message.body);
            return Ok(Outcome::Received(status, error));
        }
        let Body::Offered(offer) = message.body else { unreachable!("a message without data is an offer") };
        let work = Work::Matched { buffer };
        let request = core.add_request(Request::waiting(context_id, work))?;
        let matched = Matched { from: message.from, token: message.token, offer, key, request };
        core.begin_transfer(&mut self.endpoint, matched);
        Ok(Outcome::Under(request))
    }

    /// Looks for a message without receiving it.
    pub fn peek(&mut self, context_id: u32, source: i32, tag: i32) -> Result<Option<Status>> {
        if source == MPI_PROC_NULL {
            return Ok(Some(Status::PROC_NULL));
        }
        let Some(context) = self.core.contexts.get_mut(context_id) else { return Err(unknown_context(context_id)) };
        let unexpected = &mut context.sides[(context_id & 1) as usize].unexpected;
        let limit = self.core.settings.list_limit();
        let found = unexpected.find(Key { source, tag }, limit).0.map(|slot| {
            let (key, message) = unexpected.get(slot);
            Status::new(key.source, key.tag, message.bytes)
        });
        if found.is_none() {
            self.core.check_source(&self.endpoint, context_id, source)?;
        }
        Ok(found)
    }

    /// Removes a message from its queue for one particular later receive (MPI-4.1, 3.8.2).
    pub fn hold(&mut self, context_id: u32, source: i32, tag: i32) -> Result<Option<(Handle, Status)>> {
        if source == MPI_PROC_NULL {
            return Ok(Some((Handle(MPI_MESSAGE_NO_PROC), Status::PROC_NULL)));
        }
        let core = &mut self.core;
        let Some(context) = core.contexts.get_mut(context_id) else { return Err(unknown_context(context_id)) };
        let (limit, unexpected) =
            (core.settings.list_limit(), &mut context.sides[(context_id & 1) as usize].unexpected);
        let (Some(slot), _) = unexpected.find(Key { source, tag }, limit) else {
            core.check_source(&self.endpoint, context_id, source)?;
            return Ok(None);
        };
        let stamp = unexpected.stamp(slot);
        let (key, message) = core.take_unexpected(context_id, slot);
        let status = Status::new(key.source, key.tag, message.bytes);
        let held = MatchedMessage { message, stamp, key, context: context_id };
        let handle = core.held.insert(held).map_err(|_| too_many_requests())?;
        core.instruments.messages_held.raise(1);
        Ok(Some((handle, status)))
    }
}

impl Core {
    /// Posts a receive behind all others of its context.
    #[inline]
    pub fn post(&mut self, context_id: u32, key: Key, buffer: RecvBuf<'static>) -> Result<Handle> {
        let Some(context) = self.contexts.get_mut(context_id) else { return Err(unknown_context(context_id)) };
        let limit = self.settings.list_limit();
        let posted = &mut context.sides[(context_id & 1) as usize].posted;
        let request = |handle| {
            posted.post(key, handle, limit);
            Request::waiting(context_id, Work::Posted { key, buffer })
        };
        let handle = self.requests.insert_with(request).map_err(|_| too_many_requests())?;
        self.instruments.requests.raise(1);
        context.count_posted(context_id, key, self.events, || room(&self.requests, handle), &mut self.posting);
        Ok(handle)
    }

    /// Posts a receive behind all others of its context, under a request that is complete, if it matches no unexpected
    /// message: `searched`: none was found. Returns the buffer if there are unexpected messages.
    #[inline(always)] // one caller posts what the other has searched for
    fn post_under(
        &mut self,
        context_id: u32,
        key: Key,
        buffer: RecvBuf<'static>,
        operation: Handle,
        searched: bool,
    ) -> Result<Option<RecvBuf<'static>>> {
        let Some(context) = self.contexts.get_mut(context_id) else { return Err(unknown_context(context_id)) };
        let side = &mut context.sides[(context_id & 1) as usize];
        if !searched && (!side.unexpected.is_empty() || key.source == MPI_PROC_NULL) {
            return Ok(Some(buffer));
        }
        let posted = &mut side.posted;
        posted.post(key, operation, self.settings.list_limit());
        let request = self.requests.get_mut(operation).expect(KEPT);
        let before = std::mem::replace(&mut request.work, Work::Posted { key, buffer });
        debug_assert!(matches!(before, Work::Done));
        // There is nothing to drop.
        std::mem::forget(before);
        self.instruments.requests.raise(1);
        context.count_posted(context_id, key, self.events, || room(&self.requests, operation), &mut self.posting);
        Ok(None)
    }

    /// A request for a receive that is over already.
    #[inline]
    pub fn received_request(&mut self, context: u32, status: Status, error: Option<Error>) -> Result<Handle> {
        let request = Request { status, error, ..Request::done(context) };
        self.add_request(request)
    }

    /// The slot of the unexpected message that a receive would match.
    #[inline]
    fn find_unexpected(&mut self, context_id: u32, key: Key) -> Result<Option<u32>> {
        match self.contexts.get_mut(context_id) {
            None => Err(unknown_context(context_id)),
            Some(context) => {
                let (found, steps) =
                    context.sides[(context_id & 1) as usize].unexpected.find(key, self.settings.list_limit());
                context.count_search(context_id, steps);
                Ok(found)
            }
        }
    }

    /// Removes the unexpected message in `slot` from its queue.
    pub fn take_unexpected(&mut self, context_id: u32, slot: u32) -> (Key, Message) {
        let context = self.contexts.get_mut(context_id).expect(FOUND_IN_IT);
        let (key, message) = context.sides[(context_id & 1) as usize].unexpected.take(slot);
        Taken::of(&message).count(context, context_id, key, self.instruments, self.events);
        (key, message)
    }
}

const KEPT: &str = "the recipe keeps the request";
const FOUND_IN_IT: &str = "the caller found the slot in it";

impl Context {
    /// Counts a receive with this much room as posted; `kept` counts the contexts whose room is kept.
    #[inline(always)]
    fn count_posted(
        &mut self,
        id: u32,
        key: Key,
        events: &MessageEvents,
        room: impl FnOnce() -> u64,
        kept: &mut usize,
    ) {
        if user_side(id) {
            self.spec.instruments.posted_length.raise(1);
            if self.room.is_kept() {
                self.room.more(room(), kept);
            }
            events.raise_posted(self.spec.instruments.block, key);
        }
    }
}

/// The facts of an unexpected message that the counters need after it has left its queue.
struct Taken {
    bytes: u64,
    /// Its data was in this process, not with the sender.
    held: bool,
    /// It is counted as received.
    counted: bool,
    arrived: u64,
}

impl Taken {
    #[inline]
    fn of(message: &Message) -> Taken {
        let held = !matches!(message.body, Body::Offered(_));
        Taken { bytes: message.bytes, held, counted: message.returned, arrived: message.arrived }
    }

    #[inline]
    fn count(self, context: &Context, id: u32, key: Key, engine: &EngineInstruments, events: &MessageEvents) {
        let Taken { bytes, held, counted, arrived } = self;
        if user_side(id) {
            let instruments = context.spec.instruments;
            instruments.umq_length.lower(1);
            if held && bytes > 0 {
                instruments.umq_bytes.lower(bytes);
            }
            if arrived != 0 {
                instruments.time_unexpected.add_ns(mpi_t::now_ns().saturating_sub(arrived));
            }
        }
        if !counted {
            context.count_received(id, key.source, bytes);
        }
        events.raise_matched(user_side(id).then_some(context.spec.instruments.block), key, bytes);
        match held {
            _ if counted => {}
            false => engine.rendezvous_received.incr(),
            true => engine.eager_received.incr(),
        }
    }
}

#[cfg(test)]
mod tests;
