//! The state word of a handle: its own part of a value, whether it runs, and the value's format.
//!
//! ```text
//!   63                         7   6      5        3 2      1    0
//!  | own part, signed           | wide | turn     | format | stopped |
//! ```
//! For sums, levels and states the value is the own part plus, while running, the source. For watermarks the own part
//! is the mark. Every step is one compare-and-swap (without the bus lock while the process has one thread), so any
//! number of threads and signal handlers may take it.
//! An own part that does not fit is stored in a cell, whose name is in a wide word (`wide`).
//! `turn` is the low bits of the slot's generation: the word of a slot's next handle differs from this one's.
//!
//! Invariant: if two loads of the word are equal, the source read in between belongs to it.
//! Not here: the parts of a value (`kind`), which word belongs to which handle (`slot`). `tests/loom.rs` checks this
//! file.

use crate::state_word::kind::Kind;
use crate::state_word::wide;
use crate::sync::{AtomicU64, Ordering, compare_exchange, fence};

const STOPPED: u64 = 1;
const FORMAT_SHIFT: u32 = 1;
const TURN_SHIFT: u32 = 3;
const WIDE: u64 = 1 << 6;
pub(crate) const OWN_SHIFT: u32 = 7;
/// The format's bits of a state whose value is a `u64`.
pub(crate) const FORMAT_U64: u64 = (Format::U64 as u64) << FORMAT_SHIFT;
/// Those of a `u32`.
pub(crate) const FORMAT_U32: u64 = (Format::U32 as u64) << FORMAT_SHIFT;
/// Those of another format.
pub(crate) const FORMAT_OTHER: u64 = (Format::Other as u64) << FORMAT_SHIFT;
const LOW_BITS: u64 = (1 << OWN_SHIFT) - 1;

const _: () = assert!(64 - OWN_SHIFT == wide::NAME_BITS);

/// Of the state of an array's element, which is [`Format::Other`] or [`Format::Ended`]: zero if its value is the own
/// part in the word plus the source.
pub(crate) const ELEMENT_NEEDS_MORE: u64 =
    WIDE | STOPPED | (Format::Other as u64 ^ Format::Ended as u64) << FORMAT_SHIFT;

const _: () = assert!(ELEMENT_NEEDS_MORE & (Format::Other as u64) << FORMAT_SHIFT == 0);

/// The format of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// As a `u64`; running, this is the fast path.
    U64 = 0,
    /// As a `u32`, at most `u32::MAX`.
    U32 = 1,
    /// Another format, which the slot's facts have.
    Other = 2,
    /// None: the object was freed.
    Ended = 3,
}

/// One load of a state word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct State(pub(crate) u64);

impl State {
    /// A state whose own part fits, as the caller guarantees.
    pub(crate) const fn new(own: u64, turn: u32, format: Format, running: bool) -> State {
        State(
            own << OWN_SHIFT
                | ((turn & 7) as u64) << TURN_SHIFT
                | (format as u64) << FORMAT_SHIFT
                | if running { 0 } else { STOPPED },
        )
    }

    /// The state of a new handle, which has its starting value.
    #[inline]
    pub(crate) fn initial(kind: Kind, turn: u32, format: Format, running: bool, source: u64) -> State {
        let own = kind.own_for(kind.starting_value(source), running, source);
        State::new(0, turn, format, running).with_own(own)
    }

    /// The value, from the source at this state.
    #[inline]
    pub(crate) fn value(self, kind: Kind, source: u64) -> u64 {
        kind.value(self.running(), self.own(), source)
    }

    /// The own part of a word that is not wide, sign-extended.
    #[inline(always)]
    pub(crate) const fn narrow_own(self) -> u64 {
        (self.0 as i64 >> OWN_SHIFT) as u64
    }

    /// The own part. For a wide word that has been replaced meanwhile it is any number.
    #[inline]
    pub(crate) fn own(self) -> u64 {
        match self.wide() {
            None => self.narrow_own(),
            Some(name) => wide::value(name),
        }
    }

    /// The name of the cell of a wide word.
    #[inline]
    fn wide(self) -> Option<u64> {
        (self.0 & WIDE != 0).then_some(self.0 >> OWN_SHIFT)
    }

    /// The word was replaced: its cell is free.
    #[inline]
    fn give_back(self) {
        if let Some(name) = self.wide() {
            wide::give_back(name);
        }
    }

    #[inline(always)]
    pub(crate) const fn running(self) -> bool {
        self.0 & STOPPED == 0
    }

    #[inline(always)]
    pub(crate) const fn format(self) -> Format {
        match (self.0 >> FORMAT_SHIFT) & 3 {
            0 => Format::U64,
            1 => Format::U32,
            2 => Format::Other,
            _ => Format::Ended,
        }
    }

    /// The word without the format, if the handle runs, is not wide, and its value is a `u64` or a `u32`: all others
    /// need more than an addition.
    #[inline(always)]
    pub(crate) const fn without_format(self) -> Option<u64> {
        if self.0 & (WIDE | STOPPED | 2 << FORMAT_SHIFT) == 0 { Some(self.0 & !(3 << FORMAT_SHIFT)) } else { None }
    }

