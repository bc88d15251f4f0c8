//! Starting sends, and pushing those that had to wait for room.
//!
//! A message up to the eager limit goes straight into the ring and its send is over; a longer one is offered.
//! Invariant: records of one context to one destination enter the ring in the order of their sends: while a send to
//! a destination waits in its backlog, all later ones queue behind it.

use mpi_core::Handle;
use mpi_core::abi::MPI_PROC_NULL;
use mpi_datatype::SendBuf;
use mpi_errors::Result;
use mpi_fabric::layout::CELL_BYTES;
use mpi_fabric::{Endpoint, Full, LineRoom, RecordHead, Registration};

use crate::ahead::push_offer;
use crate::buffered::BufferOwner;
use crate::context::{Context, unknown_context};
use crate::copy_ways::offered_with_gaps;
use crate::core::{Core, State};
use crate::instruments::size_class;
use crate::push::push;
use crate::registration;
use crate::request::{AtOnce, Data, Mode, Outgoing, Receiver, Request, Work, token};
use crate::wire::{self, Offer};

/// How a send began.
pub(crate) enum Started {
    /// It is complete.
    Complete,
    /// It continues as this request.
    Under(Handle),
}

/// A send of one line that is counted and has its request, and whose message is to be put into the ring.
#[must_use = "the message has not left"]
pub struct StartedLine<'s> {
    /// The request.
    pub request: Handle,
    rank: u32,
    context: u32,
    tag: i32,
    room: LineRoom<'s>,
}

impl StartedLine<'_> {
    /// Puts the message into the ring: as many bytes as `State::isend_line` was called for.
    #[inline(always)] // one caller: `MPI_Isend`
    pub fn send(self, memory: &[u8]) {
        let StartedLine { request, rank, context, tag, room } = self;
        // The message carries the handle, so that a cancel can refer to it.
        let (a, b) = (u64::from(rank), token(request));
        room.push(&RecordHead { kind: wire::EAGER, flags: 0, context, tag, a, b }, memory);
    }
}

impl State {
    /// Starts a send; the caller keeps the buffer valid until the request is done.
    #[inline(always)] // the mode is a constant in every caller
    pub fn start_send(
        &mut self,
        context_id: u32,
        dest: i32,
        tag: i32,
        buffer: SendBuf<'static>,
        mode: Mode,
        receiver: Receiver,
    ) -> Result<Started> {
        if matches!(mode, Mode::Standard | Mode::Ready) && self.send_at_once(context_id, dest, tag, &buffer, 0) {
            return Ok(Started::Complete);
        }
        self.start_send_slowly(context_id, dest, tag, Data::User(buffer), mode, receiver)
    }

    /// Puts a short message into the ring if there is room and no queued send to the destination; all other cases are
    /// left to [`State::start_send_slowly`]. `token` is the handle of its request, if it has one, else 0.
    #[inline(always)]
    pub fn send_at_once(&mut self, context_id: u32, dest: i32, tag: i32, buffer: &SendBuf<'_>, token: u64) -> bool {
        let core = &mut self.core;
        let Some(context) = core.contexts.get(context_id) else { return false };
        // As an unsigned number a negative rank, such as MPI_PROC_NULL, is larger than any rank.
        let Some(route) = context.routes.get(dest as u32 as usize).copied() else { return false };
        let world = route.world;
        let bytes = buffer.bytes();
        if !context.is_eager(bytes) && !core.goes_whole(context, &self.endpoint, world, buffer)
            || core.has_backlog(world)
        {
            return false;
        }
        let a = u64::from(context.spec.rank);
        let head = RecordHead { kind: wire::EAGER, flags: 0, context: context_id, tag, a, b: token };
        let pushed = push(&mut self.endpoint, world, &head, buffer);
        if pushed.is_ok() {
            context.count_sent(context_id, route, bytes);
            core.count_eager(bytes);
        }
        pushed.is_ok()
    }

