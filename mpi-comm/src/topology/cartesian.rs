//! Grids (MPI-5.0, 8.5): coordinates in row-major order, so that the last one changes fastest.
//!
//! Invariant: every dimension has at least one process, and the grid has as many processes as its communicator.

use mpi_core::abi::{MPI_ERR_ARG, MPI_ERR_DIMS, MPI_ERR_RANK};
use mpi_errors::{Error, Result, processes_and_ranks};

use super::digest;

/// One dimension of a grid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dimension {
    /// Number of processes, at least 1.
    pub size: u32,
    /// Whether the last process is next to the first one.
    pub periodic: bool,
}

/// A grid of processes. One without dimensions has one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cartesian {
    dims: Vec<Dimension>,
}

impl Cartesian {
    /// A grid of dimensions for a communicator of `processes`; `periods` has as many numbers as `dims`, 0 for false.
    ///
    /// Errors: `MPI_ERR_DIMS` for a dimension without processes, and for a grid of more processes than there are.
    pub fn new(dims: &[i32], periods: &[i32], processes: u32) -> Result<Cartesian> {
        let mut size = 1;
        for (place, dim) in dims.iter().enumerate() {
            if *dim <= 0 {
                let rule = "each dimension of a grid has at least one process";
                return Err(Error::new(MPI_ERR_DIMS, rule).arg("dims", dim).in_element(place));
            }
            size = u64::saturating_mul(size, *dim as u64);
        }
        if size > u64::from(processes) {
            let rule =
                format!("the communicator has {}, and the grid needs {size}", mpi_errors::processes(processes as u64));
            return Err(Error::new(MPI_ERR_DIMS, rule).arg("dims", &format_args!("{dims:?}")));
        }
        let dims = dims.iter().zip(periods);
        let dims = dims.map(|(dim, period)| Dimension { size: *dim as u32, periodic: *period != 0 }).collect();
        Ok(Cartesian { dims })
    }

    /// Its dimensions.
    pub fn dims(&self) -> &[Dimension] {
        &self.dims
    }

    /// Number of processes.
    pub fn size(&self) -> u32 {
        self.dims.iter().map(|dim| dim.size).product()
    }

    /// A number to compare the grids of several processes by.
    pub fn digest(&self) -> i32 {
        digest(self.dims.iter().flat_map(|dim| [dim.size as i32, i32::from(dim.periodic)]))
    }

    /// The coordinates of a process (`MPI_Cart_coords`). Errors: `MPI_ERR_RANK`.
    pub fn coords(&self, rank: i32) -> Result<Vec<u32>> {
        let size = self.size();
        let known = u32::try_from(rank).ok().filter(|rank| *rank < size).ok_or_else(|| {
            let rule = format!("the grid has {}", processes_and_ranks(size as u64));
            Error::new(MPI_ERR_RANK, rule).arg("rank", &rank)
        })?;
        Ok(self.coords_of(known))
    }

    /// The process at these coordinates (`MPI_Cart_rank`); further numbers do not matter. Periodic dimensions take any
    /// number. Errors: `MPI_ERR_ARG` for a coordinate outside of a dimension that is not periodic.
    pub fn rank(&self, coords: &[i32]) -> Result<u32> {
        let mut rank = 0;
        for (place, (dim, given)) in self.dims.iter().zip(coords).enumerate() {
            let Some(coord) = wrapped(*dim, i64::from(*given)) else {
                let rule = format!("dimension {place} has coordinates 0 to {} and is not periodic", dim.size - 1);
                return Err(Error::new(MPI_ERR_ARG, rule).arg("coords", given).in_element(place));
            };
            rank = rank * dim.size + coord;
        }
        Ok(rank)
    }

