//! A panic or an error in one process: the job ends with a report of the rank and the reason.
//!
//! Run it with `mpiexec -n 2 target/debug/examples/panic`, or with the argument `error`.

fn main() {
    mpi::run(|world| {
        world.barrier()?;
        if world.rank() == 1 {
            if std::env::args().nth(1).as_deref() == Some("error") {
                return world.process(9).send(&[0u8], 0);
            }
            panic!("rank 1 has had enough");
        }
        // If the job did not end, this process would wait here for ever.
        world.process(1).receive::<u8>(0).map(drop)
    });
}
