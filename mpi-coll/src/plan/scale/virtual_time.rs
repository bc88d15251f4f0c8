//! The virtual time of the steps of all ranks: what messages, copies and combinations cost on hosts whose ranks share
//! cores and a link.
//!
//! Invariant: where ranks share a host, the one with the earliest time runs next, so cores and links are taken in the
//! order of time, and are never idle while a rank that needs them is ready.
//! Not here: protocols. Each message leaves at once, whether or not its receiver waits for it. `mpi_fabric::simulated` has them: it runs the
//! engine, with a thread for each rank, which takes hours where 4,096 ranks send to all others.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};

/// A step is a word: its kind in the highest bits, then the number of its length, then the other rank.
pub(super) const SEND: u32 = 0;
pub(super) const RECEIVE: u32 = 1 << 30;
pub(super) const WAIT: u32 = 2 << 30;
/// A copy or a combination in memory.
pub(super) const COPY: u32 = 3 << 30;
const KIND: u32 = 3 << 30;
/// Bits of a rank.
const RANK_BITS: u32 = 12;
/// The highest rank, and the mask of one.
pub(super) const PEER: u32 = (1 << RANK_BITS) - 1;
/// Bits of the number of a length.
const LENGTH_BITS: u32 = 16;
/// The latest time that a message and an entry of the ready ranks have room for.
const LATEST: u64 = u64::MAX >> LENGTH_BITS;

/// The lengths of messages and copies, by number.
#[derive(Default, PartialEq)]
pub(super) struct Lengths(Vec<u64>);

impl Lengths {
    /// The bits of a length in a step; a new length gets the next number.
    pub(super) fn intern(&mut self, bytes: u64) -> u32 {
        let known = self.0.iter().position(|length| *length == bytes);
        let number = known.unwrap_or_else(|| {
            self.0.push(bytes);
            self.0.len() - 1
        });
        assert!(number < 1 << LENGTH_BITS);
        (number as u32) << RANK_BITS
    }

    fn of(&self, step: u32) -> u64 {
        self.0[((step & !KIND) >> RANK_BITS) as usize]
    }
}

/// The steps of all ranks.
#[derive(PartialEq)]
pub(super) struct Lists {
    pub lengths: Lengths,
    pub lists: Vec<Vec<u32>>,
}

/// What things cost, in units of virtual time.
#[derive(Debug)]
pub(super) struct Model {
    pub ranks_per_host: u32,
    /// Cores that the ranks of a host share.
    pub cores: u32,
    /// From the end of a message's sending to its arrival at a rank of the same host, and at one of another.
    pub latencies: [u64; 2],
    /// Time of a core of the sender, and of one of the receiver, for each message.
    pub message_overhead: u64,
    /// Bytes that a core copies or combines in a unit of time. A message within a host is copied once, by its sender.
    pub copy_rate: u64,
    /// Bytes that the link of a host sends in a unit of time, to all other hosts together.
    pub link_rate: u64,
}

impl Model {
    /// A message takes 1, and nothing else takes time.
    pub(super) const STEPS: Model = Model {
        ranks_per_host: 1,
        cores: 1,
        latencies: [1; 2],
        message_overhead: 0,
        copy_rate: u64::MAX,
        link_rate: u64::MAX,
    };

    /// Whether ranks share cores and a link, so that it matters which runs first.
    fn shares_hosts(&self) -> bool {
        self.ranks_per_host > 1
    }
}

/// The time of a call, and the longest times of work.
pub(super) struct Times {
    /// When the last rank has ended.
    pub end: u64,
    /// Work of a rank, of all cores together of a host, and of the link of a host.
    pub rank_busy: u64,
    pub cores_busy: u64,
    pub link_busy: u64,
}

/// Runs the steps of all ranks to their ends.
///
/// # Panics
/// If a rank waits for ever, a message is not received, or is received with another length.
pub(super) fn run(model: &Model, Lists { lengths, lists }: &Lists) -> Times {
    let ranks = lists.len();
    let cores = (0..model.cores).map(|_| Reverse(0)).collect();
    let mut simulation = Simulation {
        model,
        lengths,
        lists,
        hosts: vec![
            Host { cores, link_free_at: 0, cores_busy: 0, link_busy: 0 };
            ranks.div_ceil(model.ranks_per_host as usize)
        ],
        messages: Messages { ranks, cells: vec![0; ranks * ranks], more: HashMap::new(), count: 0 },
        progress: vec![Progress::default(); ranks],
        ready: (0..ranks as u64).map(Reverse).collect(),
    };
    while let Some(Reverse(ready)) = simulation.ready.pop() {
        let mut next = Some(rank_of(ready));
        while let Some(rank) = next {
            let mut own = std::mem::take(&mut simulation.progress[rank as usize]);
            next = simulation.advance(rank, &mut own);
            simulation.progress[rank as usize] = own;
        }
    }
    for (rank, own) in simulation.progress.iter().enumerate() {
        assert_eq!((own.awaits, own.taken), (None, lists[rank].len()), "rank {rank} waits");
    }
    assert_eq!(simulation.messages.count, 0, "messages that nobody receives");
    let most = |of: fn(&Host) -> u64| simulation.hosts.iter().map(of).max().expect("hosts");
    let most_of_ranks = |of: fn(&Progress) -> u64| simulation.progress.iter().map(of).max().expect("ranks");
    Times {
        end: most_of_ranks(|rank| rank.clock),
        rank_busy: most_of_ranks(|rank| rank.busy),
        cores_busy: most(|host| host.cores_busy),
        link_busy: most(|host| host.link_busy),
    }
}

