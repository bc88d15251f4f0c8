//! The line from the processor's time stamp counter to `CLOCK_MONOTONIC`, and its corrections.
//!
//! The kernel makes that clock of the counter too, and changes the rate while it follows a time server, by at most
//! 500 parts in a million. So a line holds for [`HORIZON_NS`] only, in which the clock can move away from it by 50 ns;
//! then a comparison with the clock starts the next one, with the rate of the last half second or more.
//!
//! Invariant: the values of a line, within its horizon, are not below those of the lines before.
//! Not here: reading the counter and the clock, and lines that several threads use (`clock`).

use std::num::{NonZeroU64, NonZeroU128};

/// How long a line holds, in nanoseconds.
const HORIZON_NS: u64 = 100_000;
/// The shortest time from which a rate is computed: an anchor is exact to about 20 ns, which is 2 parts in a million.
pub(super) const FIRST_RATE_NS: u64 = 10_000_000;
/// The shortest time from which a rate is computed later; the longest is twice as long while the clock is read often.
const RATE_NS: u64 = 500_000_000;
/// A rate that differs by more than this part from the last one shows that the counter is no clock: 2000 parts in a
/// million, four times what the kernel allows itself.
const UNSTEADY: u64 = 512;
/// A line that begins ahead of the clock runs slower by this part, so that the clock comes up: 390 ns in a horizon.
const SLOWER: u64 = 256;

/// The counter and the clock, in nanoseconds, at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Anchor {
    pub(super) ticks: u64,
    pub(super) ns: u64,
}

/// Nanoseconds by the counter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) base: Anchor,
    /// Nanoseconds of a tick, in units of 2^-32.
    pub(super) rate: u64,
    /// The line holds for so many ticks from its base.
    pub(super) horizon: u64,
}

impl Line {
    /// The line that gives no time.
    pub(super) const NONE: Line = Line { base: Anchor { ticks: 0, ns: 0 }, rate: 0, horizon: 0 };

    /// The time at a value of the counter; `None` outside the horizon.
    #[inline(always)]
    pub(super) fn at(self, ticks: u64) -> Option<u64> {
        let passed = ticks.wrapping_sub(self.base.ticks);
        // A counter that went back is far beyond the horizon. At most 100 us, so the product fits.
        (passed < self.horizon).then(|| self.base.ns + ((passed * self.rate) >> 32))
    }

    /// The end of the horizon: no value of the line is greater.
    fn last(self) -> u64 {
        self.base.ns + ((self.horizon * self.rate) >> 32)
    }
}

/// The anchors that the next line is made from.
#[derive(Debug)]
pub(super) struct Calibration {
    /// The rate is computed from this anchor on.
    origin: Anchor,
    /// The next origin.
    next: Anchor,
    line: Line,
    /// The last rate; 0: none yet.
    rate: u64,
}

/// The counter is no clock, or not any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Unsteady;

impl Calibration {
    /// A calibration that begins with an anchor; there is no line yet.
    pub(super) const fn new(first: Anchor) -> Calibration {
        Calibration { origin: first, next: first, line: Line::NONE, rate: 0 }
    }

    /// Whether it takes more time until there can be a line.
    pub(super) fn is_early(&self, ns: u64) -> bool {
        self.rate == 0 && ns.saturating_sub(self.origin.ns) < FIRST_RATE_NS
    }

    /// The greatest value that a line has given, or may have given.
    pub(super) fn last(&self) -> u64 {
        self.line.last()
    }

