//! Collectives of neighbourhoods: each process exchanges data with its neighbours in a topology (MPI-5.0, 8.6).
//!
//! Messages between two processes that are neighbours more than once keep their order; in a grid, what a process sends
//! in one direction arrives from the opposite one. Empty blocks are sent too, so that blocks of which only one side is
//! empty are an error and no hang.

use mpi_errors::Result;

use crate::shape::Shape;
use crate::steps::{Place, Span, Steps};

/// The steps of an allgather among neighbours: each gets the whole of this process's data.
pub(crate) fn allgather<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    let own = shape.send.whole(Place::Send);
    exchange(shape, steps, |_| own)
}

/// The steps of an exchange among neighbours: each gets a block of its own.
pub(crate) fn alltoall<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    exchange(shape, steps, |place| shape.send_block(place))
}

fn exchange<S: Steps>(shape: &Shape<'_>, steps: &mut S, out: impl Fn(u32) -> Span) -> Result<()> {
    let neighbours = &shape.neighbours;
    for place in 0..neighbours.sources.len() {
        // The senders' order: in a grid, the two of a dimension change places.
        let place = if neighbours.in_pairs { place ^ 1 } else { place };
        if let Some(source) = neighbours.sources[place] {
            steps.receive(source, shape.recv_block(place as u32))?;
        }
    }
    for (place, dest) in (0..).zip(neighbours.destinations) {
        if let Some(dest) = *dest {
            steps.send(dest, out(place))?;
        }
    }
    steps.round()
}
