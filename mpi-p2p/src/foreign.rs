//! Processes of other jobs: connecting with them; and the end of operations with processes that have ended, of other jobs or,
//! where a part of this one was aborted, of this one.
//!
//! A poll of the endpoint reports the processes that have ended, again and again while something pins them. Each report
//! ends with `MPI_ERR_PROC_ABORTED` what waits for them: operations with one of them, receives from any source of a
//! communicator that has one, and all of the library's own operations of such a communicator, because a collective needs
//! all of its processes.
//! Invariant: a process's number is forgotten only when no operation with it is under way.
//! Not here: bridges (`mpi_fabric`), which processes are to be connected (`mpi-comm`).

use mpi_core::abi::MPI_ANY_SOURCE;
use mpi_core::{Guard, Handle};
use mpi_errors::{Error, Result};
use mpi_fabric::{
    BridgeKey, BridgeOffer, Endpoint, EnteredBridge, JoinedBridge, NetworkSource, PeerPins, ProcessId, RemotePeer,
};

use crate::context::{Context, user_side};
use crate::core::{Core, State};
use crate::engine::Engine;
use crate::recipe::{Activity, Recipe, RecipeRequest};
use crate::request::{CancelState, NO_CONTEXT, Request, Work};
use crate::service_queue::{Event, What};

/// Internal tags from this one on, and negative ones, are of messages among some processes of a communicator.
pub const TAGS_OF_SOME: i32 = 0x0100_0000;

impl Engine {
    /// Identifies this process among those of all jobs.
    pub fn process_id(&self, guard: &Guard<'_>) -> ProcessId {
        self.state.get(guard).endpoint.process(self.rank())
    }

    /// Identifies the process with a number; `None` if it has none.
    pub fn id_of(&self, guard: &Guard<'_>, number: u32) -> Option<ProcessId> {
        self.state.get(guard).endpoint.id_of(number)
    }

    /// The number of a process: its world rank if it is of this job; `None` if this process is not connected with it.
    pub fn number_of(&self, guard: &Guard<'_>, id: ProcessId) -> Option<u32> {
        self.state.get(guard).endpoint.number_of(id)
    }

    /// Whether messages can be sent to a process.
    pub fn has_route(&self, guard: &Guard<'_>, id: ProcessId) -> bool {
        self.state.get(guard).endpoint.has_route(id)
    }

    /// As [`Endpoint::ring_bytes`].
    pub fn ring_bytes(&self, guard: &Guard<'_>) -> usize {
        self.state.get(guard).endpoint.ring_bytes()
    }

    /// As [`Endpoint::create_bridge`].
    pub fn create_bridge(&self, guard: &Guard<'_>, members: usize, ring_bytes: usize) -> Result<BridgeOffer> {
        self.state.get(guard).endpoint.create_bridge(members, ring_bytes)
    }

    /// As [`Endpoint::enter_bridge`].
    pub fn enter_bridge(&self, guard: &mut Guard<'_>, key: BridgeKey, members: &[ProcessId]) -> Result<EnteredBridge> {
        let state = self.state.get_mut(guard);
        // Numbers and bridges that are no longer used are used again by this connection.
        state.release_peers();
        state.endpoint.enter_bridge(key, members)
    }

    /// As [`Endpoint::join_bridge`].
    pub fn join_bridge(
        &self,
        guard: &mut Guard<'_>,
        entered: EnteredBridge,
        members: &[ProcessId],
    ) -> Result<JoinedBridge> {
        self.state.get_mut(guard).endpoint.join_bridge(entered, members)
    }

    /// As [`Endpoint::begin_bridge`].
    pub fn begin_bridge(&self, guard: &mut Guard<'_>, joined: JoinedBridge) -> PeerPins {
        let state = self.state.get_mut(guard);
        let pins = state.endpoint.begin_bridge(joined);
        // A process that had left may be connected again, under its number.
        let endpoint = &state.endpoint;
        state.core.lost.retain(|number| !endpoint.alive(*number));
        pins
    }

    /// As [`Endpoint::set_network_source`].
    pub fn set_network_source(&self, guard: &mut Guard<'_>, source: NetworkSource, alone: bool) {
        self.state.get_mut(guard).endpoint.set_network_source(source, alone);
    }

    /// As [`Endpoint::host_key`].
    pub fn host_key(&self, guard: &Guard<'_>) -> u64 {
        self.state.get(guard).endpoint.host_key()
    }

    /// As [`Endpoint::network_address`].
    pub fn network_address(&self, guard: &mut Guard<'_>) -> Result<String> {
        self.state.get_mut(guard).endpoint.network_address()
    }

    /// As [`Endpoint::connect_remote`].
    pub fn connect_remote(&self, guard: &mut Guard<'_>, peers: &[RemotePeer]) -> Result<PeerPins> {
        let state = self.state.get_mut(guard);
        let pins = state.endpoint.connect_remote(peers);
        // A process that was lost may be connected again, under its number.
        let endpoint = &state.endpoint;
        state.core.lost.retain(|number| !endpoint.alive(*number));
        pins
    }

