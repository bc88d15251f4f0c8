//! Which process takes which node of a topology (`reorder`): neighbours get processes on near cores.
//!
//! The processes are sorted by package and core. The nodes are placed one after the other: each time the one with the
//! most links into the current core, then into the current package, then with the fewest to nodes without a place. The
//! result is taken only if fewer links cross packages, or as many and fewer cross cores, than with unchanged ranks.
//! Invariant: the result depends on the arguments alone, so that all processes compute the same one.
//! Not here: where a process runs (`mpi-env`).

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Where a process runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// The package (socket).
    pub package: u32,
    /// The core, with a number of its own in the host.
    pub core: u32,
}

/// For each node the process that takes it, as an index into `locations`; there are as many nodes as locations.
/// `neighbors` has the neighbours of each node.
pub fn place(neighbors: &[Vec<u32>], locations: &[Location]) -> Vec<u32> {
    let unchanged: Vec<u32> = (0..locations.len() as u32).collect();
    let distinct = |of: fn(&Location) -> u32| {
        let mut all: Vec<u32> = locations.iter().map(of).collect();
        all.sort_unstable();
        all.dedup();
        all.len()
    };
    // With one package, and one process on each core, no order is better than another.
    if distinct(|location| location.package) <= 1
        && matches!(distinct(|location| location.core), cores if cores <= 1 || cores == locations.len())
    {
        return unchanged;
    }
    let placed = grow(neighbors, locations);
    if cost(neighbors, locations, &placed) < cost(neighbors, locations, &unchanged) { placed } else { unchanged }
}

/// The number of links between packages, and between cores.
fn cost(neighbors: &[Vec<u32>], locations: &[Location], placed: &[u32]) -> (usize, usize) {
    let at = |node: u32| locations[placed[node as usize] as usize];
    let links = neighbors.iter().zip(0..).flat_map(|(list, node)| list.iter().map(move |other| (at(node), at(*other))));
    links.fold((0, 0), |(packages, cores), (one, other)| {
        (packages + usize::from(one.package != other.package), cores + usize::from(one.core != other.core))
    })
}

/// The nodes' links into the package and the core that are being filled.
struct Links {
    /// Of each node: the package, and the number of links into it.
    package: Vec<(u32, u32)>,
    core: Vec<(u32, u32)>,
    /// Of each node: the number of links to nodes that are not placed yet.
    free: Vec<u32>,
    /// Nodes by the number of links they had when they were pushed: at least as many as they have now.
    heap: BinaryHeap<(u32, u32, Reverse<u32>, Reverse<u32>)>,
}

impl Links {
    /// The links of a node into the core and the package of a location.
    fn of(&self, node: u32, at: Location) -> (u32, u32) {
        let count = |(of, count): (u32, u32), wanted: u32| if of == wanted { count } else { 0 };
        (count(self.core[node as usize], at.core), count(self.package[node as usize], at.package))
    }

    fn push(&mut self, node: u32, at: Location) {
        let (core, package) = self.of(node, at);
        self.heap.push((core, package, Reverse(self.free[node as usize]), Reverse(node)));
    }

    /// The node with the most links that is not placed yet.
    fn next(&mut self, at: Location, taken: &[bool]) -> Option<u32> {
        while let Some((core, package, Reverse(free), Reverse(node))) = self.heap.pop() {
            if taken[node as usize] {
                continue;
            }
            if self.of(node, at) == (core, package) && self.free[node as usize] == free {
                return Some(node);
            }
            self.push(node, at);
        }
        None
    }

    /// Counts one link of a node to a node that was placed here.
    fn add(&mut self, node: u32, at: Location) {
        let (core, package) = self.of(node, at);
        self.core[node as usize] = (at.core, core + 1);
        self.package[node as usize] = (at.package, package + 1);
        self.free[node as usize] -= 1;
        self.push(node, at);
    }
}

