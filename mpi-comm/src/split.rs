//! The groups of `MPI_Comm_split`, computed from the colors and keys of all processes (MPI-5.0, 7.4.2).
//!
//! Invariant: every process computes them from the same numbers, so that all get the same groups.

use mpi_core::abi::MPI_UNDEFINED;

use crate::comm::Comm;
use crate::group::Group;

/// `MPI_Comm_split`: the group of those with this process's color, in the order of their keys, equal ones in the
/// order of the parent; `words` has color and key of each rank of the parent. `None` for `MPI_UNDEFINED`.
pub fn by_color(parent: &Comm, words: &[[i32; 2]]) -> Option<Group> {
    let own = words[parent.rank as usize][0];
    if own == MPI_UNDEFINED {
        return None;
    }
    let members = parent.group().world_ranks();
    let same = words.iter().zip(members.iter()).filter(|([color, _], _)| *color == own);
    let mut sorted: Vec<(i32, u32)> = same.map(|([_, key], member)| (*key, *member)).collect();
    // Stable: equal keys stay in the order of the parent.
    sorted.sort_by_key(|(key, _)| *key);
    let group = Group::new(sorted.into_iter().map(|(_, member)| member).collect::<Vec<_>>());
    Some(group.derived_from(parent.group()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use mpi_core::Handle;
    use mpi_p2p::CommMeters;

    #[test]
    fn equal_keys_keep_the_parents_order() {
        let comm = |rank| Comm::new(0, rank, Group::new([5, 6, 7, 8]), "", Handle(0), CommMeters::detached(4));
        let words = [[1, 3], [1, -2], [MPI_UNDEFINED, 0], [1, 3]];
        assert_eq!(by_color(&comm(0), &words), Some(Group::new([6, 5, 8])));
        assert_eq!(by_color(&comm(2), &words), None);
    }
}
