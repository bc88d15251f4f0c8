//! The constructors of derived types (MPI-5.0, 5.1.2, 5.1.7 and 5.1.8), except those of arrays (`construct_array`).
//!
//! Blocks without elements contribute nothing, not even to the bounds. New types are not committed.
//! Errors of all constructors: `MPI_ERR_COUNT` for a negative count or block length, and for more data than an `i64`
//! can count; `MPI_ERR_ARG` for lists of different lengths, and for places too far from each other.

use mpi_core::abi::*;
use mpi_errors::{Error, Result};

use crate::datatype::Datatype;
use crate::draft::{Draft, DraftList, too_far};
use crate::envelope::{Envelope, Form};
use crate::signature::Signature;

impl Datatype {
    /// `MPI_Type_contiguous`: `count` elements, one after the other.
    pub fn contiguous(count: u64, old: &Datatype, form: Form) -> Result<Datatype> {
        let draft = Draft::of(old).repeat(count, extent(old))?;
        let envelope = Envelope::new(MPI_COMBINER_CONTIGUOUS, vec![old.clone()]).counts(form, [count as i64]);
        draft.finish(old.signature().repeat(count), envelope)
    }

    /// `MPI_Type_vector`: `count` blocks of `length` elements, each `stride` elements behind the one before.
    pub fn vector(count: u64, length: u64, stride: i64, old: &Datatype, form: Form) -> Result<Datatype> {
        let bytes = i128::from(stride) * extent(old);
        let envelope =
            Envelope::new(MPI_COMBINER_VECTOR, vec![old.clone()]).counts(form, [count as i64, length as i64, stride]);
        blocks(count, length, bytes, old)?.finish(repeated(old, count, length), envelope)
    }

    /// `MPI_Type_create_hvector`: as [`Datatype::vector`], with the stride in bytes.
    pub fn hvector(count: u64, length: u64, stride: i64, old: &Datatype, form: Form) -> Result<Datatype> {
        let envelope = Envelope::new(MPI_COMBINER_HVECTOR, vec![old.clone()])
            .counts(form, [count as i64, length as i64])
            .displacements(form, [stride]);
        blocks(count, length, i128::from(stride), old)?.finish(repeated(old, count, length), envelope)
    }

    /// `MPI_Type_indexed`: a block of `lengths[i]` elements `displacements[i]` elements from the start, for each `i`.
    pub fn indexed(lengths: &[i64], displacements: &[i64], old: &Datatype, form: Form) -> Result<Datatype> {
        let envelope = Envelope::new(MPI_COMBINER_INDEXED, vec![old.clone()])
            .counts(form, counted(lengths))
            .counts(form, displacements.iter().copied());
        let places = displacements.iter().map(|place| i128::from(*place) * extent(old));
        same_length(displacements, lengths, "array_of_blocklengths")?;
        listed(lengths.iter().copied(), places, old)?.finish(old.signature().repeat(sum(lengths)), envelope)
    }

    /// `MPI_Type_create_hindexed`: as [`Datatype::indexed`], with displacements in bytes.
    pub fn hindexed(lengths: &[i64], displacements: &[i64], old: &Datatype, form: Form) -> Result<Datatype> {
        let envelope = Envelope::new(MPI_COMBINER_HINDEXED, vec![old.clone()])
            .counts(form, counted(lengths))
            .displacements(form, displacements.iter().copied());
        let places = displacements.iter().map(|place| i128::from(*place));
        same_length(displacements, lengths, "array_of_blocklengths")?;
        listed(lengths.iter().copied(), places, old)?.finish(old.signature().repeat(sum(lengths)), envelope)
    }

    /// `MPI_Type_create_indexed_block`: blocks of `length` elements, `displacements[i]` elements from the start.
    pub fn indexed_block(length: u64, displacements: &[i64], old: &Datatype, form: Form) -> Result<Datatype> {
        let count = displacements.len() as u64;
        let envelope = Envelope::new(MPI_COMBINER_INDEXED_BLOCK, vec![old.clone()])
            .counts(form, [count as i64, length as i64])
            .counts(form, displacements.iter().copied());
        let places = displacements.iter().map(|place| i128::from(*place) * extent(old));
        let lengths = std::iter::repeat_n(length as i64, displacements.len());
        listed(lengths, places, old)?.finish(repeated(old, count, length), envelope)
    }

    /// `MPI_Type_create_hindexed_block`: as [`Datatype::indexed_block`], with displacements in bytes.
    pub fn hindexed_block(length: u64, displacements: &[i64], old: &Datatype, form: Form) -> Result<Datatype> {
        let count = displacements.len() as u64;
        let envelope = Envelope::new(MPI_COMBINER_HINDEXED_BLOCK, vec![old.clone()])
            .counts(form, [count as i64, length as i64])
            .displacements(form, displacements.iter().copied());
        let places = displacements.iter().map(|place| i128::from(*place));
        let lengths = std::iter::repeat_n(length as i64, displacements.len());
        listed(lengths, places, old)?.finish(repeated(old, count, length), envelope)
    }

