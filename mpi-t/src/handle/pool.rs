//! Allocating and freeing handles and sessions (MPI-5.0, section 15.3.7).
//!
//! All functions take one lock, and none is for signal handlers; only the slots' words, [`is_session`] and
//! [`end_of_used`] are read without it.
//! Invariant: a slot is on the free list exactly when its word is 0 and its position is below [`end_of_used`].
//! Not here: the contents of a slot (`slot`), using a handle (`access`).
#![allow(unsafe_code)] // a watermark's level is found through its slot's source

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use mpi_core::handle::{GENERATION_MASK, Kind as HandleKind};
use mpi_core::{Handle, ShortMutex, ShortMutexGuard};

use crate::handle::slot::{Facts, Slot, SlotView};
use crate::handle::{refusal, table};
use crate::level::watch;
use crate::state_word::state::{self, Format, State};
use crate::tool_metrics::{HandleInstruments, handle_instruments};
use crate::{Level, TError, TResult};

/// Words in a line of the cache.
const WORDS_OF_A_LINE: usize = 8;
/// The most sessions that can exist at a time.
const SESSIONS: usize = 4096;

static POOL: ShortMutex<Pool> = ShortMutex::new(Pool::new());
/// The words of the sessions that exist; 0: none.
static SESSION_WORDS: [AtomicUsize; SESSIONS] = [const { AtomicUsize::new(0) }; SESSIONS];
static END_OF_USED: AtomicUsize = AtomicUsize::new(1);

struct Pool {
    initializations: usize,
    free: Vec<u32>,
    live: usize,
    /// Metrics of handles and sessions; from the first initialization on.
    metrics: Option<&'static HandleInstruments>,
    /// Per session position: the generation of the session, or of the last one.
    session_generations: Vec<u32>,
    free_sessions: Vec<u32>,
    /// Per session position: number of handles of the session.
    session_handles: Vec<usize>,
    /// State words of freed arrays, by their number. They are never unmapped, because a reader may still load them.
    free_elements: BTreeMap<usize, Vec<&'static [AtomicU64]>>,
}

impl Pool {
    const fn new() -> Pool {
        Pool {
            initializations: 0,
            free: Vec::new(),
            live: 0,
            metrics: None,
            session_generations: Vec::new(),
            free_sessions: Vec::new(),
            session_handles: Vec::new(),
            free_elements: BTreeMap::new(),
        }
    }
}

/// The properties of a new handle.
#[derive(Debug)]
pub(crate) struct NewHandle {
    pub(crate) facts: Facts,
    pub(crate) format: Format,
    pub(crate) variable: usize,
    /// All words from the first element's to the last one's.
    pub(crate) source: &'static [AtomicU64],
}

fn pool() -> ShortMutexGuard<'static, Pool> {
    // Changes are made in an order that leaves the pool consistent wherever a panic might end them.
    POOL.lock()
}

/// One more initialization in this operating-system process; false: there is no address space for handles.
pub(crate) fn initialize() -> bool {
    let mut pool = pool();
    table::enable(true);
    pool.initializations += 1;
    pool.metrics.get_or_insert_with(handle_instruments);
    table::is_enabled()
}

/// One initialization less. Sessions and handles survive until the interface is initialized again.
pub(crate) fn finalize() {
    let mut pool = pool();
    pool.initializations = pool.initializations.saturating_sub(1);
    if pool.initializations == 0 {
        table::enable(false);
    }
}

/// The position of a session. They are as far apart as handles: the sum of a session and a handle (`slot::certificate`) is
/// then that of no other session and a word beside the handle.
fn position_of_session(session: usize) -> usize {
    table::position_of(Handle(session).index())
}

/// Whether this word is a session. Async-signal-safe.
pub(crate) fn is_session(session: usize) -> bool {
    let handle = Handle(session);
    handle.kind() == Some(HandleKind::PvarSession)
        && SESSION_WORDS.get(position_of_session(session)).is_some_and(|word| word.load(Ordering::Acquire) == session)
}

/// All slots in use lie below this position. Async-signal-safe.
pub(crate) fn end_of_used() -> usize {
    END_OF_USED.load(Ordering::Acquire)
}

pub(crate) fn create_session() -> TResult<Handle> {
    let mut pool = pool();
    let position = match pool.free_sessions.pop() {
        Some(position) => position as usize,
        None if pool.session_generations.len() < SESSIONS => {
            pool.session_generations.push(0);
            pool.session_handles.push(0);
            pool.session_generations.len() - 1
        }
        None => return Err(out_of_sessions()),
    };
    let generation = next(pool.session_generations[position]);
    pool.session_generations[position] = generation;
    let handle = Handle::pack(HandleKind::PvarSession, table::index_of(position), generation);
    SESSION_WORDS[position].store(handle.0, Ordering::Release);
    pool.metrics.inspect(|metrics| metrics.pvar_sessions.raise(1));
    Ok(handle)
}

