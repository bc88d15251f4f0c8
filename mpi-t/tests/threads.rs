//! Readers on other threads while the engine counts and handles are allocated, freed, started and stopped.
#![allow(unsafe_code)] // one of them reads as in C

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use mpi_core::{Handle, abi};
use mpi_t::{Counter, Level, PvarClass, Registry, Value};

mpi_t::instruments! {
    /// The fields that are read.
    struct Block: NoObject {
        /// Events.
        events: Counter = { name: "events", class: Counter, type: u64, unit: "events", category: "x" },
        /// Depth.
        depth: Level = { name: "depth", class: HighWatermark, type: u64, unit: "items", category: "x" },
    }
}

const EVENTS: u64 = 200_000;

/// Reports the end of the engine even when it panics, so that no thread waits for ever.
struct Done<'a>(&'a AtomicBool);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

fn number(read: mpi_t::TResult<Value>) -> u64 {
    read.expect("a live handle").as_u64().expect("a whole number")
}

#[test]
fn no_reader_sees_a_counter_go_back_and_no_event_is_lost() {
    let registry = Registry::with_environment([]);
    registry.init_thread().expect("address space for handles");
    let block = Block::detached();
    registry.register(block).expect("new names");
    let session = registry.pvar_session_create().expect("room");
    let started = |name, class: PvarClass, session| -> Handle {
        let index = registry.pvar_get_index(name, class as i32).expect("declared");
        let handle = registry.pvar_handle_alloc(session, index, None).expect("room").0;
        registry.pvar_start(session, handle).expect("can be started");
        handle
    };
    let (read, taken) =
        (started("events", PvarClass::Counter, session), started("events", PvarClass::Counter, session));
    let mark = started("depth", PvarClass::HighWatermark, session);
    let done = AtomicBool::new(false);
    let sum = std::thread::scope(|scope| {
        scope.spawn(|| {
            let _done = Done(&done);
            for i in 0..EVENTS {
                block.events.incr();
                block.depth.raise(1 + i % 7);
                block.depth.lower(1 + i % 7);
            }
        });
        scope.spawn(|| {
            let (mut last, mut highest) = (0, 0);
            while !done.load(Relaxed) {
                let (now, high) =
                    (number(registry.pvar_read(session, read)), number(registry.pvar_read(session, mark)));
                assert!(now >= last && high >= highest && high <= 7, "{last} {now} {highest} {high}");
                (last, highest) = (now, high);
            }
        });
        scope.spawn(|| {
            // Slots are freed and reused beside those that are read.
            while !done.load(Relaxed) {
                let session = registry.pvar_session_create().expect("room");
                let mine = started("events", PvarClass::Counter, session);
                assert!(number(registry.pvar_read(session, mine)) <= EVENTS);
                registry.pvar_stop(session, mine).expect("live");
                let stopped = number(registry.pvar_read(session, mine));
                assert_eq!(number(registry.pvar_read(session, mine)), stopped);
                started("depth", PvarClass::HighWatermark, session);
                registry.pvar_session_free(session).expect("live");
            }
        });
        let taker = scope.spawn(|| {
            let mut sum = 0;
            while !done.load(Relaxed) {
                sum += registry.pvar_readreset(session, taken).expect("a counter")[0].as_u64().expect("a whole number");
                // And as in C, which takes another path.
                let mut part = 0u64;
                // SAFETY: room for one u64.
                let code = unsafe { mpi_t::pvar_readreset_raw(session.0, taken.0, (&raw mut part).cast()) };
                assert_eq!(code, abi::MPI_SUCCESS);
                sum += part;
            }
            sum
        });
        taker.join().expect("no panic")
    });
    let rest = registry.pvar_readreset(session, taken).expect("a counter")[0].as_u64().expect("a whole number");
    assert_eq!(sum + rest, EVENTS, "every event is counted exactly once");
    assert_eq!(number(registry.pvar_read(session, read)), EVENTS);
    assert_eq!(number(registry.pvar_read(session, mark)), 7);
}