    /// The line from an anchor on, whose values are at least `floor`; [`Calibration::is_early`] is false.
    pub(super) fn next_line(&mut self, now: Anchor, floor: u64) -> Result<Line, Unsteady> {
        let (ticks, ns) = (now.ticks.wrapping_sub(self.origin.ticks), now.ns.saturating_sub(self.origin.ns));
        if ticks > u64::MAX / 2 || now.ns < self.next.ns {
            return Err(Unsteady);
        }
        // Types that are never 0: no code for a division by 0 makes static programs longer.
        let ticks = NonZeroU64::new(ticks).ok_or(Unsteady)?;
        let rate = u64::try_from((u128::from(ns) << 32) / NonZeroU128::from(ticks)).map_err(|_| Unsteady)?;
        // From a counter of 100 MHz to one of 40 GHz.
        let known = NonZeroU64::new(rate).filter(|rate| ((1 << 32) / 40..10 << 32).contains(&rate.get()));
        let divisor = known.ok_or(Unsteady)?;
        if self.rate != 0 && rate.abs_diff(self.rate) > self.rate / UNSTEADY {
            return Err(Unsteady);
        }
        self.rate = rate;
        if now.ns - self.next.ns >= RATE_NS {
            (self.origin, self.next) = (self.next, now);
        }
        let start = now.ns.max(self.last()).max(floor);
        let slower = if start > now.ns { rate - rate / SLOWER } else { rate };
        let horizon = ((u128::from(HORIZON_NS) << 32) / NonZeroU128::from(divisor)) as u64;
        self.line = Line { base: Anchor { ticks: now.ticks, ns: start }, rate: slower, horizon };
        Ok(self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The anchors of a counter of 3 GHz, beside a clock that is off by so many parts in a million.
    fn at(ns: u64, off: i64) -> Anchor {
        Anchor { ticks: 1000 + 3 * ns, ns: (7_000_000_000 + ns as i64 + ns as i64 * off / 1_000_000) as u64 }
    }

    fn calibrated(off: i64) -> (Calibration, Line) {
        let mut calibration = Calibration::new(at(0, off));
        assert!(calibration.is_early(at(FIRST_RATE_NS / 2, off).ns));
        let first = at(2 * FIRST_RATE_NS, off);
        assert!(!calibration.is_early(first.ns));
        let line = calibration.next_line(first, 0).expect("steady");
        (calibration, line)
    }

    #[test]
    fn a_line_follows_the_clock_within_its_horizon_and_gives_no_time_beyond() {
        for off in [-400, 0, 400] {
            let (_, line) = calibrated(off);
            for later in [0, 1, 50_000, HORIZON_NS - 10_000] {
                let now = at(2 * FIRST_RATE_NS + later, off);
                let time = line.at(now.ticks).expect("within the horizon");
                assert!(time.abs_diff(now.ns) <= 2, "{time} {now:?}");
            }
            for wrong in [line.base.ticks - 1, line.base.ticks + line.horizon, 0, u64::MAX] {
                assert_eq!(line.at(wrong), None);
            }
            assert_eq!(Line::NONE.at(0), None);
        }
    }

    #[test]
    fn lines_never_go_back_and_stay_near_a_clock_whose_rate_changes() {
        let (mut calibration, mut line) = calibrated(0);
        let (mut last, mut ns, mut clock) = (0, 2 * FIRST_RATE_NS, at(2 * FIRST_RATE_NS, 0).ns as f64);
        for step in 0..40_000u64 {
            // The clock runs faster and slower in turns of half a second, and anchors are inexact by 20 ns.
            let off = if step / 5_000 % 2 == 0 { 500e-6 } else { -500e-6 };
            let passed = HORIZON_NS + step % 7 * 10;
            (ns, clock) = (ns + passed, clock + passed as f64 * (1.0 + off));
            let end = line.at(line.base.ticks + line.horizon - 1).expect("the last tick");
            let inexact = (step * 7919 % 41) as i64 - 20;
            let now = Anchor { ticks: 1000 + 3 * ns, ns: (clock as i64 + inexact) as u64 };
            line = calibration.next_line(now, 0).expect("the kernel allows itself no more");
            assert!(line.base.ns >= end && line.base.ns >= last, "step {step}");
            assert!((line.base.ns as f64 - clock).abs() < 250.0, "step {step}: {} {clock}", line.base.ns);
            last = end;
        }
    }

    #[test]
    fn a_line_begins_at_the_floor_if_that_is_later() {
        let (mut calibration, line) = calibrated(0);
        let now = at(3 * FIRST_RATE_NS, 0);
        let next = calibration.next_line(now, now.ns + 100).expect("steady");
        assert_eq!(next.base.ns, now.ns + 100);
        assert!(next.rate < line.rate, "the clock comes up");
        assert!(calibration.last() > next.base.ns);
    }

    #[test]
    fn a_counter_that_stops_jumps_or_goes_back_is_no_clock() {
        let later = at(3 * FIRST_RATE_NS, 0);
        for ticks in [1000, 1001, later.ticks * 2, later.ticks - later.ticks / 100, 0] {
            let (mut calibration, _) = calibrated(0);
            assert_eq!(calibration.next_line(Anchor { ticks, ..later }, 0), Err(Unsteady), "{ticks}");
        }
        let mut calibration = Calibration::new(at(0, 0));
        assert_eq!(calibration.next_line(Anchor { ticks: 1010, ..later }, 0), Err(Unsteady), "a slow counter");
    }
}
