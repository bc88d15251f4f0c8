//! Model of threads that use a handle in every order: the protocol files themselves, on loom's atomics.
//!
//! The library's atomics come from its module `sync`; here the same files are compiled against another one.
#![allow(dead_code, unsafe_code)] // the models use a part of the files; sources are found through pointers as there

mod sync {
    pub(crate) use loom::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};

    /// As in the library.
    pub(crate) struct Pair {
        pub(crate) first: AtomicU64,
        pub(crate) second: AtomicU64,
    }

    /// Swaps a pair in three steps, with no certificate in between: what a reader may find while one thread takes steps
    /// is also what it may find of a swap in one step, or no certificate.
    #[derive(Clone, Copy)]
    pub(crate) struct PairSwap(());

    impl PairSwap {
        pub(crate) fn supported() -> Option<PairSwap> {
            Some(PairSwap(()))
        }

        pub(crate) fn compare_exchange(self, pair: &Pair, current: (u64, u64), new: (u64, u64)) -> bool {
            if pair.second.load(Ordering::SeqCst) != current.1 {
                return false;
            }
            pair.second.store(0, Ordering::SeqCst);
            // As on x86-64, where each store is visible before the next one.
            fence(Ordering::SeqCst);
            let swapped = compare_exchange(&pair.first, current.0, new.0).is_ok();
            pair.second.store(if swapped { new.1 } else { current.1 }, Ordering::Release);
            swapped
        }
    }

    pub(crate) fn compare_exchange(word: &AtomicU64, current: u64, new: u64) -> Result<u64, u64> {
        word.compare_exchange(current, new, Ordering::SeqCst, Ordering::SeqCst)
    }
}

#[path = "../src/state_word/kind.rs"]
mod kind_file;
#[path = "../src/handle/slot.rs"]
mod slot_file;
#[path = "../src/state_word/state.rs"]
mod state_file;
mod handle {
    pub(crate) mod origin {
        pub(crate) fn address() -> usize {
            0
        }
    }
}
mod wide_model {
    //! Cells of wide states, without the list of free ones: the models check the words.
    pub(crate) const NAME_BITS: u32 = 57;
    static CELLS: std::sync::Mutex<Vec<u64>> = std::sync::Mutex::new(Vec::new());

    pub(crate) fn keep(value: u64) -> Option<u64> {
        let mut cells = CELLS.lock().expect("no panic");
        cells.push(value);
        Some(cells.len() as u64 - 1)
    }

    pub(crate) fn value(name: u64) -> u64 {
        CELLS.lock().expect("no panic").get(name as usize).copied().unwrap_or(0)
    }

    pub(crate) fn give_back(_: u64) {}
}

mod state_word {
    pub(crate) use crate::kind_file as kind;
    pub(crate) use crate::state_file as state;
    pub(crate) use crate::wide_model as wide;
}

use std::sync::Arc;

use loom::thread;
use slot_file::{ArrayView, Facts, Slot, SlotView, Traits};
use state_word::kind::Kind;
use state_word::state::{self, Format, HandleEnded, State};
use sync::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};

fn initial(kind: Kind, running: bool, source: u64) -> AtomicU64 {
    AtomicU64::new(State::initial(kind, 1, Format::U64, running, source).0)
}

