//! Tables of runs: where the data of a long message lies in a buffer with gaps, for the other process to copy it.
//!
//! A table is an array of words. The first ones are, for each chunk of the message and for its end, the number of runs
//! before it; address and length of each run follow. No run crosses the border of a chunk.
//! Invariant: a table of another process is input: its numbers are bounded before use, and the addresses reach memory
//! of that process only.
//! Not here: which buffers have a table, the chunks (`copy_ways`), the copies (`mpi_fabric`).

use mpi_core::abi::MPI_ERR_INTERN;
use mpi_datatype::TypedBuf;
use mpi_errors::{Error, Result};
use mpi_fabric::{Copier, Piece, RegionKey};

/// Shortest mean length of runs that another process copies from or to: the kernel looks up the pages of each anew
/// (measured, 1 MiB from and to runs of 2 KiB, 8 KiB: 820, 243 µs; in fragments 246, 225 µs).
const RUN_MIN: u64 = 16 << 10;
/// Most runs of a table. A message of more goes in fragments: a table is made under the process lock.
const RUNS_MAX: u64 = 1 << 16;

/// Where the data of a buffer lies.
#[derive(Debug)]
pub(crate) struct RunTable {
    words: Vec<u64>,
}

impl RunTable {
    /// Whether a table of a buffer is worth while: its runs are long, and not too many.
    pub fn suits<Access>(buffer: &TypedBuf<'_, Access>) -> bool {
        let mean = buffer.mean_run();
        mean >= RUN_MIN && buffer.bytes() / mean <= RUNS_MAX
    }

    /// The table of the first `bytes` bytes of a buffer, in chunks of `chunk` bytes.
    pub fn of<Access>(buffer: &TypedBuf<'_, Access>, bytes: u64, chunk: u64) -> RunTable {
        let chunks = bytes.div_ceil(chunk);
        let runs = bytes / buffer.mean_run().max(1) + chunks;
        let mut words = Vec::with_capacity((chunks + 1 + 2 * runs) as usize);
        words.resize(chunks as usize + 1, 0);
        let mut count = 0;
        for index in 0..chunks {
            words[index as usize] = count;
            let start = index * chunk;
            buffer.each_run(start, chunk.min(bytes - start), |address, length| {
                words.extend([address as u64, length as u64]);
                count += 1;
                true
            });
        }
        words[chunks as usize] = count;
        RunTable { words }
    }

    /// The memory of the table.
    pub fn words(&self) -> &[u64] {
        &self.words
    }
}

/// A chunk in the table of another process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListedChunk {
    pub table: RegionKey,
    /// Chunks of the message.
    pub chunks: u64,
    pub index: u64,
    /// Bytes of this chunk.
    pub bytes: u64,
}

impl ListedChunk {
    /// Reads the runs of the chunk: addresses and bytes. Errors: those of a copy, and a table that cannot be right.
    pub fn read(self, copier: &Copier) -> Result<Vec<(u64, u64)>> {
        let mut ends = [0; 2];
        copier.read_words(self.table, self.index * 8, &mut ends)?;
        let count = ends[1].checked_sub(ends[0]).filter(|count| *count <= self.bytes && ends[1] < 1 << 40);
        let Some(count) = count else { return Err(wrong_table(copier.peer())) };
        let mut words = vec![0; 2 * count as usize];
        copier.read_words(self.table, (self.chunks + 1 + 2 * ends[0]) * 8, &mut words)?;
        let mut left = self.bytes;
        let mut runs = Vec::with_capacity(count as usize);
        for run in words.chunks_exact(2) {
            left = left.checked_sub(run[1]).ok_or_else(|| wrong_table(copier.peer()))?;
            runs.push((run[0], run[1]));
        }
        if left > 0 { Err(wrong_table(copier.peer())) } else { Ok(runs) }
    }
}

