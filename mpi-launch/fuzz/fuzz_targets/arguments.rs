//! Any command line of `mpiexec`: words divided by NUL, as the system has them; files that it names hold the last word.
#![no_main]

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use libfuzzer_sys::fuzz_target;
use mpi_launch::args;

fuzz_target!(|input: &[u8]| {
    let words = input.split(|byte| *byte == 0).map(|word| OsString::from_vec(word.to_vec()));
    let file = input.rsplit(|byte| *byte == 0).next().unwrap_or_default();
    if let Err(error) = args::parse(words, &|_| Ok(file.to_vec())) {
        let sentence = error.to_string();
        assert!(!sentence.is_empty() && !sentence.contains('\n'), "one line names the mistake: {sentence:?}");
    }
});
