//! Any text as what another process put in the key-value space of a launcher.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mpi_wireup::host_info::{HostInfo, JobAddress};
use mpi_wireup::pmi::wire::Message;

fuzz_target!(|input: &[u8]| {
    if let Err(malformed) = Message::parse(input) {
        assert!(!malformed.to_string().is_empty());
    }
    if let Ok(text) = std::str::from_utf8(input) {
        if let Some(host) = HostInfo::parse(text) {
            assert_eq!(HostInfo::parse(&host.to_value()).map(|host| host.ancestors), Some(host.ancestors));
        }
        if let Some(address) = JobAddress::parse(text) {
            assert_eq!(JobAddress::parse(&address.to_value()), Some(address));
        }
    }
});
