//! Any values of the variables that a started process reads, or none: four values divided by NUL; empty means not set.
#![no_main]

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use libfuzzer_sys::fuzz_target;
use mpi_launch::wireup::{self, JOB_FD, JOB_ID, RANK, SIZE};

fuzz_target!(|input: &[u8]| {
    let mut values = input.split(|byte| *byte == 0);
    let variables = [JOB_FD, JOB_ID, RANK, SIZE].map(|name| (name, values.next().unwrap_or_default()));
    let get = |wanted: &str| {
        let (_, value) = variables.iter().find(|(name, _)| *name == wanted)?;
        (!value.is_empty()).then(|| OsString::from_vec(value.to_vec()))
    };
    match wireup::from_variables(&get) {
        Ok(Some(place)) => assert!(place.rank < place.size && place.fd >= 0, "only a place that can be is accepted"),
        Ok(None) => {}
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
