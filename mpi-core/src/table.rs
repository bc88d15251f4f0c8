//! Handle tables: from a handle word to a live object in a bounds check and one compare.
//!
//! Invariant: a slot's generation changes when its object is removed, so a stale handle is always seen until the
//! generation wraps (2^31 reuses of one slot). Memory of slots is reused, never returned.
//! Not here: predefined objects (their owners keep them), concurrency (tables live in [`crate::Guarded`] cells).

use crate::handle::{GENERATION_MASK, Handle, Kind, MAX_OBJECTS};

/// Objects of one kind, by handle.
#[derive(Debug)]
pub struct Table<T> {
    kind: Kind,
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
    /// Most objects that it takes at once.
    limit: usize,
}

#[derive(Debug)]
struct Slot<T> {
    word: Handle,
    value: Option<T>,
}

/// Why an insertion failed: the table holds as many objects as it takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableFull;

impl<T> Table<T> {
    /// An empty table for objects of `kind`.
    pub const fn new(kind: Kind) -> Self {
        Table::with_limit(kind, MAX_OBJECTS)
    }

    /// An empty table that takes at most `limit` objects at once, and never more than [`MAX_OBJECTS`].
    pub const fn with_limit(kind: Kind, limit: usize) -> Self {
        let limit = if limit < MAX_OBJECTS { limit } else { MAX_OBJECTS };
        Table { kind, slots: Vec::new(), free: Vec::new(), limit }
    }

    /// Whether the table takes one more object.
    #[inline]
    pub fn has_room(&self) -> bool {
        !self.free.is_empty() || self.slots.len() < self.limit
    }

    /// Puts an object in and returns its handle.
    #[inline]
    pub fn insert(&mut self, value: T) -> Result<Handle, TableFull> {
        self.insert_with(|_| value)
    }

    /// Puts in an object that knows its own handle, and returns the handle.
    #[inline]
    pub fn insert_with(&mut self, make: impl FnOnce(Handle) -> T) -> Result<Handle, TableFull> {
        if self.free.is_empty() {
            self.grow()?;
        }
        let index = self.free.pop().expect("the table has just grown");
        let slot = &mut self.slots[index as usize];
        slot.value = Some(make(slot.word));
        Ok(slot.word)
    }

    /// Adds a free slot.
    #[cold]
    fn grow(&mut self) -> Result<(), TableFull> {
        if self.slots.len() >= self.limit {
            return Err(TableFull);
        }
        let index = self.slots.len() as u32;
        self.slots.push(Slot { word: Handle::pack(self.kind, index, 1), value: None });
        self.free.push(index);
        Ok(())
    }

    /// A handle for an object that is not there yet: [`Table::fill`] puts it in, and until then the handle names none.
    pub fn reserve(&mut self) -> Result<Handle, TableFull> {
        if let Some(index) = self.free.pop() {
            return Ok(self.slots[index as usize].word);
        }
        if self.slots.len() >= self.limit {
            return Err(TableFull);
        }
        let word = Handle::pack(self.kind, self.slots.len() as u32, 1);
        self.slots.push(Slot { word, value: None });
        Ok(word)
    }

    /// Puts in the object of a handle from [`Table::reserve`]; false, and nothing is changed, for any other handle.
    pub fn fill(&mut self, reserved: Handle, value: T) -> bool {
        let index = reserved.index();
        match self.slots.get_mut(index as usize) {
            Some(slot) if slot.word == reserved && slot.value.is_none() => {
                debug_assert!(!self.free.contains(&index), "nobody was given this handle");
                slot.value = Some(value);
                true
            }
            _ => false,
        }
    }

    /// Takes back a handle from [`Table::reserve`] that was not filled; any other is left alone.
    pub fn give_back(&mut self, reserved: Handle) {
        let index = reserved.index();
        if self.slots.get(index as usize).is_some_and(|slot| slot.word == reserved && slot.value.is_none()) {
            debug_assert!(!self.free.contains(&index), "nobody was given this handle");
            self.free.push(index);
        }
    }

