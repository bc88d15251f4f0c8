//! Any bytes at the beginning of connections that show whether a peer is there: nobody is accepted, or counts as ended, without the
//! token of the job or of a connection of jobs, and a correct process is accepted after all of them.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use mpi_net::fuzzed::Connections;

static CONNECTIONS: LazyLock<Connections> = LazyLock::new(Connections::new);

fuzz_target!(|input: &[u8]| CONNECTIONS.run(input));
