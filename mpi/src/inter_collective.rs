//! Collective operations of two groups that do not block, or are persistent (MPI-5.0, 6.2.2, 6.12 and 6.13).
//!
//! Invariant: lengths and roots are checked as far as one process can see them. An operation owns its data until it is
//! complete, as those of one group do.
//! Not here: calls that block (`between`, `between_varying`), operations of one group (`started`).

use mpi_coll::{Blocks, CollOp, OwnedCollective, Root};
use mpi_core::abi::{MPI_ERR_COUNT, MPI_ERR_ROOT};
use mpi_datatype::{Element, Placed};

use crate::arrangement::{Arrangement, check_lengths, check_sum, equal_part, not_equal, sum};
use crate::block::{Block, placed};
use crate::call::CallName;
use crate::coll_functions::functions;
use crate::combine::Combine;
use crate::started::{Owned, Repeated, Started};
use crate::threads::ThreadUse;
use crate::{Error, Intercomm, Part, Result};

const START: &str = "Intercomm::start";
const PERSISTENT: &str = "Intercomm::persistent";

/// A collective operation of two groups with this process's data, to be started by [`Intercomm::start`] or made persistent
/// by [`Intercomm::persistent`].
///
/// The arguments are those of the calls that block; data and counts are owned. What a process receives is the result of
/// [`Started::wait`]; nothing where the operation gives it nothing.
///
/// ```no_run
/// use mpi::{InterCollective, Operation};
///
/// # fn work(both: &mpi::Intercomm) -> mpi::Result<()> {
/// let sums = both.start(InterCollective::all_reduce(vec![1.5, f64::from(both.rank())], Operation::Sum))?;
/// // Work that does not need the sums of the other group.
/// println!("{:?}", sums.wait()?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "it is not started"]
pub struct InterCollective<T: Element> {
    kind: InterKind,
    data: Vec<T>,
    room: Option<Vec<T>>,
    combine: Option<Combine<T>>,
}

/// A collective operation of two groups with what its arguments are beside the data.
#[derive(Debug, Clone)]
pub(crate) enum InterKind {
    Barrier,
    Broadcast(Part),
    Reduce(Part),
    AllReduce,
    ReduceScatter,
    ReduceScatterVarying(Vec<usize>),
    Gather(Part),
    GatherVarying(Vec<usize>, Part),
    Scatter(usize, Part),
    ScatterVarying(Vec<usize>, usize, Part),
    AllGather(usize),
    AllGatherVarying(Vec<usize>),
    AllToAll(usize),
    AllToAllVarying(Vec<usize>, Vec<usize>),
    AllToAllBlocks(Vec<Placed>, Vec<Placed>),
}

impl InterCollective<u8> {
    /// [`Intercomm::barrier`]. There are no data.
    pub fn barrier() -> InterCollective<u8> {
        InterCollective::moving(InterKind::Barrier, Vec::new())
    }
}

impl<T: Element> InterCollective<T> {
    fn moving(kind: InterKind, data: Vec<T>) -> InterCollective<T> {
        InterCollective { kind, data, room: None, combine: None }
    }

    fn combining(kind: InterKind, data: Vec<T>, combine: impl Into<Combine<T>>) -> InterCollective<T> {
        InterCollective { kind, data, room: None, combine: Some(combine.into()) }
    }

    /// [`Intercomm::broadcast`]; `data` is equally long in all processes that take part. The result is the data: the
    /// root's in the other group.
    pub fn broadcast(data: Vec<T>, part: Part) -> InterCollective<T> {
        InterCollective::moving(InterKind::Broadcast(part), data)
    }

    /// [`Intercomm::reduce`].
    pub fn reduce(data: Vec<T>, combine: impl Into<Combine<T>>, part: Part) -> InterCollective<T> {
        InterCollective::combining(InterKind::Reduce(part), data, combine)
    }

    /// [`Intercomm::all_reduce`].
    pub fn all_reduce(data: Vec<T>, combine: impl Into<Combine<T>>) -> InterCollective<T> {
        InterCollective::combining(InterKind::AllReduce, data, combine)
    }

    /// [`Intercomm::reduce_scatter`].
    pub fn reduce_scatter(data: Vec<T>, combine: impl Into<Combine<T>>) -> InterCollective<T> {
        InterCollective::combining(InterKind::ReduceScatter, data, combine)
    }

    /// [`Intercomm::reduce_scatter_varying`].
    pub fn reduce_scatter_varying(
        data: Vec<T>,
        counts: Vec<usize>,
        combine: impl Into<Combine<T>>,
    ) -> InterCollective<T> {
        InterCollective::combining(InterKind::ReduceScatterVarying(counts), data, combine)
    }

    /// [`Intercomm::gather`].
    pub fn gather(data: Vec<T>, part: Part) -> InterCollective<T> {
        InterCollective::moving(InterKind::Gather(part), data)
    }

    /// [`Intercomm::gather_varying`].
    pub fn gather_varying(data: Vec<T>, counts: Vec<usize>, part: Part) -> InterCollective<T> {
        InterCollective::moving(InterKind::GatherVarying(counts, part), data)
    }

