//! A table of items by even ids: open addressing, with the id beside the item, so that a look-up of an id that is in its
//! first place is one compare. Ids given out in order are.
//!
//! Invariants: the number of places is a power of two, of which at most one half is used; ids in the table are even and
//! unique. A place has an item exactly if its id is not [`NONE`].
#![allow(unsafe_code)] // the look-up of each message needs no bounds check: the mask keeps the place inside

use std::mem::offset_of;

/// The id of an empty place: odd, so no look-up finds it.
const NONE: u32 = u32::MAX;
/// Places of an empty table.
const FIRST: usize = 8;

#[derive(Debug)]
struct Place<T> {
    id: u32,
    /// In a box, so that places are small.
    item: Option<Box<T>>,
}

impl<T> Place<T> {
    const fn empty() -> Place<T> {
        Place { id: NONE, item: None }
    }
}

impl<T> IdTable<T> {
    /// Offset of the table's slice of places; for readers outside, as all here.
    pub const PLACES: usize = offset_of!(IdTable<T>, places);
    pub const PLACE_BYTES: usize = size_of::<Place<T>>();
    pub const PLACE_ID: usize = offset_of!(Place<T>, id);
    pub const PLACE_ITEM: usize = offset_of!(Place<T>, item);
}

/// Items by id.
#[derive(Debug)]
pub(crate) struct IdTable<T> {
    places: Box<[Place<T>]>,
    /// One less than the number of places.
    mask: usize,
    live: usize,
}

impl<T> IdTable<T> {
    pub fn new() -> IdTable<T> {
        IdTable { places: (0..FIRST).map(|_| Place::empty()).collect(), mask: FIRST - 1, live: 0 }
    }

    /// The place that is first of those where a look-up for this id looks.
    #[inline(always)]
    fn home(&self, id: u32) -> usize {
        (id >> 1) as usize & self.mask
    }

    #[inline(always)]
    fn place(&self, at: usize) -> &Place<T> {
        debug_assert!(self.places.len() == self.mask + 1);
        // SAFETY: there are `mask + 1` places, a power of two.
        unsafe { self.places.get_unchecked(at & self.mask) }
    }

    /// The item with this id or the id beside it.
    #[inline(always)]
    pub fn get(&self, id: u32) -> Option<&T> {
        let place = self.place(self.home(id));
        if place.id != id & !1 {
            return self.further(id);
        }
        // SAFETY: the id is even, so the place has an item.
        Some(unsafe { place.item.as_deref().unwrap_unchecked() })
    }

    /// The item with this even id, if it is in the first place where a look-up looks; `None` for every odd id.
    #[inline(always)]
    pub fn get_first(&self, id: u32) -> Option<&T> {
        let place = self.place(self.home(id));
        if id & 1 != 0 || place.id != id {
            return None;
        }
        // SAFETY: the id is even, so the place has an item.
        Some(unsafe { place.item.as_deref().unwrap_unchecked() })
    }

    /// As [`IdTable::get`], for changing it.
    #[inline(always)]
    pub fn get_mut(&mut self, id: u32) -> Option<&mut T> {
        let home = self.home(id);
        if self.place(home).id != id & !1 {
            let at = self.position(id)?;
            return self.places[at].item.as_deref_mut();
        }
        // SAFETY: `home` is below the number of places; the id is even, so the place has an item.
        Some(unsafe { self.places.get_unchecked_mut(home).item.as_deref_mut().unwrap_unchecked() })
    }

    #[inline(never)]
    fn further(&self, id: u32) -> Option<&T> {
        self.places[self.position(id)?].item.as_deref()
    }

    #[inline(never)]
    fn position(&self, id: u32) -> Option<usize> {
        let mut at = self.home(id);
        while self.place(at).id != NONE {
            if self.place(at).id == id & !1 {
                return Some(at);
            }
            at = (at + 1) & self.mask;
        }
        None
    }

    /// Adds an item with an even id that is not in the table.
    pub fn insert(&mut self, id: u32, item: Box<T>) {
        debug_assert!(id.is_multiple_of(2) && self.get(id).is_none());
        if (self.live + 1) * 2 > self.places.len() {
            let doubled: Box<[Place<T>]> = (0..self.places.len() * 2).map(|_| Place::empty()).collect();
            self.mask = doubled.len() - 1;
            self.live = 0;
            let old = std::mem::replace(&mut self.places, doubled);
            old.into_iter().for_each(|place| self.put(place));
        }
        self.put(Place { id, item: Some(item) });
    }

    /// Puts an item where a look-up finds it; does nothing for an empty place.
    fn put(&mut self, place: Place<T>) {
        if place.id == NONE {
            return;
        }
        let mut at = self.home(place.id);
        while self.place(at).id != NONE {
            at = (at + 1) & self.mask;
        }
        self.places[at] = place;
        self.live += 1;
    }

    /// Removes the item with this id.
    pub fn remove(&mut self, id: u32) -> Option<Box<T>> {
        let at = self.position(id)?;
        let removed = std::mem::replace(&mut self.places[at], Place::empty());
        self.live -= 1;
        // Items that probed past the hole move back to where a look-up finds them.
        let mut next = (at + 1) & self.mask;
        while self.place(next).id != NONE {
            let moved = std::mem::replace(&mut self.places[next], Place::empty());
            self.live -= 1;
            self.put(moved);
            next = (next + 1) & self.mask;
        }
        removed.item
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_live_item_is_found_after_any_removals() {
        for step in [2, 16, 1 << 20] {
            let mut table = IdTable::new();
            let ids: Vec<u32> = (0..200).map(|n| n * step).collect();
            ids.iter().for_each(|id| table.insert(*id, Box::new(*id)));
            for removed in (0..200).step_by(3) {
                assert_eq!(table.remove(ids[removed]).as_deref(), Some(&ids[removed]));
                assert!(table.remove(ids[removed]).is_none());
            }
            for (n, id) in ids.iter().enumerate() {
                let found = (n % 3 != 0).then_some(*id);
                assert_eq!((table.get(*id).copied(), table.get(*id + 1).copied()), (found, found));
                assert_eq!(table.get_mut(*id).copied(), found);
                let first = table.get_first(*id).copied();
                assert!(
                    first == found || first.is_none() && table.home(*id) != table.position(*id).expect("it is there")
                );
                assert!(table.get_first(*id + 1).is_none());
            }
            assert!(
                table.get_first(u32::MAX).is_none()
                    && table.get(u32::MAX).is_none()
                    && table.get_mut(u32::MAX - 1).is_none()
            );
        }
    }
}
