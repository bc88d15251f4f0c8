//! Graphs of which each process holds its own edges (MPI-5.0, 8.5.4 and 8.5.5).
//!
//! Invariant: the weights that a program passes are read only if it has edges and did not pass `MPI_UNWEIGHTED`.
//! Not here: how edges reach their ends (`mpi_comm::topology`), agreement between the processes (`mpi_env`).

use mpi_comm::topology::{Adjacency, EdgeList, Weighting};
use mpi_core::{Info, abi};
use mpi_errors::{Error, Result};

use super::comm_create::{hints, set_hints};
use crate::call_context::{CallContext, CommView};
use crate::check::{self, Out};
use crate::errors::Outcome;

/// The weights of `count` edges; none for `MPI_UNWEIGHTED`.
fn weights<'a>(name: &'static str, address: *const i32, count: usize) -> Result<(Option<&'a [i32]>, Weighting)> {
    let weighted = address as usize != abi::MPI_UNWEIGHTED;
    let weights = match (weighted, count) {
        (false, _) => None,
        (true, 0) => Some(&[][..]),
        (true, _) if address as usize == abi::MPI_WEIGHTS_EMPTY => {
            let rule = format!("MPI_WEIGHTS_EMPTY is for processes without edges, and there are {count}");
            return Err(Error::new(abi::MPI_ERR_ARG, rule).arg(name, &"MPI_WEIGHTS_EMPTY"));
        }
        (true, _) => Some(check::list(name, address, count)?),
    };
    Ok((weights, Weighting { edges: count > 0, weighted }))
}

fn degree(name: &'static str, degree: i32) -> Result<usize> {
    usize::try_from(degree)
        .map_err(|_| Error::new(abi::MPI_ERR_ARG, "a degree is a number of edges, not negative").arg(name, &degree))
}

/// The arguments of a call that names this process's own edges at one end.
struct End {
    names: [&'static str; 3],
    degree: i32,
    ranks: *const i32,
    weights: *const i32,
}

impl End {
    fn check(&self, processes: u32) -> Result<(Adjacency, Weighting)> {
        let [degree_name, ranks_name, weights_name] = self.names;
        let count = degree(degree_name, self.degree)?;
        let ranks = check::list(ranks_name, self.ranks, count)?;
        let (weights, weighting) = weights(weights_name, self.weights, count)?;
        Ok((Adjacency::new([ranks_name, weights_name], ranks, weights, processes)?, weighting))
    }
}

/// `MPI_Dist_graph_create_adjacent`
pub fn dist_graph_create_adjacent(
    cx: CallContext,
    comm: CommView,
    indegree: i32,
    sources: *const i32,
    sourceweights: *const i32,
    outdegree: i32,
    destinations: *const i32,
    destweights: *const i32,
    info: usize,
    _reorder: bool,
    new: *mut usize,
) -> Outcome {
    let process = cx.process;
    // The call is collective, so the lock is released first.
    drop(cx);
    let sources = End {
        names: ["indegree", "sources", "sourceweights"],
        degree: indegree,
        ranks: sources,
        weights: sourceweights,
    };
    let destinations = End {
        names: ["outdegree", "destinations", "destweights"],
        degree: outdegree,
        ranks: destinations,
        weights: destweights,
    };
    let mut kept = None;
    let mut check = || {
        kept = Some((check::out("comm_dist_graph", new)?, hints(info)?));
        let ((sources, in_weights), (destinations, out_weights)) =
            (sources.check(comm.size)?, destinations.check(comm.size)?);
        Ok((sources, destinations, in_weights.with(out_weights)?))
    };
    let edges = check();
    let made = process.dist_graph_create_adjacent(comm.handle, edges)?;
    finish(process, kept, made)
}

/// `MPI_Dist_graph_create`
pub fn dist_graph_create(
    cx: CallContext,
    comm: CommView,
    count: i32,
    sources: *const i32,
    degrees: *const i32,
    destinations: *const i32,
    edge_weights: *const i32,
    info: usize,
    _reorder: bool,
    new: *mut usize,
) -> Outcome {
    let process = cx.process;
    drop(cx);
    let mut kept = None;
    let mut check = || {
        kept = Some((check::out("comm_dist_graph", new)?, hints(info)?));
        let count = check::length("n", count)?;
        let (sources, degrees) = (check::list("sources", sources, count)?, check::list("degrees", degrees, count)?);
        let edges = EdgeList::count(degrees)?;
        let (weights, weighting) = weights("weights", edge_weights, edges)?;
        let destinations = check::list("destinations", destinations, edges)?;
        Ok((EdgeList::new(sources, degrees, destinations, weights, comm.size)?, weighting))
    };
    let edges = check();
    let made = process.dist_graph_create(comm.handle, edges)?;
    finish(process, kept, made)
}

/// Stores the handle of a new communicator with its hints.
fn finish(process: &mpi_env::Process, kept: Option<(Out<usize>, Option<Info>)>, made: mpi_core::Handle) -> Outcome {
    // The call has succeeded, so the arguments were accepted.
    if let Some((new, hints)) = kept {
        set_hints(process, made, hints.as_ref());
        new.set(made.0);
    }
    Ok(())
}

/// `MPI_Dist_graph_neighbors_count`
pub fn dist_graph_neighbors_count(
    cx: CallContext,
    comm: CommView,
    indegree: Out<i32>,
    outdegree: Out<i32>,
    weighted: Out<i32>,
) -> Outcome {
    let whole = cx.whole_comm(comm.handle)?;
    let graph = whole.distributed()?;
    indegree.set(graph.sources().ranks.len() as i32);
    outdegree.set(graph.destinations().ranks.len() as i32);
    weighted.set(i32::from(graph.weighted()));
    Ok(())
}

/// `MPI_Dist_graph_neighbors`: a shorter array gets the first neighbours.
pub fn dist_graph_neighbors(
    cx: CallContext,
    comm: CommView,
    _max_in: usize,
    sources: &mut [i32],
    sourceweights: *mut i32,
    _max_out: usize,
    destinations: &mut [i32],
    destweights: *mut i32,
) -> Outcome {
    let whole = cx.whole_comm(comm.handle)?;
    let graph = whole.distributed()?;
    let in_weights = places("sourceweights", sourceweights, graph.sources(), sources.len())?;
    let out_weights = places("destweights", destweights, graph.destinations(), destinations.len())?;
    for (list, ranks, weights) in
        [(graph.sources(), sources, in_weights), (graph.destinations(), destinations, out_weights)]
    {
        ranks.iter_mut().zip(&list.ranks).for_each(|(place, rank)| *place = *rank);
        weights.iter_mut().zip(&list.weights).for_each(|(place, weight)| *place = *weight);
    }
    Ok(())
}

/// The places of the weights of the edges that a program gets; none where it passes `MPI_UNWEIGHTED` or where the graph
/// has no weights.
fn places<'a>(name: &'static str, address: *mut i32, list: &Adjacency, room: usize) -> Result<&'a mut [i32]> {
    let wanted = list.weights.len().min(room);
    match address as usize {
        abi::MPI_UNWEIGHTED => Ok(&mut []),
        abi::MPI_WEIGHTS_EMPTY if wanted > 0 => {
            let rule = format!("there are {wanted} weights to store");
            Err(Error::new(abi::MPI_ERR_ARG, rule).arg(name, &"MPI_WEIGHTS_EMPTY"))
        }
        _ => check::slice(name, address, wanted),
    }
}
