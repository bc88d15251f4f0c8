//! Facts and counts of all ranks at one moment, and rates between two moments.
//!
//! Invariant: counts are read one after the other while the ranks run, so two of them may differ by what happened
//! between. Not here: how they are shown.

use std::time::Instant;

use mpi_fabric::Life;
use mpi_fabric::instruments::{Summand, Sums};
use mpi_fabric::recorder::Call;
use mpi_t::PvarClass::{Aggregate, Counter, Level, State, Timer};

use crate::JobView;

/// The counts of a rank, in the order of [`SUMMANDS`].
const SUMMANDS: [Summand; 19] = [
    Summand::Name("p2p_eager_sent", Counter),
    Summand::Name("p2p_rendezvous_sent", Counter),
    Summand::Name("p2p_eager_bytes_sent", Aggregate),
    Summand::Name("p2p_rendezvous_bytes_sent", Aggregate),
    Summand::Name("p2p_eager_received", Counter),
    Summand::Name("p2p_rendezvous_received", Counter),
    Summand::Name("p2p_bytes_received", Aggregate),
    Summand::Category("coll.calls", Counter),
    Summand::Name("p2p_time_waited", Timer),
    Summand::Name("p2p_waits", Counter),
    Summand::Name("MPI_T_UMQ_LENGTH", Level),
    Summand::Name("p2p_unexpected_bytes", Level),
    Summand::Name("p2p_posted_length", Level),
    Summand::Name("p2p_requests", Level),
    Summand::Name("process_state", State),
    Summand::Name("p2p_unexpected_messages", Counter),
    Summand::Name("memory_alloc_mem", Level),
    Summand::Name("errors_raised", Counter),
    Summand::Category("file.traffic", Aggregate),
];

/// What a rank has counted. Messages and bytes sent include those of collective operations inside the library.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Messages whose send has started.
    pub messages_sent: u64,
    /// Bytes in them.
    pub bytes_sent: u64,
    /// Messages received.
    pub messages_received: u64,
    /// Bytes in the program's own messages that were matched with a receive.
    pub bytes_received: u64,
    /// Calls of collective operations, and starts of persistent ones.
    pub collective_calls: u64,
    /// Nanoseconds that blocking calls waited; added when a wait ends.
    pub waited_ns: u64,
    /// Number of those waits.
    pub waits: u64,
    /// Messages that have arrived and wait for a receive.
    pub unexpected: u64,
    /// Bytes stored for them.
    pub unexpected_bytes: u64,
    /// Receives that wait for their message.
    pub posted: u64,
    /// Requests that exist.
    pub requests: u64,
    /// The value of `process_state`.
    pub state: u64,
    /// Messages that arrived before their receive.
    pub unexpected_ever: u64,
    /// Bytes of memory that the program has from `MPI_Alloc_mem`.
    pub alloc_mem_bytes: u64,
    /// Errors raised.
    pub errors: u64,
    /// Bytes read from and written to files.
    pub file_bytes: u64,
}

impl Counts {
    fn of(sums: &[u64]) -> Counts {
        let at = |i: usize| sums.get(i).copied().unwrap_or(0);
        Counts {
            messages_sent: at(0).wrapping_add(at(1)),
            bytes_sent: at(2).wrapping_add(at(3)),
            messages_received: at(4).wrapping_add(at(5)),
            bytes_received: at(6),
            collective_calls: at(7),
            waited_ns: at(8),
            waits: at(9),
            unexpected: at(10),
            unexpected_bytes: at(11),
            posted: at(12),
            requests: at(13),
            state: at(14),
            unexpected_ever: at(15),
            alloc_mem_bytes: at(16),
            errors: at(17),
            file_bytes: at(18),
        }
    }
}

/// A rank at one moment.
#[derive(Clone, Debug)]
pub struct RankSample {
    /// Its process; 0: none has attached.
    pub pid: u32,
    /// Its state.
    pub life: Life,
    /// Whether it was reported as ended while the others continue.
    pub is_lost: bool,
    /// The call that it is in, the innermost if several; else the last one that returned.
    pub call: Option<Call>,
    /// Further calls that have not returned: those of other threads, the newest first.
    pub other_calls: Vec<Call>,
    /// Whether calls are recorded.
    pub records_calls: bool,
    /// What it has counted; `None` before it has any instruments.
    pub counts: Option<Counts>,
}

impl RankSample {
    /// Whether it is inside a call.
    pub fn is_in_call(&self) -> bool {
        self.call.is_some_and(|call| !call.ended)
    }
}

/// All ranks at one moment.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The moment.
    pub at: Instant,
    /// By rank.
    pub ranks: Vec<RankSample>,
}

/// Takes samples of one job. What lies where is found once, so that a sample costs about a microsecond for each rank.
#[derive(Debug)]
pub struct Sampler {
    sums: Sums,
}

impl Default for Sampler {
    fn default() -> Sampler {
        Sampler::new()
    }
}

impl Sampler {
    /// A sampler.
    pub fn new() -> Sampler {
        Sampler { sums: Sums::new(&SUMMANDS) }
    }

