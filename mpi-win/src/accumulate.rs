//! Accumulations on memory that this process can access, in steps.
//!
//! Invariant: each step changes whole elements with the memory's lock held, so that no other accumulation changes an
//! element in between: no other thread's, and where several processes have mapped the memory, no other process's. The
//! process lock is not needed.
//! Not here: the effect on elements (`combine`), who calls this (`access`, `fetch`, `serve`).

use mpi_datatype::{RecvBuf, SendBuf};

use crate::combine::Combine;
use crate::memory::Memory;
use crate::place::Place;

/// Bytes of data that are combined with a memory's lock held: some microseconds.
const LOCKED: u64 = 32 << 10;

/// Combines data with the elements of a place.
pub(crate) fn combine_there(memory: &Memory, combine: &Combine, place: &Place, data: &SendBuf<'_>) {
    let size = place.basic.datatype.size();
    let mut into = place.in_memory_mut(memory);
    if let Some(data) = data.contiguous().filter(|data| memory.is_apart_from(data)) {
        let mut done = 0;
        for data in data.chunks((LOCKED / size * size) as usize) {
            let _held = memory.lock();
            combine.apply(into.part(done, data.len() as u64), place.basic, data);
            done += data.len() as u64;
        }
        return;
    }
    // The data have gaps, or lie in the window themselves.
    let mut scratch = [0; 4096];
    let at_once = scratch.len() as u64 / size * size;
    let mut done = 0;
    while done < data.bytes() {
        let length = data.pack(done, &mut scratch[..at_once as usize]);
        let _held = memory.lock();
        combine.apply(into.part(done, length as u64), place.basic, &scratch[..length]);
        done += length as u64;
    }
}

/// Copies the elements of a place to `result`, and combines data with them.
pub(crate) fn fetch_there(
    memory: &Memory,
    combine: Option<&Combine>,
    place: &Place,
    data: &SendBuf<'_>,
    mut result: RecvBuf<'_>,
) {
    let size = place.basic.datatype.size();
    // The program's data may lie in the window.
    let mut scratch = [0; 4096];
    let at_once = scratch.len() as u64 / size * size;
    let mut done = 0;
    while done < place.bytes() {
        let piece = place.piece(done, at_once.min(place.bytes() - done));
        let length = data.part(done, at_once).pack(0, &mut scratch);
        let _held = memory.lock();
        result.part(done, piece.bytes()).copy_from(&piece.in_memory(memory));
        if let Some(combine) = combine {
            combine.apply(piece.in_memory_mut(memory), place.basic, &scratch[..length]);
        }
        done += piece.bytes();
    }
}
