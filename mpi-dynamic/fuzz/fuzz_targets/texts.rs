//! Any bytes as a file of a published name, and as the name of a port.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mpi_dynamic::{Reach, fuzzed, reach_of};

fuzz_target!(|input: &[u8]| {
    let is_file = fuzzed::names_file(input);
    // A file with another length is none.
    if is_file {
        assert!(!fuzzed::names_file(&input[..input.len() - 1]) && !fuzzed::names_file(&[input, &[0]].concat()));
    }
    let name = String::from_utf8_lossy(input);
    let addresses = fuzzed::addresses(&name);
    assert!(fuzzed::port_name(&name) || addresses.is_empty());
    assert_eq!(reach_of(&name) == Reach::Hosts, !addresses.is_empty());
    assert_eq!(fuzzed::hello(&name, [1, 2]).is_some(), !addresses.is_empty());
});
