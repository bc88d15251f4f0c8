//! A receive from an unexpected queue, by the length of the queue; the baseline is one message there and back.
#![allow(missing_docs)] // criterion's macros make public items

use std::time::{Duration, Instant};

use benches::Alone;
use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};

/// Time of `rounds` receives in reverse order of arrival, the sends not counted.
fn drain(alone: &Alone, queued: i32, rounds: u64) -> Duration {
    let mut spent = Duration::ZERO;
    let mut data = [0; 8];
    let mut done = 0;
    while done < rounds {
        (0..queued).for_each(|tag| alone.send(tag, &data));
        let start = Instant::now();
        for tag in (0..queued).rev() {
            alone.receive(tag, &mut data);
        }
        spent += start.elapsed();
        done += queued as u64;
    }
    spent.mul_f64(rounds as f64 / done as f64)
}

fn matching(criterion: &mut Criterion) {
    let alone = Alone::new(false);
    let mut group = criterion.benchmark_group("matching/reverse");
    for queued in [1, 10, 1000, 10_000] {
        group.bench_with_input(BenchmarkId::from_parameter(queued), &queued, |bencher, &queued| {
            bencher.iter_custom(|rounds| drain(&alone, queued, rounds));
        });
    }
    group.finish();
    for multiple in [false, true] {
        let alone = Alone::new(multiple);
        let name = if multiple { "matching/to_self/multiple" } else { "matching/to_self/single" };
        criterion.bench_function(name, |bencher| {
            let mut data = [0; 8];
            bencher.iter(|| {
                alone.send(1, &data);
                alone.receive(1, &mut data)
            });
        });
    }
}

criterion_group!(benches, matching);
criterion_main!(benches);
