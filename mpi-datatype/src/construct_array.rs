//! The constructors of parts of arrays: `MPI_Type_create_subarray`, `MPI_Type_create_darray` (MPI-5.0, 5.1.3 and
//! 5.1.4).
//!
//! Both have the bounds of the whole array. Errors, besides those of the other constructors: `MPI_ERR_ARG` for sizes,
//! starts, distributions and process grids that do not fit together, with the dimension and the values.

use mpi_core::abi::*;
use mpi_errors::{Error, Result};

use crate::construct::extent;
use crate::datatype::Datatype;
use crate::draft::{Draft, DraftList, too_far};
use crate::envelope::{Envelope, Form};

/// The part of an array that `MPI_Type_create_subarray` describes; all lists have an entry for each dimension.
#[derive(Debug, Clone, Copy)]
pub struct Subarray<'a> {
    /// Elements of the whole array.
    pub sizes: &'a [i64],
    /// Elements of the part.
    pub subsizes: &'a [i64],
    /// First element of the part.
    pub starts: &'a [i64],
    /// `MPI_ORDER_C` or `MPI_ORDER_FORTRAN`.
    pub order: i32,
}

/// The distribution of an array that `MPI_Type_create_darray` describes; all lists have an entry for each dimension.
#[derive(Debug, Clone, Copy)]
pub struct Distribution<'a> {
    /// Number of processes.
    pub size: i32,
    /// The process whose part it is.
    pub rank: i32,
    /// Elements of the whole array.
    pub sizes: &'a [i64],
    /// `MPI_DISTRIBUTE_BLOCK`, `MPI_DISTRIBUTE_CYCLIC` or `MPI_DISTRIBUTE_NONE`.
    pub kinds: &'a [i32],
    /// Elements of a block, or `MPI_DISTRIBUTE_DFLT_DARG`.
    pub arguments: &'a [i32],
    /// Processes of the grid.
    pub grid: &'a [i32],
    /// `MPI_ORDER_C` or `MPI_ORDER_FORTRAN`.
    pub order: i32,
}

impl Datatype {
    /// `MPI_Type_create_subarray`: the elements of a part of an array.
    pub fn subarray(part: &Subarray<'_>, old: &Datatype, form: Form) -> Result<Datatype> {
        let Subarray { sizes, subsizes, starts, order } = *part;
        dimensions(sizes.len(), &[("array_of_subsizes", subsizes.len()), ("array_of_starts", starts.len())])?;
        let (mut draft, mut stride, mut place, mut count) = (Draft::of(old), extent(old), 0i128, 1u64);
        for index in fastest_first(sizes.len(), order)? {
            let (size, subsize, start) = (sizes[index], subsizes[index], starts[index]);
            positive(MPI_ERR_COUNT, "array_of_sizes", index, size)?;
            positive(MPI_ERR_COUNT, "array_of_subsizes", index, subsize)?;
            if subsize > size {
                let rule = format!("the array has {} there", mpi_errors::counted(size, "element"));
                return wrong("array_of_subsizes", index, subsize, rule);
            }
            if start < 0 || start > size - subsize {
                let rule = format!("{subsize} of {size} elements start at 0 to {}", size - subsize);
                return wrong("array_of_starts", index, start, rule);
            }
            draft = draft.repeat(subsize as u64, stride)?;
            place = i128::from(start).checked_mul(stride).and_then(|by| by.checked_add(place)).ok_or_else(too_far)?;
            stride = stride.checked_mul(i128::from(size)).ok_or_else(too_far)?;
            count = count.saturating_mul(subsize as u64);
        }
        let draft = draft.shifted(place)?.resized(0, whole(stride)?);
        let envelope = Envelope::new(MPI_COMBINER_SUBARRAY, vec![old.clone()]);
        let envelope = envelope.integers([sizes.len() as i32]);
        let lists = sizes.iter().chain(subsizes).chain(starts).copied();
        draft.finish(old.signature().repeat(count), envelope.counts(form, lists).integers([order]))
    }

