//! Which algorithm, for which size and number of processes.
//!
//! Invariant: a plan depends only on facts that are the same in every process of the communicator, and that are told
//! to none: its size, whether the job is crowded, settings that all share, and the bytes that match across processes.

use crate::settings::CollSettings;

/// Up to this many processes one process reaches all others faster than a tree does.
const FLAT_SIZE: u32 = 4;
/// The same for messages that the receivers copy themselves.
const FLAT_LONG_SIZE: u32 = 16;
/// Longest whole result of an allgather whose blocks are moved more than once to need fewer messages.
const SHORT_ALLGATHER: u64 = 8192;

/// The choices for one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    size: u32,
    crowded: bool,
    shape: i32,
    split_limit: u64,
}

impl Plan {
    #[inline]
    pub fn new(size: u32, crowded: bool, settings: &CollSettings) -> Plan {
        Plan { size, crowded, shape: settings.shape.get(), split_limit: settings.split_limit.get() }
    }

    /// Whether short messages go through one process rather than in log2(n) steps: where processes share cores each
    /// step costs everybody a context switch.
    #[inline]
    pub fn flat(&self) -> bool {
        match self.shape {
            1 => true,
            2 => false,
            _ => self.crowded,
        }
    }

    /// Whether a root sends to all others itself.
    #[inline]
    pub fn flat_bcast(&self) -> bool {
        self.flat() || self.shape == 0 && self.size <= FLAT_SIZE
    }

    /// The same for long messages: each receiver copies for itself, so a root serves many at once.
    #[inline]
    pub fn flat_long_bcast(&self) -> bool {
        self.flat() || self.shape == 0 && self.size <= FLAT_LONG_SIZE
    }

    /// Whether a reduction of `bytes` is split among the processes.
    #[inline]
    pub fn split(&self, bytes: u64) -> bool {
        self.size > 1 && bytes >= self.split_limit.max(1)
    }

    /// Whether an allgather of `bytes` in all moves blocks more than once to need fewer messages.
    #[inline]
    pub fn short_allgather(&self, bytes: u64) -> bool {
        bytes <= SHORT_ALLGATHER
    }
}