    /// The source and the destination of a shift (`MPI_Cart_shift`); `None` is `MPI_PROC_NULL`. `rank` is a rank of the
    /// grid. Errors: `MPI_ERR_DIMS` for a direction that is no dimension.
    pub fn shift(&self, rank: u32, direction: i32, displacement: i32) -> Result<(Option<u32>, Option<u32>)> {
        match usize::try_from(direction).ok().filter(|place| *place < self.dims.len()) {
            Some(place) => {
                let at = |step: i64| self.step(rank, place, step);
                Ok((at(-i64::from(displacement)), at(i64::from(displacement))))
            }
            None => {
                let rule = match self.dims.len() {
                    0 => "the grid has no dimensions".to_owned(),
                    1 => "the grid has 1 dimension, 0".to_owned(),
                    count => format!("the grid has {count} dimensions, 0 to {}", count - 1),
                };
                Err(Error::new(MPI_ERR_DIMS, rule).arg("direction", &direction))
            }
        }
    }

    /// The neighbours of a process: in each dimension the one below and the one above.
    pub fn neighbors(&self, rank: u32) -> impl Iterator<Item = Option<u32>> {
        let both = (0..self.dims.len()).flat_map(|place| [(place, -1), (place, 1)]);
        both.map(move |(place, step)| self.step(rank, place, step))
    }

    /// The part of the grid with the same coordinates as `rank` in the dimensions that do not remain
    /// (`MPI_Cart_sub`): its grid, and its processes by their rank in this grid. `remain` has an entry for each
    /// dimension.
    pub fn sub(&self, rank: u32, remain: &[bool]) -> (Cartesian, Vec<u32>) {
        let strides = self.strides();
        let own = self.coords_of(rank);
        let mut members = vec![0];
        for (place, dim) in self.dims.iter().enumerate() {
            let coords = if remain[place] { 0..dim.size } else { own[place]..own[place] + 1 };
            let step = |member: &u32| {
                let (member, stride) = (*member, strides[place]);
                coords.clone().map(move |coord| member + coord * stride)
            };
            members = members.iter().flat_map(step).collect();
        }
        let dims = self.dims.iter().zip(remain).filter(|(_, remains)| **remains).map(|(dim, _)| *dim).collect();
        (Cartesian { dims }, members)
    }

    /// For each dimension, the difference of the ranks of two processes that are next to each other in it.
    fn strides(&self) -> Vec<u32> {
        let mut strides = vec![1; self.dims.len()];
        for place in (1..self.dims.len()).rev() {
            strides[place - 1] = strides[place] * self.dims[place].size;
        }
        strides
    }

    fn coords_of(&self, rank: u32) -> Vec<u32> {
        self.strides().iter().zip(&self.dims).map(|(stride, dim)| rank / stride % dim.size).collect()
    }

    /// The process some steps away in one dimension.
    fn step(&self, rank: u32, place: usize, steps: i64) -> Option<u32> {
        let dim = self.dims[place];
        let stride: u32 = self.dims[place + 1..].iter().map(|dim| dim.size).product();
        let coord = rank / stride % dim.size;
        let found = wrapped(dim, i64::from(coord) + steps)?;
        Some(rank - coord * stride + found * stride)
    }
}

