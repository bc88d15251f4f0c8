//! Long reductions, split among the processes: each combines one part of all contributions, in rank order,
//! then the parts are exchanged.
//!
//! Every byte is moved twice whatever the number of processes, and the combining is shared among all. Parts travel in
//! pieces that stay in the cache from their arrival until they are combined. A part is computed by one process, so all
//! get the same result.

use std::ops::Range;

use mpi_comm::{Outcome, PendingOps};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;

use crate::Reduction;
use crate::link::Link;
use crate::missing_buffer::in_place_elsewhere;
use crate::op::Reducer;
use crate::partial::elements_mut;
use crate::scratch::Scratch;

/// Packed bytes of the part that `rank` of `size` combines; parts differ by one element at most.
fn part(what: &Reduction<'_>, rank: u32, size: u32) -> Range<u64> {
    let (rank, size) = (rank as u64, size as u64);
    let start = |rank: u64| rank * (what.count / size) + rank.min(what.count % size);
    start(rank) * what.datatype.size()..start(rank + 1) * what.datatype.size()
}

/// The contributions of this process for others, and the memory for its own part.
struct Parts<'p> {
    /// The whole contribution; `None` if it is in the place of the result.
    send: Option<SendBuf<'p>>,
    /// The result before this process's part; empty where it is not needed.
    before: RecvBuf<'p>,
    mine: RecvBuf<'p>,
    behind: RecvBuf<'p>,
}

impl<'p> Parts<'p> {
    /// Parts of a buffer for the whole result.
    fn of_whole(send: Option<SendBuf<'p>>, recv: RecvBuf<'p>, own: &Range<u64>) -> Parts<'p> {
        let (head, behind) = recv.split_at(own.end);
        let (before, mine) = head.split_at(own.start);
        Parts { send, before, mine, behind }
    }

    /// This process's contribution at packed bytes `range` of the whole, which are not of its own part.
    fn contribution(&self, range: Range<u64>, own: &Range<u64>) -> SendBuf<'_> {
        let length = range.end - range.start;
        match &self.send {
            Some(send) => send.part(range.start, length),
            None if range.start < own.start => self.before.as_send().part(range.start, length),
            None => self.behind.as_send().part(range.start - own.end, length),
        }
    }
}

pub(crate) fn allreduce(
    link: Link<'_>,
    send: Option<SendBuf<'_>>,
    recv: RecvBuf<'_>,
    reducer: &Reducer<'_>,
    what: &Reduction<'_>,
    outcome: &mut Outcome,
) -> Result<()> {
    let mut parts = Parts::of_whole(send, recv, &part(what, link.rank, link.size));
    combine(link, &mut parts, reducer, what, outcome)?;
    let Parts { before, mine, behind, .. } = parts;
    let mut pending = link.pending();
    receive_parts(link, &mut pending, what, 0..link.rank, before)?;
    receive_parts(link, &mut pending, what, link.rank + 1..link.size, behind)?;
    for rank in link.others() {
        link.isend(&mut pending, rank, mine.as_send())?;
    }
    link.wait_all(pending, outcome)
}

pub(crate) fn reduce(
    link: Link<'_>,
    send: Option<SendBuf<'_>>,
    recv: Option<RecvBuf<'_>>,
    reducer: &Reducer<'_>,
    what: &Reduction<'_>,
    root: u32,
    outcome: &mut Outcome,
) -> Result<()> {
    let own = part(what, link.rank, link.size);
    let Some(recv) = recv else {
        let send = send.ok_or_else(|| in_place_elsewhere("sendbuf"))?;
        let elements = (own.end - own.start) / what.datatype.size().max(1);
        let mut scratch = Scratch::elements(what.datatype, elements)?;
        let mine = RecvBuf::in_span(scratch.bytes(), elements, what.datatype).expect("as long as the elements span");
        let mut parts = Parts { send: Some(send), before: RecvBuf::empty(), mine, behind: RecvBuf::empty() };
        combine(link, &mut parts, reducer, what, outcome)?;
        return link.send(root, parts.mine.as_send());
    };
    let mut parts = Parts::of_whole(send, recv, &own);
    combine(link, &mut parts, reducer, what, outcome)?;
    let mut pending = link.pending();
    receive_parts(link, &mut pending, what, 0..link.rank, parts.before)?;
    receive_parts(link, &mut pending, what, link.rank + 1..link.size, parts.behind)?;
    link.wait_all(pending, outcome)
}

