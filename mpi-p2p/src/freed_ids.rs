//! The context ids of communicators that were freed here, so that a message which arrives later is dropped.
//!
//! Ids are handed out in order and never twice, so the freed ones form few ranges.
//! Invariant: ranges are not empty, do not overlap and do not touch.

use std::collections::BTreeMap;

/// Ranges of ids: the first, and the one after the last, both divided by 2, because ids are even.
#[derive(Debug, Default)]
pub(crate) struct FreedIds(BTreeMap<u32, u32>);

impl FreedIds {
    /// Whether this id, or the even one below it, was freed.
    pub fn contains(&self, id: u32) -> bool {
        let id = id >> 1;
        self.0.range(..=id).next_back().is_some_and(|(_, end)| id < *end)
    }

    /// Adds an id.
    pub fn insert(&mut self, id: u32) {
        if self.contains(id) {
            return;
        }
        let id = id >> 1;
        let end = self.0.remove(&(id + 1)).unwrap_or(id + 1);
        match self.0.range_mut(..id).next_back() {
            Some((_, before)) if *before == id => *before = end,
            _ => _ = self.0.insert(id, end),
        }
    }

    /// Adds the even ids from `first` to `last`.
    pub fn insert_range(&mut self, first: u32, last: u32) {
        let (mut start, mut end) = (first >> 1, (last >> 1) + 1);
        // Those that overlap or touch it become part of it.
        while let Some((&from, &to)) = self.0.range(..=end).next_back().filter(|(_, to)| **to >= start) {
            self.0.remove(&from);
            (start, end) = (start.min(from), end.max(to));
        }
        self.0.insert(start, end);
    }

    /// Takes an id out again.
    pub fn remove(&mut self, id: u32) {
        let id = id >> 1;
        let Some((&start, &end)) = self.0.range(..=id).next_back().filter(|(_, end)| id < **end) else { return };
        self.0.remove(&start);
        if start < id {
            self.0.insert(start, id);
        }
        if id + 1 < end {
            self.0.insert(id + 1, end);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::sync::Arc;

    use mpi_core::ProcessLock;
    use mpi_fabric::{Endpoint, RecordHead};
    use mpi_t::HeapMemory;

    use super::*;
    use crate::{CommMeters, ContextSpec, Engine, wire};

    #[test]
    fn a_message_of_a_freed_communicator_is_not_kept_unless_its_sender_waits() {
        let mut endpoints = Endpoint::threads(2).expect("memory for two ranks");
        let (mut peer, own) = (endpoints.pop().expect("two ranks"), endpoints.pop().expect("two ranks"));
        let engine = Engine::new(own, Arc::new(ProcessLock::new(false)), &HeapMemory);
        let (instruments, world_ranks) = (CommMeters::detached(2), Arc::from([0, 1]));
        let spec = ContextSpec {
            id: 2,
            rank: 0,
            world_ranks,
            both_groups: None,
            session: None,
            pins: Default::default(),
            instruments,
        };
        let mut arrives = |context, kind| {
            let head = RecordHead { kind, flags: 0, context, tag: 5, a: 1, b: 77 };
            peer.push(0, &head, &[0; 24]).expect("room");
            engine.progress(&mut engine.lock()).expect("a sound record");
            engine.state.get(&engine.lock()).core.early_records()
        };
        assert_eq!(arrives(2, wire::EAGER), 1, "its communicator can still be made");
        engine.add_context(&mut engine.lock(), spec);
        engine.remove_context(&mut engine.lock(), 2);
        assert_eq!(arrives(2, wire::EAGER), 0);
        assert_eq!(arrives(2, wire::EAGER_SYNC), 1);
        assert_eq!(arrives(2, wire::CANCEL), 0);
    }

    #[test]
    fn ids_in_any_order_are_found_and_adjacent_ones_are_one_range() {
        let (mut freed, mut model) = (FreedIds::default(), BTreeSet::new());
        let mut word = 12345u32;
        for _ in 0..5000 {
            word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let id = (word >> 20) % 128 * 2;
            match word >> 30 {
                0 | 1 => {
                    freed.insert(id);
                    model.insert(id);
                }
                2 if word & 64 != 0 => {
                    let last = id + (word >> 8) % 8 * 2;
                    freed.insert_range(id, last);
                    model.extend((id..=last).step_by(2));
                }
                _ => {
                    freed.remove(id);
                    model.remove(&id);
                }
            }
            assert!((0..320).all(|id| freed.contains(id) == model.contains(&(id & !1))));
            let ranges = model.iter().filter(|id| **id == 0 || !model.contains(&(**id - 2))).count();
            assert_eq!(freed.0.len(), ranges);
        }
    }
}