/// Frees a session and all handles that are still allocated in it.
pub(crate) fn free_session(session: usize) -> TResult<()> {
    let mut pool = pool();
    if !is_session(session) {
        return Err(refusal::session(session));
    }
    let position = position_of_session(session);
    SESSION_WORDS[position].store(0, Ordering::Release);
    pool.free_sessions.push(position as u32);
    pool.metrics.inspect(|metrics| metrics.pvar_sessions.lower(1));
    if pool.session_handles[position] > 0 {
        for position in 1..end_of_used() {
            let slot = table::slot_at(position);
            let handle = slot.word.load(Ordering::Relaxed);
            if let Some(view) = slot.view(session, handle) {
                pool.close(position, slot, session, &view);
            }
        }
    }
    Ok(())
}

pub(crate) fn open(session: usize, new: NewHandle) -> TResult<Handle> {
    let mut pool = pool();
    let (position, slot) = pool.take_slot(session)?;
    let generation = next(slot.generation.load(Ordering::Relaxed));
    slot.generation.store(generation, Ordering::Relaxed);
    let handle = Handle::pack(HandleKind::Pvar, table::index_of(position), generation);
    let NewHandle { facts, format, variable, source } = new;
    let first = source.as_ptr().cast_mut();
    let view = SlotView { facts, source: first, elements: std::ptr::null_mut(), variable: variable as u32 };
    if facts.is_plain() {
        let state =
            State::initial(facts.kind(), generation, format, facts.continuous(), source[0].load(Ordering::Relaxed));
        slot.open(session, handle.0, view, state);
    } else {
        pool.open_array_or_mark(slot, session, handle, view, &new);
    }
    Ok(handle)
}

pub(crate) fn close(session: usize, handle: usize) -> TResult<()> {
    let mut pool = pool();
    if !is_session(session) {
        return Err(refusal::session(session));
    }
    let position = table::position_of(Handle(handle).index());
    if Handle(handle).kind() != Some(HandleKind::Pvar) || position == 0 || position >= end_of_used() {
        return Err(refused(session, handle));
    }
    let slot = table::slot_at(position);
    let view = slot.view(session, handle).ok_or_else(|| refused(session, handle))?;
    pool.close(position, slot, session, &view);
    Ok(())
}

/// Ends all handles that read these words: their object is freed. They must still be freed.
pub(crate) fn end_handles_of(words: &'static [AtomicU64]) {
    let pool = pool();
    if pool.live == 0 {
        return;
    }
    let range = words.as_ptr_range();
    for position in 1..end_of_used() {
        let slot = table::slot_at(position);
        let source = slot.source(Ordering::Relaxed).cast_const();
        if slot.word.load(Ordering::Relaxed) != 0 && range.contains(&source) && !has_ended(slot) {
            state::end(slot);
            let view = slot.view(slot.session.load(Ordering::Relaxed), slot.word.load(Ordering::Relaxed));
            let Some(view) = view else { continue };
            if let Some(level) = watched_level(&view) {
                watch::remove(level, slot.state());
            }
            count_handle(&view, u64::MAX);
        }
    }
}

impl Pool {
    /// Takes a free slot for a handle of this session, which must exist.
    #[inline]
    fn take_slot(&mut self, session: usize) -> TResult<(usize, &'static Slot)> {
        if !is_session(session) {
            return Err(refusal::session(session));
        }
        let position = match self.free.pop() {
            Some(position) => position as usize,
            None => {
                let position = end_of_used();
                if position >= table::capacity() {
                    return Err(out_of_handles());
                }
                END_OF_USED.store(position + 1, Ordering::Release);
                position
            }
        };
        self.live += 1;
        self.metrics.inspect(|metrics| metrics.pvar_handles.raise(1));
        self.session_handles[position_of_session(session)] += 1;
        Ok((position, table::slot_at(position)))
    }

    /// Opens a handle whose elements have states of their own, or that its level or timer counts.
    #[inline(never)]
    fn open_array_or_mark(
        &mut self,
        slot: &'static Slot,
        session: usize,
        handle: Handle,
        view: SlotView,
        new: &NewHandle,
    ) {
        let (generation, facts) = (slot.generation.load(Ordering::Relaxed), new.facts);
        let (kind, running) = (facts.kind(), facts.continuous());
        let last = (facts.count() - 1) * facts.stride() + facts.handles_word();
        debug_assert!(last < new.source.len(), "a handle is counted within its source: {new:?}");
        let source = |i: usize| new.source[i * facts.stride()].load(Ordering::Relaxed);
        let mut elements: *mut AtomicU64 = std::ptr::null_mut();
        let state = if facts.count() == 1 {
            State::initial(kind, generation, new.format, running, source(0))
        } else {
            let words = self.elements(facts.count());
            for (i, word) in words.iter().enumerate() {
                word.store(State::initial(kind, generation, Format::Other, running, source(i)).0, Ordering::Relaxed);
            }
            elements = words.as_ptr().cast_mut();
            State::new(0, generation, Format::Other, running)
        };
        let view = SlotView { elements, ..view };
        slot.open(session, handle.0, view, state);
        if let Some(level) = watched_level(&view) {
            watch::add(level, kind, slot.state());
        }
        count_handle(&view, 1);
    }