    /// [`Intercomm::scatter`]; each process of the other group than the root's gets `count` elements.
    pub fn scatter(data: Vec<T>, count: usize, part: Part) -> InterCollective<T> {
        InterCollective::moving(InterKind::Scatter(count, part), data)
    }

    /// [`Intercomm::scatter_varying`].
    pub fn scatter_varying(data: Vec<T>, counts: Vec<usize>, count: usize, part: Part) -> InterCollective<T> {
        InterCollective::moving(InterKind::ScatterVarying(counts, count, part), data)
    }

    /// [`Intercomm::all_gather`].
    pub fn all_gather(data: Vec<T>, count: usize) -> InterCollective<T> {
        InterCollective::moving(InterKind::AllGather(count), data)
    }

    /// [`Intercomm::all_gather_varying`].
    pub fn all_gather_varying(data: Vec<T>, counts: Vec<usize>) -> InterCollective<T> {
        InterCollective::moving(InterKind::AllGatherVarying(counts), data)
    }

    /// [`Intercomm::all_to_all`].
    pub fn all_to_all(data: Vec<T>, count: usize) -> InterCollective<T> {
        InterCollective::moving(InterKind::AllToAll(count), data)
    }

    /// [`Intercomm::all_to_all_varying`].
    pub fn all_to_all_varying(data: Vec<T>, send_counts: Vec<usize>, receive_counts: Vec<usize>) -> InterCollective<T> {
        InterCollective::moving(InterKind::AllToAllVarying(send_counts, receive_counts), data)
    }

    /// [`Intercomm::all_to_all_blocks`]; the result is `into` with what was received.
    pub fn all_to_all_blocks(
        data: Vec<T>,
        sends: &[Block<T>],
        into: Vec<T>,
        receives: &[Block<T>],
    ) -> InterCollective<T> {
        let moving = InterCollective::moving(InterKind::AllToAllBlocks(placed(sends), placed(receives)), data);
        InterCollective { room: Some(into), ..moving }
    }
}

impl<M: ThreadUse> Intercomm<'_, M> {
    /// Starts a collective operation. All processes of both groups start the same operations in the same order. Errors:
    /// those of the call that blocks, except for those of data of other processes.
    pub fn start<T: Element + Default>(&self, collective: InterCollective<T>) -> Result<Started<'_, T, M>> {
        let name = CallName::new(START, functions(collective.kind.which())[1]);
        let operation = self.both.begin(name, self.owned(collective), OwnedCollective::start)?;
        Ok(Started::of(&self.both, operation))
    }

    /// Makes a persistent collective operation, which [`Repeated::start`] starts. All processes of both groups make them in
    /// the same order. Errors: as [`Intercomm::start`].
    pub fn persistent<T: Element + Default>(&self, collective: InterCollective<T>) -> Result<Repeated<'_, T, M>> {
        let name = CallName::new(PERSISTENT, functions(collective.kind.which())[2]);
        let operation = self.both.begin(name, self.owned(collective), OwnedCollective::persistent)?;
        Ok(Repeated::of(&self.both, operation))
    }

    fn owned<T: Element>(&self, collective: InterCollective<T>) -> Result<Owned<T>> {
        let InterCollective { kind, data, room, combine } = collective;
        let arranged = kind.arrange(self, data.len())?;
        // A process beside the root has no part in the reduction.
        let combine = combine.filter(|_| arranged.root != Some(Root::Elsewhere));
        Ok(Owned { arranged, data, room, combine })
    }
}

impl InterKind {
    /// The operation.
    pub fn which(&self) -> CollOp {
        match self {
            InterKind::Barrier => CollOp::Barrier,
            InterKind::Broadcast(_) => CollOp::Bcast,
            InterKind::Reduce(_) => CollOp::Reduce,
            InterKind::AllReduce => CollOp::Allreduce,
            InterKind::ReduceScatter => CollOp::ReduceScatterBlock,
            InterKind::ReduceScatterVarying(_) => CollOp::ReduceScatter,
            InterKind::Gather(_) => CollOp::Gather,
            InterKind::GatherVarying(..) => CollOp::Gatherv,
            InterKind::Scatter(..) => CollOp::Scatter,
            InterKind::ScatterVarying(..) => CollOp::Scatterv,
            InterKind::AllGather(_) => CollOp::Allgather,
            InterKind::AllGatherVarying(_) => CollOp::Allgatherv,
            InterKind::AllToAll(_) => CollOp::Alltoall,
            InterKind::AllToAllVarying(..) => CollOp::Alltoallv,
            InterKind::AllToAllBlocks(..) => CollOp::Alltoallw,
        }
    }

    fn part(&self) -> Option<Part> {
        match self {
            InterKind::Broadcast(part)
            | InterKind::Reduce(part)
            | InterKind::Gather(part)
            | InterKind::GatherVarying(_, part)
            | InterKind::Scatter(_, part)
            | InterKind::ScatterVarying(_, _, part) => Some(*part),
            _ => None,
        }
    }

