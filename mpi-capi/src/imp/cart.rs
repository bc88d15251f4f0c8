//! Grids of processes, and the kind of a topology (MPI-5.0, 8.5.1, 8.5.2, 8.5.5 and 8.5.6).
//!
//! Not here: the arithmetic (`mpi_comm::topology`), agreement between the processes (`mpi_env`).

use mpi_comm::topology::{Cartesian, dims_create as balance};
use mpi_core::abi;
use mpi_errors::{Error, Result};

use crate::call_context::{CallContext, CommView};
use crate::check::{self, Out};
use crate::errors::Outcome;

/// The error of an array that has no room for all values.
#[cold]
pub fn too_short(name: &'static str, length: usize, needed: usize, what: &str) -> Error {
    Error::new(abi::MPI_ERR_ARG, format!("there are {needed} {what}")).arg(name, &length)
}

fn rank_word(rank: Option<u32>, none: i32) -> i32 {
    rank.map_or(none, |rank| rank as i32)
}

/// The number of dimensions. Errors: `MPI_ERR_DIMS`.
fn dimensions(count: i32) -> Result<usize> {
    usize::try_from(count).map_err(|_| {
        Error::new(abi::MPI_ERR_DIMS, "a grid has 0 dimensions or more, not a negative number").arg("ndims", &count)
    })
}

fn grid(comm: CommView, ndims: i32, dims: *const i32, periods: *const i32) -> Result<Cartesian> {
    let ndims = dimensions(ndims)?;
    Cartesian::new(check::list("dims", dims, ndims)?, check::list("periods", periods, ndims)?, comm.size)
}

/// `MPI_Topo_test`
pub fn topo_test(cx: CallContext, comm: CommView, kind: Out<i32>) -> Outcome {
    kind.set(cx.whole_comm(comm.handle)?.topology_kind());
    Ok(())
}

/// `MPI_Dims_create`
pub fn dims_create(_cx: CallContext, nodes: i32, ndims: i32, dims: *mut i32) -> Outcome {
    let dims = check::slice("dims", dims, dimensions(ndims)?)?;
    let mut found = dims.to_vec();
    balance(nodes, &mut found)?;
    dims.copy_from_slice(&found);
    Ok(())
}

/// `MPI_Cart_create`
pub fn cart_create(
    cx: CallContext,
    comm: CommView,
    ndims: i32,
    dims: *const i32,
    periods: *const i32,
    reorder: bool,
    new: *mut usize,
) -> Outcome {
    let process = cx.process;
    // The call is collective, so the lock is released first.
    drop(cx);
    let new = check::out("comm_cart", new);
    let grid = new.as_ref().map_err(Error::clone).and_then(|_| grid(comm, ndims, dims, periods));
    let made = process.cart_create(comm.handle, grid, reorder)?;
    new?.set(made.0);
    Ok(())
}

/// `MPI_Cart_map`
pub fn cart_map(
    cx: CallContext,
    comm: CommView,
    ndims: i32,
    dims: *const i32,
    periods: *const i32,
    rank: *mut i32,
) -> Outcome {
    let process = cx.process;
    drop(cx);
    let rank = check::out("newrank", rank);
    let grid = rank.as_ref().map_err(Error::clone).and_then(|_| grid(comm, ndims, dims, periods));
    let found = process.cart_map(comm.handle, grid)?;
    rank?.set(rank_word(found, abi::MPI_UNDEFINED));
    Ok(())
}

/// `MPI_Cart_sub`
pub fn cart_sub(cx: CallContext, comm: CommView, remain: *const i32, new: *mut usize) -> Outcome {
    let process = cx.process;
    let ndims = cx.whole_comm(comm.handle)?.cartesian()?.dims().len();
    drop(cx);
    let new = check::out("newcomm", new);
    let remain = new.as_ref().map_err(Error::clone).and_then(|_| {
        let remain = check::list("remain_dims", remain, ndims)?;
        Ok(remain.iter().map(|remains| *remains != 0).collect())
    });
    let made = process.cart_sub(comm.handle, remain)?;
    new?.set(made.0);
    Ok(())
}

/// `MPI_Cartdim_get`
pub fn cartdim_get(cx: CallContext, comm: CommView, ndims: Out<i32>) -> Outcome {
    ndims.set(cx.whole_comm(comm.handle)?.cartesian()?.dims().len() as i32);
    Ok(())
}

/// `MPI_Cart_get`; a grid without dimensions leaves all results as they are.
pub fn cart_get(
    cx: CallContext,
    comm: CommView,
    length: usize,
    dims: &mut [i32],
    periods: *mut i32,
    coords: &mut [i32],
) -> Outcome {
    let whole = cx.whole_comm(comm.handle)?;
    let grid = whole.cartesian()?;
    let count = grid.dims().len();
    if length < count {
        return Err(too_short("maxdims", length, count, "dimensions").into());
    }
    let periods = check::slice("periods", periods, count)?;
    let own = grid.coords(comm.rank as i32)?;
    for (place, (dim, coord)) in grid.dims().iter().zip(own).enumerate() {
        dims[place] = dim.size as i32;
        periods[place] = i32::from(dim.periodic);
        coords[place] = coord as i32;
    }
    Ok(())
}

/// `MPI_Cart_rank`
pub fn cart_rank(cx: CallContext, comm: CommView, coords: *const i32, rank: Out<i32>) -> Outcome {
    let whole = cx.whole_comm(comm.handle)?;
    let grid = whole.cartesian()?;
    rank.set(grid.rank(check::list("coords", coords, grid.dims().len())?)? as i32);
    Ok(())
}

/// `MPI_Cart_coords`
pub fn cart_coords(cx: CallContext, comm: CommView, rank: i32, length: usize, coords: &mut [i32]) -> Outcome {
    let whole = cx.whole_comm(comm.handle)?;
    let found = whole.cartesian()?.coords(rank)?;
    if length < found.len() {
        return Err(too_short("maxdims", length, found.len(), "dimensions").into());
    }
    coords.iter_mut().zip(found).for_each(|(place, coord)| *place = coord as i32);
    Ok(())
}

/// `MPI_Cart_shift`
pub fn cart_shift(
    cx: CallContext,
    comm: CommView,
    direction: i32,
    displacement: i32,
    source: Out<i32>,
    dest: Out<i32>,
) -> Outcome {
    let whole = cx.whole_comm(comm.handle)?;
    let (from, to) = whole.cartesian()?.shift(comm.rank, direction, displacement)?;
    source.set(rank_word(from, abi::MPI_PROC_NULL));
    dest.set(rank_word(to, abi::MPI_PROC_NULL));
    Ok(())
}
