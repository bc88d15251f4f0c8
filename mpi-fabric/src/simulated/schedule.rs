//! The scheduler of simulated ranks: the virtual clocks, the records under way, and which rank runs next.
//!
//! Invariant: while a rank has the turn and polls, its clock is ahead of that of every other ready rank by less than the
//! shortest latency, so no record that the others have yet to send can have arrived.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use crate::record::RecordHead;
use crate::region::Access;

use super::topology::Topology;

/// Virtual time for sending a record.
const SEND_NS: u64 = 100;
/// Virtual time of a poll that finds nothing.
const POLL_NS: u64 = 50;

/// What was sent over the links of a run, including records from a rank to itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Records.
    pub records: u64,
    /// Bytes of payload in them.
    pub record_bytes: u64,
    /// Copies from and to regions.
    pub copies: u64,
    /// Bytes copied.
    pub copied_bytes: u64,
    /// Pairs of ranks that communicated.
    pub pairs: u64,
}

/// What one rank has sent and copied.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RankTraffic {
    /// Records that it sent.
    pub records: u64,
    /// Bytes of payload that it sent, and bytes that it copied from or to regions of other ranks.
    pub bytes: u64,
    /// Those of the records that went to ranks of other hosts.
    pub records_between_hosts: u64,
    /// Bytes of payload in those.
    pub bytes_between_hosts: u64,
}

impl RankTraffic {
    /// What was sent and copied since an earlier time, when it was this.
    pub fn since(self, earlier: RankTraffic) -> RankTraffic {
        RankTraffic {
            records: self.records - earlier.records,
            bytes: self.bytes - earlier.bytes,
            records_between_hosts: self.records_between_hosts - earlier.records_between_hosts,
            bytes_between_hosts: self.bytes_between_hosts - earlier.bytes_between_hosts,
        }
    }
}

/// A record under way; the order is that of arrival, then of sending.
pub(super) struct InFlight {
    arrival_ns: u64,
    sequence: u64,
    pub(super) from: u32,
    pub(super) head: RecordHead,
    /// The payload, in words as [`crate::Payload`] requires, and its length in bytes.
    pub(super) words: Vec<u64>,
    pub(super) len: usize,
}

impl PartialEq for InFlight {
    fn eq(&self, other: &Self) -> bool {
        (self.arrival_ns, self.sequence) == (other.arrival_ns, other.sequence)
    }
}

impl Eq for InFlight {}

impl PartialOrd for InFlight {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for InFlight {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.arrival_ns, self.sequence).cmp(&(other.arrival_ns, other.sequence))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Runs once the clocks reach this time.
    Ready(u64),
    /// Sleeps until something arrives.
    Asleep,
    Running,
    Ended,
}

struct RankState {
    clock_ns: u64,
    phase: Phase,
    lost: bool,
    sent: RankTraffic,
    inbox: BinaryHeap<Reverse<InFlight>>,
}

pub(super) struct Region {
    pub(super) owner: u32,
    pub(super) start: *mut u8,
    pub(super) bytes: usize,
    pub(super) access: Access,
}

// SAFETY: an address of memory that every thread may reach by the contract of `Transport::register`.
unsafe impl Send for Region {}

pub(super) struct State {
    topology: Topology,
    shortest_latency_ns: u64,
    ranks: Vec<RankState>,
    /// When each core of a host is free again, by host; none where each rank has its own.
    cores: Vec<Vec<u64>>,
    /// When the link of a pair that has communicated is free again.
    links: HashMap<(u32, u32), u64>,
    /// Times and ranks that are ready; entries that disagree with the rank's phase are out of date.
    ready: BinaryHeap<Reverse<(u64, u32)>>,
    pub(super) regions: HashMap<u64, Region>,
    next_region: u64,
    sequence: u64,
    /// Losses of the topology that have happened.
    losses: usize,
    /// The error of all ranks, once there is one.
    failure: Option<String>,
    traffic: Traffic,
}