    /// `MPI_Type_create_darray`: the elements of an array that one process of a grid has.
    pub fn darray(part: &Distribution<'_>, old: &Datatype, form: Form) -> Result<Datatype> {
        let Distribution { size, rank, sizes, kinds, arguments, grid, order } = *part;
        let lists =
            [("array_of_distribs", kinds.len()), ("array_of_dargs", arguments.len()), ("array_of_psizes", grid.len())];
        dimensions(sizes.len(), &lists)?;
        let places = grid_places(size, rank, grid)?;
        let (mut draft, mut stride, mut count) = (Draft::of(old), extent(old), 1u64);
        for index in fastest_first(sizes.len(), order)? {
            let elements = sizes[index];
            positive(MPI_ERR_COUNT, "array_of_gsizes", index, elements)?;
            let block = block(part, index)?;
            let (share, local) = share(draft, (elements, stride), block, (places[index], grid[index]))?;
            draft = share;
            count = count.saturating_mul(local);
            stride = stride.checked_mul(i128::from(elements)).ok_or_else(too_far)?;
        }
        let draft = draft.resized(0, whole(stride)?);
        let envelope = Envelope::new(MPI_COMBINER_DARRAY, vec![old.clone()])
            .integers([size, rank, sizes.len() as i32])
            .counts(form, sizes.iter().copied())
            .integers(kinds.iter().chain(arguments).chain(grid).copied().chain([order]));
        draft.finish(old.signature().repeat(count), envelope)
    }
}

/// The part of one dimension, of so many elements at this stride, that a process has: blocks of `block` elements go
/// around the processes of the grid. Also its number of elements.
fn share(
    one: Draft,
    (elements, stride): (i64, i128),
    block: i64,
    (place, processes): (i32, i32),
) -> Result<(Draft, u64)> {
    let (elements, block) = (i128::from(elements), i128::from(block));
    let (first, round) = (i128::from(place) * block, i128::from(processes) * block);
    // Whole blocks that begin at first, first + round, ...
    let whole = if first + block <= elements { (elements - first - block) / round + 1 } else { 0 };
    let rest = (elements - first - whole * round).clamp(0, block);
    let bytes = |elements: i128| elements.checked_mul(stride).ok_or_else(too_far);
    let mut list = DraftList::with_capacity(2);
    if whole > 0 {
        let blocks = one.clone().repeat(block as u64, stride)?;
        list.push(&blocks.repeat(whole as u64, bytes(round)?)?.shifted(bytes(first)?)?)?;
    }
    if rest > 0 {
        list.push(&one.repeat(rest as u64, stride)?.shifted(bytes(first + whole * round)?)?)?;
    }
    Ok((list.finish(), (whole * block + rest) as u64))
}

/// Elements of a block in this dimension.
fn block(part: &Distribution<'_>, index: usize) -> Result<i64> {
    let (elements, argument, processes) = (part.sizes[index], part.arguments[index], part.grid[index]);
    let standard = argument == MPI_DISTRIBUTE_DFLT_DARG;
    let block = match part.kinds[index] {
        MPI_DISTRIBUTE_NONE if processes == 1 => elements,
        MPI_DISTRIBUTE_NONE => {
            let rule = "a dimension that is not distributed has one process in the grid".to_owned();
            return wrong("array_of_psizes", index, i64::from(processes), rule);
        }
        MPI_DISTRIBUTE_BLOCK if standard => (elements - 1) / i64::from(processes) + 1,
        MPI_DISTRIBUTE_CYCLIC if standard => 1,
        MPI_DISTRIBUTE_BLOCK | MPI_DISTRIBUTE_CYCLIC if argument <= 0 => {
            let rule = "the elements of a block are positive, or MPI_DISTRIBUTE_DFLT_DARG".to_owned();
            return wrong("array_of_dargs", index, i64::from(argument), rule);
        }
        MPI_DISTRIBUTE_BLOCK if i64::from(argument) * i64::from(processes) < elements => {
            let (blocks, all) = (mpi_errors::counted(processes, "block"), mpi_errors::counted(elements, "element"));
            let rule = format!("{all} need more than {blocks} of that length");
            return wrong("array_of_dargs", index, i64::from(argument), rule);
        }
        MPI_DISTRIBUTE_BLOCK | MPI_DISTRIBUTE_CYCLIC => i64::from(argument),
        other => {
            let rule = "a distribution is MPI_DISTRIBUTE_BLOCK, _CYCLIC or _NONE".to_owned();
            return wrong("array_of_distribs", index, i64::from(other), rule);
        }
    };
    Ok(block)
}

