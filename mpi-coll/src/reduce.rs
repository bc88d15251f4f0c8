//! `MPI_Reduce` (MPI-5.0, 6.9.1).

use mpi_comm::Comm;
use mpi_core::Guard;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;

use crate::call::CollCall;
use crate::coll_op::{CollOp, Form};
use crate::memory::Buffers;
use crate::missing_buffer::{absent_at_root, in_place_elsewhere};
use crate::plan::longest_whole;
use crate::reducing::{Reducing, copy_unless_same};
use crate::shape::{Root, Shape};
use crate::steps::{OTHER, Span, Steps, VALUE};
use crate::terms::Terms;
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
        match (&send, &recv, comm.rank == root) {
            (None, _, false) => Err(in_place_elsewhere("sendbuf")),
            (_, None, true) => Err(absent_at_root("recvbuf")),
            (.., at_root) => self.reduce_with(self.engine.lock(), comm, send, recv.filter(|_| at_root), what, root),
        }
    }

    /// As [`Collectives::reduce`], for a caller that has the process lock, which it releases; the root, and no other process,
    /// has `recv`.
    #[inline]
    pub fn reduce_with<'a>(
        &'a self,
        guard: Guard<'a>,
        comm: &'a Comm,
        send: Option<SendBuf<'_>>,
        mut recv: Option<RecvBuf<'_>>,
        what: &Reduction<'_>,
        root: u32,
    ) -> Result<()> {
        let reducer = what.op.on(what.datatype, what.handle)?;
        let guard = self.meet(comm, guard, CollOp::Reduce)?;
        let (bytes, binning) = (what.datatype.size() * what.count, self.binning(comm, what));
        let combined = binning.map_or(bytes, |binning| binning.size().saturating_mul(what.count));
        let (calling, guard) = self.begin_with(guard, comm, (CollOp::Reduce, combined), |it| {
            it.count(CollOp::Reduce, Form::Blocking, bytes);
        });
        let guard =
            self.agree(comm, guard, || Terms::new(CollOp::Reduce, bytes).root(Root::Rank(root)).reducing(what))?;
        drop(guard);
        let plan = calling.plan;
        let whole = comm.size() == 2 || bytes <= longest_whole(comm.size());
        if plan.shared()
            && whole
            && (1..=plan.longest()).contains(&bytes)
            && what.is_direct()
            && recv.as_mut().is_none_or(|recv| recv.native_mut().is_some())
            && let Some(result) =
                self.shared_reduce(comm, send.as_ref(), recv.as_mut(), (&reducer, what.count), (bytes, root))
        {
            return result;
        }
        let send = send.map_or(Buffers::InPlace, Buffers::one);
        let recv = recv.map_or(Buffers::Absent, Buffers::one);
        self.block_alone(comm, CollCall::new(CollOp::Reduce, send, recv).rooted(Root::Rank(root)).reducing(what))
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