    /// As [`Endpoint::begin_remote`].
    pub fn begin_remote(&self, guard: &mut Guard<'_>, peers: &[RemotePeer]) {
        self.state.get_mut(guard).endpoint.begin_remote(peers);
    }

    /// As [`Endpoint::pin`].
    pub fn pin(&self, guard: &Guard<'_>, numbers: &[u32]) -> PeerPins {
        self.state.get(guard).endpoint.pin(numbers)
    }

    /// Whether a collective call on a context can be complete. Messages of an earlier call that failed may be left, so a later
    /// call would take them for its own.
    /// # Errors
    /// `MPI_ERR_PROC_ABORTED`: one of its processes has ended.
    #[inline]
    pub fn check_lost(&self, guard: &Guard<'_>, context: u32) -> Result<()> {
        self.state.get(guard).check_lost(context)
    }

    /// Whether a process is known to have ended: nothing that is sent to it arrives.
    pub fn is_lost(&self, guard: &Guard<'_>, number: u32) -> bool {
        self.state.get(guard).core.lost.contains(&number)
    }

    /// Forgets the processes of other jobs that nothing pins any more and with which nothing is under way, and unmaps
    /// what connected them.
    pub fn release_peers(&self, guard: &mut Guard<'_>) {
        self.state.get_mut(guard).release_peers();
    }

    /// As [`Endpoint::record_jobs`].
    pub fn record_jobs(&self, guard: &Guard<'_>) {
        self.state.get(guard).endpoint.record_jobs();
    }

    /// As [`Endpoint::leave_jobs`].
    pub fn leave_jobs(&self, guard: &Guard<'_>) {
        self.state.get(guard).endpoint.leave_jobs();
    }

    /// Number of processes of other jobs that are connected, and of bridges to them.
    pub fn connected_peers(&self, guard: &Guard<'_>) -> [usize; 2] {
        self.state.get(guard).endpoint.connected_peers()
    }
}

impl State {
    /// See [`Engine::check_lost`].
    #[inline]
    pub fn check_lost(&self, context: u32) -> Result<()> {
        let State { core, endpoint } = self;
        if core.lost.is_empty() {
            return Ok(());
        }
        let lost = core.contexts.get(context).and_then(|context| core.lost_member(context));
        lost.map_or(Ok(()), |number| Err(endpoint.lost_error(number)))
    }

    /// See [`Engine::release_peers`].
    pub fn release_peers(&mut self) {
        let State { endpoint, core } = self;
        if endpoint.has_released_peers() && !core.uses_peers_of_freed(endpoint.size()) {
            endpoint.release_peers();
            core.lost.clear();
        }
    }
}

impl Core {
    /// Whether operations or records for processes of other jobs are left that no communicator keeps connected.
    fn uses_peers_of_freed(&self, size: u32) -> bool {
        let queued =
            self.replies.iter().any(|reply| reply.dest >= size) || self.backlog.keys().any(|dest| *dest >= size);
        let under_way = |(_, request): (Handle, &Request)| {
            self.contexts.get(request.context).is_none() && peer_of(&request.work).is_some_and(|peer| peer >= size)
        };
        queued || self.copies.list.iter().any(|job| job.copier.peer() >= size) || self.requests.iter().any(under_way)
    }

    /// The endpoint reports a process that has ended.
    #[cold]
    pub fn peer_lost(&mut self, number: u32) {
        if !self.lost.contains(&number) {
            self.lost.push(number);
            self.lost_is_news = true;
            // Behind the messages of that process that are here.
            self.services.queue.push_back(Event { context: NO_CONTEXT, what: What::Lost(number) });
        }
        self.lost_reported = true;
    }

    /// Ends with an error what waits for processes that have ended.
    #[cold]
    pub fn fail_lost(&mut self, endpoint: &mut Endpoint) {
        self.lost_reported = false;
        self.lost.retain(|number| endpoint.id_of(*number).is_some());
        let waiting = self.waiting_for_lost();
        let mut is_news = std::mem::take(&mut self.lost_is_news) || !waiting.is_empty();
        for (handle, number) in waiting {
            self.fail(handle, endpoint.lost_error(number));
        }
        for (request, operation, number) in self.partitioned_with_lost() {
            self.fail_partitioned(request, operation, endpoint.lost_error(number));
        }
        self.replies.retain(|reply| !self.lost.contains(&reply.dest));
        for state in self.cancel_requests.values_mut() {
            if let CancelState::Waiting(dest) = state
                && self.lost.contains(dest)
            {
                *state = CancelState::Answered(false);
                is_news = true;
            }
        }
        if !is_news {
            return;
        }
        // Probes look again.
        self.completions += 1;
        self.wake_on_any_change();
    }

