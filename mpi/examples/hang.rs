//! Ranks that wait for ever, to show the report of `mpiexec --timeout`.
//!
//! Run it with `mpiexec -n 2 --timeout 2 target/debug/examples/hang receive`; instead of `receive` also `barrier`, or
//! `close` and the name of a file.

use mpi::Access;

fn main() {
    let mut arguments = std::env::args().skip(1);
    let (call, name) = (arguments.next().unwrap_or_default(), arguments.next().unwrap_or_default());
    mpi::run(|world| match call.as_str() {
        "receive" => world.any().receive::<u8>(7).map(drop),
        "barrier" if world.rank() == 0 => world.barrier(),
        "close" => {
            let file = world.open(&name, Access::WRITE.create().delete_on_close())?;
            if world.rank() == 0 { file.close() } else { world.any().receive::<u8>(7).map(drop) }
        }
        _ => world.any().receive::<u8>(7).map(drop),
    });
}
