//! Graphs that every process describes in full (MPI-5.0, 8.5.3).
//!
//! Invariant: the index never decreases, its last number is the number of edges, and every edge leads to a node.

use mpi_core::abi::{MPI_ERR_ARG, MPI_ERR_RANK};
use mpi_errors::{Error, Result};

use super::digest;

/// A graph: the neighbours of each node. A node may be its own neighbour, and may have a neighbour several times.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Graph {
    /// For each node, the number of edges of all nodes up to it.
    index: Vec<i32>,
    edges: Vec<i32>,
    /// Two nodes of which one names the other more often than it is named by it, if there are any.
    one_sided: Option<(u32, u32)>,
}

impl Graph {
    /// The number of edges of a graph with this index: its last number.
    ///
    /// Errors: `MPI_ERR_ARG` for a number that is negative or less than the one before.
    pub fn edge_count(index: &[i32]) -> Result<usize> {
        let mut before = 0;
        for (place, end) in index.iter().enumerate() {
            if *end < before {
                let rule = format!("it counts the neighbours of all nodes up to {place}, so it is {before} at least");
                return Err(Error::new(MPI_ERR_ARG, rule).arg("index", end).in_element(place));
            }
            before = *end;
        }
        Ok(before as usize)
    }

    /// The graph of a communicator of `processes` with this index, which [`Graph::edge_count`] has accepted, and as
    /// many edges as that counts.
    ///
    /// Errors: `MPI_ERR_ARG` for more nodes than processes, `MPI_ERR_RANK` for an edge to what is no node.
    pub fn new(index: &[i32], edges: &[i32], processes: u32) -> Result<Graph> {
        let nodes = index.len();
        if nodes > processes as usize {
            let rule = format!("the communicator has {}", mpi_errors::processes(processes as u64));
            return Err(Error::new(MPI_ERR_ARG, rule).arg("nnodes", &nodes));
        }
        if let Some(place) = edges.iter().position(|edge| usize::try_from(*edge).map_or(true, |edge| edge >= nodes)) {
            let rule = format!("an edge leads to one of the {nodes} nodes of the graph");
            return Err(Error::new(MPI_ERR_RANK, rule).arg("edges", &edges[place]).in_element(place));
        }
        let mut graph = Graph { index: index.to_vec(), edges: edges.to_vec(), one_sided: None };
        graph.one_sided = graph.find_one_sided();
        Ok(graph)
    }

    /// Two nodes of which the first names the second more often than the second names the first; `None` if each edge has
    /// one in the other direction, as neighbourhood collectives demand (MPI-5.0, 8.6).
    pub fn one_sided(&self) -> Option<(u32, u32)> {
        self.one_sided
    }

    fn find_one_sided(&self) -> Option<(u32, u32)> {
        let edges = (0..self.nodes()).flat_map(|node| self.neighbors(node).iter().map(move |to| (node, *to as u32)));
        let mut there: Vec<(u32, u32)> = edges.collect();
        let mut back: Vec<(u32, u32)> = there.iter().map(|(from, to)| (*to, *from)).collect();
        there.sort_unstable();
        back.sort_unstable();
        // Both lists have as many edges, so the smaller of the first two that differ is missing in the other list.
        let (one, two) = there.iter().zip(&back).find(|(there, back)| there != back)?;
        Some(if one < two { *one } else { (two.1, two.0) })
    }

    /// Number of nodes.
    pub fn nodes(&self) -> u32 {
        self.index.len() as u32
    }

    /// For each node, the number of edges of all nodes up to it.
    pub fn index(&self) -> &[i32] {
        &self.index
    }

    /// The edges of all nodes, one node behind the other.
    pub fn edges(&self) -> &[i32] {
        &self.edges
    }

    /// The neighbours of a node, which must be one of the graph.
    pub fn neighbors(&self, node: u32) -> &[i32] {
        let node = node as usize;
        let start = if node == 0 { 0 } else { self.index[node - 1] };
        &self.edges[start as usize..self.index[node] as usize]
    }

    /// The neighbours of the process with this rank (`MPI_Graph_neighbors`). Errors: `MPI_ERR_RANK`.
    pub fn neighbors_of_rank(&self, rank: i32) -> Result<&[i32]> {
        match u32::try_from(rank).ok().filter(|node| *node < self.nodes()) {
            Some(node) => Ok(self.neighbors(node)),
            None => {
                let rule = format!("the graph has {} nodes, ranks 0 to {}", self.nodes(), self.nodes() - 1);
                Err(Error::new(MPI_ERR_RANK, rule).arg("rank", &rank))
            }
        }
    }

    /// A number to compare the graphs of several processes by.
    pub fn digest(&self) -> i32 {
        digest(self.index.iter().chain(&self.edges).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_standard() {
        let (index, edges) = ([2, 3, 4, 6], [1, 3, 0, 3, 0, 2]);
        assert_eq!(Graph::edge_count(&index).expect("an index"), 6);
        let graph = Graph::new(&index, &edges, 5).expect("a graph");
        let lists: Vec<&[i32]> = (0..4).map(|node| graph.neighbors(node)).collect();
        assert_eq!(lists, [&[1, 3][..], &[0], &[3], &[0, 2]]);
    }

    #[test]
    fn an_edge_without_one_in_the_other_direction_is_found() {
        let found = |index: &[i32], edges: &[i32]| Graph::new(index, edges, 4).expect("a graph").one_sided();
        assert_eq!(found(&[2, 3, 4, 6], &[1, 3, 0, 3, 0, 2]), None);
        assert_eq!(found(&[1, 1], &[1]), Some((0, 1)));
        assert_eq!(found(&[0, 1], &[0]), Some((1, 0)));
        assert_eq!(found(&[3, 4, 6], &[1, 2, 2, 0, 0, 0]), None);
        assert_eq!(found(&[2, 4, 4], &[0, 1, 0, 0]), Some((1, 0)));
    }

    #[test]
    fn loops_and_repeated_neighbours_are_kept_and_nodes_may_have_none() {
        let graph = Graph::new(&[3, 3, 4], &[0, 2, 2, 1], 3).expect("a graph");
        assert_eq!((graph.neighbors(0), graph.neighbors(1), graph.neighbors(2)), (&[0, 2, 2][..], &[][..], &[1][..]));
        assert_eq!(Graph::new(&[], &[], 3).expect("the empty graph").nodes(), 0);
    }

    #[test]
    fn an_index_that_decreases_and_an_edge_to_nowhere_are_errors() {
        for index in [[-1, 0], [2, 1], [0, i32::MIN]] {
            assert_eq!(Graph::edge_count(&index).expect_err("no index").class(), MPI_ERR_ARG);
        }
        for edge in [-1, 2, i32::MIN, i32::MAX] {
            assert_eq!(Graph::new(&[1, 1], &[edge], 5).expect_err("nowhere").class(), MPI_ERR_RANK);
        }
        assert_eq!(Graph::new(&[0, 0, 0], &[], 2).expect_err("too many nodes").class(), MPI_ERR_ARG);
        let graph = Graph::new(&[0, 0], &[], 5).expect("a graph");
        for rank in [-1, 2, i32::MAX] {
            assert_eq!(graph.neighbors_of_rank(rank).expect_err("no rank").class(), MPI_ERR_RANK);
        }
    }
}
