//! The service of a window: applies operations of other processes to this process's memory as they arrive.
//!
//! The engine passes each batch of records to the service, in any call that makes progress; the service applies the
//! records in order. It receives data too long for a batch, and sends answers, by operations of its own; a fence waits
//! until all of them are complete.
//! Long operations run with the process lock released, so other threads may call the service meanwhile: a rank is busy
//! while its records are applied or data of it are awaited, and its later records wait.
//! Invariants: a record outside of the window, or with a bad datatype or operation, is an error and has no effect; each
//! record that demands data gets an answer, possibly an empty one, so that its sender does not wait for ever; records
//! of one rank are applied one after the other, in order.
//! Not here: exclusion of accumulations of different ranks on one element (`accumulate`).

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use mpi_core::abi::{MPI_ERR_PROC_ABORTED, MPI_NO_OP};
use mpi_core::{Guard, Guarded, Handle, ProcessLock};
use mpi_datatype::{Datatype, RecvBuf, SendBuf};
use mpi_errors::{Error, Result};
use mpi_p2p::{Completion, Engine, Mode, Service, ServiceMessage};

use crate::accumulate::{combine_there, fetch_there};
use crate::basic::Basic;
use crate::blocks::Block;
use crate::combine::Combine;
use crate::elements::Elements;
use crate::lock_queue::LockQueue;
use crate::memory::Memory;
use crate::place::Place;
use crate::replies::replied;
use crate::swap::{comparable, swap};
use crate::wire::{DATA, Head, PIECE, REPLY, Record, Verb, malformed};
use kept::{borrowed, borrowed_mut};
use parts::Requested;

mod kept;
mod locks;
mod parts;

/// The service of one window.
#[derive(Debug)]
pub(crate) struct WinService {
    context: u32,
    /// This process's rank in the window's group.
    rank: u32,
    /// The numbers of the window's processes among all processes, by rank.
    members: Arc<[u32]>,
    memory: Arc<Memory>,
    /// Batches that have arrived since the window was created. Changed under the process's lock.
    batches: AtomicU64,
    /// Operations of the service that are not complete, and batches that are not applied. Changed under the process's
    /// lock.
    pending: AtomicU64,
    /// Threads that access the memory without the process's lock. Changed under it.
    unlocked: AtomicU64,
    /// By rank, the messages that complete operations of this process and are not complete themselves, where other threads
    /// wait for them too (`parts`); at the end their sum. Changed under it.
    parts: Box<[AtomicU64]>,
    state: Guarded<State>,
}

/// The state that messages change.
#[derive(Debug, Default)]
struct State {
    /// The operations under way, by request.
    under_way: HashMap<Handle, Operation>,
    /// The ranks that are busy.
    busy: HashMap<i32, Busy>,
    /// The first error in what each rank sent, since the last fence or flush; that of this process's answers under its
    /// own rank.
    errors: HashMap<i32, Error>,
    /// Operations of this process that have requests.
    requested: HashMap<Handle, Requested>,
    /// The lock of this process's memory, where the processes share none.
    lock: LockQueue,
    /// The ranks that give the lock back when the answers to them are complete (`locks`).
    unlocking: HashSet<i32>,
}

/// A rank whose records are being applied, or wait for data or for answers to the rank.
#[derive(Debug, Default)]
struct Busy {
    /// The records after those, in order.
    behind: VecDeque<Vec<u8>>,
    awaits_data: bool,
}

/// An operation of the service that is under way.
#[derive(Debug)]
enum Operation {
    /// Receives the data of a put into the window.
    Put { source: i32, head: Head },
    /// Receives the data of another record, which is then applied.
    Data { source: i32, head: Head, blocks: Blocks, data: Vec<u8> },
    /// Receives the data of a refused record, to discard them.
    Refused { source: i32 },
    /// Sends an answer to this rank from this memory; from the window's own if it is empty.
    Answer { dest: i32, _kept: Vec<u8> },
    /// A message of an operation of this process on the memory of `rank`: a reply of so many bytes, or records sent from
    /// this memory.
    Part { rank: u32, request: Handle, reply: Option<u64>, _kept: Vec<u8> },
}

