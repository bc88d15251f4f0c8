//! Groups (MPI-5.0, 7.3).
//!
//! Not here: group operations (mpi-comm), handles of groups (mpi-env).

use mpi_comm::{Group, GroupRelation, ranks_of_ranges};
use mpi_core::{Handle, Kind, abi};
use mpi_errors::{Error, Result};

use crate::call_context::{CallContext, CommView};
use crate::check::{self, Out};
use crate::errors::Outcome;
use crate::handle_errors::bad_handle;

/// The group of a handle.
pub fn group(cx: &CallContext, name: &'static str, word: usize) -> Result<Group> {
    cx.process.group(&cx.guard, Handle(word)).ok_or_else(|| bad_group(name, word))
}

#[cold]
fn bad_group(name: &'static str, word: usize) -> Error {
    bad_handle(name, word, abi::MPI_ERR_GROUP, Kind::Group, (abi::MPI_GROUP_NULL, "MPI_GROUP_NULL", "group"))
}

/// Stores a handle of a group.
pub fn store(cx: CallContext, group: Group, new: Out<usize>) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    new.set(process.group_insert(&mut guard, group)?.0);
    Ok(())
}

fn ranks<'a>(name: &'static str, count: usize, ranks: *const i32) -> Result<&'a [i32]> {
    Ok(check::slice(name, ranks.cast_mut(), count)?)
}

/// `MPI_Comm_group`
pub fn comm_group(cx: CallContext, comm: CommView, group: Out<usize>) -> Outcome {
    let found = cx.whole_comm(comm.handle)?.group().clone();
    store(cx, found, group)
}

/// `MPI_Group_size`
pub fn group_size(cx: CallContext, word: usize, size: Out<i32>) -> Outcome {
    size.set(group(&cx, "group", word)?.size() as i32);
    Ok(())
}

/// `MPI_Group_rank`
pub fn group_rank(cx: CallContext, word: usize, rank: Out<i32>) -> Outcome {
    let own = group(&cx, "group", word)?.rank_of(cx.process.rank());
    rank.set(own.map_or(abi::MPI_UNDEFINED, |rank| rank as i32));
    Ok(())
}

/// `MPI_Group_translate_ranks`
pub fn group_translate_ranks(
    cx: CallContext,
    from: usize,
    count: usize,
    given: *const i32,
    to: usize,
    found: *mut i32,
) -> Outcome {
    let (from, to) = (group(&cx, "group1", from)?, group(&cx, "group2", to)?);
    let translated = from.translate(ranks("ranks1", count, given)?, &to)?;
    check::slice("ranks2", found, translated.len())?.copy_from_slice(&translated);
    Ok(())
}

/// `MPI_Group_compare`
pub fn group_compare(cx: CallContext, first: usize, second: usize, result: Out<i32>) -> Outcome {
    result.set(match group(&cx, "group1", first)?.compare(&group(&cx, "group2", second)?) {
        GroupRelation::Identical => abi::MPI_IDENT,
        GroupRelation::Similar => abi::MPI_SIMILAR,
        GroupRelation::Unequal => abi::MPI_UNEQUAL,
    });
    Ok(())
}

/// `MPI_Group_union`
pub fn group_union(cx: CallContext, first: usize, second: usize, new: Out<usize>) -> Outcome {
    let made = group(&cx, "group1", first)?.union(&group(&cx, "group2", second)?);
    store(cx, made, new)
}

/// `MPI_Group_intersection`
pub fn group_intersection(cx: CallContext, first: usize, second: usize, new: Out<usize>) -> Outcome {
    let made = group(&cx, "group1", first)?.intersection(&group(&cx, "group2", second)?);
    store(cx, made, new)
}

/// `MPI_Group_difference`
pub fn group_difference(cx: CallContext, first: usize, second: usize, new: Out<usize>) -> Outcome {
    let made = group(&cx, "group1", first)?.difference(&group(&cx, "group2", second)?);
    store(cx, made, new)
}

/// `MPI_Group_incl`
pub fn group_incl(cx: CallContext, from: usize, count: usize, list: *const i32, new: Out<usize>) -> Outcome {
    let made = group(&cx, "group", from)?.incl(ranks("ranks", count, list)?.iter().copied())?;
    store(cx, made, new)
}

/// `MPI_Group_excl`
pub fn group_excl(cx: CallContext, from: usize, count: usize, list: *const i32, new: Out<usize>) -> Outcome {
    let made = group(&cx, "group", from)?.excl(ranks("ranks", count, list)?.iter().copied())?;
    store(cx, made, new)
}

/// The ranks of `count` triplets.
fn ranges(of: &Group, count: usize, list: *mut i32) -> Result<Vec<i32>> {
    let triplets = check::slice("ranges", list.cast::<[i32; 3]>(), count)?;
    ranks_of_ranges(triplets, of.size())
}

/// `MPI_Group_range_incl`
pub fn group_range_incl(cx: CallContext, from: usize, count: usize, list: *mut i32, new: Out<usize>) -> Outcome {
    let from = group(&cx, "group", from)?;
    let made = from.incl(ranges(&from, count, list)?)?;
    store(cx, made, new)
}

/// `MPI_Group_range_excl`
pub fn group_range_excl(cx: CallContext, from: usize, count: usize, list: *mut i32, new: Out<usize>) -> Outcome {
    let from = group(&cx, "group", from)?;
    let made = from.excl(ranges(&from, count, list)?)?;
    store(cx, made, new)
}

/// `MPI_Group_free`
pub fn group_free(cx: CallContext, word: Out<usize>) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    process.group_free(&mut guard, Handle(word.get()))?;
    word.set(abi::MPI_GROUP_NULL);
    Ok(())
}
