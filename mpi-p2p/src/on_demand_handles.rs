//! Opening handles on single requests and messages, and keeping their metrics while the handles exist.
//!
//! Invariant: a request or send has the mark exactly while it has instruments.
//! Not here: the metrics themselves (`on_demand`).

use mpi_core::{Handle, Kind};
use mpi_fabric::RingInstruments;
use mpi_t::{Open, TError, TResult};

use crate::core::{Core, State};
use crate::engine::Engine;
use crate::on_demand::{MessageInstruments, RequestInstruments};
use crate::request::{Request, WATCHED, Work};

/// The progress of an operation.
struct OperationState {
    /// Bytes that it was given to send or has room for.
    bytes: u64,
    moved: u64,
    /// Bytes to be moved in all, and whether the operation is complete.
    wanted: u64,
    over: bool,
}

impl OperationState {
    fn of(request: &Request) -> OperationState {
        let bytes = request.status.bytes();
        let under_way = |bytes, moved, wanted| OperationState { bytes, moved, wanted, over: false };
        match &request.work {
            Work::Done if request.status.cancelled() => OperationState { bytes, moved: 0, wanted: bytes, over: true },
            Work::Done => OperationState { bytes, moved: bytes, wanted: bytes, over: true },
            Work::Posted { buffer, .. } | Work::Matched { buffer } => under_way(buffer.bytes(), 0, buffer.bytes()),
            Work::Receiving { buffer, wanted, got, .. } => under_way(buffer.bytes(), *got, *wanted),
            Work::Discarding { wanted, got, .. } => under_way(bytes, *got, *wanted),
            Work::Copying => under_way(bytes, 0, bytes),
            Work::Queued(outgoing) => under_way(outgoing.data.bytes(), 0, outgoing.data.bytes()),
            Work::AwaitContext | Work::External | Work::Collective | Work::Pair { .. } => under_way(0, 0, 0),
            Work::PartitionsOut | Work::PartitionsIn => under_way(bytes, 0, bytes),
            Work::AwaitMatch { .. } => under_way(bytes, bytes, bytes),
            Work::Offered { data, .. } => under_way(data.bytes(), 0, data.bytes()),
            Work::Streaming { data, at, limit, .. } => under_way(data.bytes(), *at, *limit),
        }
    }

    fn store(&self, instruments: &RequestInstruments) {
        instruments.moved.follow(self.moved);
        match self.over {
            true => instruments.done.set(1, 1),
            false => instruments.done.set(self.moved, self.wanted),
        }
    }
}

impl Engine {
    /// Opens a handle on the metrics of a request; for [`mpi_t::Registry::declare_on_demand`]. Waits for the process's
    /// lock.
    /// Errors: `MPI_T_ERR_INVALID` for a word that is no handle of a request; `MPI_T_ERR_NOT_ACCESSIBLE` while the
    /// process lock is in its single-threaded form.
    pub fn open_request(&self, request: usize, open: &mut Open<'_, RequestInstruments>) -> TResult<()> {
        let mut guard = self.process_lock().lock_beside().ok_or(TError::NOT_ACCESSIBLE)?;
        self.state.get_mut(&mut guard).open_request(Handle(request), open)
    }

    /// The same for a message that a matched probe took.
    pub fn open_message(&self, message: usize, open: &mut Open<'_, MessageInstruments>) -> TResult<()> {
        let mut guard = self.process_lock().lock_beside().ok_or(TError::NOT_ACCESSIBLE)?;
        let core = &mut self.state.get_mut(&mut guard).core;
        let held = &core.held.get(Handle(message)).ok_or(TError::INVALID)?.message;
        let fill = |instruments: &MessageInstruments| {
            instruments.bytes.set(held.bytes);
            instruments.held.follow(held.data().map_or(0, |data| data.len() as u64));
        };
        core.on_demand.messages.open_for(message, fill, open)
    }

    /// Opens a handle on how much of the rings to other processes is in use; as [`Engine::open_request`].
    pub fn open_rings(&self, open: &mut Open<'_, RingInstruments>) -> TResult<()> {
        let mut guard = self.process_lock().lock_beside().ok_or(TError::NOT_ACCESSIBLE)?;
        open(self.state.get_mut(&mut guard).endpoint.watch_rings())
    }
}

impl State {
    fn open_request(&mut self, handle: Handle, open: &mut Open<'_, RequestInstruments>) -> TResult<()> {
        let core = &mut self.core;
        let handle = core.under_way(handle);
        let standing = match handle.is(Kind::AtOnce) {
            true => {
                let operation = core.at_once.get_mut(handle).ok_or(TError::INVALID)?;
                operation.watch();
                let bytes = operation.bytes;
                OperationState { bytes, moved: bytes, wanted: bytes, over: true }
            }
            false => {
                let request = core.requests.get_mut(handle).filter(|request| !request.is_detached());
                let request = request.ok_or(TError::INVALID)?;
                request.marks |= WATCHED;
                OperationState::of(request)
            }
        };
        let fill = |instruments: &RequestInstruments| {
            instruments.bytes.set(standing.bytes);
            standing.store(instruments);
        };
        core.on_demand.requests.open_for(handle.0, fill, open)
    }
}

impl Core {
    /// Updates the metrics of a request, if it has any.
    #[cold]
    pub fn update_metrics(&self, handle: Handle) {
        if let (Some(request), Some(instruments)) = (self.requests.get(handle), self.on_demand.requests.get(handle.0)) {
            OperationState::of(request).store(instruments);
        }
    }

    /// Updates the metrics of a receive that both sides copy, if it has any.
    #[inline]
    pub fn update_shared(&self, handle: Handle, moved: u64) {
        if let Some(instruments) = self.on_demand.requests.get(handle.0)
            && let Some(request) = self.requests.get(handle)
        {
            let wanted = request.status.bytes();
            instruments.moved.follow(moved.min(wanted));
            instruments.done.set(moved, wanted);
        }
    }

    /// The program's handle of a request is stale: the MPI_T handles bound to it become stale too.
    #[cold]
    pub fn end_request_handles(&mut self, handle: Handle) {
        self.on_demand.requests.end(handle.0);
    }

    /// The same for a message.
    pub fn end_message_handles(&mut self, message: Handle) {
        self.on_demand.messages.end(message.0);
    }
}
