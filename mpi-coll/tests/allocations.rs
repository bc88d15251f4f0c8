//! Blocking calls allocate no memory, once the thread has made one of the kind: of every operation with short blocks, in
//! all algorithms, also with a list of blocks for each process.
#![allow(unsafe_code)] // an allocator that counts

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::{Rank, Way, run_in};
use mpi_coll::op::Op;
use mpi_coll::{Buffers, CollCall, CollOp, Reduction, Root, Sizes, recv_list, send_list};
use mpi_core::abi::MPI_SUM;
use mpi_datatype::{Element, RecvBuf, SendBuf};

/// Calls of each operation before and while allocations are counted.
const CALLS: usize = 200;
/// Allocations of one thread in so many calls that are no call's own: a queue of early messages grows, when it is
/// longer than before, and a thread that sleeps for the first time is registered.
const FEW: usize = CALLS / 4;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: the system's allocator, beside a count that allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// One call of an operation on blocks of one number.
fn call(rank: &Rank, which: CollOp, sent: &[u64], received: &mut [u64]) {
    let size = rank.size() as usize;
    let op = Op::predefined(MPI_SUM).expect("predefined");
    let sum = |count| Reduction { op, datatype: u64::datatype(), handle: u64::HANDLE, count };
    let blocks = rank.size();
    let root = Root::Rank(0);
    let at_root = rank.rank() == 0;
    let (mine, whole) = (SendBuf::from_slice(&sent[..1]), SendBuf::from_slice(&sent[..size]));
    let send_each = || {
        let mut list = send_list();
        list.extend(sent[..size].iter().map(std::slice::from_ref).map(SendBuf::from_slice));
        Buffers::Each(list)
    };
    let (first, all) = received.split_at_mut(1);
    let result = Buffers::one(RecvBuf::from_slice(first));
    let recv_whole = Buffers::Whole { buffer: RecvBuf::from_slice(&mut all[..size]), blocks };
    let coll = &rank.coll;
    let done = match which {
        CollOp::Barrier => coll.barrier(&rank.world),
        CollOp::Bcast => coll.block(&rank.world, CollCall::new(which, Buffers::Absent, result).rooted(root)),
        CollOp::Gather => {
            let recv = if at_root { recv_whole } else { Buffers::Absent };
            coll.block(&rank.world, CollCall::new(which, Buffers::one(mine), recv).rooted(root))
        }
        CollOp::Scatter => {
            let send = if at_root { Buffers::Whole { buffer: whole, blocks } } else { Buffers::Absent };
            coll.block(&rank.world, CollCall::new(which, send, result).rooted(root))
        }
        CollOp::Allgather => coll.block(&rank.world, CollCall::new(which, Buffers::one(mine), recv_whole)),
        CollOp::Alltoall => {
            coll.block(&rank.world, CollCall::new(which, Buffers::Whole { buffer: whole, blocks }, recv_whole))
        }
        CollOp::Scatterv => {
            let send = if at_root { send_each() } else { Buffers::Absent };
            coll.block(&rank.world, CollCall::new(which, send, result).rooted(root))
        }
        CollOp::Gatherv | CollOp::Allgatherv | CollOp::Alltoallv | CollOp::Alltoallw => {
            let mut list = recv_list();
            if which != CollOp::Gatherv || at_root {
                list.extend(all[..size].iter_mut().map(std::slice::from_mut).map(RecvBuf::from_slice));
            }
            let recv = if which == CollOp::Gatherv && !at_root { Buffers::Absent } else { Buffers::Each(list) };
            let send = match which {
                CollOp::Alltoallv => Buffers::InPlace,
                CollOp::Alltoallw => send_each(),
                _ => Buffers::one(mine),
            };
            let call = CollCall::new(which, send, recv);
            coll.block(&rank.world, if which == CollOp::Gatherv { call.rooted(root) } else { call })
        }
        CollOp::ReduceScatter | CollOp::ReduceScatterBlock => {
            let counts: Sizes = (0..size).map(|_| 1).collect();
            let what = sum(size as u64);
            let call = CollCall::new(which, Buffers::one(whole), result).scattered(&counts);
            coll.block(&rank.world, call.reducing(&what))
        }
        CollOp::Reduce => {
            let recv = if at_root { result } else { Buffers::Absent };
            let what = sum(1);
            coll.block(&rank.world, CollCall::new(which, Buffers::one(mine), recv).rooted(root).reducing(&what))
        }
        _ => {
            let what = sum(1);
            coll.block(&rank.world, CollCall::new(which, Buffers::one(mine), result).reducing(&what))
        }
    };
    done.expect("a call that matches");
}

#[test]
fn blocking_calls_allocate_nothing() {
    let operations = CollOp::ALL.into_iter().filter(|which| !which.is_of_neighbours());
    let operations: Vec<CollOp> = operations.collect();
    for size in [1, 2, 3, 8] {
        for way in [Way::Shared, Way::Flat, Way::Tree, Way::Ring] {
            let operations = operations.clone();
            run_in(size, way, move |rank| {
                let sent = vec![u64::from(rank.rank()); size as usize];
                let mut received = vec![0; size as usize + 1];
                for which in &operations {
                    (0..CALLS).for_each(|_| call(rank, *which, &sent, &mut received));
                    let before = ALLOCATIONS.get();
                    (0..CALLS).for_each(|_| call(rank, *which, &sent, &mut received));
                    let allocations = ALLOCATIONS.get() - before;
                    assert!(allocations <= FEW, "{which:?} of {size} ranks: {allocations} in {CALLS} calls");
                }
            });
        }
    }
}