    /// Starts a send; the caller keeps the buffer valid until the request is done.
    #[inline(always)] // a handful of instructions around `send_at_once`
    pub fn isend(
        &mut self,
        context_id: u32,
        dest: i32,
        tag: i32,
        buffer: SendBuf<'static>,
        mode: Mode,
    ) -> Result<Handle> {
        if !matches!(mode, Mode::Standard | Mode::Ready) {
            return self.isend_slowly(context_id, dest, tag, Data::User(buffer), mode, Receiver::Matching);
        }
        // The message carries the handle, so that a cancel can refer to it.
        let handle = self.core.sent_request(context_id, dest, buffer.bytes())?;
        if self.send_at_once(context_id, dest, tag, &buffer, token(handle)) {
            return Ok(handle);
        }
        self.core.at_once.remove(handle);
        self.isend_slowly(context_id, dest, tag, Data::User(buffer), mode, Receiver::Matching)
    }

    /// Sends a message of the program of one line if nothing but stores is needed: calls `record`, then puts the message
    /// into the ring, and returns the result of `record`. Otherwise does nothing.
    #[inline(always)] // one caller: `MPI_Send`
    pub fn send_line<R>(
        &mut self,
        context_id: u32,
        dest: i32,
        tag: i32,
        memory: &[u8],
        record: impl FnOnce() -> R,
    ) -> Option<R> {
        let State { endpoint, core } = self;
        let context = core.contexts.get_first(context_id)?;
        // As an unsigned number a negative rank, such as MPI_PROC_NULL, is larger than any rank.
        let route = *context.routes.get(dest as u32 as usize)?;
        let bytes = memory.len() as u64;
        if !context.is_eager(bytes) || core.backlogged != 0 {
            return None;
        }
        let room = endpoint.line_to(route.world, memory.len())?;
        let recorded = record();
        let a = u64::from(context.spec.rank);
        let head = RecordHead { kind: wire::EAGER, flags: 0, context: context_id, tag, a, b: 0 };
        // Before the message leaves, so that what this needs is not kept.
        context.count_users_sent(route, bytes);
        core.count_eager(bytes);
        room.push(&head, memory);
        Some(recorded)
    }

