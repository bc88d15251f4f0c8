//! Graphs that every process describes in full (MPI-5.0, 8.5.3, 8.5.5 and 8.5.8).
//!
//! Not here: the graph itself (`mpi_comm::topology`), agreement between the processes (`mpi_env`).

use mpi_comm::topology::Graph;
use mpi_core::abi;
use mpi_errors::{Error, Result, processes};

use super::cart::too_short;
use crate::call_context::{CallContext, CommView};
use crate::check::{self, Out};
use crate::errors::Outcome;

fn graph(comm: CommView, nodes: i32, index: *const i32, edges: *const i32) -> Result<Graph> {
    let Ok(nodes) = usize::try_from(nodes) else {
        return Err(Error::new(abi::MPI_ERR_ARG, "a graph has 0 nodes or more").arg("nnodes", &nodes));
    };
    if nodes > comm.size as usize {
        // Before the arrays are read, which may be as short as the communicator.
        let rule = format!("the communicator has {}", processes(comm.size));
        return Err(Error::new(abi::MPI_ERR_ARG, rule).arg("nnodes", &nodes));
    }
    let index = check::list("index", index, nodes)?;
    Graph::new(index, check::list("edges", edges, Graph::edge_count(index)?)?, comm.size)
}

/// `MPI_Graph_create`
pub fn graph_create(
    cx: CallContext,
    comm: CommView,
    nodes: i32,
    index: *const i32,
    edges: *const i32,
    reorder: bool,
    new: *mut usize,
) -> Outcome {
    let process = cx.process;
    // The call is collective, so the lock is released first.
    drop(cx);
    let new = check::out("comm_graph", new);
    let graph = new.as_ref().map_err(Error::clone).and_then(|_| graph(comm, nodes, index, edges));
    let made = process.graph_create(comm.handle, graph, reorder)?;
    new?.set(made.0);
    Ok(())
}

/// `MPI_Graph_map`
pub fn graph_map(
    cx: CallContext,
    comm: CommView,
    nodes: i32,
    index: *const i32,
    edges: *const i32,
    rank: *mut i32,
) -> Outcome {
    let process = cx.process;
    drop(cx);
    let rank = check::out("newrank", rank);
    let graph = rank.as_ref().map_err(Error::clone).and_then(|_| graph(comm, nodes, index, edges));
    let found = process.graph_map(comm.handle, graph)?;
    rank?.set(found.map_or(abi::MPI_UNDEFINED, |rank| rank as i32));
    Ok(())
}

/// `MPI_Graphdims_get`
pub fn graphdims_get(cx: CallContext, comm: CommView, nodes: Out<i32>, edges: Out<i32>) -> Outcome {
    let whole = cx.whole_comm(comm.handle)?;
    let graph = whole.graph()?;
    nodes.set(graph.nodes() as i32);
    edges.set(graph.edges().len() as i32);
    Ok(())
}

/// `MPI_Graph_get`
pub fn graph_get(
    cx: CallContext,
    comm: CommView,
    max_index: usize,
    max_edges: usize,
    index: &mut [i32],
    edges: &mut [i32],
) -> Outcome {
    let whole = cx.whole_comm(comm.handle)?;
    let graph = whole.graph()?;
    if max_index < graph.index().len() {
        return Err(too_short("maxindex", max_index, graph.index().len(), "nodes").into());
    }
    if max_edges < graph.edges().len() {
        return Err(too_short("maxedges", max_edges, graph.edges().len(), "edges").into());
    }
    index[..graph.index().len()].copy_from_slice(graph.index());
    edges[..graph.edges().len()].copy_from_slice(graph.edges());
    Ok(())
}

/// `MPI_Graph_neighbors_count`
pub fn graph_neighbors_count(cx: CallContext, comm: CommView, rank: i32, count: Out<i32>) -> Outcome {
    count.set(cx.whole_comm(comm.handle)?.graph()?.neighbors_of_rank(rank)?.len() as i32);
    Ok(())
}

/// `MPI_Graph_neighbors`
pub fn graph_neighbors(cx: CallContext, comm: CommView, rank: i32, length: usize, neighbors: &mut [i32]) -> Outcome {
    let whole = cx.whole_comm(comm.handle)?;
    let found = whole.graph()?.neighbors_of_rank(rank)?;
    if length < found.len() {
        return Err(too_short("maxneighbors", length, found.len(), "neighbours").into());
    }
    neighbors[..found.len()].copy_from_slice(found);
    Ok(())
}
