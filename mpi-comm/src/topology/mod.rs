//! Process topologies (MPI-5.0, chapter 8): which processes of a communicator are neighbours.
//!
//! - `cartesian`: grids. `graph`: graphs that every process describes in full. `distributed`: graphs of which each
//!   process holds its own edges. `edges`: edges that any process may name.
//! - `dims`: balanced dimensions of a grid. `primes`: prime factors. `place`: which process takes which node.
//!
//! Invariant: a topology never changes, and all of its ranks are ranks of its communicator.
//! Not here: the topology of a communicator (`comm`), the creation of communicators (`mpi-env`), neighbourhood
//! collectives.

mod cartesian;
mod dims;
mod distributed;
mod edges;
mod graph;
mod place;
mod primes;

pub use cartesian::{Cartesian, Dimension};
pub use dims::dims_create;
pub use distributed::{Adjacency, Distributed, Weighting};
pub use edges::EdgeList;
pub use graph::Graph;
pub use place::{Location, place};

use mpi_core::abi::{MPI_CART, MPI_DIST_GRAPH, MPI_GRAPH};

/// The topology of a communicator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Topology {
    /// A grid.
    Cartesian(Cartesian),
    /// A graph that every process holds in full.
    Graph(Graph),
    /// A graph of which each process holds its own edges.
    Distributed(Distributed),
}

impl Topology {
    /// What it is, with an article.
    pub fn noun(&self) -> &'static str {
        match self {
            Topology::Cartesian(_) => "a Cartesian topology",
            Topology::Graph(_) => "a graph topology",
            Topology::Distributed(_) => "a distributed graph topology",
        }
    }

    /// Its kind, as `MPI_Topo_test` returns it.
    pub fn kind(&self) -> i32 {
        match self {
            Topology::Cartesian(_) => MPI_CART,
            Topology::Graph(_) => MPI_GRAPH,
            Topology::Distributed(_) => MPI_DIST_GRAPH,
        }
    }

    /// The neighbours of a process, in the order in which neighbourhood collectives use them (MPI-5.0, 8.6): those it
    /// receives from, then those it sends to. `None` is `MPI_PROC_NULL`, beyond the edge of a grid. A process of a
    /// distributed graph has its own neighbours only; `rank` must be its rank.
    pub fn neighborhood(&self, rank: u32) -> (Vec<Option<u32>>, Vec<Option<u32>>) {
        let some = |ranks: &[i32]| ranks.iter().map(|rank| u32::try_from(*rank).ok()).collect::<Vec<_>>();
        match self {
            Topology::Cartesian(grid) => {
                let all: Vec<Option<u32>> = grid.neighbors(rank).collect();
                (all.clone(), all)
            }
            Topology::Graph(graph) => {
                let all = some(graph.neighbors(rank));
                (all.clone(), all)
            }
            Topology::Distributed(graph) => (some(&graph.sources().ranks), some(&graph.destinations().ranks)),
        }
    }

    /// The lengths of the two lists of [`Topology::neighborhood`].
    pub fn degrees(&self, rank: u32) -> (u32, u32) {
        let (sources, destinations) = match self {
            Topology::Cartesian(grid) => (grid.neighbors(rank).count(), grid.neighbors(rank).count()),
            Topology::Graph(graph) => (graph.neighbors(rank).len(), graph.neighbors(rank).len()),
            Topology::Distributed(graph) => (graph.sources().ranks.len(), graph.destinations().ranks.len()),
        };
        (sources as u32, destinations as u32)
    }
}

/// A number that differs for different lists, up to chance: processes compare it instead of the lists.
pub fn digest(words: impl IntoIterator<Item = i32>) -> i32 {
    // FNV-1a, word by word.
    let mixed = words
        .into_iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, word| (hash ^ word as u32 as u64).wrapping_mul(0x100_0000_01b3));
    (mixed ^ mixed >> 32) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_come_in_the_order_of_neighbourhood_collectives() {
        let grid = Topology::Cartesian(Cartesian::new(&[2, 3], &[0, 1], 6).expect("a grid of 6"));
        let (sources, destinations) = grid.neighborhood(0);
        assert_eq!(sources, [None, Some(3), Some(2), Some(1)]);
        assert_eq!(sources, destinations);
        assert_eq!(grid.degrees(0), (4, 4));
    }

    #[test]
    fn digests_of_different_lists_differ() {
        let lists: [&[i32]; 6] = [&[], &[0], &[0, 0], &[1, 2], &[2, 1], &[-1]];
        for (place, list) in lists.iter().enumerate() {
            let own = digest(list.iter().copied());
            assert_eq!(own, digest(list.to_vec()));
            assert!(lists[..place].iter().all(|other| digest(other.iter().copied()) != own), "{list:?}");
        }
    }
}
