//! What is known of a job at one moment: the input of the analysis.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use mpi_fabric::Life;
use mpi_fabric::job::HostRanks;
use mpi_fabric::recorder::Call;

use super::calls::{base_name, counted_as, looks};
use crate::JobView;
use crate::process::{self, ProcessState};
use crate::queues::{self, CommQueues, LiveMemory, Queues};

/// Context ids from here on are those of communicators of processes of several jobs.
const BETWEEN_JOBS: u32 = 1 << 31;

/// The context id of `MPI_COMM_WORLD`.
pub(super) const WORLD: u32 = 0;

/// All ranks of a job.
#[derive(Clone, Debug)]
pub struct HangView {
    /// By rank.
    pub ranks: Vec<RankView>,
    /// The hosts of the job, that of the reader first; empty if the view covers all ranks.
    pub hosts: Vec<HostRanks>,
}

/// What a reader knows of the process of a rank before it looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankProcess {
    /// Nothing: the job memory has its id.
    Recorded,
    /// It has ended.
    Ended,
    /// It has not ended, and has this id.
    Runs(u32),
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
    /// The numbers of the calls in which it was at an earlier look; `None`: there was one look.
    pub before: Option<Vec<u64>>,
    /// Whether it has made calls since that look, and is in none that it was in then.
    pub moves: bool,
}

impl RankView {
    /// The calls that have not returned, the newest last: one for each thread that is in one. Of two looks, those that had
    /// not returned at both.
    pub(super) fn open_calls(&self) -> impl Iterator<Item = &Call> {
        let was_open = |call: &Call| self.before.as_ref().is_none_or(|before| before.contains(&call.sequence));
        self.calls.iter().filter(move |call| !call.ended && was_open(call))
    }

    /// A rank now.
    pub fn capture(job: JobView<'_>, rank: u32, process: RankProcess) -> RankView {
        let (life, recorded) = (job.life(rank), job.pid(rank));
        let pid = match process {
            RankProcess::Runs(pid) => pid,
            _ => recorded,
        };
        let facts = process::facts(pid).filter(|_| pid != 0);
        let runs = || facts.is_some_and(|facts| facts.state != ProcessState::Ended);
        let is_alive = match process {
            RankProcess::Runs(_) => true,
            RankProcess::Ended => false,
            RankProcess::Recorded => life == Life::Absent || runs(),
        };
        let is_alive = is_alive && !job.is_lost(rank);
        let map = job.queue_map(rank);
        let readable = is_alive && recorded != 0 && map != 0;
        let read = || readable.then(|| queues::read(&LiveMemory::open(recorded).ok()?, map).ok()).flatten();
        let (queues, calls) = at_one_moment(read, || job.calls(rank));
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
            before: None,
            moves: false,
        }
    }

    /// The same rank at two looks, of which this is the later one.
    pub fn since(mut self, earlier: &RankView) -> RankView {
        let ((open, last, life), now) = (earlier.mark(), self.mark());
        let stays = open.iter().any(|sequence| now.0.contains(sequence));
        // A rank that only looks shows no other call as its last one, once those before are overwritten.
        let same = life == now.2 && (now.1.is_none() || last == now.1);
        self.before = Some(open);
        self.moves = self.is_alive && !stays && !same;
        self
    }

    /// The numbers of the calls that have not returned, and of the last call that does more than look whether something has
    /// come.
    fn mark(&self) -> (Vec<u64>, Option<(u64, bool)>, Life) {
        let open = self.calls.iter().filter(|call| !call.ended).map(|call| call.sequence).collect();
        let last = self.calls.iter().rfind(|call| !looks(call)).map(|call| (call.sequence, call.ended));
        (open, last, self.life)
    }

    pub(super) fn comm(&self, context: u32) -> Option<&CommQueues> {
        self.queues.as_ref()?.comms.iter().find(|comm| comm.context == context & !1)
    }
}

impl HangView {
    /// A job now. `process`: what is known of the process of a rank.
    pub fn capture(job: JobView<'_>, process: &dyn Fn(u32) -> RankProcess) -> HangView {
        let ranks = (0..job.ranks()).map(|rank| RankView::capture(job, rank, process(rank))).collect();
        HangView { ranks, hosts: job.hosts() }
    }

