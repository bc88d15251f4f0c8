//! Reports that the processes of a file exchange over the file's own communicator: a fault or some numbers.
//!
//! Invariant: a process with a fault takes part in the exchange nevertheless, so that no other process waits for ever.
//! Not here: the messages (`mpi_comm::Exchange`), the consequences of the reports.

use mpi_comm::{Comm, Exchange};
use mpi_errors::{Error, Result};
use mpi_p2p::{Engine, TAGS_OF_SOME};

use crate::fault::Fault;

const TAG: i32 = 0x7010;
/// The same among processes of several hosts: one that has lost another one passes the error on, because the others may
/// have no connection that shows the loss.
const TAG_OVER_HOSTS: i32 = TAGS_OF_SOME + TAG;
/// Words of a report in a message.
const WORDS: usize = 6;

/// The report of one process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Report {
    /// The fault in this process; `None` when there was none.
    pub fault: Option<Fault>,
    /// Their meaning depends on the exchange; without a fault or with one.
    pub numbers: [u64; 4],
}

impl Report {
    /// The report of a process on its own part: the class of the error, or these numbers.
    pub fn of<T>(part: &Result<T>, numbers: [u64; 3]) -> Report {
        let [first, second, third] = numbers;
        let fault = part.as_ref().err().map(|error| Fault { class: error.class(), errno: 0 });
        Report { fault, numbers: [first, second, third, 0] }
    }

    fn to_words(self) -> [u64; WORDS] {
        let fault = self.fault.unwrap_or(Fault { class: 0, errno: 0 });
        let [first, second, third, fourth] = self.numbers;
        [fault.class as u64, fault.errno as u64, first, second, third, fourth]
    }

    fn from_words(words: &[u64; WORDS]) -> Report {
        let (class, errno) = (words[0] as i32, words[1] as i32);
        let fault = (class != 0).then_some(Fault { class, errno });
        Report { fault, numbers: [words[2], words[3], words[4], words[5]] }
    }
}

fn among_all<'a>(engine: &'a Engine, comm: &Comm) -> Exchange<'a> {
    let (guard, members) = (engine.lock(), comm.group().world_ranks());
    // A job on one host, without a network of its own, may have been connected with one on others.
    let may_span = engine.has_network(&guard) || members.iter().any(|member| *member >= engine.size());
    let over_hosts = may_span && !engine.on_one_host(&guard, members);
    drop(guard);
    Exchange::among_all(engine, comm, if over_hosts { TAG_OVER_HOSTS } else { TAG })
}

/// As [`exchange`], after messages between some of the processes, of which `lost` is the error. All get it.
pub(crate) fn exchange_after(engine: &Engine, comm: &Comm, lost: Option<Error>, own: Report) -> Result<Vec<Report>> {
    let all = among_all(engine, comm).all_after(lost, own.to_words())?;
    Ok(all.iter().map(Report::from_words).collect())
}

/// The reports of all processes of a file, by rank.
pub(crate) fn exchange(engine: &Engine, comm: &Comm, own: Report) -> Result<Vec<Report>> {
    exchange_with(engine, comm, own, |_| {})
}

/// As [`exchange`]; when all reports have arrived at rank 0, and before any process receives them, rank 0 applies
/// `adjust` to them.
pub(crate) fn exchange_with(
    engine: &Engine,
    comm: &Comm,
    own: Report,
    adjust: impl FnOnce(&mut [Report]),
) -> Result<Vec<Report>> {
    let all = among_all(engine, comm).all_with(own.to_words(), |words| {
        let mut reports: Vec<Report> = words.iter().map(Report::from_words).collect();
        adjust(&mut reports);
        words.iter_mut().zip(reports).for_each(|(words, report)| *words = report.to_words());
    })?;
    Ok(all.iter().map(Report::from_words).collect())
}

/// Rank 0 performs a step; all processes get its result.
pub(crate) fn by_first(
    engine: &Engine,
    comm: &Comm,
    act: impl FnOnce() -> Result<[u64; 2], Fault>,
) -> Result<Result<[u64; 2], Fault>> {
    let words = among_all(engine, comm).from_first(|| {
        let report = match act() {
            Ok([first, second]) => Report { fault: None, numbers: [first, second, 0, 0] },
            Err(fault) => Report { fault: Some(fault), numbers: [0; 4] },
        };
        report.to_words()
    })?;
    let report = Report::from_words(&words);
    Ok(report.fault.map_or(Ok([report.numbers[0], report.numbers[1]]), Err))
}

/// The first process with a fault, and the fault.
pub(crate) fn first_fault(reports: &[Report]) -> Option<(usize, Fault)> {
    reports.iter().enumerate().find_map(|(rank, report)| Some((rank, report.fault?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_keeps_its_value_in_a_message() {
        for fault in [None, Some(Fault { class: 42, errno: libc::ENOENT }), Some(Fault { class: 1, errno: 0 })] {
            let report = Report { fault, numbers: [7, u64::MAX, 0, 3] };
            assert_eq!(Report::from_words(&report.to_words()), report);
        }
    }

    #[test]
    fn the_fault_of_the_lowest_rank_is_first() {
        let report = |class| Report { fault: (class != 0).then_some(Fault { class, errno: 5 }), numbers: [0; 4] };
        assert_eq!(first_fault(&[report(0), report(3), report(2)]), Some((1, Fault { class: 3, errno: 5 })));
        assert_eq!(first_fault(&[report(0)]), None);
    }
}