    #[inline]
    fn close(&mut self, position: usize, slot: &'static Slot, session: usize, view: &SlotView) {
        slot.close();
        if !view.facts.is_plain() {
            self.close_array_or_mark(slot, view);
        }
        state::close(slot);
        self.live -= 1;
        self.metrics.inspect(|metrics| metrics.pvar_handles.lower(1));
        self.session_handles[position_of_session(session)] -= 1;
        self.free.push(position as u32);
    }

    #[inline(never)]
    fn close_array_or_mark(&mut self, slot: &'static Slot, view: &SlotView) {
        if let Some(level) = watched_level(view) {
            watch::remove(level, slot.state());
        }
        // The words of a handle that has ended may belong to another object by now.
        if !has_ended(slot) {
            count_handle(view, u64::MAX);
        }
        if !view.elements.is_null() {
            let count = view.facts.count();
            // SAFETY: an array's state words came from `elements`, this many of them, static.
            let words: &'static [AtomicU64] = unsafe { std::slice::from_raw_parts(view.elements, count) };
            words.iter().for_each(state::close);
            self.free_elements.entry(count).or_default().push(words);
        }
    }

    fn elements(&mut self, count: usize) -> &'static [AtomicU64] {
        match self.free_elements.get_mut(&count).and_then(Vec::pop) {
            Some(words) => words,
            None => {
                // From the beginning of a line on, because vectors that reach into a second line take twice as long to
                // read.
                let words: &'static [AtomicU64] =
                    Vec::leak((0..count + WORDS_OF_A_LINE - 1).map(|_| AtomicU64::new(0)).collect());
                let first = words.as_ptr().align_offset(64).min(WORDS_OF_A_LINE - 1);
                &words[first..first + count]
            }
        }
    }
}

/// Why a handle cannot be used in a session: the interface is not initialized, or one of the two is not live.
/// Async-signal-safe.
#[cold]
pub(crate) fn refused(session: usize, handle: usize) -> TError {
    if !table::is_enabled() {
        TError::NOT_INITIALIZED
    } else if !is_session(session) {
        refusal::session(session)
    } else {
        refusal::pvar_handle(handle)
    }
}

#[cold]
#[inline(never)]
fn out_of_sessions() -> TError {
    TError::OUT_OF_SESSIONS.because(format!("{SESSIONS} sessions exist, and there can be no more: free some"))
}

#[cold]
fn out_of_handles() -> TError {
    let most = table::capacity().saturating_sub(1);
    TError::OUT_OF_HANDLES.because(format!("{most} handles exist, and there can be no more: free some"))
}

/// Whether the object of the slot's handle was freed; its words may belong to another object by now.
fn has_ended(slot: &Slot) -> bool {
    matches!(State(slot.state().load(Ordering::Relaxed)).format(), Format::Ended)
}

/// The level that a watermark watches.
fn watched_level(view: &SlotView) -> Option<&'static Level> {
    // SAFETY: watermarks are declared on levels only, so the source is the first word of one, which is static.
    view.facts.is_mark().then(|| unsafe { &*view.source.cast::<Level>() })
}

/// Adds to the number of handles of a watched field's elements; `u64::MAX` subtracts one.
fn count_handle(view: &SlotView, change: u64) {
    let (facts, word) = (view.facts, view.facts.handles_word());
    for element in 0..if word == 0 { 0 } else { facts.count() } {
        // SAFETY: a source has `count` elements, `stride` words apart, each of a field that has this word.
        let handles = unsafe { &*view.source.add(element * facts.stride() + word) };
        handles.fetch_add(change, Ordering::Relaxed);
    }
}

/// The generation after this one. 0 is skipped, so that a zeroed word with the right kind never matches.
fn next(generation: u32) -> u32 {
    (generation.wrapping_add(1) & GENERATION_MASK).max(1)
}

// Readers without the lock share the statics of this file and the slots by pointer.
const _: fn() = || {
    fn shared<T: Sync>() {}
    shared::<Slot>();
    shared::<AtomicPtr<AtomicU64>>();
};