/// Messages on their way. One cell for each pair of ranks: 0, or the time of arrival and 1 above the number of the length.
struct Messages {
    ranks: usize,
    cells: Vec<u64>,
    /// Those behind the one in the cell.
    more: HashMap<usize, VecDeque<u64>>,
    count: u64,
}

impl Messages {
    fn put(&mut self, (from, to): (u32, u32), arrival: u64, number: u32) {
        assert!(arrival < LATEST);
        let (at, message) =
            (to as usize * self.ranks + from as usize, (arrival + 1) << LENGTH_BITS | u64::from(number));
        self.count += 1;
        match self.cells[at] {
            0 => self.cells[at] = message,
            _ => self.more.entry(at).or_default().push_back(message),
        }
    }

    /// The time of arrival of the next message, and the number of its length.
    fn next(&self, (from, to): (u32, u32)) -> Option<(u64, u32)> {
        let message = self.cells[to as usize * self.ranks + from as usize];
        (message != 0).then(|| ((message >> LENGTH_BITS) - 1, (message & ((1 << LENGTH_BITS) - 1)) as u32))
    }

    fn remove(&mut self, (from, to): (u32, u32)) {
        let at = to as usize * self.ranks + from as usize;
        self.cells[at] = 0;
        self.count -= 1;
        if !self.more.is_empty()
            && let Some(next) = self.more.get_mut(&at)
        {
            self.cells[at] = next.pop_front().expect("a message");
            if next.is_empty() {
                self.more.remove(&at);
            }
        }
    }
}

/// The state of a rank.
#[derive(Clone, Copy, Default)]
struct Progress {
    /// The step that it is at, and the first whose message it has not received.
    at: usize,
    taken: usize,
    clock: u64,
    /// Time of its work.
    busy: u64,
    awaits: Option<u32>,
}

/// The cores and the link of a host.
#[derive(Clone)]
struct Host {
    /// When each core is free again, the earliest first.
    cores: BinaryHeap<Reverse<u64>>,
    link_free_at: u64,
    cores_busy: u64,
    link_busy: u64,
}

impl Host {
    /// Charges the work of a rank to the core that is free first.
    fn work(&mut self, rank: &mut Progress, time: u64) {
        if time > 0 {
            let Reverse(free_at) = self.cores.pop().expect("a core");
            rank.clock = rank.clock.max(free_at) + time;
            rank.busy += time;
            self.cores.push(Reverse(rank.clock));
            self.cores_busy += time;
        }
    }

    /// When the last byte of a message that is handed to the link at a time has left.
    fn carry(&mut self, ready_at: u64, time: u64) -> u64 {
        self.link_busy += time;
        self.link_free_at = self.link_free_at.max(ready_at) + time;
        self.link_free_at
    }
}

struct Simulation<'l> {
    model: &'l Model,
    lengths: &'l Lengths,
    lists: &'l [Vec<u32>],
    hosts: Vec<Host>,
    messages: Messages,
    progress: Vec<Progress>,
    /// When each rank that is ready runs next: the time in the high bits, the rank in the low ones.
    ready: BinaryHeap<Reverse<u64>>,
}

/// The rank of an entry of those that are ready.
fn rank_of(ready: u64) -> u32 {
    ready as u32 & PEER
}

