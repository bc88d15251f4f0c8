//! The groups of `MPI_Comm_create` on an intercommunicator (MPI-5.0, 7.4.2): each process passes a subset of its local
//! group, and the processes exchange their places in it.
//!
//! Invariant: every process computes both groups from the same numbers, so that all get the same groups or an error.

use mpi_core::abi::MPI_ERR_GROUP;
use mpi_errors::{Error, Result};

use crate::comm::Comm;
use crate::context_agreement::Agreement;
use crate::group::Group;
use crate::remote::Remote;

/// The place of a process that is not in the group that it passed.
pub const PLACE_OUTSIDE: i32 = -1;
/// The place when the group has processes that are not in the local group.
const PLACE_WRONG: i32 = -2;

/// The words of a process for the exchange: its place in the group that it passed, and the size of that group.
pub fn place_in(group: &Group, parent: &Comm) -> [i32; 2] {
    if group.difference(parent.group()).size() > 0 {
        return [PLACE_WRONG, 0];
    }
    let own = parent.group().world_ranks()[parent.rank as usize];
    [group.rank_of(own).map_or(PLACE_OUTSIDE, |place| place as i32), group.size() as i32]
}

/// The local and the remote group of the new intercommunicator of an exchange of [`place_in`]; `None` if one is empty.
///
/// Errors, in all processes: `MPI_ERR_GROUP` when a process passed a group with processes outside its local group, and
/// when the processes of one group passed different groups.
pub fn subsets(parent: &Comm, remote: &Remote, agreed: &Agreement) -> Result<Option<[Group; 2]>> {
    let local = members(parent.group(), &agreed.words)?;
    let others = members(remote.group(), &agreed.remote_words)?;
    Ok((local.size() > 0 && others.size() > 0).then_some([local, others]))
}

/// The processes of `side` in the order of their places.
fn members(side: &Group, words: &[[i32; 2]]) -> Result<Group> {
    if let Some(rank) = words.iter().position(|[place, _]| *place == PLACE_WRONG) {
        let rule = format!("rank {rank} of one group passed processes that are not in its local group");
        return Err(Error::new(MPI_ERR_GROUP, rule).arg("group", &"of other processes"));
    }
    let [_, size] = words[0];
    let mut places = vec![None; words.len()];
    let mut count = 0;
    for (&[place, of], world_rank) in words.iter().zip(side.world_ranks().iter()) {
        if of != size {
            return Err(different());
        }
        if place != PLACE_OUTSIDE {
            let room = usize::try_from(place).ok().and_then(|place| places.get_mut(place)).ok_or_else(different)?;
            if room.replace(*world_rank).is_some() {
                return Err(different());
            }
            count += 1;
        }
    }
    let found: Vec<u32> = places.into_iter().map_while(|member| member).collect();
    if found.len() != count || count != size as usize {
        return Err(different());
    }
    Ok(Group::new(found).derived_from(side))
}

#[cold]
fn different() -> Error {
    let rule = "all processes of one group of an intercommunicator pass the same group";
    Error::new(MPI_ERR_GROUP, rule).arg("group", &"different from that of another process")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::split::tests::inter;

    /// The groups that the processes of the local group 5, 6, 7 and of the remote group 1, 0 pass.
    fn exchange(groups: [&[u32]; 3], remote_groups: [&[u32]; 2]) -> Result<Option<[Group; 2]>> {
        let (local, remote) = ([5, 6, 7], [1, 0]);
        let words = |own: &[u32], other: &[u32], groups: &[&[u32]]| -> Vec<[i32; 2]> {
            let each = groups.iter().enumerate();
            each.map(|(rank, group)| place_in(&Group::new(*group), &inter(own, other, rank as u32))).collect()
        };
        let (words, remote_words) = (words(&local, &remote, &groups), words(&remote, &local, &remote_groups));
        let comm = inter(&local, &remote, 0);
        subsets(&comm, comm.remote().expect("two groups"), &Agreement { context: 0, words, remote_words })
    }

    #[test]
    fn both_groups_keep_the_order_that_their_processes_passed() {
        let made = exchange([&[7, 5]; 3], [&[0, 1]; 2]).expect("groups").expect("two groups");
        assert_eq!(made, [Group::new([7, 5]), Group::new([0, 1])]);
    }

    #[test]
    fn an_empty_group_on_either_side_makes_none() {
        assert_eq!(exchange([&[]; 3], [&[0, 1]; 2]).expect("groups"), None);
        assert_eq!(exchange([&[5]; 3], [&[]; 2]).expect("groups"), None);
    }

    #[test]
    fn wrong_and_different_groups_are_errors() {
        let wrong: [([&[u32]; 3], [&[u32]; 2]); 5] = [
            ([&[5, 0]; 3], [&[0, 1]; 2]),
            ([&[5]; 3], [&[0, 5]; 2]),
            ([&[5, 6], &[6, 5], &[5, 6]], [&[0, 1]; 2]),
            ([&[5], &[6], &[5]], [&[0, 1]; 2]),
            ([&[5, 6], &[5], &[5]], [&[0, 1]; 2]),
        ];
        for (groups, remote_groups) in wrong {
            assert_eq!(exchange(groups, remote_groups).expect_err("wrong").class(), MPI_ERR_GROUP, "{groups:?}");
        }
    }
}
