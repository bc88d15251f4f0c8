//! Other handles of the same file: whether strided writes may read, change and write back ranges of it.
//!
//! Writing back a gap undoes what another handle writes there meanwhile, unless the other one locks its writes too. So
//! rank 0 of each handle that writes has a mark on the file: a lock of one byte far behind the data. Before a handle
//! writes gaps back for the first time, it locks the whole region of the marks, which the system refuses while there is
//! another mark. A handle that is opened later finds the region locked, and all its writes lock their ranges.
//! Invariants: a handle that writes without locks has a mark until all its processes have closed it; the region is
//! locked by one handle at most. Where the system has no such locks, no handle writes gaps back.
//! Not here: writes of other programs, which have no marks; locks of ranges of data (`atomicity`).

use std::fs::File;
use std::io;

use crate::atomicity::{Kind, is_locked_by_program, set, try_set};

/// The first byte of the region: the last bytes that an offset can name.
const REGION: u64 = i64::MAX as u64 - PLACES;
/// Its bytes: places for marks.
const PLACES: u64 = 1 << 20;
/// Places that a handle tries.
const ATTEMPTS: u64 = 64;

/// The handle among others of the same file, as rank 0 has found it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It has a mark, or no handle can lock the region: the system has no locks, or a program holds a lock of the whole
    /// file.
    Equal,
    /// Another handle may write gaps back, so all writes of this one must lock their ranges.
    MustLock,
}

/// Marks the file, which is open for writing. `seed` differs from handle to handle.
pub(crate) fn mark(file: &File, seed: u64) -> Standing {
    for attempt in 0..ATTEMPTS {
        let place = REGION + seed.wrapping_add(attempt).wrapping_mul(0x9e37_79b9_7f4a_7c15) % PLACES;
        match try_set(file, Kind::Write, place, 1) {
            Ok(true) => return Standing::Equal,
            // Of another handle's mark, or of the region.
            Ok(false) => continue,
            Err(_) => return Standing::Equal,
        }
    }
    // Locks of ranges would wait for a program's lock of the whole file, which may be this program's own.
    match is_locked_by_program(file, REGION, PLACES) {
        Ok(true) => Standing::Equal,
        _ => Standing::MustLock,
    }
}

/// Locks the region for a handle that has a mark; false while there is another mark, and where the system has no locks.
pub(crate) fn claim(file: &File) -> bool {
    try_set(file, Kind::Write, REGION, PLACES).unwrap_or(false)
}

/// Removes the marks of a handle, when no process of it writes any more.
pub(crate) fn remove(file: &File) -> io::Result<()> {
    set(file, Kind::None, REGION, PLACES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::atomicity::lock_as_a_program;

    fn opened(name: &str) -> (File, File) {
        let path = std::env::temp_dir().join(format!("{name}-{}", std::process::id()));
        let open = || File::options().read(true).write(true).create(true).truncate(false).open(&path).expect("a file");
        let both = (open(), open());
        std::fs::remove_file(&path).expect("it is there");
        both
    }

    #[test]
    fn gaps_are_written_back_by_a_handle_alone_and_later_ones_lock() {
        let (one, other) = opened("openers-alone");
        assert_eq!(mark(&one, 1), Standing::Equal);
        assert!(claim(&one) && claim(&one));
        assert_eq!(mark(&other, 2), Standing::MustLock);
        assert!(!claim(&other));
        remove(&one).expect("unlocked");
        assert_eq!(mark(&other, 2), Standing::Equal);
        assert!(claim(&other));
    }

    #[test]
    fn a_lock_of_the_whole_file_by_the_program_makes_no_write_wait() {
        let (one, program) = opened("openers-program");
        lock_as_a_program(&program);
        assert_eq!(mark(&one, 3), Standing::Equal);
        assert!(!claim(&one));
    }

    #[test]
    fn no_handle_writes_gaps_back_while_another_one_has_a_mark() {
        let (one, other) = opened("openers-both");
        // The second one finds its first place taken.
        assert_eq!((mark(&one, 7), mark(&other, 7)), (Standing::Equal, Standing::Equal));
        assert!(!claim(&one) && !claim(&other));
        drop(other);
        assert!(claim(&one), "the other one was closed");
    }
}
