//! The groups of `MPI_Comm_split`, computed from the colors and keys of all processes (MPI-5.0, 7.4.2).
//!
//! Invariant: every process computes them from the same numbers, so that all get the same groups.

use mpi_core::abi::MPI_UNDEFINED;

use crate::comm::Comm;
use crate::context_agreement::Agreement;
use crate::group::Group;
use crate::remote::Remote;

/// `MPI_Comm_split`: the group of those with this process's color, in the order of their keys, equal ones in the
/// order of the parent; `words` has color and key of each rank of the parent. `None` for `MPI_UNDEFINED`.
pub fn by_color(parent: &Comm, words: &[[i32; 2]]) -> Option<Group> {
    let own = words[parent.rank as usize][0];
    (own != MPI_UNDEFINED).then(|| of_color(own, parent.group(), words))
}

/// [`by_color`] in an intercommunicator: the groups of those with this process's color on both sides; `None` also if
/// there is no such process in the remote group.
pub fn by_color_in_both(parent: &Comm, remote: &Remote, agreed: &Agreement) -> Option<[Group; 2]> {
    let local = by_color(parent, &agreed.words)?;
    let others = of_color(agreed.words[parent.rank as usize][0], remote.group(), &agreed.remote_words);
    (others.size() > 0).then_some([local, others])
}

/// Those of a group with this color.
fn of_color(color: i32, group: &Group, words: &[[i32; 2]]) -> Group {
    let same = words.iter().zip(group.world_ranks().iter()).filter(|([other, _], _)| *other == color);
    let mut sorted: Vec<(i32, u32)> = same.map(|([_, key], member)| (*key, *member)).collect();
    // Stable: equal keys stay in the order of the parent.
    sorted.sort_by_key(|(key, _)| *key);
    Group::new(sorted.into_iter().map(|(_, member)| member).collect::<Vec<_>>()).derived_from(group)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use mpi_core::Handle;
    use mpi_p2p::CommMeters;

    /// An intercommunicator of these groups, in which this process has a rank in the first one.
    pub(crate) fn inter(local: &[u32], remote: &[u32], rank: u32) -> Comm {
        let comm = |context| Comm::new(context, rank, Group::new(local), "", Handle(0), CommMeters::detached(4));
        comm(4).into_intercomm(Group::new(remote), comm(6))
    }

    #[test]
    fn equal_keys_keep_the_parents_order() {
        let comm = |rank| Comm::new(0, rank, Group::new([5, 6, 7, 8]), "", Handle(0), CommMeters::detached(4));
        let words = [[1, 3], [1, -2], [MPI_UNDEFINED, 0], [1, 3]];
        assert_eq!(by_color(&comm(0), &words), Some(Group::new([6, 5, 8])));
        assert_eq!(by_color(&comm(2), &words), None);
    }

    #[test]
    fn colors_of_one_side_alone_make_no_intercommunicator() {
        let words = vec![[1, 0], [2, 0], [1, -1], [MPI_UNDEFINED, 0]];
        let remote_words = vec![[1, 5], [MPI_UNDEFINED, 0], [1, 4], [3, 0]];
        let agreed = Agreement { context: 0, words, remote_words };
        let of = |rank| {
            let comm = inter(&[5, 6, 7, 8], &[3, 2, 1, 0], rank);
            by_color_in_both(&comm, comm.remote().expect("two groups"), &agreed)
        };
        assert_eq!(of(0), Some([Group::new([7, 5]), Group::new([1, 3])]));
        assert_eq!((of(1), of(3)), (None, None));
    }
}
