//! Finding memory that receive buffers have in common, with others or with themselves.
//!
//! Invariant: every overlap is found, unlike by [`Datatype::surely_overlaps`], which costs nothing: threads copy parts of
//! one message at the same time, so in safe code no byte may be in two parts.
//! Not here: what is made of the result (`slices`, `placed`).

use crate::buffer::RecvBuf;
use crate::datatype::Datatype;

/// Whether elements of the type, one behind the other, have their bytes at ascending addresses: no byte is there twice.
pub(crate) fn ascends(datatype: &Datatype) -> bool {
    datatype.layout().is_none_or(|layout| layout.ascends())
}

/// The place of a buffer that overlaps an earlier one in memory, or itself.
pub(crate) fn first_overlap(buffers: &[RecvBuf<'_>]) -> Option<usize> {
    let mut runs = Vec::new();
    for (number, buffer) in buffers.iter().enumerate() {
        buffer.each_run(0, buffer.bytes(), |address, length| {
            runs.push((address, length, number));
            true
        });
    }
    runs.sort_unstable();
    runs.windows(2).find(|pair| pair[0].0 + pair[0].1 > pair[1].0).map(|pair| pair[0].2.max(pair[1].2))
}