    /// Whether the handle runs, is not wide, and its value is neither a `u64` nor a `u32`.
    #[inline(always)]
    pub(crate) const fn is_running_other(self) -> bool {
        self.0 & (WIDE | STOPPED | 3 << FORMAT_SHIFT) == FORMAT_OTHER
    }

    /// Whether the value is a `u32`, if [`Self::without_format`] has one.
    #[inline(always)]
    pub(crate) const fn is_u32(self) -> bool {
        self.0 & FORMAT_U32 != 0
    }

    /// The same word with another own part. A part that does not fit takes a cell; without a free one it is cut to the
    /// nearest value that fits.
    pub(crate) fn with_own(self, own: u64) -> State {
        let signed = own as i64;
        let low = self.0 & LOW_BITS & !WIDE;
        if is_narrow(own) {
            return State(own << OWN_SHIFT | low);
        }
        match wide::keep(own) {
            Some(name) => State(name << OWN_SHIFT | low | WIDE),
            None => State((signed.clamp(i64::MIN >> OWN_SHIFT, i64::MAX >> OWN_SHIFT) as u64) << OWN_SHIFT | low),
        }
    }

    /// The next word of a sum with a narrow own part to which something is added; `None` if it would not be narrow.
    #[inline(always)]
    pub(crate) const fn narrow_add(self, change: u64, running: bool) -> Option<State> {
        if !is_narrow(self.narrow_own().wrapping_add(change)) {
            return None;
        }
        // In the place of the own part, so that the next word needs only one addition.
        Some(State(self.0.wrapping_add(change << OWN_SHIFT)).with_running(running))
    }

    /// The same word with another narrow own part; `None` if it is not narrow.
    #[inline(always)]
    pub(crate) const fn narrow_set(self, own: u64) -> Option<State> {
        if is_narrow(own) { Some(State(own << OWN_SHIFT | self.0 & LOW_BITS)) } else { None }
    }

    /// Whether a whole number is a `u64`.
    #[inline(always)]
    pub(crate) const fn is_u64(self) -> bool {
        self.0 & 1 << FORMAT_SHIFT == 0
    }

    /// Whether the own part is in the word, and the object exists.
    #[inline(always)]
    pub(crate) const fn is_narrow_and_live(self) -> bool {
        self.0 & WIDE == 0 && !matches!(self.format(), Format::Ended)
    }

    /// Whether the own part is in the word, and the value is a `u64` or a `u32`.
    #[inline(always)]
    pub(crate) const fn is_narrow_number(self) -> bool {
        self.0 & (WIDE | 2 << FORMAT_SHIFT) == 0
    }

    const fn with_running(self, running: bool) -> State {
        State(self.0 & !STOPPED | if running { 0 } else { STOPPED })
    }
}

/// Whether an own part fits into the word.
const fn is_narrow(own: u64) -> bool {
    let signed = own as i64;
    signed << OWN_SHIFT >> OWN_SHIFT == signed
}

/// The memory of a state word.
pub(crate) trait StateMemory {
    /// The word.
    fn word(&self) -> &AtomicU64;

    /// Stores `after` if the word is `before`, SeqCst; else the error is the word now. Async-signal-safe.
    fn compare_exchange(&self, before: State, after: State) -> Result<u64, u64>;
}

impl StateMemory for AtomicU64 {
    #[inline(always)]
    fn word(&self) -> &AtomicU64 {
        self
    }

    #[inline(always)]
    fn compare_exchange(&self, before: State, after: State) -> Result<u64, u64> {
        compare_exchange(self, before.0, after.0)
    }
}

/// The object was freed, so the handle has no value any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct HandleEnded;

/// The result of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stepped {
    /// The value just before.
    pub(crate) value: u64,
    /// The own part now; a watermark's mark.
    pub(crate) own: u64,
    /// Whether the handle runs now.
    pub(crate) running: bool,
}

/// The value now.
#[inline]
pub(crate) fn read(word: &AtomicU64, source: &AtomicU64, kind: Kind) -> Result<u64, HandleEnded> {
    loop {
        let state = State(word.load(Ordering::Acquire));
        let value = state.value(kind, source.load(Ordering::Relaxed));
        // Pairs with the Release fence in `step`: a source written after a step is not read as one before it.
        fence(Ordering::Acquire);
        if word.load(Ordering::Relaxed) == state.0 {
            return if matches!(state.format(), Format::Ended) { Err(HandleEnded) } else { Ok(value) };
        }
    }
}

/// The present value of a running sum, level or state with a narrow own part; `None` for all others, and if a step came
/// between.
#[inline(always)]
pub(crate) fn read_narrow(word: &AtomicU64, source: &AtomicU64) -> Option<u64> {
    let state = State(word.load(Ordering::Acquire));
    let value = state.narrow_own().wrapping_add(source.load(Ordering::Relaxed));
    // As in `read`.
    fence(Ordering::Acquire);
    let same = word.load(Ordering::Relaxed) == state.0;
    (same && state.0 & (WIDE | STOPPED) == 0 && !matches!(state.format(), Format::Ended)).then_some(value)
}

