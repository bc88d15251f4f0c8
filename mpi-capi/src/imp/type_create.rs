//! The constructors of derived datatypes (MPI-5.0, 5.1.2 to 5.1.4, 5.1.7).
//!
//! Both forms of a constructor have one implementation, generic over the C types of counts and displacements. The form
//! decides where `MPI_Type_get_contents` returns the arguments.
//! Not here: the types themselves (`mpi_datatype::construct`).

use core::ffi::c_int;

use mpi_core::abi;
use mpi_datatype::{Datatype, Distribution, Form, Subarray, predefined};
use mpi_errors::Result;

use crate::call_context::{CallContext, TypeRef};
use crate::check::{self, CountWord, Out};
use crate::errors::Outcome;

/// The form of the call whose counts have this type.
fn form<Count: CountWord>() -> Form {
    if size_of::<Count>() == size_of::<c_int>() { Form::Small } else { Form::Large }
}

/// A list of counts or displacements.
fn numbers<T: CountWord>(name: &'static str, address: *const T, count: u64) -> Result<Vec<i64>> {
    let list = check::list(name, address, count as usize)?;
    Ok(list.iter().map(|number| number.wide()).collect())
}

/// Counts, none of which may be negative.
fn counts<T: CountWord>(name: &'static str, address: *const T, count: u64) -> Result<Vec<i64>> {
    let list = numbers(name, address, count)?;
    for (index, number) in list.iter().enumerate() {
        check::count(name, *number).map_err(|error| error.in_element(index))?;
    }
    Ok(list)
}

/// Stores the handle of the new type.
fn made(cx: CallContext, datatype: Result<Datatype>, new: Out<usize>) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    new.set(process.type_create(&mut guard, datatype?)?.0);
    Ok(())
}

/// `MPI_Type_contiguous`
pub fn type_contiguous<C: CountWord>(cx: CallContext, count: C, old: TypeRef, new: Out<usize>) -> Outcome {
    let count = check::count("count", count.wide())?;
    made(cx, Datatype::contiguous(count, &old, form::<C>()), new)
}

/// `MPI_Type_vector`
pub fn type_vector<C: CountWord>(
    cx: CallContext,
    count: C,
    length: C,
    stride: C,
    old: TypeRef,
    new: Out<usize>,
) -> Outcome {
    let count = check::count("count", count.wide())?;
    let length = check::count("blocklength", length.wide())?;
    made(cx, Datatype::vector(count, length, stride.wide(), &old, form::<C>()), new)
}

/// `MPI_Type_create_hvector`
pub fn type_create_hvector<C: CountWord, S: CountWord>(
    cx: CallContext,
    count: C,
    length: C,
    stride: S,
    old: TypeRef,
    new: Out<usize>,
) -> Outcome {
    let count = check::count("count", count.wide())?;
    let length = check::count("blocklength", length.wide())?;
    made(cx, Datatype::hvector(count, length, stride.wide(), &old, form::<C>()), new)
}

/// `MPI_Type_indexed`
pub fn type_indexed<C: CountWord>(
    cx: CallContext,
    count: u64,
    lengths: *const C,
    displacements: *const C,
    old: TypeRef,
    new: Out<usize>,
) -> Outcome {
    let lengths = counts("array_of_blocklengths", lengths, count)?;
    let displacements = numbers("array_of_displacements", displacements, count)?;
    made(cx, Datatype::indexed(&lengths, &displacements, &old, form::<C>()), new)
}

/// `MPI_Type_create_hindexed`
pub fn type_create_hindexed<C: CountWord, D: CountWord>(
    cx: CallContext,
    count: u64,
    lengths: *const C,
    displacements: *const D,
    old: TypeRef,
    new: Out<usize>,
) -> Outcome {
    let lengths = counts("array_of_blocklengths", lengths, count)?;
    let displacements = numbers("array_of_displacements", displacements, count)?;
    made(cx, Datatype::hindexed(&lengths, &displacements, &old, form::<C>()), new)
}

/// `MPI_Type_create_indexed_block`
pub fn type_create_indexed_block<C: CountWord>(
    cx: CallContext,
    count: u64,
    length: u64,
    displacements: *const C,
    old: TypeRef,
    new: Out<usize>,
) -> Outcome {
    let displacements = numbers("array_of_displacements", displacements, count)?;
    made(cx, Datatype::indexed_block(length, &displacements, &old, form::<C>()), new)
}

/// `MPI_Type_create_hindexed_block`
pub fn type_create_hindexed_block<C: CountWord, D: CountWord>(
    cx: CallContext,
    count: C,
    length: C,
    displacements: *const D,
    old: TypeRef,
    new: Out<usize>,
) -> Outcome {
    let count = check::count("count", count.wide())?;
    let length = check::count("blocklength", length.wide())?;
    let displacements = numbers("array_of_displacements", displacements, count)?;
    made(cx, Datatype::hindexed_block(length, &displacements, &old, form::<C>()), new)
}

