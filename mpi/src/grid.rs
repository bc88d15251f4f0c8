//! Grids of processes: Cartesian topologies (MPI-5.0, 8.5).
//!
//! Invariant: the communicator of a [`Grid`] has a grid.
//! Not here: the arithmetic (`mpi_comm::topology`), graphs (`graph`).

use std::fmt;
use std::ops::Deref;

use mpi_comm::topology::{Cartesian, Dimension, dims_create};
use mpi_core::abi::{MPI_COMM_NULL, MPI_ERR_DIMS, MPI_ERR_INTERN};
use mpi_core::{Handle, functions};

use crate::call::{CallName, of_rust};
use crate::{Communicator, Error, Result, Single, ThreadUse};

const GRID: CallName = CallName::new("Communicator::grid", functions::MPI_CART_CREATE);
const MAP: CallName = CallName::new("Communicator::rank_in_grid", functions::MPI_CART_MAP);
const PART: CallName = CallName::new("Grid::part", functions::MPI_CART_SUB);

/// Processes that are neighbours in a grid: a [`Communicator`] with coordinates.
///
/// ```no_run
/// # fn work(world: &mpi::World) -> mpi::Result<()> {
/// let mut dims = [0, 0];
/// mpi::balance(world.size(), &mut dims)?;
/// if let Some(grid) = world.grid(&dims, &[true, true], true)? {
///     let (before, behind) = grid.shift(0, 1)?;
///     let (before, behind) = (before.expect("periodic"), behind.expect("periodic"));
///     let mut from = [0];
///     grid.process(behind).exchange(&[grid.rank()], &grid.process(before), &mut from, 0)?;
/// }
/// # Ok(())
/// # }
/// ```
pub struct Grid<'c, M: ThreadUse = Single> {
    all: Communicator<'c, M>,
}

/// Replaces the zeros of `dims` by factors in descending order, as near to each other as possible, so that the product
/// of all is `processes` (`MPI_Dims_create`). Local. Errors: `MPI_ERR_DIMS` when the other dimensions do not divide it,
/// `MPI_ERR_ARG` for no processes.
pub fn balance(processes: u32, dims: &mut [u32]) -> Result<()> {
    let word = |number: u32| {
        i32::try_from(number).map_err(|_| Error::new(MPI_ERR_DIMS, "a grid has 2^31 - 1 processes at most"))
    };
    let mut found: Vec<i32> = dims.iter().map(|dim| word(*dim)).collect::<Result<_>>()?;
    dims_create(word(processes)?, &mut found)
        .map_err(|error| error.rename_arguments(&[("nnodes", "processes")]).call("mpi::balance"))?;
    dims.iter_mut().zip(found).for_each(|(dim, found)| *dim = found as u32);
    Ok(())
}

impl<M: ThreadUse> Communicator<'_, M> {
    /// Makes a grid of the first processes; `None` in those that it does not need. In a periodic dimension the last
    /// process is next to the first. With `reorder`, ranks follow the packages and cores that the processes are bound
    /// to. All processes call it with equal arguments, and wait for each other.
    ///
    /// Errors, in all processes: `MPI_ERR_DIMS` for a grid without processes or with more than there are, and for
    /// slices of different lengths; `MPI_ERR_NOT_SAME` for arguments that differ.
    pub fn grid(&self, dims: &[u32], periodic: &[bool], reorder: bool) -> Result<Option<Grid<'_, M>>> {
        self.call(GRID, |call| {
            drop(call.enter(-1, 0, 0));
            let handle = call.process.cart_create(self.handle(), self.checked(dims, periodic), reorder)?;
            Grid::of(self, handle)
        })
    }

    /// The rank that this process would have in a grid that is made with `reorder`; `None` if the grid does not need it
    /// (`MPI_Cart_map`). All processes call it with equal arguments, and wait for each other. Errors: as
    /// [`Communicator::grid`].
    pub fn rank_in_grid(&self, dims: &[u32], periodic: &[bool]) -> Result<Option<u32>> {
        self.call(MAP, |call| {
            drop(call.enter(-1, 0, 0));
            call.process.cart_map(self.handle(), self.checked(dims, periodic))
        })
    }

    fn checked(&self, dims: &[u32], periodic: &[bool]) -> Result<Cartesian> {
        if dims.len() != periodic.len() {
            let other = mpi_errors::counted(periodic.len(), "element");
            let rule = format!("periodic has {other}; both slices must be equally long");
            return Err(Error::new(MPI_ERR_DIMS, rule).arg("dims.len()", &dims.len()));
        }
        // What is too large becomes negative, which is refused.
        let words: Vec<i32> = dims.iter().map(|dim| i32::try_from(*dim).unwrap_or(-1)).collect();
        let periods: Vec<i32> = periodic.iter().map(|wraps| i32::from(*wraps)).collect();
        Cartesian::new(&words, &periods, self.size())
    }
}

