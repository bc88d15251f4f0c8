//! Requests: operations under way, and what each still waits for (MPI-4.1, 3.7).
//!
//! Invariant: a request leaves its table exactly once: when its completion is taken, or, if the program freed it
//! first ([`DETACHED`]), when it completes.

use mpi_core::abi::{MPI_ERR_INTERN, MPI_ERR_NO_MEM, MPI_ERR_REQUEST, MPI_REQUEST_NULL};
use mpi_core::{Handle, Status};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::{Error, Result};
use mpi_fabric::{RecordHead, Registration};

use crate::chains::Key;
use crate::run_table::RunTable;

/// The mode of a send (MPI-4.1, 3.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Complete when the buffer may be used again.
    Standard,
    /// Complete once the receive has started.
    Synchronous,
    /// The receive is posted already; treated as standard.
    Ready,
    /// Complete at once, from the attached buffer if need be.
    Buffered,
}

/// The program's side of a generalized request (MPI-5.0, 13.2). All are called with no lock held, and an error is that
/// of the call that caused the callback.
pub trait Generalized: Send + Sync {
    /// Fills the status of the complete operation (`query_fn`).
    fn query(&self, status: &mut Status) -> Result<()>;
    /// The request ends (`free_fn`); called once, last.
    fn free(&self) -> Result<()>;
    /// A cancel was requested (`cancel_fn`); `complete`: the operation was complete before.
    fn cancel(&self, complete: bool) -> Result<()>;
}

/// The context id of operations that belong to no communicator. No communicator ever gets it, because ids end far
/// below, and no id beside it is `PENDING_CONTEXT`.
pub(crate) const NO_CONTEXT: u32 = u32::MAX - 2;

/// How a finished operation ended.
#[derive(Debug)]
pub struct Completion {
    /// Status of the operation; of a send only [`Status::cancelled`] means anything.
    pub status: Status,
    /// What went wrong, if anything did: a truncated message, for example.
    pub error: Option<Error>,
    /// Context id of the operation, or [`NO_CONTEXT`] for a null and for a generalized request.
    context: u32,
    pub(crate) ending: Ending,
}

/// What becomes of a request that is complete.
///
/// A whole word, so that a [`Completion`] has no padding and is moved in a few instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Ending {
    /// It is freed.
    Freed,
    /// It stays, inactive.
    Kept,
    /// It was inactive before, and stays so.
    Unchanged,
    /// There was none: the handle is null, or stands in the list before.
    Absent,
    /// It is freed once the program's callbacks have been called (`Engine::end_generalized`).
    Callbacks,
}

impl Completion {
    /// The completion of a null or inactive request: the empty status.
    pub const fn empty() -> Completion {
        Completion { status: Status::EMPTY, error: None, context: NO_CONTEXT, ending: Ending::Absent }
    }

    /// The completion of an operation in this context; its request is freed.
    #[inline]
    pub(crate) const fn of(status: Status, error: Option<Error>, context: u32) -> Completion {
        Completion { status, error, context, ending: Ending::Freed }
    }

    /// Context id of the operation; none for a null and for a generalized request.
    #[inline]
    pub fn context(&self) -> Option<u32> {
        (self.context != NO_CONTEXT).then_some(self.context)
    }

    /// Whether the request still exists, inactive, because it is persistent; otherwise its handle is stale.
    #[inline]
    pub fn keeps_request(&self) -> bool {
        matches!(self.ending, Ending::Kept | Ending::Unchanged)
    }

    /// Whether nothing was to be completed, because the request is null or inactive: the status is empty, and its error
    /// field is `MPI_SUCCESS` (MPI-5.0, 3.7.3).
    #[inline]
    pub fn is_empty(&self) -> bool {
        matches!(self.ending, Ending::Unchanged | Ending::Absent)
    }

    /// Whether the program is to be called before this is returned.
    #[inline]
    pub(crate) fn has_callbacks(&self) -> bool {
        self.ending == Ending::Callbacks
    }
}

