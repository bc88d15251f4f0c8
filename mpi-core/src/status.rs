//! `MPI_Status` in the layout of the standard ABI: eight C ints (MPI-5.0, 3.2.5 and chapter 20).
//!
//! Invariant: the internal fields hold the number of bytes received and whether the operation was cancelled.

use crate::abi;

/// The outcome of a receive, probe or completed request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Status {
    /// Rank of the sender in the communicator.
    pub source: i32,
    /// Tag of the message.
    pub tag: i32,
    /// Error code, set only by operations that complete several requests.
    pub error: i32,
    count_low: u32,
    count_high: u32,
    cancelled: i32,
    reserved: [i32; 2],
}

const _: () = assert!(size_of::<Status>() == 32 && align_of::<Status>() == 4);

impl Status {
    /// Offset of the number of bytes, as two halves; for readers in other processes.
    pub const BYTES: usize = std::mem::offset_of!(Status, count_low);

    /// The empty status: any source, any tag, no error, nothing received (MPI-5.0, 3.7.3).
    pub const EMPTY: Status = Status::new(abi::MPI_ANY_SOURCE, abi::MPI_ANY_TAG, 0);

    /// The status of an operation with `MPI_PROC_NULL` (MPI-5.0, 3.10).
    pub const PROC_NULL: Status = Status::new(abi::MPI_PROC_NULL, abi::MPI_ANY_TAG, 0);

    /// A status of a message of `bytes` bytes from `source` with `tag`.
    #[inline]
    pub const fn new(source: i32, tag: i32, bytes: u64) -> Status {
        Status {
            source,
            tag,
            error: abi::MPI_SUCCESS,
            count_low: bytes as u32,
            count_high: (bytes >> 32) as u32,
            cancelled: 0,
            reserved: [0; 2],
        }
    }

    /// Sets the source, tag and length of a message that was received, so that the status is of no cancelled operation. The
    /// error field stays as it is.
    #[inline]
    pub const fn set_message(&mut self, source: i32, tag: i32, bytes: u64) {
        self.source = source;
        self.tag = tag;
        self.set_bytes(bytes);
        self.cancelled = 0;
    }

    /// Number of bytes received.
    #[inline]
    pub const fn bytes(&self) -> u64 {
        self.count_low as u64 | (self.count_high as u64) << 32
    }

    /// Sets the number of bytes received.
    #[inline]
    pub const fn set_bytes(&mut self, bytes: u64) {
        self.count_low = bytes as u32;
        self.count_high = (bytes >> 32) as u32;
    }

    /// Whether the operation was cancelled.
    #[inline]
    pub const fn cancelled(&self) -> bool {
        self.cancelled != 0
    }

    /// Sets whether the operation was cancelled.
    #[inline]
    pub const fn set_cancelled(&mut self, cancelled: bool) {
        self.cancelled = cancelled as i32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_above_four_gigabytes_survives() {
        let mut status = Status::new(3, 9, 1 << 40 | 5);
        assert_eq!(status.bytes(), 1 << 40 | 5);
        status.set_bytes(7);
        assert_eq!(status.bytes(), 7);
        status.set_cancelled(true);
        status.set_message(3, 9, 5);
        assert!(!status.cancelled());
        assert_eq!(status, Status::new(3, 9, 5));
    }
}
