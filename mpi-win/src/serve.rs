//! The service of a window: applies operations of other processes to this process's memory as they arrive.
//!
//! The engine passes each batch of records to the service, in any call that makes progress; the service applies the
//! records in order. It receives data too long for a batch, and sends answers, by operations of its own; a fence waits
//! until all of them are complete.
//! Invariants: a record outside of the window, or with a bad datatype or operation, is an error and has no effect; each
//! record that demands data gets an answer, possibly an empty one, so that its sender does not wait for ever.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use mpi_core::{Guard, Guarded, Handle, ProcessLock};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::{Error, Result};
use mpi_p2p::{Completion, Engine, Mode, Service, ServiceMessage};

use crate::basic::Basic;
use crate::combine::Combine;
use crate::memory::Memory;
use crate::swap::{comparable, swap};
use crate::wire::{DATA, Head, PIECE, REPLY, Verb, malformed};

/// The service of one window.
#[derive(Debug)]
pub(crate) struct WinService {
    context: u32,
    memory: Arc<Memory>,
    /// Batches that have arrived since the window was created. Changed under the process's lock.
    batches: AtomicU64,
    /// Operations of the service that are not complete. Changed under the process's lock.
    pending: AtomicU64,
    state: Guarded<State>,
}

/// The state that messages change.
#[derive(Debug, Default)]
struct State {
    /// The operations under way, by request.
    under_way: HashMap<Handle, Operation>,
    /// For each rank whose data for a record are awaited, the records after that one, in order.
    behind: HashMap<i32, VecDeque<Vec<u8>>>,
    /// The first error since the last fence.
    error: Option<Error>,
}

/// An operation of the service that is under way.
#[derive(Debug)]
enum Operation {
    /// Receives the data of a put into the window.
    Put { source: i32, head: Head },
    /// Receives the data of another record, which is then applied.
    Data { source: i32, head: Head, data: Vec<u8> },
    /// Receives the data of a refused record, to discard them.
    Refused { source: i32 },
    /// Sends an answer from this memory; from the window's own if it is empty.
    Answer { _kept: Vec<u8> },
}

impl WinService {
    pub fn new(lock: &ProcessLock, context: u32, memory: Arc<Memory>) -> WinService {
        let state = Guarded::new(lock, State::default());
        WinService { context, memory, batches: AtomicU64::new(0), pending: AtomicU64::new(0), state }
    }

    /// Whether as many batches have arrived since the window was created, and all that arrived are applied.
    pub fn has_applied(&self, batches: u64) -> bool {
        self.batches.load(Relaxed) >= batches && self.pending.load(Relaxed) == 0
    }

    /// Takes the first error since the last fence.
    pub fn take_error(&self, guard: &mut Guard<'_>) -> Option<Error> {
        self.state.get_mut(guard).error.take()
    }

    /// The requests of operations that are not complete.
    pub fn requests(&self, guard: &Guard<'_>) -> Vec<Handle> {
        self.state.get(guard).under_way.keys().copied().collect()
    }

    /// Registers an operation, whose completion goes to [`Service::completed`].
    fn begin(&self, engine: &Engine, guard: &mut Guard<'_>, request: Handle, operation: Operation) {
        self.count_pending(1);
        self.state.get_mut(guard).under_way.insert(request, operation);
        engine.serve_completion(guard, self.context, request);
    }

    fn record_error(&self, guard: &mut Guard<'_>, result: Result<()>) {
        if let Err(error) = result {
            self.state.get_mut(guard).error.get_or_insert(error);
        }
    }

    /// Applies records of a rank up to one whose data are awaited; those after it wait for the data.
    fn apply_all(&self, engine: &Engine, guard: &mut Guard<'_>, source: i32, mut records: &[u8]) {
        while !records.is_empty() {
            let result = match Head::decode(records) {
                Ok((head, data, after)) => {
                    records = after;
                    self.begin_record(engine, guard, source, head, data)
                }
                Err(error) => {
                    records = &[];
                    Err(error)
                }
            };
            self.record_error(guard, result);
            if let Some(behind) = self.state.get_mut(guard).behind.get_mut(&source) {
                if !records.is_empty() {
                    behind.push_front(records.to_vec());
                    self.count_pending(1);
                }
                return;
            }
        }
    }