/// Why a blocking receive failed, and its status if it received a message all the same (a truncated one).
#[derive(Debug)]
pub struct ReceiveFailure(Box<(Error, Option<Status>)>);

impl ReceiveFailure {
    #[cold]
    pub(crate) fn received(error: Error, status: Status) -> ReceiveFailure {
        ReceiveFailure(Box::new((error, Some(status))))
    }

    /// Source, tag and bytes of the message; `None` when none was received.
    pub fn status(&self) -> Option<Status> {
        self.0.1
    }
}

impl From<Error> for ReceiveFailure {
    #[cold]
    fn from(error: Error) -> ReceiveFailure {
        ReceiveFailure(Box::new((error, None)))
    }
}

impl From<ReceiveFailure> for Error {
    #[cold]
    fn from(failure: ReceiveFailure) -> Error {
        failure.0.0
    }
}

/// The state of a cancel that the receiver of the message decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CancelState {
    /// The process with this world rank has not answered yet.
    Waiting(u32),
    /// The answer: whether the message was taken back.
    Answered(bool),
}

/// An operation that was complete when it was started.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AtOnce {
    /// Context of its message.
    pub context: u32,
    /// Rank of the other process; of a send `MPI_PROC_NULL` if it cannot be cancelled.
    pub peer: i32,
    /// Bytes of its message.
    pub bytes: u64,
    /// Of a receive: the tag of its message; of a send 0.
    pub tag: i32,
    /// What it is. Four bytes beside the tag, so that one store writes both.
    pub kind: AtOnceKind,
}

/// What an operation that was complete at once is, and whether an MPI_T handle is bound to it: it has instruments then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum AtOnceKind {
    Send = 0,
    Receive = 1,
    WatchedSend = 2,
    WatchedReceive = 3,
}

impl AtOnce {
    /// A send that is over.
    #[inline(always)]
    pub fn sent(context: u32, peer: i32, bytes: u64) -> AtOnce {
        AtOnce { context, peer, bytes, tag: 0, kind: AtOnceKind::Send }
    }

    /// A receive that is over.
    #[inline(always)]
    pub fn received(context: u32, peer: i32, tag: i32, bytes: u64) -> AtOnce {
        AtOnce { context, peer, bytes, tag, kind: AtOnceKind::Receive }
    }

    /// Whether it is a receive.
    #[inline(always)]
    pub fn is_receive(&self) -> bool {
        matches!(self.kind, AtOnceKind::Receive | AtOnceKind::WatchedReceive)
    }

    /// Whether an MPI_T handle is bound to it.
    #[inline(always)]
    pub fn has_handle(&self) -> bool {
        matches!(self.kind, AtOnceKind::WatchedSend | AtOnceKind::WatchedReceive)
    }

    /// An MPI_T handle is bound to it from now on.
    pub fn watch(&mut self) {
        self.kind = if self.is_receive() { AtOnceKind::WatchedReceive } else { AtOnceKind::WatchedSend };
    }

    /// The status of the operation, if it was not cancelled.
    #[inline(always)]
    pub fn status(&self) -> Status {
        if self.is_receive() { Status::new(self.peer, self.tag, self.bytes) } else { Status::EMPTY }
    }
}

/// The program freed the request: no call will take its completion.
pub(crate) const DETACHED: u32 = 1;
/// An MPI_T handle is bound to the request: it has instruments.
pub(crate) const WATCHED: u32 = 2;
/// A thread sleeps until the request is over; its place among the waiters is in the bits from [`AWAITED_BY`] on.
pub(crate) const AWAITED: u32 = 8;
/// See [`AWAITED`].
pub(crate) const AWAITED_BY: u32 = 8;

