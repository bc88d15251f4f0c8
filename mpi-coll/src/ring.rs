//! Long exchanges around a ring: each process sends to the next one only, so that many processes need few connections.
//!
//! Bytes are moved as often as when all processes send to all others; the steps are as many as processes.

use mpi_errors::Result;

use crate::parts::{Parts, part};
use crate::reducing::{Reducing, copy_unless_same};
use crate::steps::{ABOVE, OTHER, Span, Steps, Team};

/// Every process gets the blocks of all, of which each has its own; `block` is where a rank's block is in every process.
pub(crate) fn allgather<S: Steps>(steps: &mut S, team: Team, block: impl Fn(u32) -> Span) -> Result<()> {
    let Team { rank, size } = team;
    for step in 0..size - 1 {
        let (out, into) = (block((rank + size - step) % size), block((rank + 2 * size - step - 1) % size));
        pass_on(steps, team, out, into)?;
    }
    Ok(())
}

/// Combines the contributions of all to this process's part, in `mine`; for operations whose operands may be swapped.
/// The partial result of a part passes all other processes before it reaches its own.
pub(crate) fn combine<S: Steps>(
    call: &Reducing,
    steps: &mut S,
    parts: &impl Parts,
    own: Span,
    mine: Span,
) -> Result<()> {
    let Reducing { team, what, .. } = *call;
    let Team { rank, size } = team;
    let (arriving, partial) = (steps.elements(OTHER, parts.longest())?, steps.elements(ABOVE, parts.longest())?);
    let own_part = |of: u32| part(parts, &what, own, of);
    let mut out = own_part((rank + size - 1) % size);
    for step in 0..size - 1 {
        let next = own_part((rank + 2 * size - step - 2) % size);
        let into = arriving.part(0, next.bytes);
        pass_on(steps, team, out, into)?;
        // What was sent has arrived, so its memory is free.
        out = if step + 2 == size { mine } else { partial.part(0, next.bytes) };
        copy_unless_same(steps, next, out)?;
        steps.combine(into, out)?;
    }
    Ok(())
}

/// Sends `out` to the next process and receives `into` from the one before.
fn pass_on<S: Steps>(steps: &mut S, Team { rank, size }: Team, out: Span, into: Span) -> Result<()> {
    if into.bytes > 0 {
        steps.receive((rank + size - 1) % size, into)?;
    }
    if out.bytes > 0 {
        steps.send((rank + 1) % size, out)?;
    }
    steps.round()
}
