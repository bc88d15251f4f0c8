//! Operations on groups (MPI-5.0, 7.3.2). All of them are local.
//!
//! Invariant: a resulting group contains each process once; ranks in arguments are checked.

use mpi_core::abi::{MPI_ERR_ARG, MPI_ERR_RANK, MPI_PROC_NULL, MPI_UNDEFINED};
use mpi_errors::{Error, Result, processes_and_ranks};

use crate::group::Group;

/// The rank in a group by the rank in the job.
struct Members {
    ranks: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;

impl Members {
    fn of(group: &Group) -> Members {
        let members = group.world_ranks();
        let mut ranks = vec![ABSENT; members.iter().max().map_or(0, |last| *last as usize + 1)];
        for (rank, member) in members.iter().enumerate() {
            ranks[*member as usize] = rank as u32;
        }
        Members { ranks }
    }

    fn rank(&self, world_rank: u32) -> Option<u32> {
        self.ranks.get(world_rank as usize).copied().filter(|rank| *rank != ABSENT)
    }
}

impl Group {
    /// `MPI_Group_union`: all of this group, then those of the other that are missing.
    pub fn union(&self, other: &Group) -> Group {
        let here = Members::of(self);
        let missing = other.world_ranks().iter().filter(|member| here.rank(**member).is_none());
        let all = self.world_ranks().iter().chain(missing).copied();
        Group::new(all.collect::<Vec<_>>()).derived_from(other).derived_from(self)
    }

    /// `MPI_Group_intersection`: those of this group that are in the other too, in this group's order.
    pub fn intersection(&self, other: &Group) -> Group {
        let there = Members::of(other);
        self.filtered(|member| there.rank(member).is_some())
    }

    /// `MPI_Group_difference`: those of this group that are not in the other, in this group's order.
    pub fn difference(&self, other: &Group) -> Group {
        let there = Members::of(other);
        self.filtered(|member| there.rank(member).is_none())
    }

    fn filtered(&self, stays: impl Fn(u32) -> bool) -> Group {
        let members = self.world_ranks().iter().copied().filter(|member| stays(*member));
        Group::new(members.collect::<Vec<_>>()).derived_from(self)
    }

    /// `MPI_Group_incl`: these ranks, in this order. Errors: `MPI_ERR_RANK` for a rank that is none, or named twice.
    pub fn incl(&self, ranks: impl IntoIterator<Item = i32>) -> Result<Group> {
        let mut named = vec![false; self.size() as usize];
        let mut members = Vec::new();
        for (index, rank) in ranks.into_iter().enumerate() {
            members.push(self.world_ranks()[self.once(&mut named, rank).map_err(|error| error.in_element(index))?]);
        }
        Ok(Group::new(members).derived_from(self))
    }

    /// `MPI_Group_excl`: all but these ranks, in order. Errors: as for [`Group::incl`].
    pub fn excl(&self, ranks: impl IntoIterator<Item = i32>) -> Result<Group> {
        let mut named = vec![false; self.size() as usize];
        for (index, rank) in ranks.into_iter().enumerate() {
            self.once(&mut named, rank).map_err(|error| error.in_element(index))?;
        }
        let left = self.world_ranks().iter().zip(&named).filter(|(_, named)| !**named);
        Ok(Group::new(left.map(|(member, _)| *member).collect::<Vec<_>>()).derived_from(self))
    }

    fn its_ranks(&self) -> String {
        format!("the group has {}", processes_and_ranks(self.size()))
    }

    /// A rank as an index, once.
    fn once(&self, named: &mut [bool], rank: i32) -> Result<usize> {
        let place = usize::try_from(rank).ok().filter(|place| *place < named.len());
        let place = place.ok_or_else(|| Error::new(MPI_ERR_RANK, self.its_ranks()).arg("ranks", &rank))?;
        if std::mem::replace(&mut named[place], true) {
            return Err(Error::new(MPI_ERR_RANK, "each rank may be named once").arg("ranks", &rank));
        }
        Ok(place)
    }

