//! `MPI_Reduce` (MPI-5.0, 6.9.1).

use mpi_comm::Comm;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;

use crate::call::CollCall;
use crate::coll_op::CollOp;
use crate::memory::Buffers;
use crate::missing_buffer::{absent_at_root, in_place_elsewhere};
use crate::reducing::{Reducing, copy_unless_same};
use crate::shape::{Root, Shape};
use crate::steps::{OTHER, Span, Steps, VALUE};
use crate::{Collectives, Reduction, split};

impl Collectives {
    /// Combines the contributions of all processes, in rank order; `root` gets the result in `recv`, which no
    /// other process needs. `None` for `send`, at the root only, takes the root's contribution from `recv`.
    /// Errors: also `MPI_ERR_OP` when the operation is not defined on the type.
    pub fn reduce(
        &self,
        comm: &Comm,
        send: Option<SendBuf<'_>>,
        recv: Option<RecvBuf<'_>>,
        what: &Reduction<'_>,
        root: u32,
    ) -> Result<()> {
        let at_root = comm.rank == root;
        let send = match send {
            Some(send) => Buffers::one(send),
            None if at_root => Buffers::InPlace,
            None => return Err(in_place_elsewhere("sendbuf")),
        };
        let recv = match recv {
            Some(recv) if at_root => Buffers::one(recv),
            None if at_root => return Err(absent_at_root("recvbuf")),
            _ => Buffers::Absent,
        };
        self.block(comm, CollCall::new(CollOp::Reduce, send, recv).rooted(Root::Rank(root)).reducing(what))
    }
}

/// The steps of a reduction to one process.
pub(crate) fn steps<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    if shape.combining().bytes() == 0 {
        return Ok(());
    }
    let root = shape.root_rank();
    let (own, value) = match shape.team.rank == root {
        true => shape.operands(steps)?,
        false => (shape.contribution(steps)?, Span::EMPTY),
    };
    let call = Reducing { team: shape.team, what: shape.combining(), plan: shape.plan };
    call.to_root(steps, root, own, value)?;
    shape.deliver(steps, value)
}

impl Reducing {
    /// Combines the contributions `own` in rank order; the root gets the result in `value`, in which elements may be
    /// combined, and which may be the place of its contribution.
    pub fn to_root<S: Steps>(self, steps: &mut S, root: u32, own: Span, value: Span) -> Result<()> {
        let Reducing { team, what, plan } = self;
        if team.size == 1 {
            return copy_unless_same(steps, own, value);
        }
        if plan.split(what.bytes()) {
            return split::reduce(&self, steps, root, own, value);
        }
        if !plan.flat() && team.size > 2 {
            return self.tree(steps, root, own, value);
        }
        if team.rank == root {
            return self.collect(steps, own, value);
        }
        steps.send(root, own)?;
        steps.round()
    }

    /// The root of a flat reduction combines all contributions itself.
    fn collect<S: Steps>(&self, steps: &mut S, own: Span, value: Span) -> Result<()> {
        let Reducing { team, what, .. } = *self;
        let other = steps.elements(OTHER, what.count)?;
        if what.commutative {
            copy_unless_same(steps, own, value)?;
            for source in team.others() {
                steps.receive(source, other)?;
                steps.received()?;
                steps.combine(other, value)?;
            }
            return Ok(());
        }
        // From the last rank down, so that each contribution is the left operand.
        let partial = steps.elements(VALUE, what.count)?;
        for source in (0..team.size).rev() {
            let first = source == team.size - 1;
            let into = if first { partial } else { other };
            if source == team.rank {
                steps.copy(own, into)?;
            } else {
                steps.receive(source, into)?;
                steps.received()?;
            }
            if !first {
                steps.combine(other, partial)?;
            }
        }
        steps.copy(partial, value)
    }

    /// A binomial tree. Around the root where operands may be swapped; else around rank 0, which sends the result on.
    fn tree<S: Steps>(&self, steps: &mut S, root: u32, own: Span, value: Span) -> Result<()> {
        let Reducing { team, what, .. } = *self;
        let top = if what.commutative { root } else { 0 };
        let place = (team.rank + team.size - top) % team.size;
        let at = |place: u32| (place + top) % team.size;
        let mut result = own;
        if place % 2 == 1 {
            // A leaf only sends its contribution.
            steps.send(at(place - 1), own)?;
        } else {
            let (mut partial, mut other) = (steps.elements(VALUE, what.count)?, steps.elements(OTHER, what.count)?);
            steps.copy(own, partial)?;
            let mut bit = 1;
            while bit < team.size {
                if place & bit != 0 {
                    steps.send(at(place - bit), partial)?;
                    break;
                }
                if place + bit < team.size {
                    steps.receive(at(place + bit), other)?;
                    steps.received()?;
                    if what.commutative {
                        steps.combine(other, partial)?;
                    } else {
                        steps.combine(partial, other)?;
                        std::mem::swap(&mut partial, &mut other);
                    }
                }
                bit *= 2;
            }
            result = partial;
        }
        steps.round()?;
        match (team.rank == top, team.rank == root) {
            (true, true) => steps.copy(result, value),
            (true, false) => steps.send(root, result).and_then(|()| steps.round()),
            (false, true) => steps.receive(top, value).and_then(|()| steps.round()),
            (false, false) => Ok(()),
        }
    }
}
