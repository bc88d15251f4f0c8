//! All processes write one file together, each its own part, and read it whole.
//!
//! Run it with `cargo build -p mpi --examples && cargo build -p mpi-launch && target/debug/mpiexec -n 4 target/debug/examples/file`.

use mpi::Access;
use mpi::core::abi::MPI_ERR_FILE_EXISTS;

fn main() {
    let name = std::env::args().nth(1).unwrap_or_else(|| "squares".to_owned());
    mpi::run(|world| {
        let rank = u64::from(world.rank());
        let file = world.open(&name, Access::READ_WRITE.create_new().delete_on_close())?;
        file.write_at(rank * 8, &[rank * rank])?;
        world.barrier()?;

        let mut all = vec![0u64; world.size() as usize + 5];
        let there = file.read_at(0, &mut all)?;
        assert_eq!((there as u64 * 8, there), (file.size()?, world.size() as usize));
        if world.rank() == 0 {
            println!("{:?}", &all[..there]);
        }

        // An error in one process is an error in all, with the reason.
        let refused = world.open(&name, Access::WRITE.create_new()).expect_err("it is there");
        assert_eq!(refused.class(), MPI_ERR_FILE_EXISTS);
        if world.rank() == 0 {
            println!("{refused}");
        }
        file.close()
    });
}
