//! A sampling tool reads from a signal handler whatever the interrupted thread is doing, the handle itself included.
#![allow(unsafe_code)] // installs a signal handler

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize};

use mpi_core::{Handle, abi};
use mpi_t::{Counter, Level, PvarClass, Registry};

mpi_t::instruments! {
    /// What is sampled.
    struct Block: NoObject {
        /// Events.
        events: Counter = { name: "events", class: Counter, type: u64, unit: "events", category: "x" },
        /// Depth.
        depth: Level = { name: "depth", class: HighWatermark, type: u64, unit: "items", category: "x" },
    }
}

static SESSION: AtomicUsize = AtomicUsize::new(0);
static EVENTS: AtomicUsize = AtomicUsize::new(0);
static DEPTH: AtomicUsize = AtomicUsize::new(0);
static SAMPLES: AtomicU64 = AtomicU64::new(0);
static LAST: AtomicU64 = AtomicU64::new(0);
static BUSY: AtomicBool = AtomicBool::new(false);
static WRONG: AtomicU64 = AtomicU64::new(0);

extern "C" fn sample(_: libc::c_int) {
    // The next signal may come to the harness's thread while this one's sample is under way.
    if BUSY.swap(true, Acquire) {
        return;
    }
    let session = SESSION.load(Relaxed);
    let mut value = 0u64;
    // SAFETY: room for one u64.
    let code = unsafe { mpi_t::pvar_read_raw(session, EVENTS.load(Relaxed), (&raw mut value).cast()) };
    // The counter never goes back, and it is never stopped.
    if code != abi::MPI_SUCCESS || value < LAST.swap(value, Relaxed) {
        WRONG.fetch_add(1, Relaxed);
    }
    // SAFETY: as above.
    let code = unsafe { mpi_t::pvar_readreset_raw(session, DEPTH.load(Relaxed), (&raw mut value).cast()) };
    if code != abi::MPI_SUCCESS || value > 3 {
        WRONG.fetch_add(1, Relaxed);
    }
    SAMPLES.fetch_add(1, Relaxed);
    BUSY.store(false, Release);
}

#[test]
fn reads_and_resets_in_a_signal_handler_are_right_at_any_moment() {
    let registry = Registry::with_environment([]);
    registry.init_thread().expect("address space for handles");
    let block = Block::detached();
    registry.register(block).expect("new names");
    let session = registry.pvar_session_create().expect("room");
    let watch = |name, class: PvarClass| -> Handle {
        let index = registry.pvar_get_index(name, class as i32).expect("declared");
        let handle = registry.pvar_handle_alloc(session, index, None).expect("room").0;
        registry.pvar_start(session, handle).expect("can be started");
        handle
    };
    SESSION.store(session.0, Relaxed);
    EVENTS.store(watch("events", PvarClass::Counter).0, Relaxed);
    DEPTH.store(watch("depth", PvarClass::HighWatermark).0, Relaxed);
    // SAFETY: the handler touches only atomics and calls only async-signal-safe functions.
    unsafe {
        libc::signal(libc::SIGALRM, sample as extern "C" fn(libc::c_int) as libc::sighandler_t);
        let every = libc::timeval { tv_sec: 0, tv_usec: 200 };
        libc::setitimer(
            libc::ITIMER_REAL,
            &libc::itimerval { it_interval: every, it_value: every },
            std::ptr::null_mut(),
        );
    }
    let mine = registry.pvar_session_create().expect("room");
    while SAMPLES.load(Relaxed) < 300 {
        block.events.incr();
        block.depth.raise(3);
        block.depth.lower(3);
        // Meanwhile the pool's lock is taken and slots move.
        let index = registry.pvar_get_index("depth", PvarClass::HighWatermark as i32).expect("declared");
        let handle = registry.pvar_handle_alloc(mine, index, None).expect("room").0;
        registry.pvar_start(mine, handle).expect("live");
        block.depth.raise(2);
        block.depth.lower(2);
        registry.pvar_handle_free(mine, handle).expect("live");
    }
    // SAFETY: stops the timer.
    unsafe { libc::setitimer(libc::ITIMER_REAL, &std::mem::zeroed(), std::ptr::null_mut()) };
    assert_eq!(WRONG.load(Relaxed), 0);
}
