//! Each process sends its values to the next one, step by step with one persistent operation, then in partitions.
//!
//! Run it with `cargo build -p mpi --examples && cargo build -p mpi-launch && target/debug/mpiexec -n 4
//! target/debug/examples/persistent`.

const STEPS: u32 = 5;
const PARTITIONS: u32 = 4;

fn main() {
    mpi::run(|world| {
        let (rank, size) = (world.rank(), world.size());
        let (next, before) = ((rank + 1) % size, (rank + size - 1) % size);

        let mut send = world.process(next).persistent_send(vec![0u32; 3], 0)?;
        let mut receive = world.process(before).persistent_receive::<u32>(3, 0)?;
        for step in 0..STEPS {
            send.data_mut().expect("inactive").fill(rank * 100 + step);
            receive.start()?;
            send.start()?;
            assert!(send.data().is_none(), "the engine uses the data");
            send.wait()?;
            let received = receive.wait_received()?;
            assert_eq!((received.source, received.count), (before, 3));
            assert_eq!(receive.data(), Some(&[before * 100 + step; 3][..]));
        }

        let mut send = world.process(next).partitioned_send(vec![0u64; 8], PARTITIONS, 1)?;
        let mut receive = world.process(before).partitioned_receive::<u64>(8, 2, 1)?;
        for step in 0..u64::from(STEPS) {
            receive.start()?;
            send.start()?;
            for partition in (0..PARTITIONS).rev() {
                send.partition_mut(partition)?.fill(u64::from(partition) + step);
                send.ready(partition)?;
                assert!(send.partition_mut(partition).is_err(), "it is ready");
            }
            while receive.arrived(1)?.is_none() {}
            assert_eq!(receive.arrived(1)?, Some(&[2 + step, 2 + step, 3 + step, 3 + step][..]));
            send.wait()?;
            receive.wait_received()?;
            assert!(send.ready(0).is_err(), "it is inactive");
        }
        println!("rank {rank} received {STEPS} messages and {} partitions", 2 * STEPS);
        world.barrier()
    });
}
