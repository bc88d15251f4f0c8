//! Processes in a grid that wraps around: each exchanges a number with its four neighbours, and rows are grids, too.
//!
//! Run it with `cargo build -p mpi --examples && cargo build -p mpi-launch && target/debug/mpiexec -n 6 target/debug/examples/grid`.

use mpi::Operation;

fn main() {
    mpi::run(|world| {
        let mut dims = [0, 0];
        mpi::balance(world.size(), &mut dims)?;
        let grid = world.grid(&dims, &[true, true], true)?.expect("the grid has all processes");
        let own = grid.coords(grid.rank())?;

        let mut sum = 0;
        for dimension in 0..2 {
            for steps in [1, -1] {
                let (Some(before), Some(behind)) = grid.shift(dimension, steps)? else { continue };
                let mut number = [0u32];
                grid.process(behind).exchange(&[grid.rank()], &grid.process(before), &mut number, 0)?;
                assert_eq!(number[0], before, "the number of the neighbour");
                sum += number[0];
            }
        }
        // Each process is the neighbour of four.
        let all = world.all_reduce_one(sum, Operation::Sum)?;
        let expected = 4 * (0..grid.size()).sum::<u32>();
        assert_eq!(all, expected);

        let row = grid.part(&[false, true])?;
        assert_eq!((row.size(), row.coords(row.rank())?[0]), (dims[1], own[1]));
        if world.rank() == 0 {
            println!("a grid of {} times {}: the neighbours' numbers sum up to {all}", dims[0], dims[1]);
        }
        world.barrier()
    });
}
