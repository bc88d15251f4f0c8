//! The engine's state, and its requests.
//!
//! [`State`] is the fabric's endpoint beside [`Core`], so that the endpoint can hand records to the core while it
//! polls. The core sends nothing during a poll: it queues replies and large transfers, which are carried
//! out after the poll, in `progress`.
//! Not here: handling of arriving records (`arrival`).

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use mpi_core::abi::MPI_ERR_INTERN;
use mpi_core::{Facts, Handle, Kind, ProcessLock, Table};
use mpi_errors::Error;
use mpi_fabric::{Doorbell, Endpoint, Payload, RecordHead, Sink};

use crate::background::Background;
use crate::both_limit::BothLimit;
use crate::buffered::Buffered;
use crate::chains::Key;
use crate::context::{ContextSpec, Contexts};
use crate::copy_job::CopyJobs;
use crate::cvars::EngineSettings;
use crate::delivery::Content;
use crate::direct::Direct;
use crate::events::MessageEvents;
use crate::instruments::{EngineInstruments, SizeRows};
use crate::message::{Matched, Message, Pool, Segmented};
use crate::on_demand::OnDemandMetrics;
use crate::pair_parts::Parts;
use crate::partition_metrics::PartitionMetrics;
use crate::partitions::Partitions;
use crate::pending_contexts::ContextAgreement;
use crate::pipelined_limit::PipelinedLimit;
use crate::recipe::RecipeRequest;
use crate::request::{
    AWAITED, AWAITED_BY, AtOnce, CancelState, DETACHED, PART, Request, SCHEDULED, SERVED, WATCHED, Work,
    too_many_requests,
};

use crate::room_word::RoomWait;
use crate::service_queue::ServiceQueue;
use crate::transfer_slots::{SLOTS, Slots};
use crate::waiters::Waiters;
use crate::wire::{self, Share};

pub(crate) struct State {
    pub endpoint: Endpoint,
    pub core: Core,
}

pub(crate) struct Core {
    pub contexts: Contexts,
    pub requests: Table<Request>,
    /// Requests of operations that were complete when they were started.
    pub at_once: Table<AtOnce>,
    /// Requests that start operations.
    pub recipes: Table<RecipeRequest>,
    /// Sends that were cancelled after their message had left, by handle.
    pub cancel_requests: HashMap<usize, CancelState>,
    /// Messages that a matched probe took, by their handle.
    pub held: Table<MatchedMessage>,
    /// Records for contexts this process has not made yet.
    early: HashMap<u32, Vec<Early>>,
    /// Small answers still to be pushed.
    pub replies: VecDeque<Reply>,
    /// Offers that found their receive during a poll.
    pub matched: Vec<Matched>,
    /// Sends that wait for room, by destination if it has any; `backlogged` counts them all.
    pub backlog: BTreeMap<u32, VecDeque<Handle>>,
    pub backlogged: usize,
    /// Sends that the program has freed before they were complete.
    pub detached_sends: usize,
    /// Sends that feed fragments.
    pub streams: Vec<Handle>,
    /// Long messages that this process copies.
    pub copies: CopyJobs,
    pub slots: Slots,
    pub context_agreement: ContextAgreement,
    /// Transfers whose receivers requested this process to copy too.
    pub copy_requests: Vec<(Handle, Share)>,
    /// At most so many sends are offered that no call has been found to wait for: while it is 0, waits look for none.
    pub offers: usize,
    /// Incremented by every completed request; a waiting call checks its condition again only after a change.
    pub completions: u64,
    pub services: ServiceQueue,
    /// Words of other processes that threads and operations wait for.
    pub room_waits: Vec<RoomWait>,
    pub partitions: Partitions,
    /// The sends and receives that are two under one request.
    pub parts: Parts,
    /// Address of the [`crate::arrivals::Arrivals`] of each partitioned receive; the engine reads it without the lock.
    pub arrivals: Arc<Facts>,
    pub direct: Direct,
    /// Short receives begun, of which some are left to the longer way.
    pub short_receives: u32,
    /// Messages of which some segments have come.
    pub segmented: Vec<Segmented>,
    pub pool: Pool,
    pub buffered: Buffered,
    pub instruments: &'static EngineInstruments,
    pub partition_metrics: PartitionMetrics,
    pub events: &'static MessageEvents,
    /// Messages by size.
    pub sizes: &'static SizeRows,
    pub settings: &'static EngineSettings,
    /// Which blocking sends go in fragments.
    pub pipelined_limit: PipelinedLimit,
    /// Which messages both processes copy by the kernel.
    pub both_limit: BothLimit,
    /// Requests and messages that MPI_T handles are bound to.
    pub on_demand: OnDemandMetrics,
    /// Reasons for which a blocking receive is posted at once: communicators whose room in posted receives is kept, and
    /// threads that sleep until any change.
    pub posting: usize,
    pub waiters: Waiters,
    /// What the progress thread is for.
    pub background: Background,
    /// Tests that found their operations incomplete where processes share cores; wraps around. The instrument may be compiled
    /// out.
    pub failed_tests: u32,
    /// The lock of all this: whether other threads may wait for it.
    pub lock: Arc<ProcessLock>,
    /// Processes of other jobs that have ended; whether the endpoint has just reported one.
    pub lost: Vec<u32>,
    pub lost_reported: bool,
    /// How many of them the waits were woken for.
    pub lost_is_news: bool,
    /// The first protocol error in what another process sent.
    pub fault: Option<Error>,
}

