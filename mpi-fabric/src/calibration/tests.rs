//! The arithmetic of the limits with invented rates, and the words in the job memory.

use super::*;
use crate::JobOptions;

fn job() -> Job {
    Job::create(&JobOptions { ranks: 2, ring_bytes: None, cores: 1 }).expect("memory for two ranks")
}

/// As measured on cores with AVX-512, on a kernel that copies 64 KiB in 5.4 us.
const MEASURED: Calibration = Calibration {
    kernel_call_ns: 800,
    kernel_ns_per_mib: 73_000,
    cached_ns_per_mib: 37_000,
    streaming_ns_per_mib: 120_000,
    cache_bytes: 32 << 20,
    took_ns: 250_000,
};

#[test]
fn fragments_that_are_always_less_work_are_limited_by_the_cache() {
    assert_eq!(MEASURED.limits(), WayLimits { near: 16 << 20, far: 16 << 20 });
    for (cache_bytes, most) in [(0, LEAST_LIMIT), (8 << 20, 4 << 20), (256 << 20, MOST_LIMIT), (u64::MAX, MOST_LIMIT)] {
        let limits = Calibration { cache_bytes, ..MEASURED }.limits();
        assert_eq!(limits, WayLimits { near: most, far: most }, "{cache_bytes}");
    }
}

#[test]
fn a_slow_copy_through_the_buffer_is_used_while_the_fixed_costs_of_the_kernel_are_more() {
    // Near: 200 us against 90 us and 24 us for each of four chunks: equal at 96/110 MiB, but five chunks are less.
    let calibration = Calibration {
        kernel_call_ns: 8_000,
        kernel_ns_per_mib: 60_000,
        cached_ns_per_mib: 200_000,
        streaming_ns_per_mib: 500_000,
        ..MEASURED
    };
    let limits = calibration.limits();
    let work = |bytes: u64, chunks: u64| (bytes * 200_000 / MIB, bytes * 90_000 / MIB + chunks * 8_000);
    let (fragments, kernel) = work(limits.near, 4);
    assert!(fragments.abs_diff(kernel) < 10, "{limits:?}: {fragments} and {kernel}");
    // Far: 500 us against 90 us and 82 us for the far lines.
    let far = u64::from(FAR_NS) * (MIB / 64) / LOADS_AT_ONCE;
    assert_eq!(limits.far, 4 * 8_000 * MIB / (500_000 - 90_000 - far));
    assert!(LEAST_LIMIT < limits.far && limits.far < limits.near && limits.near < 4 * CHUNK_MAX);
}

#[test]
fn the_crossing_is_where_the_work_of_both_ways_is_equal() {
    assert_eq!(crossing(0, 100, 100), u64::MAX);
    assert_eq!(crossing(0, 100, 101), 0);
    assert_eq!(crossing(1_000, 50_000, 58_000), u64::MAX);
    // Beyond four of the longest chunks each of them has its fixed cost.
    assert_eq!(crossing(1_000, 50_000, 58_001), 4 * CHUNK_MAX - 66);
    assert_eq!(crossing(1_000, 50_000, 90_000), 4_000 * MIB / 40_000);
}

#[test]
fn no_measurement_chooses_a_limit_out_of_range() {
    for call in [0, 1, MOST_CALL_NS] {
        for kernel in [1, MOST_NS_PER_MIB] {
            for cached in [1, MOST_NS_PER_MIB] {
                for cache in [0, 1 << 20, u64::MAX] {
                    let words = [call, kernel, cached, MOST_NS_PER_MIB + 1 - cached, cache, 1];
                    let limits = Calibration::of_words(words).expect("in range").limits();
                    assert!([limits.near, limits.far].iter().all(|limit| (LEAST_LIMIT..=MOST_LIMIT).contains(limit)));
                }
            }
        }
    }
}

#[test]
fn one_process_measures_and_the_others_read_what_it_published() {
    let job = job();
    let (first, second) = (CalibrationWords::of(&job), CalibrationWords::of(&job));
    assert_eq!(second.read(), Calibrated::NotYet);
    assert!(first.claim() && !second.claim());
    assert_eq!(second.read(), Calibrated::NotYet);
    first.publish(Some(&MEASURED));
    assert_eq!(second.read(), Calibrated::Rates(MEASURED));
    calibrate(&job);
    assert_eq!(second.read(), Calibrated::Rates(MEASURED), "it was published before");
}

#[test]
fn rates_in_the_job_memory_that_are_out_of_range_are_not_used() {
    let job = job();
    let words = CalibrationWords::of(&job);
    words.publish(None);
    assert_eq!(words.read(), Calibrated::Invalid);
    for (at, bad) in [(0, MOST_CALL_NS + 1), (1, 0), (2, MOST_NS_PER_MIB + 1), (3, u64::MAX)] {
        words.publish(Some(&MEASURED));
        words.values[at].store(bad, Ordering::Relaxed);
        assert_eq!(words.read(), Calibrated::Invalid, "word {at}");
    }
    words.state.store(7, Ordering::Relaxed);
    assert_eq!(words.read(), Calibrated::NotYet);
    assert!(!words.claim());
}
