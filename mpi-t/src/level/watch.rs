//! The watermarks of a level: the handles whose marks a new level moves.
//!
//! A level stores the values above and below which some running mark must be moved; only then it calls this module. The
//! marks are in the state words of the handles. Starting, resetting and writing a watermark ([`expect`]) only widens
//! the range that the level reports, without a lock, so it is async-signal-safe; this module narrows it again, called
//! by the level.
//!
//! Invariant: after `expect` of a mark, the level reports every value beyond it until the mark has moved.
//! Not here: the marks' own steps (`state_word::state`).

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use mpi_core::ShortMutex;

use crate::Level;
use crate::state_word::kind::Kind;
use crate::state_word::state;

/// The watchers of each watched level, by the level's address.
static WATCHERS: ShortMutex<BTreeMap<usize, Vec<Watcher>>> = ShortMutex::new(BTreeMap::new());

#[derive(Debug, Clone, Copy)]
struct Watcher {
    kind: Kind,
    state: &'static AtomicU64,
}

/// A level rose above a mark.
#[cold]
pub(crate) fn rose(level: &Level, now: u64) {
    passed(level, Kind::High, now);
}

/// As [`rose`], for a level that may rise while this thread is using the watchers: they take memory, and the level
/// counts that memory. The watchers are then updated when the thread has finished.
#[cold]
pub(crate) fn rose_anywhere(level: &'static Level, now: u64) {
    if !AMONG.get() {
        return rose(level, now);
    }
    let (missed, most) = MISSED.get();
    debug_assert!(missed.is_none_or(|missed| std::ptr::eq(missed, level)), "one level counts the watchers' memory");
    MISSED.set((Some(level), most.max(now)));
}

/// A level fell below a mark.
#[cold]
pub(crate) fn fell(level: &Level, now: u64) {
    passed(level, Kind::Low, now);
}

/// Adds a watermark, running or not.
pub(crate) fn add(level: &'static Level, kind: Kind, state: &'static AtomicU64) {
    with_watchers(|watchers| watchers.entry(address(level)).or_default().push(Watcher { kind, state }));
    if let Some(mark) = state::running_mark(state) {
        expect(level, kind, mark);
        state::follow(state, kind, level.get());
    }
}

/// Removes a watermark whose handle is freed.
pub(crate) fn remove(level: &'static Level, state: &'static AtomicU64) {
    with_watchers(|watchers| {
        if let Some(of_level) = watchers.get_mut(&address(level)) {
            of_level.retain(|watcher| !std::ptr::eq(watcher.state, state));
            narrow(level, Kind::High, of_level);
            narrow(level, Kind::Low, of_level);
            if of_level.is_empty() {
                watchers.remove(&address(level));
            }
        }
    });
}

/// Makes the level report when it passes this mark. Async-signal-safe.
///
/// A level that another thread changes at the same time may be seen only at its next change; a thread that starts its
/// own watermark misses nothing.
pub(crate) fn expect(level: &Level, kind: Kind, mark: u64) {
    // SeqCst, here and in `narrow`: either `narrow` sees the mark, which is stored before this, or this comes after
    // the word that `narrow` stores.
    match kind {
        Kind::High => level.above.fetch_max(!mark, Ordering::SeqCst),
        _ => level.below.fetch_max(mark, Ordering::SeqCst),
    };
}

fn passed(level: &Level, kind: Kind, now: u64) {
    with_watchers(|watchers| {
        let of_level = watchers.get(&address(level)).map_or(&[][..], Vec::as_slice);
        for watcher in of_level.iter().filter(|watcher| watcher.kind == kind) {
            state::follow(watcher.state, kind, now);
        }
        narrow(level, kind, of_level);
    });
}

/// Sets the range that the level reports to the one that the running marks need.
fn narrow(level: &Level, kind: Kind, of_level: &[Watcher]) {
    let (word, needed): (_, &dyn Fn(u64) -> u64) = match kind {
        Kind::High => (&level.above, &|mark| !mark),
        _ => (&level.below, &|mark| mark),
    };
    let most = || {
        let of_kind = of_level.iter().filter(|watcher| watcher.kind == kind);
        of_kind.filter_map(|watcher| state::running_mark(watcher.state)).map(needed).max().unwrap_or(0)
    };
    loop {
        let needed = most();
        word.store(needed, Ordering::SeqCst);
        // A mark set meanwhile is seen now, or its `expect` is still to come.
        if most() <= needed {
            return;
        }
    }
}

thread_local! {
    /// Whether this thread is using the watchers.
    static AMONG: Cell<bool> = const { Cell::new(false) };
    /// The levels that rose meanwhile, and how far.
    static MISSED: Cell<(Option<&'static Level>, u64)> = const { Cell::new((None, 0)) };
}

/// Runs a function on the watchers; the function must not panic.
fn with_watchers<R>(work: impl FnOnce(&mut BTreeMap<usize, Vec<Watcher>>) -> R) -> R {
    let outcome = {
        let mut watchers = WATCHERS.lock();
        AMONG.set(true);
        let outcome = work(&mut watchers);
        AMONG.set(false);
        outcome
    };
    if let (Some(level), now) = MISSED.replace((None, 0)) {
        rose(level, now);
    }
    outcome
}

fn address(level: &Level) -> usize {
    std::ptr::from_ref(level) as usize
}
