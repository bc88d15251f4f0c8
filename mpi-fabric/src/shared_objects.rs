//! The shared memory that this process has mapped: found by an address, or by the number of its object.
//!
//! A process sends the number of an object and an offset in it; another process that has mapped the object copies from its
//! own mapping.
//! Invariant: a mapping is in the table from when it was made until its [`SharedMemory`](crate::SharedMemory) is dropped.
//! Not here: the objects (`shared`), copies (`endpoint::copier`).

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use crate::layout::PAGE;
use crate::mapping::Mapping;
use crate::os::random_id;

struct Entry {
    object: u64,
    mapping: Arc<Mapping>,
}

static TABLE: RwLock<Vec<Entry>> = RwLock::new(Vec::new());

/// Number of entries, so that a process without shared memory takes no lock.
static ENTRIES: AtomicUsize = AtomicUsize::new(0);

/// Set in the number of a segment of an arena, and in that of no other object.
pub(crate) const SEGMENT: u64 = 1 << 63;

/// Whether this is the number of a segment of an arena.
pub(crate) fn is_segment(number: u64) -> bool {
    number & SEGMENT != 0
}

/// A number for a new object that no other object of this host has: a random one, because processes of one job may have the
/// same process id in different namespaces. Segments of arenas have numbers of another kind (`arena`).
pub(crate) fn new_number() -> u64 {
    random_id() & !SEGMENT
}

pub(crate) fn add(object: u64, mapping: &Arc<Mapping>) {
    let mut table = write();
    table.push(Entry { object, mapping: mapping.clone() });
    ENTRIES.store(table.len(), Ordering::Relaxed);
}

pub(crate) fn remove(mapping: &Arc<Mapping>) {
    let mut table = write();
    table.retain(|entry| !Arc::ptr_eq(&entry.mapping, mapping));
    ENTRIES.store(table.len(), Ordering::Relaxed);
}

/// The object in whose memory all of these bytes lie, and their offset there.
pub(crate) fn place_of(memory: &[u8]) -> Option<(u64, u64)> {
    // Relaxed: a thread that uses the memory has seen it in the table.
    if ENTRIES.load(Ordering::Relaxed) == 0 {
        return None;
    }
    read().iter().find_map(|entry| {
        let first = entry.mapping.at(PAGE, 0).as_ptr().addr();
        let offset = memory.as_ptr().addr().checked_sub(first)?;
        let end = offset.checked_add(memory.len())?;
        (end <= entry.mapping.bytes() - PAGE).then_some((entry.object, offset as u64))
    })
}

/// The mapping of an object, if this process has one with `bytes` bytes at an offset.
pub(crate) fn mapping_of(object: u64, offset: u64, bytes: u64) -> Option<Arc<Mapping>> {
    let table = read();
    let entry = table.iter().find(|entry| entry.object == object)?;
    let fits = offset.checked_add(bytes)? <= (entry.mapping.bytes() - PAGE) as u64;
    fits.then(|| entry.mapping.clone())
}

// A panic elsewhere leaves every entry complete.
fn read() -> RwLockReadGuard<'static, Vec<Entry>> {
    TABLE.read().unwrap_or_else(PoisonError::into_inner)
}

fn write() -> RwLockWriteGuard<'static, Vec<Entry>> {
    TABLE.write().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SharedMemory;

    #[test]
    fn numbers_of_objects_have_nothing_in_common_and_are_none_of_segments() {
        let numbers = [(); 4].map(|()| new_number());
        assert!(numbers.iter().all(|number| !is_segment(*number)));
        // Nothing that processes with the same id would have, too.
        assert!(
            numbers.windows(2).all(|two| two[0] >> 32 != two[1] >> 32 && two[0] as u32 != two[1] as u32),
            "{numbers:x?}"
        );
    }

    #[test]
    fn memory_is_found_by_address_and_by_number_while_it_is_mapped() {
        let memory = SharedMemory::create(10_000, 1234).expect("memory");
        let address = memory.address();
        let part = |offset: usize, bytes| {
            // SAFETY: only the address and the length are used.
            unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance::<u8>(address + offset), bytes) }
        };
        let (object, offset) = place_of(part(100, 9_900)).expect("inside");
        assert_eq!((offset, place_of(part(0, 10_000))), (100, Some((object, 0))));
        assert_eq!([place_of(part(101, 9_900)), place_of(&[1])], [None; 2]);
        assert!(mapping_of(object, 100, 9_900).is_some());
        assert!(mapping_of(object, 101, 9_900).is_none() && mapping_of(object, u64::MAX, 2).is_none());
        let other = SharedMemory::create(10_000, 1234).expect("memory");
        assert!(mapping_of(object, 0, 1).is_some_and(|found| found.at(PAGE, 0).as_ptr().addr() == address));
        drop(memory);
        assert!(mapping_of(object, 0, 1).is_none() && place_of(part(0, 1)).is_none());
        drop(other);
    }
}
