//! Every algorithm that a call can choose has a bound of its steps, messages and bytes.

use std::collections::BTreeSet;

use super::*;

#[allow(dead_code)] // costs are measured where calls are made
#[path = "../../tests/scale/bounds.rs"]
pub(super) mod bounds;

/// The bounds of all calls that are measured.
const BOUNDS: &[&[bounds::Bound]] = &[
    bounds::ALONE,
    bounds::PAIRS,
    bounds::TREES,
    bounds::FLAT,
    bounds::TREES_OF_FEWER,
    bounds::FLAT_OF_FEWER,
    bounds::LONG_TREES,
    bounds::DIRECT,
    bounds::RINGS,
    bounds::HOSTS,
    bounds::HOSTS_OF_FEWER,
    bounds::BETWEEN_HOSTS,
    bounds::GROUPS,
    bounds::GRID,
    bounds::GRAPH,
    bounds::SHARED,
];

/// Hosts of two ranks each, but the last one.
fn in_pairs(size: u32) -> Hosts {
    let words: Vec<u64> = (0..size).map(|rank| u64::from(rank / 2)).collect();
    Hosts::of(&words).expect("several hosts")
}

/// The settings and the facts of communicators that choose between algorithms.
fn plans(which: CollOp) -> Vec<Plan> {
    let mut plans = Vec::new();
    for shape in [AUTO, FLAT, TREE] {
        let settings = CollSettings::new();
        settings.shape.set(shape);
        for size in [1, 2, 3, 4, 5, 16, 17, 63, 64, 4096] {
            for (crowded, longest) in [(false, 0), (true, 0), (false, 1 << 18), (true, 1 << 18)] {
                let plan = Plan::new(which, size, crowded, settings, longest);
                plans.extend([plan, plan.between_groups()]);
                if longest == 0 && size > 2 {
                    plans.push(plan.with_hosts(which, settings, &in_pairs(size)));
                }
            }
        }
    }
    plans
}

/// Lengths at which choices change, as counted.
const BYTES: [u64; 9] = [0, 8, 4096, 4097, 8192, 16_384, 1 << 18, 1 << 20, 1 << 24];

#[test]
fn every_algorithm_that_a_call_can_choose_has_a_bound() {
    let mut chosen = BTreeSet::new();
    for which in CollOp::ALL {
        for plan in plans(which) {
            for bytes in BYTES {
                // An intercommunicator has no scans: the caller has refused them.
                let algorithm = plan.algorithm(which, bytes);
                let name = format!("{algorithm:?}");
                assert_eq!(bounds::ALGORITHMS[algorithm as usize], name);
                if !(algorithm == Algorithm::Groups && matches!(which, CollOp::Scan | CollOp::Exscan)) {
                    chosen.insert((which.function(), name));
                }
            }
        }
    }
    let rows = BOUNDS.iter().copied().flatten();
    let bounded: BTreeSet<_> = rows.map(|row| (row.op.function(), row.algorithm.to_owned())).collect();
    let (without, unused) = (&chosen - &bounded, &bounded - &chosen);
    assert!(without.is_empty(), "no bound in tests/scale/bounds.rs for {without:?}");
    assert!(unused.is_empty(), "no call chooses {unused:?}");
}

/// The algorithm of a call of so many bytes, where `set` has set the variables.
fn chosen(which: CollOp, size: u32, longest: u64, bytes: u64, set: impl Fn(&CollSettings)) -> Algorithm {
    let settings = CollSettings::new();
    set(settings);
    Plan::new(which, size, false, settings, longest).algorithm(which, bytes)
}

#[test]
fn flat_gather_and_scatter_go_by_messages_to_and_from_the_root() {
    for (which, other) in [(CollOp::Gather, CollOp::Scatter), (CollOp::Scatter, CollOp::Gather)] {
        let flat = |settings: &CollSettings| match which {
            CollOp::Gather => settings.gather_shape.set(FLAT),
            _ => settings.scatter_shape.set(FLAT),
        };
        assert_eq!(chosen(which, 4, 1 << 18, 8, |_| {}), Algorithm::Shared);
        assert_eq!(chosen(which, 4, 1 << 18, 8, flat), Algorithm::Flat);
        assert_eq!(chosen(which, 2, 1 << 18, 8, flat), Algorithm::Pair);
        assert_eq!(chosen(other, 4, 1 << 18, 8, flat), Algorithm::Shared);
        for (shape, expected) in [(AUTO, Algorithm::Hosts), (FLAT, Algorithm::Flat)] {
            let settings = CollSettings::new();
            if shape == FLAT {
                flat(settings);
            }
            let plan = Plan::new(which, 4, false, settings, 0).with_hosts(which, settings, &in_pairs(4));
            assert_eq!(plan.algorithm(which, 8), expected);
        }
    }
}

#[test]
fn the_shape_of_alltoall_chooses_between_direct_messages_and_steps() {
    let alltoall = |size: u32, longest, block: u64, shape, all| {
        chosen(CollOp::Alltoall, size, longest, block * u64::from(size), |settings| {
            settings.alltoall_shape.set(shape);
            settings.shape.set(all);
        })
    };
    assert_eq!(alltoall(4, 1 << 18, 8, AUTO, AUTO), Algorithm::Shared);
    for (size, auto, direct) in [
        (3, Algorithm::Direct, Algorithm::Direct),
        (63, Algorithm::Direct, Algorithm::Direct),
        (64, Algorithm::Tree, Algorithm::Ring),
    ] {
        for all in [AUTO, FLAT, TREE] {
            assert_eq!(alltoall(size, 0, 256, AUTO, all), auto);
            assert_eq!(alltoall(size, 1 << 18, 256, FLAT, all), direct);
            assert_eq!(alltoall(size, 1 << 18, 256, TREE, all), Algorithm::Tree);
            assert_eq!(alltoall(size, 1 << 18, 257, TREE, all), direct);
        }
    }
    assert_eq!(alltoall(2, 1 << 18, 8, TREE, AUTO), Algorithm::Pair);
    let vector = chosen(CollOp::Alltoallv, 64, 0, 64, |settings| settings.alltoall_shape.set(TREE));
    assert_eq!(vector, Algorithm::Ring);
}
