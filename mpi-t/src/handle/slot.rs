//! A slot: one cache line with all facts of a handle.
//!
//! A slot is reused for other handles. Its `word` is the handle while it has one and 0 in between, so a reader that
//! finds its own handle there before and after reading has read one handle's facts, not a mixture.
//! The state has a certificate, for reads in the fewest instructions (`read`): the sum of the handle, the session, a
//! constant and the state without its format, while the value is the state's own part plus the source; else 0. Both
//! words change together, so a reader that loads the state, then the source, and then finds the certificate of all that
//! it has, has read the value of that handle, in that session, at that state.
//! The certificate of an array that runs is of its facts: if it is the same before and after a load of them, they are those of
//! that handle, and if it is the same still, neither has the handle been freed meanwhile nor its object.
//!
//! Invariant: facts change only while `word` is 0, under the pool's lock; all memory pointed to is static.
//! Not here: the steps of a handle (`state`). `tests/loom.rs` checks this file.

use crate::handle::origin;
use crate::state_word::kind::Kind;
use crate::state_word::state::{FORMAT_OTHER, State, StateMemory};
use crate::sync::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, Pair, PairSwap, compare_exchange, fence};

/// Part of every certificate, so that no two words that a program may pass by mistake, such as null handles, have the
/// certificate 0 of an empty slot. It is odd, so that no word twice has it.
pub(crate) const CERTIFIED: u64 = 0x2545_f491;
/// The certificate of a `u32` is so much less than that of a `u64` would be. So a word beside a handle or session, which a program may
/// pass by mistake, never makes the one of the other: no index is so large.
pub(crate) const LESS_OF_U32: u64 = 0x1d87_2b41;
/// The same of an array that is read in vectors, of which no difference from the others is as small as an index.
pub(crate) const LESS_OF_ARRAY: u64 = 0x0b36_d9e5;

/// Everything about one handle.
#[repr(C, align(64))]
pub(crate) struct Slot {
    /// The handle, or 0.
    pub(crate) word: AtomicUsize,
    /// The session that the handle belongs to.
    pub(crate) session: AtomicUsize,
    /// From the table's first byte to the first source word: with 0, as in a slot that no handle has had, the address
    /// is valid too.
    pub(crate) source: AtomicUsize,
    /// The elements' own state words, for an array.
    pub(crate) elements: AtomicPtr<AtomicU64>,
    /// The state word, for an array that of the whole array: whether it runs or has ended. Second its certificate.
    pub(crate) own: Pair,
    /// [`Facts`].
    pub(crate) facts: AtomicU64,
    /// The variable's index.
    pub(crate) variable: AtomicU32,
    /// The generation of the handle, or of the last one; changed under the pool's lock.
    pub(crate) generation: AtomicU32,
}

/// The facts of a handle's variable, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Traits {
    pub(crate) kind: Kind,
    /// How words become values (`ValueFormat`).
    pub(crate) value_format: u8,
    pub(crate) readonly: bool,
    pub(crate) continuous: bool,
    /// Whether it is an array whose elements can be read in vectors while they run: own part plus source, as `u64`.
    pub(crate) in_vectors: bool,
    /// Whether these vectors have eight elements.
    pub(crate) in_eights: bool,
    /// The word of the source that counts its handles, 1 or 3; 0: none.
    pub(crate) handles_word: usize,
    /// Words from one element to the next.
    pub(crate) stride: u16,
    pub(crate) count: u32,
}

/// The same in a word, as a slot keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Facts(pub(crate) u64);

const MARK: u64 = 2;
const READONLY: u64 = 1 << 2;
const CONTINUOUS: u64 = 1 << 3;
const WATCHED_SHIFT: u32 = 4;
const WATCHED: u64 = 3 << WATCHED_SHIFT;
const IN_VECTORS: u64 = 1 << 6;
const IN_EIGHTS: u64 = 1 << 7;
const COUNT_SHIFT: u32 = 32;

const _: () = assert!(Kind::High as u64 & MARK != 0 && Kind::Low as u64 & MARK != 0);
const _: () = assert!((Kind::Sum as u64 | Kind::Mirror as u64) & MARK == 0);