impl WinService {
    /// The service of a window of these processes in the one with this rank.
    pub fn new(
        lock: &ProcessLock,
        context: u32,
        (rank, members): (u32, Arc<[u32]>),
        memory: Arc<Memory>,
    ) -> WinService {
        let state = Guarded::new(lock, State::default());
        let (batches, pending, unlocked) = (AtomicU64::new(0), AtomicU64::new(0), AtomicU64::new(0));
        let parts = (0..=members.len()).map(|_| AtomicU64::new(0)).collect();
        WinService { context, rank, members, memory, batches, pending, unlocked, parts, state }
    }

    /// Whether as many batches have arrived since the window was created, and all that arrived are applied.
    pub fn has_applied(&self, batches: u64) -> bool {
        self.batches.load(Relaxed) >= batches && self.pending.load(Relaxed) == 0
    }

    /// Takes an error since the last fence.
    pub fn take_error(&self, guard: &mut Guard<'_>) -> Option<Error> {
        std::mem::take(&mut self.state.get_mut(guard).errors).into_values().next()
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

    /// Records an error in what `source` sent.
    fn record_error(&self, guard: &mut Guard<'_>, source: i32, result: Result<()>) {
        if let Err(error) = result {
            self.state.get_mut(guard).errors.entry(source).or_insert(error);
        }
    }

    /// Waits, with the guard released, until no thread accesses the memory without the process's lock.
    pub fn await_threads<'e>(&self, engine: &'e Engine, mut guard: Guard<'e>) {
        while self.unlocked.load(Relaxed) > 0 {
            drop(guard);
            std::thread::yield_now();
            guard = engine.lock();
        }
    }

    /// Applies the records of a batch of a busy rank, up to one whose data are awaited.
    fn apply_batch(&self, engine: &Engine, guard: &mut Guard<'_>, source: i32, mut records: &[u8]) {
        while !records.is_empty() {
            let bytes = records.len() as u64;
            let (behind, applied) = self.with_memory(engine, guard, bytes, || self.apply_inline(records));
            self.record_error(guard, source, applied);
            records = behind;
            if records.is_empty() {
                return;
            }
            let result = match Head::decode(records) {
                Ok((record, behind)) => {
                    records = behind;
                    self.begin_record(engine, guard, source, record)
                }
                Err(error) => {
                    records = &[];
                    Err(error)
                }
            };
            self.record_error(guard, source, result);
            let busy = self.state.get_mut(guard).busy.entry(source).or_default();
            if busy.awaits_data {
                if !records.is_empty() {
                    busy.behind.push_front(records.to_vec());
                    self.count_pending(1);
                }
                return;
            }
        }
    }

    /// Applies what has come from a busy rank meanwhile, unless data are awaited first. The rank is not busy any more
    /// when nothing is left.
    fn resume(&self, engine: &Engine, guard: &mut Guard<'_>, source: i32) {
        while let Some(busy) = self.state.get_mut(guard).busy.get_mut(&source)
            && !busy.awaits_data
        {
            let Some(records) = busy.behind.pop_front() else {
                self.state.get_mut(guard).busy.remove(&source);
                return;
            };
            self.apply_batch(engine, guard, source, &records);
            self.count_pending(-1);
        }
    }

    fn count_pending(&self, change: i64) {
        self.pending.store(self.pending.load(Relaxed).wrapping_add_signed(change), Relaxed);
    }

    /// Runs `body`, which accesses so many bytes of the memory: without the process lock if those are many.
    fn with_memory<R>(&self, engine: &Engine, guard: &mut Guard<'_>, bytes: u64, body: impl FnOnce() -> R) -> R {
        self.unlocked.store(self.unlocked.load(Relaxed) + 1, Relaxed);
        let result = engine.copy_unlocked(guard, bytes, body);
        self.unlocked.store(self.unlocked.load(Relaxed) - 1, Relaxed);
        result
    }

