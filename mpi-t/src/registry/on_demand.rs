//! On-demand metrics: objects that are too short-lived to have instruments each get them when a handle is allocated.
//!
//! The owner of a kind of object declares its block with a function that opens the block of one object
//! ([`Registry::declare_on_demand`]). Allocating a handle calls that function, which opens the handle while it prevents
//! the object from being freed. So objects without handles cost nothing.
//!
//! Locks: the registry holds none when it calls; the owner holds its own while it opens the handle, which takes the
//! pool's. An owner ends handles in the same order. The call may wait for the owner's lock, so allocating such a handle
//! is not for signal handlers, and refused within callbacks of events whose raising thread may hold that lock.
//! Invariant: a handle is opened only while its object exists, so none reads a freed block.
//! Not here: blocks that are bound permanently (`pvars`).

use std::collections::HashMap;

use mpi_errors::Result;
use rustc_hash::FxBuildHasher;

use super::Registry;
use super::opening::{Elements, OnDemandSource};
use crate::handle::pool;
use crate::memory::{words_of, words_of_rows};
use crate::{HeapMemory, Instruments, TResult, place, retire};

/// The argument with which an owner opens a handle; see [`Registry::declare_on_demand`].
pub type Open<'a, B> = dyn FnMut(&'static [B]) -> TResult<()> + 'a;

impl Registry {
    /// Declares a block's variables for objects that get their block when a handle is allocated. An object for which a
    /// block was bound ([`Registry::bind`]) has that block; `open_for` provides the others.
    ///
    /// `open_for` gets the word of the object's handle (0 for the process), which may be any word. It finds the object,
    /// keeps it from being freed, calls `open` with its block (or its rows, each of which becomes an element) and
    /// returns its result; or it returns [`TError::INVALID`](crate::TError::INVALID) when there is no such object. It
    /// may wait for a lock under which the caller also calls [`end_handles`], but for none under which handles are
    /// allocated.
    ///
    /// Errors: as [`Registry::declare`].
    pub fn declare_on_demand<B: Instruments>(
        &self,
        open_for: impl Fn(usize, &mut Open<'_, B>) -> TResult<()> + Send + Sync + 'static,
    ) -> Result<()> {
        const { assert!(size_of::<B>() / 8 <= u16::MAX as usize, "a stride can express the length of a block") }
        let words = |rows: &'static [B]| Elements {
            words: words_of_rows(rows),
            stride: (size_of::<B>() / 8) as u16,
            count: u32::try_from(rows.len()).unwrap_or(u32::MAX),
        };
        let on_demand =
            OnDemandSource::new(Box::new(move |object, open| open_for(object, &mut |rows| open(words(rows)))));
        self.declare_with::<B>(Some(on_demand))
    }
}

/// Ends all handles that read the block of an object that is freed. They must still be freed. After this the block may
/// be retired. The caller holds the owner's lock, so no handle is being opened for it.
pub fn end_handles<B: Instruments>(block: &'static B) {
    pool::end_handles_of(words_of(block));
}

/// The blocks of those objects of one kind that have had a handle, by the objects' handle words.
///
/// For the owner of the objects, under its lock.
#[derive(Debug)]
pub struct OnDemand<B: Instruments>(HashMap<usize, &'static B, FxBuildHasher>);

impl<B: Instruments> Default for OnDemand<B> {
    fn default() -> Self {
        OnDemand(HashMap::default())
    }
}

impl<B: Instruments> OnDemand<B> {
    /// Whether no live object has a block.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the predicate is true of the block of any object.
    pub fn any(&self, mut is_so: impl FnMut(&'static B) -> bool) -> bool {
        self.0.values().any(|block| is_so(block))
    }

    /// The block of an object, if it has one.
    #[inline]
    pub fn get(&self, object: usize) -> Option<&'static B> {
        if self.0.is_empty() { None } else { self.0.get(&object).copied() }
    }

    /// Opens a handle on the block of an object that exists; a new block is filled in first.
    pub fn open_for(&mut self, object: usize, fill: impl FnOnce(&'static B), open: &mut Open<'_, B>) -> TResult<()> {
        let block = self.0.entry(object).or_insert_with(|| {
            let block = place(&HeapMemory, "");
            fill(block);
            block
        });
        open(std::slice::from_ref(*block))
    }

    /// Ends the handles of an object that is freed.
    #[inline]
    pub fn end(&mut self, object: usize) {
        if !self.0.is_empty() {
            self.end_watched(object);
        }
    }

    #[cold]
    fn end_watched(&mut self, object: usize) {
        if let Some(block) = self.0.remove(&object) {
            end_handles(block);
            retire(&HeapMemory, block);
        }
    }
}
