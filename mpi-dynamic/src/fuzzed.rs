//! What the fuzz targets (`mpi-dynamic/fuzz`) call of this crate's readers, which are not public.

use crate::names_folder::is_written_as_read;
use crate::network_port::NetworkName;
use crate::port::parts_of;

/// Reads bytes as a file of a published name, and panics if it would be written otherwise than it was read. Whether it is one.
pub fn names_file(bytes: &[u8]) -> bool {
    match is_written_as_read(bytes) {
        None => false,
        Some(same) => {
            assert!(same, "a file is read otherwise than it is written");
            true
        }
    }
}

/// Reads a text as the name of a port. Whether it is one.
pub fn port_name(text: &str) -> bool {
    parts_of(text).is_ok()
}

/// What a process that has a port's name sends to the port, whose random number it has received. `None` if the name has no part for
/// other hosts.
pub fn hello(name: &str, number: [u64; 2]) -> Option<Vec<u8>> {
    let (_, network) = parts_of(name).ok()?;
    Some(network?.hello(number, [3, 4]).iter().flat_map(|word| word.to_le_bytes()).collect())
}

/// The addresses in a port's name.
pub fn addresses(name: &str) -> Vec<std::net::SocketAddr> {
    parts_of(name).ok().and_then(|(_, network)| network).map_or_else(Vec::new, NetworkName::into_addresses)
}