    /// `MPI_Group_translate_ranks`: the rank in the other group of the process with this rank in this one;
    /// `MPI_UNDEFINED` when it is not in the other, `MPI_PROC_NULL` for itself. Errors: `MPI_ERR_RANK`.
    pub fn translate(&self, ranks: &[i32], other: &Group) -> Result<Vec<i32>> {
        let there = Members::of(other);
        let each = |(index, rank): (usize, &i32)| match usize::try_from(*rank)
            .ok()
            .and_then(|rank| self.world_ranks().get(rank))
        {
            Some(member) => Ok(there.rank(*member).map_or(MPI_UNDEFINED, |rank| rank as i32)),
            None if *rank == MPI_PROC_NULL => Ok(MPI_PROC_NULL),
            None => Err(Error::new(MPI_ERR_RANK, self.its_ranks()).arg("ranks1", rank).in_element(index)),
        };
        ranks.iter().enumerate().map(each).collect()
    }
}

/// The ranks that triplets (first, last, stride) stand for. Errors: `MPI_ERR_ARG` for a stride that is 0 or leads away
/// from the last rank.
pub fn ranks_of_ranges(ranges: &[[i32; 3]], size: u32) -> Result<Vec<i32>> {
    let mut ranks = Vec::new();
    for (index, &[first, last, stride]) in ranges.iter().enumerate() {
        let triplet = format_args!("({first}, {last}, {stride})");
        let wrong = |class, rule| Err(Error::new(class, rule).arg("ranges", &triplet).in_element(index));
        if stride == 0 {
            return wrong(MPI_ERR_ARG, "a stride must not be 0");
        }
        if (stride > 0) != (first <= last) && first != last {
            return wrong(MPI_ERR_ARG, "that stride leads away from the last rank");
        }
        // Checked first, so that no range is longer than the group.
        if first < 0 || last < 0 || first as u32 >= size {
            return wrong(MPI_ERR_RANK, "those are not ranks of the group");
        }
        let mut rank = i64::from(first);
        while (stride > 0 && rank <= i64::from(last)) || (stride < 0 && rank >= i64::from(last)) {
            if rank >= i64::from(size) {
                return wrong(MPI_ERR_RANK, "those are not ranks of the group");
            }
            ranks.push(rank as i32);
            rank += i64::from(stride);
        }
    }
    Ok(ranks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(members: &[u32]) -> Group {
        Group::new(members)
    }

    #[test]
    fn sets_keep_the_order_of_the_first_group() {
        let (a, b) = (group(&[4, 2, 7]), group(&[7, 9, 4]));
        assert_eq!(a.union(&b), group(&[4, 2, 7, 9]));
        assert_eq!(a.intersection(&b), group(&[4, 7]));
        assert_eq!(a.difference(&b), group(&[2]));
        assert_eq!(a.difference(&a), group(&[]));
        assert_eq!(group(&[]).union(&b), b);
    }

    #[test]
    fn included_ranks_set_the_order_and_excluded_ones_do_not() {
        let all = group(&[10, 11, 12, 13]);
        assert_eq!(all.incl([3, 0]).expect("ranks"), group(&[13, 10]));
        assert_eq!(all.excl([3, 0]).expect("ranks"), group(&[11, 12]));
        for bad in [vec![4], vec![-1], vec![1, 1]] {
            assert_eq!(all.incl(bad.clone()).expect_err("bad").class(), MPI_ERR_RANK);
            assert_eq!(all.excl(bad).expect_err("bad").class(), MPI_ERR_RANK);
        }
    }

    #[test]
    fn ranks_translate_to_those_of_the_other_group() {
        let (a, b) = (group(&[4, 2, 7]), group(&[7, 4]));
        let found = a.translate(&[0, 1, 2, MPI_PROC_NULL], &b).expect("ranks");
        assert_eq!(found, [1, MPI_UNDEFINED, 0, MPI_PROC_NULL]);
        assert_eq!(a.translate(&[3], &b).expect_err("no rank").class(), MPI_ERR_RANK);
    }

    #[test]
    fn ranges_run_both_ways_and_stop_at_the_last() {
        let ranks = |ranges: &[[i32; 3]]| ranks_of_ranges(ranges, 10).map_err(|error| error.class());
        assert_eq!(ranks(&[[1, 6, 2], [9, 7, -1]]), Ok(vec![1, 3, 5, 9, 8, 7]));
        assert_eq!(ranks(&[[3, 3, -5], [4, 4, 5]]), Ok(vec![3, 4]));
        assert_eq!(ranks(&[[1, 10, 5]]), Ok(vec![1, 6]));
        assert_eq!(ranks(&[[1, 6, 0]]), Err(MPI_ERR_ARG));
        assert_eq!(ranks(&[[6, 1, 1]]), Err(MPI_ERR_ARG));
        assert_eq!(ranks(&[[8, 12, 2]]), Err(MPI_ERR_RANK));
        assert_eq!(ranks(&[[0, i32::MAX, 1]]), Err(MPI_ERR_RANK));
        assert_eq!(ranks(&[[-2, 2, 1]]), Err(MPI_ERR_RANK));
    }
}
