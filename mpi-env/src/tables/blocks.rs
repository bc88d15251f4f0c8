//! The allocated blocks by address, in a hash table with open addressing in one array.
//!
//! Invariant: no entry between a block's home position and its actual position is empty, so a look-up ends at the first
//! empty entry; at least half of the array is empty.
//! Not here: allocation (`memory`).

/// An allocated block. An entry with address 0 is empty.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Block {
    pub address: usize,
    /// The size that the program requested.
    pub bytes: u64,
    /// A power of two; 0: the block is in the arena.
    pub alignment: usize,
}

/// Blocks by address.
#[derive(Debug, Default)]
pub(crate) struct BlockTable {
    entries: Vec<Block>,
    live: usize,
}

const SMALLEST: usize = 32;

impl BlockTable {
    /// Inserts a block whose address is not in the table.
    #[inline]
    pub fn insert(&mut self, block: Block) {
        if self.live * 2 >= self.entries.len() {
            self.grow();
        }
        self.live += 1;
        self.place(block);
    }

    fn place(&mut self, block: Block) {
        let mut at = self.home(block.address);
        while self.entries[at].address != 0 {
            at = self.next(at);
        }
        self.entries[at] = block;
    }

    /// Removes a block by its address.
    #[inline]
    pub fn remove(&mut self, address: usize) -> Option<Block> {
        if self.live == 0 || address == 0 {
            return None;
        }
        let mut hole = self.home(address);
        while self.entries[hole].address != address {
            if self.entries[hole].address == 0 {
                return None;
            }
            hole = self.next(hole);
        }
        let block = self.entries[hole];
        self.live -= 1;
        // Blocks after the hole move into it, unless that would put them before their home position.
        let mut at = self.next(hole);
        while self.entries[at].address != 0 {
            let (from_home, from_hole) =
                (self.distance(self.home(self.entries[at].address), at), self.distance(hole, at));
            if from_home >= from_hole {
                self.entries[hole] = self.entries[at];
                hole = at;
            }
            at = self.next(at);
        }
        self.entries[hole] = Block::default();
        Some(block)
    }

    #[cold]
    fn grow(&mut self) {
        let doubled = vec![Block::default(); (self.entries.len() * 2).max(SMALLEST)];
        let old = std::mem::replace(&mut self.entries, doubled);
        old.into_iter().filter(|block| block.address != 0).for_each(|block| self.place(block));
    }

    /// A block's home position. The hash ignores the low bits, which are alike in all addresses.
    #[inline]
    fn home(&self, address: usize) -> usize {
        let spread = (address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (spread >> 32) as usize & (self.entries.len() - 1)
    }

    #[inline]
    fn next(&self, at: usize) -> usize {
        (at + 1) & (self.entries.len() - 1)
    }

    #[inline]
    fn distance(&self, from: usize, to: usize) -> usize {
        to.wrapping_sub(from) & (self.entries.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn what_was_put_in_is_found_once_whatever_else_comes_and_goes() {
        let (mut table, mut model, mut state) = (BlockTable::default(), HashMap::new(), 7u64);
        for step in 0..200_000u64 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let address = ((state >> 40) as usize % 700 + 1) * 16;
            let there = model.remove(&address);
            assert_eq!(table.remove(address), there);
            if there.is_none() {
                let block = Block { address, bytes: step, alignment: 16 };
                table.insert(block);
                model.insert(address, block);
            }
        }
        assert!(model.len() > 100 && table.live == model.len());
        assert!(model.drain().all(|(address, block)| table.remove(address) == Some(block)));
        assert!(table.entries.iter().all(|entry| *entry == Block::default()));
    }
}