/// A coordinate within the dimension; `None` outside of one that is not periodic.
fn wrapped(dim: Dimension, coord: i64) -> Option<u32> {
    let size = i64::from(dim.size);
    match dim.periodic {
        true => Some(coord.rem_euclid(size) as u32),
        false => (0..size).contains(&coord).then_some(coord as u32),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(dims: &[i32], periods: &[i32]) -> Cartesian {
        Cartesian::new(dims, periods, i32::MAX as u32).expect("a grid")
    }

    #[test]
    fn ranks_and_coordinates_are_inverse_in_row_major_order() {
        let grid = grid(&[2, 3, 4], &[0, 0, 0]);
        assert_eq!(grid.coords(7).expect("a rank"), [0, 1, 3]);
        for rank in 0..24 {
            let coords: Vec<i32> = grid.coords(rank).expect("a rank").iter().map(|coord| *coord as i32).collect();
            assert_eq!(grid.rank(&coords).expect("coordinates"), rank as u32);
        }
        for rank in [-1, 24, i32::MIN, i32::MAX] {
            assert_eq!(grid.coords(rank).expect_err("no rank").class(), MPI_ERR_RANK);
        }
    }

    #[test]
    fn periodic_coordinates_wrap_and_others_are_errors() {
        let grid = grid(&[3, 4], &[1, 0]);
        assert_eq!(grid.rank(&[-1, 1]).expect("wraps"), 9);
        assert_eq!(grid.rank(&[i32::MIN, 0]).expect("wraps"), 4 * (i64::from(i32::MIN).rem_euclid(3)) as u32);
        assert_eq!(grid.rank(&[i32::MAX, 3]).expect("wraps"), 4 * (i32::MAX % 3) as u32 + 3);
        for coord in [-1, 4, i32::MIN, i32::MAX] {
            assert_eq!(grid.rank(&[0, coord]).expect_err("outside").class(), MPI_ERR_ARG);
        }
    }

    #[test]
    fn a_shift_ends_at_the_edge_of_a_dimension_that_is_not_periodic() {
        let grid = grid(&[3, 2], &[0, 1]);
        assert_eq!(grid.shift(0, 0, 1).expect("a dimension"), (None, Some(2)));
        assert_eq!(grid.shift(4, 0, 1).expect("a dimension"), (Some(2), None));
        assert_eq!(grid.shift(4, 0, -1).expect("a dimension"), (None, Some(2)));
        assert_eq!(grid.shift(1, 1, 1).expect("a dimension"), (Some(0), Some(0)));
        assert_eq!(grid.shift(1, 0, 0).expect("a dimension"), (Some(1), Some(1)));
        assert_eq!(grid.shift(1, 0, i32::MIN).expect("a dimension"), (None, None));
        assert_eq!(grid.shift(1, 1, i32::MIN).expect("a dimension"), (Some(1), Some(1)));
        for direction in [-1, 2, i32::MIN, i32::MAX] {
            assert_eq!(grid.shift(0, direction, 1).expect_err("no dimension").class(), MPI_ERR_DIMS);
        }
    }

    #[test]
    fn the_parts_of_a_grid_hold_each_process_once() {
        let grid = grid(&[2, 3, 4], &[0, 1, 1]);
        for remain in (0..8).map(|bits| [bits & 1 != 0, bits & 2 != 0, bits & 4 != 0]) {
            for rank in 0..24 {
                let (part, members) = grid.sub(rank, &remain);
                assert_eq!(part.size() as usize, members.len());
                assert!(members.contains(&rank) && members.is_sorted());
                // Every member has the same part.
                assert!(members.iter().all(|member| grid.sub(*member, &remain).1 == members));
                let place = members.iter().position(|member| *member == rank).expect("a member");
                let kept = grid.coords_of(rank).into_iter().zip(remain).filter(|(_, remains)| *remains);
                assert_eq!(part.coords_of(place as u32), kept.map(|(coord, _)| coord).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn a_grid_without_dimensions_has_one_process() {
        let grid = grid(&[], &[]);
        assert_eq!((grid.size(), grid.rank(&[]).expect("the one"), grid.neighbors(0).count()), (1, 0, 0));
        assert_eq!(grid.shift(0, 0, 1).expect_err("no dimension").class(), MPI_ERR_DIMS);
        assert_eq!(grid.sub(0, &[]), (grid.clone(), vec![0]));
    }

    #[test]
    fn dimensions_without_processes_and_grids_that_are_too_large_are_errors() {
        for dims in [[0, 1], [1, -1], [i32::MIN, i32::MIN], [3, 3], [i32::MAX, i32::MAX]] {
            assert_eq!(Cartesian::new(&dims, &[0, 0], 8).expect_err("no grid").class(), MPI_ERR_DIMS, "{dims:?}");
        }
        let many = [i32::MAX; 20];
        assert_eq!(Cartesian::new(&many, &many, u32::MAX).expect_err("no grid").class(), MPI_ERR_DIMS);
        assert_eq!(Cartesian::new(&[2, 3], &[0, 0], 8).expect("a grid of 6").size(), 6);
    }
}