    /// The requests that cannot complete, and the process that each waits for.
    fn waiting_for_lost(&self) -> Vec<(Handle, u32)> {
        let mut found = Vec::new();
        for (handle, request) in self.requests.iter() {
            if request.is_done() {
                continue;
            }
            let context = self.contexts.get(request.context);
            let whole = context.filter(|_| !user_side(request.context)).and_then(|context| self.lost_member(context));
            let lost = match &request.work {
                Work::Posted { key, .. } => whole
                    .filter(|_| is_of_all(key.tag))
                    .or_else(|| context.and_then(|context| self.lost_source(context, key.source))),
                Work::AwaitContext => match context {
                    Some(context) => self.lost_member(context),
                    // A communicator without a parent.
                    None => self.context_agreement.provider(handle).filter(|provider| self.lost.contains(provider)),
                },
                work => match peer_of(work) {
                    Some(peer) if self.lost.contains(&peer) => Some(peer),
                    Some(_) => whole.filter(|_| is_of_all(tag_of(request))),
                    None => None,
                },
            };
            found.extend(lost.map(|number| (handle, number)));
        }
        found
    }

    /// The partitioned operations with processes that have ended: request, operation and process.
    fn partitioned_with_lost(&self) -> Vec<(Handle, Handle, u32)> {
        let with_lost = |(request, found): (Handle, &RecipeRequest)| {
            let Activity::UnderWay(operation) = found.activity else { return None };
            let world = match &found.recipe {
                Recipe::PartitionedSend(send) => send.world,
                Recipe::PartitionedReceive(receive) => receive.world,
                _ => None,
            };
            let world = world.filter(|world| self.lost.contains(world))?;
            let is_open = self.requests.get(operation).is_some_and(|request| !request.is_done());
            is_open.then_some((request, operation, world))
        };
        self.recipes.iter().filter_map(with_lost).collect()
    }

    /// A process of a communicator that has ended.
    fn lost_member(&self, context: &Context) -> Option<u32> {
        context.spec.members().iter().copied().find(|member| self.lost.contains(member))
    }

    /// A process that a receive from `source` waits for, and that has ended.
    fn lost_source(&self, context: &Context, source: i32) -> Option<u32> {
        match source {
            MPI_ANY_SOURCE => context.routes.iter().map(|route| route.world).find(|world| self.lost.contains(world)),
            _ => context.routes.get(source as usize).map(|route| route.world).filter(|world| self.lost.contains(world)),
        }
    }

    /// The error of a probe for a message that cannot come.
    pub fn check_source(&self, endpoint: &Endpoint, context_id: u32, source: i32) -> Result<()> {
        if self.lost.is_empty() {
            return Ok(());
        }
        let Some(context) = self.contexts.get(context_id) else { return Ok(()) };
        self.lost_source(context, source).map_or(Ok(()), |number| Err(endpoint.lost_error(number)))
    }

    /// Ends a request with an error; a copy of its data that is under way ends first.
    fn fail(&mut self, handle: Handle, error: Error) {
        let Some(request) = self.requests.get_mut(handle) else { return };
        request.error = Some(error);
        let id = request.context;
        match &request.work {
            Work::Posted { key, buffer } => {
                let (key, bytes) = (*key, buffer.bytes());
                if let Some(context) = self.contexts.get_mut(id) {
                    context.sides[(id & 1) as usize].posted.withdraw(key, handle);
                    context.leaves_posted(id, || bytes, &mut self.posting);
                    if context.freed {
                        self.contexts.remove_if_idle(id);
                    }
                }
                self.finish(handle);
            }
            Work::Offered { .. } => self.end_offer(handle),
            Work::Queued(_) => {
                self.unqueue(handle);
                self.finish(handle);
            }
            Work::Streaming { .. } => {
                self.streams.retain(|stream| *stream != handle);
                self.finish(handle);
            }
            Work::AwaitContext => {
                self.context_agreement.awaited.values_mut().for_each(|list| list.retain(|it| it.request != handle));
                self.context_agreement.awaited.retain(|_, list| !list.is_empty());
                self.finish(handle);
            }
            _ => self.finish(handle),
        }
    }
}

/// Whether an internal message with this tag belongs to an operation of all processes of a communicator. Messages of some of
/// them (`MPI_Comm_create_group`, leaders of groups) have the other tags (`mpi_comm`'s `tags`).
fn is_of_all(tag: i32) -> bool {
    (0..TAGS_OF_SOME).contains(&tag)
}

/// The tag of a message that has begun.
fn tag_of(request: &Request) -> i32 {
    match &request.work {
        Work::AwaitMatch { tag, .. } | Work::Offered { tag, .. } | Work::Streaming { tag, .. } => *tag,
        Work::Queued(outgoing) => outgoing.head.tag,
        _ => request.status.tag,
    }
}

/// The process that an operation is with, once it has begun.
fn peer_of(work: &Work) -> Option<u32> {
    match work {
        Work::AwaitMatch { dest, .. } | Work::Offered { dest, .. } | Work::Streaming { dest, .. } => Some(*dest),
        Work::Queued(outgoing) => Some(outgoing.dest),
        Work::Receiving { from, .. } | Work::Discarding { from, .. } => Some(*from),
        _ => None,
    }
}
