//! Halo exchange: heat spreads over a square plate that is divided into blocks, one for each process of a grid.
//!
//! Each process keeps its block with a border of one cell, which it receives from its neighbours before each step. The
//! result is the same on any number of processes. Run it with
//! `cargo build -p mpi --examples && cargo build -p mpi-launch && target/debug/mpiexec -n 4 target/debug/examples/halo`; the arguments are
//! the cells along a side of the plate, and the number of steps.

use std::error::Error;
use std::ops::Range;

use mpi::{Grid, Layout, Operation, Result};

/// A block of cells with a border, by rows.
struct Block {
    rows: usize,
    columns: usize,
    cells: Vec<f64>,
}

impl Block {
    fn new(rows: usize, columns: usize) -> Block {
        Block { rows, columns, cells: vec![0.0; (rows + 2) * (columns + 2)] }
    }

    /// The place of a cell; those of the block are counted from 1.
    fn at(&self, row: usize, column: usize) -> usize {
        row * (self.columns + 2) + column
    }

    /// Fills the border with the cells of the neighbours. Where there is none, it stays at zero.
    fn exchange(&mut self, grid: &Grid) -> Result<()> {
        // Above, below, left, right: the opposite of a side is its number with the last bit changed.
        let ((above, below), (left, right)) = (grid.shift(0, 1)?, grid.shift(1, 1)?);
        let neighbors = [above, below, left, right];
        let row = Layout::vector(1, self.columns, 1)?;
        let column = Layout::vector(self.rows, 1, self.columns + 2)?;
        let layouts = [&row, &row, &column, &column];
        let edges = [self.at(1, 1), self.at(self.rows, 1), self.at(1, 1), self.at(1, self.columns)];
        let borders = [self.at(0, 1), self.at(self.rows + 1, 1), self.at(1, 0), self.at(1, self.columns + 1)];
        let mut received = layouts.map(|layout| vec![0.0; layout.count()]);
        grid.scope(|scope| {
            for (side, into) in received.iter_mut().enumerate() {
                let Some(neighbor) = neighbors[side].map(|rank| grid.process(rank)) else { continue };
                // The tag is the side that the sender sends to.
                scope.receive(&neighbor, into, side as i32 ^ 1)?;
                scope.send_layout(&neighbor, &self.cells[edges[side]..], layouts[side], side as i32)?;
            }
            Ok(())
        })?;
        for (side, values) in received.iter().enumerate() {
            let stride = if side < 2 { 1 } else { self.columns + 2 };
            let border = self.cells[borders[side]..].iter_mut().step_by(stride);
            border.zip(values).for_each(|(cell, value)| *cell = *value);
        }
        Ok(())
    }

    /// One step: each cell becomes the mean of its neighbours.
    fn step(&self, next: &mut Block) {
        for row in 1..=self.rows {
            for column in 1..=self.columns {
                let around = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)];
                let sum: f64 = around.iter().map(|(row, column)| self.cells[self.at(*row, *column)]).sum();
                next.cells[self.at(row, column)] = sum / 4.0;
            }
        }
    }
}

/// The cells of one of `parts` parts.
fn share(cells: usize, parts: u32, part: u32) -> Range<usize> {
    let (parts, part) = (parts as usize, part as usize);
    cells * part / parts..cells * (part + 1) / parts
}

fn main() -> std::result::Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1).map(|word| word.parse::<usize>());
    let (cells, steps) = (arguments.next().unwrap_or(Ok(64))?, arguments.next().unwrap_or(Ok(100))?);
    mpi::run(|world| {
        let mut dims = [0, 0];
        mpi::balance(world.size(), &mut dims)?;
        let grid = world.grid(&dims, &[false, false], true)?.expect("the grid has all processes");
        let own = grid.coords(grid.rank())?;
        let (rows, columns) = (share(cells, dims[0], own[0]), share(cells, dims[1], own[1]));
        let (mut block, mut next) = (Block::new(rows.len(), columns.len()), Block::new(rows.len(), columns.len()));
        // The left half of the plate is hot at first.
        for row in 0..rows.len() {
            for column in columns.clone().filter(|column| *column < cells / 2) {
                let place = block.at(row + 1, column - columns.start + 1);
                block.cells[place] = 100.0;
            }
        }
        for _ in 0..steps {
            block.exchange(&grid)?;
            block.step(&mut next);
            std::mem::swap(&mut block, &mut next);
        }
        let inside = (1..=block.rows).flat_map(|row| &block.cells[block.at(row, 1)..][..block.columns]);
        let heat = grid.all_reduce_one(inside.sum::<f64>(), Operation::Sum)?;
        if grid.rank() == 0 {
            let mean = heat / (cells * cells) as f64;
            println!("a grid of {} times {}: mean temperature {mean:.6} after {steps} steps", dims[0], dims[1]);
        }
        Ok(())
    });
    Ok(())
}
