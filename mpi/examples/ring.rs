//! A number is sent round all processes, each of which adds its rank.
//!
//! Run it with `cargo build -p mpi --examples && cargo build -p mpi-launch && target/debug/mpiexec -n 4 target/debug/examples/ring`.

use mpi::Operation;

fn main() {
    mpi::run(|world| {
        let (rank, size) = (world.rank(), world.size());
        let (next, before) = ((rank + 1) % size, (rank + size - 1) % size);

        let mut sum = [0u64];
        if rank == 0 {
            world.process(next).send(&sum, 0)?;
            world.process(before).receive_into(&mut sum, 0)?;
            println!("the number came back as {}", sum[0]);
        } else {
            let (number, from) = world.process(before).receive::<u64>(0)?;
            sum[0] = number[0] + u64::from(rank);
            println!("rank {rank} of {size} got {} from rank {}", number[0], from.source);
            world.process(next).send(&sum, 0)?;
        }

        let all = world.all_reduce_one(u64::from(rank), Operation::Sum)?;
        if rank == 0 {
            assert_eq!(sum[0], all, "both ways give the same sum");
            println!("the sum over all processes is {all}");
        }
        world.barrier()
    });
}
