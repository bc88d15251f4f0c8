//! Graphs of which each process holds its own edges (MPI-5.0, 8.5.4).
//!
//! Invariant: the neighbours of a process never change, and keep the order in which the program gave them.

use mpi_core::abi::{MPI_ERR_ARG, MPI_ERR_RANK};
use mpi_errors::{Error, Result, processes_and_ranks};

/// The neighbours at one end of a process's edges, one entry for each edge.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Adjacency {
    /// Their ranks.
    pub ranks: Vec<i32>,
    /// The weight of each edge; empty in a graph without weights.
    pub weights: Vec<i32>,
}

/// The edges of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Distributed {
    sources: Adjacency,
    destinations: Adjacency,
    weighted: bool,
}

/// What a process states about weights. Weights of no edges are none: they agree with everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weighting {
    /// Whether it names edges.
    pub edges: bool,
    /// Whether it gives weights; false for `MPI_UNWEIGHTED`.
    pub weighted: bool,
}

impl Weighting {
    /// The statement for two lists of edges. Errors: `MPI_ERR_ARG` when one of them has weights.
    pub fn with(self, other: Weighting) -> Result<Weighting> {
        if self.edges && other.edges && self.weighted != other.weighted {
            let rule = "both lists of edges have weights, or both have MPI_UNWEIGHTED";
            let name = if self.weighted { "destweights" } else { "sourceweights" };
            return Err(Error::new(MPI_ERR_ARG, rule).arg(name, &"MPI_UNWEIGHTED"));
        }
        let weighted = match (self.edges, other.edges) {
            (true, _) => self.weighted,
            (false, true) => other.weighted,
            (false, false) => self.weighted || other.weighted,
        };
        Ok(Weighting { edges: self.edges || other.edges, weighted })
    }

    /// Whether a graph has weights, by the statements of all processes; `None` when they contradict each other.
    pub fn of_all(all: impl IntoIterator<Item = Weighting>) -> Option<bool> {
        let (mut with, mut without, mut empty) = (false, false, false);
        for each in all {
            match each.edges {
                true if each.weighted => with = true,
                true => without = true,
                false => empty |= each.weighted,
            }
        }
        if with && without { None } else { Some(with || empty && !without) }
    }
}

impl Adjacency {
    /// The neighbours that a program names; no weights for `MPI_UNWEIGHTED`. `names` are those of the
    /// arguments, for errors.
    ///
    /// Errors: `MPI_ERR_RANK` for a rank that the communicator of `processes` does not have, `MPI_ERR_ARG` for a
    /// negative weight.
    pub fn new(names: [&'static str; 2], ranks: &[i32], weights: Option<&[i32]>, processes: u32) -> Result<Adjacency> {
        check_ranks(names[0], ranks, processes)?;
        check_weights(names[1], weights.unwrap_or_default())?;
        Ok(Adjacency { ranks: ranks.to_vec(), weights: weights.unwrap_or_default().to_vec() })
    }
}

/// Errors: `MPI_ERR_RANK` for a rank that the communicator of `processes` does not have.
pub(super) fn check_ranks(name: &'static str, ranks: &[i32], processes: u32) -> Result<()> {
    match ranks.iter().position(|rank| u32::try_from(*rank).map_or(true, |rank| rank >= processes)) {
        None => Ok(()),
        Some(place) => {
            let rule = format!("the communicator has {}", processes_and_ranks(processes as u64));
            Err(Error::new(MPI_ERR_RANK, rule).arg(name, &ranks[place]).in_element(place))
        }
    }
}

/// Errors: `MPI_ERR_ARG` for a negative weight.
pub(super) fn check_weights(name: &'static str, weights: &[i32]) -> Result<()> {
    match weights.iter().position(|weight| *weight < 0) {
        None => Ok(()),
        Some(place) => {
            let rule = "a weight is not negative";
            Err(Error::new(MPI_ERR_ARG, rule).arg(name, &weights[place]).in_element(place))
        }
    }
}

impl Distributed {
    /// The edges of a process: those that lead to it and those that lead away.
    pub fn new(sources: Adjacency, destinations: Adjacency, weighted: bool) -> Distributed {
        Distributed { sources, destinations, weighted }
    }

    /// The processes whose edges lead to this one.
    pub fn sources(&self) -> &Adjacency {
        &self.sources
    }

    /// The processes that this one's edges lead to.
    pub fn destinations(&self) -> &Adjacency {
        &self.destinations
    }

    /// Whether the edges have weights; the same in all processes.
    pub fn weighted(&self) -> bool {
        self.weighted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_keep_their_order_and_repetitions() {
        let list = Adjacency::new(["sources", "sourceweights"], &[2, 0, 2], Some(&[5, 0, 7]), 3).expect("ranks");
        assert_eq!((list.ranks, list.weights), (vec![2, 0, 2], vec![5, 0, 7]));
    }

    #[test]
    fn processes_without_edges_agree_with_any_weights() {
        let of = |edges, weighted| Weighting { edges, weighted };
        let (with, without) = (of(true, true), of(true, false));
        assert_eq!(Weighting::of_all([with, of(false, false), with]), Some(true));
        assert_eq!(Weighting::of_all([without, of(false, true)]), Some(false));
        assert_eq!(Weighting::of_all([with, without]), None);
        assert_eq!((Weighting::of_all([of(false, true)]), Weighting::of_all([])), (Some(true), Some(false)));
        assert_eq!(with.with(without).expect_err("one of them has weights").class(), MPI_ERR_ARG);
        assert_eq!(of(false, false).with(with).expect("no edges"), with);
        assert_eq!(without.with(of(false, true)).expect("no edges"), without);
    }

    #[test]
    fn wrong_ranks_and_negative_weights_name_their_place() {
        for rank in [-1, 3, i32::MIN, i32::MAX] {
            let error = Adjacency::new(["sources", "w"], &[0, rank], None, 3).expect_err("no rank");
            assert_eq!(error.class(), MPI_ERR_RANK);
            assert!(error.to_string().contains("element 1"), "{error}");
        }
        let error = Adjacency::new(["s", "destweights"], &[0, 1], Some(&[1, -1]), 3).expect_err("a negative weight");
        assert_eq!(error.class(), MPI_ERR_ARG);
        assert!(error.to_string().contains("destweights"), "{error}");
    }
}
