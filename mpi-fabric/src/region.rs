//! Registered regions: memory that a process opens to its peers, named by a key and an offset.
//!
//! A process registers memory and sends the [`RegionKey`] to its peers in a record. They read and write by key and
//! offset until the [`Registration`] is dropped. A peer in another process copies through the kernel, which checks every
//! address. A peer in the same process (ranks as threads, a rank and itself) reaches registered memory only, so a forged
//! key is an error there and changes nothing.
//! Invariant: a copy within the process touches only memory that is registered while the copy lasts.
//! Not here: the copies between processes (`remote`), the way to each peer (`endpoint`).

use std::fmt;
use std::ptr;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Names a registered region in records. Plain data: a key from a peer may be forged, and is checked where it is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegionKey {
    /// Address of the region in its process.
    address: u64,
    number: u64,
}

impl RegionKey {
    /// Names no region.
    pub const NONE: RegionKey = RegionKey { address: 0, number: 0 };

    /// What the transport of a network needs besides the address; 0 where shared memory is the only way.
    #[inline]
    pub fn number(self) -> u64 {
        self.number
    }

    pub(crate) fn new(address: u64, number: u64) -> RegionKey {
        RegionKey { address, number }
    }

    /// The key as the words that travel in a record.
    #[inline]
    pub fn to_words(self) -> [u64; 2] {
        [self.address, self.number]
    }

    /// The key that travelled as these words.
    #[inline]
    pub fn from_words([address, number]: [u64; 2]) -> RegionKey {
        RegionKey { address, number }
    }

    /// Whether it names no region.
    #[inline]
    pub fn is_none(self) -> bool {
        self == RegionKey::NONE
    }

    pub(crate) fn address(self) -> u64 {
        self.address
    }
}

/// What peers may do with a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// They read it.
    Read,
    /// They read and write it.
    ReadWrite,
}

/// Keeps a region registered until it is dropped. Dropping waits for copies within this process.
#[must_use = "the region ends when this is dropped"]
pub struct Registration {
    guards: Option<Box<dyn Send + Sync>>,
}

impl Registration {
    /// Of no region, or of one whose copies the kernel checks alone.
    pub const NONE: Registration = Registration { guards: None };

    pub(crate) fn new(guards: impl Send + Sync + 'static) -> Registration {
        Registration { guards: Some(Box::new(guards)) }
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Registration({})", if self.guards.is_some() { "in this process" } else { "by the kernel" })
    }
}

/// A copy named memory that no registered region covers, or not for this access.
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
    entries: Vec<Entry>,
    /// World ranks that share this table.
    members: Vec<u32>,
}

struct Entry {
    id: u64,
    start: *mut u8,
    bytes: usize,
    access: Access,
}

// SAFETY: an address of memory that every thread may reach by the contract of `Regions::add`.
unsafe impl Send for Entry {}
// SAFETY: as above; nothing changes through a shared entry without the caller of `add` having allowed it.
unsafe impl Sync for Entry {}

impl Regions {
    /// Adds a rank whose regions stand in this table.
    pub(crate) fn add_member(&self, rank: u32) {
        self.write_table().members.push(rank);
    }

    /// Whether a rank's regions stand in this table.
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
        table.entries.push(Entry { id, start, bytes, access });
        Registered { id, regions: self.clone() }
    }

    /// Copies registered memory from `address` on to `into`.
    pub(crate) fn read(&self, address: u64, into: &mut [u8]) -> Result<(), NotRegistered> {
        let table = self.read_table();
        let from = table.find(address, into.len(), Access::Read)?;
        // SAFETY: the region covers the bytes and stays while the table is locked. A copy that tolerates overlap: a peer
        // may have registered what the caller passes.
        unsafe { ptr::copy(from, into.as_mut_ptr(), into.len()) };
        Ok(())
    }

    /// Copies `data` to registered memory from `address` on.
    pub(crate) fn write(&self, address: u64, data: &[u8]) -> Result<(), NotRegistered> {
        let table = self.read_table();
        let to = table.find(address, data.len(), Access::ReadWrite)?;
        // SAFETY: as in `read`, and the region was registered for writing.
        unsafe { ptr::copy(data.as_ptr(), to, data.len()) };
        Ok(())
    }

    // A panic elsewhere leaves no entry half made.
    fn read_table(&self) -> RwLockReadGuard<'_, Table> {
        self.table.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write_table(&self) -> RwLockWriteGuard<'_, Table> {
        self.table.write().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    /// The pointer to `bytes` bytes at an address, derived from a region that covers them.
    fn find(&self, address: u64, bytes: usize, access: Access) -> Result<*mut u8, NotRegistered> {
        let covering = self.entries.iter().find_map(|entry| {
            let offset = address.checked_sub(entry.start.addr() as u64)?;
            let allowed = access == Access::Read || entry.access == Access::ReadWrite;
            let inside = offset.checked_add(bytes as u64)? <= entry.bytes as u64;
            (allowed && inside).then(|| entry.start.wrapping_add(offset as usize))
        });
        covering.ok_or(NotRegistered)
    }
}

/// One region in the table; dropped, it ends.
pub(crate) struct Registered {
    id: u64,
    regions: Arc<Regions>,
}

impl Drop for Registered {
    fn drop(&mut self) {
        let mut table = self.regions.write_table();
        if let Some(place) = table.entries.iter().position(|entry| entry.id == self.id) {
            table.entries.swap_remove(place);
        }
    }
}

#[cfg(test)]
mod tests {
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
    fn a_key_comes_back_from_its_words() {
        let key = RegionKey::new(0x1234, 9);
        assert_eq!(RegionKey::from_words(key.to_words()), key);
        assert!(!key.is_none() && RegionKey::from_words([0, 0]).is_none());
    }
}