    /// Registers an operation that awaits data of a busy rank; later records of the rank wait for it.
    fn await_data(&self, engine: &Engine, guard: &mut Guard<'_>, source: i32, request: Handle, operation: Operation) {
        self.state.get_mut(guard).busy.entry(source).or_default().awaits_data = true;
        self.begin(engine, guard, request, operation);
    }

    /// Applies a record whose data are inside the batch, or starts to receive its long data.
    fn begin_record(
        &self,
        engine: &Engine,
        guard: &mut Guard<'_>,
        source: i32,
        Record { head, blocks, data }: Record<'_>,
    ) -> Result<()> {
        if head.is_of_lock() {
            return self.change_lock(engine, guard, source, &head);
        }
        let Some(blocks) = blocks_of(blocks) else { return self.refuse(engine, guard, source, &head) };
        let Some(place) = self.place(&head, &blocks) else { return self.refuse(engine, guard, source, &head) };
        if !head.has_data_behind() {
            return self.apply(engine, guard, source, &head, &place, data);
        }
        if head.verb == Verb::Put {
            let part = place.in_memory_mut(&self.memory).split_at(head.bytes).0;
            if part.bytes() == head.bytes {
                let request = engine.irecv(guard, self.context, source, DATA, part)?;
                self.await_data(engine, guard, source, request, Operation::Put { source, head });
                return Ok(());
            }
        }
        let mut data = vec![0; head.bytes as usize];
        let request = engine.irecv(guard, self.context, source, DATA, borrowed_mut(&mut data))?;
        self.await_data(engine, guard, source, request, Operation::Data { source, head, blocks, data });
        Ok(())
    }

