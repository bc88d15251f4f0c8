//! A live handle of MPI_T with its facts, and the steps on all of its elements.
//!
//! Invariant: no lock, no allocation, no call out of this crate: async-signal-safe and thread-safe at all times.
//! The elements of an array are updated one after the other; each of them is exact for itself.
//! Not here: the calls (`access`), how words become values (`value_format`), allocating handles (`pool`).
#![allow(unsafe_code)] // sources and states are found through pointers

use std::sync::atomic::AtomicU64;

use mpi_core::Handle;
use mpi_core::abi::MPI_T_PVAR_ALL_HANDLES;

use crate::handle::slot::{Slot, SlotView};
use crate::handle::value_format::{Scalar, ValueFormat};
use crate::handle::{pool, refusal, table};
use crate::level::watch;
use crate::state_word::state::{self, HandleEnded, State, StateMemory, Stepped};
use crate::{Level, TError, TResult};

/// A handle that was found to be live, with consistent facts.
#[derive(Clone, Copy)]
pub(super) struct Found {
    pub(super) handle: usize,
    pub(super) slot: &'static Slot,
    pub(super) view: SlotView,
}

/// The state word of an element.
#[derive(Clone, Copy)]
pub(super) enum Word {
    /// The handle has one element.
    OfSlot(&'static Slot),
    /// It has an array of them.
    OfElement(&'static AtomicU64),
}

impl StateMemory for Word {
    #[inline(always)]
    fn word(&self) -> &AtomicU64 {
        match self {
            Word::OfSlot(slot) => slot.word(),
            Word::OfElement(word) => word,
        }
    }

    #[inline(always)]
    fn compare_exchange(&self, before: State, after: State) -> Result<u64, u64> {
        match self {
            Word::OfSlot(slot) => StateMemory::compare_exchange(*slot, before, after),
            Word::OfElement(word) => StateMemory::compare_exchange(*word, before, after),
        }
    }
}

impl Found {
    pub(super) fn value_format(&self) -> ValueFormat {
        ValueFormat::from_bits(self.view.facts.value_format())
    }

    pub(super) fn count(&self) -> usize {
        self.view.facts.count()
    }

    /// State word and source of element `i < count`.
    pub(super) fn element(&self, i: usize) -> (Word, &'static AtomicU64) {
        // SAFETY: a handle's source has `count` elements `stride` words apart, all of them static; so are the
        // elements' state words where there are some.
        unsafe {
            let source = &*self.view.source.add(i * self.view.facts.stride());
            let own = match self.view.elements.is_null() {
                true => Word::OfSlot(self.slot),
                false => Word::OfElement(&*self.view.elements.add(i)),
            };
            (own, source)
        }
    }

    /// Performs a step on every element; first on the state of an array as a whole.
    fn each(&self, mut step: impl FnMut(usize, Word, &'static AtomicU64) -> Result<(), HandleEnded>) -> TResult<()> {
        (0..self.count())
            .try_for_each(|i| {
                let (word, source) = self.element(i);
                step(i, word, source)
            })
            .map_err(|HandleEnded| self.object_freed())
    }

    pub(super) fn has_ended(&self) -> bool {
        matches!(
            state::State(self.slot.state().load(std::sync::atomic::Ordering::Acquire)).format(),
            state::Format::Ended
        )
    }

    pub(super) fn read(&self, mut each: impl FnMut(usize, Scalar)) -> TResult<()> {
        if self.has_ended() {
            return Err(self.object_freed());
        }
        let (kind, format) = (self.view.facts.kind(), self.value_format());
        self.each(|i, word, source| state::read(word.word(), source, kind).map(|bits| each(i, format.to_scalar(bits))))
    }

    pub(super) fn set_running(&self, running: bool) -> TResult<()> {
        if !self.view.elements.is_null() {
            state::mark_running(self.slot, running).map_err(|HandleEnded| self.object_freed())?;
        }
        let kind = self.view.facts.kind();
        self.each(|_, word, source| state::set_running(&word, source, kind, running).map(|step| self.watch(step)))
    }

    pub(super) fn reset(&self, mut each: impl FnMut(usize, Scalar)) -> TResult<()> {
        if self.has_ended() {
            return Err(self.object_freed());
        }
        let (kind, format) = (self.view.facts.kind(), self.value_format());
        self.each(|i, word, source| {
            state::reset(&word, source, kind).map(|step| {
                self.watch(step);
                each(i, format.to_scalar(step.value));
            })
        })
    }

    pub(super) fn write(&self, fetch: impl Fn(usize) -> Scalar) -> TResult<()> {
        if self.view.facts.readonly() {
            return Err(self.no_write());
        }
        if self.has_ended() {
            return Err(self.object_freed());
        }
        let (kind, format) = (self.view.facts.kind(), self.value_format());
        self.each(|i, word, source| {
            state::write(&word, source, kind, format.to_word(fetch(i))).map(|step| self.watch(step))
        })
    }

    #[cold]
    fn object_freed(&self) -> TError {
        refusal::object_freed(self.handle)
    }

    #[cold]
    pub(super) fn no_write(&self) -> TError {
        self.of_variable(TError::PVAR_NO_WRITE, "cannot be written or reset: it is readonly")
    }

    /// An error because of the handle's variable. The rule is printed after the variable's index.
    #[cold]
    pub(super) fn of_variable(&self, error: TError, rule: &'static str) -> TError {
        error.of_pvar(Handle(self.handle), self.view.variable as usize, rule)
    }

    /// Registers the new mark of a running watermark with its level.
    pub(super) fn watch(&self, step: Stepped) {
        if step.running && self.view.facts.is_mark() {
            // SAFETY: watermarks are declared on levels only, so the source is the first word of one.
            let level = unsafe { &*self.view.source.cast::<Level>() };
            watch::expect(level, self.view.facts.kind(), step.own);
            // The change of the level in the meantime counts too.
            state::follow(self.slot.state(), self.view.facts.kind(), level.get());
        }
    }
}

pub(super) fn find(session: usize, handle: usize) -> TResult<Found> {
    let slot = table::slot_of(handle);
    match slot.view(session, handle) {
        Some(view) if table::is_enabled() => Ok(Found { handle, slot, view }),
        _ => Err(pool::refused(session, handle)),
    }
}

/// The live handles of a session, each with its facts at that moment.
pub(super) fn all_of(session: usize) -> TResult<impl Iterator<Item = Found>> {
    if !table::is_enabled() || !pool::is_session(session) {
        return Err(pool::refused(session, MPI_T_PVAR_ALL_HANDLES));
    }
    Ok((1..pool::end_of_used()).filter_map(move |position| {
        let slot = table::slot_at(position);
        let handle = slot.word.load(std::sync::atomic::Ordering::Relaxed);
        slot.view(session, handle).map(|view| Found { handle, slot, view })
    }))
}
