//! `MPI_Allreduce` (MPI-5.0, 6.9.6).
//!
//! Processes that compute the same result do so in the same order, so that it is bitwise equal.

use mpi_comm::Comm;
use mpi_core::Guard;
use mpi_core::abi::{MPI_ERR_INTERN, MPI_SUM};
use mpi_datatype::{Element, RecvBuf, SendBuf};
use mpi_errors::{Error, Result};

use crate::call::{CollCall, Prepared};
use crate::coll_op::CollOp;
use crate::link::Link;
use crate::memory::Buffers;
use crate::op::{Op, Reducer};
use crate::plan::longest_whole;
use crate::reducing::{Reducing, copy_unless_same};
use crate::shape::Shape;
use crate::steps::{OTHER, Span, Steps, Team};
use crate::terms::Terms;
use crate::{Collectives, Reduction, split};

impl Collectives {
    /// Combines the contributions of all processes, in rank order; all get the result. `None` takes the contribution
    /// from `recv`. Errors: also `MPI_ERR_OP` when the operation is not defined on the type.
    #[inline]
    pub fn allreduce(
        &self,
        comm: &Comm,
        send: Option<SendBuf<'_>>,
        recv: RecvBuf<'_>,
        what: &Reduction<'_>,
    ) -> Result<()> {
        self.allreduce_with(self.engine.lock(), comm, send, recv, what)
    }

    /// As [`Collectives::allreduce`], for a caller that has the process lock, which it releases.
    #[inline]
    pub fn allreduce_with<'a>(
        &'a self,
        guard: Guard<'a>,
        comm: &'a Comm,
        send: Option<SendBuf<'_>>,
        mut recv: RecvBuf<'_>,
        what: &Reduction<'_>,
    ) -> Result<()> {
        let reducer = what.op.on(what.datatype, what.handle)?;
        let (bytes, binning) = (recv.bytes(), self.binning(comm, what));
        let combined = binning.map_or(bytes, |binning| binning.size().saturating_mul(what.count));
        let guard = self.meet(comm, guard, CollOp::Allreduce)?;
        let (calling, guard) = self.begin_with(guard, comm, (CollOp::Allreduce, combined), |it| {
            it.allreduce_calls.incr();
            it.allreduce_bytes.add(bytes);
        });
        let guard = self.agree(comm, guard, || Terms::new(CollOp::Allreduce, bytes).reducing(what))?;
        let plan = calling.plan;
        if plan.shared() && binning.is_none() {
            drop(guard);
            if what.is_direct() {
                let (send, whole, longest) = (send.as_ref(), longest_whole(comm.size()), plan.longest());
                let result = if bytes <= whole.min(longest) {
                    self.shared_allreduce(comm, send, &mut recv, &reducer, what.count)
                } else if bytes > whole && longest >= LEAST_CHUNK {
                    self.shared_split_allreduce(comm, send, &mut recv, (&reducer, what.count), longest)
                } else {
                    None
                };
                if let Some(result) = result {
                    return result;
                }
            }
            return self.allreduce_of_many(comm, send, recv, what);
        }
        let link = self.link(comm, CollOp::Allreduce.tag());
        let short = bytes <= PAIR_BYTES as u64 && !plan.split(bytes);
        if link.size == 2 && short && binning.is_none() && what.datatype.is_contiguous() {
            return pair(link, guard, send, recv, &reducer, what.count);
        }
        drop(guard);
        self.allreduce_of_many(comm, send, recv, what)
    }

    /// Sums each element over all processes, for the library itself; no variable counts the call.
    pub fn sum(&self, comm: &Comm, values: &mut [u64]) -> Result<()> {
        let link = self.link(comm, CollOp::Allreduce.tag());
        let op = Op::predefined(MPI_SUM).expect("a predefined operation");
        let what = Reduction { op, datatype: u64::datatype(), handle: u64::HANDLE, count: values.len() as u64 };
        let (reducer, recv) = (op.on(what.datatype, what.handle)?, RecvBuf::from_slice(values));
        if link.size == 2 && recv.bytes() <= PAIR_BYTES as u64 {
            return pair(link, self.engine.lock(), None, recv, &reducer, what.count);
        }
        self.allreduce_of_many(comm, None, recv, &what)
    }

    #[inline(never)]
    fn allreduce_of_many(
        &self,
        comm: &Comm,
        send: Option<SendBuf<'_>>,
        recv: RecvBuf<'_>,
        what: &Reduction<'_>,
    ) -> Result<()> {
        let send = send.map_or(Buffers::InPlace, Buffers::one);
        let call = CollCall::new(CollOp::Allreduce, send, Buffers::one(recv)).reducing(what);
        let Prepared { shape, memory, .. } = self.prepare(comm, call)?;
        self.carry_out(comm, &shape, memory, Some(what))
    }
}

/// Shortest limit of publications with which long reductions have a short way: an element fits in any case.
const LEAST_CHUNK: u64 = 4096;

/// Longest contribution, in bytes, for which two processes exchange one message each.
const PAIR_BYTES: usize = 64;

/// Memory for the other's contribution, aligned as users' operations may demand.
#[repr(align(16))]
struct Theirs([u8; PAIR_BYTES]);