/// A message taken by a matched probe.
#[derive(Debug)]
pub(crate) struct MatchedMessage {
    pub message: Message,
    /// Its place in the order of the messages of its context.
    pub stamp: u64,
    pub key: Key,
    pub context: u32,
}

/// A small record to push after the poll.
#[derive(Debug)]
pub(crate) struct Reply {
    pub dest: u32,
    pub head: RecordHead,
    pub payload: [u8; 32],
    pub len: usize,
}

impl Reply {
    /// A record about the request `token` names, with no payload.
    pub fn about(dest: u32, kind: u8, token: u64) -> Reply {
        let head = RecordHead { kind, flags: 0, context: 0, tag: 0, a: 0, b: token };
        Reply { dest, head, payload: [0; 32], len: 0 }
    }

    /// The request for the bytes from `at` to `wanted` of a message as fragments: the send that the token of that
    /// process names, and the receive.
    pub fn stream((dest, token): (u32, u64), receive: Handle, wanted: u64, at: u64) -> Reply {
        let payload: [u8; 24] = wire::join([receive.0 as u64, wanted, at]);
        Reply::about(dest, wire::STREAM, token).with(&payload)
    }

    pub fn with(mut self, payload: &[u8]) -> Reply {
        self.payload[..payload.len()].copy_from_slice(payload);
        self.len = payload.len();
        self
    }
}

struct Early {
    from: u32,
    head: RecordHead,
    words: Vec<u64>,
    len: usize,
}

impl Core {
    pub fn new(
        doorbell: Doorbell,
        lock: Arc<ProcessLock>,
        (instruments, partition_metrics, sizes): (&'static EngineInstruments, PartitionMetrics, &'static SizeRows),
        settings: &'static EngineSettings,
        pipelined_limit: PipelinedLimit,
    ) -> Core {
        instruments.slots_free.raise(u64::from(SLOTS));
        Core {
            contexts: Contexts::new(),
            requests: Table::new(Kind::Request),
            at_once: Table::new(Kind::AtOnce),
            recipes: Table::new(Kind::Recipe),
            cancel_requests: HashMap::new(),
            held: Table::new(Kind::Message),
            early: HashMap::new(),
            replies: VecDeque::new(),
            matched: Vec::new(),
            backlog: BTreeMap::new(),
            backlogged: 0,
            detached_sends: 0,
            streams: Vec::new(),
            copies: CopyJobs::default(),
            slots: Slots::new(),
            context_agreement: ContextAgreement::default(),
            copy_requests: Vec::new(),
            offers: 0,
            completions: 0,
            services: ServiceQueue::default(),
            room_waits: Vec::new(),
            partitions: Partitions::default(),
            parts: Parts::new(),
            arrivals: Arc::new(Facts::new()),
            direct: Direct::new(),
            short_receives: 0,
            segmented: Vec::new(),
            pool: Pool::default(),
            buffered: Buffered::default(),
            instruments,
            partition_metrics,
            events: MessageEvents::new(),
            sizes,
            settings,
            both_limit: BothLimit::new(pipelined_limit.instruments),
            pipelined_limit,
            on_demand: OnDemandMetrics::default(),
            posting: 0,
            background: Background::default(),
            failed_tests: 0,
            waiters: Waiters::new(doorbell),
            lock,
            lost: Vec::new(),
            lost_reported: false,
            lost_is_news: false,
            fault: None,
        }
    }

    /// Marks a request complete, or drops it when the program has freed it.
    #[inline]
    pub fn finish(&mut self, handle: Handle) {
        self.completions += 1;
        if mpi_t::any_callback_registered() {
            self.raise_completed(handle);
        }
        if let Some(request) = self.requests.get_mut(handle) {
            let marks = request.marks;
            let was_send = marks != 0 && request.work.is_send();
            request.work = Work::Done;
            if marks != 0 {
                self.finish_marked(handle, marks, was_send);
            }
        }
    }

    /// As [`Core::finish`], for a receive with these marks whose work is done and whose status is set already.
    #[inline(always)]
    pub fn received(&mut self, handle: Handle, marks: u32) {
        self.completions += 1;
        if mpi_t::any_callback_registered() {
            self.raise_received(handle);
        }
        if marks != 0 {
            self.finish_marked(handle, marks, false);
        }
    }

