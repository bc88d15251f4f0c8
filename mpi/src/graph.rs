//! Graphs of processes (MPI-5.0, 8.5.3 and 8.5.4).
//!
//! Invariant: the communicator of a [`Graph`] has a graph of either kind.
//! Not here: grids (`grid`), the topologies themselves (`mpi_comm::topology`).

use std::fmt;
use std::ops::Deref;

use mpi_comm::topology::{Adjacency, EdgeList, Graph as Topology, Weighting};
use mpi_core::abi::{MPI_COMM_NULL, MPI_ERR_ARG, MPI_ERR_COUNT};
use mpi_core::{Handle, functions};

use crate::call::{CallName, of_rust};
use crate::{Communicator, Error, Result, Single, ThreadUse};

const GRAPH: CallName = CallName::new("Communicator::graph", functions::MPI_GRAPH_CREATE);
const MAP: CallName = CallName::new("Communicator::rank_in_graph", functions::MPI_GRAPH_MAP);
const ADJACENT: CallName = CallName::new("Communicator::adjacent_graph", functions::MPI_DIST_GRAPH_CREATE_ADJACENT);
const EDGES: CallName = CallName::new("Communicator::graph_of_edges", functions::MPI_DIST_GRAPH_CREATE);

/// Processes that are neighbours in a graph: a [`Communicator`] with edges.
///
/// ```no_run
/// # fn work(world: &mpi::World) -> mpi::Result<()> {
/// // Each process names the edge to the next one.
/// let next = (world.rank() + 1) % world.size();
/// let graph = world.graph_of_edges(&[mpi::Edge { source: world.rank(), destination: next, weight: None }])?;
/// for neighbor in graph.destinations() {
///     graph.process(neighbor.rank).send(&[graph.rank()], 0)?;
/// }
/// for neighbor in graph.sources() {
///     let (number, _) = graph.process(neighbor.rank).receive::<u32>(0)?;
///     assert_eq!(number[0], neighbor.rank);
/// }
/// # Ok(())
/// # }
/// ```
pub struct Graph<'c, M: ThreadUse = Single> {
    all: Communicator<'c, M>,
}

/// An edge of a graph, between two ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Edge {
    /// The rank that messages along the edge come from.
    pub source: u32,
    /// The rank that they go to.
    pub destination: u32,
    /// How much is sent along it, in any unit. All edges of a graph have weights, or none has.
    pub weight: Option<u32>,
}

/// A neighbour of a process in a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neighbor {
    /// Its rank in the graph.
    pub rank: u32,
    /// The weight of the edge, if the graph has weights.
    pub weight: Option<u32>,
}

impl<M: ThreadUse> Communicator<'_, M> {
    /// Makes a graph of the first processes, one for each list of `neighbors`; `None` in those that it does not need.
    /// With `reorder`, ranks follow the packages and cores that the processes are bound to. All processes call it with
    /// equal arguments, and wait for each other.
    ///
    /// Errors, in all processes: `MPI_ERR_ARG` for more lists than processes, `MPI_ERR_RANK` for a neighbour without a
    /// list, `MPI_ERR_NOT_SAME` for arguments that differ.
    pub fn graph(&self, neighbors: &[Vec<u32>], reorder: bool) -> Result<Option<Graph<'_, M>>> {
        self.call(GRAPH, |call| {
            drop(call.enter(-1, 0, neighbors.len() as u64));
            let handle = call.process.graph_create(self.handle(), self.checked_graph(neighbors), reorder)?;
            if handle.0 == MPI_COMM_NULL { Ok(None) } else { Graph::of(self, handle).map(Some) }
        })
    }

    /// Makes a graph of all processes, each of which names its own neighbours: the processes that it receives from and
    /// those that it sends to. Each edge is named at both ends, with equal weights. All processes call it, and wait for
    /// each other.
    ///
    /// Errors, in all processes: `MPI_ERR_RANK`, `MPI_ERR_ARG` for a weight from 2^31, `MPI_ERR_NOT_SAME` when some
    /// edges have weights and others have none.
    pub fn adjacent_graph(&self, sources: &[Neighbor], destinations: &[Neighbor]) -> Result<Graph<'_, M>> {
        self.call(ADJACENT, |call| {
            drop(call.enter(-1, 0, (sources.len() + destinations.len()) as u64));
            let edges = self.adjacency("sources", sources).and_then(|(from, weighting)| {
                let (to, other) = self.adjacency("destinations", destinations)?;
                Ok((from, to, weighting.with(other)?))
            });
            Graph::of(self, call.process.dist_graph_create_adjacent(self.handle(), edges)?)
        })
    }

    /// Makes a graph of all processes from edges that any process names, each edge once. All processes call it, and
    /// wait for each other. Errors: as [`Communicator::adjacent_graph`].
    pub fn graph_of_edges(&self, edges: &[Edge]) -> Result<Graph<'_, M>> {
        self.call(EDGES, |call| {
            drop(call.enter(-1, 0, edges.len() as u64));
            Graph::of(self, call.process.dist_graph_create(self.handle(), self.edge_list(edges))?)
        })
    }

    /// The rank that this process would have in a graph that is made by [`Communicator::graph`] with `reorder`; `None` if the
    /// graph does not need it (`MPI_Graph_map`). All processes call it with equal arguments, and wait for each other.
    /// Errors: as there.
    pub fn rank_in_graph(&self, neighbors: &[Vec<u32>]) -> Result<Option<u32>> {
        self.call(MAP, |call| {
            drop(call.enter(-1, 0, neighbors.len() as u64));
            call.process.graph_map(self.handle(), self.checked_graph(neighbors))
        })
    }

    fn checked_graph(&self, neighbors: &[Vec<u32>]) -> Result<Topology> {
        let (mut index, mut edges) = (Vec::with_capacity(neighbors.len()), Vec::new());
        for list in neighbors {
            edges.extend(list.iter().map(|rank| word(*rank)));
            let count = i32::try_from(edges.len());
            index.push(count.map_err(|_| Error::new(MPI_ERR_COUNT, "a graph has 2^31 - 1 edges at most"))?);
        }
        Topology::new(&index, &edges, self.size())
    }

    fn adjacency(&self, name: &'static str, neighbors: &[Neighbor]) -> Result<(Adjacency, Weighting)> {
        let ranks: Vec<i32> = neighbors.iter().map(|neighbor| word(neighbor.rank)).collect();
        let weights = weights(name, neighbors.iter().map(|neighbor| neighbor.weight))?;
        let weighting = Weighting { edges: !ranks.is_empty(), weighted: weights.is_some() };
        Ok((Adjacency::new([name, name], &ranks, weights.as_deref(), self.size())?, weighting))
    }

    fn edge_list(&self, edges: &[Edge]) -> Result<(EdgeList, Weighting)> {
        let of = |end: fn(&Edge) -> u32| edges.iter().map(|edge| word(end(edge))).collect::<Vec<_>>();
        let (sources, destinations) = (of(|edge| edge.source), of(|edge| edge.destination));
        let degrees = vec![1; edges.len()];
        EdgeList::count(&degrees)?;
        let weights = weights("edges", edges.iter().map(|edge| edge.weight))?;
        let weighting = Weighting { edges: !edges.is_empty(), weighted: weights.is_some() };
        Ok((EdgeList::new(&sources, &degrees, &destinations, weights.as_deref(), self.size())?, weighting))
    }
}

