//! Registered regions: memory that peers may access, identified by a key and an offset.
//!
//! A process registers memory and sends the [`RegionKey`] to its peers in a record. They read and write by key and
//! offset until the [`Registration`] is dropped. A peer in another process copies through the kernel, which checks
//! every address. A peer in the same process (ranks as threads, a rank and itself) reaches registered memory only, so a
//! forged key is an error there and changes nothing.
//! Invariant: a copy within the process touches only memory that is registered while the copy lasts. No copy keeps
//! other threads from registering memory.
//! Not here: the copies between processes (`remote`), the way to each peer (`endpoint`).

use std::fmt;
use std::ptr;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Identifies a registered region in records. Plain data: a key from a peer may be forged, and is checked where it is
/// used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionKey {
    /// Address of the region in its process.
    address: u64,
    number: u64,
}

impl RegionKey {
    /// Identifies no region.
    pub const NONE: RegionKey = RegionKey { address: 0, number: 0 };

    /// The number of memory that the transport of a network could not register.
    pub const NOT_REGISTERED: u64 = u64::MAX;

    /// What the transport of a network needs besides the address; 0 where shared memory is the only way.
    #[inline]
    pub fn number(self) -> u64 {
        self.number
    }

    pub(crate) fn new(address: u64, number: u64) -> RegionKey {
        RegionKey { address, number }
    }

    /// The key as words for a record.
    #[inline]
    pub fn to_words(self) -> [u64; 2] {
        [self.address, self.number]
    }

    /// The key from the words of a record.
    #[inline]
    pub fn from_words([address, number]: [u64; 2]) -> RegionKey {
        RegionKey { address, number }
    }

    /// Whether it identifies no region: there is none, or a network could not register its memory.
    #[inline]
    pub fn is_none(self) -> bool {
        self == RegionKey::NONE || self.number == RegionKey::NOT_REGISTERED
    }

    pub(crate) fn address(self) -> u64 {
        self.address
    }
}

/// How peers may access a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Peers read it.
    Read,
    /// Peers read and write it.
    ReadWrite,
}

/// Keeps a region registered until it is dropped. Dropping waits for copies within this process.
#[must_use = "the region ends when this is dropped"]
pub struct Registration {
    guards: Option<Box<dyn Send + Sync>>,
}

impl Registration {
    /// `None` for no region, or for one whose copies only the kernel checks.
    pub const NONE: Registration = Registration { guards: None };

    /// Drops `guards` when the registration ends; for a [`Transport`](crate::Transport).
    pub fn new(guards: impl Send + Sync + 'static) -> Registration {
        Registration { guards: Some(Box::new(guards)) }
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Registration({})", if self.guards.is_some() { "in this process" } else { "by the kernel" })
    }
}

/// The bytes of a copy are in no registered region, or the region does not permit the access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotRegistered;

/// The regions that ranks of one process have registered for each other.
#[derive(Default)]
pub(crate) struct Regions {
    table: RwLock<Table>,
}

#[derive(Default)]
struct Table {
    next_id: u64,
    entries: Vec<Arc<Entry>>,
    /// World ranks that share this table.
    members: Vec<u32>,
}

struct Entry {
    id: u64,
    start: *mut u8,
    bytes: usize,
    access: Access,
    /// Held for reading by each copy of the region, and for writing when the region ends.
    in_use: RwLock<()>,
}

// SAFETY: an address of memory that every thread may reach by the contract of `Regions::add`.
unsafe impl Send for Entry {}
// SAFETY: as above; nothing changes through a shared entry without the caller of `add` having allowed it.
unsafe impl Sync for Entry {}

impl Regions {
    /// Adds a rank whose regions are in this table.
    pub(crate) fn add_member(&self, rank: u32) {
        self.write_table().members.push(rank);
    }

    /// Whether a rank's regions are in this table.
    pub(crate) fn has_member(&self, rank: u32) -> bool {
        self.read_table().members.contains(&rank)
    }

    /// Registers memory until the result is dropped.
    ///
    /// # Safety
    /// Until then `start..start + bytes` is readable; with [`Access::ReadWrite`] it is writable, and all other code
    /// that uses it meanwhile expects it to change.
    pub(crate) unsafe fn add(self: &Arc<Regions>, start: *mut u8, bytes: usize, access: Access) -> Registered {
        let mut table = self.write_table();
        let id = table.next_id;
        table.next_id += 1;
        table.entries.push(Arc::new(Entry { id, start, bytes, access, in_use: RwLock::new(()) }));
        Registered { id, regions: self.clone() }
    }

    /// Copies registered memory from `address` on to `into`.
    pub(crate) fn read(&self, address: u64, into: &mut [u8]) -> Result<(), NotRegistered> {
        let bytes = into.len();
        // SAFETY: the region covers the bytes and stays while the copy lasts. A copy that tolerates overlap: a peer may
        // have registered what the caller passes.
        self.with(address, bytes, Access::Read, |from| unsafe { ptr::copy(from, into.as_mut_ptr(), bytes) })
    }

    /// Copies `data` to registered memory from `address` on.
    pub(crate) fn write(&self, address: u64, data: &[u8]) -> Result<(), NotRegistered> {
        // SAFETY: as in `read`, and the region was registered for writing.
        self.with(address, data.len(), Access::ReadWrite, |to| unsafe { ptr::copy(data.as_ptr(), to, data.len()) })
    }

