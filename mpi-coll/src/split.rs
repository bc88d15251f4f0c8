//! Long reductions, split among the processes: each combines one part of everybody's contribution, in rank order,
//! then the parts come together.
//!
//! Every byte is moved twice whatever the number of processes, and the combining is shared among all. A part is
//! computed by one process, so all get the same result.

use std::ops::Range;

use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;

use crate::Reduction;
use crate::flight::Flight;
use crate::link::{Link, Outcome};
use crate::op::Reducer;
use crate::partial::elements_mut;
use crate::reduce::no_contribution;
use crate::scratch::Scratch;

/// Packed bytes of the part that `rank` of `size` combines; parts differ by one element at most.
fn part(what: &Reduction<'_>, rank: u32, size: u32) -> Range<u64> {
    let (rank, size) = (rank as u64, size as u64);
    let start = |rank: u64| rank * (what.count / size) + rank.min(what.count % size);
    start(rank) * what.datatype.size()..start(rank + 1) * what.datatype.size()
}

/// The part of a buffer before this process's own, its own, and the part behind.
fn cut<'b>(buffer: RecvBuf<'b>, own: &Range<u64>) -> [RecvBuf<'b>; 3] {
    let (head, behind) = buffer.split_at(own.end);
    let (before, own) = head.split_at(own.start);
    [before, own, behind]
}

pub(crate) fn allreduce(
    link: Link<'_>,
    send: Option<SendBuf<'_>>,
    recv: RecvBuf<'_>,
    reducer: &Reducer<'_>,
    what: &Reduction<'_>,
    outcome: &mut Outcome,
) -> Result<()> {
    let own = part(what, link.rank, link.size);
    let [before, mut mine, behind] = cut(recv, &own);
    let theirs = |rank: u32| -> SendBuf<'_> {
        let range = part(what, rank, link.size);
        let length = range.end - range.start;
        match &send {
            Some(send) => send.part(range.start, length),
            None if rank < link.rank => before.as_send().part(range.start, length),
            None => behind.as_send().part(range.start - own.end, length),
        }
    };
    if let Some(send) = &send {
        mine.copy_from(&send.part(own.start, own.end - own.start));
    }
    combine(link, theirs, &mut mine, reducer, what, outcome)?;
    let mut flight = Flight::new(link);
    receive_parts(link, &mut flight, what, 0..link.rank, before)?;
    receive_parts(link, &mut flight, what, link.rank + 1..link.size, behind)?;
    for rank in link.others() {
        flight.send(rank, mine.as_send())?;
    }
    flight.land(outcome)
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
    let length = own.end - own.start;
    let Some(recv) = recv else {
        let send = send.ok_or_else(no_contribution)?;
        let theirs = |rank: u32| {
            let range = part(what, rank, link.size);
            send.part(range.start, range.end - range.start)
        };
        let elements = length / what.datatype.size().max(1);
        let mut scratch = Scratch::new(what.datatype.span(elements))?;
        let mut mine = RecvBuf::over(scratch.bytes(), elements, what.datatype).expect("as long as the elements span");
        mine.copy_from(&send.part(own.start, length));
        combine(link, theirs, &mut mine, reducer, what, outcome)?;
        return link.send(root, mine.as_send());
    };
    let [before, mut mine, behind] = cut(recv, &own);
    let theirs = |rank: u32| -> SendBuf<'_> {
        let range = part(what, rank, link.size);
        let length = range.end - range.start;
        match &send {
            Some(send) => send.part(range.start, length),
            None if rank < link.rank => before.as_send().part(range.start, length),
            None => behind.as_send().part(range.start - own.end, length),
        }
    };
    if let Some(send) = &send {
        mine.copy_from(&send.part(own.start, length));
    }
    combine(link, theirs, &mut mine, reducer, what, outcome)?;
    let mut flight = Flight::new(link);
    receive_parts(link, &mut flight, what, 0..link.rank, before)?;
    receive_parts(link, &mut flight, what, link.rank + 1..link.size, behind)?;
    flight.land(outcome)
}

/// Sends each other process its part and combines what the others send of this one's into `mine`, which holds this
/// process's own contribution.
fn combine<'b>(
    link: Link<'_>,
    theirs: impl Fn(u32) -> SendBuf<'b>,
    mine: &mut RecvBuf<'_>,
    reducer: &Reducer<'_>,
    what: &Reduction<'_>,
    outcome: &mut Outcome,
) -> Result<()> {
    let mut flight = Flight::new(link);
    for rank in link.others() {
        flight.send(rank, theirs(rank))?;
    }
    let count = mine.bytes() / what.datatype.size().max(1);
    let value = elements_mut(mine)?;
    let span = value.len() as u64;
    let mut incoming = Scratch::new(span)?;
    let take = |rank: u32, into: &mut [u8], outcome: &mut Outcome| {
        let buffer = RecvBuf::over(into, count, what.datatype).expect("as long as the elements span");
        outcome.note(link.recv(rank, buffer))
    };
    if reducer.is_commutative() {
        for rank in link.others() {
            take(rank, incoming.bytes(), outcome)?;
            reducer.apply(incoming.bytes(), value, count);
        }
    } else {
        // Below this process from its neighbour down, each the left operand; above it likewise into a second piece,
        // which at last becomes the right operand.
        let mut above = Scratch::new(span)?;
        for rank in (link.rank + 1..link.size).rev() {
            if rank == link.size - 1 {
                take(rank, above.bytes(), outcome)?;
            } else {
                take(rank, incoming.bytes(), outcome)?;
                reducer.apply(incoming.bytes(), above.bytes(), count);
            }
        }
        if link.rank + 1 < link.size {
            reducer.apply(value, above.bytes(), count);
            value.copy_from_slice(above.bytes());
        }
        for rank in (0..link.rank).rev() {
            take(rank, incoming.bytes(), outcome)?;
            reducer.apply(incoming.bytes(), value, count);
        }
    }
    flight.land(outcome)
}

/// Posts the receives of combined parts of `ranks`, which lie one after the other in `into`.
fn receive_parts<'b>(
    link: Link<'_>,
    flight: &mut Flight<'_, 'b>,
    what: &Reduction<'_>,
    ranks: Range<u32>,
    mut into: RecvBuf<'b>,
) -> Result<()> {
    for rank in ranks {
        let range = part(what, rank, link.size);
        let (piece, rest) = into.split_at(range.end - range.start);
        flight.recv(rank, piece)?;
        into = rest;
    }
    Ok(())
}