/// The state of a run and the turn. Thread-safe.
pub(super) struct Schedule {
    state: Mutex<State>,
    /// One for each rank, to wait for its turn.
    turns: Box<[Condvar]>,
}

impl Schedule {
    pub(super) fn new(topology: &Topology) -> Schedule {
        let rank = |_| RankState {
            clock_ns: 0,
            phase: Phase::Ready(0),
            lost: false,
            sent: RankTraffic::default(),
            inbox: BinaryHeap::new(),
        };
        let hosts = topology.host_of(topology.ranks() - 1) as usize + 1;
        let cores = topology.cores().map_or(Vec::new(), |cores| vec![vec![0; cores as usize]; hosts]);
        let state = State {
            topology: topology.clone(),
            cores,
            shortest_latency_ns: topology.shortest_latency_ns(),
            ranks: (0..topology.ranks()).map(rank).collect(),
            links: HashMap::new(),
            ready: (0..topology.ranks()).map(|rank| Reverse((0, rank))).collect(),
            regions: HashMap::new(),
            next_region: 1,
            sequence: 0,
            losses: 0,
            failure: None,
            traffic: Traffic::default(),
        };
        Schedule { state: Mutex::new(state), turns: (0..topology.ranks()).map(|_| Condvar::new()).collect() }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // A panic of a rank ends the run, but the others must come to their end.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives the first turn.
    pub(super) fn begin(&self) {
        self.pass_on(&mut self.lock());
    }

    /// Makes every later poll fail.
    pub(super) fn fail(&self, why: &str) {
        self.lock().failure.get_or_insert_with(|| why.to_owned());
    }

    /// Waits for the turn of a rank that is ready.
    pub(super) fn await_turn(&self, rank: u32) {
        drop(self.wait_for_turn(self.lock(), rank));
    }

    /// Lets those ranks run first whose records may still arrive at the rank by now.
    pub(super) fn let_others_first<'a>(&'a self, mut state: MutexGuard<'a, State>, rank: u32) -> MutexGuard<'a, State> {
        let clock = state.clock(rank);
        if state.may_poll(clock, rank) {
            return state;
        }
        state.make_ready(rank, clock);
        self.pass_on(&mut state);
        self.wait_for_turn(state, rank)
    }

    /// Sleeps until something arrives for the rank.
    pub(super) fn sleep(&self, rank: u32) {
        let mut state = self.lock();
        if state.error_for(rank).is_some() {
            return;
        }
        let arrival = state.ranks[rank as usize].inbox.peek().map(|Reverse(record)| record.arrival_ns);
        match arrival.into_iter().chain(state.next_detection(rank)).min() {
            Some(at) => state.make_ready(rank, at),
            None => state.ranks[rank as usize].phase = Phase::Asleep,
        }
        self.pass_on(&mut state);
        drop(self.wait_for_turn(state, rank));
    }

    /// Ends a rank, which has the turn or never had one.
    pub(super) fn end(&self, rank: u32) {
        let mut state = self.lock();
        let had_turn = state.ranks[rank as usize].phase == Phase::Running;
        state.ranks[rank as usize].phase = Phase::Ended;
        state.ranks[rank as usize].inbox.clear();
        state.regions.retain(|_, region| region.owner != rank);
        if had_turn {
            self.pass_on(&mut state);
        }
    }

    fn wait_for_turn<'a>(&'a self, mut state: MutexGuard<'a, State>, rank: u32) -> MutexGuard<'a, State> {
        while state.ranks[rank as usize].phase != Phase::Running {
            state = self.turns[rank as usize].wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        state
    }

    fn pass_on(&self, state: &mut State) {
        if let Some(next) = state.choose() {
            self.turns[next as usize].notify_one();
        }
    }
}

impl State {
    pub(super) fn clock(&self, rank: u32) -> u64 {
        self.ranks[rank as usize].clock_ns
    }

    /// Passes the time of what a rank does, once a core is free for it.
    pub(super) fn spend(&mut self, rank: u32, ns: u64) {
        let clock = &mut self.ranks[rank as usize].clock_ns;
        let cores = self.cores.get_mut(self.topology.host_of(rank) as usize);
        match cores.and_then(|cores| cores.iter_mut().min()) {
            None => *clock += ns,
            Some(free_at) => {
                *free_at = (*clock).max(*free_at) + ns;
                *clock = *free_at;
            }
        }
    }

    pub(super) fn traffic(&self) -> Traffic {
        Traffic { pairs: self.links.len() as u64, ..self.traffic }
    }

    pub(super) fn sent(&self, rank: u32) -> RankTraffic {
        self.ranks[rank as usize].sent
    }

    pub(super) fn is_lost(&self, rank: u32) -> bool {
        self.ranks[rank as usize].lost
    }

    /// Wakes a rank that sleeps.
    pub(super) fn wake(&mut self, rank: u32) {
        if self.ranks[rank as usize].phase == Phase::Asleep {
            self.make_ready(rank, self.clock(rank));
        }
    }

    /// Puts a record on its link.
    pub(super) fn send(&mut self, from: u32, to: u32, head: &RecordHead, payload: &[u8]) {
        self.spend(from, SEND_NS);
        let arrival_ns = self.occupy_link(from, to, self.clock(from), payload.len());
        let (bytes, between_hosts) = (payload.len() as u64, self.topology.host_of(from) != self.topology.host_of(to));
        self.traffic.records += 1;
        self.traffic.record_bytes += bytes;
        let sent = &mut self.ranks[from as usize].sent;
        sent.records += 1;
        sent.bytes += bytes;
        sent.records_between_hosts += u64::from(between_hosts);
        sent.bytes_between_hosts += if between_hosts { bytes } else { 0 };
        let peer = &self.ranks[to as usize];
        if self.is_lost(from) || peer.lost || peer.phase == Phase::Ended {
            return;
        }
        let mut words = vec![0u64; payload.len().div_ceil(8)];
        for (word, bytes) in words.iter_mut().zip(payload.chunks(8)) {
            let mut whole = [0; 8];
            whole[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_ne_bytes(whole);
        }
        self.sequence += 1;
        let record = InFlight { arrival_ns, sequence: self.sequence, from, head: *head, words, len: payload.len() };
        self.ranks[to as usize].inbox.push(Reverse(record));
        match self.ranks[to as usize].phase {
            Phase::Asleep => self.make_ready(to, arrival_ns),
            // The rank sleeps until another record arrives, later than this one.
            Phase::Ready(at) if at > arrival_ns && at > self.clock(to) => self.make_ready(to, arrival_ns),
            _ => {}
        }
    }

    /// Counts a copy of so many bytes between a rank and a peer, for which the rank waits.
    pub(super) fn copied(&mut self, rank: u32, peer: u32, bytes: usize) {
        self.traffic.copies += 1;
        self.traffic.copied_bytes += bytes as u64;
        self.ranks[rank as usize].sent.bytes += bytes as u64;
        // A request goes there, and the data or its acknowledgement comes back.
        let latency = self.topology.link(rank, peer).map_or(0, |link| link.latency_ns);
        let end = self.occupy_link(peer, rank, self.clock(rank) + latency, bytes);
        self.ranks[rank as usize].clock_ns = end;
    }

    /// When bytes that a rank sends at a time arrive at another.
    fn occupy_link(&mut self, from: u32, to: u32, now: u64, bytes: usize) -> u64 {
        let Some(link) = self.topology.link(from, to) else { return now };
        let free_at = self.links.entry((from, to)).or_insert(0);
        *free_at = now.max(*free_at) + link.occupied_ns(bytes);
        *free_at + link.latency_ns
    }

    /// The next record that has arrived at a rank.
    pub(super) fn take_arrived(&mut self, rank: u32) -> Option<InFlight> {
        let rank = &mut self.ranks[rank as usize];
        let arrived = rank.inbox.peek().is_some_and(|Reverse(record)| record.arrival_ns <= rank.clock_ns);
        if arrived { rank.inbox.pop().map(|Reverse(record)| record) } else { None }
    }

    /// Passes the time of a poll that found nothing; others may have the core meanwhile.
    pub(super) fn spend_poll(&mut self, rank: u32) {
        self.ranks[rank as usize].clock_ns += POLL_NS;
    }

    /// The error of a rank's calls, if the rank was lost or the run has failed.
    pub(super) fn error_for(&self, rank: u32) -> Option<String> {
        if self.is_lost(rank) {
            return Some(format!("rank {rank} was lost in the simulation, and this is it"));
        }
        let clock = self.clock(rank);
        let known = |(at, _): &&(u64, u32)| at + self.topology.detection_ns() <= clock;
        let lost = self.topology.losses()[..self.losses].iter().find(known);
        lost.map(|(at, lost)| format!("rank {lost} was lost, {at} ns after the begin")).or_else(|| self.failure.clone())
    }

    /// When a rank will next detect that another is lost.
    fn next_detection(&self, rank: u32) -> Option<u64> {
        let seen = |(at, _): &(u64, u32)| at + self.topology.detection_ns();
        let clock = self.clock(rank);
        self.topology.losses()[..self.losses].iter().map(seen).find(|seen| *seen > clock)
    }

    pub(super) fn add_region(&mut self, region: Region) -> u64 {
        let key = self.next_region;
        self.next_region += 1;
        self.regions.insert(key, region);
        key
    }

    fn make_ready(&mut self, rank: u32, at: u64) {
        let at = at.max(self.clock(rank));
        self.ranks[rank as usize].phase = Phase::Ready(at);
        self.ready.push(Reverse((at, rank)));
    }

    /// Whether no other rank has to run before a rank with this clock may poll.
    fn may_poll(&mut self, clock: u64, rank: u32) -> bool {
        self.drop_outdated();
        let next_loss = self.topology.losses().get(self.losses);
        let ahead = self.shortest_latency_ns;
        let free = |next: &(u64, u32)| (clock, rank) < *next || clock < next.0.saturating_add(ahead);
        self.ready.peek().is_none_or(|Reverse(next)| free(next)) && next_loss.is_none_or(|(at, _)| clock < *at)
    }

    fn drop_outdated(&mut self) {
        while let Some(Reverse((at, rank))) = self.ready.peek()
            && self.ranks[*rank as usize].phase != Phase::Ready(*at)
        {
            self.ready.pop();
        }
    }

    /// Gives the turn to the rank with the lowest time and returns it; `None` when all have ended.
    fn choose(&mut self) -> Option<u32> {
        loop {
            self.drop_outdated();
            let next = self.ready.peek().map(|Reverse((at, _))| *at);
            if let Some((at, lost)) = self.topology.losses().get(self.losses).copied()
                && next.is_none_or(|next| at <= next)
                && self.ranks.iter().any(|rank| rank.phase != Phase::Ended)
            {
                self.lose(at, lost);
                continue;
            }
            if let Some(Reverse((at, rank))) = self.ready.pop() {
                let state = &mut self.ranks[rank as usize];
                (state.clock_ns, state.phase) = (at, Phase::Running);
                return Some(rank);
            }
            let asleep = |state: &RankState| state.phase == Phase::Asleep;
            if !self.ranks.iter().any(asleep) {
                return None;
            }
            self.failure.get_or_insert_with(|| {
                "every rank waits, and no record is under way: the program waits for messages that no rank sends".into()
            });
            (0..self.topology.ranks()).for_each(|rank| self.wake(rank));
        }
    }

    /// A rank is lost: it, and after the detection time all that sleep, wake and get the error.
    fn lose(&mut self, at: u64, lost: u32) {
        self.losses += 1;
        if lost >= self.topology.ranks() || self.ranks[lost as usize].phase == Phase::Ended {
            return;
        }
        self.ranks[lost as usize].lost = true;
        self.ranks[lost as usize].inbox.clear();
        let seen = at + self.topology.detection_ns();
        for rank in 0..self.topology.ranks() {
            if self.ranks[rank as usize].phase == Phase::Asleep {
                self.make_ready(rank, if rank == lost { at } else { seen });
            }
        }
    }
}
