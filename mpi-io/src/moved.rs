//! What an access has moved, and how much it moves at a time.

use crate::fault::Fault;

/// Bytes that are packed, unpacked or converted at a time.
pub(crate) const PIECE: usize = 64 * 1024;

/// Bytes of the file that a call moved, and the fault that ended it early.
pub(crate) type Moved = (u64, Option<Fault>);
