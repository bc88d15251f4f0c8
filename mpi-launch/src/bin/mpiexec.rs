//! `mpiexec`: see `mpi_launch::mpiexec`.

use std::process::exit;

fn main() {
    exit(mpi_launch::mpiexec::main(std::env::args_os().skip(1)));
}
