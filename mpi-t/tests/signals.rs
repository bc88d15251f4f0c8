//! A sampling tool reads from a signal handler at any point of the interrupted thread, also during use of the same
//! handle.
#![allow(unsafe_code)] // installs a signal handler

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU64, AtomicUsize};

use mpi_core::{Handle, abi};
use mpi_t::{Counter, Level, PvarClass, Registry};

mpi_t::instruments! {
    /// The sampled fields.
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
static WRONG: AtomicU64 = AtomicU64::new(0);

extern "C" fn sample(_: libc::c_int) {
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
}

/// A signal every 200 microseconds to the thread that made this: a signal to the process as a whole would mostly go to
/// the harness's thread, which waits, and holds no lock that a handler could need.
struct Sampling(libc::timer_t);

impl Sampling {
    fn of_this_thread() -> Sampling {
        let every = libc::timespec { tv_sec: 0, tv_nsec: 200_000 };
        let often = libc::itimerspec { it_interval: every, it_value: every };
        let mut timer = std::ptr::null_mut();
        // SAFETY: the handler touches only atomics and calls only async-signal-safe functions; zeroed memory is a
        // `sigevent`, and the calls store into what is passed.
        unsafe {
            libc::signal(libc::SIGALRM, sample as extern "C" fn(libc::c_int) as libc::sighandler_t);
            let mut event: libc::sigevent = std::mem::zeroed();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = libc::SIGALRM;
            event.sigev_notify_thread_id = libc::gettid();
            assert_eq!(libc::timer_create(libc::CLOCK_MONOTONIC, &mut event, &mut timer), 0);
            assert_eq!(libc::timer_settime(timer, 0, &often, std::ptr::null_mut()), 0);
        }
        Sampling(timer)
    }
}

impl Drop for Sampling {
    fn drop(&mut self) {
        // SAFETY: the timer that was made.
        unsafe { libc::timer_delete(self.0) };
    }
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
    let sampling = Sampling::of_this_thread();
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
    drop(sampling);
    assert_eq!(WRONG.load(Relaxed), 0);
}
