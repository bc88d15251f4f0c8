//! The room of a rank for collectives: blocks of flags, and data.
//!
//! A communicator of processes that share the job memory gets a channel (`channel`): in the room of each of its processes
//! a block of flags and a part of the data. The processes send each other the places of their parts in messages.
//! A block holds lines of publications, each written with its number last, and one line with the number of the step
//! that the process has finished (`protocol`). Numbers in a block only grow, also from one communicator to the next, so
//! what an earlier communicator left there is never taken for a publication of a later one.
//! Invariant: a part is given out again only when every process has finished all steps of the communicator before.
//! Not here: what is published (`channel`), and when (`mpi-coll`).

#[cfg(all(loom, test))]
mod data_model;
#[cfg(any(not(loom), test))]
pub(crate) mod data_records;
#[cfg(all(loom, test))]
mod model;
#[cfg(any(not(loom), test))]
pub(crate) mod passed;
pub(crate) mod protocol;
#[cfg(all(loom, test))]
mod report_model;
#[cfg(any(not(loom), test))]
pub(crate) mod reports;
#[cfg(not(loom))]
mod table;

#[cfg(not(loom))]
pub(crate) use table::{Lingering, Part as RoomPart, RoomTable};

use crate::layout::{LINE, PAGE};

/// Lines of publications of the first turn of an operation: so many short operations a root may be ahead of the others
/// (measured: where processes share cores, its time of a call is that of a context switch divided by this number).
pub(crate) const FIRST_LINES: usize = 64;
/// Lines of publications of later turns, behind them.
pub(crate) const LATER_LINES: usize = 16;
/// Number of all lines.
pub(crate) const LINES: usize = FIRST_LINES + LATER_LINES;
/// Offset in a block of the number of the step up to which the process has finished, on a line of its own.
pub(crate) const FINISHED: usize = (LINES + 1) * LINE;
/// Offset in a block of the number behind the last step of the last channel that the process has closed, on the same line.
pub(crate) const CLOSED: usize = FINISHED + 8;
/// Offset in a block of a copy of the number of finished steps, on a line that others read only to measure how far away
/// the process is: the line of the number itself lies in the cache of a process that has waited for it.
pub(crate) const LOOKED_AT: usize = FINISHED + LINE;
/// Length of a block of flags.
pub(crate) const BLOCK: usize = 2 * PAGE;
/// Number of blocks of flags, which lie at the beginning of a room.
pub(crate) const BLOCKS: usize = 48;
/// The unit in which data is given out.
pub(crate) const UNIT: usize = 64 << 10;
/// Offset of the data in a room.
pub(crate) const DATA: usize = (BLOCKS * BLOCK).next_multiple_of(UNIT);

const _: () = assert!(LOOKED_AT + LINE <= BLOCK);