/// Bytes that are received and combined at once: few enough to stay in the cache meanwhile.
const PIECE: u64 = 64 << 10;
/// The most pieces of one part; longer parts have longer pieces.
const PIECES: u64 = 64;

/// Packed bytes of a piece, the same for the parts of all processes.
fn piece_length(what: &Reduction<'_>, size: u32) -> u64 {
    let longest = what.count.div_ceil(size as u64);
    let elements = (PIECE / what.datatype.size().max(1)).max(longest.div_ceil(PIECES)).max(1);
    elements * what.datatype.size()
}

/// Sends each other process its part, piece by piece, and combines what the others send of this one's.
fn combine(
    link: Link<'_>,
    parts: &mut Parts<'_>,
    reducer: &Reducer<'_>,
    what: &Reduction<'_>,
    outcome: &mut Outcome,
) -> Result<()> {
    let own = part(what, link.rank, link.size);
    let piece = piece_length(what, link.size);
    let longest = part(what, 0, link.size);
    let mut mine = std::mem::replace(&mut parts.mine, RecvBuf::empty());
    let mut pending = link.pending();
    for offset in (0..longest.end).step_by(piece as usize) {
        for rank in link.others() {
            let theirs = part(what, rank, link.size);
            let start = theirs.start + offset;
            let end = theirs.end.min(start + piece);
            if start < end {
                link.isend(&mut pending, rank, parts.contribution(start..end, &own))?;
            }
        }
    }
    let elements = (piece / what.datatype.size().max(1)).min(what.count);
    let mut pieces = Pieces { link, reducer, what, incoming: Scratch::elements(what.datatype, elements)?, above: None };
    for offset in (0..own.end - own.start).step_by(piece as usize) {
        let mut value = mine.part(offset, piece);
        if let Some(send) = &parts.send {
            value.copy_from(&send.part(own.start + offset, value.bytes()));
        }
        pieces.combine(value, outcome)?;
    }
    link.wait_all(pending, outcome)?;
    parts.mine = mine;
    Ok(())
}

/// Receiving and combining the pieces of this process's part.
struct Pieces<'c> {
    link: Link<'c>,
    reducer: &'c Reducer<'c>,
    what: &'c Reduction<'c>,
    incoming: Scratch,
    above: Option<Scratch>,
}

impl Pieces<'_> {
    /// Combines the others' contributions to a piece into `value`, which holds this process's own.
    fn combine(&mut self, mut value: RecvBuf<'_>, outcome: &mut Outcome) -> Result<()> {
        let Pieces { link, reducer, what, incoming, above } = self;
        let count = value.bytes() / what.datatype.size().max(1);
        let span = what.datatype.span(count) as usize;
        let value = elements_mut(&mut value)?;
        let incoming = &mut incoming.bytes()[..span];
        let mut take = |rank: u32, into: &mut [u8]| {
            let buffer = RecvBuf::in_span(into, count, what.datatype).expect("as long as the elements span");
            outcome.record_data_error(link.recv(rank, buffer))
        };
        if reducer.is_commutative() {
            for rank in link.others() {
                take(rank, incoming)?;
                reducer.apply(incoming, value, count);
            }
            return Ok(());
        }
        // Above this process from the last rank down, each the left operand; the result becomes the right operand of
        // this process's own. Then below it from its neighbour down.
        if link.rank + 1 < link.size {
            let above = match above {
                Some(above) => above,
                None => above.insert(Scratch::elements(what.datatype, count)?),
            };
            let above = &mut above.bytes()[..span];
            take(link.size - 1, above)?;
            for rank in (link.rank + 1..link.size - 1).rev() {
                take(rank, incoming)?;
                reducer.apply(incoming, above, count);
            }
            reducer.apply(value, above, count);
            value.copy_from_slice(above);
        }
        for rank in (0..link.rank).rev() {
            take(rank, incoming)?;
            reducer.apply(incoming, value, count);
        }
        Ok(())
    }
}

/// Posts the receives of combined parts of `ranks`, which lie one after the other in `into`.
fn receive_parts<'b>(
    link: Link<'_>,
    pending: &mut PendingOps<'_, 'b>,
    what: &Reduction<'_>,
    ranks: Range<u32>,
    mut into: RecvBuf<'b>,
) -> Result<()> {
    for rank in ranks {
        let range = part(what, rank, link.size);
        let (piece, rest) = into.split_at(range.end - range.start);
        link.irecv(pending, rank, piece)?;
        into = rest;
    }
    Ok(())
}
