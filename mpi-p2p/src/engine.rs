//! The engine's public calls: non-blocking calls under the guard, and blocking calls that release it while they wait.
//!
//! Invariant: no call sleeps with the process lock held, and none runs the program's code.
//! Not here: waiting (`waiting`), sets of requests (`complete`), argument checks (`mpi-capi`).
#![allow(unsafe_code)] // a blocking call's request holds the call's buffer, and ends before the call does

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use mpi_core::abi::MPI_PROC_NULL;
use mpi_core::{Facts, Guard, Guarded, Handle, Held, ProcessLock, QuickGuard, Status};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;
use mpi_fabric::{Doorbell, Endpoint, OpenWaits, Recorder};
use mpi_t::InstrumentMemory;

use crate::awaited::Awaited;
use crate::background::ProgressThread;
use crate::buffered::BufferOwner;
use crate::chains::Key;
use crate::context::{ContextSpec, unknown_context};
use crate::core::{Core, State};
use crate::cvars::EngineSettings;
use crate::direct::Outcome;
use crate::events::{MessageEvents, WaitEvents};
use crate::instruments::{EngineInstruments, SizeInstruments};
use crate::partition_metrics::{PartitionEvents, PartitionInstruments, PartitionMetrics};
use crate::pipelined_limit::{CalibrationInstruments, PipelinedLimit};
use crate::receive::Begun;
use crate::request::Receiver;
use crate::request::{Completion, Mode, ReceiveFailure};
use crate::send::{Started, StartedLine};
use crate::short_receive::ShortReceive;

