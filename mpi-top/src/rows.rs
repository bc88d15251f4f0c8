//! What is shown of each rank, and its order.
//!
//! Not here: how it is drawn (`ranks_screen`, `once`).

use std::cmp::Ordering;

use mpi_core::abi::MPI_ANY_SOURCE;
use mpi_fabric::Life;
use mpi_fabric::job::HostRanks;
use mpi_fabric::recorder::{Call, REFUSED};
use mpi_launch::CATALOG;
use mpi_observe::JobView;
use mpi_observe::process::{ProcessFacts, ProcessState};
use mpi_observe::sample::{Counts, RankSample, Rates, Sample};
use mpi_observe::words::{amount, bytes};

/// The columns, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// The rank.
    Rank,
    /// Its process.
    Pid,
    /// Its state.
    State,
    /// Part of the time that it waits.
    Waiting,
    /// Messages sent per second.
    Sent,
    /// Messages received per second.
    Received,
    /// Bytes sent per second.
    BytesSent,
    /// Collective calls per second.
    Collectives,
    /// Messages without a receive.
    Unexpected,
    /// Receives without a message.
    Posted,
    /// Requests.
    Requests,
    /// The call that it is in.
    Call,
}

/// All columns: title, width, explanation.
pub const COLUMNS: [(Column, &str, u16); 12] = [
    (Column::Rank, "RANK", 5),
    (Column::Pid, "PID", 8),
    (Column::State, "STATE", 15),
    (Column::Waiting, "WAIT%", 5),
    (Column::Sent, "SENT/S", 7),
    (Column::Received, "RECV/S", 7),
    (Column::BytesSent, "BYTES/S", 9),
    (Column::Collectives, "COLL/S", 7),
    (Column::Unexpected, "UNEXP", 6),
    (Column::Posted, "POSTED", 6),
    (Column::Requests, "REQS", 6),
    (Column::Call, "CALL", 20),
];

/// One rank.
#[derive(Clone, Debug)]
pub struct Row {
    /// The rank.
    pub rank: u32,
    /// Its process; 0: none.
    pub pid: u32,
    /// Its state.
    pub state: &'static str,
    /// The call that it is in, else the last one.
    pub call: Option<Call>,
    /// Further calls that have not returned, of other threads.
    pub other_calls: Vec<Call>,
    /// What it has counted.
    pub counts: Option<Counts>,
    /// What it does per second.
    pub rates: Rates,
    /// What the system reports of its process.
    pub process: Option<ProcessFacts>,
}

/// The rows of a job from two samples; `process`: of each rank what the system reports, `None` where there is no process;
/// `hosts`: those of the job. Ranks on other hosts have no row.
pub fn rows(before: &Sample, after: &Sample, process: &[Option<ProcessFacts>], hosts: &[HostRanks]) -> Vec<Row> {
    let seconds = after.at.duration_since(before.at).as_secs_f64();
    let pairs = before.ranks.iter().zip(&after.ranks).zip(process);
    let row = |(rank, ((old, new), process)): (usize, ((&RankSample, &RankSample), &Option<ProcessFacts>))| Row {
        rank: rank as u32,
        pid: new.pid,
        state: state(new, *process),
        call: new.call,
        other_calls: new.other_calls.clone(),
        counts: new.counts,
        rates: Rates::between(old, new, seconds),
        process: *process,
    };
    let is_here = |(rank, _): &(usize, _)| !JobView::is_elsewhere(hosts, *rank as u32);
    pairs.enumerate().filter(is_here).map(row).collect()
}

/// The state of a rank as text.
fn state(rank: &RankSample, process: Option<ProcessFacts>) -> &'static str {
    let is_gone = rank.pid != 0 && process.is_none_or(|facts| facts.state == ProcessState::Ended);
    let is_stopped = process.is_some_and(|facts| facts.state == ProcessState::Stopped);
    match rank.life {
        Life::Absent => "not started",
        Life::Finalised if is_gone => "ended",
        _ if is_gone || rank.is_lost => "lost",
        _ if is_stopped => "stopped",
        Life::Attached => "before MPI_Init",
        Life::Finalised => "finalized",
        Life::Initialised => {
            let state = rank.counts.map_or(0, |counts| counts.state);
            match CATALOG.state_name("process_state", state as u32 as i32) {
                Some("computing") if rank.is_in_call() => "in MPI",
                Some(name) => name,
                None => "unknown",
            }
        }
    }
}

/// The peer of a call, as far as it has one.
fn peer(call: &Call) -> Option<String> {
    match call.peer {
        REFUSED => None,
        peer @ 0.. => Some(peer.to_string()),
        MPI_ANY_SOURCE => Some("any".to_owned()),
        _ => None,
    }
}

/// A call as one cell: what a rank is in, or after what.
pub fn call_text(call: Option<&Call>) -> String {
    match call {
        Some(call) if call.ended => format!("after {}", call.function_name()),
        Some(call) => call.describe(),
        None => String::new(),
    }
}

