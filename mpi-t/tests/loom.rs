//! Model of threads that use a handle in every order: the protocol files themselves, on loom's atomics.
//!
//! The library's atomics come from its module `sync`; here the same files are compiled against another one.
#![allow(dead_code, unsafe_code)] // the models use a part of the files; sources are found through pointers as there

mod sync {
    pub(crate) use loom::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering, fence};

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
use slot_file::{Facts, Slot, SlotView, Traits};
use state_word::kind::Kind;
use state_word::state::{self, Format, HandleEnded, State};
use sync::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

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
            state::set_running(&engine_word, &engine_source, Kind::Sum, true).expect("not ended");
            incr(&engine_source);
            state::set_running(&engine_word, &engine_source, Kind::Sum, false).expect("not ended");
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
            thread::spawn(move || state::reset(&other_word, &other_source, Kind::Sum).expect("not ended").value);
        let mine = state::reset(&word, &source, Kind::Sum).expect("not ended").value;
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
            state::end(&owner_word);
            // The memory belongs to another object from here on.
            owner_source.store(1000, Ordering::Relaxed);
        });
        assert!(matches!(state::read(&word, &source, Kind::Mirror), Ok(5) | Err(HandleEnded)));
        assert!(matches!(state::set_running(&word, &source, Kind::Mirror, true), Ok(_) | Err(HandleEnded)));
        owner.join().expect("no panic");
        assert_eq!(state::read(&word, &source, Kind::Mirror), Err(HandleEnded));
    });
}

fn empty_slot() -> Slot {
    Slot {
        word: AtomicUsize::new(0),
        session: AtomicUsize::new(0),
        source: AtomicPtr::new(std::ptr::null_mut()),
        state: AtomicU64::new(0),
        elements: AtomicPtr::new(std::ptr::null_mut()),
        facts: AtomicU64::new(0),
        variable: AtomicUsize::new(0),
        generation: AtomicUsize::new(0),
    }
}

fn look_for(handle: usize) -> SlotView {
    let facts = Facts::of(Traits {
        kind: Kind::Sum,
        value_format: handle as u8,
        readonly: false,
        continuous: false,
        handles_word: 0,
        stride: 1,
        count: handle as u32,
    });
    SlotView { facts, source: handle as *mut AtomicU64, elements: (handle + 64) as *mut AtomicU64, variable: handle }
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

/// The fast read of `table`, step by step, against a slot that is freed and given to another variable.
#[test]
fn the_fast_read_never_stores_a_value_in_another_handles_format() {
    loom::model(|| {
        let slot = Arc::new(empty_slot());
        let open = |slot: &Slot, handle: usize, format| {
            slot.open(7, handle, look_for(handle), State::initial(Kind::Sum, handle as u32, format, true, 0));
        };
        open(&slot, 1, Format::U64);
        let pool_slot = slot.clone();
        let pool = thread::spawn(move || {
            pool_slot.close();
            pool_slot.open(7, 2, look_for(2), State::initial(Kind::Sum, 2, Format::U32, true, 0));
        });
        let state = State(slot.state.load(Ordering::Acquire));
        let mine = slot.word.load(Ordering::Relaxed) == 1 && slot.session.load(Ordering::Relaxed) == 7;
        let source = slot.source.load(Ordering::Acquire) as usize;
        let whole = mine && slot.state.load(Ordering::Relaxed) == state.0;
        if whole && state.is_running_u64() {
            assert!(source == 1 || source == 2, "always static memory");
        }
        assert!(!(mine && state.is_running_u32()), "a handle that was u64 is not written as u32");
        pool.join().expect("no panic");
    });
}
