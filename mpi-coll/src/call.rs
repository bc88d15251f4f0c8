//! One collective call of any operation, before it is known whether it blocks.
//!
//! Invariant: a call is counted once, when it begins.
//! Not here: the algorithms, the short ways of blocking calls (`blocking`, `barrier`, `bcast`, `allreduce`).

use mpi_comm::Comm;
use mpi_core::Guard;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;

use crate::agreement::{Agreement, terms};
use crate::coll_op::CollOp;
use crate::memory::{Buffers, Memory};
use crate::op::Binning;
use crate::run::Run;
use crate::shape::{Combining, Neighbours, Root, Shape};
use crate::shared::Heading;
use crate::steps::Team;
use crate::{Collectives, Form, Reduction};

/// A collective operation with its arguments, as one process passes them.
pub struct CollCall<'b, 'a> {
    pub(crate) which: CollOp,
    pub(crate) root: Root,
    pub(crate) send: Buffers<SendBuf<'b>>,
    pub(crate) recv: Buffers<RecvBuf<'b>>,
    pub(crate) reduction: Option<&'a Reduction<'a>>,
    counts: &'a [u64],
    pub(crate) at_end: Option<AtEnd>,
}

/// What is done, under the process lock, when an operation that does not block is over, or its persistent request freed.
pub type AtEnd = Box<dyn FnOnce(&mut Guard<'_>) + Send>;

impl<'b, 'a> CollCall<'b, 'a> {
    /// An operation on these buffers. The one buffer of a broadcast is the receive buffer of all processes.
    #[inline(always)]
    pub fn new(which: CollOp, send: Buffers<SendBuf<'b>>, recv: Buffers<RecvBuf<'b>>) -> CollCall<'b, 'a> {
        CollCall { which, root: Root::Rank(0), send, recv, reduction: None, counts: &[], at_end: None }
    }

    /// With this root.
    #[inline(always)]
    pub fn rooted(self, root: Root) -> CollCall<'b, 'a> {
        CollCall { root, ..self }
    }

    /// With these numbers of elements of each process's part of the result.
    #[inline(always)]
    pub fn scattered(self, counts: &'a [u64]) -> CollCall<'b, 'a> {
        CollCall { counts, ..self }
    }

    /// Of an operation that does not block, with something to do when it is over; not done if its start fails.
    pub fn at_end(self, at_end: AtEnd) -> CollCall<'b, 'a> {
        CollCall { at_end: Some(at_end), ..self }
    }

    /// With this reduction.
    #[inline(always)]
    pub fn reducing(self, reduction: &'a Reduction<'a>) -> CollCall<'b, 'a> {
        CollCall { reduction: Some(reduction), ..self }
    }
}

/// A call with its memory, to be carried out in any form.
pub(crate) struct Prepared<'b, 'a> {
    pub shape: Shape<'a>,
    pub memory: Memory<'b>,
    pub reduction: Option<&'a Reduction<'a>>,
    /// Bytes that are counted.
    pub counted: u64,
    /// Bytes that must match those of other processes.
    pub matching: u64,
}

impl Collectives {
    /// Finds the shape of a call. Errors: `MPI_ERR_OP` when a reduction is not defined on its type, `MPI_ERR_TOPOLOGY`
    /// when a communicator without neighbours is given.
    pub(crate) fn prepare<'b, 'a>(&self, comm: &'a Comm, call: CollCall<'b, 'a>) -> Result<Prepared<'b, 'a>> {
        let CollCall { which, root, send, recv, reduction, counts, .. } = call;
        let (plan, mut memory) = (self.plan(comm, which), Memory::new(send, recv));
        let (send, recv) = memory.layouts();
        let combining = match reduction {
            None => None,
            Some(what) => {
                let commutative = what.op.on(what.datatype, what.handle)?.is_commutative();
                let native = memory.recv_is_native();
                let plain = what.datatype.size();
                let size = self.binning(comm, what).map_or(plain, |binning| binning.size());
                Some(Combining { size, plain, count: what.count, commutative, native, direct: what.is_direct() })
            }
        };
        let memory = memory.binned(reduction.and_then(|what| self.binning(comm, what)));
        let team = Team { rank: comm.rank, size: comm.size() };
        let contribution = combining.map_or((0, 0), |what| (what.bytes(), what.plain_bytes()));
        let amounts = Amounts::of(which, team.size, (send.bytes_if_present(), recv.bytes_if_present()), contribution);
        let plan = plan.with_elements(combining.map_or(0, |what| what.size)).with_bytes(
            which,
            amounts.plan,
            self.settings_of(comm),
        );
        let shape = Shape {
            which,
            team,
            peers: comm.peers(),
            inter: comm.remote().is_some(),
            root,
            plan,
            bytes: amounts.plan,
            matching: amounts.matching,
            send,
            recv,
            counts,
            reduction: combining,
            neighbours: neighbours(comm, which)?,
            hosts: comm.hosts(),
        };
        Ok(Prepared { shape, memory, reduction, counted: amounts.counted, matching: amounts.matching })
    }

    /// The form in which the elements of a reduction are combined, if its result is to be reproducible.
    pub(crate) fn binning(&self, comm: &Comm, what: &Reduction<'_>) -> Option<Binning> {
        match self.settings_of(comm).reproducible_sums.get() {
            true => Binning::of(what.op, what.datatype),
            false => None,
        }
    }

    /// Carries out a blocking call by its steps, after its processes have met.
    #[inline(never)]
    pub(crate) fn block_by_steps<'a>(&'a self, guard: Guard<'a>, comm: &'a Comm, call: CollCall<'_, '_>) -> Result<()> {
        self.engine.check_lost(&guard, comm.collective_context())?;
        let Prepared { shape, memory, reduction, counted, matching } = self.prepare(comm, call)?;
        let which = shape.which;
        let (_calling, guard) = self.begin_with(guard, comm, (which, shape.bytes), |it| {
            it.count(which, Form::Blocking, counted);
        });
        drop(guard);
        if self.settings_of(comm).check.get() {
            self.compare(comm, &Agreement::of(&shape, terms(&shape, Form::Blocking, reduction, matching)))?;
        }
        self.carry_out(comm, &shape, memory, reduction)
    }

    /// The steps of a broadcast that has begun.
    pub(crate) fn bcast_by_steps(&self, comm: &Comm, buffer: RecvBuf<'_>, root: u32) -> Result<()> {
        let call = CollCall::new(CollOp::Bcast, Buffers::Absent, Buffers::one(buffer));
        self.block_alone(comm, call.rooted(Root::Rank(root)))
    }

    /// As [`Collectives::block`], for a part of another call, which counts.
    pub(crate) fn block_alone(&self, comm: &Comm, call: CollCall<'_, '_>) -> Result<()> {
        let Prepared { shape, memory, reduction, .. } = self.prepare(comm, call)?;
        self.carry_out(comm, &shape, memory, reduction)
    }

    /// As [`Collectives::block_alone`], with another heading.
    pub(crate) fn block_headed(&self, comm: &Comm, call: CollCall<'_, '_>, heading: Heading) -> Result<()> {
        let Prepared { mut shape, memory, reduction, .. } = self.prepare(comm, call)?;
        shape.matching = heading.matching();
        self.carry_out(comm, &shape, memory, reduction)
    }

    /// Carries out the steps of a call that has begun.
    pub(crate) fn carry_out(
        &self,
        comm: &Comm,
        shape: &Shape<'_>,
        memory: Memory<'_>,
        reduction: Option<&Reduction<'_>>,
    ) -> Result<()> {
        let link = self.link(comm, shape.which.tag());
        let local = comm.local().collective_context();
        let reducer = reduction.map(|what| what.op.on(what.datatype, what.handle)).transpose()?;
        let heading = Heading::new(shape.which, shape.matching);
        let mutual = shape.ends_mutually();
        let exchanges = shape.exchanges();
        let turns = if shape.plan.shared() { self.turns(comm, heading, exchanges) } else { None };
        let mut run = Run::new(link, local, memory, reduction.zip(reducer.as_ref()), turns);
        let result = shape.steps(&mut run);
        run.end(result, mutual)
    }
}

