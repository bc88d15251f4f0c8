//! Tables of regions: where the data of a long message lies in a sender's memory with gaps, for a receiver that reads it over a network.
//!
//! A table is [`WORDS`] words: the number of regions, then the two words of the key and the bytes of each, in the order of the data.
//! Invariant: a table of another process is input: its numbers are bounded before use; the keys reach memory of that process only.
//! Not here: tables of runs for processes that share memory (`run_table`), the copies (`mpi_fabric`).
#![allow(unsafe_code)] // asserts that the data of a send under way is valid

use std::ptr::with_exposed_provenance_mut;

use mpi_datatype::SendBuf;
use mpi_errors::Result;
use mpi_fabric::{Access, Copier, Endpoint, Piece, RegionKey, Registration};

use crate::registration;
use crate::run_table::wrong_table;

/// Shortest mean length of the regions: of 32 KiB, reads cost as much as fragments.
pub(crate) const BYTES_FROM: u64 = 64 << 10;
/// Most regions of a table: each costs a registration.
const MOST: usize = 16;
const WORDS: usize = 1 + 3 * MOST;

/// Registers the data of a send for `dest`: the key of a table of its regions. `None`: they are short or many, or cannot be registered.
pub(crate) fn register(endpoint: &Endpoint, dest: u32, data: &SendBuf<'_>) -> Option<(RegionKey, Registration)> {
    if data.mean_run() < BYTES_FROM {
        return None;
    }
    let mut runs = Vec::with_capacity(MOST);
    data.each_run(0, u64::MAX, |address, bytes| {
        runs.push((address, bytes));
        runs.len() <= MOST
    });
    if runs.len() > MOST {
        return None;
    }
    let (mut words, mut guards) = (Box::new([0u64; WORDS]), Vec::with_capacity(MOST));
    words[0] = runs.len() as u64;
    for (entry, (address, bytes)) in words[1..].chunks_exact_mut(3).zip(runs) {
        // SAFETY: the data stays as it is until its send completes, and the send's request keeps the registration.
        let (key, guard) =
            unsafe { endpoint.register(&[dest], with_exposed_provenance_mut(address), bytes, Access::Read) };
        if key.is_none() {
            return None;
        }
        let [start, number] = key.to_words();
        entry.copy_from_slice(&[start, number, bytes as u64]);
        guards.push(guard);
    }
    let (key, guard) = registration::of_table(endpoint, dest, &*words);
    (!key.is_none()).then(|| (key, Registration::new((guard, guards, words))))
}

/// Reads the table of another process: the key and the bytes of each region. Errors: those of a copy, and a table that cannot be right.
pub(crate) fn read(copier: &Copier, table: RegionKey) -> Result<Vec<(RegionKey, u64)>> {
    let mut words = Box::new([0; WORDS]);
    if let Err(error) = copier.read_words(table, 0, &mut *words) {
        // After the loss of a peer an answer may still arrive.
        Box::leak(words);
        return Err(error);
    }
    if words[0] > MOST as u64 {
        return Err(wrong_table(copier.peer()));
    }
    let entries = words[1..].chunks_exact(3).take(words[0] as usize);
    Ok(entries.map(|entry| (RegionKey::from_words([entry[0], entry[1]]), entry[2])).collect())
}

/// The parts of pieces of a whole message in the regions of a table. Errors: the regions are shorter than the message.
pub(crate) fn in_regions(peer: u32, pieces: &[Piece], regions: &[(RegionKey, u64)]) -> Result<Vec<(RegionKey, Piece)>> {
    let mut list = Vec::with_capacity(pieces.len() + regions.len());
    let (mut at, mut end, mut next) = (0u64, 0u64, regions.iter());
    let mut key = RegionKey::NONE;
    for piece in pieces {
        let Piece { mut offset, mut address, mut bytes } = *piece;
        while bytes > 0 {
            // Pieces follow one another in the message.
            while offset >= end {
                let Some((region, length)) = next.next() else { return Err(wrong_table(peer)) };
                (key, at) = (*region, end);
                end = end.checked_add(*length).ok_or_else(|| wrong_table(peer))?;
            }
            let length = (end - offset).min(bytes as u64) as usize;
            list.push((key, Piece { offset: offset - at, address, bytes: length }));
            (offset, address, bytes) = (offset + length as u64, address + length, bytes - length);
        }
    }
    Ok(list)
}

