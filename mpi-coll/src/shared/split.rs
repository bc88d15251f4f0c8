//! A blocking reduction for all of long contributions, of a predefined operation on elements without gaps.
//!
//! Each process combines its part of each chunk in tiles that a first-level cache holds, and puts each tile of the result
//! into its next publication at once, so that none of them is read from a farther cache again. While it combines a tile, it
//! requests the lines of the others' next one.
//! Invariant: the same publications and reads, and the same order of combining, as the steps of the call (`reducing`).
//! Not here: short contributions (`short`).

use std::ops::Range;

use mpi_comm::Comm;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;
use mpi_p2p::Publication;

use super::reducing::Chunk;
use super::short::with_gaps;
use super::turns::{Heading, Turns, outside, store};
use crate::Collectives;
use crate::coll_op::CollOp;
use crate::op::Reducer;

/// Bytes of a tile: that of the result, the contributions of two processes and the publication fit into 32 KiB.
const TILE: u64 = 4 << 10;

impl Collectives {
    /// A reduction for all of `count` elements, whose combining is divided among the processes, with at most `longest`
    /// bytes in a publication. `None` if the communicator has no channels, or if processes are far from each other: streaming
    /// stores, and reads of what they wrote, are faster in one piece (measured, 1 MiB: 121 us by steps, 137 in tiles, 135 in tiles and
    /// rooms that pass).
    #[inline(never)]
    pub(crate) fn shared_split_allreduce(
        &self,
        comm: &Comm,
        send: Option<&SendBuf<'_>>,
        recv: &mut RecvBuf<'_>,
        (reducer, count): (&Reducer<'_>, u64),
        longest: u64,
    ) -> Option<Result<()>> {
        let turns = self.turns(comm, Heading::new(CollOp::Allreduce, recv.bytes()), true)?;
        if turns.streams() {
            return None;
        }
        let element = recv.bytes() / count.max(1);
        let mut split = Split { turns, rank: comm.rank, size: comm.size(), element, reducer };
        let result = split.reduce(send, recv, Chunk::all(count, longest / element.max(1), comm.size()));
        split.turns.end(false);
        Some(result)
    }
}

/// A reduction under way.
struct Split<'c, 'r, 'k> {
    turns: Turns<'c>,
    rank: u32,
    size: u32,
    /// Bytes of an element.
    element: u64,
    reducer: &'k Reducer<'r>,
}

impl<'c> Split<'c, '_, '_> {
    fn reduce(
        &mut self,
        send: Option<&SendBuf<'_>>,
        recv: &mut RecvBuf<'_>,
        mut chunks: impl Iterator<Item = Chunk>,
    ) -> Result<()> {
        let own = match send {
            Some(send) => Some(send.native().ok_or_else(with_gaps)?),
            None => None,
        };
        let (mut before, mut present) = (None::<Chunk>, chunks.next());
        // Room of the turn's publication, with the results of the chunk before.
        let mut room = None;
        while before.is_some() || present.is_some() {
            let next = if present.is_some() { chunks.next() } else { None };
            if before.is_some() {
                self.turns.end_turn();
            }
            let value = recv.native_mut().ok_or_else(with_gaps)?;
            self.publish(room.take(), (before, present), own, value)?;
            if let Some(chunk) = before {
                self.fetch(chunk, recv)?;
            }
            if let Some(chunk) = present {
                let value = recv.native_mut().ok_or_else(with_gaps)?;
                room = self.combine((before, chunk, next), own, value)?;
            }
            (before, present) = (present, next);
        }
        Ok(())
    }

    /// The bytes of a rank's part of a chunk in a vector.
    fn part(&self, chunk: Chunk, rank: u32) -> Range<usize> {
        let (at, count) = chunk.part(rank);
        let start = ((chunk.first + at) * self.element) as usize;
        start..start + (count * self.element) as usize
    }

    /// The bytes of a chunk in a vector.
    fn whole(&self, chunk: Chunk) -> Range<usize> {
        let start = (chunk.first * self.element) as usize;
        start..start + (chunk.count * self.element) as usize
    }

