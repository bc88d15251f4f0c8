//! Cost of a variable: counting, raising a level with and without a watcher, reading; the baseline is an empty call.
#![allow(unsafe_code)] // reads as the C functions do
#![allow(missing_docs)] // criterion's macros make public items

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use mpi_core::Handle;
use mpi_t::{Counter, Level, PvarClass, Registry};

mpi_t::instruments! {
    /// The counters.
    struct Block: NoObject {
        /// Events.
        events: Counter = { name: "events", class: Counter, type: u64, unit: "events", category: "bench" },
        /// Depth.
        depth: Level =
            { name: "depth", class: Level, type: u32, unit: "items", category: "bench" }
            { name: "depth", class: HighWatermark, type: u64, unit: "items", category: "bench" },
    }
}

#[inline(never)]
extern "C" fn nothing(session: usize, handle: usize, out: *mut std::ffi::c_void) -> i32 {
    black_box((session, handle, out));
    0
}

#[inline(never)]
extern "C" fn read(session: usize, handle: usize, out: *mut std::ffi::c_void) -> i32 {
    // SAFETY: `out` is the address of the caller's word, as long as the longest value read here.
    unsafe { mpi_t::pvar_read_raw(session, handle, out) }
}

fn variables(criterion: &mut Criterion) {
    let registry = Registry::with_environment([]);
    registry.init_thread().expect("address space for handles");
    let block = Block::detached();
    registry.register(block).expect("new names");
    let session = registry.pvar_session_create().expect("room");
    let watch = |name, class: PvarClass| -> Handle {
        let index = registry.pvar_get_index(name, class as i32).expect("declared");
        let handle = registry.pvar_handle_alloc(session, index, None).expect("room").0;
        registry.pvar_start(session, handle).expect("not continuous");
        handle
    };
    criterion.bench_function("variable/count", |bencher| bencher.iter(|| black_box(block).events.incr()));
    let up_and_down = |block: &Block| {
        block.depth.raise(1);
        block.depth.lower(1);
    };
    criterion.bench_function("variable/level/unwatched", |bencher| bencher.iter(|| up_and_down(black_box(block))));
    let (events, most) = (watch("events", PvarClass::Counter), watch("depth", PvarClass::HighWatermark));
    criterion.bench_function("variable/level/watched", |bencher| bencher.iter(|| up_and_down(black_box(block))));
    let mut value = 0u64;
    let out: *mut std::ffi::c_void = (&raw mut value).cast();
    criterion.bench_function("variable/read/baseline", |bencher| bencher.iter(|| nothing(session.0, events.0, out)));
    criterion.bench_function("variable/read/counter", |bencher| bencher.iter(|| read(session.0, events.0, out)));
    criterion.bench_function("variable/read/watermark", |bencher| bencher.iter(|| read(session.0, most.0, out)));
}

criterion_group!(benches, variables);
criterion_main!(benches);
