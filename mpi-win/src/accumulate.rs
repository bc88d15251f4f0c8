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
/// Bytes of data that are combined at once if they have gaps.
const SCRATCH: usize = 4096;
/// Up to so many bytes are fetched through little scratch memory, because clearing more takes longer than the operation.
const FEW: usize = 64;

/// Combines data with the elements of a place.
pub(crate) fn combine_there(memory: &Memory, combine: &Combine, place: &Place<'_>, data: &SendBuf<'_>) {
    let (size, basic) = (place.unit(), place.elements.basic);
    let mut into = place.in_memory_mut(memory);
    if let Some(data) = data.contiguous().filter(|data| memory.is_apart_from(data)) {
        let mut done = 0;
        for data in data.chunks((LOCKED / size * size) as usize) {
            let _held = memory.lock();
            combine.apply(&mut into, done, basic, data);
            done += data.len() as u64;
        }
        return;
    }
    // The data have gaps, or lie in the window themselves.
    let mut scratch = [0; SCRATCH];
    let at_once = (SCRATCH as u64 / size * size) as usize;
    let mut done = 0;
    while done < data.bytes() {
        let length = data.pack(done, &mut scratch[..at_once]);
        let _held = memory.lock();
        combine.apply(&mut into, done, basic, &scratch[..length]);
        done += length as u64;
    }
}

/// Copies the elements of a place to `result`, and combines data with them.
#[inline]
pub(crate) fn fetch_there(
    memory: &Memory,
    combine: Option<&Combine>,
    place: &Place<'_>,
    data: &SendBuf<'_>,
    result: RecvBuf<'_>,
) {
    if place.bytes() <= FEW as u64 {
        fetch_in_steps::<FEW>(memory, combine, place, data, result);
    } else {
        fetch_in_steps::<SCRATCH>(memory, combine, place, data, result);
    }
}

/// As [`fetch_there`], with so many bytes of scratch memory, which has room for one element.
#[inline(never)] // the scratch memory of the other size is not cleared
fn fetch_in_steps<const BYTES: usize>(
    memory: &Memory,
    combine: Option<&Combine>,
    place: &Place<'_>,
    data: &SendBuf<'_>,
    mut result: RecvBuf<'_>,
) {
    let (size, basic) = (place.unit(), place.elements.basic);
    let from = place.in_memory(memory);
    // Elements that are only read may overlap.
    let mut into = combine.map(|combine| (combine, place.in_memory_mut(memory)));
    // The program's data may lie in the window.
    let (mut scratch, mut fetched) = ([0; BYTES], [0; BYTES]);
    let at_once = (BYTES as u64 / size * size) as usize;
    let mut done = 0;
    while done < place.bytes() {
        let length = data.pack(done, &mut scratch[..at_once]);
        let held = memory.lock();
        let bytes = from.pack(done, &mut fetched[..at_once]);
        if let Some((combine, into)) = &mut into {
            combine.apply(into, done, basic, &scratch[..length]);
        }
        drop(held);
        result.unpack(done, &fetched[..bytes]);
        done += bytes as u64;
    }
}