/// Two processes and a short contribution: one message each way, and nothing else.
#[inline]
fn pair(
    link: Link<'_>,
    guard: Guard<'_>,
    send: Option<SendBuf<'_>>,
    mut recv: RecvBuf<'_>,
    reducer: &Reducer<'_>,
    count: u64,
) -> Result<()> {
    let partner = 1 - link.rank;
    if let Some(send) = &send {
        recv.copy_from(send);
    }
    let mut theirs = Theirs([0; PAIR_BYTES]);
    let theirs = &mut theirs.0[..recv.bytes() as usize];
    link.exchange_with(guard, partner, recv.as_send(), partner, RecvBuf::from_slice(theirs))?;
    let Some(own) = recv.native_mut() else { return Err(no_elements()) };
    if link.rank == 0 {
        reducer.apply(own, theirs, count);
        own.copy_from_slice(theirs);
    } else {
        reducer.apply(theirs, own, count);
    }
    Ok(())
}

/// A buffer whose elements are not combined where they are: not for types without gaps.
#[cold]
fn no_elements() -> Error {
    Error::new(MPI_ERR_INTERN, "elements of a derived datatype in the program's memory")
}

/// The steps of a reduction for all.
pub(crate) fn steps<S: Steps>(shape: &Shape<'_>, steps: &mut S) -> Result<()> {
    if shape.combining().bytes() == 0 {
        return Ok(());
    }
    let (own, value) = shape.operands(steps)?;
    let call = Reducing { team: shape.team, what: shape.combining(), plan: shape.plan };
    call.to_all(steps, own, value)?;
    shape.deliver(steps, value)
}

impl Reducing {
    /// Combines the contributions `own` in rank order; all get the result in `value`, in which elements may be combined,
    /// and which may be the place of the contribution.
    pub fn to_all<S: Steps>(self, steps: &mut S, own: Span, value: Span) -> Result<()> {
        if self.team.size > 1 && self.plan.split(self.what.bytes()) {
            return split::allreduce(&self, steps, own, value);
        }
        copy_unless_same(steps, own, value)?;
        if self.team.size == 1 {
            return Ok(());
        }
        let mut parts = [value, Span::EMPTY];
        if self.team.size > 2 && self.plan.flat() {
            self.through_rank_0(steps, &mut parts)?;
        } else {
            self.doubling(steps, &mut parts)?;
        }
        copy_unless_same(steps, parts[0], value)
    }

    /// Rank 0 combines, then sends the result to all; the other processes wait once.
    fn through_rank_0<S: Steps>(&self, steps: &mut S, parts: &mut [Span; 2]) -> Result<()> {
        let Reducing { team, what, .. } = *self;
        if team.rank != 0 {
            steps.send(0, parts[0])?;
            // The result overwrites the contribution.
            steps.round()?;
            steps.receive(0, parts[0])?;
            return steps.round();
        }
        parts[1] = steps.elements(OTHER, what.count)?;
        for source in 1..team.size {
            steps.receive(source, parts[1])?;
            steps.received()?;
            if what.commutative {
                steps.combine(parts[1], parts[0])?;
            } else {
                combine_higher(steps, parts)?;
            }
        }
        (1..team.size).try_for_each(|dest| steps.send(dest, parts[0]))?;
        steps.round()
    }

    /// Recursive doubling. When the size is no power of two, the first processes are paired, and one of each pair takes
    /// part for both.
    fn doubling<S: Steps>(&self, steps: &mut S, parts: &mut [Span; 2]) -> Result<()> {
        let Reducing { team: Team { rank, size }, what, .. } = *self;
        let power = 1 << size.ilog2();
        let paired = 2 * (size - power);
        if rank < paired && rank.is_multiple_of(2) {
            steps.send(rank + 1, parts[0])?;
            steps.round()?;
            steps.receive(rank + 1, parts[0])?;
            return steps.round();
        }
        parts[1] = steps.elements(OTHER, what.count)?;
        if rank < paired {
            steps.receive(rank - 1, parts[1])?;
            steps.round()?;
            steps.combine(parts[1], parts[0])?;
        }
        let place = if rank < paired { rank / 2 } else { rank - paired / 2 };
        let mut bit = 1;
        while bit < power {
            let other = place ^ bit;
            let partner = if other < paired / 2 { 2 * other + 1 } else { other + paired / 2 };
            steps.send(partner, parts[0])?;
            steps.receive(partner, parts[1])?;
            steps.round()?;
            // Both partners combine in the same order.
            if partner > rank {
                combine_higher(steps, parts)?;
            } else {
                steps.combine(parts[1], parts[0])?;
            }
            bit *= 2;
        }
        if rank < paired {
            steps.send(rank - 1, parts[0])?;
        }
        steps.round()
    }
}

/// Combines a result with the contribution of higher ranks, in whose place the new result is: the two change roles.
fn combine_higher<S: Steps>(steps: &mut S, parts: &mut [Span; 2]) -> Result<()> {
    steps.combine(parts[0], parts[1])?;
    parts.swap(0, 1);
    Ok(())
}