    /// The elements that a record names, if they lie inside the window and fit the data, and do not overlap where they
    /// are changed.
    fn place<'b>(&self, head: &Head, blocks: &'b Blocks) -> Option<Place<'b>> {
        let basic = Basic::predefined(head.datatype as usize)?;
        let elements = Elements { count: head.count, basic, derived: blocks.as_ref() };
        let room = match head.verb {
            Verb::Get => self.memory.elements(head.offset, &elements)?.bytes(),
            Verb::Fetch if head.op as usize == MPI_NO_OP => self.memory.elements(head.offset, &elements)?.bytes(),
            _ => self.memory.elements_mut(head.offset, &elements)?.bytes(),
        };
        let place = Place { rank: self.rank, offset: head.offset, elements };
        head.makes_sense(&elements, room).then_some(place)
    }

    /// Applies the puts and accumulations at the start of a batch whose data are inside the batch. Returns the records
    /// from the first other one on. Needs no process lock.
    fn apply_inline<'r>(&self, mut records: &'r [u8]) -> (&'r [u8], Result<()>) {
        let mut result = Ok(());
        while let Ok((Record { head, blocks, data }, behind)) = Head::decode(records)
            && head.is_inline()
            && !head.is_answered()
            && let Some(blocks) = blocks_of(blocks)
            && let Some(place) = self.place(&head, &blocks)
        {
            result = result.and(self.store(&place, &head, data));
            records = behind;
        }
        (records, result)
    }

    /// Applies a put or an accumulation. Needs no process lock.
    fn store(&self, place: &Place<'_>, head: &Head, data: &[u8]) -> Result<()> {
        match head.verb {
            Verb::Put => drop(place.in_memory_mut(&self.memory).unpack(0, data)),
            _ => {
                let combine = Combine::new(head.op as usize, place.elements.basic)?;
                combine_there(&self.memory, &combine, place, &SendBuf::from_slice(data));
            }
        }
        Ok(())
    }

    /// Applies a record of a busy rank with all its data.
    fn apply(
        &self,
        engine: &Engine,
        guard: &mut Guard<'_>,
        source: i32,
        head: &Head,
        place: &Place<'_>,
        data: &[u8],
    ) -> Result<()> {
        match head.verb {
            Verb::Put | Verb::Accumulate => {
                self.with_memory(engine, guard, head.bytes, || self.store(place, head, data))
            }
            // Memory that is only read is sent from where it is.
            Verb::Get => {
                let there = place.in_memory(&self.memory);
                self.answer(engine, guard, (source, REPLY), there.part(0, head.bytes), Vec::new())
            }
            Verb::Fetch => {
                let combine = Combine::fetching(head.op as usize, place.elements.basic);
                let mut kept = Vec::new();
                if let Ok(combine) = &combine {
                    kept.resize(place.bytes() as usize, 0);
                    let (data, into) = (SendBuf::from_slice(data), RecvBuf::from_slice(&mut kept));
                    let fetch = || fetch_there(&self.memory, combine.as_ref(), place, &data, into);
                    self.with_memory(engine, guard, place.bytes(), fetch);
                }
                self.answer(engine, guard, (source, REPLY), borrowed(&kept), kept)?;
                combine.map(drop)
            }
            Verb::Flush => self.answer_last(engine, guard, source),
            // These never have a place (`change_lock`).
            Verb::Lock | Verb::Overtake | Verb::Unlock => Ok(()),
            Verb::Swap => {
                let held = self.memory.lock();
                let before = swap(&mut place.in_memory_mut(&self.memory), data);
                drop(held);
                let kept = before[..head.bytes as usize / 2].to_vec();
                self.answer(engine, guard, (source, REPLY), borrowed(&kept), kept)
            }
        }
    }

    /// The reply to a record behind all others. One that is not empty says that a record was refused, which is an error of
    /// its sender's alone.
    fn answer_last(&self, engine: &Engine, guard: &mut Guard<'_>, source: i32) -> Result<()> {
        let refused = self.state.get_mut(guard).errors.remove(&source).is_some();
        let kept = vec![1; usize::from(refused)];
        self.answer(engine, guard, (source, REPLY), borrowed(&kept), kept)
    }

    /// Sends an answer with a tag; when it cannot be started, an empty message, which needs no request.
    fn answer(
        &self,
        engine: &Engine,
        guard: &mut Guard<'_>,
        (dest, tag): (i32, i32),
        answer: SendBuf<'static>,
        kept: Vec<u8>,
    ) -> Result<()> {
        match engine.isend(guard, self.context, dest, tag, answer, Mode::Standard) {
            Ok(request) => {
                self.begin(engine, guard, request, Operation::Answer { dest, _kept: kept });
                Ok(())
            }
            Err(error) => {
                engine.send_at_once(guard, self.context, dest, tag, &SendBuf::empty());
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
            self.answer(engine, guard, (source, head.answer_tag()), SendBuf::empty(), Vec::new())?;
        }
        Err(malformed("reaches outside of this process's part of the window, or is malformed"))
    }
}

impl Service for WinService {
    fn message(&self, engine: &Engine, guard: &mut Guard<'_>, message: ServiceMessage<'_>) {
        self.batches.store(self.batches.load(Relaxed) + 1, Relaxed);
        // What comes from a lost process after that must not be applied while the next one has the lock.
        if engine.is_lost(guard, self.members[message.source as usize]) {
            return;
        }
        self.count_pending(1);
        let ranks = &mut self.state.get_mut(guard).busy;
        if let Some(busy) = ranks.get_mut(&message.source) {
            busy.behind.push_back(message.data.to_vec());
            return;
        }
        ranks.insert(message.source, Busy::default());
        self.apply_batch(engine, guard, message.source, message.data);
        self.count_pending(-1);
        self.resume(engine, guard, message.source);
    }