/// A number as the topologies have it: what is too large becomes negative, which is refused.
fn word(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(-1)
}

/// The weights of edges; `None` if none has one. Errors: `MPI_ERR_ARG` when some have one.
fn weights(name: &'static str, all: impl Iterator<Item = Option<u32>> + Clone) -> Result<Option<Vec<i32>>> {
    let given: Vec<i32> = all.clone().flatten().map(word).collect();
    match (given.len(), all.count()) {
        (0, _) => Ok(None),
        (given_count, count) if given_count == count => Ok(Some(given)),
        (given, count) => {
            let rule = format!("{given} of {count} edges have a weight; all have one, or none has");
            Err(Error::new(MPI_ERR_ARG, rule).arg(name, &format_args!("{count} edges")))
        }
    }
}

impl<'c, M: ThreadUse> Graph<'c, M> {
    /// The graph that a call on `parent` has just made.
    fn of(parent: &'c Communicator<'_, M>, handle: Handle) -> Result<Graph<'c, M>> {
        Ok(Graph { all: parent.made(handle, "graph")? })
    }

    /// The neighbours that this process receives from.
    pub fn sources(&self) -> Vec<Neighbor> {
        self.neighbors(|graph| graph.sources())
    }

    /// The neighbours that this process sends to.
    pub fn destinations(&self) -> Vec<Neighbor> {
        self.neighbors(|graph| graph.destinations())
    }

    /// The neighbours of any process of a graph that [`Communicator::graph`] has made, in the order in which they were
    /// listed (`MPI_Graph_neighbors`). Of other graphs, each process has its own neighbours only. Errors: `MPI_ERR_RANK`;
    /// `MPI_ERR_TOPOLOGY` for another graph.
    pub fn neighbors_of(&self, rank: u32) -> Result<Vec<u32>> {
        let rank = word(rank);
        let neighbors = self.all.comm.graph().and_then(|graph| graph.neighbors_of_rank(rank));
        let neighbors = neighbors.map_err(|error| of_rust(error, "Graph::neighbors_of"))?;
        Ok(neighbors.iter().map(|rank| *rank as u32).collect())
    }

    fn neighbors(&self, side: fn(&mpi_comm::topology::Distributed) -> &Adjacency) -> Vec<Neighbor> {
        if let Ok(graph) = self.all.comm.distributed() {
            let side = side(graph);
            let weight =
                |place: usize| side.weights.get(place).filter(|_| graph.weighted()).map(|weight| *weight as u32);
            let ranks = side.ranks.iter().enumerate();
            return ranks.map(|(place, rank)| Neighbor { rank: *rank as u32, weight: weight(place) }).collect();
        }
        // In a graph that all processes describe, edges are named where messages start.
        let ranks = self.all.comm.graph().map_or(&[][..], |graph| graph.neighbors(self.rank()));
        ranks.iter().map(|rank| Neighbor { rank: *rank as u32, weight: None }).collect()
    }
}

impl<'c, M: ThreadUse> Deref for Graph<'c, M> {
    type Target = Communicator<'c, M>;

    fn deref(&self) -> &Communicator<'c, M> {
        &self.all
    }
}

impl<M: ThreadUse> fmt::Debug for Graph<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ends = (self.sources().len(), self.destinations().len());
        f.debug_struct("Graph").field("rank", &self.rank()).field("size", &self.size()).field("edges", &ends).finish()
    }
}
