//! The shortest program with an error that keeps its cause as a code: docs/rust.md has its text.
//!
//! Run it with `cargo run -p mpi-errors --example code`.

use mpi_core::abi::MPI_ERR_RANK;
use mpi_errors::{Error, ErrorCodes, Result};

fn send(dest: i32, size: i32) -> Result<()> {
    if (0..size).contains(&dest) {
        return Ok(());
    }
    Err(Error::new(MPI_ERR_RANK, format!("there are {size} processes")).arg("dest", &dest).call("send"))
}

/// The program; public for the test that runs it.
pub fn main() {
    let codes = ErrorCodes::new();
    if let Err(error) = send(9, 4) {
        // A code is a number, as C passes it on; class and text follow from it.
        let code = codes.code_for(&error);
        println!("class {:?}: {}", codes.class_of(code), codes.string_of(code).expect("the code was just made"));
    }
}