/// A chapter's handler of the messages that arrive for one context.
///
/// The functions are called by any call of the process that makes progress, with the process's lock held. They must
/// not wait or take the lock, and run the program's code only without it ([`Engine::unlocked`]); they may start
/// operations. While one of them has released the lock (also by [`Engine::copy_unlocked`]), other threads may call them: the service keeps messages in order itself then.
pub trait Service: Send + Sync {
    /// A message has arrived that was sent with [`Engine::send_to_service`].
    fn message(&self, engine: &Engine, guard: &mut Guard<'_>, message: ServiceMessage<'_>);
    /// An operation is complete that the service has registered with [`Engine::serve_completion`].
    fn completed(&self, engine: &Engine, guard: &mut Guard<'_>, request: Handle, completion: Completion);
    /// Carries out the operation of a persistent request that is started, if nothing has to be waited for; whether it is
    /// over. Otherwise [`Service::start`] follows. Does not release the lock.
    fn start_at_once(&self, _guard: &mut Guard<'_>, _operation: Handle) -> bool {
        false
    }
    /// The operation of a persistent request ([`Engine::collective_init`]) is started. An error is that of its
    /// completion.
    fn start(&self, _engine: &Engine, _guard: &mut Guard<'_>, _operation: Handle) {}
    /// The word that an operation waits for ([`Engine::serve_word`]) has been raised.
    fn raised(&self, _engine: &Engine, _guard: &mut Guard<'_>, _operation: Handle) {}
    /// A process has ended, by its number among all processes. What it sent to the service before may still come after
    /// that, if a long message was on its way. Also of processes that have nothing to do with the service.
    fn lost(&self, _engine: &Engine, _guard: &mut Guard<'_>, _number: u32) {}
    /// The persistent request of an operation, inactive, was freed.
    fn freed(&self, _guard: &mut Guard<'_>, _operation: Handle) {}
}

/// A message for a service.
#[derive(Debug)]
pub struct ServiceMessage<'m> {
    /// Rank of the sender in the communicator.
    pub source: i32,
    /// The tag it was sent with.
    pub tag: i32,
    /// The whole message.
    pub data: &'m [u8],
}

/// The message engine of one process. Share it freely; every call needs the process's lock.
///
/// Ranks are ranks of the communicator whose context id is given. The caller checks that they and tags are in range;
/// `MPI_PROC_NULL` and the wildcards are the engine's to handle.
pub struct Engine {
    pub(crate) lock: Arc<ProcessLock>,
    pub(crate) state: Guarded<State>,
    pub(crate) services: Guarded<HashMap<u32, Arc<dyn Service>>>,
    /// The service of collective operations.
    pub(crate) schedules: OnceLock<Arc<dyn Service>>,
    /// As [`Core::arrivals`].
    pub(crate) arrivals: Arc<Facts>,
    pub(crate) doorbell: Doorbell,
    pub(crate) progress_thread: ProgressThread,
    pub(crate) recorder: Recorder,
    pub(crate) instruments: &'static EngineInstruments,
    /// The waits that readers outside see before they have ended.
    pub(crate) open_waits: OpenWaits,
    events: &'static MessageEvents,
    pub(crate) wait_events: &'static WaitEvents,
    pub(crate) partition_metrics: PartitionMetrics,
    calibration: &'static CalibrationInstruments,
    pub(crate) settings: &'static EngineSettings,
    rank: u32,
    size: u32,
}

impl Engine {
    /// An engine over one rank's endpoint, its instruments placed in `memory`.
    pub fn new(endpoint: Endpoint, lock: Arc<ProcessLock>, memory: &dyn InstrumentMemory) -> Engine {
        let (rank, size, doorbell) = (endpoint.rank(), endpoint.size(), endpoint.doorbell());
        let recorder = endpoint.recorder();
        let instruments = EngineInstruments::place(memory);
        if endpoint.instrument_memory().keeps_peaks() {
            instruments.requests.keep_peak();
        }
        let settings = EngineSettings::new();
        let policy = doorbell.policy();
        settings.eager_limit.set_room(endpoint.longest_segmented() as u64);
        settings.wait_spins.set(policy.spins());
        settings.wait_yields.set(policy.yields());
        settings.wait_sleep.set(policy.sleeps());
        let partition_metrics = PartitionMetrics::new(memory);
        let pipelined_limit = PipelinedLimit::new(memory);
        let calibration = pipelined_limit.instruments;
        let sizes = SizeInstruments::place_in_job(&endpoint.instrument_memory());
        let metrics = (instruments, partition_metrics, sizes);
        let open_waits = endpoint.open_waits();
        let core = Core::new(doorbell.clone(), lock.clone(), metrics, settings, pipelined_limit);
        let arrivals = core.arrivals.clone();
        let state = Guarded::new(&lock, State { endpoint, core });
        let events = state.get(&lock.lock()).core.events;
        let services = Guarded::new(&lock, HashMap::new());
        Engine {
            lock,
            state,
            services,
            schedules: OnceLock::new(),
            arrivals,
            doorbell,
            progress_thread: ProgressThread::default(),
            recorder,
            instruments,
            open_waits,
            events,
            wait_events: WaitEvents::new(),
            partition_metrics,
            calibration,
            settings,
            rank,
            size,
        }
    }

    /// Takes the process's lock.
    #[inline]
    pub fn lock(&self) -> Guard<'_> {
        self.lock.lock()
    }

    /// As [`ProcessLock::try_lock_quickly`].
    #[inline(always)] // short ways of calls that have a longer one, which waits
    pub fn lock_quickly<const ALONE: bool>(&self) -> Option<QuickGuard<'_, ALONE>> {
        self.lock.try_lock_quickly()
    }

    /// The process's lock.
    pub fn process_lock(&self) -> &Arc<ProcessLock> {
        &self.lock
    }

    /// Rank in the job.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// Number of processes in the job.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// What it raises.
    pub fn events(&self) -> (&'static MessageEvents, &'static WaitEvents) {
        (self.events, self.wait_events)
    }

    /// The engine's own instruments.
    pub fn instruments(&self) -> &'static EngineInstruments {
        self.instruments
    }

    /// Instruments and events of partitioned communication.
    pub fn partition_metrics(&self) -> (&'static PartitionInstruments, &'static PartitionEvents) {
        (self.partition_metrics.counts, self.partition_metrics.events)
    }

    /// The limit between fragments and copies by the kernel, and how it was measured.
    pub fn calibration(&self) -> &'static CalibrationInstruments {
        self.calibration
    }