    /// `MPI_Type_create_struct`: `lengths[i]` elements of `types[i]`, `displacements[i]` bytes from the start.
    pub fn structure(lengths: &[i64], displacements: &[i64], types: &[Datatype], form: Form) -> Result<Datatype> {
        same_length(displacements, lengths, "array_of_blocklengths")?;
        same_length(displacements, types, "array_of_types")?;
        let mut list = DraftList::with_capacity(types.len());
        for (index, ((length, place), old)) in lengths.iter().zip(displacements).zip(types).enumerate() {
            let part = Draft::of(old).repeat(block_length(*length, index)?, extent(old))?;
            list.push(&part.shifted(i128::from(*place))?)?;
        }
        let parts = lengths.iter().zip(types).map(|(length, old)| old.signature().repeat(*length as u64));
        let envelope = Envelope::new(MPI_COMBINER_STRUCT, types.to_vec())
            .counts(form, counted(lengths))
            .displacements(form, displacements.iter().copied());
        list.finish().finish(Signature::list(parts), envelope)
    }

    /// `MPI_Type_create_resized`: the same data with this lower bound and extent.
    pub fn resized(lower: i64, extent: i64, old: &Datatype, form: Form) -> Result<Datatype> {
        let upper = lower.checked_add(extent).ok_or_else(too_far)?;
        let envelope = Envelope::new(MPI_COMBINER_RESIZED, vec![old.clone()]).displacements(form, [lower, extent]);
        Draft::of(old).resized(lower, upper).finish(old.signature(), envelope)
    }
}

/// Bytes from one element to the next.
pub(crate) fn extent(datatype: &Datatype) -> i128 {
    i128::from(datatype.extent())
}

/// `count` blocks of `length` elements, `stride` bytes apart.
fn blocks(count: u64, length: u64, stride: i128, old: &Datatype) -> Result<Draft> {
    match count {
        0 => Ok(Draft::EMPTY),
        _ => Draft::of(old).repeat(length, extent(old))?.repeat(count, stride),
    }
}

/// The signature of `count` blocks of `length` elements, whose data bytes have been counted.
fn repeated(old: &Datatype, count: u64, length: u64) -> Signature {
    match old.size() {
        0 => Signature::EMPTY,
        _ => old.signature().repeat(count.saturating_mul(length)),
    }
}

/// Blocks of elements at places in bytes.
fn listed(
    lengths: impl ExactSizeIterator<Item = i64>,
    places: impl Iterator<Item = i128>,
    old: &Datatype,
) -> Result<Draft> {
    let (one, between) = (Draft::of(old), extent(old));
    let mut list = DraftList::with_capacity(lengths.len());
    if let Some((offset, alignment)) = one.plain_block(old) {
        // Elements that lie byte after byte need no draft for each block.
        for (index, (length, place)) in lengths.zip(places).enumerate() {
            let length = u128::from(block_length(length, index)?) * between as u128;
            let place = i64::try_from(place + i128::from(offset)).map_err(|_| too_far())?;
            list.push_block(place, length, alignment)?;
        }
        return Ok(list.finish());
    }
    let mut last = (1, one.clone());
    for (index, (length, place)) in lengths.zip(places).enumerate() {
        let length = block_length(length, index)?;
        if last.0 != length {
            last = (length, one.clone().repeat(length, between)?);
        }
        list.push(&last.1.clone().shifted(place)?)?;
    }
    Ok(list.finish())
}

fn block_length(length: i64, index: usize) -> Result<u64> {
    u64::try_from(length).map_err(|_| {
        let rule = format!("a block length must not be negative, and that of block {index} is");
        Error::new(MPI_ERR_COUNT, rule).arg("array_of_blocklengths", &length)
    })
}

/// The number of entries of a list, and the entries.
fn counted(list: &[i64]) -> impl Iterator<Item = i64> {
    std::iter::once(list.len() as i64).chain(list.iter().copied())
}

/// The sum of block lengths whose data bytes have been counted.
fn sum(lengths: &[i64]) -> u64 {
    lengths.iter().fold(0, |sum: u64, length| sum.saturating_add(*length as u64))
}

fn same_length<A, B>(one: &[A], other: &[B], name: &'static str) -> Result<()> {
    if one.len() == other.len() {
        return Ok(());
    }
    let of_displacements = mpi_errors::counted(one.len(), "entry");
    let rule = format!("all lists need the same number of entries, and that of displacements has {of_displacements}");
    Err(Error::new(MPI_ERR_ARG, rule).arg(name, &mpi_errors::counted(other.len(), "entry")))
}
