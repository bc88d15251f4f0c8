//! Handle tables: a look-up from a handle to a live object is a bounds check and one compare.
//!
//! Invariant: a slot's generation grows when its object is removed, and a slot with the last generation is not used
//! again, so a stale handle is always detected. Memory of slots is reused, never freed. Each place in `free` is one of a slot.
//!
//! A Fortran handle has only the low bits of the generation ([`handle`](crate::handle)). Each time these bits wrap
//! around, the slot rests (is not reused) until 1,024 slots rest. So a Fortran handle of a freed object names another
//! object at the earliest after half a million objects of its kind have been freed.
//! Not here: predefined objects (stored by their owners), concurrency (tables are in [`crate::Guarded`] cells).
#![allow(unsafe_code)] // finds the free slot of a new object without a bounds check, and stores without reading it

use std::collections::VecDeque;
use std::mem::offset_of;

use crate::handle::{
    FIRST_DYNAMIC, FORTRAN_GENERATION_BITS, GENERATION_MASK, Handle, Kind, MAX_OBJECTS, NEXT_GENERATION, fortran_prefix,
};

/// Number of resting slots at which the first of them is reused.
const RESTING: usize = 1024;

/// Objects of one kind, by handle.
#[derive(Debug)]
pub struct Table<T> {
    kind: Kind,
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
    /// Slots whose short generations have wrapped around, longest-resting first.
    resting: VecDeque<u32>,
    /// Number of slots whose generations are used up.
    retired: usize,
    /// The largest number of objects at a time.
    limit: usize,
}

#[derive(Debug)]
struct Slot<T> {
    word: Handle,
    value: Option<T>,
}

/// The error of an insertion into a full table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("there are too many objects of this kind, and there is no handle for another one")]
pub struct TableFull;

impl<T> Table<T> {
    /// Offset of the vector of slots: for readers in other processes, as the next three.
    pub const SLOTS: usize = offset_of!(Table<T>, slots);
    /// Length of a slot in bytes.
    pub const SLOT_BYTES: usize = size_of::<Slot<T>>();
    /// Offset of the handle in a slot.
    pub const SLOT_WORD: usize = offset_of!(Slot<T>, word);
    /// Offset of the optional value in a slot.
    pub const SLOT_VALUE: usize = offset_of!(Slot<T>, value);

    /// An empty table for objects of `kind`.
    pub const fn new(kind: Kind) -> Self {
        Table::with_limit(kind, MAX_OBJECTS)
    }

    /// An empty table for at most `limit` objects at a time, and never more than [`MAX_OBJECTS`].
    pub const fn with_limit(kind: Kind, limit: usize) -> Self {
        let limit = if limit < MAX_OBJECTS { limit } else { MAX_OBJECTS };
        Table { kind, slots: Vec::new(), free: Vec::new(), resting: VecDeque::new(), retired: 0, limit }
    }

    /// Whether the table has room for one more object.
    #[inline]
    pub fn has_room(&self) -> bool {
        !self.free.is_empty() || !self.resting.is_empty() || self.may_grow()
    }

    /// Inserts an object and returns its handle.
    #[inline(always)] // requests of short messages
    pub fn insert(&mut self, value: T) -> Result<Handle, TableFull> {
        self.insert_with(|_| value)
    }

    /// Inserts an object that is made from its own handle, and returns the handle.
    #[inline(always)] // requests of short messages; the object is made in its slot
    pub fn insert_with(&mut self, make: impl FnOnce(Handle) -> T) -> Result<Handle, TableFull> {
        if self.free.is_empty() {
            self.grow()?;
        }
        let index = self.free.pop().expect("the table has just grown");
        let slot = &mut self.slots[index as usize];
        let value = Some(make(slot.word));
        // SAFETY: the place is valid for writes. A free slot has no value, so nothing is left without its drop.
        unsafe { std::ptr::write(&mut slot.value, value) };
        Ok(slot.word)
    }