/// The neighbours that a call needs.
fn neighbours(comm: &Comm, which: CollOp) -> Result<Neighbours<'_>> {
    if !which.is_of_neighbours() {
        return Ok(Neighbours::default());
    }
    let [sources, destinations] = comm.neighborhood()?;
    Ok(Neighbours { sources, destinations, in_pairs: comm.cartesian().is_ok() })
}

/// The bytes of a call: by which its plan chooses, that are counted, and that match those of other processes.
pub(crate) struct Amounts {
    pub plan: u64,
    pub counted: u64,
    pub matching: u64,
}

impl Amounts {
    /// `send`, `recv`: bytes of the buffers, where there are some. `contribution`: bytes that each process contributes to a
    /// reduction, where they are combined and in its buffer.
    #[inline(always)] // the operation is a constant in the short ways
    pub fn of(which: CollOp, size: u32, (send, recv): (Option<u64>, Option<u64>), contribution: (u64, u64)) -> Amounts {
        let all = |bytes: u64| Amounts { plan: bytes, counted: bytes, matching: bytes };
        let (sent, received, size) = (send.unwrap_or(0), recv.unwrap_or(0), u64::from(size));
        let combined = Amounts { plan: contribution.0, ..all(contribution.1) };
        let first = |one: Option<u64>, bytes: u64, other: u64| if one.is_some() { bytes } else { other };
        match which {
            CollOp::Barrier => all(0),
            CollOp::Bcast => all(received),
            CollOp::Reduce | CollOp::Allreduce => combined,
            CollOp::Gather => {
                let block = first(send, sent, received / size);
                Amounts { matching: first(recv, received / size, block), ..all(block) }
            }
            CollOp::Scatter => {
                let block = first(recv, received, sent / size);
                Amounts { matching: first(send, sent / size, block), ..all(block) }
            }
            CollOp::Allgather => {
                let block = received / size;
                Amounts { plan: received, counted: first(send, sent, block), matching: block }
            }
            CollOp::Alltoall => Amounts { matching: received / size, ..all(first(send, sent, received)) },
            CollOp::Allgatherv => Amounts { counted: sent, ..all(received) },
            CollOp::ReduceScatter | CollOp::ReduceScatterBlock | CollOp::Scan | CollOp::Exscan => combined,
            CollOp::Scatterv => Amounts { plan: 0, counted: received, matching: 0 },
            // Nothing of these is the same in all processes.
            CollOp::Alltoallv | CollOp::Alltoallw => {
                Amounts { plan: 0, counted: first(send, sent, received), matching: 0 }
            }
            CollOp::Gatherv
            | CollOp::NeighborAllgather
            | CollOp::NeighborAllgatherv
            | CollOp::NeighborAlltoall
            | CollOp::NeighborAlltoallv
            | CollOp::NeighborAlltoallw => Amounts { plan: 0, counted: sent, matching: 0 },
        }
    }
}