    /// Runs `copy` on the pointer to `bytes` bytes at an address. The region stays until `copy` returns, and the table
    /// is free for others meanwhile.
    fn with(
        &self,
        address: u64,
        bytes: usize,
        access: Access,
        copy: impl FnOnce(*mut u8),
    ) -> Result<(), NotRegistered> {
        let table = self.read_table();
        let (entry, at) = table.find(address, bytes, access)?;
        let entry = entry.clone();
        // Never waits: the region ends only after it has left the table, which is locked here.
        let in_use = entry.in_use.read().unwrap_or_else(PoisonError::into_inner);
        drop(table);
        copy(at);
        drop(in_use);
        Ok(())
    }

    // A panic elsewhere leaves every entry complete.
    fn read_table(&self) -> RwLockReadGuard<'_, Table> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_table(&self) -> RwLockWriteGuard<'_, Table> {
        self.table.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// A region that covers `bytes` bytes at an address, and the pointer to them.
    fn find(&self, address: u64, bytes: usize, access: Access) -> Result<(&Arc<Entry>, *mut u8), NotRegistered> {
        let covering = self.entries.iter().find_map(|entry| {
            let offset = address.checked_sub(entry.start.addr() as u64)?;
            let allowed = access == Access::Read || entry.access == Access::ReadWrite;
            let inside = offset.checked_add(bytes as u64)? <= entry.bytes as u64;
            (allowed && inside).then(|| (entry, entry.start.wrapping_add(offset as usize)))
        });
        covering.ok_or(NotRegistered)
    }
}

/// One region in the table; dropping it ends the registration.
pub(crate) struct Registered {
    id: u64,
    regions: Arc<Regions>,
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut table = self.regions.write_table();
        let place = table.entries.iter().position(|entry| entry.id == self.id);
        let ended = place.map(|place| table.entries.swap_remove(place));
        drop(table);
        if let Some(ended) = ended {
            // Copies that found the region before it left the table.
            drop(ended.in_use.write().unwrap_or_else(PoisonError::into_inner));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;

    #[test]
    fn copies_reach_registered_memory_only_and_only_while_it_is() {
        let regions = Arc::new(Regions::default());
        let mut memory = [1u8, 2, 3, 4];
        let start = memory.as_mut_ptr();
        let address = start.addr() as u64;
        let mut out = [0u8; 2];
        assert_eq!(regions.read(address, &mut out), Err(NotRegistered));
        // SAFETY: `memory` outlives both registrations and is not used meanwhile.
        let readable = unsafe { regions.add(start, 4, Access::Read) };
        assert_eq!((regions.read(address + 2, &mut out), out), (Ok(()), [3, 4]));
        assert_eq!(regions.read(address + 3, &mut out), Err(NotRegistered));
        assert_eq!(regions.read(address - 1, &mut out), Err(NotRegistered));
        assert_eq!(regions.read(u64::MAX, &mut out), Err(NotRegistered));
        assert_eq!(regions.write(address, &[9]), Err(NotRegistered));
        // SAFETY: as above.
        let writable = unsafe { regions.add(start, 2, Access::ReadWrite) };
        assert_eq!(regions.write(address + 1, &[8]), Ok(()));
        assert_eq!(regions.write(address + 1, &[8, 8]), Err(NotRegistered));
        drop(writable);
        assert_eq!(regions.write(address, &[7]), Err(NotRegistered));
        drop(readable);
        assert_eq!(regions.read(address, &mut out), Err(NotRegistered));
        assert_eq!(memory, [1, 8, 3, 4]);
    }

    #[test]
    fn a_copy_holds_up_the_end_of_its_region_and_nothing_else() {
        let regions = Arc::new(Regions::default());
        let mut memory = [1u8; 8];
        let (start, copied) = (memory.as_mut_ptr(), std::sync::atomic::AtomicBool::new(false));
        let address = start.addr() as u64;
        // SAFETY: `memory` outlives the registration and is not used meanwhile.
        let region = unsafe { regions.add(start, 8, Access::Read) };
        std::thread::scope(|scope| {
            let copy = regions.with(address, 8, Access::Read, |_| {
                scope.spawn(|| {
                    drop(region);
                    assert!(copied.load(Ordering::SeqCst), "the region ended while it was being copied");
                });
                while regions.read(address, &mut [0]).is_ok() {
                    std::thread::yield_now();
                }
                // The region has left the table, and its end waits; others come and go.
                let mut other = [2u8; 4];
                let start = other.as_mut_ptr();
                // SAFETY: `other` outlives the registration and is not used meanwhile.
                let _other = unsafe { regions.add(start, 4, Access::Read) };
                let mut byte = [0];
                assert_eq!((regions.read(start.addr() as u64, &mut byte), byte), (Ok(()), [2]));
                copied.store(true, Ordering::SeqCst);
            });
            assert_eq!(copy, Ok(()));
        });
    }

    #[test]
    fn a_key_comes_back_from_its_words() {
        let key = RegionKey::new(0x1234, 9);
        assert_eq!(RegionKey::from_words(key.to_words()), key);
        assert!(!key.is_none() && RegionKey::from_words([0, 0]).is_none());
        assert!(RegionKey::from_words([1, RegionKey::NOT_REGISTERED]).is_none());
    }
}