    /// As [`Table::insert`], if a slot is free already; `None`: nothing has happened.
    #[inline(always)] // requests of short messages
    pub fn insert_if_free(&mut self, value: T) -> Option<Handle> {
        let index = self.free.pop()?;
        // SAFETY: `free` has places of slots only, and no slot is ever removed.
        let slot = unsafe { self.slots.get_unchecked_mut(index as usize) };
        // SAFETY: the place is valid for writes. A free slot has no value, so nothing is left without its drop.
        unsafe { std::ptr::write(&mut slot.value, Some(value)) };
        Some(slot.word)
    }

    /// Whether the table may add a slot. Slots that are never reused do not count towards the limit.
    fn may_grow(&self) -> bool {
        self.slots.len() - self.retired < self.limit && self.slots.len() < MAX_OBJECTS
    }

    /// Adds a free slot.
    #[cold]
    fn grow(&mut self) -> Result<(), TableFull> {
        if !self.may_grow() {
            let longest = self.resting.pop_front().ok_or(TableFull)?;
            self.free.push(longest);
            return Ok(());
        }
        let index = self.slots.len() as u32;
        self.slots.push(Slot { word: Handle::pack(self.kind, index, 1), value: None });
        self.free.push(index);
        Ok(())
    }

    /// Reserves a handle for an object that [`Table::fill`] inserts later; until then the handle names no object.
    pub fn reserve(&mut self) -> Result<Handle, TableFull> {
        if self.free.is_empty() {
            self.grow()?;
        }
        let index = self.free.pop().expect("the table has just grown");
        Ok(self.slots[index as usize].word)
    }

    /// Inserts the object of a handle from [`Table::reserve`]; for any other handle returns false and changes nothing.
    pub fn fill(&mut self, reserved: Handle, value: T) -> bool {
        let index = reserved.index();
        match self.slots.get_mut(index as usize) {
            Some(slot) if slot.word == reserved && slot.value.is_none() => {
                debug_assert!(!self.free.contains(&index), "no caller has this handle");
                slot.value = Some(value);
                true
            }
            _ => false,
        }
    }

    /// Frees a handle from [`Table::reserve`] that was not filled; does nothing for any other handle.
    pub fn give_back(&mut self, reserved: Handle) {
        let index = reserved.index();
        if self.slots.get(index as usize).is_some_and(|slot| slot.word == reserved && slot.value.is_none()) {
            debug_assert!(!self.free.contains(&index), "no caller has this handle");
            self.free.push(index);
        }
    }

    /// The object that a handle names, or `None` for a null, stale, forged or wrong-kind handle.
    #[inline]
    pub fn get(&self, handle: Handle) -> Option<&T> {
        let slot = self.slots.get(handle.index() as usize)?;
        if slot.word != handle {
            return None;
        }
        slot.value.as_ref()
    }

    /// As [`Table::get`], with a mutable reference.
    #[inline]
    pub fn get_mut(&mut self, handle: Handle) -> Option<&mut T> {
        let slot = self.slots.get_mut(handle.index() as usize)?;
        if slot.word != handle {
            return None;
        }
        slot.value.as_mut()
    }

    /// Removes the object; the handle and all its copies become stale.
    #[inline]
    pub fn remove(&mut self, handle: Handle) -> Option<T> {
        let slot = self.slots.get_mut(handle.index() as usize)?;
        if slot.word != handle {
            return None;
        }
        let value = slot.value.take()?;
        self.release(handle);
        Some(value)
    }

    /// As [`Table::remove`], for objects that may be copied: what is left in the slot is not written.
    #[inline(always)] // requests of short messages
    pub fn remove_copy(&mut self, handle: Handle) -> Option<T>
    where
        T: Copy,
    {
        let slot = self.slots.get_mut(handle.index() as usize)?;
        if slot.word != handle {
            return None;
        }
        let value = slot.value?;
        slot.value = None;
        self.release(handle);
        Some(value)
    }

    /// Removes the object if `take` returns what is wanted of it; the rest of the object must need no drop, and is
    /// forgotten. The outer `None`: the handle names no object.
    #[inline(always)] // completions of requests
    pub fn take_if<R>(&mut self, handle: Handle, take: impl FnOnce(&mut T) -> Option<R>) -> Option<Option<R>> {
        let slot = self.slots.get_mut(handle.index() as usize)?;
        if slot.word != handle {
            return None;
        }
        let Some(taken) = take(slot.value.as_mut()?) else { return Some(None) };
        std::mem::forget(slot.value.take());
        self.release(handle);
        Some(Some(taken))
    }

