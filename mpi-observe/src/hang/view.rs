//! What is known of a job at one moment: the input of the analysis.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use mpi_fabric::Life;
use mpi_fabric::recorder::Call;

use crate::JobView;
use crate::process::{self, ProcessState};
use crate::queues::{self, CommQueues, LiveMemory, Queues};

/// The context id of `MPI_COMM_WORLD`.
pub(super) const WORLD: u32 = 0;

/// All ranks of a job.
#[derive(Clone, Debug)]
pub struct HangView {
    /// By rank.
    pub ranks: Vec<RankView>,
}

/// What is known of a rank.
#[derive(Clone, Debug)]
pub struct RankView {
    /// How far its life in the library is.
    pub life: Life,
    /// Whether its process runs.
    pub is_alive: bool,
    /// The state of its process.
    pub state: Option<ProcessState>,
    /// The system call that it is in, if it sleeps outside of the library and the system permits to look.
    pub place: Option<String>,
    /// Its last calls, oldest first.
    pub calls: Vec<Call>,
    /// Whether its calls are recorded.
    pub records_calls: bool,
    /// For how long it is known to have made no progress.
    pub idle: Option<Duration>,
    /// Its communicators and queues; `None` where its memory cannot be read.
    pub queues: Option<Queues>,
}

impl RankView {
    /// The calls that have not returned, the newest last: one for each thread that is in one.
    pub(super) fn open_calls(&self) -> impl Iterator<Item = &Call> {
        self.calls.iter().filter(|call| !call.ended)
    }

    pub(super) fn comm(&self, context: u32) -> Option<&CommQueues> {
        self.queues.as_ref()?.comms.iter().find(|comm| comm.context == context & !1)
    }
}

impl HangView {
    /// A job now. `is_alive`: of a rank whose process's end this process has seen, or not; `None` where the system is to
    /// be asked.
    pub fn capture(job: JobView<'_>, is_alive: &dyn Fn(u32) -> Option<bool>) -> HangView {
        let rank = |rank| {
            let (life, pid) = (job.life(rank), job.pid(rank));
            let facts = process::facts(pid).filter(|_| pid != 0);
            let runs = || facts.is_some_and(|facts| facts.state != ProcessState::Ended);
            let is_alive = is_alive(rank).unwrap_or_else(|| life == Life::Absent || runs()) && !job.is_lost(rank);
            let map = job.queue_map(rank);
            let readable = is_alive && pid != 0 && map != 0;
            let queues = readable.then(|| queues::read(&LiveMemory::open(pid).ok()?, map).ok()).flatten();
            let calls = job.calls(rank);
            let sleeps = facts.is_some_and(|facts| facts.state == ProcessState::Sleeping);
            let outside = is_alive && sleeps && calls.last().is_none_or(|call| call.ended);
            RankView {
                life,
                is_alive,
                state: facts.map(|facts| facts.state).filter(|_| is_alive),
                place: outside.then(|| place(pid)).flatten(),
                records_calls: job.records_calls(rank),
                calls,
                idle: None,
                queues: queues.filter(|queues| queues.rank == rank),
            }
        };
        HangView { ranks: (0..job.ranks()).map(rank).collect() }
    }

    /// The name of a communicator of a rank, for sentences.
    pub(super) fn comm_name(&self, rank: u32, context: u32) -> String {
        let name = self.ranks[rank as usize].comm(context).map_or("", |comm| &comm.name);
        match (name, context & !1) {
            ("", WORLD) => "MPI_COMM_WORLD".into(),
            ("", context) => format!("the communicator with context id {context}"),
            (name, _) => name.into(),
        }
    }

    /// World ranks of all processes of a communicator that a rank uses; empty where that is not known.
    pub(super) fn members(&self, rank: u32, context: u32) -> Vec<u32> {
        match self.ranks[rank as usize].comm(context) {
            Some(comm) => comm.members().to_vec(),
            None if context & !1 == WORLD => (0..self.ranks.len() as u32).collect(),
            None => {
                // Another process of the same communicator may be readable.
                let mut others = self.ranks.iter().filter_map(|other| other.comm(context));
                others.find(|comm| comm.members().contains(&rank)).map_or(Vec::new(), |comm| comm.members().to_vec())
            }
        }
    }

    /// The world rank of a rank in a communicator that a rank uses.
    pub(super) fn world_rank(&self, rank: u32, context: u32, peer: i32) -> Option<u32> {
        let peer = usize::try_from(peer).ok()?;
        match self.ranks[rank as usize].comm(context) {
            Some(comm) => comm.world_ranks.get(peer).copied(),
            None if context & !1 == WORLD => (peer < self.ranks.len()).then_some(peer as u32),
            None => self.members(rank, context).get(peer).copied(),
        }
    }

    /// The ranks of the job, by a key.
    pub(super) fn grouped<K: Ord>(ranks: impl IntoIterator<Item = (K, u32)>) -> BTreeMap<K, Vec<u32>> {
        let mut groups: BTreeMap<K, Vec<u32>> = BTreeMap::new();
        ranks.into_iter().for_each(|(key, rank)| groups.entry(key).or_default().push(rank));
        groups
    }
}

/// System calls in which programs wait, by their numbers.
#[cfg(target_arch = "x86_64")]
const SYSTEM_CALLS: [(&str, &str); 18] = [
    ("0", "read"),
    ("1", "write"),
    ("7", "poll"),
    ("23", "select"),
    ("34", "pause"),
    ("35", "nanosleep"),
    ("42", "connect"),
    ("43", "accept"),
    ("44", "sendto"),
    ("45", "recvfrom"),
    ("61", "wait4"),
    ("73", "flock"),
    ("128", "rt_sigtimedwait"),
    ("202", "futex"),
    ("230", "clock_nanosleep"),
    ("232", "epoll_wait"),
    ("270", "pselect6"),
    ("271", "ppoll"),
];
#[cfg(not(target_arch = "x86_64"))]
const SYSTEM_CALLS: [(&str, &str); 0] = [];

/// The system call that a process sleeps in.
fn place(pid: u32) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/syscall")).ok()?;
    let number = text.split_whitespace().next().filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()))?;
    let named = SYSTEM_CALLS.iter().find(|(of, _)| *of == number);
    Some(named.map_or_else(|| format!("system call {number}"), |(_, name)| format!("the system call {name}")))
}
