//! Any bytes as the messages that hosts of a job send to `mpiexec`, each after its length, and the report on a job of three
//! ranks that follows from them.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mpi_fabric::Job;
use mpi_launch::mpiexec::fuzzed;

fuzz_target!(|input: &[u8]| {
    let job = Job::copies(3).expect("memory for three ranks");
    fuzzed::frames(&job, input);
});
