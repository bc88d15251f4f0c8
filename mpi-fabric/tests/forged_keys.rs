//! Safe code reaches no memory through keys of regions that are not registered.
#![forbid(unsafe_code)]

use mpi_fabric::{Endpoint, RegionKey};

#[test]
fn a_forged_key_changes_no_memory_of_this_process() {
    let endpoints = Endpoint::threads(2).expect("memory for two ranks");
    let value = 5u64;
    let forged = RegionKey::from_words([std::ptr::from_ref(&value) as u64, 0]);
    for (own, peer) in [(0, 0), (0, 1), (1, 0)] {
        let error = endpoints[own].write(peer, forged, 0, &9u64.to_ne_bytes()).expect_err("nothing is registered");
        assert!(error.to_string().contains(&format!("rank {peer}")), "{error}");
        assert!(endpoints[own].read(peer, forged, 0, &mut [0; 8]).is_err());
    }
    assert_eq!(value, 5);
}

#[test]
fn keys_with_any_words_are_errors() {
    let alone = Endpoint::world_of_one().expect("memory for one rank");
    for address in [0, 1, 8, 4096, u64::MAX / 2, u64::MAX - 7, u64::MAX] {
        for offset in [0, 1, u64::MAX] {
            let key = RegionKey::from_words([address, offset]);
            assert!(alone.write(0, key, offset, &[1; 16]).is_err(), "{address:#x}+{offset}");
            assert!(alone.read(0, key, offset, &mut [0; 16]).is_err(), "{address:#x}+{offset}");
        }
    }
}
