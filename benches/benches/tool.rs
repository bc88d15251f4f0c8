//! Cost of the calls of the tool information interface in Rust, and of an event point; the baselines are an empty
//! iteration and a loop without the point.
#![allow(missing_docs)] // criterion's macros make public items

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use mpi_t::{Counter, PvarClass, Registry, Safety, SourceDef};

mpi_t::instruments! {
    /// The counters.
    struct Block: NoObject {
        /// Events.
        events: Counter = { name: "events", class: Counter, type: u64, unit: "events", category: "bench" },
    }
}

mpi_t::cvars! {
    /// The settings.
    struct Settings {
        /// Amount of work at once.
        batch: u64 = 100 => { name: "bench_batch", unit: "", category: "bench", scope: Local },
    }
}

static SOURCE: SourceDef = SourceDef { name: "bench", description: "The bench." };

mpi_t::events! {
    /// The events.
    struct Points: NoObject, from: SOURCE {
        /// A round: its number.
        round(number: u64) = { name: "bench_round", category: "bench", at: MpiRestricted },
    }
}

fn registry() -> Registry {
    let registry = Registry::with_environment([]);
    registry.init_thread().expect("address space for handles");
    registry.register(Block::detached()).expect("new names");
    registry.register_settings(Settings::new()).expect("new names");
    registry
}

fn sessions_and_handles(criterion: &mut Criterion) {
    let registry = registry();
    let session = registry.pvar_session_create().expect("room");
    let index = registry.pvar_get_index("events", PvarClass::Counter as i32).expect("declared");
    let handle = registry.pvar_handle_alloc(session, index, None).expect("room").0;
    registry.pvar_start(session, handle).expect("not continuous");
    criterion.bench_function("tool/baseline", |bencher| bencher.iter(|| black_box(session).0 ^ black_box(handle).0));
    criterion.bench_function("tool/pvar_read", |bencher| bencher.iter(|| registry.pvar_read(session, handle)));
    criterion
        .bench_function("tool/pvar_readreset", |bencher| bencher.iter(|| registry.pvar_readreset(session, handle)));
    criterion.bench_function("tool/pvar_reset", |bencher| bencher.iter(|| registry.pvar_reset(session, handle)));
    criterion.bench_function("tool/pvar_stop_start", |bencher| {
        bencher.iter(|| (registry.pvar_stop(session, handle), registry.pvar_start(session, handle)));
    });
    criterion.bench_function("tool/pvar_handle", |bencher| {
        bencher.iter(|| {
            let made = registry.pvar_handle_alloc(session, index, None).expect("room").0;
            registry.pvar_handle_free(session, made)
        });
    });
    criterion.bench_function("tool/pvar_session", |bencher| {
        bencher.iter(|| registry.pvar_session_free(registry.pvar_session_create().expect("room")));
    });
    criterion.bench_function("tool/init_finalize", |bencher| {
        bencher.iter(|| (registry.init_thread().expect("room"), registry.finalize()));
    });
}

fn inquiry(criterion: &mut Criterion) {
    let registry = registry();
    let (class, name) = (PvarClass::Counter as i32, "events");
    let cvar = registry.cvar_get_index("bench_batch").expect("declared");
    let handle = registry.cvar_handle_alloc(cvar, None).expect("room").0;
    criterion.bench_function("tool/pvar_get_index", |bencher| {
        bencher.iter(|| registry.pvar_get_index(black_box(name), class));
    });
    criterion.bench_function("tool/pvar_get_info", |bencher| {
        bencher.iter(|| registry.pvar_get_info(black_box(0)).is_ok());
    });
    criterion.bench_function("tool/cvar_get_info", |bencher| {
        bencher.iter(|| registry.cvar_get_info(black_box(cvar)).is_ok());
    });
    criterion.bench_function("tool/cvar_read", |bencher| bencher.iter(|| registry.cvar_read(black_box(handle))));
    criterion.bench_function("tool/category_get_info", |bencher| {
        bencher.iter(|| registry.category_get_info(black_box(0)).is_ok());
    });
    criterion.bench_function("tool/category_changed", |bencher| bencher.iter(|| registry.category_changed()));
}

fn events(criterion: &mut Criterion) {
    let (registry, points) = (registry(), Points::new());
    registry.register_events(points).expect("new names");
    criterion.bench_function("event/baseline", |bencher| bencher.iter(|| black_box(7)));
    criterion.bench_function("event/no_callback", |bencher| {
        bencher.iter(|| points.round.emit(|| (black_box(7),)));
    });
    let looks = |event: &mpi_t::EventInstance<'_>| drop(black_box(event.get("number")));
    registry.subscribe("bench_round", None, Safety::MpiRestricted, looks).expect("a safety level of the point");
    criterion.bench_function("event/one_callback", |bencher| {
        bencher.iter(|| points.round.emit(|| (black_box(7),)));
    });
}

criterion_group!(benches, sessions_and_handles, inquiry, events);
criterion_main!(benches);