/// The place of a rank in each dimension of the grid; the last dimension is the fastest.
fn grid_places(size: i32, rank: i32, grid: &[i32]) -> Result<Vec<i32>> {
    if size <= 0 {
        return Err(Error::new(MPI_ERR_ARG, "the number of processes must be positive").arg("size", &size));
    }
    if rank < 0 || rank >= size {
        let rule = format!("there are {}", mpi_errors::processes_and_ranks(size as u64));
        return Err(Error::new(MPI_ERR_RANK, rule).arg("rank", &rank));
    }
    let mut processes = 1i128;
    for (index, part) in grid.iter().enumerate() {
        positive(MPI_ERR_ARG, "array_of_psizes", index, i64::from(*part))?;
        processes = (processes * i128::from(*part)).min(1 << 64);
    }
    if processes != i128::from(size) {
        let rule = format!("the grid has {}, and size is {size}", mpi_errors::processes(processes as u64));
        return Err(Error::new(MPI_ERR_ARG, rule).arg("array_of_psizes", &format_args!("{grid:?}")));
    }
    let mut rest = rank;
    let mut places: Vec<i32> = grid
        .iter()
        .rev()
        .map(|part| {
            let place = rest % part;
            rest /= part;
            place
        })
        .collect();
    places.reverse();
    Ok(places)
}

/// The dimensions, the one whose elements are next to each other first.
fn fastest_first(dimensions: usize, order: i32) -> Result<Box<dyn Iterator<Item = usize>>> {
    match order {
        MPI_ORDER_C => Ok(Box::new((0..dimensions).rev())),
        MPI_ORDER_FORTRAN => Ok(Box::new(0..dimensions)),
        _ => Err(Error::new(MPI_ERR_ARG, "an order is MPI_ORDER_C or MPI_ORDER_FORTRAN").arg("order", &order)),
    }
}

fn dimensions(count: usize, lists: &[(&'static str, usize)]) -> Result<()> {
    if count == 0 {
        return Err(Error::new(MPI_ERR_COUNT, "an array has at least one dimension").arg("ndims", &count));
    }
    match lists.iter().find(|(_, length)| *length != count) {
        None => Ok(()),
        Some((name, length)) => {
            let rule = format!("all lists need an entry for each dimension, of which there are {count}");
            Err(Error::new(MPI_ERR_ARG, rule).arg(name, &mpi_errors::counted(length, "entry")))
        }
    }
}

fn whole(extent: i128) -> Result<i64> {
    i64::try_from(extent).map_err(|_| too_far())
}

fn positive(class: i32, name: &'static str, index: usize, value: i64) -> Result<()> {
    if value > 0 {
        return Ok(());
    }
    Err(Error::new(class, "it must be positive").arg(name, &format_args!("{value} in dimension {index}")))
}

#[cold]
fn wrong<T>(name: &'static str, index: usize, value: i64, rule: String) -> Result<T> {
    Err(Error::new(MPI_ERR_ARG, rule).arg(name, &format_args!("{value} in dimension {index}")))
}