/// Starts or stops the handle; no change if it already runs or is stopped.
pub(crate) fn set_running(
    word: &impl StateMemory,
    source: &AtomicU64,
    kind: Kind,
    running: bool,
) -> Result<Stepped, HandleEnded> {
    step(word, source, kind, |state, from| {
        if state.running() == running {
            return state;
        }
        let value = state.value(kind, from);
        let own = match (kind, running) {
            // A mark starts: the present level counts.
            (Kind::High | Kind::Low, true) => state.with_running(true).value(kind, from),
            _ => kind.own_for(value, running, from),
        };
        state.with_own(own).with_running(running)
    })
}

/// Marks an array as a whole as running or stopped.
pub(crate) fn mark_running(word: &impl StateMemory, running: bool) -> Result<(), HandleEnded> {
    let mut state = State(word.word().load(Ordering::Relaxed));
    loop {
        if matches!(state.format(), Format::Ended) {
            return Err(HandleEnded);
        }
        match word.compare_exchange(state, state.with_running(running)) {
            Ok(_) => return Ok(()),
            Err(now) => state = State(now),
        }
    }
}

/// Sets the handle to its starting value; returns the value before; nothing is lost or counted twice in between.
pub(crate) fn reset(word: &impl StateMemory, source: &AtomicU64, kind: Kind) -> Result<Stepped, HandleEnded> {
    step(word, source, kind, |state, from| {
        state.with_own(kind.own_for(kind.starting_value(from), state.running(), from))
    })
}

/// Sets the handle to a value.
pub(crate) fn write(
    word: &impl StateMemory,
    source: &AtomicU64,
    kind: Kind,
    value: u64,
) -> Result<Stepped, HandleEnded> {
    step(word, source, kind, |state, from| state.with_own(kind.own_for(value, state.running(), from)))
}

/// Moves the mark of a running watermark to a new level if necessary. The level is the source, just stored.
pub(crate) fn follow(word: &AtomicU64, kind: Kind, level: u64) {
    let mut state = State(word.load(Ordering::SeqCst));
    loop {
        let moved = state.value(kind, level);
        if !state.running() || matches!(state.format(), Format::Ended) || moved == state.own() {
            return;
        }
        let next = state.with_own(moved);
        match compare_exchange(word, state.0, next.0) {
            Ok(_) => {
                state.give_back();
                // Pairs with the Acquire fence in `read`: a reader of the next level sees this mark.
                fence(Ordering::Release);
                return;
            }
            Err(now) => {
                next.give_back();
                state = State(now);
            }
        }
    }
}

/// The mark of a running watermark.
pub(crate) fn running_mark(word: &AtomicU64) -> Option<u64> {
    let state = State(word.load(Ordering::SeqCst));
    (state.running() && !matches!(state.format(), Format::Ended)).then_some(state.own())
}

/// Ends the handle, because its object is freed.
#[inline]
pub(crate) fn end(word: &impl StateMemory) {
    let mut state = State(word.word().load(Ordering::Relaxed));
    loop {
        let ended = State(state.0 | (Format::Ended as u64) << FORMAT_SHIFT | STOPPED);
        match word.compare_exchange(state, ended) {
            Ok(_) => break,
            Err(now) => state = State(now),
        }
    }
    // Pairs with the Acquire fence in `read`: later contents of the memory are not read as this source.
    fence(Ordering::Release);
}

/// Ends a freed handle and frees its cell, if it had one.
#[inline]
pub(crate) fn close(word: &impl StateMemory) {
    end(word);
    let word = word.word();
    let ended = State(word.load(Ordering::Relaxed));
    // No step starts from an ended state, so no other thread takes the name out.
    word.store((ended.0 & LOW_BITS) & !WIDE, Ordering::Relaxed);
    ended.give_back();
}

/// One step: from the word and a source that belongs to it to a new word.
fn step(
    word: &impl StateMemory,
    source: &AtomicU64,
    kind: Kind,
    next: impl Fn(State, u64) -> State,
) -> Result<Stepped, HandleEnded> {
    loop {
        let before = State(word.word().load(Ordering::Acquire));
        if matches!(before.format(), Format::Ended) {
            return Err(HandleEnded);
        }
        let from = source.load(Ordering::Relaxed);
        let after = next(before, from);
        // While this word is stored, and before the next is visible, their cells belong to them: read them before the
        // swap.
        let stepped = Stepped { value: before.value(kind, from), own: after.own(), running: after.running() };
        // The swap succeeds only if the word is still the one that the source was read with. SeqCst: see `watch`.
        let swapped = word.compare_exchange(before, after).is_ok();
        if before != after {
            if swapped { before.give_back() } else { after.give_back() }
        }
        if swapped {
            // Pairs with the Acquire fence in `read`.
            fence(Ordering::Release);
            return Ok(stepped);
        }
    }
}