    /// The engine's control variables.
    pub fn settings(&self) -> &'static EngineSettings {
        self.settings
    }

    /// Messages by size: one row for each class of sizes.
    pub fn sizes(&self) -> &'static [SizeInstruments] {
        self.state.get(&self.lock()).core.sizes
    }

    /// Registers a communicator, before any of its messages is sent or received here.
    pub fn add_context(&self, guard: &mut Guard<'_>, spec: ContextSpec) {
        self.state.get_mut(guard).core.add_context(spec);
    }

    /// Removes a communicator and the messages that were not received. Operations under way complete first.
    pub fn remove_context(&self, guard: &mut Guard<'_>, id: u32) {
        let state = self.state.get_mut(guard);
        let core = &mut state.core;
        if let Some(context) = core.contexts.get_mut(id) {
            context.room.end(&mut core.posting);
        }
        core.contexts.free(id);
        core.partitions.remove_context(id);
        core.buffered.detach(BufferOwner::Comm(id));
        core.drop_unclaimed_ids(id);
        state.release_peers();
    }

    /// A request of an operation that was over when it was started, with this status. Errors: `MPI_ERR_INTERN` when
    /// there are too many requests.
    pub fn completed(&self, guard: &mut Guard<'_>, context: u32, status: Status) -> Result<Handle> {
        self.state.get_mut(guard).core.received_request(context, status, None)
    }

    /// Blocking send.
    #[inline]
    pub fn send(
        &self,
        mut guard: Guard<'_>,
        context: u32,
        dest: i32,
        tag: i32,
        buffer: SendBuf<'_>,
        mode: Mode,
    ) -> Result<()> {
        // SAFETY: the request that holds the buffer is complete, or revoked, before this call returns.
        let buffer = unsafe { buffer.detach() };
        if mode == Mode::Buffered {
            return self.start_buffered(&mut guard, context, dest, tag, buffer);
        }
        match self.state.get_mut(&mut guard).start_send(context, dest, tag, buffer, mode, Receiver::MatchingAtOnce)? {
            Started::Complete => Ok(()),
            Started::Under(request) => self.finish_send(guard, request),
        }
    }

    /// Blocking receive.
    #[inline]
    pub fn recv(
        &self,
        guard: Guard<'_>,
        context: u32,
        source: i32,
        tag: i32,
        buffer: RecvBuf<'_>,
    ) -> Result<Status, ReceiveFailure> {
        // SAFETY: before this call returns the request that holds the buffer is complete, or revoked: then no process
        // copies into the buffer any more (`revoke`).
        let buffer = unsafe { buffer.detach() };
        self.receive(guard, context, source, tag, buffer)
    }

    /// Sends and receives at once (MPI-4.1, 3.10).
    #[allow(clippy::too_many_arguments)] // the standard's own list
    pub fn sendrecv(
        &self,
        mut guard: Guard<'_>,
        context: u32,
        dest: i32,
        send_tag: i32,
        send_buffer: SendBuf<'_>,
        source: i32,
        recv_tag: i32,
        recv_buffer: RecvBuf<'_>,
    ) -> Result<Status, ReceiveFailure> {
        // SAFETY: as in `send` and `recv`, for both requests.
        let (send_buffer, recv_buffer) = unsafe { (send_buffer.detach(), recv_buffer.detach()) };
        let state = self.state.get_mut(&mut guard);
        let send =
            match state.start_send(context, dest, send_tag, send_buffer, Mode::Standard, Receiver::MatchingAtOnce)? {
                Started::Complete => return self.receive(guard, context, source, recv_tag, recv_buffer),
                Started::Under(send) => send,
            };
        match state.start_receive(context, source, recv_tag, recv_buffer) {
            Ok(receive) => {
                let sent = self.finish_blocking(guard, send);
                let received = self.finish_blocking(self.lock(), receive);
                match (sent, received) {
                    (Err(failure), Ok(status)) => Err(ReceiveFailure::received(failure.into(), status)),
                    (_, received) => received,
                }
            }
            Err(error) => {
                drop(guard);
                self.revoke(&[send]);
                Err(error.into())
            }
        }
    }

    /// A blocking receive into a buffer that is valid until this call returns.
    #[inline]
    fn receive(
        &self,
        mut guard: Guard<'_>,
        context: u32,
        source: i32,
        tag: i32,
        buffer: RecvBuf<'static>,
    ) -> Result<Status, ReceiveFailure> {
        match self.state.get_mut(&mut guard).receive_blocking(context, source, tag, buffer)? {
            Outcome::Received(status, None) => Ok(status),
            Outcome::Received(status, Some(error)) => Err(ReceiveFailure::received(error, status)),
            Outcome::Under(request) => {
                if self.state.get(&guard).core.has_calls() {
                    self.serve_and_copy(&mut guard);
                }
                self.finish_blocking(guard, request)
            }
        }
    }

    /// Sends if that is over at once, because the message is short and its receiver's ring has room; returns whether it
    /// did.
    pub fn send_at_once(&self, guard: &mut Guard<'_>, context: u32, dest: i32, tag: i32, buffer: &SendBuf<'_>) -> bool {
        self.state.get_mut(guard).send_at_once(context, dest, tag, buffer, 0)
    }

    /// A blocking standard send of at most 32 bytes of contiguous data, if it needs nothing but stores: calls `record`
    /// before the message is put into the ring, and returns its result. `None`: nothing has happened.
    #[inline(always)] // a short way of a call that has a longer one
    pub fn send_quickly<R>(
        &self,
        guard: &mut impl Held,
        context: u32,
        dest: i32,
        tag: i32,
        memory: &[u8],
        record: impl FnOnce() -> R,
    ) -> Option<R> {
        self.state.get_mut_held(guard).send_line(context, dest, tag, memory, record)
    }

    /// Starts a standard send of at most 32 bytes of contiguous data, if it needs nothing but stores; the message leaves with
    /// [`StartedLine::send`]. `None`: nothing has happened.
    #[inline(always)] // a short way of a call that has a longer one
    pub fn isend_quickly<'g>(
        &'g self,
        guard: &'g mut impl Held,
        context: u32,
        dest: i32,
        tag: i32,
        bytes: usize,
    ) -> Option<StartedLine<'g>> {
        self.state.get_mut_held(guard).isend_line(context, dest, tag, bytes)
    }

    /// A blocking receive from one process into contiguous memory, if it has only to wait for the next record of its sender.
    /// `None`: nothing has happened.
    #[inline(always)] // a short way of a call that has a longer one
    pub fn recv_quickly<'g>(
        &'g self,
        guard: &'g mut impl Held,
        context: u32,
        source: i32,
        tag: i32,
    ) -> Option<ShortReceive<'g>> {
        self.state.get_mut_held(guard).receive_shortly(context, Key { source, tag })
    }

    /// Starts a receive from one process if no message of the context waits. An error is the buffer: nothing has
    /// happened.
    #[inline(always)] // a short way of a call that has a longer one
    pub fn irecv_quickly(
        &self,
        guard: &mut impl Held,
        context: u32,
        source: i32,
        tag: i32,
        buffer: RecvBuf<'static>,
    ) -> std::result::Result<Handle, RecvBuf<'static>> {
        self.state.get_mut_held(guard).start_receive_quickly(context, Key { source, tag }, buffer)
    }

    /// Starts a send. A buffered one may release the lock while it copies long data.
    #[inline(always)] // a handful of instructions around `start_send`
    pub fn isend(
        &self,
        guard: &mut Guard<'_>,
        context: u32,
        dest: i32,
        tag: i32,
        buffer: SendBuf<'static>,
        mode: Mode,
    ) -> Result<Handle> {
        if mode == Mode::Buffered {
            let bytes = if dest == MPI_PROC_NULL { 0 } else { buffer.bytes() };
            self.start_buffered(guard, context, dest, tag, buffer)?;
            return self.state.get_mut(guard).core.sent_request(context, MPI_PROC_NULL, bytes);
        }
        self.state.get_mut(guard).isend(context, dest, tag, buffer, mode)
    }

    /// Starts a receive. May release the lock while it copies a long message that has been offered already.
    #[inline]
    pub fn irecv(
        &self,
        guard: &mut Guard<'_>,
        context: u32,
        source: i32,
        tag: i32,
        buffer: RecvBuf<'static>,
    ) -> Result<Handle> {
        let buffer = match self.irecv_quickly(guard, context, source, tag, buffer) {
            Ok(request) => return Ok(request),
            Err(buffer) => buffer,
        };
        let state = self.state.get_mut(guard);
        match state.begin_receive(context, source, tag, buffer)? {
            Begun::Posted(request) => Ok(request),
            Begun::Arrived(Outcome::Received(status, None)) => state.core.received_at_once(context, status),
            Begun::Arrived(Outcome::Received(status, error)) => state.core.received_request(context, status, error),
            Begun::Arrived(Outcome::Under(request)) => {
                self.copy_at_start(guard);
                Ok(request)
            }
        }
    }

    /// The context of a request's operation; `None` when `request` names none.
    pub fn request_context(&self, guard: &Guard<'_>, request: Handle) -> Option<u32> {
        self.state.get(guard).core.request_context(request)
    }

    /// Moves whatever can move; never waits.
    pub fn progress(&self, guard: &mut Guard<'_>) -> Result<()> {
        self.advance(guard).map(drop)
    }

    /// Waits until nothing this process has sent, and freed, is still with it, so that the process may stop calling
    /// the library (`MPI_Finalize`).
    pub fn drain(&self, mut guard: Guard<'_>) -> Result<()> {
        self.state.get_mut(&mut guard).endpoint.settle_network();
        self.block(guard, Awaited::Change, |state| {
            let core = &state.core;
            let idle = core.backlogged == 0 && core.replies.is_empty() && core.streams.is_empty();
            let idle = idle && core.detached_sends == 0 && core.copies.list.is_empty();
            (idle && state.endpoint.is_drained()).then_some(())
        })
    }

    /// Whether `context` is the context of a registered communicator.
    pub fn check_context(&self, guard: &Guard<'_>, context: u32) -> Result<()> {
        match self.state.get(guard).core.contexts.get(context) {
            Some(_) => Ok(()),
            None => Err(unknown_context(context)),
        }
    }
}
