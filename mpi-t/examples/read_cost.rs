//! Cost of reading a performance variable, in nanoseconds above an empty loop, without a bench library.
//!
//! Run it with `cargo run --release -p mpi-t --example read_cost`.
#![allow(unsafe_code)] // reads as the C functions do

use std::hint::black_box;
use std::time::Instant;

use mpi_core::Handle;
use mpi_t::{Counter, Level, PvarClass, Registry};

mpi_t::instruments! {
    /// The fields that are read.
    struct Block: NoObject {
        /// Events.
        events: Counter = { name: "events", class: Counter, type: u64, unit: "events", category: "x" },
        /// Depth.
        depth: Level =
            { name: "depth", class: Level, type: u32, unit: "items", category: "x" }
            { name: "depth", class: HighWatermark, type: u64, unit: "items", category: "x" },
    }
}

mpi_t::instruments! {
    /// An element of an array without gaps.
    struct Element: Comm {
        /// Count.
        count: Counter = { name: "element", class: Counter, type: u64, unit: "events", category: "x" },
    }
}

mpi_t::instruments! {
    /// An element of an array with gaps.
    struct Row: Comm {
        /// Count.
        count: Counter = { name: "row", class: Counter, type: u64, unit: "events", category: "x" },
        /// Bytes.
        bytes: Counter = { name: "row_bytes", class: Counter, type: u64, unit: "bytes", category: "x" },
        /// Errors.
        errors: Counter = { name: "row_errors", class: Counter, type: u64, unit: "errors", category: "x" },
    }
}

const ROUNDS: u32 = 20_000;

/// The shortest of several runs, in nanoseconds a round.
fn measure(mut round: impl FnMut()) -> f64 {
    let run = |round: &mut dyn FnMut()| {
        let start = Instant::now();
        round();
        start.elapsed().as_secs_f64() * 1e9 / f64::from(ROUNDS)
    };
    (0..500).map(|_| run(&mut round)).fold(f64::INFINITY, f64::min)
}

/// A call that is not inlined, as one from C is.
#[inline(never)]
unsafe extern "C" fn called(session: usize, handle: usize, out: *mut std::ffi::c_void) -> i32 {
    // SAFETY: the caller's promise.
    unsafe { mpi_t::pvar_read_raw(session, handle, out) }
}

/// Nanoseconds of a read, of one element or as many as 64.
fn read(session: Handle, handle: Handle) -> f64 {
    let mut out = [0u64; 64];
    measure(|| {
        for _ in 0..ROUNDS {
            // SAFETY: room for the elements.
            let code = unsafe {
                let read = black_box(called as unsafe extern "C" fn(_, _, _) -> _);
                read(session.0, handle.0, out.as_mut_ptr().cast())
            };
            assert_eq!(code, 0);
        }
    })
}

fn main() {
    let registry = Registry::with_environment([]);
    registry.init_thread().expect("address space for handles");
    let block = Block::detached();
    registry.register(block).expect("new names");
    let session = registry.pvar_session_create().expect("room");
    let handle = |name, class| -> Handle {
        let index = registry.pvar_get_index(name, class as i32).expect("declared");
        let handle = registry.pvar_handle_alloc(session, index, None).expect("room").0;
        registry.pvar_start(session, handle).expect("not continuous");
        handle
    };
    let empty = measure(|| (0..ROUNDS).for_each(|i| _ = black_box(i)));
    println!("empty loop                     {empty:5.2} ns");
    for (name, class) in
        [("events", PvarClass::Counter), ("depth", PvarClass::Level), ("depth", PvarClass::HighWatermark)]
    {
        println!(
            "{:<30} {:5.2} ns above it",
            format!("{name} ({class:?})"),
            read(session, handle(name, class)) - empty
        );
    }
    for count in [4, 10, 64] {
        registry.bind_rows(count, mpi_t::place_rows::<Element>(count)).expect("rows");
        registry.bind_rows(count, mpi_t::place_rows::<Row>(count)).expect("rows");
        for (name, gaps) in [("element", "without gaps"), ("row", "with gaps")] {
            let index = registry.pvar_get_index(name, PvarClass::Counter as i32).expect("declared");
            let handle = registry.pvar_handle_alloc(session, index, Some(count)).expect("room").0;
            registry.pvar_start(session, handle).expect("not continuous");
            println!("{:<30} {:5.2} ns above it", format!("{count} {gaps}"), read(session, handle) - empty);
        }
    }
    let incr = measure(|| (0..ROUNDS).for_each(|_| black_box(block).events.incr()));
    println!("{:<30} {:5.2} ns above it", "Counter::incr", incr - empty);
    let raise = measure(|| {
        (0..ROUNDS / 2).for_each(|_| {
            black_box(block).depth.raise(1);
            black_box(block).depth.lower(1);
        })
    });
    println!("{:<30} {:5.2} ns above it", "Level::raise or lower, watched", raise - empty);
}
