//! Initialises the library with a session and prints the session's process sets. `cargo run -p mpi-env --example
//! session`, or under `mpiexec -n 2`.

use mpi_core::Handle;
use mpi_core::abi::MPI_ERRORS_RETURN;
use mpi_errors::Result;

fn main() -> Result<()> {
    println!("{} on {}", mpi_env::library_version(), mpi_env::processor_name());
    let process = mpi_env::join_job()?;
    let session = process.session_init(None, Handle(MPI_ERRORS_RETURN))?;
    for name in mpi_env::PSETS {
        if let Some(group) = process.pset(name) {
            println!("process {} of the job: {name} has {} processes", process.rank(), group.size());
        }
    }
    process.session_finalize(session)
}