impl Simulation<'_> {
    /// Makes the steps of a rank until it waits, has ended, or another rank is earlier, which is returned.
    fn advance(&mut self, rank: u32, own: &mut Progress) -> Option<u32> {
        let list = &self.lists[rank as usize];
        loop {
            if self.model.shares_hosts()
                && let Some(mut earliest) = self.ready.peek_mut()
                && earliest.0 >> RANK_BITS < own.clock
            {
                let Reverse(ready) =
                    std::mem::replace(&mut *earliest, Reverse(own.clock << RANK_BITS | u64::from(rank)));
                return Some(rank_of(ready));
            }
            let step = list.get(own.at).copied().unwrap_or(WAIT);
            match step & KIND {
                SEND => self.send(rank, step, own),
                COPY => {
                    let time = self.lengths.of(step) / self.model.copy_rate;
                    self.host(rank).work(own, time);
                }
                WAIT if own.taken < own.at => {
                    if !self.receive(rank, list[own.taken], own) {
                        return None;
                    }
                    continue;
                }
                _ if own.at == list.len() => return None,
                _ => {}
            }
            own.at += 1;
        }
    }

    fn host(&mut self, rank: u32) -> &mut Host {
        &mut self.hosts[(rank / self.model.ranks_per_host) as usize]
    }

    fn send(&mut self, rank: u32, step: u32, own: &mut Progress) {
        let (peer, bytes, model) = (step & PEER, self.lengths.of(step), self.model);
        assert_ne!(peer, rank);
        let here = rank / model.ranks_per_host == peer / model.ranks_per_host;
        let copying = if here { bytes / model.copy_rate } else { 0 };
        self.host(rank).work(own, model.message_overhead + copying);
        let left = if here { own.clock } else { self.host(rank).carry(own.clock, bytes / model.link_rate) };
        let arrival = left + model.latencies[usize::from(!here)];
        self.messages.put((rank, peer), arrival, (step & !KIND) >> RANK_BITS);
        let receiver = &mut self.progress[peer as usize];
        if receiver.awaits == Some(rank) {
            receiver.awaits = None;
            receiver.clock = receiver.clock.max(arrival);
            self.ready.push(Reverse(receiver.clock << RANK_BITS | u64::from(peer)));
        }
    }

    /// Receives the message of a step if it is one that receives; `false`: the rank waits.
    fn receive(&mut self, rank: u32, step: u32, own: &mut Progress) -> bool {
        if step & KIND == RECEIVE {
            let source = step & PEER;
            let Some((arrival, number)) = self.messages.next((source, rank)) else {
                own.awaits = Some(source);
                return false;
            };
            assert_eq!(number, (step & !KIND) >> RANK_BITS, "length of {source} to {rank}");
            if arrival > own.clock {
                // Others may need a core before.
                own.clock = arrival;
                return true;
            }
            self.messages.remove((source, rank));
            let time = self.model.message_overhead;
            self.host(rank).work(own, time);
        }
        own.taken += 1;
        true
    }
}

/// As in the tests of the algorithms, of hosts with so many ranks and cores.
fn model(ranks_per_host: u32, cores: u32) -> Model {
    Model { ranks_per_host, cores, latencies: [300, 1500], message_overhead: 100, copy_rate: 10, link_rate: 12 }
}

fn lists<const N: usize>(lengths: Lengths, lists: [Vec<u32>; N]) -> Lists {
    Lists { lengths, lists: lists.into() }
}

#[test]
fn a_message_costs_both_overheads_the_link_and_the_latency() {
    let mut lengths = Lengths::default();
    let bytes = lengths.intern(1200);
    let times = run(&model(1, 1), &lists(lengths, [vec![SEND | bytes | 1], vec![RECEIVE | bytes]]));
    // 100 to send, 1200 / 12 on the link, the latency, 100 to receive.
    assert_eq!((times.end, times.rank_busy, times.link_busy), (100 + 100 + 1500 + 100, 100, 100));
}

#[test]
fn messages_of_one_host_take_the_link_one_after_the_other() {
    let mut lengths = Lengths::default();
    let bytes = lengths.intern(1200);
    let [send, receive] = [|to: u32, bytes| vec![SEND | bytes | to], |from: u32, bytes| vec![RECEIVE | bytes | from]];
    let all = [send(2, bytes), send(3, bytes), receive(0, bytes), receive(1, bytes)];
    let times = run(&model(2, 2), &lists(lengths, all));
    assert_eq!((times.end, times.link_busy, times.cores_busy), (100 + 100 + 100 + 1500 + 100, 200, 200));
}

#[test]
fn ranks_that_share_a_core_take_turns_and_messages_within_a_host_take_no_link() {
    let mut lengths = Lengths::default();
    let bytes = lengths.intern(1000);
    let times = run(&model(3, 1), &lists(lengths, [(); 3].map(|()| vec![COPY | bytes])));
    assert_eq!((times.end, times.rank_busy, times.cores_busy), (300, 100, 300));
    let mut lengths = Lengths::default();
    let bytes = lengths.intern(1000);
    let times = run(&model(2, 2), &lists(lengths, [vec![SEND | bytes | 1], vec![RECEIVE | bytes]]));
    // The sender copies: 1000 / 10.
    assert_eq!((times.end, times.link_busy), (100 + 100 + 300 + 100, 0));
}