/// `MPI_Type_create_struct`
pub fn type_create_struct<C: CountWord, D: CountWord>(
    cx: CallContext,
    count: u64,
    lengths: *const C,
    displacements: *const D,
    types: *const usize,
    new: Out<usize>,
) -> Outcome {
    let lengths = counts("array_of_blocklengths", lengths, count)?;
    let displacements = numbers("array_of_displacements", displacements, count)?;
    let types = check::list("array_of_types", types, count as usize)?;
    let types: Vec<Datatype> = types
        .iter()
        .enumerate()
        .map(|(index, word)| {
            cx.borrowed_datatype("array_of_types", *word).cloned().map_err(|error| error.in_element(index))
        })
        .collect::<Result<_>>()?;
    made(cx, Datatype::structure(&lengths, &displacements, &types, form::<C>()), new)
}

/// `MPI_Type_create_resized`
pub fn type_create_resized<D: CountWord + 'static>(
    cx: CallContext,
    old: TypeRef,
    lower: D,
    extent: D,
    new: Out<usize>,
) -> Outcome {
    // The small form has `MPI_Aint`, which is as long as `MPI_Count`.
    let large = core::any::TypeId::of::<D>() == core::any::TypeId::of::<i64>();
    let form = if large { Form::Large } else { Form::Small };
    made(cx, Datatype::resized(lower.wide(), extent.wide(), &old, form), new)
}

/// `MPI_Type_create_subarray`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn type_create_subarray<C: CountWord>(
    cx: CallContext,
    dimensions: i32,
    sizes: *const C,
    subsizes: *const C,
    starts: *const C,
    order: i32,
    old: TypeRef,
    new: Out<usize>,
) -> Outcome {
    let dimensions = check::dimensions("ndims", dimensions)?;
    let sizes = numbers("array_of_sizes", sizes, dimensions)?;
    let subsizes = numbers("array_of_subsizes", subsizes, dimensions)?;
    let starts = numbers("array_of_starts", starts, dimensions)?;
    let part = Subarray { sizes: &sizes, subsizes: &subsizes, starts: &starts, order };
    made(cx, Datatype::subarray(&part, &old, form::<C>()), new)
}

/// `MPI_Type_create_darray`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn type_create_darray<C: CountWord>(
    cx: CallContext,
    size: i32,
    rank: i32,
    dimensions: i32,
    sizes: *const C,
    kinds: *const c_int,
    arguments: *const c_int,
    grid: *const c_int,
    order: i32,
    old: TypeRef,
    new: Out<usize>,
) -> Outcome {
    let dimensions = check::dimensions("ndims", dimensions)?;
    let sizes = numbers("array_of_gsizes", sizes, dimensions)?;
    let list = |name, address| check::list(name, address, dimensions as usize);
    let (kinds, arguments) = (list("array_of_distribs", kinds)?, list("array_of_dargs", arguments)?);
    let grid = list("array_of_psizes", grid)?;
    let part = Distribution { size, rank, sizes: &sizes, kinds, arguments, grid, order };
    made(cx, Datatype::darray(&part, &old, form::<C>()), new)
}

/// The predefined types of a value with an index, by the words of value, index and pair (MPI-5.0, 6.9.4).
const PAIRS: [(usize, usize, usize); 9] = [
    (abi::MPI_FLOAT, abi::MPI_INT, abi::MPI_FLOAT_INT),
    (abi::MPI_DOUBLE, abi::MPI_INT, abi::MPI_DOUBLE_INT),
    (abi::MPI_LONG, abi::MPI_INT, abi::MPI_LONG_INT),
    (abi::MPI_INT, abi::MPI_INT, abi::MPI_2INT),
    (abi::MPI_SHORT, abi::MPI_INT, abi::MPI_SHORT_INT),
    (abi::MPI_LONG_DOUBLE, abi::MPI_INT, abi::MPI_LONG_DOUBLE_INT),
    (abi::MPI_REAL, abi::MPI_REAL, abi::MPI_2REAL),
    (abi::MPI_DOUBLE_PRECISION, abi::MPI_DOUBLE_PRECISION, abi::MPI_2DOUBLE_PRECISION),
    (abi::MPI_INTEGER, abi::MPI_INTEGER, abi::MPI_2INTEGER),
];

/// `MPI_Type_get_value_index`: the predefined pair type, or `MPI_DATATYPE_NULL` when there is none.
pub fn type_get_value_index(_cx: CallContext, value: TypeRef, index: TypeRef, pair: Out<usize>) -> Outcome {
    debug_assert!(PAIRS.iter().all(|(.., pair)| predefined(*pair).is_some()));
    let found = PAIRS.iter().find(|(first, second, _)| *first == value.word() && *second == index.word());
    pair.set(found.map_or(abi::MPI_DATATYPE_NULL, |(.., pair)| *pair));
    Ok(())
}