    /// The slot of this handle, whose object has been removed, gets the next generation and may be reused.
    #[inline(always)]
    fn release(&mut self, handle: Handle) {
        let (index, next) = (handle.index(), Handle(handle.0.wrapping_add(NEXT_GENERATION)));
        // After the last generation the low bits are 0 too.
        if wraps(next.generation()) {
            return self.rest(handle);
        }
        self.slots[index as usize].word = next;
        self.free.push(index);
    }

    /// Lets a slot rest after the low bits of its generation have wrapped around; retires it for ever if all
    /// generations are used up.
    #[cold]
    fn rest(&mut self, handle: Handle) {
        let (index, next) = (handle.index(), handle.generation() + 1);
        self.slots[index as usize].word = following(handle);
        if next > GENERATION_MASK {
            // The generation is now 0, which no handle has.
            self.retired += 1;
            return;
        }
        self.resting.push_back(index);
        if self.resting.len() > RESTING {
            self.free.extend(self.resting.pop_front());
        }
    }

    /// The live handle of a Fortran `INTEGER`; a predefined handle is its constant. `None` for a null, stale or forged
    /// one, or one of another kind.
    #[inline]
    pub fn from_fortran(&self, word: i32) -> Option<Handle> {
        if let Ok(predefined) = usize::try_from(word) {
            return (predefined < FIRST_DYNAMIC).then_some(Handle(predefined));
        }
        let index = word as usize & ((1 << fortran_prefix(self.kind).1) - 1);
        let slot = self.slots.get(index)?;
        (slot.value.is_some() && slot.word.to_fortran() == Some(word)).then_some(slot.word)
    }

    /// Whether this table has returned the handle and it has been freed since.
    pub fn was_freed(&self, handle: Handle) -> bool {
        handle.kind() == Some(self.kind)
            && self.slots.get(handle.index() as usize).is_some_and(|slot| {
                handle.generation() != 0
                    && (handle.generation() < slot.word.generation()
                        || slot.word.generation() == 0
                        || slot.word == handle && slot.value.is_none())
            })
    }

    /// Number of live objects.
    pub fn len(&self) -> usize {
        self.slots.len() - self.free.len() - self.resting.len() - self.retired
    }

    /// Whether the table has no live object.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All live objects with their handles, in slot order.
    pub fn iter(&self) -> impl Iterator<Item = (Handle, &T)> {
        self.slots.iter().filter_map(|slot| Some((slot.word, slot.value.as_ref()?)))
    }
}

/// Whether the low bits of this generation, those of a Fortran handle, have wrapped around.
#[inline(always)]
const fn wraps(generation: u32) -> bool {
    generation & ((1 << FORTRAN_GENERATION_BITS) - 1) == 0
}

