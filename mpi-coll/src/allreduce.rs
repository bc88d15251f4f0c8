//! `MPI_Allreduce` (MPI-5.0, 6.9.6).
//!
//! Processes that compute the same result do so in the same order, so that it is bitwise equal.

use mpi_comm::{Comm, Outcome};
use mpi_core::Guard;
use mpi_core::abi::MPI_SUM;
use mpi_datatype::{Element, RecvBuf, SendBuf};
use mpi_errors::Result;

use crate::agreement::Terms;
use crate::coll_op::CollOp;
use crate::link::{ALLREDUCE, Link};
use crate::op::{Op, Reducer};
use crate::partial::{Partial, elements_mut, in_scratch, needs_scratch};
use crate::plan::Plan;
use crate::scratch::Scratch;
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
        if needs_scratch(what.datatype, &mut recv) {
            drop(guard);
            return self.allreduce_in_scratch(comm, send, recv, what);
        }
        self.allreduce_in_place(guard, comm, send, recv, what)
    }

    #[cold]
    #[inline(never)]
    fn allreduce_in_scratch(
        &self,
        comm: &Comm,
        send: Option<SendBuf<'_>>,
        recv: RecvBuf<'_>,
        what: &Reduction<'_>,
    ) -> Result<()> {
        in_scratch(send, recv, what, |inside| self.allreduce_in_place(self.engine.lock(), comm, None, inside, what))
    }

    /// As [`Collectives::allreduce`], where the elements may be combined in the receive buffer. A separate function,
    /// because one that calls itself is not inlined.
    #[inline(always)]
    fn allreduce_in_place<'a>(
        &'a self,
        guard: Guard<'a>,
        comm: &'a Comm,
        send: Option<SendBuf<'_>>,
        recv: RecvBuf<'_>,
        what: &Reduction<'_>,
    ) -> Result<()> {
        let reducer = what.op.on(what.datatype, what.handle)?;
        let bytes = recv.bytes();
        let (calling, guard) = self.begin_with(guard, comm, (CollOp::Allreduce, bytes), |it| {
            it.allreduce_calls.incr();
            it.allreduce_bytes.add(bytes);
        });
        let guard = self.agree(comm, guard, || Terms::new(CollOp::Allreduce, bytes).reducing(what))?;
        let link = self.link(comm, ALLREDUCE);
        let plan = calling.plan;
        if link.size == 2 && bytes <= PAIR_BYTES as u64 && what.datatype.is_contiguous() && !plan.split(bytes) {
            return pair(link, guard, send, recv, &reducer, what.count);
        }
        drop(guard);
        self.allreduce_of_many(link, send, recv, &reducer, what, plan)
    }

    /// Sums each element over all processes, for the library itself; no variable counts the call.
    pub fn sum(&self, comm: &Comm, values: &mut [u64]) -> Result<()> {
        let link = self.link(comm, ALLREDUCE);
        let op = Op::predefined(MPI_SUM).expect("a predefined operation");
        let what = Reduction { op, datatype: u64::datatype(), handle: u64::HANDLE, count: values.len() as u64 };
        let (reducer, recv) = (op.on(what.datatype, what.handle)?, RecvBuf::from_slice(values));
        if link.size == 2 && recv.bytes() <= PAIR_BYTES as u64 {
            return pair(link, self.engine.lock(), None, recv, &reducer, what.count);
        }
        self.allreduce_of_many(link, None, recv, &reducer, &what, self.plan(comm, CollOp::Allreduce))
    }

    #[inline(never)]
    fn allreduce_of_many(
        &self,
        link: Link<'_>,
        send: Option<SendBuf<'_>>,
        mut recv: RecvBuf<'_>,
        reducer: &Reducer<'_>,
        what: &Reduction<'_>,
        plan: Plan,
    ) -> Result<()> {
        let mut outcome = Outcome::default();
        if plan.split(recv.bytes()) {
            split::allreduce(link, send, recv, reducer, what, &mut outcome)?;
            return outcome.end();
        }
        if let Some(send) = &send {
            recv.copy_from(send);
        }
        if link.size == 1 || recv.bytes() == 0 {
            return Ok(());
        }
        let value = elements_mut(&mut recv)?;
        let mut scratch = Scratch::elements(what.datatype, what.count)?;
        let mut partial = Partial::new(reducer, what.datatype, what.count, value, scratch.bytes());
        if link.size == 2 {
            exchange(link, 1 - link.rank, &mut partial, &mut outcome)?;
        } else if plan.flat() {
            through_rank_0(link, &mut partial, &mut outcome)?;
        } else {
            doubling(link, &mut partial, &mut outcome)?;
        }
        partial.settle();
        outcome.end()
    }
}

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
    let own = elements_mut(&mut recv)?;
    if link.rank == 0 {
        reducer.apply(own, theirs, count);
        own.copy_from_slice(theirs);
    } else {
        reducer.apply(theirs, own, count);
    }
    Ok(())
}

/// Two processes, each with the result of its group, exchange the results.
#[inline]
fn exchange(link: Link<'_>, partner: u32, partial: &mut Partial<'_>, outcome: &mut Outcome) -> Result<()> {
    let (value, incoming) = partial.both();
    outcome.record_data_error(link.exchange(partner, value, partner, incoming))?;
    if partner > link.rank {
        partial.absorb_higher();
    } else {
        partial.absorb_lower();
    }
    Ok(())
}

/// Rank 0 combines, then sends the result to all; the other processes wait once.
fn through_rank_0(link: Link<'_>, partial: &mut Partial<'_>, outcome: &mut Outcome) -> Result<()> {
    if link.rank != 0 {
        link.send(0, partial.value())?;
        return outcome.record_data_error(link.recv(0, partial.value_mut()));
    }
    for source in 1..link.size {
        outcome.record_data_error(link.recv(source, partial.incoming()))?;
        partial.absorb(true);
    }
    (1..link.size).try_for_each(|dest| link.send(dest, partial.value()))
}

/// Recursive doubling. When the size is no power of two, the first
/// processes are paired, and one of each pair takes part for both.
fn doubling(link: Link<'_>, partial: &mut Partial<'_>, outcome: &mut Outcome) -> Result<()> {
    let power = 1 << link.size.ilog2();
    let paired = 2 * (link.size - power);
    let rank = link.rank;
    if rank < paired && rank.is_multiple_of(2) {
        link.send(rank + 1, partial.value())?;
        return outcome.record_data_error(link.recv(rank + 1, partial.value_mut()));
    }
    if rank < paired {
        outcome.record_data_error(link.recv(rank - 1, partial.incoming()))?;
        partial.absorb_lower();
    }
    let place = if rank < paired { rank / 2 } else { rank - paired / 2 };
    let mut bit = 1;
    while bit < power {
        let other = place ^ bit;
        let partner = if other < paired / 2 { 2 * other + 1 } else { other + paired / 2 };
        exchange(link, partner, partial, outcome)?;
        bit *= 2;
    }
    if rank < paired {
        link.send(rank - 1, partial.value())?;
    }
    Ok(())
}
