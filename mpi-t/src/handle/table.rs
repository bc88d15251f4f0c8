//! The table of slots, and the short ways from a handle word to a slot and to the value of one element.
//!
//! The slots of all handles of an operating-system process are in one range of addresses, reserved once and never
//! unmapped, of which only pages in use take memory. A handle's index is the byte offset of its slot, so the look-up is
//! an `and` and an `add`, and the check a compare. While the interface is not initialized the mask is zero, every
//! handle leads to slot 0, and no handle has slot 0: no extra check is needed.
//!
//! Invariant: `mask` is nonzero only after `base` points at the whole range, and `base` never changes after.
//! Not here: allocating slots (`pool`), `MPI_T_pvar_read` (`read`), the slower operations (`access`).
#![allow(unsafe_code)] // slots are found by address arithmetic; the reads of other crates go through here

use std::ffi::c_void;
use std::hint::cold_path;
use std::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};

use crate::handle::origin;
use crate::handle::slot::{Facts, Slot};
use crate::state_word::state::{Format, State, StateMemory};
use crate::sync::{Pair, PairSwap};

/// Bytes of a slot; the low bits of a handle's index are free for it.
const SLOT_BYTES: usize = size_of::<Slot>();
/// The range is never longer, because an index has 26 bits.
const MOST_BYTES: usize = 1 << 26;

const _: () = assert!(SLOT_BYTES == 64);

/// The slot of no handle: no handle word equals its word, because the kind in it does not exist.
static NO_SLOT: Slot = Slot {
    word: AtomicUsize::new(usize::MAX),
    session: AtomicUsize::new(usize::MAX),
    source: AtomicUsize::new(0),
    own: Pair::new(NO_STATE.0, 0),
    elements: AtomicPtr::new(std::ptr::null_mut()),
    facts: AtomicU64::new(0),
    variable: AtomicU32::new(0),
    generation: AtomicU32::new(0),
};
/// Stopped, and not of type `u64`, so the fast path ends even for a caller that passes guessed words.
const NO_STATE: State = State::new(0, 0, Format::Other, false);

/// Bytes of the table whose handles can be read in the fewest instructions; others take the longer way.
pub(crate) const QUICK_BYTES: usize = 1 << 20;

/// What is in the place of those bytes while handles cannot be looked up, or the processor cannot swap pairs: no
/// certificate.
static NO_SLOTS: NoSlots = NoSlots([const { AtomicU64::new(0) }; QUICK_BYTES / 8]);

#[repr(align(64))]
struct NoSlots([AtomicU64; QUICK_BYTES / 8]);

/// The table, for [`read`](super::read): always at least [`QUICK_BYTES`] of static memory.
#[doc(hidden)]
pub static QUICK_TABLE: AtomicPtr<c_void> = AtomicPtr::new((&raw const NO_SLOTS.0).cast_mut().cast());

/// The place of the slots, in one cache line.
#[repr(C, align(64))]
struct Stretch {
    mask: AtomicUsize,
    base: AtomicPtr<Slot>,
    /// Bytes of the range; 0: not reserved yet.
    bytes: AtomicUsize,
}

static STRETCH: Stretch = Stretch {
    mask: AtomicUsize::new(0),
    base: AtomicPtr::new((&raw const NO_SLOT).cast_mut()),
    bytes: AtomicUsize::new(0),
};

/// The bits of the value of a handle with one element and a narrow own part, and the handle's facts; `None` for others.
#[inline(always)]
pub(crate) fn read_single(session: usize, handle: usize) -> Option<(u64, Facts)> {
    read_single_of(slot_of(handle), session, handle)
}

/// The same, if the handle has this slot.
#[inline(always)]
pub(crate) fn read_single_of(slot: &Slot, session: usize, handle: usize) -> Option<(u64, Facts)> {
    // The order matters as in `pvar_read_raw`; Acquire also keeps the facts before the second load of the state.
    let state = State(slot.state().load(Ordering::Acquire));
    let mine = slot.word.load(Ordering::Acquire) == handle && slot.session.load(Ordering::Acquire) == session;
    let facts = Facts(slot.facts.load(Ordering::Acquire));
    if !mine || facts.count() != 1 || !state.is_narrow_and_live() {
        return None;
    }
    // SAFETY: a slot's source is static memory of atomic words, whichever handle has the slot.
    let source = unsafe { &*slot.source(Ordering::Acquire) }.load(Ordering::Acquire);
    if slot.state().load(Ordering::Relaxed) != state.0 {
        return None;
    }
    let own = state.narrow_own();
    // As `Kind::value`, with one branch for all that are no marks.
    let value = match (state.running(), facts.is_mark()) {
        (false, _) => own,
        (true, false) => own.wrapping_add(source),
        (true, true) => facts.kind().value(true, own, source),
    };
    Some((value, facts))
}

/// The operation of [`step_sum`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Start,
    Stop,
    Reset,
}

