//! The protocol of publications alone, over words that several processes share.
//!
//! A step of a communicator has a number, the same in all of its processes. A process publishes data in a step by writing
//! it to a line, or to its data, and then storing the number of the step into the first word of the line. The others
//! wait for that number. A line is written again only when all processes have finished the step that it was written
//! in: each stores the number of the first step that it has not finished.

use crate::coll_room::{FIRST_LINES, LATER_LINES};
use crate::sync::{AtomicU64, Ordering};

/// Bits of a number that count the turns of one operation; those above count the operations.
const TURN_BITS: u32 = 20;

/// The number of the first turn of an operation.
pub(crate) fn first_turn(operation: u64) -> u64 {
    operation << TURN_BITS
}

/// The operation of a step.
pub(crate) fn operation(number: u64) -> u64 {
    number >> TURN_BITS
}

/// The turn of a step in its operation.
pub(crate) fn turn(number: u64) -> u64 {
    number & ((1 << TURN_BITS) - 1)
}

/// The line of a step's publication. First turns have lines of their own, in which the operations take turns, so that an
/// operation of many turns leaves those of the next ones free.
pub(crate) fn slot(number: u64) -> usize {
    let (operation, turn) = (operation(number) as usize, turn(number) as usize);
    if turn == 0 { operation % FIRST_LINES } else { FIRST_LINES + turn % LATER_LINES }
}

/// The memory orders of the four accesses; the models check that none may be weaker.
#[derive(Clone, Copy)]
pub(crate) struct Orders {
    /// Release pairs with the Acquire of `published`.
    pub publish: Ordering,
    /// Acquire pairs with the Release of `publish`: what was published with the number is visible.
    pub published: Ordering,
    /// Release pairs with the Acquire of `reported`: this process's reads are over.
    pub report: Ordering,
    /// Acquire pairs with the Release of `report`: what is written next is not read any more.
    pub reported: Ordering,
}

/// Those in use.
pub(crate) const ORDERS: Orders = Orders {
    publish: Ordering::Release,
    published: Ordering::Acquire,
    report: Ordering::Release,
    reported: Ordering::Acquire,
};

/// Publishes what was written before.
#[inline(always)]
pub(crate) fn publish(line: &AtomicU64, number: u64) {
    line.store(number, ORDERS.publish);
}

/// The number of the last publication in a line; what was published with it is visible.
#[inline(always)]
pub(crate) fn published(line: &AtomicU64) -> u64 {
    line.load(ORDERS.published)
}

/// Reports that this process has finished all steps before a number.
#[inline(always)]
pub(crate) fn report(finished: &AtomicU64, number: u64) {
    finished.store(number, ORDERS.report);
}

/// The number of the first step that a process has not finished.
#[inline(always)]
pub(crate) fn reported(finished: &AtomicU64) -> u64 {
    finished.load(ORDERS.reported)
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn steps_of_one_operation_and_first_turns_of_following_ones_have_different_lines() {
        let first = first_turn(7);
        assert_eq!((operation(first + 3), turn(first + 3)), (7, 3));
        let slots: Vec<usize> = (1..=LATER_LINES as u64).map(|turn| slot(first + turn)).collect();
        assert!((0..LATER_LINES).all(|at| slots[..at].iter().all(|other| *other != slots[at])));
        let firsts: Vec<usize> = (0..FIRST_LINES as u64).map(|more| slot(first_turn(7 + more))).collect();
        assert!(firsts.iter().all(|one| !slots.contains(one)));
        assert!((0..FIRST_LINES).all(|at| firsts[..at].iter().all(|other| *other != firsts[at])));
        assert_eq!(slot(first_turn(7 + FIRST_LINES as u64)), firsts[0]);
    }
}
