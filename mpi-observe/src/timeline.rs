//! A timeline of a job: its last calls with their times, as a file that ui.perfetto.dev opens.
//!
//! The calls are those that the flight recorders have, with times where `fabric_recorder_times` is on. What is in the job
//! memory is input: calls with times that cannot be are left out.
//! Invariant: no arrow from a send to a receive is guessed; see `trace_arrows`.
//! Not here: the times of all calls (`mpiexec --trace`), which are written in the same form.

mod trace_arrows;
mod trace_json;

pub use trace_arrows::{Arrows, IsSettled};
pub use trace_json::{TracedRank, Written, write};

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::path::Path;

use mpi_core::abi::MPI_COMM_WORLD;
use mpi_core::clock;
use mpi_errors::counted;
use mpi_fabric::recorder::{Call, REFUSED, TimedCall, Times};
use mpi_fabric::traffic;
use mpi_pmpi::records::Event;

use crate::JobView;
use crate::sample::Sampler;
use crate::words;

/// How far the clocks of two hosts may differ at most.
const CLOCKS_APART_NS: u64 = 10_000_000_000;

/// The last calls of all ranks.
#[derive(Debug)]
pub struct Timeline {
    calls: Vec<Vec<(Event, String)>>,
    /// Ranks that have made calls, but recorded no times.
    untimed: Vec<u32>,
    receipts: Receipts,
    now_ns: u64,
}

/// Who has received what from whom.
#[derive(Debug, Default, PartialEq)]
struct Receipts {
    /// Messages sent and received, by rank and by the other rank; `None`: not known.
    messages: Vec<Option<BTreeMap<u32, (u64, u64)>>>,
    /// Receives that wait, by rank.
    posted: Vec<u64>,
}

impl Receipts {
    fn read(job: JobView<'_>) -> Receipts {
        let sample = Sampler::new().take(job);
        let of_rank = |rank: u32| {
            let there = &sample.ranks[rank as usize];
            // A call that failed may have received nothing.
            let is_sure = !there.is_lost && there.counts.is_some_and(|counts| counts.errors == 0);
            let traffic = traffic::read(job.job(), rank);
            (is_sure && traffic.elsewhere == 0).then(|| {
                let counts = traffic.peers.into_iter();
                counts.map(|(peer, counts)| (peer, (counts.messages_sent, counts.messages_received))).collect()
            })
        };
        Receipts {
            messages: (0..job.ranks()).map(of_rank).collect(),
            posted: sample.ranks.iter().map(|rank| rank.counts.map_or(0, |counts| counts.posted)).collect(),
        }
    }

    /// Whether a rank has received all that another one has sent to it, and, if it posts receives, waits for none.
    fn settled(&self, from: u32, to: u32, posts: bool) -> bool {
        let of = |rank: u32, other: u32| self.messages.get(rank as usize)?.as_ref()?.get(&other).copied();
        let counted =
            matches!((of(from, to), of(to, from)), (Some((sent, _)), Some((_, received))) if sent == received);
        counted && !(posts && self.posted.get(to as usize).is_none_or(|posted| *posted > 0))
    }

    /// What was so at both times; messages of ranks that went on are not known.
    fn unchanged(mut self, before: &Receipts) -> Receipts {
        for (now, earlier) in self.messages.iter_mut().zip(&before.messages) {
            if now != earlier {
                *now = None;
            }
        }
        self
    }
}

impl Written {
    /// What the file has, in a sentence without its full stop.
    pub fn sentence(&self, path: &Path, untimed: &[u32]) -> String {
        let left_out = match untimed {
            [] => String::new(),
            untimed => format!("; without {}, which recorded no times", words::ranks(untimed)),
        };
        let (calls, arrows) = (counted(self.calls, "call"), counted(self.arrows, "arrow"));
        let path = path.display();
        format!("the last {calls} are in {path}, with {arrows} from sends to receives, for ui.perfetto.dev{left_out}")
    }
}

impl Timeline {
    /// The last calls of a job that may run. `shifts`: by rank, how many nanoseconds later the time is than the clock of its
    /// host has it, compared with the one here; empty on one host.
    pub fn capture(job: JobView<'_>, shifts: &[i64]) -> Timeline {
        let before = Receipts::read(job);
        let recorded: Vec<_> = (0..job.ranks()).map(|rank| job.timed_calls(rank)).collect();
        let now_ns = clock::monotonic_ns();
        let receipts = Receipts::read(job).unchanged(&before);
        let is_untimed = |calls: &Vec<TimedCall>| !calls.is_empty() && calls.iter().all(|call| call.times.is_none());
        let untimed = recorded.iter().zip(0..).filter(|(calls, _)| is_untimed(calls)).map(|(_, rank)| rank).collect();
        // Clocks of several hosts agree in about a millisecond, and may be wrong.
        let last_ns = if shifts.is_empty() { now_ns } else { now_ns.saturating_add(CLOCKS_APART_NS) };
        let of_rank = |(rank, calls): (usize, Vec<TimedCall>)| {
            let shift = shifts.get(rank).copied().unwrap_or(0);
            calls.iter().filter_map(|call| event(call, shift, last_ns)).collect::<Vec<_>>()
        };
        let calls: Vec<_> = recorded.into_iter().enumerate().map(of_rank).collect();
        let ends = calls.iter().flatten().map(|(event, _)| event.end_ns.max(event.start_ns)).max();
        Timeline { calls, untimed, receipts, now_ns: now_ns.max(ends.unwrap_or(0)) }
    }

    /// Whether it has no calls.
    pub fn is_empty(&self) -> bool {
        self.calls.iter().all(Vec::is_empty)
    }

