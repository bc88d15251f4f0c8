//! The rows of a communicator's peers take memory when a peer is first used. A separate test file, because it measures
//! the memory of the process.

use std::sync::atomic::Ordering;

use mpi_fabric::PagesOnDemand;
use mpi_p2p::CommMeters;
use mpi_t::{HeapMemory, Registry};

/// Bytes of memory that the process has.
fn resident() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").expect("this system has /proc");
    text.split(' ').nth(1).and_then(|pages| pages.parse::<usize>().ok()).expect("a number of pages") * 4096
}

const RANKS: u32 = 1 << 20;

#[test]
fn rows_of_a_million_peers_take_memory_when_they_are_used() {
    let registry = Registry::with_environment([]);
    let before = resident();
    let meters = CommMeters::place(&HeapMemory, "", RANKS);
    meters.bind(&registry, 77).expect("new variables");
    assert_eq!(meters.peers.len(), RANKS as usize);
    let made = resident().saturating_sub(before);
    assert!(made < 4 << 20, "{made} bytes for rows of unused peers");
    for rank in (0..RANKS as usize).step_by(RANKS as usize / 8) {
        meters.peers[rank].messages_sent.incr();
        assert_eq!(meters.peers[rank].messages_sent.get(), 1);
        assert_eq!(meters.peers[rank + 1].messages_sent.get(), 0);
    }
    let used = resident().saturating_sub(before);
    assert!(used < 8 << 20, "{used} bytes for the rows of eight peers");
    meters.unbind(&registry, 77);
    meters.retire(&HeapMemory);
    // Memory that was released is used again, zeroed.
    let again = CommMeters::place(&HeapMemory, "", RANKS);
    assert!(again.peers.iter().step_by(1000).all(|row| row.messages_sent.get() == 0));
    again.retire(&HeapMemory);
}

#[test]
fn memory_of_another_owner_is_not_taken_back() {
    use mpi_t::InstrumentMemory;
    let words = Vec::leak(vec![std::sync::atomic::AtomicU64::new(5)]);
    assert!(!PagesOnDemand.release(words));
    assert_eq!(words[0].load(Ordering::Relaxed), 5);
}