    /// Applies the records after one whose awaited data have arrived.
    fn resume(&self, engine: &Engine, guard: &mut Guard<'_>, source: i32) {
        let mut behind = self.state.get_mut(guard).behind.remove(&source).unwrap_or_default();
        while let Some(records) = behind.pop_front() {
            self.count_pending(-1);
            self.apply_all(engine, guard, source, &records);
            if let Some(waiting) = self.state.get_mut(guard).behind.get_mut(&source) {
                waiting.append(&mut behind);
                return;
            }
        }
    }

    fn count_pending(&self, change: i64) {
        self.pending.store(self.pending.load(Relaxed).wrapping_add_signed(change), Relaxed);
    }

    /// Registers an operation that awaits a rank's data; later records of the rank wait for it.
    fn await_data(&self, engine: &Engine, guard: &mut Guard<'_>, source: i32, request: Handle, operation: Operation) {
        self.state.get_mut(guard).behind.insert(source, VecDeque::new());
        self.begin(engine, guard, request, operation);
    }

    /// Applies a record whose data are inside the batch, or starts to receive its long data.
    fn begin_record(&self, engine: &Engine, guard: &mut Guard<'_>, source: i32, head: Head, data: &[u8]) -> Result<()> {
        let Some(memory) = self.elements(&head).map(|(_, memory)| memory) else {
            return self.refuse(engine, guard, source, &head);
        };
        if !head.has_data_behind() {
            return self.apply(engine, guard, source, &head, data);
        }
        if head.verb == Verb::Put {
            let part = memory.split_at(head.bytes).0;
            if part.bytes() == head.bytes {
                let request = engine.irecv(guard, self.context, source, DATA, part)?;
                self.await_data(engine, guard, source, request, Operation::Put { source, head });
                return Ok(());
            }
        }
        let mut data = vec![0; head.bytes as usize];
        let request = engine.irecv(guard, self.context, source, DATA, borrowed_mut(&mut data))?;
        self.await_data(engine, guard, source, request, Operation::Data { source, head, data });
        Ok(())
    }

    /// The elements that a record names, if they lie inside the window and fit the data.
    fn elements(&self, head: &Head) -> Option<(Basic, RecvBuf<'static>)> {
        let basic = Basic::predefined(head.datatype as usize)?;
        let memory = self.memory.elements_mut(head.offset, head.count, basic)?;
        head.makes_sense(basic, memory.bytes()).then_some((basic, memory))
    }

    /// Applies a record with all its data. The caller holds the process lock, so that no other thread of this
    /// process accumulates into the same memory.
    fn apply(&self, engine: &Engine, guard: &mut Guard<'_>, source: i32, head: &Head, data: &[u8]) -> Result<()> {
        let Some((basic, mut memory)) = self.elements(head) else { return Ok(()) };
        match head.verb {
            Verb::Put => {
                memory.unpack(0, data);
                Ok(())
            }
            Verb::Accumulate => {
                Combine::new(head.op as usize, basic)?.apply(memory, basic, data);
                Ok(())
            }
            // Memory that is only read is sent from where it is.
            Verb::Get => {
                let there = self.memory.elements(head.offset, head.count, basic).expect("seen above");
                self.answer(engine, guard, source, there.part(0, head.bytes), Vec::new())
            }
            Verb::Fetch => {
                let before = copied(&memory);
                let combine = Combine::fetching(head.op as usize, basic);
                if let Ok(Some(combine)) = &combine {
                    combine.apply(memory.part(0, head.bytes), basic, data);
                }
                let kept = if combine.is_ok() { before } else { Vec::new() };
                self.answer(engine, guard, source, borrowed(&kept), kept)?;
                combine.map(drop)
            }
            Verb::Swap => {
                let before = swap(&mut memory, data);
                let kept = before[..head.bytes as usize / 2].to_vec();
                self.answer(engine, guard, source, borrowed(&kept), kept)
            }
        }
    }

    /// Sends an answer; when it cannot be started, an empty message, which needs no request.
    fn answer(
        &self,
        engine: &Engine,
        guard: &mut Guard<'_>,
        source: i32,
        answer: SendBuf<'static>,
        kept: Vec<u8>,
    ) -> Result<()> {
        match engine.isend(guard, self.context, source, REPLY, answer, Mode::Standard) {
            Ok(request) => {
                self.begin(engine, guard, request, Operation::Answer { _kept: kept });
                Ok(())
            }
            Err(error) => {
                engine.send_at_once(guard, self.context, source, REPLY, &SendBuf::empty());
                Err(error)
            }
        }
    }