    /// Ranks that have made calls, but recorded no times.
    pub fn untimed(&self) -> &[u32] {
        &self.untimed
    }

    /// Writes the file. `of_rank`: the program of a rank, and its host if the job has several. `moment`: what the time is at
    /// which the calls were read. Errors: of writing.
    pub fn write(
        self,
        file: File,
        of_rank: &dyn Fn(u32) -> (String, Option<String>),
        moment: &str,
    ) -> io::Result<Written> {
        let receipts = &self.receipts;
        let is_settled: IsSettled<'_> = Box::new(|from, to, posts| receipts.settled(from, to, posts));
        let arrows = Arrows::of_last(self.calls.len() as u32, is_settled);
        let start = self.calls.iter().flatten().map(|(event, _)| event.start_ns).min().unwrap_or(self.now_ns);
        let ranks = (0..).zip(self.calls).map(|(rank, calls)| {
            let (program, host) = of_rank(rank);
            TracedRank { program, host, calls: calls.into_iter().map(|(event, text)| (event, Some(text))) }
        });
        write(file, start, ranks.collect(), arrows, Some((self.now_ns, moment)))
    }
}

/// A call as an event of a trace, with its words; `None` for one without times, or with times that cannot be.
fn event(timed: &TimedCall, shift: i64, now_ns: u64) -> Option<(Event, String)> {
    let TimedCall { call, times: Some(Times { begin_ns, end_ns, thread, second }) } = *timed else { return None };
    let moved = |ns: u64| ns.checked_add_signed(shift).filter(|_| ns != 0);
    let (begin_ns, end_ns) = (
        moved(begin_ns)?,
        match end_ns {
            None => None,
            Some(end) => Some(moved(end)?),
        },
    );
    let is_possible = begin_ns <= now_ns && end_ns.is_none_or(|end| begin_ns <= end && end <= now_ns);
    let Call { function, comm, peer, .. } = call;
    is_possible.then(|| {
        let event = Event {
            function,
            thread,
            start_ns: begin_ns,
            // A call that cannot wait takes some time too.
            end_ns: end_ns.map_or(0, |end| end.max(begin_ns + 1)),
            peer: call.peer(),
            tag: call.tag(),
            object: (comm & !1 == 0 && peer != REFUSED).then_some(MPI_COMM_WORLD as u64),
            second,
            ..Event::default()
        };
        (event, call.describe())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_core::functions;

    #[test]
    fn calls_with_times_that_cannot_be_are_left_out() {
        let call = Call { sequence: 1, function: functions::MPI_SEND, ended: true, comm: 0, peer: 1, tag: 2, count: 3 };
        let timed = |begin_ns, end_ns| {
            let times = Times { begin_ns, end_ns, thread: 4, second: None };
            event(&TimedCall { call, times: Some(times) }, 0, 100).map(|(event, _)| (event.start_ns, event.end_ns))
        };
        assert_eq!(timed(10, Some(20)), Some((10, 20)));
        assert_eq!(timed(10, Some(10)), Some((10, 11)));
        assert_eq!(timed(10, None), Some((10, 0)));
        for (begin, end) in [(0, None), (101, None), (10, Some(9)), (10, Some(101)), (u64::MAX, Some(u64::MAX))] {
            assert_eq!(timed(begin, end), None, "{begin} {end:?}");
        }
        let times = Some(Times { begin_ns: 10, end_ns: None, thread: 4, second: None });
        let shifted = |by| event(&TimedCall { call, times }, by, 100).map(|(event, _)| event.start_ns);
        assert_eq!((shifted(5), shifted(-9), shifted(91), shifted(-11)), (Some(15), Some(1), None, None));
        assert_eq!(event(&TimedCall { call, times: None }, 0, 100), None);
    }

    #[test]
    fn a_call_without_a_peer_or_tag_has_none_in_the_file() {
        let times = Some(Times { begin_ns: 10, end_ns: None, thread: 4, second: None });
        let of = |function, peer, tag| {
            let call = Call { sequence: 1, function, ended: false, comm: 0, peer, tag, count: 0 };
            event(&TimedCall { call, times }, 0, 100).map(|(event, _)| (event.peer, event.tag)).expect("times")
        };
        assert_eq!(of(functions::MPI_BARRIER, -1, 0), (None, None));
        assert_eq!(of(functions::MPI_BCAST, 2, 0), (Some(2), None));
        assert_eq!(of(functions::MPI_RECV, -1, 7), (Some(-1), Some(7)));
        assert_eq!(of(functions::MPI_SEND, 3, 0), (Some(3), Some(0)));
        assert_eq!(of(functions::MPI_SEND, REFUSED, 0), (None, None));
        assert_eq!(of(functions::MPI_WIN_FENCE, -1, 0), (None, None));
    }

    #[test]
    fn messages_are_settled_if_all_were_received() {
        let counts = |of: &[(u32, (u64, u64))]| Some(of.iter().copied().collect::<BTreeMap<_, _>>());
        let receipts = || Receipts {
            messages: vec![counts(&[(1, (5, 2)), (2, (1, 0))]), counts(&[(0, (3, 5))]), None],
            posted: vec![0, 1, 0],
        };
        let it = receipts();
        assert!(it.settled(0, 1, false) && !it.settled(0, 1, true) && !it.settled(1, 0, false));
        assert!(!it.settled(0, 2, false) && !it.settled(7, 0, false));
        let mut later = receipts();
        later.messages[1] = counts(&[(0, (4, 5))]);
        assert!(!later.unchanged(&it).settled(0, 1, false));
    }
}
