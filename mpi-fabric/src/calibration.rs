//! Calibration: the rates at which this host copies long messages, and the limits that follow from them.
//!
//! A long message can go two ways. In fragments both processes copy: the sender into its copy buffer, the receiver out of
//! it. By the kernel both processes copy chunks between the buffers of the program (`process_vm_readv`, `process_vm_writev`).
//! In both ways both processes work at the same time, so the way with less work, added up over both processes, is the
//! faster one. One process of a host measures, once in a job; the others read its rates from the job memory.
//!
//! The work on a message of n bytes:
//!
//! - Fragments to a near receiver: n times the time per byte of a copy into a buffer and a copy out of it, by ordinary
//!   stores. A far receiver (`ring::distance`): the same with streaming stores, after which the copy out reads from memory.
//! - Kernel: n times its time per byte, as one process measures it, times `TOGETHER`; and its fixed cost for each chunk. A
//!   chunk is a quarter of the message, at most [`CHUNK_MAX`]. To a far receiver the lines of one of the two buffers come from
//!   a far cache: at least `FAR_NS` each, of which a core loads `LOADS_AT_ONCE` at the same time.
//!
//! Between near cores each line of data moves twice in both ways, so these moves are left out: a line of the copy buffer moves to
//! the receiver and back; of the kernel's copy, a line of the buffer in the other process moves here and back at its next use.
//!
//! Both sums are linear in n for messages of up to four chunks and for longer ones, and the kernel's begins higher. So there is a
//! length up to which fragments are faster, or they are always faster. But when the two buffers of the program do not
//! fit into the last-level cache, every byte comes from memory and the kernel is faster, which moves each byte once
//! (measured with 32 MiB of cache: 4 MiB 155 us by fragments and 246 by the kernel, 64 MiB 15 and 10 ms). So half of that
//! cache is the largest limit.
//!
//! Invariant: every limit is in [`LEAST_LIMIT`]`..=`[`MOST_LIMIT`], whatever was measured or lies in the job memory.
//! Not here: the measurement (`measure`), which messages have a choice (`mpi-p2p`).

mod measure;

use std::time::Instant;

use crate::job::Job;
use crate::layout::{LINE, header};
use crate::ring::FAR_NS;
use crate::sync::{AtomicU64, Ordering};

pub(crate) use measure::measure;

/// Smallest limit: messages of up to so many bytes always go in fragments.
pub const LEAST_LIMIT: u64 = 64 << 10;

/// Largest limit.
pub const MOST_LIMIT: u64 = 64 << 20;

/// Longest chunk in bytes of a copy by the kernel.
pub const CHUNK_MAX: u64 = 128 << 10;

/// Two processes that copy chunks of one message at once need so many times the work of one, in hundredths: each takes
/// the lock of the other's page tables (measured: 4 MiB in 246 us by both, 340 us by one).
const TOGETHER: u64 = 150;

/// So many lines a core loads at the same time.
const LOADS_AT_ONCE: u64 = 10;

/// The limits until a calibration is published, and for those whose rates are out of range: half of a cache of 32 MiB.
const BUILT_IN_LIMIT: u64 = 16 << 20;

const MIB: u64 = 1 << 20;

/// Largest fixed cost of a call in nanoseconds, and longest time per MiB, that can be measured.
const MOST_CALL_NS: u64 = 1_000_000;
/// See [`MOST_CALL_NS`].
const MOST_NS_PER_MIB: u64 = 1_000_000_000;
/// Longest time of a calibration: of one that another process interrupts.
const MOST_TOOK_NS: u64 = 100_000_000_000;

/// The state of the calibration in the job memory.
const NONE: u64 = 0;
const CLAIMED: u64 = 1;
const PUBLISHED: u64 = 2;

/// What one process measured for all of its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calibration {
    /// Fixed cost of one copy by the kernel, in nanoseconds.
    pub kernel_call_ns: u64,
    /// Time in nanoseconds in which the kernel copies 1 MiB.
    pub kernel_ns_per_mib: u64,
    /// Time in nanoseconds of the two copies of 1 MiB through a buffer, by ordinary stores.
    pub cached_ns_per_mib: u64,
    /// The same by streaming stores.
    pub streaming_ns_per_mib: u64,
    /// Length of the last-level cache in bytes.
    pub cache_bytes: u64,
    /// Nanoseconds that the calibration took.
    pub took_ns: u64,
}

/// Up to which length in bytes fragments are the faster way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WayLimits {
    /// To a receiver on a core that shares a cache with the sender's.
    pub near: u64,
    /// To other receivers.
    pub far: u64,
}

impl WayLimits {
    /// The limits without a calibration.
    pub const BUILT_IN: WayLimits = WayLimits { near: BUILT_IN_LIMIT, far: BUILT_IN_LIMIT };
}

