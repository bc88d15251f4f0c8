//! Edges that any process may name (`MPI_Dist_graph_create`, MPI-5.0, 8.5.4), and the lists of them for the
//! processes at their ends.
//!
//! Invariant: a process has its edges in the order of the ranks that named them, and of one rank's list.
//! Not here: the messages (`edge_exchange`).

use std::collections::BTreeMap;

use mpi_core::abi::{MPI_ERR_ARG, MPI_ERR_COUNT, MPI_ERR_INTERN};
use mpi_errors::{Error, Result};

use super::distributed::{Adjacency, Distributed, check_ranks, check_weights};

/// The direction of an edge, seen from the process that a message goes to.
const AWAY: i32 = 1;
const HERE: i32 = 0;

/// The edges that a process names: source, destination, weight.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EdgeList {
    edges: Vec<[i32; 3]>,
}

impl EdgeList {
    /// The number of edges of these degrees. Errors: `MPI_ERR_ARG` for a negative one, `MPI_ERR_COUNT` for more edges
    /// than an `int` counts.
    pub fn count(degrees: &[i32]) -> Result<usize> {
        if let Some(place) = degrees.iter().position(|degree| *degree < 0) {
            let rule = "a degree is a number of edges, not negative";
            return Err(Error::new(MPI_ERR_ARG, rule).arg("degrees", &degrees[place]).in_element(place));
        }
        let count: i64 = degrees.iter().map(|degree| i64::from(*degree)).sum();
        i32::try_from(count).map(|count| count as usize).map_err(|_| {
            Error::new(MPI_ERR_COUNT, format!("a process names {} edges at most", i32::MAX)).arg("degrees", &count)
        })
    }

    /// The edges from each source to as many destinations as its degree, which [`EdgeList::count`] has accepted; no
    /// weights for `MPI_UNWEIGHTED`. Errors: `MPI_ERR_RANK` for a rank that the communicator of `processes` does not
    /// have, `MPI_ERR_ARG` for a negative weight.
    pub fn new(
        sources: &[i32],
        degrees: &[i32],
        destinations: &[i32],
        weights: Option<&[i32]>,
        processes: u32,
    ) -> Result<EdgeList> {
        check_ranks("sources", sources, processes)?;
        check_ranks("destinations", destinations, processes)?;
        check_weights("weights", weights.unwrap_or_default())?;
        let from = sources.iter().zip(degrees).flat_map(|(source, degree)| (0..*degree).map(|_| *source));
        let edges = from.zip(destinations).enumerate();
        let weight = |place: usize| weights.map_or(0, |weights| weights[place]);
        Ok(EdgeList { edges: edges.map(|(place, (from, to))| [from, *to, weight(place)]).collect() })
    }

    /// For each process at an end of an edge: three words for each of its ends, which are the direction, the process at
    /// the other end and the weight.
    pub fn by_process(&self) -> BTreeMap<u32, Vec<i32>> {
        let mut by_process: BTreeMap<u32, Vec<i32>> = BTreeMap::new();
        for [source, destination, weight] in &self.edges {
            by_process.entry(*source as u32).or_default().extend([AWAY, *destination, *weight]);
            by_process.entry(*destination as u32).or_default().extend([HERE, *source, *weight]);
        }
        by_process
    }

    /// The edges of a process of `processes`, from the lists that it received, each with the rank of its
    /// sender. Errors: `MPI_ERR_INTERN` for a list with a rank that the communicator does not have.
    pub fn unpack(mut lists: Vec<(i32, Vec<i32>)>, weighted: bool, processes: u32) -> Result<Distributed> {
        lists.sort_unstable_by_key(|(by, _)| *by);
        let (mut sources, mut destinations) = (Adjacency::default(), Adjacency::default());
        for (_, words) in &lists {
            for [away, rank, weight] in words.as_chunks().0 {
                let list = if *away == AWAY { &mut destinations } else { &mut sources };
                list.ranks.push(*rank);
                if weighted {
                    list.weights.push(*weight);
                }
            }
        }
        for list in [&sources, &destinations] {
            check_ranks("ranks", &list.ranks, processes)
                .map_err(|error| Error::new(MPI_ERR_INTERN, format!("another process named an edge: {error}")))?;
        }
        Ok(Distributed::new(sources, destinations, weighted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_core::abi::MPI_ERR_RANK;

    #[test]
    fn both_ends_of_an_edge_get_it_and_a_loop_has_both_at_one_process() {
        let list = EdgeList::new(&[0, 2], &[2, 1], &[1, 0, 0], Some(&[5, 6, 7]), 3).expect("edges");
        let expected =
            [(0, vec![AWAY, 1, 5, AWAY, 0, 6, HERE, 0, 6, HERE, 2, 7]), (1, vec![HERE, 0, 5]), (2, vec![AWAY, 0, 7])];
        assert_eq!(list.by_process(), BTreeMap::from(expected));
        assert!(EdgeList::default().by_process().is_empty());
    }

    #[test]
    fn degrees_are_not_negative_and_their_sum_is_an_int() {
        assert_eq!(EdgeList::count(&[2, 0, 3]).expect("degrees"), 5);
        assert_eq!(EdgeList::count(&[1, -1]).expect_err("negative").class(), MPI_ERR_ARG);
        assert_eq!(EdgeList::count(&[i32::MAX, 1]).expect_err("too many").class(), MPI_ERR_COUNT);
    }

    #[test]
    fn wrong_ranks_at_either_end_and_negative_weights_are_errors() {
        let class =
            |from, to, weight| EdgeList::new(&[from], &[1], &[to], Some(&[weight]), 3).map_err(|error| error.class());
        assert_eq!((class(3, 0, 0), class(0, -1, 0)), (Err(MPI_ERR_RANK), Err(MPI_ERR_RANK)));
        assert_eq!((class(0, 0, -1), class(2, 2, 0).is_ok()), (Err(MPI_ERR_ARG), true));
    }
}
