//! What a connection that shows whether a peer is there begins with.

use crate::token::Secret;

/// Bytes of the name of a host.
const NAME_BYTES: usize = 64;
/// Bytes of what identifies a process: a magic number, its number, the connection of jobs (0: none), and the token.
pub(super) const IDENTITY_BYTES: usize = 24;
/// Bytes that a connection begins with: the identity, and the name of the host.
pub(super) const HELLO_BYTES: usize = IDENTITY_BYTES + NAME_BYTES;
const MAGIC: u32 = 0x4650_4c32;
/// Added to the rank in the token of a connection, so that it differs from the token of a packet. Ranks are smaller.
const OF_CONNECTION: u32 = 1 << 30;

/// What a connection from a process to another one begins with: their numbers in the job, or in a connection of jobs.
pub(super) fn hello(secret: Secret, connection: u64, [from, to]: [u32; 2], host: &str) -> [u8; HELLO_BYTES] {
    let mut hello = [0; HELLO_BYTES];
    hello[..4].copy_from_slice(&MAGIC.to_ne_bytes());
    hello[4..8].copy_from_slice(&from.to_ne_bytes());
    hello[8..16].copy_from_slice(&connection.to_ne_bytes());
    hello[16..24].copy_from_slice(&secret.token(from | OF_CONNECTION, to).to_ne_bytes());
    for (to, from) in hello[IDENTITY_BYTES..].iter_mut().zip(host.bytes()) {
        *to = from;
    }
    hello
}

/// The name of a host in what a connection begins with; characters that no name has are replaced.
pub(super) fn name_in(hello: &[u8; HELLO_BYTES]) -> String {
    let bytes = hello[IDENTITY_BYTES..].iter().take_while(|byte| **byte != 0);
    let plain = |byte: &u8| if byte.is_ascii_alphanumeric() || b".-_".contains(byte) { char::from(*byte) } else { '_' };
    bytes.map(plain).collect()
}
