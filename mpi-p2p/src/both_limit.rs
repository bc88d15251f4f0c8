//! From which length on both processes copy a message by the kernel: as `p2p_both_copy_from` is set, or as it was measured.
//!
//! A receiver makes the first copies of a class of lengths in both ways in turn, and compares the shortest times. What it
//! finds is in a word of the job memory, so that no other process of the host has to measure that class.
//! Invariants: one message is timed at a time, and none after messages that took 2 ms together; until a class is measured, and
//! if it cannot be, the built-in limit holds.
//! Not here: the other ways of a message (`copy_ways`), the limit of fragments (`pipelined_limit`).

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::pipelined_limit::CalibrationInstruments;

/// Shorter messages are one chunk: the receiver copies them alone.
const LEAST: u64 = 16 << 10;
/// Both copy all messages of so many bytes.
const MOST: u64 = 128 << 10;
/// The limit while nothing is measured.
const BUILT_IN: u64 = 32 << 10;
/// Classes of lengths: each from a power of two to the next one.
const CLASSES: usize = (MOST / LEAST).ilog2() as usize;
/// So many messages of a class are timed, half of them in each way.
const TRIALS: u32 = 16;
/// No message is timed after such messages have taken so long.
const MOST_SPENT_NS: u64 = 2_000_000;

/// What this process measures of one class.
#[derive(Debug, Default, Clone, Copy)]
struct Class {
    begun: u32,
    /// Shortest time for 64 KiB in nanoseconds by the receiver alone and by both; 0: none.
    least: [u64; 2],
}

/// A message that is being timed.
#[derive(Debug)]
struct Trial {
    job: u64,
    class: usize,
    both: bool,
    bytes: u64,
    began_ns: u64,
}

/// What one process uses and measures.
#[derive(Debug)]
pub(crate) struct BothLimit {
    classes: [Class; CLASSES],
    trial: Option<Trial>,
    spent_ns: u64,
    /// The setting and the word of the job that the instrument shows.
    shown: (i32, u64),
    instruments: &'static CalibrationInstruments,
}

impl BothLimit {
    pub fn new(instruments: &'static CalibrationInstruments) -> BothLimit {
        instruments.both_from.set(BUILT_IN);
        BothLimit { classes: Default::default(), trial: None, spent_ns: 0, shown: (-1, 0), instruments }
    }

    /// Whether both processes copy a message of so many bytes. `set`: `p2p_both_copy_from`; `found`: the word of the job memory;
    /// `job`: the copy that begins, `None` if others are under way.
    pub fn permits(&mut self, set: i32, found: &AtomicU64, bytes: u64, job: Option<u64>) -> bool {
        let known = found.load(Relaxed);
        if self.shown != (set, known) {
            self.shown = (set, known);
            self.instruments.both_from.set(limit(set, known));
            let classes = (0..CLASSES).filter(|class| measured(known, *class).is_some());
            self.instruments.both_classes.set(classes.count() as u64);
        }
        let class = (bytes / LEAST).checked_ilog2().map_or(CLASSES, |class| class as usize);
        match (u64::try_from(set), self.classes.get(class)) {
            (Ok(limit), _) => bytes >= limit,
            (Err(_), Some(_)) => match measured(known, class) {
                Some(both) => both,
                None => self.try_both(class, bytes, job),
            },
            (Err(_), None) => bytes >= MOST,
        }
    }

    /// Whether both are to copy a message of a class that is not measured.
    fn try_both(&mut self, class: usize, bytes: u64, job: Option<u64>) -> bool {
        let Some(job) = job.filter(|_| self.spent_ns < MOST_SPENT_NS && self.classes[class].begun < TRIALS) else {
            return bytes >= BUILT_IN;
        };
        let both = self.classes[class].begun % 2 == 1;
        self.classes[class].begun += 1;
        self.trial = Some(Trial { job, class, both, bytes, began_ns: mpi_t::now_ns() });
        both
    }

    /// The copy that would have begun next does not begin; `None` if others are under way.
    pub fn abandon(&mut self, job: Option<u64>) {
        self.trial.take_if(|trial| job == Some(trial.job));
    }

    /// A copy has ended. `whole`: as it began, without an error.
    #[inline]
    pub fn ended(&mut self, found: &AtomicU64, job: u64, whole: bool) {
        if let Some(trial) = self.trial.take_if(|trial| trial.job == job) {
            self.measured(found, &trial, mpi_t::now_ns().saturating_sub(trial.began_ns), whole);
        }
    }

    #[cold]
    fn measured(&mut self, found: &AtomicU64, trial: &Trial, ns: u64, whole: bool) {
        self.spent_ns += ns;
        let Class { begun, least } = &mut self.classes[trial.class];
        let (least_of_way, time) = (&mut least[usize::from(trial.both)], (ns << 16) / trial.bytes);
        if whole && (*least_of_way == 0 || time < *least_of_way) {
            *least_of_way = time.max(1);
        }
        if *begun == TRIALS && !least.contains(&0) {
            // Relaxed: the word publishes nothing else.
            found.fetch_or(1 << (2 * trial.class + usize::from(least[1] < least[0])), Relaxed);
        }
    }
}

