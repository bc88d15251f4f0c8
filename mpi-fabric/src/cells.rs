//! Cells: shared memory of a pair of processes that passes to the receiver with each payload.
//!
//! A sender fills a cell that is here and pushes a record with its number; from the moment in which the receiver has read the
//! record the cell is there, and the receiver may fill it with a payload of its own. So the lines of a cell are always written by the
//! process that has read them last. On processors where a read moves a line that another core has changed, with the
//! right to write it, each line moves once for each payload; in memory that one process writes and the other one reads, it moves to
//! the receiver and back (measured, half round trips of 64 KiB: 1.9 us in cells, 7.8 us in 64 KiB that each process writes in
//! turn; between far cores 4.7 and 30 us).
//! Each of a pair has one half of its cells at first. A process without cells, because it has sent more than it received, sends in
//! other ways.
//!
//! Invariant: as long as both processes keep the protocol, each cell is in exactly one [`Cells`], or in a record that is not yet read; the one that has
//! it is the only one that writes it.
//! Not here: the records (`ring`), other ways of a payload (`endpoint::segments`).

use crate::layout::MOST_CELLS;

/// The cells of a pair that are at one of its two processes.
#[derive(Debug)]
pub(crate) struct Cells {
    /// Their numbers; those that came last are used first.
    here: [u8; MOST_CELLS],
    len: u8,
    /// The same as a set.
    set: u128,
}

const _: () = assert!(MOST_CELLS <= u128::BITS as usize);

impl Cells {
    /// The cells of this process at first.
    pub(crate) fn new(first: std::ops::Range<usize>) -> Cells {
        let mut cells = Cells { here: [0; MOST_CELLS], len: 0, set: 0 };
        for cell in first {
            assert!(cells.put(cell), "each cell once, below {MOST_CELLS}");
        }
        cells
    }

    /// How many there are.
    #[inline(always)]
    pub(crate) fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// Takes one, the one that came last.
    #[inline(always)]
    pub(crate) fn take(&mut self) -> Option<usize> {
        let last = self.len.checked_sub(1)?;
        // The mask is for the compiler: `len` is at most the length.
        let cell = self.here[usize::from(last) & (MOST_CELLS - 1)];
        self.len = last;
        self.set &= !(1 << cell);
        Some(usize::from(cell))
    }

    /// Takes so many, which must be here: those that came last, in the order in which they came. So the answer to a message of
    /// several cells has each part where that message had it.
    pub(crate) fn take_all(&mut self, count: usize) -> impl Iterator<Item = usize> + '_ {
        let first = self.len() - count;
        let taken = first..first + count;
        self.len = first as u8;
        for cell in &self.here[taken.clone()] {
            self.set &= !(1 << cell);
        }
        self.here[taken].iter().map(|cell| usize::from(*cell))
    }

    /// A record brought a cell. False, and nothing done, if it is here already or there is none of this number: damage.
    #[inline(always)]
    pub(crate) fn put(&mut self, cell: usize) -> bool {
        if cell >= MOST_CELLS || self.set & 1 << cell != 0 {
            return false;
        }
        self.set |= 1 << cell;
        // As in `take`: there is room for each number once.
        self.here[usize::from(self.len) & (MOST_CELLS - 1)] = cell as u8;
        self.len += 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_last_is_used_first() {
        let mut cells = Cells::new(0..3);
        assert_eq!(cells.take(), Some(2));
        assert!(cells.put(70) && cells.put(71));
        assert_eq!(cells.take(), Some(71));
        assert_eq!(cells.len(), 3);
        assert_eq!((cells.take(), cells.take(), cells.take(), cells.take()), (Some(70), Some(1), Some(0), None));
        assert!(cells.put(127));
    }

    #[test]
    fn an_answer_of_several_cells_uses_those_of_the_message_in_their_order() {
        let (mut one, mut other) = (Cells::new(0..8), Cells::new(8..16));
        for _ in 0..5 {
            let sent: Vec<usize> = one.take_all(3).collect();
            assert!(sent.iter().all(|cell| other.put(*cell)));
            let back: Vec<usize> = other.take_all(3).collect();
            assert_eq!(back, sent);
            assert!(back.iter().all(|cell| one.put(*cell)));
        }
        assert_eq!((one.len(), other.len(), one.set, other.set), (8, 8, 0xff, 0xff00));
    }

    #[test]
    fn a_cell_that_is_here_and_one_that_does_not_exist_are_refused() {
        let mut cells = Cells::new(0..MOST_CELLS);
        assert!((0..300).chain([usize::MAX]).all(|cell| !cells.put(cell)));
        assert_eq!(cells.len(), MOST_CELLS);
        assert_eq!(cells.take(), Some(MOST_CELLS - 1));
        assert!(cells.put(MOST_CELLS - 1) && !cells.put(MOST_CELLS - 1));
    }
}
