//! Groups: ordered sets of processes, by their number (MPI-5.0, 7.2.1).
//!
//! The number of a process of the own job is its world rank. Numbers of processes of other jobs are those of this process
//! alone: messages carry their [`mpi_fabric::ProcessId`] instead.

use std::sync::Arc;

use mpi_core::Handle;
use mpi_fabric::PeerPins;

/// An ordered set of processes. Cheap to clone; immutable, so safe to use from any thread.
#[derive(Debug, Clone)]
pub struct Group {
    world_ranks: Arc<[u32]>,
    /// The session that it is derived from (MPI-5.0, 11.3); comparisons ignore it.
    session: Option<Handle>,
    /// Keeps members of other jobs connected, and identifies them; perhaps others as well. Comparisons ignore it.
    pins: PeerPins,
}

impl PartialEq for Group {
    fn eq(&self, other: &Group) -> bool {
        self.world_ranks == other.world_ranks
    }
}

impl Eq for Group {}

/// The relation of two groups (MPI-5.0, 7.3.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GroupRelation {
    /// The same processes in the same order.
    Identical,
    /// The same processes in another order.
    Similar,
    /// Different processes.
    Unequal,
}

impl Group {
    /// The group of these processes; each must be named once.
    pub fn new(world_ranks: impl Into<Arc<[u32]>>) -> Group {
        Group { world_ranks: world_ranks.into(), session: None, pins: PeerPins::default() }
    }

    /// The same group, whose members of other jobs these pins keep connected.
    pub(crate) fn pinned(self, pins: PeerPins) -> Group {
        Group { pins, ..self }
    }

    /// What keeps its members of other jobs connected.
    pub fn pins(&self) -> &PeerPins {
        &self.pins
    }

    /// The group of the processes in the words of a message: [`Group::words`].
    pub(crate) fn of_words(world_ranks: &[u64]) -> Group {
        Group::new(world_ranks.iter().map(|rank| *rank as u32).collect::<Vec<_>>())
    }

    /// Rank in the job of each member, as the words of a message.
    pub(crate) fn words(&self) -> Vec<u64> {
        self.world_ranks.iter().map(|rank| u64::from(*rank)).collect()
    }

    /// The same group, derived from this session.
    pub fn of_session(self, session: Handle) -> Group {
        Group { session: Some(session), ..self }
    }

    /// The same group, some of whose members come from the other one: derived from the other one's session if that has
    /// one, and connected as long as that.
    pub(crate) fn derived_from(mut self, other: &Group) -> Group {
        self.pins.merge(&other.pins);
        Group { session: other.session.or(self.session), ..self }
    }

    /// The members with these ranks of this group, in this order.
    #[must_use]
    pub fn members(&self, ranks: impl IntoIterator<Item = u32>) -> Group {
        let members = ranks.into_iter().map(|rank| self.world_ranks[rank as usize]);
        Group::new(members.collect::<Vec<_>>()).derived_from(self)
    }

    /// The session whose process sets it was derived from, also through other groups and communicators; it may be
    /// finalized.
    pub fn session(&self) -> Option<Handle> {
        self.session
    }

    /// All processes of a job of `size`, in order.
    pub fn world(size: u32) -> Group {
        Group::new((0..size).collect::<Vec<_>>())
    }

    /// Number of processes.
    #[inline]
    pub fn size(&self) -> u32 {
        self.world_ranks.len() as u32
    }

    /// Rank in the job of each member, in the group's order.
    #[inline]
    pub fn world_ranks(&self) -> &Arc<[u32]> {
        &self.world_ranks
    }

    /// Rank in this group of a process, if it is a member.
    pub fn rank_of(&self, world_rank: u32) -> Option<u32> {
        self.world_ranks.iter().position(|member| *member == world_rank).map(|rank| rank as u32)
    }

    /// The relation of this group to another.
    pub fn compare(&self, other: &Group) -> GroupRelation {
        if self.world_ranks == other.world_ranks {
            return GroupRelation::Identical;
        }
        let sorted = |group: &Group| {
            let mut members = group.world_ranks.to_vec();
            members.sort_unstable();
            members
        };
        if self.size() == other.size() && sorted(self) == sorted(other) {
            GroupRelation::Similar
        } else {
            GroupRelation::Unequal
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_in_another_order_are_similar() {
        let group = |ranks: &[u32]| Group::new(ranks);
        assert_eq!(group(&[0, 1, 2]).compare(&Group::world(3)), GroupRelation::Identical);
        assert_eq!(group(&[2, 0, 1]).compare(&Group::world(3)), GroupRelation::Similar);
        assert_eq!(group(&[0, 1]).compare(&Group::world(3)), GroupRelation::Unequal);
        assert_eq!(group(&[0, 1, 3]).compare(&Group::world(3)), GroupRelation::Unequal);
        assert_eq!(group(&[]).compare(&group(&[])), GroupRelation::Identical);
        assert_eq!(group(&[5, 3]).rank_of(3), Some(1));
        assert_eq!(group(&[5, 3]).rank_of(0), None);
    }
}