/// The parts of a buffer and of runs of a region that hold the same data.
pub(crate) fn pieces<Access>(runs: &[(u64, u64)], buffer: &TypedBuf<'_, Access>) -> Vec<Piece> {
    let (mut pieces, mut runs) = (Vec::with_capacity(runs.len()), runs.iter().copied());
    let (mut offset, mut room) = (0, 0);
    buffer.each_run(0, u64::MAX, |mut address, mut bytes| {
        while bytes > 0 {
            if room == 0 {
                match runs.next() {
                    Some(next) => (offset, room) = next,
                    None => return false,
                }
            }
            let length = room.min(bytes as u64);
            if length > 0 {
                pieces.push(Piece { offset, address, bytes: length as usize });
            }
            (offset, room) = (offset + length, room - length);
            (address, bytes) = (address + length as usize, bytes - length as usize);
        }
        true
    });
    pieces
}

#[cold]
pub(crate) fn wrong_table(peer: u32) -> Error {
    let text =
        format!("process {peer} of the job has sent a list of the places of its data that does not fit its message");
    Error::new(MPI_ERR_INTERN, text)
}

#[cfg(test)]
mod tests {
    use mpi_core::abi::MPI_BYTE;
    use mpi_datatype::{Datatype, Form, SendBuf, predefined};
    use mpi_fabric::{Endpoint, Registration};

    use super::*;
    use crate::registration;

    const BYTES: u64 = 30_000;
    const CHUNK: u64 = 4096;

    /// A registered table of runs of 1,000 bytes, and a copier for another rank.
    fn listed(memory: &[u8]) -> (RunTable, RegionKey, Registration, Copier, [Endpoint; 2]) {
        let byte = predefined(MPI_BYTE).expect("predefined");
        let mut vector = Datatype::vector(30, 1000, 1500, byte, Form::Small).expect("small");
        vector.commit();
        let buffer = SendBuf::over(memory, 1, &vector).expect("it fits");
        assert_eq!(buffer.mean_run(), 1000);
        let table = RunTable::of(&buffer, BYTES, CHUNK);
        let mut endpoints = Endpoint::threads(2).expect("memory for two ranks");
        let (peer, own) = (endpoints.pop().expect("two ranks"), endpoints.pop().expect("two ranks"));
        let (key, registration) = registration::of_table(&own, 1, table.words());
        let copier = peer.copier(0).expect("ranks of one process");
        (table, key, registration, copier, [own, peer])
    }

    fn chunk(table: RegionKey, index: u64) -> ListedChunk {
        let chunks = BYTES.div_ceil(CHUNK);
        ListedChunk { table, chunks, index, bytes: CHUNK.min(BYTES - index * CHUNK) }
    }

    #[test]
    fn the_runs_of_all_chunks_are_those_of_the_buffer() {
        let memory = vec![0; 45_000];
        let (_table, key, _registration, copier, _endpoints) = listed(&memory);
        let start = memory.as_ptr() as u64;
        let mut packed = 0;
        for index in 0..BYTES.div_ceil(CHUNK) {
            for (address, bytes) in chunk(key, index).read(&copier).expect("registered") {
                assert_eq!(address - start, packed / 1000 * 1500 + packed % 1000);
                packed += bytes;
            }
            assert_eq!(packed, ((index + 1) * CHUNK).min(BYTES));
        }
    }

    #[test]
    fn a_table_that_cannot_be_right_is_an_error() {
        let memory = vec![0; 45_000];
        let (mut table, key, _registration, copier, _endpoints) = listed(&memory);
        let chunks = BYTES.div_ceil(CHUNK) as usize;
        // Counts of runs, and lengths of runs, that do not fit chunk 2.
        let first = chunks + 1 + 2 * table.words[2] as usize;
        for (place, value) in [(2, u64::MAX), (3, 0), (3, 1 << 50), (3, 9000), (first + 1, 0), (first + 1, u64::MAX)] {
            let right = std::mem::replace(&mut table.words[place], value);
            assert!(chunk(key, 2).read(&copier).is_err(), "word {place}: {value}");
            table.words[place] = right;
        }
        assert!(chunk(key, 2).read(&copier).is_ok());
    }
}
