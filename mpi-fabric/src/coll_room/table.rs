//! Which parts of a rank's room are given out.

use crate::coll_room::{BLOCKS, DATA, UNIT, protocol};

/// A part that was given back, while other processes may still read it.
pub(crate) trait Lingering: Send {
    /// Whether every other process has finished with it.
    fn is_over(&mut self) -> bool;
}

/// The parts of one room.
pub(crate) struct RoomTable {
    /// One bit for each block in use.
    blocks: u64,
    /// One bit for each unit of data in use.
    units: u128,
    /// Number of units of data.
    count: u32,
    /// By block, the first operation that its next user may begin with.
    next: [u64; BLOCKS],
    lingering: Vec<(Part, Box<dyn Lingering>)>,
}

/// A block of flags and the data beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Part {
    pub block: u32,
    /// First byte of the data, from the beginning of the data on.
    pub at: u32,
    /// Bytes of data.
    pub bytes: u32,
    /// The first operation that its numbers may begin with.
    pub operation: u64,
}

impl RoomTable {
    /// A room of so many bytes, of which nothing is in use.
    pub fn new(bytes: usize) -> RoomTable {
        let count = (bytes.saturating_sub(DATA) / UNIT).min(128) as u32;
        RoomTable { blocks: 0, units: 0, count, next: [1; BLOCKS], lingering: Vec::new() }
    }

    /// As [`RoomTable::take`], if half of the blocks and a quarter of the data remain free: these are for communicators.
    pub fn take_spare(&mut self, lengths: &[usize]) -> Option<Part> {
        self.collect();
        let free = (self.count - self.count / 4).saturating_sub(self.units.count_ones()) as usize;
        let fitting = lengths.iter().position(|bytes| bytes / UNIT <= free)?;
        let has_block = (self.blocks.count_ones() as usize) < BLOCKS / 2;
        if has_block { self.take(&lengths[fitting..]) } else { None }
    }

    /// Gives out a block and the longest of these lengths of data that is free; `None` without room for the shortest.
    pub fn take(&mut self, lengths: &[usize]) -> Option<Part> {
        self.collect();
        let block = (!self.blocks).trailing_zeros();
        if block as usize >= BLOCKS {
            return None;
        }
        let (at, bytes) = lengths.iter().find_map(|bytes| Some((self.free(*bytes)?, *bytes)))?;
        self.blocks |= 1 << block;
        self.units |= mask(at, bytes);
        let operation = self.next[block as usize];
        Some(Part { block, at: at * UNIT as u32, bytes: bytes as u32, operation })
    }

    /// The first of enough free units.
    fn free(&self, bytes: usize) -> Option<u32> {
        let count = (bytes / UNIT) as u32;
        let last = self.count.checked_sub(count)?;
        (0..=last).find(|at| self.units & mask(*at, bytes) == 0)
    }

    /// Takes a part back, whose last operation was before `operation`, at once or when `readers` are over.
    pub fn give_back(&mut self, part: Part, operation: u64, readers: Box<dyn Lingering>) {
        self.next[part.block as usize] = operation;
        self.lingering.push((part, readers));
        self.collect();
    }

    fn collect(&mut self) {
        let RoomTable { blocks, units, lingering, .. } = self;
        lingering.retain_mut(|(part, readers)| {
            if !readers.is_over() {
                return true;
            }
            *blocks &= !(1 << part.block);
            *units &= !mask(part.at / UNIT as u32, part.bytes as usize);
            false
        });
    }
}

/// The bits of units from `at` on.
fn mask(at: u32, bytes: usize) -> u128 {
    let count = (bytes / UNIT) as u32;
    if count >= 128 { u128::MAX } else { ((1 << count) - 1) << at }
}

/// The number that a part's first step has.
impl Part {
    /// The step with which the use of the part begins if it begins with `operation`.
    pub fn first(operation: u64) -> u64 {
        protocol::first_turn(operation)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct After(u32);

    impl Lingering for After {
        fn is_over(&mut self) -> bool {
            self.0 = self.0.saturating_sub(1);
            self.0 == 0
        }
    }

    #[test]
    fn parts_do_not_overlap_and_come_back_when_their_readers_are_over() {
        let mut table = RoomTable::new(DATA + 4 * UNIT);
        let one = table.take(&[2 * UNIT]).expect("room");
        let two = table.take(&[8 * UNIT, UNIT]).expect("room for the shorter one");
        assert_eq!((one.at, two.at, two.bytes), (0, 2 * UNIT as u32, UNIT as u32));
        assert_ne!(one.block, two.block);
        assert_eq!(table.take(&[2 * UNIT]), None);
        table.give_back(one, 9, Box::new(After(2)));
        assert_eq!(table.take(&[]), None, "no length");
        let again = table.take(&[2 * UNIT]).expect("its readers are over");
        assert_eq!((again.at, again.block, again.operation), (one.at, one.block, 9));
    }

    #[test]
    fn a_part_of_the_room_is_kept_for_communicators() {
        let mut table = RoomTable::new(DATA + 8 * UNIT);
        let part = table.take_spare(&[8 * UNIT, 6 * UNIT]).expect("three quarters");
        assert_eq!(part.bytes, 6 * UNIT as u32);
        assert_eq!(table.take_spare(&[UNIT]), None, "the last quarter");
        assert_eq!(table.take_spare(&[0]).map(|part| part.bytes), Some(0), "a block without data");
        while table.take_spare(&[0]).is_some() {}
        assert_eq!(table.blocks.count_ones() as usize, BLOCKS / 2);
        assert!(table.take(&[2 * UNIT]).is_some());
    }

    #[test]
    fn blocks_run_out() {
        let mut table = RoomTable::new(DATA + 128 * UNIT);
        assert!((0..BLOCKS).all(|_| table.take(&[UNIT]).is_some()));
        assert_eq!(table.take(&[UNIT]), None);
        assert_eq!(RoomTable::new(0).take(&[UNIT]), None, "a rank without a room");
    }
}
