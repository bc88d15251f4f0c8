//! Reading the time stamp counter, and the line that all threads use.
//!
//! The words of the line change under a version: a reader that finds the same even version before and after has read
//! one line. One thread at a time makes the next one ([`UPDATING`]); the others wait for it briefly.
#![allow(unsafe_code)] // instructions of the processor

use std::arch::x86_64::{_mm_lfence, _rdtsc};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};

use super::line::{Anchor, Calibration, Line};
use super::monotonic_ns;

static VERSION: AtomicU64 = AtomicU64::new(0);
static BASE_TICKS: AtomicU64 = AtomicU64::new(0);
static BASE_NS: AtomicU64 = AtomicU64::new(0);
static RATE: AtomicU64 = AtomicU64::new(0);
/// 0: there is no line.
static HORIZON: AtomicU64 = AtomicU64::new(0);
/// No line begins earlier: a thread that could not wait for the next line has read this time.
static FLOOR: AtomicU64 = AtomicU64::new(0);
/// Whether the counter is used.
static USED: AtomicBool = AtomicBool::new(false);
static UPDATING: AtomicBool = AtomicBool::new(false);
static CALIBRATION: Own = Own(UnsafeCell::new(None));

/// What only the thread that has set [`UPDATING`] touches.
struct Own(UnsafeCell<Option<Calibration>>);

// SAFETY: one thread at a time uses the value.
unsafe impl Sync for Own {}

/// Uses the counter from here on if the kernel makes its clock of it: then it runs at one rate, and is the same on all
/// cores. Reads a file.
pub fn find() {
    let source = std::fs::read("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    if source.is_ok_and(|source| source.trim_ascii() == b"tsc") {
        // Release pairs with the Acquire in `slowly`.
        USED.store(true, Ordering::Release);
    }
}

/// The time in nanoseconds. Thread-safe and async-signal-safe.
#[inline(always)]
pub fn now_ns() -> u64 {
    match by_line() {
        Some(ns) => ns,
        None => slowly(),
    }
}

#[inline(always)]
fn by_line() -> Option<u64> {
    // Acquire pairs with the Release in `publish`.
    let version = VERSION.load(Ordering::Acquire);
    let base = Anchor { ticks: BASE_TICKS.load(Ordering::Relaxed), ns: BASE_NS.load(Ordering::Relaxed) };
    let line = Line { base, rate: RATE.load(Ordering::Relaxed), horizon: HORIZON.load(Ordering::Relaxed) };
    // Pairs with the Release fence in `publish`.
    fence(Ordering::Acquire);
    let whole = VERSION.load(Ordering::Relaxed) == version && version.is_multiple_of(2);
    if whole { line.at(ticks()) } else { None }
}

/// The counter, read after all loads before it.
#[inline(always)]
fn ticks() -> u64 {
    // SAFETY: instructions that every processor of this architecture has, and that change no memory.
    unsafe {
        _mm_lfence();
        _rdtsc()
    }
}

#[cold]
#[inline(never)]
fn slowly() -> u64 {
    // Acquire pairs with the Release in `find`.
    if !USED.load(Ordering::Acquire) {
        return monotonic_ns().max(FLOOR.load(Ordering::Acquire));
    }
    for _ in 0..1000 {
        // Acquire pairs with the Release below.
        if UPDATING.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok() {
            // SAFETY: this thread has set `UPDATING`, so it is the only one here; a signal handler that interrupts it
            // finds `UPDATING` set.
            let ns = update(unsafe { &mut *CALIBRATION.0.get() });
            UPDATING.store(false, Ordering::Release);
            return ns;
        }
        std::hint::spin_loop();
        if let Some(ns) = by_line() {
            return ns;
        }
    }
    // The thread that makes the line does not run: this may be a handler that interrupts it.
    let ns = monotonic_ns().max(BASE_NS.load(Ordering::Acquire));
    FLOOR.fetch_max(ns, Ordering::AcqRel).max(ns)
}

/// Makes the next line if it is time; returns the time.
fn update(calibration: &mut Option<Calibration>) -> u64 {
    // Another thread may have made the next line meanwhile, and one must not begin within the horizon of the last.
    if let Some(ns) = by_line() {
        return ns;
    }
    let floor = FLOOR.load(Ordering::Acquire);
    let Some(calibration) = calibration else {
        let first = anchor();
        *calibration = Some(Calibration::new(first));
        return first.ns.max(floor);
    };
    let ns = monotonic_ns();
    if calibration.is_early(ns) {
        return ns.max(floor);
    }
    let now = anchor();
    match calibration.next_line(now, floor) {
        Ok(line) => {
            publish(line);
            line.base.ns
        }
        Err(_) => {
            // Nothing that was read before is later than this.
            let last = now.ns.max(calibration.last()).max(floor);
            FLOOR.fetch_max(last, Ordering::AcqRel);
            publish(Line::NONE);
            USED.store(false, Ordering::Release);
            last
        }
    }
}

/// For the thread that has set [`UPDATING`].
fn publish(line: Line) {
    let version = VERSION.load(Ordering::Relaxed);
    VERSION.store(version + 1, Ordering::Relaxed);
    // Pairs with the Acquire fence in `by_line`: a reader of a new word sees the odd version.
    fence(Ordering::Release);
    BASE_TICKS.store(line.base.ticks, Ordering::Relaxed);
    BASE_NS.store(line.base.ns, Ordering::Relaxed);
    RATE.store(line.rate, Ordering::Relaxed);
    HORIZON.store(line.horizon, Ordering::Relaxed);
    // Release pairs with the Acquire in `by_line`.
    VERSION.store(version + 2, Ordering::Release);
}

/// The counter and the clock at one time: of some attempts the one that took the fewest ticks.
fn anchor() -> Anchor {
    let attempt = || {
        let before = ticks();
        let ns = monotonic_ns();
        let took = ticks().wrapping_sub(before);
        (took, Anchor { ticks: before.wrapping_add(took / 2), ns })
    };
    let mut best = attempt();
    for _ in 0..3 {
        // Undisturbed it takes about 50 ns; a tick is at most 10 ns and mostly a third of one.
        if best.0 < 300 {
            break;
        }
        let next = attempt();
        if next.0 < best.0 {
            best = next;
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, Instant};

    #[test]
    fn threads_read_times_that_never_go_back_and_are_the_kernels() {
        find();
        let last = AtomicU64::new(0);
        let end = Instant::now() + Duration::from_millis(200);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while Instant::now() < end {
                        for _ in 0..100 {
                            let (before, earlier) = (monotonic_ns(), last.load(Ordering::Acquire));
                            let now = now_ns();
                            let after = monotonic_ns();
                            assert!(now >= earlier, "{now} after {earlier}");
                            assert!(now + 1000 >= before && now <= after + 1000, "{before} {now} {after}");
                            last.fetch_max(now, Ordering::AcqRel);
                        }
                    }
                });
            }
        });
        assert_eq!(HORIZON.load(Ordering::Relaxed) != 0, USED.load(Ordering::Relaxed));
    }
}
