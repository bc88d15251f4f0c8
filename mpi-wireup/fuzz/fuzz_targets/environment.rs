//! Any values of the variables that a started process reads, or none: values divided by NUL; empty means not set.
#![no_main]

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use libfuzzer_sys::fuzz_target;
use mpi_wireup::other_launchers::OtherLauncher;
use mpi_wireup::{self as wireup, APPNUM, JOB_FD, JOB_ID, RANK, SIZE, Started};

/// Variables of other launchers.
const OTHERS: [&str; 8] =
    ["PMI_FD", "PMI_RANK", "PMI_SIZE", "PMI_PORT", "PMI_ID", "PMIX_NAMESPACE", "PMIX_RANK", "SLURM_STEP_NUM_TASKS"];

fuzz_target!(|input: &[u8]| {
    let mut values = input.split(|byte| *byte == 0);
    let names = [JOB_FD, JOB_ID, RANK, SIZE, APPNUM].into_iter().chain(OTHERS);
    let variables: Vec<_> = names.map(|name| (name, values.next().unwrap_or_default())).collect();
    let get = |wanted: &str| {
        let (_, value) = variables.iter().find(|(name, _)| *name == wanted)?;
        (!value.is_empty()).then(|| OsString::from_vec(value.to_vec()))
    };
    match wireup::from_variables(&get) {
        Ok(Started::Ours(place)) => assert!(place.rank.max(place.appnum) < place.size && place.fd >= 0, "only a place that can be"),
        Ok(Started::OtherLauncher(OtherLauncher::Descriptor { fd, rank, size, .. })) => assert!(rank < size && fd >= 0),
        Ok(_) => {}
        Err(error) => assert!(!error.to_string().is_empty()),
    }
});