    /// As [`State::send_line`], with a request: the message is put into the ring by [`StartedLine::send`], for which nothing
    /// is missing. `None`: nothing has happened.
    #[inline(always)] // one caller: `MPI_Isend`
    pub fn isend_line(&mut self, context_id: u32, dest: i32, tag: i32, bytes: usize) -> Option<StartedLine<'_>> {
        let State { endpoint, core } = self;
        let context = core.contexts.get_first(context_id)?;
        // As an unsigned number a negative rank, such as MPI_PROC_NULL, is larger than any rank.
        let route = *context.routes.get(dest as u32 as usize)?;
        if !context.is_eager(bytes as u64) || core.backlogged != 0 {
            return None;
        }
        let room = endpoint.line_to(route.world, bytes)?;
        let request = core.at_once.insert_if_free(AtOnce::sent(context_id, dest, bytes as u64))?;
        // Before the message leaves, so that what this needs is not kept.
        context.count_users_sent(route, bytes as u64);
        core.count_eager(bytes as u64);
        Some(StartedLine { request, rank: context.spec.rank, context: context_id, tag, room })
    }

    /// Starts a send of a request with a recipe, whose handle is `token`.
    pub fn start_persistent_send(
        &mut self,
        context_id: u32,
        (dest, tag): (i32, i32),
        buffer: SendBuf<'static>,
        mode: Mode,
        token: u64,
    ) -> Result<Started> {
        if matches!(mode, Mode::Standard | Mode::Ready) && self.send_at_once(context_id, dest, tag, &buffer, token) {
            return Ok(Started::Complete);
        }
        self.start_send_slowly(context_id, dest, tag, Data::User(buffer), mode, Receiver::Matching)
    }

    /// Starts a send that cannot be complete at once, or must not be.
    #[inline(never)]
    pub fn isend_slowly(
        &mut self,
        context_id: u32,
        dest: i32,
        tag: i32,
        data: Data,
        mode: Mode,
        receiver: Receiver,
    ) -> Result<Handle> {
        let bytes = if dest == MPI_PROC_NULL { 0 } else { data.bytes() };
        match self.start_send_slowly(context_id, dest, tag, data, mode, receiver)? {
            Started::Under(request) => Ok(request),
            Started::Complete => self.core.sent_request(context_id, MPI_PROC_NULL, bytes),
        }
    }

    /// Starts a send that cannot be complete at once, or must not be. Of a buffered send the data may be a copy
    /// already.
    #[inline(never)]
    pub fn start_send_slowly(
        &mut self,
        context_id: u32,
        dest: i32,
        tag: i32,
        data: Data,
        mode: Mode,
        receiver: Receiver,
    ) -> Result<Started> {
        if dest == MPI_PROC_NULL {
            return Ok(Started::Complete);
        }
        let mut owner = BufferOwner::Process;
        if mode == Mode::Buffered {
            owner = self.core.buffer_owner(context_id, data.bytes())?;
            if self.send_at_once(context_id, dest, tag, &data.as_send(), 0) {
                return Ok(Started::Complete);
            }
        }
        let data = if mode == Mode::Buffered { data.into_owned()? } else { data };
        let core = &mut self.core;
        let bytes = data.bytes();
        let Some(context) = core.contexts.get(context_id) else { return Err(unknown_context(context_id)) };
        if !core.lost.is_empty()
            && let Some(route) = context.routes.get(dest as usize)
            && core.lost.contains(&route.world)
        {
            return Err(self.endpoint.lost_error(route.world));
        }
        // A longer message goes at once or not: it might wait for a receiver that is not its own.
        let route = context.routes[dest as usize];
        let world = route.world;
        let eager = context.is_eager(bytes) && bytes <= self.endpoint.max_payload() as u64
            || context.is_eager(CELL_BYTES as u64) && bytes <= self.endpoint.whole_bytes(world);
        context.count_sent(context_id, route, bytes);
        match eager {
            true => core.count_eager(bytes),
            false => {
                core.instruments.rendezvous_sent.incr();
                core.instruments.rendezvous_bytes_sent.add(bytes);
                size_class(core.sizes, bytes).sent.incr();
            }
        }
        let kind = match (eager, mode) {
            (false, _) => wire::OFFER,
            (true, Mode::Synchronous) => wire::EAGER_SYNC,
            (true, _) if receiver == Receiver::Service => wire::SERVICE,
            (true, _) => wire::EAGER,
        };
        let flags = match receiver {
            Receiver::Service => wire::FOR_SERVICE,
            Receiver::MatchingAtOnce
                if !eager
                    && !core.lock.is_contended()
                    && self.endpoint.shares_memory(world)
                    && core.pipelined_limit.permits(&self.endpoint, core.settings, world, bytes) =>
            {
                wire::PIPELINED
            }
            Receiver::Matching | Receiver::MatchingAtOnce => 0,
        };
        let a = u64::from(context.spec.rank);
        let head = RecordHead { kind, flags, context: context_id, tag, a, b: 0 };
        let work = Work::Queued(Box::new(Outgoing { dest: world, head, data }));
        let mut request = Request::waiting(context_id, work);
        request.status.set_bytes(bytes);
        let handle = core.add_request(request)?;
        if mode == Mode::Buffered {
            core.buffered.started(owner, handle, bytes);
        }
        if core.has_backlog(world) || core.launch(&mut self.endpoint, handle).is_err() {
            core.queue(world, handle);
        }
        if mode == Mode::Buffered {
            // No call waits for it: it is dropped when it is complete, now or later.
            if core.requests.get(handle).is_some_and(Request::is_done) {
                core.drop_request(handle);
                core.buffered_message_left(handle);
            } else {
                core.detach(handle);
            }
            return Ok(Started::Complete);
        }
        Ok(Started::Under(handle))
    }
}

impl Core {
    /// The owner of the buffer that a buffered send of so many bytes uses. Errors: `MPI_ERR_BUFFER` without one, or
    /// without room in it.
    pub fn buffer_owner(&self, context: u32, bytes: u64) -> Result<BufferOwner> {
        let session = self.contexts.get(context).and_then(|context| context.spec.session);
        self.buffered.choose(context & !1, session, bytes)
    }

    /// Counts an eager message.
    #[inline(always)]
    fn count_eager(&self, bytes: u64) {
        self.instruments.eager_sent.incr();
        self.instruments.eager_bytes_sent.add(bytes);
        size_class(self.sizes, bytes).sent.incr();
    }

    /// Whether a message that is longer than eager ones goes whole, because there are cells for all of it, or over the network.
    #[cold]
    #[inline(never)]
    fn goes_whole(&self, context: &Context, endpoint: &Endpoint, world: u32, buffer: &SendBuf<'_>) -> bool {
        let bytes = buffer.bytes();
        if !context.is_eager(CELL_BYTES as u64) {
            return false;
        }
        bytes <= endpoint.whole_bytes(world)
            || bytes <= self.settings.cell_limit.get()
                && buffer.contiguous().is_some_and(|memory| endpoint.shared_place(world, memory).is_none())
                && endpoint.has_cells_for(world, bytes)
                && !self.lock.is_contended()
    }