impl<'c, M: ThreadUse> Grid<'c, M> {
    /// The grid that a call on `parent` has just made; none for the null handle.
    fn of(parent: &'c Communicator<'_, M>, handle: Handle) -> Result<Option<Grid<'c, M>>> {
        if handle.0 == MPI_COMM_NULL {
            return Ok(None);
        }
        Ok(Some(Grid { all: parent.made(handle, "grid")? }))
    }

    fn cartesian(&self) -> Result<&Cartesian> {
        self.all.comm.cartesian()
    }

    /// Its dimensions.
    pub fn dims(&self) -> &[Dimension] {
        self.cartesian().map_or(&[], Cartesian::dims)
    }

    /// The coordinates of a process of the grid, the last one changing fastest. Errors: `MPI_ERR_RANK`.
    pub fn coords(&self, rank: u32) -> Result<Vec<u32>> {
        let rank = i32::try_from(rank).unwrap_or(-1);
        self.cartesian()?.coords(rank).map_err(|error| error.call("Grid::coords"))
    }

    /// The rank at these coordinates; those of periodic dimensions wrap around. Errors: `MPI_ERR_DIMS` for another
    /// number of coordinates than dimensions, `MPI_ERR_ARG` outside of a dimension that is not periodic.
    pub fn rank_at(&self, coords: &[i32]) -> Result<u32> {
        let grid = self.cartesian()?;
        if coords.len() != grid.dims().len() {
            let rule = format!("the grid has {}", mpi_errors::counted(grid.dims().len(), "dimension"));
            return Err(Error::new(MPI_ERR_DIMS, rule).arg("coords.len()", &coords.len()).call("Grid::rank_at"));
        }
        grid.rank(coords).map_err(|error| error.call("Grid::rank_at"))
    }

    /// The ranks `steps` before and behind this process in a dimension; `None` beyond the end of one that is not
    /// periodic. Errors: `MPI_ERR_DIMS`.
    pub fn shift(&self, dimension: usize, steps: i32) -> Result<(Option<u32>, Option<u32>)> {
        let direction = i32::try_from(dimension).unwrap_or(-1);
        self.cartesian()?.shift(self.rank(), direction, steps).map_err(|error| of_rust(error, "Grid::shift"))
    }

    /// The part of the grid with this process's coordinates in the dimensions that do not remain: a row, a plane. All
    /// processes of the grid call it with equal arguments, and wait for each other. Errors: `MPI_ERR_DIMS` for another
    /// number of entries than dimensions, `MPI_ERR_NOT_SAME`.
    pub fn part(&self, remain: &[bool]) -> Result<Grid<'_, M>> {
        self.call(PART, |call| {
            drop(call.enter(-1, 0, 0));
            let checked = match self.dims().len() {
                dims if dims == remain.len() => Ok(remain.to_vec()),
                dims => {
                    let rule = format!("the grid has {}", mpi_errors::counted(dims, "dimension"));
                    Err(Error::new(MPI_ERR_DIMS, rule).arg("remain.len()", &remain.len()))
                }
            };
            let handle = call.process.cart_sub(self.handle(), checked)?;
            Grid::of(self, handle)?.ok_or_else(|| Error::new(MPI_ERR_INTERN, "a part without this process"))
        })
    }
}

impl<'c, M: ThreadUse> Deref for Grid<'c, M> {
    type Target = Communicator<'c, M>;

    fn deref(&self) -> &Communicator<'c, M> {
        &self.all
    }
}

impl<M: ThreadUse> fmt::Debug for Grid<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Grid").field("rank", &self.rank()).field("dims", &self.dims()).finish()
    }
}