    /// The same job at two looks, of which this is the later one: only calls in which a rank was at both count as waits.
    pub fn since(self, earlier: &HangView) -> HangView {
        let HangView { ranks, hosts } = self;
        let ranks = ranks.into_iter().zip(&earlier.ranks);
        HangView { ranks: ranks.map(|(now, then)| now.since(then)).collect(), hosts }
    }

    /// Whether a rank runs on another host, so that nothing is known of it.
    pub(super) fn is_elsewhere(&self, rank: u32) -> bool {
        JobView::is_elsewhere(&self.hosts, rank)
    }

    /// The name of a communicator of a rank, for sentences; of one without a name, what it is.
    pub(super) fn comm_name(&self, rank: u32, context: u32) -> String {
        let (comm, context) = (self.ranks[rank as usize].comm(context), context & !1);
        let number = context / 2;
        match comm.map_or("", |comm| &comm.name) {
            "" if context == WORLD => "MPI_COMM_WORLD".into(),
            // The variables of one without a name are those of "communicator 7".
            name if name.is_empty() || name == format!("communicator {number}") => self.unnamed(rank, comm, context),
            name => name.into(),
        }
    }

    /// A communicator without a name: its number, and its ranks, or what else is known.
    fn unnamed(&self, rank: u32, comm: Option<&CommQueues>, context: u32) -> String {
        let number = context / 2;
        let members = self.members(rank, context);
        let in_job = members.iter().filter(|member| (**member as usize) < self.ranks.len()).copied();
        let mut in_job: Vec<u32> = in_job.collect();
        in_job.sort_unstable();
        let is_inter = comm.is_some_and(|comm| comm.both_groups.is_some());
        let kind = if is_inter { "intercommunicator" } else { "communicator" };
        let used_by = |prefix: &str| {
            let uses = |call: &Call| call.comm & !1 == context && base_name(call).starts_with(prefix);
            self.ranks[rank as usize].calls.iter().any(uses)
        };
        match in_job.len() {
            // Numbers that several jobs agree on are no numbers of variables, and too long to compare.
            _ if in_job.len() < members.len() && context >= BETWEEN_JOBS => {
                let article = if is_inter { "an" } else { "a" };
                format!("{article} {kind} with processes of another job")
            }
            _ if in_job.len() < members.len() => format!("{kind} {number} with processes of another job"),
            0 if used_by("MPI_Win_") => format!("window {number}"),
            0 if used_by("MPI_File_") => format!("communicator {number} of a file"),
            0 => format!("{kind} {number}"),
            _ => format!("{kind} {number} of {}", crate::words::ranks(&in_job)),
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

    /// A process for sentences, by its world rank: one of another job by its rank in the communicator.
    pub(super) fn process_name(&self, world: u32, in_comm: i32) -> String {
        match (world as usize) < self.ranks.len() {
            true => format!("rank {world}"),
            false => format!("rank {in_comm} of another job"),
        }
    }

    /// The ranks of the job, by a key.
    pub(super) fn grouped<K: Ord>(ranks: impl IntoIterator<Item = (K, u32)>) -> BTreeMap<K, Vec<u32>> {
        let mut groups: BTreeMap<K, Vec<u32>> = BTreeMap::new();
        ranks.into_iter().for_each(|(key, rank)| groups.entry(key).or_default().push(rank));
        groups
    }
}

/// How often the queues of a rank that makes collective calls meanwhile are read.
const READS: usize = 4;

/// Queues and calls of a rank, of one moment as far as collective calls are concerned: their numbers, which come with the
/// queues, are left out if they are not.
fn at_one_moment(read: impl Fn() -> Option<Queues>, calls: impl Fn() -> Vec<Call>) -> (Option<Queues>, Vec<Call>) {
    let collective = |calls: &[Call]| {
        let counted = calls.iter().rev().find(|call| counted_as(call).is_some());
        counted.map(|call| (call.sequence, call.ended))
    };
    let mut before = calls();
    for _ in 0..READS {
        let queues = read();
        let after = calls();
        if queues.is_none() || collective(&before) == collective(&after) {
            return (queues, after);
        }
        before = after;
    }
    let mut queues = read();
    queues.iter_mut().flat_map(|queues| &mut queues.comms).for_each(|comm| comm.collectives = None);
    (queues, calls())
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