/// A service is called when the request is complete.
pub(crate) const SERVED: u32 = 4;
/// The service of collective operations is called when the request is complete.
pub(crate) const SCHEDULED: u32 = 64;
/// The request is of a collective operation: it is neither cancelled nor freed.
pub(crate) const COLLECTIVE: u32 = 128;
/// The request is a part of a pair.
pub(crate) const PART: u32 = 16;
/// The request is the receive of a pair whose send was over at once: it is not cancelled.
pub(crate) const PAIRED: u32 = 32;

/// The receiver of a message within its process, and what the sender does meanwhile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Receiver {
    /// The receive that matches.
    Matching,
    /// As [`Receiver::Matching`], of a blocking send: the sender moves the message on until it is there.
    MatchingAtOnce,
    /// The service of the context.
    Service,
}

#[derive(Debug)]
#[repr(C)] // the work last: what its kind leaves unused is not copied into a slot with the rest
pub(crate) struct Request {
    /// Of a send only its bytes, and whether it was cancelled.
    pub status: Status,
    pub error: Option<Error>,
    /// [`DETACHED`], [`WATCHED`], [`SERVED`], [`AWAITED`], [`PART`], [`PAIRED`], [`SCHEDULED`], [`COLLECTIVE`].
    pub marks: u32,
    /// Context id of the operation.
    pub context: u32,
    pub work: Work,
}