    /// Bytes that this process publishes in a turn: its result of the chunk before, and both together.
    fn published(&self, before: Option<Chunk>, present: Option<Chunk>) -> (usize, usize) {
        let results = before.map_or(0, |chunk| self.part(chunk, self.rank).len());
        let all = |chunk| self.whole(chunk).len() - self.part(chunk, self.rank).len();
        (results, results + present.map_or(0, all))
    }

    /// Publishes the result of the chunk before, which is in the room if there is one, and contributions to the present
    /// chunk: those to the parts of lower ranks, then those to the parts of higher ones.
    fn publish(
        &mut self,
        room: Option<Publication<'c>>,
        (before, present): (Option<Chunk>, Option<Chunk>),
        own: Option<&[u8]>,
        value: &[u8],
    ) -> Result<()> {
        let (results, bytes) = self.published(before, present);
        if bytes == 0 {
            return Ok(());
        }
        let has_results = room.is_some();
        match room {
            Some(room) => self.turns.take_room(room),
            None => self.turns.reserve(bytes as u64)?,
        }
        let of = |chunk| (self.part(chunk, self.rank), self.whole(chunk));
        let (before, present) = (before.map(of), present.map(of));
        if let Some(publication) = self.turns.publication() {
            if let Some((mine, _)) = before.filter(|_| !has_results) {
                publication.put(0, &value[mine]);
            }
            if let Some((mine, whole)) = present {
                let data = own.unwrap_or(value);
                publication.put(results, &data[whole.start..mine.start]);
                publication.put(results + mine.start - whole.start, &data[mine.end..whole.end]);
            }
        }
        self.turns.publish();
        Ok(())
    }

    /// The other ranks, from the one behind this process on.
    fn sources(&self) -> impl Iterator<Item = u32> + use<> {
        let (rank, size) = (self.rank, self.size);
        (1..size).map(move |step| if rank + step < size { rank + step } else { rank + step - size })
    }

    /// Waits for the results of the others.
    fn fetch(&self, chunk: Chunk, recv: &mut RecvBuf<'_>) -> Result<()> {
        for source in self.sources() {
            let into = self.part(chunk, source);
            if !into.is_empty() {
                let published = self.turns.read(source)?;
                store(&published, source, 0, into.len() as u64, recv, into.start as u64)?;
            }
        }
        Ok(())
    }

    /// Combines all contributions to this process's part of a chunk: its own first, then those of the ranks behind it in
    /// turn. Returns the room of the next publication, with the result, if there is room without a wait.
    fn combine(
        &self,
        (before, chunk, next): (Option<Chunk>, Chunk, Option<Chunk>),
        own: Option<&[u8]>,
        value: &mut [u8],
    ) -> Result<Option<Publication<'c>>> {
        let mine = self.part(chunk, self.rank);
        if mine.is_empty() {
            return Ok(None);
        }
        // Where a rank's contributions to this part lie in its publication.
        let place = |source: u32| {
            let results = before.map_or(0, |chunk| self.part(chunk, source).len());
            let left_out = if self.rank < source { 0 } else { self.part(chunk, source).len() };
            (results + mine.start - self.whole(chunk).start - left_out) as u64
        };
        self.sources().try_for_each(|source| self.turns.read(source).map(drop))?;
        let mut room = self.turns.reserve_next(self.published(Some(chunk), next).1 as u64);
        let tile = (TILE / self.element).max(1) * self.element;
        for (done, bytes) in super::parts(mine.len() as u64, tile) {
            let start = mine.start + done as usize;
            let behind = mine.len() as u64 - done - bytes;
            let range = start..start + bytes as usize;
            let into = &mut value[range.clone()];
            if let Some(own) = own {
                into.copy_from_slice(&own[range]);
            }
            for source in self.sources() {
                let published = self.turns.read(source)?;
                let at = place(source) + done;
                let theirs = published.bytes(at as usize, bytes as usize).ok_or_else(|| outside(source))?;
                published.request((at + bytes) as usize, bytes.min(behind) as usize);
                self.reducer.apply(theirs, into, bytes / self.element);
            }
            if let Some(room) = &mut room {
                room.put(done as usize, into);
            }
        }
        Ok(room)
    }
}