fn grow(neighbors: &[Vec<u32>], locations: &[Location]) -> Vec<u32> {
    let nodes = neighbors.len();
    // An edge is a link in both directions, whichever end names it.
    let mut links_of: Vec<Vec<u32>> = vec![Vec::new(); nodes];
    for (list, node) in neighbors.iter().zip(0..) {
        for other in list.iter().filter(|other| **other != node) {
            links_of[node as usize].push(*other);
            links_of[*other as usize].push(node);
        }
    }
    let mut slots: Vec<u32> = (0..locations.len() as u32).collect();
    slots.sort_by_key(|process| locations[*process as usize]);
    let none = (u32::MAX, 0);
    let free: Vec<u32> = links_of.iter().map(|list| list.len() as u32).collect();
    let heap = free.iter().zip(0..).map(|(free, node)| (0, 0, Reverse(*free), Reverse(node))).collect();
    let mut links = Links { package: vec![none; nodes], core: vec![none; nodes], free, heap };
    let (mut taken, mut placed) = (vec![false; nodes], vec![0; nodes]);
    for slot in slots {
        let at = locations[slot as usize];
        let Some(node) = links.next(at, &taken) else { break };
        taken[node as usize] = true;
        placed[node as usize] = slot;
        for other in &links_of[node as usize] {
            if !taken[*other as usize] {
                links.add(*other, at);
            }
        }
    }
    placed
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::Cartesian;

    fn grid(dims: &[i32]) -> Vec<Vec<u32>> {
        let grid = Cartesian::new(dims, &vec![0; dims.len()], i32::MAX as u32).expect("a grid");
        (0..grid.size()).map(|rank| grid.neighbors(rank).flatten().collect()).collect()
    }

    fn locations(all: impl IntoIterator<Item = (u32, u32)>) -> Vec<Location> {
        all.into_iter().map(|(package, core)| Location { package, core }).collect()
    }

    fn is_permutation(placed: &[u32]) -> bool {
        let mut sorted = placed.to_vec();
        sorted.sort_unstable();
        sorted == (0..placed.len() as u32).collect::<Vec<_>>()
    }

    #[test]
    fn one_package_with_a_process_on_each_core_changes_nothing() {
        let near = locations((0..6).map(|core| (0, core)));
        assert_eq!(place(&grid(&[2, 3]), &near), [0, 1, 2, 3, 4, 5]);
    }

    #[test]
    fn scattered_processes_are_brought_together() {
        // Ranks alternate between two packages; each row of the grid fits in one.
        let near = locations((0..8).map(|rank| (rank % 2, rank)));
        let grid = grid(&[2, 4]);
        let placed = place(&grid, &near);
        assert!(is_permutation(&placed));
        assert_eq!(cost(&grid, &near, &placed).0, 4, "two links of two, counted from both ends: {placed:?}");
        assert!(cost(&grid, &near, &(0..8).collect::<Vec<_>>()).0 > 4);
    }

    #[test]
    fn a_placement_is_never_worse_than_unchanged_ranks() {
        let mut seed = 17_u32;
        let mut random = |below: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) % below
        };
        let mut better = 0;
        for _ in 0..300 {
            let nodes = 1 + random(40);
            let neighbors: Vec<Vec<u32>> =
                (0..nodes).map(|_| (0..random(5)).map(|_| random(nodes)).collect()).collect();
            let near: Vec<Location> =
                (0..nodes).map(|_| random(8)).map(|core| Location { package: core / 4, core }).collect();
            let placed = place(&neighbors, &near);
            assert!(is_permutation(&placed));
            let unchanged: Vec<u32> = (0..nodes).collect();
            let (new, old) = (cost(&neighbors, &near, &placed), cost(&neighbors, &near, &unchanged));
            assert!(placed == unchanged || new < old);
            better += usize::from(new < old);
        }
        assert!(better > 200, "{better} of 300");
    }
}
