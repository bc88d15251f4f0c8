//! A table of objects by handle, which detects stale, forged and wrong-kind words. `cargo run -p mpi-core --example
//! handles`.

use mpi_core::{Handle, Kind, Table};

fn main() {
    let mut windows = Table::new(Kind::Win);
    let first = windows.insert("the first window").expect("an empty table has room");
    println!("{first} is {:?}, as a Fortran INTEGER {:?}", windows.get(first), first.to_fortran());

    windows.remove(first);
    let second = windows.insert("the second window").expect("room");
    println!(
        "after it was freed, {first} is {:?}; {second} in the same slot is {:?}",
        windows.get(first),
        windows.get(second)
    );

    let datatype = Handle(mpi_core::abi::MPI_INT);
    if let Some((kind, name)) = datatype.predefined() {
        println!(
            "{:#x} is {name}, {}, and no window: {:?}",
            datatype.0,
            kind.noun_with_article(),
            windows.get(datatype)
        );
    }
}