    /// Whether sends to this process wait for room already.
    #[inline]
    fn has_backlog(&self, world: u32) -> bool {
        self.backlogged != 0 && self.backlog.contains_key(&world)
    }

    fn queue(&mut self, world: u32, handle: Handle) {
        self.backlog.entry(world).or_default().push_back(handle);
        self.backlogged += 1;
        self.wake_leader_for_work();
    }

    /// Pushes the record of a queued send and moves the send on to what it waits for next.
    fn launch(&mut self, endpoint: &mut Endpoint, handle: Handle) -> Result<(), Full> {
        let Some(request) = self.requests.get_mut(handle) else { return Ok(()) };
        let Work::Queued(outgoing) = &mut request.work else { return Ok(()) };
        let Outgoing { dest, head, data } = outgoing.as_mut();
        let dest = *dest;
        head.b = token(handle);
        match head.kind {
            wire::OFFER => {
                let bytes = data.bytes();
                let (ways, region, registration) = match data.contiguous() {
                    Some(memory) => {
                        let long = bytes >= self.settings.copy_shared_from.get();
                        let shared = if long { endpoint.shared_place(dest, memory) } else { None };
                        match shared.filter(|_| self.pipelined_limit.permits_shared(endpoint, dest, bytes)) {
                            Some(place) => (wire::SHARED, place, (Registration::NONE, None)),
                            None => {
                                let (region, registration) = registration::for_reading(endpoint, dest, memory);
                                (0, region, (registration, None))
                            }
                        }
                    }
                    None => offered_with_gaps(endpoint, self.settings, dest, &data.as_send()),
                };
                head.flags = head.flags & (wire::FOR_SERVICE | wire::PIPELINED) | ways;
                let offer = Offer { bytes, region, ways, pipelined: false }.encode();
                let ahead = match data.contiguous() {
                    Some(memory)
                        if head.flags & (wire::FOR_SERVICE | wire::SHARED) == 0 && !self.lock.is_contended() =>
                    {
                        (memory, self.settings.ahead_of(head, memory.len()))
                    }
                    _ => (&[][..], 0),
                };
                push_offer(endpoint, dest, head, &offer, ahead)?;
                let data = std::mem::replace(data, Data::Owned(Vec::new()));
                let tag = head.tag;
                self.offers += usize::from(head.flags & wire::PIPELINED == 0);
                request.work = Work::Offered {
                    data,
                    dest,
                    tag,
                    copiers: 0,
                    over: false,
                    awaited: false,
                    _registration: registration,
                };
            }
            kind => {
                match data.contiguous() {
                    Some(memory) => endpoint.push(dest, head, memory)?,
                    None => endpoint.push_with(dest, head, data.bytes() as usize, |out| data.pack(0, out))?,
                }
                if kind == wire::EAGER_SYNC {
                    request.work = Work::AwaitMatch { dest, tag: head.tag };
                } else {
                    self.finish(handle);
                }
            }
        }
        Ok(())
    }

    /// Pushes the queued sends for which there is room, oldest first for each destination.
    pub fn flush_backlog(&mut self, endpoint: &mut Endpoint) {
        let mut backlog = std::mem::take(&mut self.backlog);
        backlog.retain(|_, queue| {
            while let Some(handle) = queue.front().copied() {
                if self.launch(endpoint, handle).is_err() {
                    return true;
                }
                queue.pop_front();
                self.backlogged -= 1;
            }
            false
        });
        self.backlog = backlog;
    }

    /// Withdraws a cancelled send that has not left yet.
    pub fn unqueue(&mut self, handle: Handle) -> bool {
        let Some(Work::Queued(outgoing)) = self.requests.get(handle).map(|request| &request.work) else {
            return false;
        };
        let dest = outgoing.dest;
        let Some(queue) = self.backlog.get_mut(&dest) else { return false };
        let before = queue.len();
        queue.retain(|queued| *queued != handle);
        let removed = before - queue.len();
        if queue.is_empty() {
            self.backlog.remove(&dest);
        }
        self.backlogged -= removed;
        removed > 0
    }
}