#[cfg(test)]
mod tests {
    use mpi_core::abi::MPI_BYTE;
    use mpi_datatype::{Datatype, Form, predefined};

    use super::*;

    const RUN: usize = 70_000;

    /// Data of so many runs, each of which a gap follows.
    fn with_data<R>(runs: i32, body: impl FnOnce(&[u8], &SendBuf<'_>) -> R) -> R {
        let memory: Vec<u8> = (0..runs as usize * 2 * RUN).map(|at| (at / 11) as u8).collect();
        let byte = predefined(MPI_BYTE).expect("predefined");
        let mut vector = Datatype::vector(runs as u64, RUN as u64, 2 * RUN as i64, byte, Form::Small).expect("small");
        vector.commit();
        body(&memory, &SendBuf::over(&memory, 1, &vector).expect("it fits"))
    }

    #[test]
    fn a_receiver_with_other_runs_reads_the_regions() {
        with_data(5, |memory, data| {
            let mut endpoints = Endpoint::threads(2).expect("memory for two ranks");
            let (peer, own) = (endpoints.pop().expect("two ranks"), endpoints.pop().expect("two ranks"));
            let (key, _registration) = register(&own, 1, data).expect("few long runs");
            let copier = peer.copier(0).expect("ranks of one process");
            let regions = read(&copier, key).expect("a table");
            assert_eq!(regions.len(), 5);
            // The second half of the message, in two pieces, with another gap.
            let (start, all) = (RUN as u64 * 5 / 2, 5 * RUN as u64);
            let mut into = vec![0u8; 5 * RUN];
            let base = into.as_mut_ptr().expose_provenance();
            let pieces = [
                Piece { offset: start, address: base, bytes: 1000 },
                Piece { offset: start + 1000, address: base + 2000, bytes: (all - start - 1000) as usize },
            ];
            let list = in_regions(0, &pieces, &regions).expect("regions as long as the message");
            // SAFETY: parts of `into` that nothing else uses.
            unsafe { copier.read_regions(&list).expect("registered") };
            let byte = |at: u64| memory[(at / RUN as u64 * 2 * RUN as u64 + at % RUN as u64) as usize];
            assert!((0..1000).all(|at| into[at] == byte(start + at as u64)));
            assert!((1000..(all - start) as usize).all(|at| into[at + 1000] == byte(start + at as u64)));
        });
    }

    #[test]
    fn many_runs_and_short_ones_have_no_table() {
        let endpoints = Endpoint::threads(2).expect("memory for two ranks");
        let has = |runs| with_data(runs, |_, data| register(&endpoints[0], 1, data).is_some());
        assert!(has(MOST as i32) && !has(MOST as i32 + 1));
        let byte = predefined(MPI_BYTE).expect("predefined");
        let mut vector = Datatype::vector(4, 1000, 2000, byte, Form::Small).expect("small");
        vector.commit();
        let memory = vec![0; 8000];
        assert!(register(&endpoints[0], 1, &SendBuf::over(&memory, 1, &vector).expect("it fits")).is_none());
    }

    #[test]
    fn a_table_that_cannot_be_right_is_an_error() {
        let mut endpoints = Endpoint::threads(2).expect("memory for two ranks");
        let (peer, own) = (endpoints.pop().expect("two ranks"), endpoints.pop().expect("two ranks"));
        let copier = peer.copier(0).expect("ranks of one process");
        let mut words = [0u64; WORDS];
        words[0] = MOST as u64 + 1;
        // SAFETY: the words outlive the registration and do not change.
        let (key, _registration) =
            unsafe { own.register(&[1], words.as_mut_ptr().cast(), size_of_val(&words), Access::Read) };
        assert!(read(&copier, key).is_err());
        let piece = [Piece { offset: 10, address: 1, bytes: 20 }];
        let key = RegionKey::from_words([5, 5]);
        assert!(in_regions(0, &piece, &[(key, 29)]).is_err());
        assert!(in_regions(0, &piece, &[]).is_err());
        assert!(in_regions(0, &piece, &[(key, 5), (key, u64::MAX)]).is_err());
        let parts = in_regions(0, &piece, &[(key, 0), (key, 12), (key, 18)]).expect("long enough");
        let at = |offset, address, bytes| (key, Piece { offset, address, bytes });
        assert_eq!(parts, [at(10, 1, 2), at(0, 3, 18)]);
    }
}
