//! Look-ups of handles, valid and stale, compared with indexing a slice.
#![allow(missing_docs)] // criterion's macros make public items

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use mpi_core::{Handle, Kind, Table};

fn handles(criterion: &mut Criterion) {
    let mut table = Table::new(Kind::Comm);
    let live: Vec<Handle> = (0..1000u64).map(|value| table.insert(value).expect("room for a thousand")).collect();
    let stale = live[7];
    table.remove(stale);
    let plain: Vec<u64> = (0..1000).collect();
    criterion.bench_function("handle/baseline/index", |bencher| bencher.iter(|| plain[black_box(500)]));
    criterion.bench_function("handle/get/valid", |bencher| bencher.iter(|| table.get(black_box(live[500])).copied()));
    criterion.bench_function("handle/get/stale", |bencher| bencher.iter(|| table.get(black_box(stale)).copied()));
    criterion.bench_function("handle/insert_remove", |bencher| {
        bencher.iter(|| {
            let handle = table.insert(black_box(1)).expect("room");
            table.remove(handle)
        });
    });
}

criterion_group!(benches, handles);
criterion_main!(benches);