    /// Receives the data of a malformed record, so that they are not mistaken for those of the next record; a record
    /// that demands an answer gets an empty one.
    #[cold]
    fn refuse(&self, engine: &Engine, guard: &mut Guard<'_>, source: i32, head: &Head) -> Result<()> {
        if head.has_data_behind() {
            let request = engine.irecv(guard, self.context, source, DATA, RecvBuf::empty())?;
            self.await_data(engine, guard, source, request, Operation::Refused { source });
        }
        if head.is_answered() {
            self.answer(engine, guard, source, SendBuf::empty(), Vec::new())?;
        }
        Err(malformed("reaches outside of this process's part of the window, or is malformed"))
    }
}

impl Service for WinService {
    fn message(&self, engine: &Engine, guard: &mut Guard<'_>, message: ServiceMessage<'_>) {
        self.batches.store(self.batches.load(Relaxed) + 1, Relaxed);
        if let Some(behind) = self.state.get_mut(guard).behind.get_mut(&message.source) {
            behind.push_back(message.data.to_vec());
            self.count_pending(1);
            return;
        }
        self.apply_all(engine, guard, message.source, message.data);
    }

    fn completed(&self, engine: &Engine, guard: &mut Guard<'_>, request: Handle, completion: Completion) {
        let Some(operation) = self.state.get_mut(guard).under_way.remove(&request) else { return };
        self.count_pending(-1);
        let received = completion.status.bytes();
        let mut error = completion.error;
        let mut complete = |head: &Head| error.take().map_or_else(|| whole(head, received), Err);
        let awaited = match operation {
            Operation::Put { source, .. } | Operation::Data { source, .. } | Operation::Refused { source } => {
                Some(source)
            }
            Operation::Answer { .. } => None,
        };
        let result = match operation {
            Operation::Put { head, .. } => complete(&head),
            Operation::Data { source, head, data } => match complete(&head) {
                Ok(()) => self.apply(engine, guard, source, &head, &data),
                Err(error) => {
                    let answered = match head.is_answered() {
                        true => self.answer(engine, guard, source, SendBuf::empty(), Vec::new()),
                        false => Ok(()),
                    };
                    self.record_error(guard, answered);
                    Err(error)
                }
            },
            Operation::Refused { .. } => Ok(()),
            Operation::Answer { .. } => error.map_or(Ok(()), Err),
        };
        self.record_error(guard, result);
        if let Some(source) = awaited {
            self.resume(engine, guard, source);
        }
    }
}

/// Memory of an operation that is under way, to be read. The operation keeps it (`Operation`).
#[allow(unsafe_code)] // the bytes of a vector stay where they are when the vector moves
fn borrowed(kept: &[u8]) -> SendBuf<'static> {
    // SAFETY: the caller keeps the vector, unchanged, in `under_way` until the request is complete or revoked.
    unsafe { SendBuf::from_slice(kept).detach() }
}

/// As [`borrowed`], to be written.
#[allow(unsafe_code)] // as above
fn borrowed_mut(kept: &mut [u8]) -> RecvBuf<'static> {
    // SAFETY: as above.
    unsafe { RecvBuf::from_slice(kept).detach() }
}

impl Head {
    /// Whether the data fit elements of this type that have `room` bytes of data.
    fn makes_sense(&self, basic: Basic, room: u64) -> bool {
        match self.verb {
            Verb::Put | Verb::Get => self.bytes <= room,
            Verb::Accumulate | Verb::Fetch => self.bytes <= room.min(PIECE),
            Verb::Swap => self.count == 1 && self.bytes == 2 * room && comparable(basic).is_ok(),
        }
    }
}

/// Errors when an operation's data are incomplete.
fn whole(head: &Head, bytes: u64) -> Result<()> {
    if bytes == head.bytes { Ok(()) } else { Err(malformed("has incomplete data")) }
}

/// The bytes in a buffer.
fn copied(memory: &RecvBuf<'_>) -> Vec<u8> {
    let mut copy = vec![0; memory.bytes() as usize];
    memory.pack(0, &mut copy);
    copy
}