    /// The ranks of a job now; always of the same job.
    pub fn take(&mut self, job: JobView<'_>) -> Sample {
        Sample { at: Instant::now(), ranks: (0..job.ranks()).map(|rank| self.rank(job, rank)).collect() }
    }

    fn rank(&mut self, job: JobView<'_>, rank: u32) -> RankSample {
        let (pid, life) = (job.pid(rank), job.life(rank));
        let calls = job.calls(rank);
        let open = || calls.iter().rev().filter(|call| !call.ended);
        let (sums, has_instruments) = self.sums.read(job.job(), rank);
        RankSample {
            pid,
            life,
            is_lost: job.is_lost(rank),
            call: open().next().or(calls.last()).copied(),
            other_calls: open().skip(1).copied().collect(),
            records_calls: job.records_calls(rank),
            counts: has_instruments.then(|| Counts::of(&sums)),
        }
    }
}

/// What a rank did between two samples, per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// Messages sent.
    pub messages_sent: f64,
    /// Messages received.
    pub messages_received: f64,
    /// Bytes sent.
    pub bytes_sent: f64,
    /// Bytes received in the program's own messages.
    pub bytes_received: f64,
    /// Collective calls.
    pub collective_calls: f64,
    /// Part of the time that it waited in blocking calls, from 0 to 1. A wait counts when it ends; a rank that was in one
    /// call all the time, neither computing nor in file I/O at both moments, has waited all the time.
    pub waiting: f64,
}

/// The value of `process_state` of a process that computes.
const COMPUTING: u64 = 0;
/// The value of `process_state` of a process that reads or writes a file.
const IN_FILE: u64 = 4;

impl Rates {
    /// The rates of one rank from an earlier sample to a later one, `seconds` apart. Counts that fell, because an object was
    /// freed or the memory is damaged, count as unchanged.
    pub fn between(before: &RankSample, after: &RankSample, seconds: f64) -> Rates {
        let (Some(old), Some(new)) = (before.counts, after.counts) else { return Rates::default() };
        let per_second = |count: fn(&Counts) -> u64| {
            let grown = count(&new).saturating_sub(count(&old)) as f64;
            if seconds > 0.0 { grown / seconds } else { 0.0 }
        };
        let waits = |state| state != COMPUTING && state != IN_FILE;
        let is_same_call = match (before.call, after.call) {
            (Some(first), Some(second)) => !first.ended && !second.ended && first.sequence == second.sequence,
            // Without recorded calls the states and the count of waits have to do.
            (None, None) => old.waits == new.waits,
            _ => false,
        };
        let waiting = match is_same_call && waits(old.state) && waits(new.state) {
            true => 1.0,
            false => (per_second(|counts| counts.waited_ns) / 1e9).clamp(0.0, 1.0),
        };
        Rates {
            messages_sent: per_second(|counts| counts.messages_sent),
            messages_received: per_second(|counts| counts.messages_received),
            bytes_sent: per_second(|counts| counts.bytes_sent),
            bytes_received: per_second(|counts| counts.bytes_received),
            collective_calls: per_second(|counts| counts.collective_calls),
            waiting,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_core::functions;

    fn rank(sequence: u64, ended: bool, counts: Counts) -> RankSample {
        let call = Call { sequence, function: functions::MPI_RECV, ended, comm: 0, peer: 1, tag: 0, count: 1 };
        RankSample {
            pid: 1,
            life: Life::Initialised,
            is_lost: false,
            call: Some(call),
            other_calls: Vec::new(),
            records_calls: true,
            counts: Some(counts),
        }
    }

    #[test]
    fn a_rank_that_stays_in_one_call_waits_all_the_time() {
        let waiting = Counts { state: 2, ..Counts::default() };
        let rates = Rates::between(&rank(5, false, waiting), &rank(5, false, waiting), 0.5);
        assert_eq!(rates.waiting, 1.0);
        let other_call = Rates::between(&rank(5, false, waiting), &rank(6, false, waiting), 0.5);
        assert_eq!(other_call.waiting, 0.0);
        let computing = Counts::default();
        assert_eq!(Rates::between(&rank(5, false, computing), &rank(5, false, computing), 0.5).waiting, 0.0);
    }

    #[test]
    fn rates_are_per_second_and_never_negative() {
        let old = Counts { messages_sent: 10, bytes_sent: 100, waited_ns: 0, ..Counts::default() };
        let new = Counts { messages_sent: 30, bytes_sent: 50, waited_ns: 250_000_000, ..Counts::default() };
        let rates = Rates::between(&rank(1, true, old), &rank(9, true, new), 0.5);
        assert_eq!((rates.messages_sent, rates.bytes_sent, rates.waiting), (40.0, 0.0, 0.5));
        // A wait of an earlier time that ends now.
        let long = Counts { waited_ns: 9_000_000_000, ..new };
        assert_eq!(Rates::between(&rank(1, true, old), &rank(9, true, long), 0.5).waiting, 1.0);
        assert_eq!(Rates::between(&rank(1, true, old), &rank(9, true, new), 0.0).messages_sent, 0.0);
    }
}
