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
    bounds::BETWEEN_HOSTS,
    bounds::GROUPS,
    bounds::GRID,
    bounds::GRAPH,
    bounds::SHARED,
];

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
                    plans.push(plan.with_hosts(which, settings));
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