    /// The object a handle names, or `None` for a null, stale, forged or wrong-kind handle.
    #[inline]
    pub fn get(&self, handle: Handle) -> Option<&T> {
        let slot = self.slots.get(handle.index() as usize)?;
        if slot.word != handle {
            return None;
        }
        slot.value.as_ref()
    }

    /// As [`Table::get`], for changing the object.
    #[inline]
    pub fn get_mut(&mut self, handle: Handle) -> Option<&mut T> {
        let slot = self.slots.get_mut(handle.index() as usize)?;
        if slot.word != handle {
            return None;
        }
        slot.value.as_mut()
    }

    /// Takes the object out; the handle and all its copies are stale from here on.
    #[inline]
    pub fn remove(&mut self, handle: Handle) -> Option<T> {
        let slot = self.slots.get_mut(handle.index() as usize)?;
        if slot.word != handle {
            return None;
        }
        let value = slot.value.take()?;
        // Generation 0 is skipped, so that a zeroed word with the right kind never matches.
        let next = (handle.generation() & GENERATION_MASK).wrapping_add(1) & GENERATION_MASK;
        slot.word = Handle::pack(self.kind, handle.index(), next.max(1));
        self.free.push(handle.index());
        Some(value)
    }

    /// Whether the handle was once given out by this table and has been freed since.
    pub fn was_freed(&self, handle: Handle) -> bool {
        handle.kind() == Some(self.kind)
            && self.slots.get(handle.index() as usize).is_some_and(|slot| {
                handle.generation() != 0
                    && (handle.generation() < slot.word.generation() || slot.word == handle && slot.value.is_none())
            })
    }

    /// Number of live objects.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether no object is live.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All live objects with their handles, in slot order.
    pub fn iter(&self) -> impl Iterator<Item = (Handle, &T)> {
        self.slots.iter().filter_map(|slot| Some((slot.word, slot.value.as_ref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_freed_handle_is_stale_even_after_its_slot_is_reused() {
        let mut table = Table::new(Kind::Request);
        let first = table.insert('a').expect("room");
        assert_eq!(table.remove(first), Some('a'));
        let second = table.insert('b').expect("room");
        assert_eq!(second.index(), first.index());
        assert_eq!((table.get(first), table.get(second)), (None, Some(&'b')));
        assert_eq!(table.remove(first), None);
        assert!(table.was_freed(first) && !table.was_freed(second));
    }

    #[test]
    fn a_reserved_handle_names_nothing_until_it_is_filled_once() {
        let mut table = Table::new(Kind::Comm);
        let reserved = table.reserve().expect("room");
        let other = table.insert('x').expect("room");
        assert!(reserved != other && table.get(reserved).is_none() && table.remove(reserved).is_none());
        assert!(table.fill(reserved, 'y') && !table.fill(reserved, 'z') && !table.fill(other, 'z'));
        table.give_back(reserved);
        assert_eq!(table.get(reserved), Some(&'y'));
        assert_eq!(table.remove(reserved), Some('y'));
        let again = table.reserve().expect("room");
        table.give_back(again);
        assert_eq!(table.reserve(), Ok(again));
        assert!(again != reserved && !table.fill(reserved, 'z') && table.fill(again, 'z'));
    }

    #[test]
    fn no_word_reaches_an_object_but_its_own_handle() {
        let mut table = Table::new(Kind::Comm);
        let live = table.insert(7).expect("room");
        for word in [0, 1, 4095, 4096, live.0 ^ 1, live.0 ^ (1 << 30), live.0 ^ (1 << 57), usize::MAX, live.0 | 1 << 63]
        {
            assert_eq!(table.get(Handle(word)), None, "{word:#x}");
        }
        assert_eq!(table.len(), 1);
    }
}
