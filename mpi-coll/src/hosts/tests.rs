//! Messages between hosts of each operation, against those of one process on each host, for every root and several placements.

use std::collections::BTreeMap;

use super::*;
use crate::memory::Layout;
use crate::plan::Plan;
use crate::settings::CollSettings;
use crate::shape::{Combining, Neighbours, Root};
use crate::steps::without_data::{Lengths, WithoutData};

/// The messages of one process: by peer the lengths of those sent, and of those received, in their order.
#[derive(Default)]
struct Messages {
    sent: BTreeMap<u32, Vec<u64>>,
    received: BTreeMap<u32, Vec<u64>>,
}

impl Lengths for Messages {
    fn send(&mut self, _: Side, dest: u32, bytes: u64) {
        self.sent.entry(dest).or_default().push(bytes);
    }

    fn receive(&mut self, _: Side, source: u32, bytes: u64) {
        self.received.entry(source).or_default().push(bytes);
    }
}

/// Messages between hosts of a call with `block` bytes for each process; checks that each message that is sent is received.
fn between_hosts(which: CollOp, hosts: &Hosts, root: u32, block: u64, commutative: bool) -> u64 {
    let size = hosts.first(hosts.count());
    let settings = CollSettings::new();
    let whole = |bytes, blocks| Layout::Whole { bytes, blocks };
    let all: Vec<Messages> = (0..size)
        .map(|rank| {
            let at_root = rank == root;
            let (send, recv) = match which {
                CollOp::Barrier => (Layout::Absent, Layout::Absent),
                CollOp::Bcast => (Layout::Absent, whole(block, 1)),
                CollOp::Reduce if !at_root => (whole(block, 1), Layout::Absent),
                CollOp::Gather if !at_root => (whole(block, 1), Layout::Absent),
                CollOp::Scatter if at_root => (whole(block * u64::from(size), size), whole(block, 1)),
                CollOp::Scatter => (Layout::Absent, whole(block, 1)),
                CollOp::Gather | CollOp::Allgather => (whole(block, 1), whole(block * u64::from(size), size)),
                CollOp::Alltoall => (whole(block * u64::from(size), size), whole(block * u64::from(size), size)),
                CollOp::Allgatherv => (whole(block, 1), Layout::Each((0..size).map(|_| block).collect())),
                CollOp::ReduceScatter | CollOp::ReduceScatterBlock => {
                    (whole(block * u64::from(size), 1), whole(block, 1))
                }
                _ => (whole(block, 1), whole(block, 1)),
            };
            let of_all = matches!(
                which,
                CollOp::Allgather
                    | CollOp::Allgatherv
                    | CollOp::Alltoall
                    | CollOp::ReduceScatter
                    | CollOp::ReduceScatterBlock
            );
            let bytes = if of_all { block * u64::from(size) } else { block };
            let counts = vec![block / 8; size as usize];
            let reduction = Combining { size: 8, plain: 8, count: bytes / 8, commutative, native: true, direct: true };
            let shape = Shape {
                which,
                team: Team { rank, size },
                peers: size,
                inter: false,
                root: Root::Rank(root),
                plan: Plan::new(which, size, false, settings, 0).with_hosts(which, settings, hosts),
                bytes,
                matching: bytes,
                send,
                recv,
                counts: &counts,
                reduction: Some(reduction),
                neighbours: Neighbours::default(),
                hosts: Some(hosts),
            };
            assert!(shape.plan.by_hosts(bytes));
            let mut messages = WithoutData(Messages::default());
            shape.steps(&mut messages).expect("no step fails");
            messages.0
        })
        .collect();
    let mut crossing = 0;
    for (rank, messages) in (0..).zip(&all) {
        for (peer, lengths) in &messages.sent {
            assert_eq!(all[*peer as usize].received.get(&rank), Some(lengths), "{which:?}: {rank} to {peer}");
            crossing += if hosts.of_rank(rank) == hosts.of_rank(*peer) { 0 } else { lengths.len() as u64 };
        }
        for peer in messages.received.keys() {
            assert!(all[*peer as usize].sent.contains_key(&rank), "{which:?}: {rank} waits for {peer}");
        }
    }
    crossing
}

