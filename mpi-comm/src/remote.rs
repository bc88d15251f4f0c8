//! The other side of an intercommunicator (MPI-5.0, 7.6).
//!
//! Invariant: the two groups have no process in common, and neither is empty.
//! Not here: the local group and its communicator (`comm`), messages between the groups (`both_groups`).

use std::sync::Arc;

use crate::group::Group;

/// The other side of an intercommunicator.
#[derive(Debug)]
pub struct Remote {
    group: Group,
    /// World ranks of both groups, in the same order in all processes.
    members: Arc<[u32]>,
    /// Whether the local group is the first of them.
    local_is_first: bool,
}

impl Remote {
    pub(crate) fn new(own: &Group, group: Group) -> Remote {
        let local_is_first = is_first(own, &group);
        let (first, second) = if local_is_first { (own, &group) } else { (&group, own) };
        let members = first.world_ranks().iter().chain(second.world_ranks().iter()).copied().collect();
        Remote { group, members, local_is_first }
    }

    /// The processes of the remote group (`MPI_Comm_remote_group`).
    #[inline]
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// World ranks of both groups, in the same order in all processes: first the group whose process with rank 0 has
    /// the lower world rank; of several jobs, the lower number of the job.
    #[inline]
    pub fn members(&self) -> &Arc<[u32]> {
        &self.members
    }

    /// Whether the local group is the first one in [`Remote::members`].
    #[inline]
    pub fn local_is_first(&self) -> bool {
        self.local_is_first
    }
}

/// Whether a group comes before another one, in both of them: by the identities of their first processes.
fn is_first(one: &Group, other: &Group) -> bool {
    let (first, of_other) = (one.world_ranks().first(), other.world_ranks().first());
    let mut pins = one.pins().clone();
    pins.merge(other.pins());
    match pins.is_empty() {
        true => first < of_other,
        false => first.and_then(|number| pins.id_of(*number)) < of_other.and_then(|number| pins.id_of(*number)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_have_the_same_order_of_all_processes() {
        let side = |own: &[u32], other: &[u32]| Remote::new(&Group::new(own), Group::new(other));
        let (one, other) = (side(&[3, 0], &[2, 5, 4]), side(&[2, 5, 4], &[3, 0]));
        assert_eq!(one.members()[..], [2, 5, 4, 3, 0]);
        assert_eq!(one.members(), other.members());
        assert_eq!((one.local_is_first(), other.local_is_first()), (false, true));
    }
}