impl Row {
    /// The text of a column.
    pub fn cell(&self, column: Column) -> String {
        let counted =
            |count: fn(&Counts) -> u64| self.counts.map_or_else(|| "-".into(), |counts| amount(count(&counts) as f64));
        match column {
            Column::Rank => self.rank.to_string(),
            Column::Pid if self.pid == 0 => "-".into(),
            Column::Pid => self.pid.to_string(),
            Column::State => self.state.to_owned(),
            Column::Waiting => format!("{:.0}", self.rates.waiting * 100.0),
            Column::Sent => amount(self.rates.messages_sent.round()),
            Column::Received => amount(self.rates.messages_received.round()),
            Column::BytesSent => bytes(self.rates.bytes_sent.round()),
            Column::Collectives => amount(self.rates.collective_calls.round()),
            Column::Unexpected => counted(|counts| counts.unexpected),
            Column::Posted => counted(|counts| counts.posted),
            Column::Requests => counted(|counts| counts.requests),
            Column::Call => call_text(self.call.as_ref()),
        }
    }

    /// The peer of the call that the rank is in.
    pub fn peer(&self) -> Option<String> {
        self.call.as_ref().filter(|call| !call.ended).and_then(peer)
    }

    fn compare(&self, other: &Row, column: Column) -> Ordering {
        let by = |value: fn(&Row) -> f64| value(self).total_cmp(&value(other));
        let counted = |count: fn(&Counts) -> u64| {
            let of = |row: &Row| row.counts.map(|counts| count(&counts));
            of(self).cmp(&of(other))
        };
        match column {
            Column::Rank => self.rank.cmp(&other.rank),
            Column::Pid => self.pid.cmp(&other.pid),
            Column::State => self.state.cmp(other.state),
            Column::Waiting => by(|row| row.rates.waiting),
            Column::Sent => by(|row| row.rates.messages_sent),
            Column::Received => by(|row| row.rates.messages_received),
            Column::BytesSent => by(|row| row.rates.bytes_sent),
            Column::Collectives => by(|row| row.rates.collective_calls),
            Column::Unexpected => counted(|counts| counts.unexpected),
            Column::Posted => counted(|counts| counts.posted),
            Column::Requests => counted(|counts| counts.requests),
            Column::Call => call_text(self.call.as_ref()).cmp(&call_text(other.call.as_ref())),
        }
    }
}

/// Whether the greatest value of a column comes first, unless the order is reversed.
pub fn begins_with_greatest(column: Column) -> bool {
    !matches!(column, Column::Rank | Column::Pid | Column::State | Column::Call)
}

/// Sorts rows by a column; rows with the same value by their rank.
pub fn sort(rows: &mut [Row], column: Column, reversed: bool) {
    let is_descending = begins_with_greatest(column) != reversed;
    rows.sort_by(|one, other| {
        let order = one.compare(other, column);
        let order = if is_descending { order.reverse() } else { order };
        order.then(one.rank.cmp(&other.rank))
    });
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use mpi_core::functions;
    use std::time::{Duration, Instant};

    /// A rank in MPI_Recv.
    pub fn rank(peer: i32) -> RankSample {
        let call = Call { sequence: 1, function: functions::MPI_RECV, ended: false, comm: 0, peer, tag: 3, count: 1 };
        RankSample {
            pid: std::process::id(),
            life: Life::Initialised,
            is_lost: false,
            call: Some(call),
            other_calls: Vec::new(),
            records_calls: true,
            counts: Some(Counts { state: 2, ..Counts::default() }),
        }
    }

    /// Two samples of these ranks, half a second apart, in which rank r sends 10 r messages.
    pub fn two_samples(ranks: &[RankSample]) -> (Sample, Sample) {
        let now = Instant::now();
        let mut later = ranks.to_vec();
        for (rank, sample) in later.iter_mut().enumerate() {
            if let Some(counts) = &mut sample.counts {
                counts.messages_sent += 10 * rank as u64;
            }
        }
        (Sample { at: now, ranks: ranks.to_vec() }, Sample { at: now + Duration::from_millis(500), ranks: later })
    }

    #[test]
    fn rows_have_state_call_peer_and_rates() {
        let (before, after) = two_samples(&[rank(1), rank(-1), rank(0)]);
        let running = Some(ProcessFacts { state: ProcessState::Sleeping, cpu_seconds: 0.0 });
        let mut rows = rows(&before, &after, &[running, running, None], &[]);
        let cells: Vec<String> = COLUMNS.iter().map(|(column, ..)| rows[0].cell(*column)).collect();
        assert_eq!(cells[2..5], ["waiting", "100", "0"]);
        assert_eq!(cells[11], "MPI_Recv from rank 1 with tag 3");
        assert_eq!((rows[0].peer().as_deref(), rows[1].peer().as_deref()), (Some("1"), Some("any")));
        assert_eq!((rows[1].cell(Column::Sent), rows[2].state), ("20".to_owned(), "lost"));
        sort(&mut rows, Column::Sent, false);
        assert_eq!(rows.iter().map(|row| row.rank).collect::<Vec<_>>(), [2, 1, 0]);
        sort(&mut rows, Column::Rank, true);
        assert_eq!(rows.iter().map(|row| row.rank).collect::<Vec<_>>(), [2, 1, 0]);
        sort(&mut rows, Column::Waiting, false);
        assert_eq!(rows.iter().map(|row| row.rank).collect::<Vec<_>>(), [0, 1, 2]);
    }

    #[test]
    fn ranks_of_other_hosts_have_no_row() {
        let (before, after) = two_samples(&[rank(1), rank(0), rank(0)]);
        let host = |name: &str, ranks: &[u32]| HostRanks { name: name.into(), ranks: ranks.to_vec() };
        let rows = rows(&before, &after, &[None; 3], &[host("h2", &[1]), host("h1", &[0])]);
        assert_eq!(rows.iter().map(|row| row.rank).collect::<Vec<_>>(), [1]);
    }
}