/// One step of a sum that is a whole number and not continuous, in a few instructions. The value before, and the
/// state; `None`, and nothing is changed, for all other handles.
#[inline(always)]
pub(crate) fn step_sum(session: usize, handle: usize, step: Step) -> Option<(u64, State)> {
    let slot = slot_of(handle);
    // The order matters as in `pvar_read_raw`; the swap replaces the second load of the state.
    let state = State(slot.state().load(Ordering::Acquire));
    let mine = slot.word.load(Ordering::Relaxed) == handle && slot.session.load(Ordering::Relaxed) == session;
    if !mine || !state.is_narrow_number() {
        return None;
    }
    if !Facts(slot.facts.load(Ordering::Relaxed)).is_plain_sum() {
        return None;
    }
    // SAFETY: a slot's source is static memory of atomic words, whichever handle has the slot.
    let source = unsafe { &*slot.source(Ordering::Acquire) }.load(Ordering::Acquire);
    let (value, after) = if state.running() {
        let after = match step {
            Step::Start => Some(state),
            Step::Stop => state.narrow_add(source, false),
            Step::Reset => state.narrow_set(source.wrapping_neg()),
        };
        (state.narrow_own().wrapping_add(source), after?)
    } else {
        // Resets and stops mostly concern running handles; a branch is then cheaper than a conditional move.
        if step != Step::Start {
            cold_path();
        }
        let after = match step {
            Step::Start => state.narrow_add(source.wrapping_neg(), true),
            Step::Stop => Some(state),
            Step::Reset => state.narrow_set(0),
        };
        (state.narrow_own(), after?)
    };
    // SeqCst as in `state::step`; only with the state that the source was read with.
    slot.compare_exchange(state, after).ok()?;
    // Pairs with the Acquire fence in `state::read`.
    fence(Ordering::Release);
    Some((value, state))
}

/// The slot that a handle word leads to; the caller checks whether it is that handle's.
#[inline(always)]
pub(crate) fn slot_of(handle: usize) -> &'static Slot {
    // Acquire pairs with the Release in `enable`: a nonzero mask comes with the stretch.
    let offset = handle & STRETCH.mask.load(Ordering::Acquire);
    let base = STRETCH.base.load(Ordering::Relaxed);
    // SAFETY: the mask keeps the offset, a multiple of a slot's size, within what `base` points at; with the mask of
    // zero that is slot 0 of either.
    unsafe { &*base.byte_add(offset) }
}

/// Enables or disables the look-up of handles: for the first initialization and the last finalization.
pub(crate) fn enable(enabled: bool) {
    let bytes = if enabled { reserve() } else { 0 };
    let mask = if bytes == 0 { 0 } else { (bytes - 1) & !(SLOT_BYTES - 1) };
    // Release pairs with the Acquire in `slot_of`.
    STRETCH.mask.store(mask, Ordering::Release);
    let quick = match bytes >= QUICK_BYTES && PairSwap::supported().is_some() {
        true => STRETCH.base.load(Ordering::Relaxed).cast(),
        false => no_slots(),
    };
    QUICK_TABLE.store(quick, Ordering::Release);
}

fn no_slots() -> *mut c_void {
    (&raw const NO_SLOTS.0).cast_mut().cast()
}

/// Makes all handles of the process stale, for a process without the objects that they refer to, such as a child of
/// `fork`.
/// Async-signal-safe.
pub fn disable_handles() {
    QUICK_TABLE.store(no_slots(), Ordering::Release);
    STRETCH.mask.store(0, Ordering::Release);
}

/// Whether handles can be looked up.
pub(crate) fn is_enabled() -> bool {
    STRETCH.mask.load(Ordering::Relaxed) != 0
}

/// Number of slots, slot 0 included; 0 before the first initialization.
pub(crate) fn capacity() -> usize {
    STRETCH.bytes.load(Ordering::Acquire) / SLOT_BYTES
}

/// The slot at a position below [`capacity`], whether the interface is initialized or not.
pub(crate) fn slot_at(position: usize) -> &'static Slot {
    assert!(position < capacity().max(1), "a slot beyond the stretch");
    // SAFETY: `bytes` is set after `base`, and the position lies within.
    unsafe { &*STRETCH.base.load(Ordering::Acquire).add(position) }
}

/// The index that a handle to this slot has.
pub(crate) fn index_of(position: usize) -> u32 {
    (position * SLOT_BYTES) as u32
}

/// The position of the slot of a handle's index.
pub(crate) fn position_of(index: u32) -> usize {
    index as usize / SLOT_BYTES
}

/// Reserves the range once; returns its length in bytes, 0 if there is no address space. Callers hold the pool's lock.
fn reserve() -> usize {
    let have = STRETCH.bytes.load(Ordering::Acquire);
    if have != 0 {
        return have;
    }
    let mut bytes = MOST_BYTES;
    // A limit on address space gets a smaller table.
    while bytes >= 1 << 16 {
        // SAFETY: a new anonymous mapping touches nothing that exists.
        let at = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE,
                -1,
                0,
            )
        };
        if at != libc::MAP_FAILED {
            let base = at.cast::<Slot>();
            // SAFETY: the first slot of a fresh mapping, zeroed and aligned to a page; no other thread has it yet.
            unsafe { copy_empty_slot(&*base) };
            origin::set(at.cast());
            STRETCH.base.store(base, Ordering::Release);
            STRETCH.bytes.store(bytes, Ordering::Release);
            return bytes;
        }
        bytes /= 4;
    }
    0
}

fn copy_empty_slot(slot: &Slot) {
    slot.word.store(usize::MAX, Ordering::Relaxed);
    slot.session.store(usize::MAX, Ordering::Relaxed);
    slot.state().store(NO_STATE.0, Ordering::Relaxed);
}