/// What an operation waits for. The kind is its first four bytes, for readers outside ([`mpi_fabric::queue_map`]).
#[derive(Debug)]
#[repr(u32)]
pub(crate) enum Work {
    /// Nothing: it is complete.
    Done,
    /// A receive waits for its message.
    Posted { key: Key, buffer: RecvBuf<'static> },
    /// A receive is matched with an offered message, whose transfer begins after the poll.
    Matched { buffer: RecvBuf<'static> },
    /// A receive takes fragments; `wanted` bytes in all, `got` so far, from world rank `from`.
    Receiving { buffer: RecvBuf<'static>, from: u32, wanted: u64, got: u64 },
    /// A revoked receive drops the fragments that still come: `wanted` bytes in all, `got` so far.
    Discarding { from: u32, wanted: u64, got: u64 },
    /// A receive whose message this process copies; the details, and the buffer, are in the engine's list of jobs.
    Copying,
    /// A send waits for room in the ring to the receiver.
    Queued(Box<Outgoing>),
    /// The program completes the operation of a generalized request.
    External,
    /// A collective operation is under way.
    Collective,
    /// A send and a receive are under way under one request; `left` of them are not complete.
    Pair { left: u32 },
    /// A partitioned send has partitions that are not ready, or not sent.
    PartitionsOut,
    /// A partitioned receive has partitions that have not arrived.
    PartitionsIn,
    /// A duplicate of a communicator waits for its context id.
    AwaitContext,
    /// A synchronous send waits to be matched by world rank `dest`.
    AwaitMatch { dest: u32, tag: i32 },
    /// A large message was offered to world rank `dest`, which may read its data until it reports the end. `copiers`:
    /// the number of threads of this process that copy from the data, which pin it; `over`: the end has come, and waits
    /// for them; `awaited`: a call of the program waits until the send is over. The registration is that of the data or of
    /// the table of its runs.
    Offered {
        data: Data,
        dest: u32,
        tag: i32,
        copiers: u32,
        over: bool,
        awaited: bool,
        _registration: (Registration, Option<RunTable>),
    },
    /// A send feeds fragments to the receive that `peer` names, up to `limit` bytes; `at` are under way.
    Streaming { data: Data, dest: u32, tag: i32, peer: u64, at: u64, limit: u64 },
}

/// A record that waits for room, with the data it carries.
#[derive(Debug)]
pub(crate) struct Outgoing {
    pub dest: u32,
    pub head: RecordHead,
    pub data: Data,
}

/// The data of a send.
#[derive(Debug)]
pub(crate) enum Data {
    /// The program's memory.
    User(SendBuf<'static>),
    /// A copy made by a buffered send.
    Owned(Vec<u8>),
}

impl Data {
    pub fn bytes(&self) -> u64 {
        match self {
            Data::User(buffer) => buffer.bytes(),
            Data::Owned(bytes) => bytes.len() as u64,
        }
    }

    /// The data as a buffer.
    pub fn as_send(&self) -> SendBuf<'_> {
        match self {
            Data::User(buffer) => buffer.clone(),
            Data::Owned(bytes) => SendBuf::from_slice(bytes),
        }
    }

    /// The data as one slice, when it lies in one piece.
    pub fn contiguous(&self) -> Option<&[u8]> {
        match self {
            Data::User(buffer) => buffer.contiguous(),
            Data::Owned(bytes) => Some(bytes),
        }
    }

    /// The data as a copy. Errors: `MPI_ERR_NO_MEM`.
    pub fn into_owned(self) -> Result<Data> {
        let Data::User(buffer) = self else { return Ok(self) };
        let (bytes, mut copy) = (buffer.bytes() as usize, Vec::new());
        copy.try_reserve_exact(bytes).map_err(|_| no_memory(bytes))?;
        match buffer.contiguous() {
            Some(data) => copy.extend_from_slice(data),
            None => {
                copy.resize(bytes, 0);
                buffer.pack(0, &mut copy);
            }
        }
        Ok(Data::Owned(copy))
    }

    /// Copies bytes from `at` on of the packed message.
    pub fn pack(&self, at: u64, out: &mut [u8]) {
        match self {
            Data::User(buffer) => {
                buffer.pack(at, out);
            }
            Data::Owned(bytes) => out.copy_from_slice(&bytes[at as usize..at as usize + out.len()]),
        }
    }
}

#[cold]
fn no_memory(bytes: usize) -> Error {
    Error::new(
        MPI_ERR_NO_MEM,
        format!("a buffered send needs {} for its copy of the message", mpi_errors::counted(bytes as u64, "byte")),
    )
}

impl Work {
    /// Whether it is a send's.
    pub fn is_send(&self) -> bool {
        use Work::{AwaitMatch, Offered, Pair, PartitionsOut, Queued, Streaming};
        matches!(self, Queued(_) | AwaitMatch { .. } | Offered { .. } | Streaming { .. } | PartitionsOut | Pair { .. })
    }
}

impl Request {
    #[inline]
    pub fn done(context: u32) -> Request {
        Request { work: Work::Done, status: Status::EMPTY, error: None, marks: 0, context }
    }

    #[inline]
    pub fn waiting(context: u32, work: Work) -> Request {
        Request { work, status: Status::EMPTY, error: None, marks: 0, context }
    }

    /// A posted receive becomes one whose message was offered.
    pub fn match_offer(&mut self) {
        match std::mem::replace(&mut self.work, Work::Done) {
            Work::Posted { buffer, .. } => self.work = Work::Matched { buffer },
            other => self.work = other,
        }
    }

    /// Whether the program has freed it.
    #[inline]
    pub fn is_detached(&self) -> bool {
        self.marks & DETACHED != 0
    }

    /// The place of the thread that sleeps until the request is over.
    pub fn awaited_by(&self) -> Option<u32> {
        (self.marks & AWAITED != 0).then_some(self.marks >> AWAITED_BY)
    }

    #[inline]
    pub fn is_done(&self) -> bool {
        matches!(self.work, Work::Done)
    }
}

/// A request's handle as a token on the wire.
pub(crate) fn token(request: Handle) -> u64 {
    request.0 as u64
}

/// An engine whose table of requests is full.
#[cold]
pub(crate) fn too_many_requests() -> Error {
    Error::new(MPI_ERR_INTERN, "the process has 67,108,864 requests under way, which is all a process can have")
}

#[cold]
pub(crate) fn no_such_request(request: Handle) -> Error {
    let rule = match request.0 {
        MPI_REQUEST_NULL => "a request is needed",
        _ => "it names no request of this process: it was completed, freed, or never made",
    };
    Error::new(MPI_ERR_REQUEST, rule).arg("request", &request)
}