    /// The buffers of the operation with so many elements of this process's data. Errors: `MPI_ERR_ROOT`,
    /// `MPI_ERR_COUNT`.
    pub fn arrange<M: ThreadUse>(&self, both: &Intercomm<'_, M>, length: usize) -> Result<Arrangement> {
        let (size, rank, remote) = (both.size() as usize, both.rank() as usize, both.remote_size() as usize);
        let root = self.part().map(|part| root_of(both, part)).transpose()?;
        let (one, all) = (Blocks::Equal(1), Blocks::Equal(remote as u32));
        let none = || (Blocks::Absent, 0);
        // The sides of a call with a root: what the root has, and what the processes across have.
        let rooted = |at_root: (Blocks, (Blocks, usize)), across: (Blocks, (Blocks, usize))| match root {
            Some(Root::Here) => at_root,
            Some(Root::Rank(_)) => across,
            _ => (Blocks::Absent, none()),
        };
        let mut counts = Vec::new();
        let mut in_receive = false;
        let (send, (receive, received)) = match self {
            InterKind::Barrier => (Blocks::Absent, none()),
            InterKind::Broadcast(_) => {
                in_receive = true;
                rooted((Blocks::Absent, (one.clone(), length)), (Blocks::Absent, (one, length)))
            }
            InterKind::Reduce(_) => rooted((Blocks::Absent, (one.clone(), length)), (one, none())),
            InterKind::AllReduce => (one.clone(), (one, length)),
            InterKind::ReduceScatter => {
                let each = equal_part("data.len()", length, size)?;
                counts = vec![each as u64; size];
                (one.clone(), (one, each))
            }
            InterKind::ReduceScatterVarying(lengths) => {
                check_lengths("counts", lengths, size, "process of this group")?;
                check_sum("data.len()", length, lengths)?;
                counts = lengths.iter().map(|length| *length as u64).collect();
                (one.clone(), (one, lengths[rank]))
            }
            InterKind::Gather(_) => rooted((Blocks::Absent, (all, length * remote)), (one, none())),
            InterKind::GatherVarying(lengths, part) => {
                if *part == Part::Root {
                    check_lengths("counts", lengths, remote, "process of the other group")?;
                }
                rooted((Blocks::Absent, (Blocks::Each(lengths.clone()), sum(lengths))), (one, none()))
            }
            InterKind::Scatter(each, part) => {
                if *part == Part::Root && each.checked_mul(remote) != Some(length) {
                    return Err(not_equal("data.len()", length, *each, remote));
                }
                rooted((all, none()), (Blocks::Absent, (one, *each)))
            }
            InterKind::ScatterVarying(lengths, own, part) => {
                if *part == Part::Root {
                    check_lengths("counts", lengths, remote, "process of the other group")?;
                    check_sum("data.len()", length, lengths)?;
                }
                rooted((Blocks::Each(lengths.clone()), none()), (Blocks::Absent, (one, *own)))
            }
            InterKind::AllGather(count) => (one, (all, elements(*count, remote)?)),
            InterKind::AllGatherVarying(lengths) => {
                check_lengths("counts", lengths, remote, "process of the other group")?;
                (one, (Blocks::Each(lengths.clone()), sum(lengths)))
            }
            InterKind::AllToAll(count) => {
                equal_part("data.len()", length, remote)?;
                (all.clone(), (all, elements(*count, remote)?))
            }
            InterKind::AllToAllVarying(sends, receives) => {
                check_lengths("send_counts", sends, remote, "process of the other group")?;
                check_lengths("receive_counts", receives, remote, "process of the other group")?;
                check_sum("data.len()", length, sends)?;
                (Blocks::Each(sends.clone()), (Blocks::Each(receives.clone()), sum(receives)))
            }
            InterKind::AllToAllBlocks(sends, receives) => {
                check_lengths("sends", sends, remote, "process of the other group")?;
                check_lengths("receives", receives, remote, "process of the other group")?;
                (Blocks::Placed(sends.clone()), (Blocks::Placed(receives.clone()), 0))
            }
        };
        Ok(Arrangement { which: self.which(), root, send, receive, received, in_receive, counts })
    }
}

fn elements(count: usize, parts: usize) -> Result<usize> {
    let rule = "no memory has that many elements of each process";
    count.checked_mul(parts).ok_or_else(|| Error::new(MPI_ERR_COUNT, rule).arg("count", &count))
}

/// The root that a part names. Errors: `MPI_ERR_ROOT`.
fn root_of<M: ThreadUse>(both: &Intercomm<'_, M>, part: Part) -> Result<Root> {
    match part {
        Part::Root => Ok(Root::Here),
        Part::BesideRoot => Ok(Root::Elsewhere),
        Part::Across(root) if root < both.remote_size() => Ok(Root::Rank(root)),
        Part::Across(root) => {
            let rule = format!("the remote group has {}", mpi_errors::processes(both.remote_size()));
            Err(Error::new(MPI_ERR_ROOT, rule).arg("root", &root))
        }
    }
}
