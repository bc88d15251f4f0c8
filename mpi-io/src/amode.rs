//! The access mode of a file: `MPI_MODE_*` bits and the rules for combining them (MPI-5.0, 14.2.1).
//!
//! Invariant: an [`AccessMode`] has exactly one of reading, writing and both.

use std::fmt;

use mpi_core::abi::{
    MPI_ERR_AMODE, MPI_MODE_APPEND, MPI_MODE_CREATE, MPI_MODE_DELETE_ON_CLOSE, MPI_MODE_EXCL, MPI_MODE_RDONLY,
    MPI_MODE_RDWR, MPI_MODE_SEQUENTIAL, MPI_MODE_UNIQUE_OPEN, MPI_MODE_WRONLY,
};
use mpi_errors::{Error, Result};

const NAMES: [(i32, &str); 9] = [
    (MPI_MODE_RDONLY, "MPI_MODE_RDONLY"),
    (MPI_MODE_RDWR, "MPI_MODE_RDWR"),
    (MPI_MODE_WRONLY, "MPI_MODE_WRONLY"),
    (MPI_MODE_CREATE, "MPI_MODE_CREATE"),
    (MPI_MODE_EXCL, "MPI_MODE_EXCL"),
    (MPI_MODE_DELETE_ON_CLOSE, "MPI_MODE_DELETE_ON_CLOSE"),
    (MPI_MODE_UNIQUE_OPEN, "MPI_MODE_UNIQUE_OPEN"),
    (MPI_MODE_SEQUENTIAL, "MPI_MODE_SEQUENTIAL"),
    (MPI_MODE_APPEND, "MPI_MODE_APPEND"),
];

/// The access mode of a file. `Display` names the bits, as in `MPI_MODE_RDWR | MPI_MODE_CREATE`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AccessMode {
    bits: i32,
}

impl AccessMode {
    /// The mode of these bits. Errors: `MPI_ERR_AMODE` when they contradict each other, or one of them is unknown.
    pub fn new(bits: i32) -> Result<AccessMode> {
        let mode = AccessMode { bits };
        let known = NAMES.iter().fold(0, |all, (bit, _)| all | bit);
        let ways = bits & (MPI_MODE_RDONLY | MPI_MODE_RDWR | MPI_MODE_WRONLY);
        let rule = if bits & !known != 0 {
            "a file's access mode is made of MPI_MODE_RDONLY, _RDWR, _WRONLY, _CREATE, _EXCL, _DELETE_ON_CLOSE, \
             _UNIQUE_OPEN, _SEQUENTIAL and _APPEND only"
        } else if ways.count_ones() != 1 {
            "exactly one of MPI_MODE_RDONLY, MPI_MODE_RDWR and MPI_MODE_WRONLY is needed"
        } else if !mode.writes() && mode.has(MPI_MODE_CREATE | MPI_MODE_EXCL) {
            "MPI_MODE_CREATE and MPI_MODE_EXCL do not go with MPI_MODE_RDONLY"
        } else if mode.is_sequential() && mode.has(MPI_MODE_RDWR) {
            "MPI_MODE_SEQUENTIAL does not go with MPI_MODE_RDWR"
        } else {
            return Ok(mode);
        };
        Err(Error::new(MPI_ERR_AMODE, rule).arg("amode", &format_args!("{mode}")))
    }

    /// The bits.
    pub fn bits(self) -> i32 {
        self.bits
    }

    fn has(self, any: i32) -> bool {
        self.bits & any != 0
    }

    /// Whether the file may be read.
    pub fn reads(self) -> bool {
        !self.has(MPI_MODE_WRONLY)
    }

    /// Whether the file may be written.
    pub fn writes(self) -> bool {
        !self.has(MPI_MODE_RDONLY)
    }

    /// Whether the file is created when it does not exist.
    pub fn creates(self) -> bool {
        self.has(MPI_MODE_CREATE)
    }

    /// Whether creating a file that exists is an error.
    pub fn is_exclusive(self) -> bool {
        self.has(MPI_MODE_EXCL)
    }

    /// Whether the file is deleted when it is closed.
    pub fn deletes(self) -> bool {
        self.has(MPI_MODE_DELETE_ON_CLOSE)
    }

    /// Whether the program promises that nothing else opens the file meanwhile.
    pub fn is_unique(self) -> bool {
        self.has(MPI_MODE_UNIQUE_OPEN)
    }

    /// Whether the file is accessed only through the shared file pointer.
    pub fn is_sequential(self) -> bool {
        self.has(MPI_MODE_SEQUENTIAL)
    }

    /// Whether file pointers begin at the end of the file.
    pub fn appends(self) -> bool {
        self.has(MPI_MODE_APPEND)
    }
}

impl fmt::Display for AccessMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rest = self.bits;
        let mut separator = "";
        for (bit, name) in NAMES.iter().filter(|(bit, _)| self.has(*bit)) {
            write!(f, "{separator}{name}")?;
            rest &= !bit;
            separator = " | ";
        }
        if rest != 0 || self.bits == 0 {
            write!(f, "{separator}{rest:#x}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_one_way_of_access_is_needed() {
        for (wrong, part) in [
            (0, "amode is 0x0"),
            (MPI_MODE_CREATE, "exactly one"),
            (MPI_MODE_RDONLY | MPI_MODE_WRONLY, "MPI_MODE_RDONLY | MPI_MODE_WRONLY"),
            (MPI_MODE_RDONLY | MPI_MODE_WRONLY | MPI_MODE_RDWR, "exactly one"),
            (-1, "made of"),
        ] {
            let error = AccessMode::new(wrong).expect_err("no mode");
            assert_eq!(error.class(), MPI_ERR_AMODE);
            assert!(error.to_string().contains(part), "{error}");
        }
    }

    #[test]
    fn contradictions_are_refused() {
        for wrong in [
            MPI_MODE_RDONLY | MPI_MODE_CREATE,
            MPI_MODE_RDONLY | MPI_MODE_EXCL,
            MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL,
            MPI_MODE_RDWR | 1 << 20,
        ] {
            assert_eq!(AccessMode::new(wrong).expect_err("a contradiction").class(), MPI_ERR_AMODE, "{wrong:#x}");
        }
    }

    #[test]
    fn every_bit_goes_with_writing_but_sequential_access_with_one_way_only() {
        let all = NAMES.iter().fold(0, |all, (bit, _)| all | bit);
        let mode = AccessMode::new(all & !(MPI_MODE_RDONLY | MPI_MODE_RDWR)).expect("no contradiction");
        assert!(mode.writes() && !mode.reads() && mode.creates() && mode.is_exclusive() && mode.deletes());
        assert!(mode.is_sequential() && mode.appends());
        let mode = AccessMode::new(MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL).expect("no contradiction");
        assert!(mode.reads() && !mode.writes());
        assert_eq!(mode.to_string(), "MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL");
    }
}
