//! The watermarks of a level: the handles whose marks a new level moves.
//!
//! A level stores the values above and below which some running mark must be moved; only then it calls this module. The
//! marks are in the state words of the handles. Starting, resetting and writing a watermark ([`expect`]) only widens
//! the range that the level reports, without a lock, so it is async-signal-safe; this module narrows it again, called
//! by the level.
//!
//! Invariant: after `expect` of a mark, the level reports every value beyond it until the mark has moved. A peak that is
//! kept counts as such a mark.
//! Not here: the marks' own steps (`state_word::state`).

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

use mpi_core::ShortMutex;

use crate::Level;
use crate::level::PEAK_KEPT;
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

/// Makes the level report, and keep, each value above the present one and its peak.
pub(crate) fn keep_peak(level: &Level) {
    with_watchers(|watchers| {
        level.below.store(PEAK_KEPT | level.get(), Ordering::Relaxed);
        narrow(level, Kind::High, watchers.get(&address(level)).map_or(&[][..], Vec::as_slice));
    });
}

/// The peak of a level, if it is kept.
pub(crate) fn peak_of(level: &Level) -> Option<u64> {
    let word = level.below.load(Ordering::Relaxed);
    (word & PEAK_KEPT != 0).then_some(word & !PEAK_KEPT)
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
        if let Some(peak) = peak_of(level)
            && kind == Kind::High
        {
            // Only the holder of the engine's lock gets here, so no other store is lost.
            level.below.store(PEAK_KEPT | peak.max(now), Ordering::Relaxed);
        }
        narrow(level, kind, of_level);
    });
}

/// Sets the range that the level reports to the one that the running marks need.
fn narrow(level: &Level, kind: Kind, of_level: &[Watcher]) {
    if kind == Kind::Low && peak_of(level).is_some() {
        return;
    }
    let (word, needed): (_, &dyn Fn(u64) -> u64) = match kind {
        Kind::High => (&level.above, &|mark| !mark),
        _ => (&level.below, &|mark| mark),
    };
    let most = || {
        let of_kind = of_level.iter().filter(|watcher| watcher.kind == kind);
        // A peak that is kept is a mark that always runs.
        let peak = peak_of(level).filter(|_| kind == Kind::High);
        of_kind.filter_map(|watcher| state::running_mark(watcher.state)).chain(peak).map(needed).max().unwrap_or(0)
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