fn hosts_of(sizes: &[u32]) -> Hosts {
    let words: Vec<u64> = (0..).zip(sizes).flat_map(|(host, size)| vec![host; *size as usize]).collect();
    Hosts::of(&words).expect("several hosts")
}

#[test]
fn messages_between_hosts_are_those_of_one_process_for_each() {
    for sizes in [&[2, 2][..], &[1, 3], &[4, 1, 2], &[2, 2, 2, 2], &[1, 2, 3, 4, 5], &[8; 8]] {
        let hosts = hosts_of(sizes);
        let (count, size) = (u64::from(hosts.count()), hosts.first(hosts.count()));
        let log2 = u64::from(count.next_power_of_two().ilog2());
        for block in [8, 4096] {
            let crossing = |which, root| between_hosts(which, &hosts, root, block, true);
            assert_eq!(crossing(CollOp::Barrier, 0), count * log2, "{sizes:?}");
            for root in 0..size {
                for which in [CollOp::Bcast, CollOp::Reduce, CollOp::Gather, CollOp::Scatter] {
                    assert_eq!(crossing(which, root), count - 1, "{which:?} of {sizes:?}, root {root}");
                }
                assert_eq!(
                    between_hosts(CollOp::Reduce, &hosts, root, block, false),
                    count - 1 + relayed(&hosts, root)
                );
            }
            assert_eq!(crossing(CollOp::Allgather, 0), count * (count - 1), "{sizes:?}");
            if count.is_power_of_two() {
                assert_eq!(crossing(CollOp::Allreduce, 0), count * log2, "{sizes:?}");
            } else {
                assert!(crossing(CollOp::Allreduce, 0) <= count * log2, "{sizes:?}");
            }
        }
    }
}

#[test]
fn short_data_of_all_for_all_are_a_message_for_each_pair_of_hosts() {
    for sizes in [&[2, 2][..], &[1, 3], &[4, 1, 2], &[2, 2, 2, 2], &[1, 2, 3, 4, 5], &[8; 8]] {
        let hosts = hosts_of(sizes);
        let pairs = u64::from(hosts.count()) * u64::from(hosts.count() - 1);
        for block in [8, 64] {
            for which in [CollOp::Alltoall, CollOp::Allgatherv, CollOp::ReduceScatter, CollOp::ReduceScatterBlock] {
                for commutative in [false, true] {
                    assert_eq!(between_hosts(which, &hosts, 0, block, commutative), pairs, "{which:?} of {sizes:?}");
                }
            }
        }
    }
}

#[test]
fn scans_between_hosts_are_those_of_one_process_for_each() {
    for sizes in [&[2, 2][..], &[1, 3], &[4, 1, 2], &[2, 2, 2, 2], &[1, 2, 3, 4, 5], &[8; 8]] {
        let hosts = hosts_of(sizes);
        let count = hosts.count();
        // In each step all hosts but the last ones send to the host that is so many places further on.
        let steps = (0..32).map(|bit| 1 << bit).take_while(|distance| *distance < count);
        let messages: u64 = steps.map(|distance| u64::from(count - distance)).sum();
        for which in [CollOp::Scan, CollOp::Exscan] {
            for block in [8, 4096, 1 << 20] {
                assert_eq!(between_hosts(which, &hosts, 0, block, false), messages, "{which:?} of {sizes:?}");
            }
        }
    }
}

/// A tree whose operands may not be swapped ends in the first host, which sends the result on to that of the root.
fn relayed(hosts: &Hosts, root: u32) -> u64 {
    u64::from(hosts.count() > 2 && hosts.of_rank(root) != 0)
}
