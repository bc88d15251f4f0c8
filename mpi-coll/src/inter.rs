//! Collectives of an intercommunicator: each group gets what the other one contributes (MPI-5.0, 6.2.3).
//!
//! Rooted and gathering operations go from process to process. Operations that combine, or that give all the same data,
//! take three parts: among the local group, between the ranks 0 of the groups, and among the local group again.

use mpi_errors::Result;

use crate::bcast::broadcast;
use crate::coll_op::CollOp;
use crate::reduce_scatter::{Counted, scatter};
use crate::reducing::Reducing;
use crate::shape::{Root, Shape};
use crate::steps::{InLocalGroup, Place, RESULT, STAGED, Span, Steps};
use crate::{barrier, scan};

/// The steps of a call on an intercommunicator.
pub(crate) fn steps<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    match shape.which {
        CollOp::Barrier => meet(shape, steps),
        CollOp::Bcast => bcast(shape, steps),
        CollOp::Gather | CollOp::Gatherv => gather(shape, steps),
        CollOp::Scatter | CollOp::Scatterv => scatter_blocks(shape, steps),
        CollOp::Allgather | CollOp::Allgatherv => {
            let own = shape.send.whole(Place::Send);
            exchange(shape, steps, |_| own)
        }
        CollOp::Alltoall | CollOp::Alltoallv | CollOp::Alltoallw => {
            exchange(shape, steps, |rank| shape.send_block(rank))
        }
        CollOp::Reduce => reduce(shape, steps),
        CollOp::Allreduce => allreduce(shape, steps),
        CollOp::ReduceScatter | CollOp::ReduceScatterBlock => reduce_scatter(shape, steps),
        // There is none on an intercommunicator: the caller has refused it.
        CollOp::Scan => scan::inclusive(shape, steps),
        CollOp::Exscan => scan::exclusive(shape, steps),
        CollOp::NeighborAllgather
        | CollOp::NeighborAllgatherv
        | CollOp::NeighborAlltoall
        | CollOp::NeighborAlltoallv
        | CollOp::NeighborAlltoallw => Ok(()),
    }
}

fn meet<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    let (team, flat) = (shape.team, shape.plan.flat());
    barrier::steps(&mut InLocalGroup(steps), team, flat)?;
    if team.rank == 0 {
        steps.send(0, Span::EMPTY)?;
        steps.receive(0, Span::EMPTY)?;
        steps.round()?;
    }
    broadcast(&mut InLocalGroup(steps), team, Span::EMPTY, 0, flat)
}

fn bcast<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    let data = shape.recv.whole(Place::Recv);
    if data.bytes == 0 {
        return Ok(());
    }
    match shape.root {
        Root::Elsewhere => Ok(()),
        Root::Here => steps.send(0, data).and_then(|()| steps.round()),
        Root::Rank(root) => {
            if shape.team.rank == 0 {
                steps.receive(root, data)?;
                steps.round()?;
            }
            broadcast(&mut InLocalGroup(steps), shape.team, data, 0, shape.plan.flat())
        }
    }
}

fn gather<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    match shape.root {
        Root::Elsewhere => {}
        Root::Here => {
            for source in 0..shape.peers {
                let block = shape.recv_block(source);
                if block.bytes > 0 {
                    steps.receive(source, block)?;
                }
            }
        }
        Root::Rank(root) => {
            let own = shape.send.whole(Place::Send);
            if own.bytes > 0 {
                steps.send(root, own)?;
            }
        }
    }
    steps.round()
}

fn scatter_blocks<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    match shape.root {
        Root::Elsewhere => {}
        Root::Here => {
            for dest in 0..shape.peers {
                let block = shape.send_block(dest);
                if block.bytes > 0 {
                    steps.send(dest, block)?;
                }
            }
        }
        Root::Rank(root) => {
            let own = shape.recv.whole(Place::Recv);
            if own.bytes > 0 {
                steps.receive(root, own)?;
            }
        }
    }
    steps.round()
}

/// Every process sends to every one of the other group. The directions are apart: one group may have no data.
fn exchange<S: Steps>(shape: &Shape<'_>, steps: &mut S, out: impl Fn(u32) -> Span) -> Result<()> {
    for step in 0..shape.peers {
        let source = (shape.team.rank + step) % shape.peers;
        let block = shape.recv_block(source);
        if block.bytes > 0 {
            steps.receive(source, block)?;
        }
    }
    for step in 0..shape.peers {
        let dest = (shape.team.rank + step) % shape.peers;
        let block = out(dest);
        if block.bytes > 0 {
            steps.send(dest, block)?;
        }
    }
    steps.round()
}

/// Combines the contributions of the local group in its rank 0, and returns where, in the form of the program's buffers.
fn combine_locally<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<Span> {
    let call = Reducing { team: shape.team, what: shape.combining(), plan: shape.plan };
    let value = match shape.team.rank {
        0 => steps.elements(STAGED, call.what.count)?,
        _ => Span::EMPTY,
    };
    let own = shape.contribution(steps)?;
    call.to_root(&mut InLocalGroup(steps), 0, own, value)?;
    shape.rounded(steps, value)
}

fn reduce<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    if shape.combining().bytes() == 0 {
        return Ok(());
    }
    match shape.root {
        Root::Elsewhere => Ok(()),
        Root::Here => steps.receive(0, shape.recv.whole(Place::Recv)).and_then(|()| steps.round()),
        Root::Rank(root) => {
            let value = combine_locally(shape, steps)?;
            if shape.team.rank == 0 {
                steps.send(root, value)?;
            }
            steps.round()
        }
    }
}

fn allreduce<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    if shape.combining().bytes() == 0 {
        return Ok(());
    }
    let (value, result) = (combine_locally(shape, steps)?, shape.recv.whole(Place::Recv));
    if shape.team.rank == 0 {
        steps.send(0, value)?;
        steps.receive(0, result)?;
        steps.round()?;
    }
    broadcast(&mut InLocalGroup(steps), shape.team, result, 0, shape.plan.flat())
}

fn reduce_scatter<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    let what = shape.combining();
    if what.bytes() == 0 {
        return Ok(());
    }
    let (value, parts) = (combine_locally(shape, steps)?, Counted::new(shape.counts));
    let mut result = Span::EMPTY;
    if shape.team.rank == 0 {
        result = shape.room_for_result(steps, RESULT)?;
        steps.send(0, value)?;
        steps.receive(0, result)?;
        steps.round()?;
    }
    scatter(shape, &mut InLocalGroup(steps), &parts, result, shape.recv.whole(Place::Recv))
}
