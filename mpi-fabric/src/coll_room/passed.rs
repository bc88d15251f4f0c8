//! Two rooms that pass between the two processes of a channel.
//!
//! In an exchange both processes publish data and read those of the other one. A process publishes them in a room that is here;
//! from the moment in which the other one has read the publication the room is there, and its next data may be published in it. So lines are
//! always written by the process that has read them last, and move once for each exchange; in a part that one process always writes
//! they move to its reader and back (measured without the library, near cores, exchange of 1 KiB: 0.12 against 0.30 us, and of 64 KiB 4.3
//! against 4.7). No report is needed: who has a room has read what is in it.
//! At first each process has the room at the end of its own part. A process without one publishes in its part.
//!
//! Invariant: as long as both processes keep the protocol, a room is at one of them, or in a publication that is not yet read.
//! Not here: publications of which only one process reads what the other one writes (`channel::window`).

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU8, AtomicU64};

use crate::layout::LINE;

/// Longest room: with both in use, the data of an exchange stay in a second-level cache (measured on a mesh, allreduce of 1 MiB in rooms
/// of 64, 128 and 256 KiB: 165, 153 and 163 us).
pub const LONGEST_PASSED: usize = 128 << 10;
/// A room takes this part of a process's part at most.
const SHARE: usize = 8;

/// Bytes of the room in a part of so many, for so many processes.
pub(crate) fn room_bytes(processes: usize, part: usize) -> usize {
    if processes == 2 { (part / SHARE).min(LONGEST_PASSED) / LINE * LINE } else { 0 }
}

/// The rooms that are at this process. Plain words: one thread uses them at a time.
pub(crate) struct Passed {
    /// Bytes of each; 0: there are none.
    bytes: usize,
    /// One bit for each.
    here: AtomicU8,
    /// The one that came last.
    latest: AtomicU8,
    /// The last step in which one came.
    came_in: AtomicU64,
}

impl Passed {
    pub fn new(bytes: usize, rank: usize) -> Passed {
        let (here, latest) = (if bytes > 0 { 1 << (rank & 1) } else { 0 }, rank as u8 & 1);
        Passed { bytes, here: here.into(), latest: latest.into(), came_in: AtomicU64::new(0) }
    }

    /// Bytes of each.
    #[inline(always)]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes the one that came last.
    #[inline(always)]
    pub fn take(&self) -> Option<usize> {
        let (here, latest) = (self.here.load(Relaxed), self.latest.load(Relaxed) & 1);
        let room = match here {
            0 => return None,
            3 => latest,
            one => one >> 1 & 1,
        };
        self.here.store(here & !(1 << room), Relaxed);
        Some(usize::from(room))
    }

    /// A publication of a step brought one. A process reads a publication several times, but it brings its room once.
    #[inline(always)]
    pub fn put(&self, room: usize, number: u64) {
        if number > self.came_in.load(Relaxed) {
            self.came_in.store(number, Relaxed);
            let room = room as u8 & 1;
            self.latest.store(room, Relaxed);
            self.here.store(self.here.load(Relaxed) | 1 << room, Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_room_comes_once_with_each_publication_and_the_latest_is_used_first() {
        let passed = Passed::new(64, 1);
        assert_eq!((passed.take(), passed.take()), (Some(1), None));
        passed.put(0, 5);
        assert_eq!(passed.take(), Some(0));
        passed.put(0, 5);
        assert_eq!(passed.take(), None, "read again");
        passed.put(1, 6);
        passed.put(0, 7);
        assert_eq!((passed.take(), passed.take(), passed.take()), (Some(0), Some(1), None));
    }

    #[test]
    fn only_channels_of_two_processes_have_rooms() {
        assert_eq!((room_bytes(2, 4 << 20), room_bytes(2, 64 << 10), room_bytes(2, 0)), (LONGEST_PASSED, 8 << 10, 0));
        assert_eq!(room_bytes(3, 4 << 20), 0);
        assert_eq!(Passed::new(0, 0).take(), None);
    }
}