impl Facts {
    pub(crate) const fn of(traits: Traits) -> Facts {
        Facts(
            traits.kind as u64
                | if traits.readonly { READONLY } else { 0 }
                | if traits.continuous { CONTINUOUS } else { 0 }
                | if traits.in_vectors { IN_VECTORS } else { 0 }
                | if traits.in_eights { IN_EIGHTS } else { 0 }
                | (traits.handles_word as u64) << WATCHED_SHIFT & WATCHED
                | (traits.value_format as u64) << 8
                | (traits.stride as u64) << 16
                | (traits.count as u64) << COUNT_SHIFT,
        )
    }

    #[inline]
    pub(crate) const fn kind(self) -> Kind {
        Kind::from_bits(self.0 as u8)
    }

    pub(crate) const fn value_format(self) -> u8 {
        (self.0 >> 8) as u8
    }

    pub(crate) const fn readonly(self) -> bool {
        self.0 & READONLY != 0
    }

    #[inline]
    pub(crate) const fn continuous(self) -> bool {
        self.0 & CONTINUOUS != 0
    }

    /// The word of the source that counts its handles; 0: none.
    pub(crate) const fn handles_word(self) -> usize {
        ((self.0 & WATCHED) >> WATCHED_SHIFT) as usize
    }

    pub(crate) const fn stride(self) -> usize {
        (self.0 >> 16) as u16 as usize
    }

    pub(crate) const fn count(self) -> usize {
        (self.0 >> COUNT_SHIFT) as usize
    }

    /// Whether its elements can be read in vectors while they run.
    pub(crate) const fn in_vectors(self) -> bool {
        self.0 & IN_VECTORS != 0
    }

    /// Whether these vectors have eight elements.
    pub(crate) const fn in_eights(self) -> bool {
        self.0 & IN_EIGHTS != 0
    }

    /// Whether it is a watermark, which is registered with its level.
    pub(crate) const fn is_mark(self) -> bool {
        self.0 & MARK != 0
    }

    /// Whether it has one element and its handles are not counted: no mark, not watched.
    #[inline]
    pub(crate) const fn is_plain(self) -> bool {
        self.0 & (MARK | WATCHED | (u32::MAX as u64) << COUNT_SHIFT) == 1 << COUNT_SHIFT
    }

    /// Whether it is a sum that can be started and stopped, and its handles are not counted.
    #[inline(always)]
    pub(crate) const fn is_plain_sum(self) -> bool {
        self.0 & (Kind::Mirror as u64 | MARK | WATCHED | CONTINUOUS) == 0
    }
}

/// A consistent copy of a slot's facts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SlotView {
    pub(crate) facts: Facts,
    pub(crate) source: *mut AtomicU64,
    pub(crate) elements: *mut AtomicU64,
    pub(crate) variable: u32,
}

/// A copy of the facts by which an array is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ArrayView {
    pub(crate) facts: Facts,
    pub(crate) source: *mut AtomicU64,
    pub(crate) elements: *mut AtomicU64,
}

impl Slot {
    /// The facts of this handle, or `None` if the slot is not, or no more, this handle's in this session.
    #[inline]
    pub(crate) fn view(&self, session: usize, handle: usize) -> Option<SlotView> {
        // Acquire pairs with the Release in `open`.
        if handle == 0 || self.word.load(Ordering::Acquire) != handle {
            return None;
        }
        let of_session = self.session.load(Ordering::Relaxed);
        let view = SlotView {
            facts: Facts(self.facts.load(Ordering::Relaxed)),
            source: self.source(Ordering::Relaxed),
            elements: self.elements.load(Ordering::Relaxed),
            variable: self.variable.load(Ordering::Relaxed),
        };
        // Pairs with the Release fence in `close`: facts of a later handle come with a later word.
        fence(Ordering::Acquire);
        (self.word.load(Ordering::Relaxed) == handle && of_session == session).then_some(view)
    }

    /// Assigns the slot to a handle. The caller holds the pool's lock, and the slot is closed.
    #[inline]
    pub(crate) fn open(&self, session: usize, handle: usize, view: SlotView, state: State) {
        self.session.store(session, Ordering::Relaxed);
        let source = view.source.expose_provenance().wrapping_sub(origin::address());
        self.source.store(source, Ordering::Relaxed);
        // Nobody else stores into either: the last handle has ended, and no step starts from an ended state.
        self.state().store(state.0, Ordering::Relaxed);
        self.elements.store(view.elements, Ordering::Relaxed);
        self.facts.store(view.facts.0, Ordering::Relaxed);
        self.variable.store(view.variable, Ordering::Relaxed);
        let certified = PairSwap::supported().map_or(0, |_| certificate(state, session, handle, || view.facts));
        // Release, so that not even a word that no call has returned yet finds it before the facts.
        self.own.second.store(certified, Ordering::Release);
        // Pairs with the Acquire in `view`.
        self.word.store(handle, Ordering::Release);
    }