    #[cold]
    fn finish_marked(&mut self, handle: Handle, marks: u32, was_send: bool) {
        if marks & PART != 0 {
            return self.part_complete(handle);
        }
        self.wake_waiter(marks);
        if marks & WATCHED != 0 {
            self.update_metrics(handle);
        }
        if marks & SERVED != 0
            && let Some(request) = self.requests.get(handle)
        {
            self.completed_for_service(handle, request.context);
            return;
        }
        if marks & SCHEDULED != 0 {
            return self.completed_for_schedule(handle);
        }
        if marks & DETACHED != 0 {
            self.detached_sends -= usize::from(was_send);
            self.drop_request(handle);
            self.buffered_message_left(handle);
        }
    }

    /// A buffered message is on its way, if this request is of one.
    pub fn buffered_message_left(&mut self, handle: Handle) {
        for flushed in self.buffered.finished(handle) {
            self.finish(flushed);
        }
    }

    /// Puts a new request into its table.
    #[inline]
    pub fn add_request(&mut self, request: Request) -> Result<Handle, Error> {
        self.add_request_with(|_| request)
    }

    /// As [`Core::add_request`], for a request that needs its own handle.
    #[inline]
    pub fn add_request_with(&mut self, request: impl FnOnce(Handle) -> Request) -> Result<Handle, Error> {
        let handle = self.requests.insert_with(request).map_err(|_| too_many_requests())?;
        self.instruments.requests.raise(1);
        Ok(handle)
    }

    /// Takes a request out of its table.
    #[inline]
    pub fn drop_request(&mut self, handle: Handle) -> Option<Request> {
        let request = self.requests.remove(handle)?;
        self.instruments.requests.lower(1);
        if request.marks != 0 {
            self.drop_marked(handle, request.marks);
        }
        Some(request)
    }

    #[cold]
    pub fn drop_marked(&mut self, handle: Handle, marks: u32) {
        self.wake_waiter(marks);
        if marks & WATCHED != 0 {
            self.end_request_handles(handle);
        }
    }

    /// Wakes the thread that sleeps until the request with these marks is over.
    fn wake_waiter(&mut self, marks: u32) {
        if marks & AWAITED != 0 {
            self.waiters.wake(marks >> AWAITED_BY);
        }
    }

    /// Frees a request that is not complete: it completes by itself.
    pub fn detach(&mut self, handle: Handle) {
        if handle.is(Kind::AtOnce) {
            self.at_once.remove(handle);
        }
        if let Some(request) = self.requests.get_mut(handle) {
            let marks = std::mem::replace(&mut request.marks, DETACHED);
            self.detached_sends += usize::from(request.work.is_send());
            self.wake_waiter(marks);
        }
        self.end_request_handles(handle);
    }

    /// Records the first fault; the call in progress reports it.
    #[cold]
    pub fn fault(&mut self, from: u32, what: &str) {
        if self.fault.is_none() {
            let text = format!("process {from} of the job sent {what}; its memory may be damaged");
            self.fault = Some(Error::new(MPI_ERR_INTERN, text));
        }
    }

    /// Creates a context, and processes the records that arrived before.
    pub fn add_context(&mut self, spec: ContextSpec) {
        let id = spec.id;
        spec.instruments.settings.eager_limit.join(&self.settings.eager_limit);
        self.contexts.insert(spec);
        self.replay_early(id);
    }

    /// Records of communicators that do not exist yet.
    #[cfg(test)]
    pub fn early_records(&self) -> usize {
        self.early.values().map(Vec::len).sum()
    }

    fn replay_early(&mut self, id: u32) {
        for side in [id, id + 1] {
            for record in self.early.remove(&side).unwrap_or_default() {
                self.record(record.from, &record.head, Payload::from_words(&record.words, record.len));
            }
        }
    }

    /// Drops the last message with this token that came before its context was made; whether there was one.
    pub fn drop_early(&mut self, from: u32, context: u32, token: u64) -> bool {
        let Some(records) = self.early.get_mut(&context) else { return false };
        let meant = |record: &Early| {
            record.from == from && record.head.b == token && matches!(record.head.kind, wire::EAGER..=wire::OFFER)
        };
        let dropped = records.iter().rposition(meant).map(|place| records.remove(place)).is_some();
        if records.is_empty() {
            self.early.remove(&context);
        }
        dropped
    }

    /// Keeps a record whose communicator does not exist yet. One of a communicator that was freed is dropped, unless
    /// its sender waits for it, and may cancel it.
    #[cold]
    pub fn keep_early<C: Content>(&mut self, from: u32, head: &RecordHead, content: &C) {
        if self.contexts.was_freed(head.context) && !matches!(head.kind, wire::EAGER_SYNC | wire::OFFER) {
            return;
        }
        let record = Early { from, head: *head, words: content.to_words(), len: content.bytes() as usize };
        self.early.entry(head.context).or_default().push(record);
    }
}