    fn completed(&self, engine: &Engine, guard: &mut Guard<'_>, request: Handle, completion: Completion) {
        let Some(operation) = self.state.get_mut(guard).under_way.remove(&request) else { return };
        let received = completion.status.bytes();
        let mut error = completion.error;
        let mut complete = |head: &Head| error.take().map_or_else(|| whole(head, received), Err);
        let awaited = match operation {
            Operation::Put { source, .. } | Operation::Data { source, .. } | Operation::Refused { source } => {
                Some(source)
            }
            Operation::Answer { .. } | Operation::Part { .. } => None,
        };
        let answered = if let Operation::Answer { dest, .. } = operation { Some(dest) } else { None };
        let result = match operation {
            Operation::Put { head, .. } => complete(&head),
            Operation::Data { source, head, blocks, data } => match complete(&head) {
                Ok(()) if engine.is_lost(guard, self.members[source as usize]) => Ok(()),
                Ok(()) => match self.place(&head, &blocks) {
                    Some(place) => self.apply(engine, guard, source, &head, &place, &data),
                    None => Ok(()),
                },
                Err(error) => {
                    let answered = match head.is_answered() {
                        true => self.answer(engine, guard, (source, REPLY), SendBuf::empty(), Vec::new()),
                        false => Ok(()),
                    };
                    self.record_error(guard, source, answered);
                    Err(error)
                }
            },
            Operation::Refused { .. } => Ok(()),
            // Of a process that has ended nobody waits for its answer.
            Operation::Answer { .. } => error.filter(|error| error.class() != MPI_ERR_PROC_ABORTED).map_or(Ok(()), Err),
            Operation::Part { rank, request, reply, .. } => {
                let failed = match reply {
                    Some(bytes) => replied((rank, bytes), error, received).err(),
                    None => error,
                };
                self.part_complete(engine, guard, (rank, request), failed);
                Ok(())
            }
        };
        self.record_error(guard, awaited.unwrap_or(self.rank as i32), result);
        self.count_pending(-1);
        if let Some(source) = awaited {
            self.state.get_mut(guard).busy.entry(source).or_default().awaits_data = false;
            self.resume(engine, guard, source);
        }
        if let Some(dest) = answered {
            self.unlock_answered(engine, guard, dest);
        }
    }

    fn lost(&self, engine: &Engine, guard: &mut Guard<'_>, number: u32) {
        self.remove_from_lock(engine, guard, number);
    }
}

/// The type of the memory that a record's list of blocks names; `None` if the list is empty.
type Blocks = Option<Datatype>;

/// The memory that a list of blocks names. `None` if the list makes no sense.
fn blocks_of(list: &[u8]) -> Option<Blocks> {
    if list.is_empty() { Some(None) } else { Block::datatype(list).ok().map(Some) }
}

impl Head {
    /// Whether the data fit these elements, which have `room` bytes of data.
    fn makes_sense(&self, elements: &Elements<'_>, room: u64) -> bool {
        // Elements are combined whole.
        let whole = elements.derived.is_none() || room.is_multiple_of(elements.basic.datatype.size());
        match self.verb {
            Verb::Put | Verb::Get => self.bytes <= room,
            Verb::Flush => self.bytes == 0,
            Verb::Lock | Verb::Overtake | Verb::Unlock => false,
            Verb::Accumulate => self.bytes <= room.min(PIECE) && whole,
            // What was there before is kept, also without data (`MPI_NO_OP`).
            Verb::Fetch => self.bytes <= room && room <= PIECE && whole,
            Verb::Swap => {
                let one = self.count == 1 && elements.derived.is_none();
                one && self.bytes == 2 * room && comparable(elements.basic).is_ok()
            }
        }
    }
}

/// Errors when an operation's data are incomplete.
fn whole(head: &Head, bytes: u64) -> Result<()> {
    if bytes == head.bytes { Ok(()) } else { Err(malformed("has incomplete data")) }
}

#[cfg(test)]
mod tests;
