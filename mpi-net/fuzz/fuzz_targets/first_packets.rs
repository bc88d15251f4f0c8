//! Any bytes as packets of peers of the job and of another job, with the address of the sender in the first ones, and as addresses in text:
//! records are handed out only from whole packets with the token of their sender, in their order and within the credits.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mpi_net::fuzzed::FirstPackets;

thread_local!(static NETWORK: FirstPackets = FirstPackets::new());

fuzz_target!(|input: &[u8]| NETWORK.with(|network| network.run(input)));
