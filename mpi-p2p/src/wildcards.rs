//! Kinds of wildcards in the source and tag of a receive.
//!
//! Not here: matching (`matching`, `posted_queue`).

use mpi_core::abi::{MPI_ANY_SOURCE, MPI_ANY_TAG};

use crate::chains::Key;

/// Any source, one tag.
pub(crate) const ANY_SOURCE: usize = 0;
/// One source, any tag.
pub(crate) const ANY_TAG: usize = 1;
/// Any source and any tag.
pub(crate) const ANY_BOTH: usize = 2;

/// The kind of a key with wildcards; `None` for one without.
#[inline]
pub(crate) fn wildcard_kind(key: Key) -> Option<usize> {
    match (key.source == MPI_ANY_SOURCE, key.tag == MPI_ANY_TAG) {
        (false, false) => None,
        (true, false) => Some(ANY_SOURCE),
        (false, true) => Some(ANY_TAG),
        (true, true) => Some(ANY_BOTH),
    }
}

/// A key without wildcards, widened to a kind.
#[inline]
pub(crate) fn widened(key: Key, kind: usize) -> Key {
    match kind {
        ANY_SOURCE => Key { source: MPI_ANY_SOURCE, tag: key.tag },
        ANY_TAG => Key { source: key.source, tag: MPI_ANY_TAG },
        _ => Key { source: MPI_ANY_SOURCE, tag: MPI_ANY_TAG },
    }
}