/// The calibration as this process found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calibrated {
    /// No process has published one yet.
    NotYet,
    /// A process has published rates that are out of range: a measurement that failed, or damage.
    Invalid,
    /// The rates.
    Rates(Calibration),
}

impl Calibration {
    /// The limits that follow from the rates.
    pub fn limits(&self) -> WayLimits {
        let most = (self.cache_bytes / 2).clamp(LEAST_LIMIT, MOST_LIMIT);
        let kernel = self.kernel_ns_per_mib * TOGETHER / 100;
        let far_lines = MIB / LINE as u64 * u64::from(FAR_NS) / LOADS_AT_ONCE;
        WayLimits {
            near: crossing(self.kernel_call_ns, kernel, self.cached_ns_per_mib).clamp(LEAST_LIMIT, most),
            far: crossing(self.kernel_call_ns, kernel + far_lines, self.streaming_ns_per_mib).clamp(LEAST_LIMIT, most),
        }
    }

    fn words(&self) -> [u64; header::CALIBRATED_WORDS] {
        [
            self.kernel_call_ns,
            self.kernel_ns_per_mib,
            self.cached_ns_per_mib,
            self.streaming_ns_per_mib,
            self.cache_bytes,
            self.took_ns,
        ]
    }

    /// The calibration of words that another process may have written; `None` if one is out of range.
    fn of_words(words: [u64; header::CALIBRATED_WORDS]) -> Option<Calibration> {
        let [kernel_call_ns, kernel_ns_per_mib, cached_ns_per_mib, streaming_ns_per_mib, cache_bytes, took_ns] = words;
        let rates = [kernel_ns_per_mib, cached_ns_per_mib, streaming_ns_per_mib];
        let in_range = kernel_call_ns <= MOST_CALL_NS
            && rates.iter().all(|rate| (1..=MOST_NS_PER_MIB).contains(rate))
            && took_ns <= MOST_TOOK_NS;
        in_range.then_some(Calibration {
            kernel_call_ns,
            kernel_ns_per_mib,
            cached_ns_per_mib,
            streaming_ns_per_mib,
            cache_bytes,
            took_ns,
        })
    }
}

/// Largest number of bytes of which fragments are less work; `u64::MAX`: of any. The fixed cost of a chunk in nanoseconds,
/// and nanoseconds per MiB of both ways, each 2^40 at most.
fn crossing(chunk_ns: u64, kernel: u64, fragments: u64) -> u64 {
    if fragments <= kernel + chunk_ns * (MIB / CHUNK_MAX) {
        return u64::MAX;
    }
    // Up to four of the longest chunks a message has four; beyond that the kernel is less work, as just found.
    (4 * chunk_ns * MIB / (fragments - kernel)).min(4 * CHUNK_MAX)
}

/// The words of the calibration in the job memory.
pub(crate) struct CalibrationWords<'a> {
    state: &'a AtomicU64,
    values: [&'a AtomicU64; header::CALIBRATED_WORDS],
}

impl<'a> CalibrationWords<'a> {
    pub(crate) fn of(job: &'a Job) -> CalibrationWords<'a> {
        let value = |i: usize| job.mapping().word(header::CALIBRATED + 8 * i);
        CalibrationWords { state: job.mapping().word(header::CALIBRATION), values: std::array::from_fn(value) }
    }

    /// What was published.
    pub(crate) fn read(&self) -> Calibrated {
        // Acquire pairs with the Release in `publish`.
        if self.state.load(Ordering::Acquire) != PUBLISHED {
            return Calibrated::NotYet;
        }
        let words = self.values.map(|value| value.load(Ordering::Relaxed));
        Calibration::of_words(words).map_or(Calibrated::Invalid, Calibrated::Rates)
    }

    /// Makes the caller the process that measures; false if there is one already. If that process ends before it
    /// publishes, none does.
    pub(crate) fn claim(&self) -> bool {
        // Relaxed: the claim publishes nothing.
        self.state.compare_exchange(NONE, CLAIMED, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Publishes what the caller, who has claimed it, has measured; `None`: the measurement failed.
    pub(crate) fn publish(&self, calibration: Option<&Calibration>) {
        let words = calibration.map_or([0; header::CALIBRATED_WORDS], Calibration::words);
        self.values.iter().zip(words).for_each(|(value, word)| value.store(word, Ordering::Relaxed));
        // Release pairs with the Acquire in `read`.
        self.state.store(PUBLISHED, Ordering::Release);
    }
}

/// Measures in this process, and publishes the result, if no process of the job has begun to. Takes less than 2 ms, and
/// 256 KiB of memory meanwhile.
pub(crate) fn calibrate(job: &Job) {
    let words = CalibrationWords::of(job);
    if words.claim() {
        let begun = Instant::now();
        let measured = measure(begun);
        let calibration = measured.map(|rates| Calibration { took_ns: begun.elapsed().as_nanos() as u64, ..rates });
        words.publish(calibration.as_ref());
    }
}

#[cfg(test)]
mod tests;