/// Whether both processes copy messages of a class, if that is measured: two bits of the word, for the receiver and for both. If
/// two processes have found different answers, both copy.
fn measured(word: u64, class: usize) -> Option<bool> {
    match word >> (2 * class) & 3 {
        0 => None,
        bits => Some(bits & 2 != 0),
    }
}

/// From how many bytes on both processes copy all messages.
fn limit(set: i32, word: u64) -> u64 {
    if let Ok(limit) = u64::try_from(set) {
        return limit;
    }
    let from = |class: usize| LEAST << class;
    let alone = |class: &usize| !measured(word, *class).unwrap_or(from(*class) >= BUILT_IN);
    (0..CLASSES).rev().find(alone).map_or(LEAST, |class| from(class + 1))
}

#[cfg(test)]
mod tests {
    use mpi_t::HeapMemory;

    use super::*;

    const AUTO: i32 = -1;

    fn new() -> BothLimit {
        BothLimit::new(CalibrationInstruments::place(&HeapMemory))
    }

    /// Times all messages of a class of so many bytes, which take `alone_ns` and `both_ns`.
    fn calibrate(limit: &mut BothLimit, found: &AtomicU64, bytes: u64, alone_ns: u64, both_ns: u64) {
        for job in 0..u64::from(TRIALS) {
            let by_both = limit.permits(AUTO, found, bytes, Some(job));
            assert_eq!(by_both, job % 2 == 1);
            let trial = limit.trial.take().expect("it is timed");
            limit.measured(found, &trial, if by_both { both_ns } else { alone_ns } + job, true);
        }
    }

    #[test]
    fn the_faster_way_is_found_for_each_class_and_by_all_processes() {
        let (found, mut first, mut second) = (AtomicU64::new(0), new(), new());
        assert_eq!(first.instruments.both_from.get(), BUILT_IN);
        calibrate(&mut first, &found, 40_000, 3_000, 3_400);
        assert!(!first.permits(AUTO, &found, 65_535, Some(99)));
        assert!(!second.permits(AUTO, &found, 32_768, Some(0)));
        assert!(second.trial.is_none() && second.instruments.both_from.get() == 64 << 10);
        calibrate(&mut second, &found, 16_384, 3_400, 3_000);
        assert!(first.permits(AUTO, &found, 20_000, None));
        assert_eq!(first.instruments.both_from.get(), 64 << 10, "not all messages from there on");
        calibrate(&mut first, &found, 100_000, 3_400, 9_000);
        assert!(first.permits(AUTO, &found, 131_072, None));
        assert_eq!(first.instruments.both_from.get(), MOST);
    }

    #[test]
    fn the_built_in_limit_holds_where_nothing_is_measured() {
        let (found, mut limit) = (AtomicU64::new(0), new());
        for (bytes, both) in [(1, false), (32_767, false), (32_768, true)] {
            assert_eq!(limit.permits(AUTO, &found, bytes, None), both);
        }
        assert!(limit.trial.is_none());
        // Short messages are one chunk, and long ones several in any case.
        limit.permits(AUTO, &found, LEAST - 1, Some(0));
        limit.permits(AUTO, &found, MOST, Some(0));
        assert!(limit.trial.is_none());
        // Copies that end otherwise than they began measure nothing.
        for job in 0..2 * u64::from(TRIALS) {
            limit.permits(AUTO, &found, 20_000, Some(job));
            limit.ended(&found, job + 1, true);
            assert_eq!(limit.trial.is_some(), job < TRIALS.into());
            limit.ended(&found, job, false);
        }
        assert_eq!((limit.permits(AUTO, &found, 20_000, Some(0)), found.into_inner()), (false, 0));
        // Nor do those that do not begin, and a copy behind them.
        let found = AtomicU64::new(0);
        limit.permits(AUTO, &found, 40_000, Some(7));
        limit.abandon(None);
        assert!(limit.trial.is_some());
        limit.abandon(Some(7));
        assert!(limit.trial.is_none());
    }

    #[test]
    fn no_message_is_timed_after_two_milliseconds() {
        let (found, mut limit) = (AtomicU64::new(0), new());
        assert!(!limit.permits(AUTO, &found, 50_000, Some(0)));
        let trial = limit.trial.take().expect("it is timed");
        limit.measured(&found, &trial, MOST_SPENT_NS, true);
        assert!(limit.permits(AUTO, &found, 50_000, Some(1)));
        assert!(limit.trial.is_none());
    }

    #[test]
    fn a_number_forces_the_limit_whatever_was_measured() {
        let (found, mut limit) = (AtomicU64::new(u64::MAX), new());
        assert!(limit.permits(AUTO, &found, LEAST, None));
        assert_eq!(limit.instruments.both_from.get(), LEAST);
        assert!(!limit.permits(1_000_000, &found, 999_999, Some(0)));
        assert_eq!(limit.instruments.both_from.get(), 1_000_000);
        assert!(limit.permits(0, &found, 1, Some(0)));
        assert!(limit.trial.is_none());
    }
}
