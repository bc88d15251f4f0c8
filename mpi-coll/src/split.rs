//! Long reductions, split among the processes: each combines one part of all contributions, in rank order,
//! then the parts are exchanged.
//!
//! Every byte is moved twice whatever the number of processes, and the combining is shared among all. Parts travel in
//! pieces that stay in the cache from their arrival until they are combined. A part is computed by one process, so all
//! get the same result.

use mpi_errors::Result;

use crate::parts::{Even, Parts, part};
use crate::reducing::{Reducing, copy_unless_same};
use crate::ring;
use crate::steps::{ABOVE, OTHER, Span, Steps, Team, VALUE};

fn even(call: &Reducing) -> Even {
    Even { count: call.what.count, size: u64::from(call.team.size) }
}

/// The result of all in every process.
pub(crate) fn allreduce<S: Steps>(call: &Reducing, steps: &mut S, own: Span, value: Span) -> Result<()> {
    let (team, parts) = (call.team, even(call));
    let mine = part(&parts, &call.what, value, team.rank);
    combine(call, steps, &parts, own, mine)?;
    if call.plan.in_ring() {
        return ring::allgather(steps, team, |rank| part(&parts, &call.what, value, rank));
    }
    for source in team.others() {
        let into = part(&parts, &call.what, value, source);
        if into.bytes > 0 {
            steps.receive(source, into)?;
        }
    }
    if mine.bytes > 0 {
        team.others().try_for_each(|dest| steps.send(dest, mine))?;
    }
    steps.round()
}

/// The result at the root.
pub(crate) fn reduce<S: Steps>(call: &Reducing, steps: &mut S, root: u32, own: Span, value: Span) -> Result<()> {
    let (team, parts) = (call.team, even(call));
    if team.rank != root {
        let mine = steps.elements(VALUE, parts.of(team.rank).1)?;
        combine(call, steps, &parts, own, mine)?;
        if mine.bytes > 0 {
            steps.send(root, mine)?;
        }
        return steps.round();
    }
    combine(call, steps, &parts, own, part(&parts, &call.what, value, root))?;
    for source in team.others() {
        let into = part(&parts, &call.what, value, source);
        if into.bytes > 0 {
            steps.receive(source, into)?;
        }
    }
    steps.round()
}

/// Bytes that are received and combined at once: few enough to stay in the cache meanwhile.
const PIECE: u64 = 64 << 10;
/// The most pieces of one part; longer parts have longer pieces.
const PIECES: u64 = 64;

/// Sends each other process its part of the contribution `own`, piece by piece, and combines what the others send of
/// this one's, in `mine`; among many processes around a ring, if operands may be swapped.
pub(crate) fn combine<S: Steps>(
    call: &Reducing,
    steps: &mut S,
    parts: &impl Parts,
    own: Span,
    mine: Span,
) -> Result<()> {
    let Reducing { team, what, plan } = *call;
    if plan.in_ring() && what.commutative {
        return ring::combine(call, steps, parts, own, mine);
    }
    let longest = parts.longest() * what.size;
    let piece = (PIECE / what.size.max(1)).max(parts.longest().div_ceil(PIECES)).max(1) * what.size;
    let pieces = || (0..longest).step_by(piece.max(1) as usize);
    for offset in pieces() {
        for rank in team.others() {
            let theirs = part(parts, &what, own, rank);
            if offset < theirs.bytes {
                steps.send(rank, theirs.part(offset, piece.min(theirs.bytes - offset)))?;
            }
        }
    }
    let own = part(parts, &what, own, team.rank);
    let elements = (piece / what.size.max(1)).min(parts.of(team.rank).1);
    let other = steps.elements(OTHER, elements)?;
    let above = match what.commutative || team.rank + 1 == team.size {
        true => Span::EMPTY,
        false => steps.elements(ABOVE, elements)?,
    };
    for offset in pieces().take_while(|offset| *offset < own.bytes) {
        let bytes = piece.min(own.bytes - offset);
        let value = mine.part(offset, bytes);
        copy_unless_same(steps, own.part(offset, bytes), value)?;
        let (other, above) = (other.part(0, bytes), if above.bytes > 0 { above.part(0, bytes) } else { above });
        combine_piece(steps, team, what.commutative, value, other, above)?;
    }
    steps.round()
}

/// Combines the others' contributions to a piece into `value`, which holds this process's own.
fn combine_piece<S: Steps>(
    steps: &mut S,
    team: Team,
    commutative: bool,
    value: Span,
    other: Span,
    above: Span,
) -> Result<()> {
    let take = |steps: &mut S, rank: u32, into: Span| {
        steps.receive(rank, into)?;
        steps.received()
    };
    if commutative {
        for rank in team.others() {
            take(steps, rank, other)?;
            steps.combine(other, value)?;
        }
        return Ok(());
    }
    // Above this process from the last rank down, each the left operand; the result becomes the right operand of
    // this process's own. Then below it from its neighbour down.
    if team.rank + 1 < team.size {
        take(steps, team.size - 1, above)?;
        for rank in (team.rank + 1..team.size - 1).rev() {
            take(steps, rank, other)?;
            steps.combine(other, above)?;
        }
        steps.combine(value, above)?;
        steps.copy(above, value)?;
    }
    for rank in (0..team.rank).rev() {
        take(steps, rank, other)?;
        steps.combine(other, value)?;
    }
    Ok(())
}