/// The handle of the next object in the slot; its generation is 0, which no handle has, if all are used up.
const fn following(handle: Handle) -> Handle {
    // Without the carry out of the last generation, which would change the kind.
    match handle.generation() {
        GENERATION_MASK => Handle(handle.0 & !(GENERATION_MASK as usize * NEXT_GENERATION)),
        _ => Handle(handle.0 + NEXT_GENERATION),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::handle::FORTRAN_INDEX_BITS;

    /// Both ways to remove an object.
    const REMOVALS: [fn(&mut Table<char>, Handle) -> Option<char>; 2] = [Table::remove, Table::remove_copy];

    #[test]
    fn a_freed_handle_is_stale_even_after_its_slot_is_reused() {
        for remove in REMOVALS {
            let mut table = Table::new(Kind::Request);
            let first = table.insert('a').expect("room");
            assert_eq!((remove(&mut table, first), table.len()), (Some('a'), 0));
            let second = table.insert_if_free('b').expect("the slot of the first");
            assert_eq!(table.insert_if_free('z'), None, "no slot is free");
            assert_eq!((second.index(), second.generation()), (first.index(), first.generation() + 1));
            assert_eq!((table.get(first), table.get(second)), (None, Some(&'b')));
            assert_eq!(remove(&mut table, first), None);
            assert!(table.was_freed(first) && !table.was_freed(second));
            let reserved = table.reserve().expect("room");
            assert_eq!((remove(&mut table, reserved), remove(&mut table, Handle(usize::MAX))), (None, None));
            assert!(table.fill(reserved, 'c'), "it is still reserved");
        }
    }

    #[test]
    fn an_object_is_taken_only_when_it_is_wanted() {
        let mut table = Table::new(Kind::Request);
        let first = table.insert(5).expect("room");
        assert_eq!(table.take_if(first, |value| (*value > 5).then_some(*value)), Some(None));
        assert_eq!((table.get(first), table.len()), (Some(&5), 1));
        assert_eq!(table.take_if(first, |value| Some(*value * 2)), Some(Some(10)));
        assert!(table.take_if(first, |_| Some(())).is_none() && table.get(first).is_none() && table.is_empty());
        let second = table.insert(6).expect("room");
        assert!(second.index() == first.index() && second != first && table.was_freed(first));
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
    fn a_slot_with_the_last_generation_is_not_used_again() {
        for remove in REMOVALS {
            let mut table = Table::new(Kind::Win);
            let first = table.insert('a').expect("room");
            table.slots[0].word = Handle::pack(Kind::Win, 0, GENERATION_MASK);
            assert_eq!((table.get(first), table.was_freed(first)), (None, true));
            let last = table.slots[0].word;
            assert_eq!((remove(&mut table, last), table.len()), (Some('a'), 0));
            for _ in 0..10 {
                let next = table.insert('b').expect("room");
                assert_ne!(next.index(), 0);
                assert!(table.get(last).is_none() && table.was_freed(last) && remove(&mut table, last).is_none());
                assert_eq!(remove(&mut table, next), Some('b'));
            }
            assert!(table.is_empty() && table.iter().next().is_none());
        }
    }

    #[test]
    fn a_full_table_refuses_until_an_object_is_removed() {
        let mut table = Table::with_limit(Kind::Op, 3);
        let all = [1, 2, 3].map(|value| table.insert(value).expect("room"));
        assert_eq!((table.insert(4), table.reserve()), (Err(TableFull), Err(TableFull)));
        // A full table reuses a resting slot instead of failing.
        table.slots[1].word = Handle::pack(Kind::Op, 1, (1 << FORTRAN_GENERATION_BITS) - 1);
        assert_eq!(table.remove(table.slots[1].word), Some(2));
        assert_eq!(table.resting.len(), 1);
        let again = table.insert(5).expect("room");
        assert_eq!((again.index(), table.get(all[1]), table.len()), (1, None, 3));
        assert_eq!(table.insert(6), Err(TableFull));
    }

    #[test]
    fn a_fortran_handle_leads_to_its_live_object_alone() {
        let mut table = Table::new(Kind::Comm);
        let (first, second) = (table.insert('a').expect("room"), table.insert('b').expect("room"));
        let word = first.to_fortran().expect("a low slot");
        assert_eq!(table.from_fortran(word), Some(first));
        assert_eq!(table.from_fortran(second.to_fortran().expect("a low slot")), Some(second));
        assert_eq!(table.from_fortran(0x100), Some(Handle(0x100)), "a predefined handle");
        let other = Handle::pack(Kind::Datatype, first.index(), first.generation()).to_fortran().expect("a low slot");
        for forged in [other, 4096, i32::MAX, i32::MIN, -1, word ^ 1 << FORTRAN_INDEX_BITS, word ^ 64] {
            assert_eq!(table.from_fortran(forged), None, "{forged:#x}");
        }
        table.remove(first);
        assert_eq!(table.from_fortran(word), None);
    }

    #[test]
    #[cfg_attr(miri, ignore = "half a million objects take Miri many minutes")]
    fn a_fortran_handle_is_given_out_again_after_many_others_only() {
        let mut table = Table::new(Kind::Request);
        let first = table.insert(0).expect("room");
        let word = first.to_fortran();
        table.remove(first);
        for count in 1..u32::MAX {
            let next = table.insert(0).expect("room");
            if next.to_fortran() == word {
                assert!(count > 500_000, "{count}");
                assert!(table.get(first).is_none() && table.slots.len() <= RESTING + 2);
                return;
            }
            table.remove(next);
        }
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