fn incr(source: &AtomicU64) {
    source.store(source.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
}

#[test]
fn a_counter_read_while_started_and_stopped_is_never_too_much_and_never_less_than_before() {
    loom::model(|| {
        let word = Arc::new(initial(Kind::Sum, false, 10));
        let source = Arc::new(AtomicU64::new(10));
        let (engine_word, engine_source) = (word.clone(), source.clone());
        let engine = thread::spawn(move || {
            incr(&engine_source);
            state::set_running(&*engine_word, &engine_source, Kind::Sum, true).expect("not ended");
            incr(&engine_source);
            state::set_running(&*engine_word, &engine_source, Kind::Sum, false).expect("not ended");
            incr(&engine_source);
        });
        let first = state::read(&word, &source, Kind::Sum).expect("not ended");
        let second = state::read(&word, &source, Kind::Sum).expect("not ended");
        assert!(first <= second && second <= 1, "{first} then {second}");
        engine.join().expect("no panic");
        assert_eq!(state::read(&word, &source, Kind::Sum), Ok(1));
    });
}

#[test]
fn the_values_of_readreset_add_up_to_all_events() {
    loom::model(|| {
        let word = Arc::new(initial(Kind::Sum, true, 0));
        let source = Arc::new(AtomicU64::new(0));
        let engine_source = source.clone();
        let engine = thread::spawn(move || {
            incr(&engine_source);
            incr(&engine_source);
        });
        let (other_word, other_source) = (word.clone(), source.clone());
        let other =
            thread::spawn(move || state::reset(&*other_word, &other_source, Kind::Sum).expect("not ended").value);
        let mine = state::reset(&*word, &source, Kind::Sum).expect("not ended").value;
        let others = other.join().expect("no panic");
        engine.join().expect("no panic");
        let rest = state::read(&word, &source, Kind::Sum).expect("not ended");
        assert_eq!(mine + others + rest, 2);
    });
}

#[test]
fn a_high_water_mark_misses_no_level_while_it_runs() {
    loom::model(|| {
        let word = Arc::new(initial(Kind::High, true, 0));
        let source = Arc::new(AtomicU64::new(0));
        let (engine_word, engine_source) = (word.clone(), source.clone());
        let engine = thread::spawn(move || {
            for level in [2, 1] {
                engine_source.store(level, Ordering::Relaxed);
                state::follow(&engine_word, Kind::High, level);
            }
        });
        let first = state::read(&word, &source, Kind::High).expect("not ended");
        let second = state::read(&word, &source, Kind::High).expect("not ended");
        assert!(first <= second, "{first} then {second}");
        engine.join().expect("no panic");
        assert_eq!(state::read(&word, &source, Kind::High), Ok(2));
    });
}

#[test]
fn a_handle_of_a_freed_object_reads_its_own_values_or_none() {
    loom::model(|| {
        let word = Arc::new(initial(Kind::Mirror, true, 5));
        let source = Arc::new(AtomicU64::new(5));
        let (owner_word, owner_source) = (word.clone(), source.clone());
        let owner = thread::spawn(move || {
            state::end(&*owner_word);
            // The memory belongs to another object from here on.
            owner_source.store(1000, Ordering::Relaxed);
        });
        assert!(matches!(state::read(&word, &source, Kind::Mirror), Ok(5) | Err(HandleEnded)));
        assert!(matches!(state::set_running(&*word, &source, Kind::Mirror, true), Ok(_) | Err(HandleEnded)));
        owner.join().expect("no panic");
        assert_eq!(state::read(&word, &source, Kind::Mirror), Err(HandleEnded));
    });
}

fn empty_slot() -> Slot {
    Slot {
        word: AtomicUsize::new(0),
        session: AtomicUsize::new(0),
        source: AtomicUsize::new(0),
        elements: AtomicPtr::new(std::ptr::null_mut()),
        own: sync::Pair { first: AtomicU64::new(0), second: AtomicU64::new(0) },
        facts: AtomicU64::new(0),
        variable: AtomicU32::new(0),
        generation: AtomicU32::new(0),
    }
}

fn look_for(handle: usize) -> SlotView {
    let facts = Facts::of(Traits {
        kind: Kind::Sum,
        value_format: handle as u8,
        readonly: false,
        continuous: false,
        in_vectors: true,
        in_eights: false,
        handles_word: 0,
        stride: 1,
        count: handle as u32,
    });
    SlotView {
        facts,
        source: handle as *mut AtomicU64,
        elements: (handle + 64) as *mut AtomicU64,
        variable: handle as u32,
    }
}

#[test]
fn a_look_at_a_slot_sees_one_handles_facts_while_it_is_freed_and_reused() {
    let mut model = loom::model::Builder::new();
    // Sixteen stores in a row: three switches in between reach every pair of them.
    model.preemption_bound = Some(3);
    for (session, handle) in [(7, 1), (8, 2)] {
        model.check(move || {
            let slot = Arc::new(empty_slot());
            slot.open(7, 1, look_for(1), State::new(0, 1, Format::Other, true));
            let pool_slot = slot.clone();
            let pool = thread::spawn(move || {
                pool_slot.close();
                pool_slot.open(8, 2, look_for(2), State::new(0, 2, Format::Other, true));
            });
            if let Some(view) = slot.view(session, handle) {
                let whole = look_for(handle);
                assert_eq!((view.facts, view.variable), (whole.facts, whole.variable));
                assert_eq!((view.source, view.elements), (whole.source, whole.elements));
            }
            pool.join().expect("no panic");
            assert!(slot.view(7, 1).is_none() && slot.view(8, 2).is_some() && slot.view(7, 2).is_none());
        });
    }
}

/// The read by certificate (`read`), load by load: the value, or `None` where the longer way reads. Acquire keeps the
/// order.
fn read_by_certificate(slot: &Slot, source: &AtomicU64, session: usize, handle: usize) -> Option<(usize, u64)> {
    let state = slot.state().load(Ordering::Acquire);
    let address = slot.source(Ordering::Acquire) as usize;
    let value = source.load(Ordering::Acquire);
    let sum = slot_file::CERTIFIED.wrapping_add(session as u64).wrapping_add(handle as u64).wrapping_add(state);
    (slot.own.second.load(Ordering::Relaxed) == sum).then(|| (address, State(state).narrow_own().wrapping_add(value)))
}

#[test]
fn a_read_by_certificate_is_never_too_much_and_never_less_than_before() {
    loom::model(|| {
        let (slot, source) = (Arc::new(empty_slot()), Arc::new(AtomicU64::new(10)));
        slot.open(7, 64, look_for(1), State::initial(Kind::Sum, 1, Format::U64, false, 10));
        let (engine_slot, engine_source) = (slot.clone(), source.clone());
        let engine = thread::spawn(move || {
            incr(&engine_source);
            state::set_running(&*engine_slot, &engine_source, Kind::Sum, true).expect("not ended");
            incr(&engine_source);
            state::set_running(&*engine_slot, &engine_source, Kind::Sum, false).expect("not ended");
            incr(&engine_source);
        });
        let by_certificate = || read_by_certificate(&slot, &source, 7, 64).map(|(_, value)| value);
        let (first, second) = (by_certificate(), by_certificate());
        assert!(first.unwrap_or(0) <= second.unwrap_or(1) && second.unwrap_or(1) <= 1, "{first:?} then {second:?}");
        engine.join().expect("no panic");
        assert_eq!(by_certificate(), None, "it is stopped");
        state::set_running(&*slot, &source, Kind::Sum, true).expect("not ended");
        assert_eq!(by_certificate(), Some(1));
    });
}

#[test]
fn a_reset_and_a_read_by_certificate_count_no_event_twice() {
    loom::model(|| {
        let (slot, source) = (Arc::new(empty_slot()), Arc::new(AtomicU64::new(0)));
        slot.open(7, 64, look_for(1), State::initial(Kind::Sum, 1, Format::U64, true, 0));
        let (other_slot, other_source) = (slot.clone(), source.clone());
        let other = thread::spawn(move || {
            incr(&other_source);
            state::reset(&*other_slot, &other_source, Kind::Sum).expect("not ended");
            incr(&other_source);
        });
        let value = read_by_certificate(&slot, &source, 7, 64);
        assert!(value.is_none_or(|(_, value)| value <= 1), "{value:?} of one event on each side of a reset");
        other.join().expect("no panic");
        assert_eq!(read_by_certificate(&slot, &source, 7, 64).map(|(_, value)| value), Some(1));
    });
}

#[test]
fn a_certificate_is_of_one_handle_in_one_session() {
    loom::model(|| {
        let (slot, source) = (Arc::new(empty_slot()), Arc::new(AtomicU64::new(0)));
        let open = |slot: &Slot, (session, handle), facts| {
            slot.open(session, handle, look_for(facts), State::initial(Kind::Sum, facts as u32, Format::U64, true, 0));
        };
        open(&slot, (7, 64), 1);
        let pool_slot = slot.clone();
        let pool = thread::spawn(move || {
            pool_slot.close();
            state::close(&*pool_slot);
            open(&pool_slot, (8, 1 << 26 | 64), 2);
        });
        let old = read_by_certificate(&slot, &source, 7, 64);
        assert!(old.is_none_or(|(address, _)| address == 1), "another handle's source was read: {old:?}");
        pool.join().expect("no panic");
        assert_eq!(read_by_certificate(&slot, &source, 7, 64), None, "it is freed");
        assert_eq!(read_by_certificate(&slot, &source, 7, 1 << 26 | 64), None, "another session");
        assert_eq!(read_by_certificate(&slot, &source, 8, 1 << 26 | 64), Some((2, 0)));
    });
}

/// The read of an array by its certificate (`wide_read`), of one element: the view, and the value; `None` where the longer way
/// reads.
fn read_array(slot: &Slot, source: &AtomicU64, session: usize, handle: usize) -> Option<(ArrayView, u64)> {
    let (view, certified) = slot.certified_array(session, handle)?;
    let value = source.load(Ordering::Relaxed);
    slot.is_certified(certified).then_some((view, value))
}

#[test]
fn the_certificate_of_an_array_is_of_one_handle_and_its_facts() {
    let mut model = loom::model::Builder::new();
    // As above, but each swap has three stores.
    model.preemption_bound = Some(3);
    model.check(|| {
        let (slot, source) = (Arc::new(empty_slot()), Arc::new(AtomicU64::new(5)));
        slot.open(7, 64, look_for(1), State::new(0, 1, Format::Other, true));
        let (pool_slot, other_source) = (slot.clone(), source.clone());
        let pool = thread::spawn(move || {
            pool_slot.close();
            state::close(&*pool_slot);
            other_source.store(1000, Ordering::Relaxed);
            pool_slot.open(8, 1 << 26 | 64, look_for(2), State::new(0, 2, Format::Other, true));
        });
        if let Some((view, value)) = read_array(&slot, &source, 7, 64) {
            let of = look_for(1);
            assert_eq!((view.facts, value), (of.facts, 5));
            assert_eq!((view.source, view.elements), (of.source, of.elements));
        }
        pool.join().expect("no panic");
        assert!(read_array(&slot, &source, 7, 64).is_none(), "it is freed");
        assert!(read_array(&slot, &source, 7, 1 << 26 | 64).is_none(), "another session");
        assert!(read_array(&slot, &source, 8, 1 << 26 | 64).is_some_and(|(view, _)| view.facts.count() == 2));
    });
}

#[test]
fn an_array_of_a_freed_object_is_read_with_its_own_values_or_not() {
    loom::model(|| {
        let (slot, source) = (Arc::new(empty_slot()), Arc::new(AtomicU64::new(5)));
        slot.open(7, 64, look_for(1), State::new(0, 1, Format::Other, false));
        assert!(read_array(&slot, &source, 7, 64).is_none(), "it is stopped");
        state::mark_running(&*slot, true).expect("not ended");
        let (owner_slot, owner_source) = (slot.clone(), source.clone());
        let owner = thread::spawn(move || {
            state::end(&*owner_slot);
            // The memory belongs to another object from here on.
            owner_source.store(1000, Ordering::Relaxed);
        });
        assert!(read_array(&slot, &source, 7, 64).is_none_or(|(_, value)| value == 5));
        owner.join().expect("no panic");
        assert!(read_array(&slot, &source, 7, 64).is_none(), "it has ended");
    });
}
