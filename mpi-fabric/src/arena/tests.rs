//! Blocks of an arena, the memory that freed ones keep, and children of `fork`.

use super::*;

fn arena() -> Arena {
    Arena::new(ProcessId { job: 5, rank: 1 }).expect("this host does not overcommit strictly")
}

/// The whole pages of a block that have memory.
fn resident(address: usize, bytes: usize) -> usize {
    let mut pages = vec![0u8; bytes / PAGE];
    // SAFETY: the block is mapped, and there is a byte for each of its pages.
    assert_eq!(unsafe { libc::mincore(std::ptr::with_exposed_provenance_mut(address), bytes, pages.as_mut_ptr()) }, 0);
    pages.iter().filter(|page| *page & 1 != 0).count()
}

fn fill(address: usize, bytes: usize, value: u8) {
    // SAFETY: a block of the arena, which this test alone uses.
    unsafe { std::ptr::with_exposed_provenance_mut::<u8>(address).write_bytes(value, bytes) };
}

#[test]
fn blocks_are_apart_aligned_and_found_by_their_addresses() {
    let mut arena = arena();
    let mut blocks = Vec::new();
    for (bytes, alignment) in
        [(1, 1), (65_536, 16), (70_000, 1 << 16), (1 << 20, 1 << 21), (100, 1 << 30), (9 << 20, 1)]
    {
        let address = arena.allocate(bytes, alignment).expect("memory");
        assert!(address.is_multiple_of(alignment) && address.is_multiple_of(PAGE));
        assert!(blocks.iter().all(|&(other, length)| other + length <= address || address + bytes as usize <= other));
        fill(address, bytes as usize, 7);
        // SAFETY: just written.
        let memory = unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(address), bytes as usize) };
        let (number, _) = shared_objects::place_of(memory).expect("in a segment");
        assert!(shared_objects::is_segment(number) && identity_of(descriptor_of(number)).is_some());
        blocks.push((address, bytes as usize));
    }
    for (address, bytes) in blocks {
        // SAFETY: allocated above, freed once.
        unsafe { arena.free(address, bytes as u64) };
    }
    assert!(arena.allocate(0, 1).is_none() && arena.allocate(u64::MAX, 1).is_none());
    assert!(arena.allocate(host_memory() + 1, 1).is_none());
}

#[test]
fn a_freed_block_keeps_no_memory_and_its_addresses_serve_others() {
    let mut arena = arena();
    let long = 48 << 20;
    let first = arena.allocate(long, 1).expect("memory");
    fill(first, long as usize, 1);
    assert_eq!(resident(first, long as usize), long as usize / PAGE);
    // SAFETY: allocated above, freed once.
    unsafe { arena.free(first, long) };
    assert_eq!(resident(first, long as usize), 0, "longer than what is kept");
    assert_eq!(arena.allocate(long, 1), Some(first));
    // The last freed blocks keep their pages for others of their size, the earlier ones do not.
    let blocks: Vec<_> = (0..2 * KEPT).map(|_| arena.allocate(1 << 16, 1).expect("memory")).collect();
    for &block in &blocks {
        fill(block, 1 << 16, 2);
        // SAFETY: allocated above, freed once.
        unsafe { arena.free(block, 1 << 16) };
    }
    let with_memory = blocks.iter().filter(|block| resident(**block, 1 << 16) > 0).count();
    assert_eq!((with_memory, arena.kept.len()), (KEPT, KEPT));
    assert_eq!(arena.allocate(1 << 16, 1), blocks.last().copied());
    // What is kept is found when nothing else is left of the segment, so that no second one is made.
    // SAFETY: allocated above, freed once.
    unsafe { arena.free(blocks[2 * KEPT - 1], 1 << 16) };
    let rest = FIRST_SEGMENT - long as usize;
    assert!(arena.allocate(rest as u64, 1).is_some() && arena.segments.len() == 1 && arena.kept.is_empty());
    assert!(arena.allocate(1, 1).is_some() && arena.segments.len() == 2);
}

#[test]
fn what_a_child_of_fork_writes_stays_in_the_child() {
    let mut arena = arena();
    let block = arena.allocate(1 << 16, 1).expect("memory");
    fill(block, 1 << 16, 3);
    let byte = std::ptr::with_exposed_provenance_mut::<u8>(block);
    // SAFETY: the child makes no call but to end; the block is this test's.
    unsafe {
        let child = libc::fork();
        if child == 0 {
            let seen = byte.read_volatile();
            byte.write_volatile(9);
            libc::_exit(i32::from(seen) * 16 + i32::from(byte.read_volatile()));
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(child, &mut status, 0), child);
        assert!(libc::WIFEXITED(status));
        assert_eq!((libc::WEXITSTATUS(status), byte.read_volatile()), (3 * 16 + 9, 3));
    }
}