    /// The state word.
    #[inline(always)]
    pub(crate) fn state(&self) -> &AtomicU64 {
        &self.own.first
    }

    /// The address of the first source word: of static memory, whichever handle has the slot.
    #[inline(always)]
    pub(crate) fn source(&self, order: Ordering) -> *mut AtomicU64 {
        std::ptr::with_exposed_provenance_mut(origin::address().wrapping_add(self.source.load(order)))
    }

    /// The facts and the certificate of this handle, if it is an array that runs and can be read in vectors. The caller has
    /// found its certificate before, or got the handle from a call.
    #[inline(always)]
    pub(crate) fn certified_array(&self, session: usize, handle: usize) -> Option<(ArrayView, u64)> {
        // Acquire, here and below: the facts are loaded before the certificate that is theirs.
        let facts = Facts(self.facts.load(Ordering::Acquire));
        let view = ArrayView {
            facts,
            source: self.source(Ordering::Acquire),
            elements: self.elements.load(Ordering::Acquire),
        };
        let state = State(self.state().load(Ordering::Acquire));
        let certified = self.own.second.load(Ordering::Acquire);
        (certified == array_certificate(state, session, handle)).then_some((view, certified))
    }

    /// Whether the handle that had this certificate still has it: it runs, and its object was not freed. What was loaded before
    /// is of that object.
    #[inline(always)]
    pub(crate) fn is_certified(&self, certified: u64) -> bool {
        // Pairs with the Release fence in `state::end`.
        fence(Ordering::Acquire);
        self.own.second.load(Ordering::Relaxed) == certified
    }

    /// Removes the handle from the slot; from now on the handle is stale. The caller holds the pool's lock.
    #[inline]
    pub(crate) fn close(&self) {
        self.word.store(0, Ordering::Relaxed);
        // Pairs with the Acquire fence in `view`.
        fence(Ordering::Release);
    }
}

impl StateMemory for Slot {
    #[inline(always)]
    fn word(&self) -> &AtomicU64 {
        self.state()
    }

    #[inline(always)]
    fn compare_exchange(&self, before: State, after: State) -> Result<u64, u64> {
        let Some(pairs) = PairSwap::supported() else {
            return compare_exchange(self.state(), before.0, after.0);
        };
        loop {
            let certified = self.own.second.load(Ordering::Relaxed);
            // A slot that is another handle's by now has another state, because each handle ends before its slot is
            // used again, and the next one's state has another turn. So this is the handle whose state is swapped.
            let (session, handle) = (self.session.load(Ordering::Relaxed), self.word.load(Ordering::Relaxed));
            let next = certificate(after, session, handle, || Facts(self.facts.load(Ordering::Relaxed)));
            if pairs.compare_exchange(&self.own, (before.0, certified), (after.0, next)) {
                return Ok(before.0);
            }
            let now = self.state().load(Ordering::Relaxed);
            if now != before.0 {
                return Err(now);
            }
        }
    }
}

/// The certificate of a state of this handle.
#[inline(always)]
fn certificate(state: State, session: usize, handle: usize, facts: impl FnOnce() -> Facts) -> u64 {
    match state.without_format() {
        Some(rest) => {
            let less = if state.is_u32() { LESS_OF_U32 } else { 0 };
            rest.wrapping_add(CERTIFIED - less).wrapping_add(session as u64).wrapping_add(handle as u64)
        }
        None if state.is_running_other() && facts().in_vectors() => array_certificate(state, session, handle),
        None => 0,
    }
}

/// That of the state of an array which runs.
#[inline(always)]
fn array_certificate(state: State, session: usize, handle: usize) -> u64 {
    let sum = state.0.wrapping_sub(FORMAT_OTHER).wrapping_add(session as u64).wrapping_add(handle as u64);
    sum.wrapping_add(CERTIFIED - LESS_OF_ARRAY)
}
