//! Any bytes as a packet of a peer: records lie inside the packet, and what was read is written again as it was.
#![no_main]

use libfuzzer_sys::fuzz_target;
use mpi_net::packet::{self, HEADER, Header};

fuzz_target!(|input: &[u8]| {
    let Some(header) = Header::read(input) else { return };
    let mut written = vec![0; HEADER];
    header.write(&mut written);
    assert_eq!(Header::read(&[&written[..], &input[HEADER..]].concat()), Some(header));
    let first = header.records_at();
    assert!(first <= input.len());
    let (mut at, mut again) = (first, Vec::new());
    while let Some((head, payload, len, next)) = packet::record_at(input, at) {
        assert!(payload + len <= next && next <= input.len() && next > at);
        let from = again.len();
        again.resize(from + packet::record_bytes(len), 0);
        assert_eq!(packet::append(&mut again, from, &head, &input[payload..payload + len]), again.len());
        at = next;
    }
    assert_eq!(packet::is_whole(input, first), at == input.len());
    // Bytes that fill a payload up to a multiple of 8 may differ.
    assert_eq!(packet::is_whole(&again, 0), true);
    assert_eq!(again.len(), at - first);
});
