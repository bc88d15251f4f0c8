//! Rules of distributed graphs between processes: every edge reaches both of its ends, whichever process names it.

mod common;

use common::run;
use mpi_comm::topology::EdgeList;
use mpi_comm::{Exchange, distribute};

#[test]
fn a_sum_is_that_of_all_processes_at_each_place() {
    for size in [1, 2, 16, 17, 35] {
        run(size, move |engine, world| {
            let own = u64::from(engine.rank());
            let sum = Exchange::among_all(engine, world, 0x7777).sum(vec![own, 1, own * own]).expect("no fault");
            let expected = (0..u64::from(size)).fold([0; 3], |[a, b, c], rank| [a + rank, b + 1, c + rank * rank]);
            assert_eq!(sum, expected);
        });
    }
}

/// The edges that a process names in a round: source, destination, weight. Any process names edges of any other.
fn named(size: u32, round: u32, rank: u32) -> Vec<[i32; 3]> {
    let mut seed = round * 7919 + rank * 104_729 + 13;
    let mut random = |below: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) % below
    };
    let count = random(3) * random(7);
    (0..count).map(|_| [random(size) as i32, random(size) as i32, random(100) as i32]).collect()
}

#[test]
fn every_edge_reaches_both_of_its_ends_in_the_order_of_the_naming_ranks() {
    for size in [1, 2, 5, 19] {
        run(size, move |engine, world| {
            for round in 0..12 {
                let own = named(size, round, engine.rank());
                let column = |place: usize| own.iter().map(|edge| edge[place]).collect::<Vec<i32>>();
                let degrees = vec![1; own.len()];
                let weights = column(2);
                let weighted = round % 2 == 0;
                let list = EdgeList::new(&column(0), &degrees, &column(1), weighted.then_some(&weights), size);
                let graph = distribute(engine, world, &list.expect("edges"), weighted).expect("no fault");
                let all: Vec<[i32; 3]> = (0..size).flat_map(|rank| named(size, round, rank)).collect();
                for (list, end, other) in [(graph.sources(), 1, 0), (graph.destinations(), 0, 1)] {
                    let edges: Vec<_> = all.iter().filter(|edge| edge[end] == engine.rank() as i32).collect();
                    assert_eq!(list.ranks, edges.iter().map(|edge| edge[other]).collect::<Vec<_>>());
                    let weights: Vec<i32> = edges.iter().map(|edge| edge[2]).collect();
                    assert_eq!(list.weights, if weighted { weights } else { Vec::new() });
                }
                assert_eq!(graph.weighted(), weighted);
            }
        });
    }
}

#[test]
fn long_lists_of_edges_cross_each_other() {
    const EDGES: usize = 200_000;
    run(3, |engine, world| {
        let (own, other) = (engine.rank() as i32, (engine.rank() as i32 + 1) % 3);
        let list = EdgeList::new(&[own], &[EDGES as i32], &vec![other; EDGES], None, 3).expect("edges");
        let graph = distribute(engine, world, &list, false).expect("no fault");
        assert_eq!(graph.sources().ranks, vec![(own + 2) % 3; EDGES]);
        assert_eq!(graph.destinations().ranks, vec![other; EDGES]);
    });
}
