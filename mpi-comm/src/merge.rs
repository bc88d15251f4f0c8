//! The group of `MPI_Intercomm_merge`, computed from the `high` of all processes (MPI-5.0, 7.6.2).
//!
//! Invariant: every process computes it from the same numbers, so that all get the same group or the same error.

use mpi_core::abi::MPI_ERR_ARG;
use mpi_errors::{Error, Result};

use crate::comm::Comm;
use crate::context_agreement::Agreement;
use crate::group::Group;
use crate::remote::Remote;

/// The processes of both groups of `parent`, whose other side is `remote`: first those of the group that passed `high`
/// as 0. If both groups passed the same, first the group whose process with rank 0 has the lower world rank. The first
/// word of each process is its `high`, 0 or 1.
///
/// Errors: `MPI_ERR_ARG` when the processes of one group passed different values.
pub fn merged(parent: &Comm, remote: &Remote, agreed: &Agreement) -> Result<Group> {
    let high = [&agreed.words, &agreed.remote_words].map(|words| {
        let [first, _] = words[0];
        let other = words.iter().position(|[high, _]| *high != first);
        other.map_or(Ok(first != 0), |rank| Err(unequal(rank, first == 0)))
    });
    let [own, others] = high;
    let (own, others) = (own?, others?);
    let local_first = if own == others { remote.local_is_first() } else { others };
    let (first, second) = match local_first {
        true => (parent.group(), remote.group()),
        false => (remote.group(), parent.group()),
    };
    Ok(first.union(second))
}

#[cold]
fn unequal(rank: usize, high: bool) -> Error {
    let rule = format!("all processes of a group pass the same value, but rank 0 and rank {rank} of one do not");
    Error::new(MPI_ERR_ARG, rule).arg("high", &if high { "true" } else { "false" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::tests::inter;

    fn merge(local: &[u32], remote: &[u32], high: [i32; 2]) -> Group {
        let comm = inter(local, remote, 0);
        let words = |size: usize, high| vec![[high, 0]; size];
        let (words, remote_words) = (words(local.len(), high[0]), words(remote.len(), high[1]));
        merged(&comm, comm.remote().expect("two groups"), &Agreement { context: 0, words, remote_words })
            .expect("each group passed one value")
    }

    #[test]
    fn the_low_group_is_first_and_equal_values_order_by_world_rank() {
        let (one, other) = ([4, 1], [2, 3, 0]);
        let (one_first, other_first) = (Group::new([4, 1, 2, 3, 0]), Group::new([2, 3, 0, 4, 1]));
        assert_eq!(merge(&one, &other, [0, 1]), one_first);
        assert_eq!(merge(&other, &one, [1, 0]), one_first);
        assert_eq!(merge(&one, &other, [1, 0]), other_first);
        assert_eq!(merge(&other, &one, [0, 1]), other_first);
        for same in [[0, 0], [1, 1]] {
            assert_eq!(merge(&one, &other, same), other_first);
            assert_eq!(merge(&other, &one, same), other_first);
        }
    }

    #[test]
    fn different_values_in_a_group_are_an_error_in_both() {
        let comm = inter(&[0, 1], &[2], 0);
        let remote = comm.remote().expect("two groups");
        let (same, mixed) = (vec![[1, 0]], vec![[1, 0], [0, 0]]);
        for (words, remote_words) in [(mixed.clone(), same), (vec![[0, 0]; 2], mixed)] {
            let error = merged(&comm, remote, &Agreement { context: 0, words, remote_words }).expect_err("mixed");
            assert_eq!(error.class(), MPI_ERR_ARG);
        }
    }
}
