//! The buffers of a collective operation: how long they are, and of which blocks they consist.
//!
//! Invariant: lengths and roots are checked as far as one process can see them.
//! Not here: what is done with the operation (`varying`, `started`).

use std::sync::Arc;

use mpi_coll::{Blocks, CollOp, Op, Root};
use mpi_core::abi::{MPI_ERR_COUNT, MPI_ERR_OP};
use mpi_core::functions;
use mpi_datatype::Element;
use mpi_env::Process;

use crate::communicator::EndOnPanic;
use crate::threads::ThreadUse;
use crate::{Communicator, Error, Operation, Result};

/// How values are combined: by an [`Operation`] or by a function of the program.
///
/// ```no_run
/// # fn work(world: &mpi::World) -> mpi::Result<()> {
/// // Each process has a function x -> slope * x + offset; the first one is applied first.
/// let composition = mpi::Combine::by(|f: [f64; 2], g| [g[0] * f[0], g[0] * f[1] + g[1]]);
/// let doubled = world.scan(&[[2.0, 1.0]], composition)?;
/// assert_eq!(doubled[0][0], f64::from(world.rank() + 1).exp2());
/// # Ok(())
/// # }
/// ```
pub struct Combine<T: Element>(How<T>);

enum How<T> {
    Named(Operation),
    Function(Arc<dyn Fn(T, T) -> T + Send + Sync>),
}

impl<T: Element> Combine<T> {
    /// By a function, which is called with values of lower and of higher ranks. It must be associative, and the same in
    /// all processes. A panic of it ends the job.
    pub fn by(combine: impl Fn(T, T) -> T + Send + Sync + 'static) -> Combine<T> {
        Combine(How::Function(Arc::new(combine)))
    }

    /// The operation of the library. Errors: `MPI_ERR_OP` when it is not defined on the type.
    pub(crate) fn op(&self, process: &'static Process) -> Result<Op> {
        let op = match &self.0 {
            How::Named(operation) => {
                let op = Op::predefined(operation.handle()).cloned();
                op.ok_or_else(|| Error::new(MPI_ERR_OP, "the operation is not in this build"))?
            }
            How::Function(combine) => {
                let combine = combine.clone();
                Op::of_elements(move |lower: T, higher: T| {
                    let end_on_panic = EndOnPanic(process);
                    let combined = combine(lower, higher);
                    drop(end_on_panic);
                    combined
                })
            }
        };
        op.on(T::datatype(), T::HANDLE)?;
        Ok(op)
    }
}

impl<T: Element> From<Operation> for Combine<T> {
    fn from(operation: Operation) -> Combine<T> {
        Combine(How::Named(operation))
    }
}

impl<T: Element> Clone for Combine<T> {
    fn clone(&self) -> Combine<T> {
        Combine(match &self.0 {
            How::Named(operation) => How::Named(*operation),
            How::Function(combine) => How::Function(combine.clone()),
        })
    }
}

impl<T: Element> std::fmt::Debug for Combine<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            How::Named(operation) => operation.fmt(f),
            How::Function(_) => f.write_str("a function"),
        }
    }
}

/// A collective operation with what its arguments are beside the data.
#[derive(Debug, Clone)]
pub(crate) enum Kind {
    Barrier,
    Broadcast(u32),
    Reduce(u32),
    AllReduce,
    Scan,
    ExclusiveScan,
    ReduceScatter,
    ReduceScatterVarying(Vec<usize>),
    Gather(u32),
    GatherVarying(Vec<usize>, u32),
    Scatter(usize, u32),
    ScatterVarying(Vec<usize>, u32),
    AllGather,
    AllGatherVarying(Vec<usize>),
    AllToAll,
    AllToAllVarying(Vec<usize>, Vec<usize>),
    NeighborAllGather,
    NeighborAllGatherVarying(Vec<usize>),
    NeighborAllToAll,
    NeighborAllToAllVarying(Vec<usize>, Vec<usize>),
}

/// The buffers of an operation.
#[derive(Debug)]
pub(crate) struct Arrangement {
    pub which: CollOp,
    /// The root, if it has one.
    pub root: Option<u32>,
    pub send: Blocks,
    pub receive: Blocks,
    /// Elements that are received.
    pub received: usize,
    /// Whether the data are in the receive buffer.
    pub in_receive: bool,
    /// Elements of each process's part of a result that is scattered.
    pub counts: Vec<u64>,
}

impl Arrangement {
    /// Rank of the root as the flight recorder has it.
    pub fn peer(&self) -> i32 {
        self.root.map_or(-1, |root| root as i32)
    }

    pub fn root(&self) -> Root {
        Root::Rank(self.root.unwrap_or(0))
    }
}

impl Kind {
    /// The operation, and its functions that do not block and that are persistent.
    pub fn functions(&self) -> (CollOp, [u16; 2]) {
        use functions::*;
        match self {
            Kind::Barrier => (CollOp::Barrier, [MPI_IBARRIER, MPI_BARRIER_INIT]),
            Kind::Broadcast(_) => (CollOp::Bcast, [MPI_IBCAST, MPI_BCAST_INIT]),
            Kind::Reduce(_) => (CollOp::Reduce, [MPI_IREDUCE, MPI_REDUCE_INIT]),
            Kind::AllReduce => (CollOp::Allreduce, [MPI_IALLREDUCE, MPI_ALLREDUCE_INIT]),
            Kind::Scan => (CollOp::Scan, [MPI_ISCAN, MPI_SCAN_INIT]),
            Kind::ExclusiveScan => (CollOp::Exscan, [MPI_IEXSCAN, MPI_EXSCAN_INIT]),
            Kind::ReduceScatter => {
                (CollOp::ReduceScatterBlock, [MPI_IREDUCE_SCATTER_BLOCK, MPI_REDUCE_SCATTER_BLOCK_INIT])
            }
            Kind::ReduceScatterVarying(_) => (CollOp::ReduceScatter, [MPI_IREDUCE_SCATTER, MPI_REDUCE_SCATTER_INIT]),
            Kind::Gather(_) => (CollOp::Gather, [MPI_IGATHER, MPI_GATHER_INIT]),
            Kind::GatherVarying(..) => (CollOp::Gatherv, [MPI_IGATHERV, MPI_GATHERV_INIT]),
            Kind::Scatter(..) => (CollOp::Scatter, [MPI_ISCATTER, MPI_SCATTER_INIT]),
            Kind::ScatterVarying(..) => (CollOp::Scatterv, [MPI_ISCATTERV, MPI_SCATTERV_INIT]),
            Kind::AllGather => (CollOp::Allgather, [MPI_IALLGATHER, MPI_ALLGATHER_INIT]),
            Kind::AllGatherVarying(_) => (CollOp::Allgatherv, [MPI_IALLGATHERV, MPI_ALLGATHERV_INIT]),
            Kind::AllToAll => (CollOp::Alltoall, [MPI_IALLTOALL, MPI_ALLTOALL_INIT]),
            Kind::AllToAllVarying(..) => (CollOp::Alltoallv, [MPI_IALLTOALLV, MPI_ALLTOALLV_INIT]),
            Kind::NeighborAllGather => {
                (CollOp::NeighborAllgather, [MPI_INEIGHBOR_ALLGATHER, MPI_NEIGHBOR_ALLGATHER_INIT])
            }
            Kind::NeighborAllGatherVarying(_) => {
                (CollOp::NeighborAllgatherv, [MPI_INEIGHBOR_ALLGATHERV, MPI_NEIGHBOR_ALLGATHERV_INIT])
            }
            Kind::NeighborAllToAll => (CollOp::NeighborAlltoall, [MPI_INEIGHBOR_ALLTOALL, MPI_NEIGHBOR_ALLTOALL_INIT]),
            Kind::NeighborAllToAllVarying(..) => {
                (CollOp::NeighborAlltoallv, [MPI_INEIGHBOR_ALLTOALLV, MPI_NEIGHBOR_ALLTOALLV_INIT])
            }
        }
    }

    fn root(&self) -> Option<u32> {
        match self {
            Kind::Broadcast(root)
            | Kind::Reduce(root)
            | Kind::Gather(root)
            | Kind::GatherVarying(_, root)
            | Kind::Scatter(_, root)
            | Kind::ScatterVarying(_, root) => Some(*root),
            _ => None,
        }
    }

    /// The buffers of the operation on a communicator, with so many elements of this process's data. Errors:
    /// `MPI_ERR_ROOT`, `MPI_ERR_COUNT`; `MPI_ERR_TOPOLOGY` of an operation of neighbours without a topology.
    pub fn arrange<M: ThreadUse>(&self, comm: &Communicator<'_, M>, length: usize) -> Result<Arrangement> {
        let (size, rank) = (comm.size() as usize, comm.rank() as usize);
        let root = self.root();
        let at_root = match root {
            Some(root) => comm.check_root(root)? == rank as i32,
            None => true,
        };
        let one = Blocks::Equal(1);
        let all = Blocks::Equal(size as u32);
        let where_root = |blocks: Blocks, count: usize| match at_root {
            true => (blocks, count),
            false => (Blocks::Absent, 0),
        };
        let mut counts = Vec::new();
        let mut in_receive = false;
        let (send, (receive, received)) = match self {
            Kind::Barrier => (Blocks::Absent, (Blocks::Absent, 0)),
            Kind::Broadcast(_) => {
                in_receive = true;
                (Blocks::Absent, (one, length))
            }
            Kind::Reduce(_) => (one.clone(), where_root(one, length)),
            Kind::AllReduce | Kind::Scan | Kind::ExclusiveScan => (one.clone(), (one, length)),
            Kind::ReduceScatter => {
                let each = equal_part("data.len()", length, size)?;
                counts = vec![each as u64; size];
                (one.clone(), (one, each))
            }
            Kind::ReduceScatterVarying(lengths) => {
                check_lengths("counts", lengths, size, "process")?;
                check_sum("data.len()", length, lengths)?;
                counts = lengths.iter().map(|length| *length as u64).collect();
                (one.clone(), (one, lengths[rank]))
            }
            Kind::Gather(_) => (one, where_root(all, length * size)),
            Kind::GatherVarying(lengths, _) => {
                if at_root {
                    check_lengths("counts", lengths, size, "process")?;
                    check_own("data.len()", length, lengths[rank])?;
                }
                (one, where_root(Blocks::Each(lengths.clone()), sum(lengths)))
            }
            Kind::Scatter(each, _) => {
                if at_root && each.checked_mul(size) != Some(length) {
                    return Err(not_equal("data.len()", length, *each, size));
                }
                (where_root(all, 0).0, (one, *each))
            }
            Kind::ScatterVarying(lengths, _) => {
                check_lengths("counts", lengths, size, "process")?;
                if at_root {
                    check_sum("data.len()", length, lengths)?;
                }
                (where_root(Blocks::Each(lengths.clone()), 0).0, (one, lengths[rank]))
            }
            Kind::AllGather => (one, (all, length * size)),
            Kind::AllGatherVarying(lengths) => {
                check_lengths("counts", lengths, size, "process")?;
                check_own("data.len()", length, lengths[rank])?;
                (one, (Blocks::Each(lengths.clone()), sum(lengths)))
            }
            Kind::AllToAll => {
                equal_part("data.len()", length, size)?;
                (all.clone(), (all, length))
            }
            Kind::AllToAllVarying(sends, receives) => {
                check_lengths("send_counts", sends, size, "process")?;
                check_lengths("receive_counts", receives, size, "process")?;
                check_sum("data.len()", length, sends)?;
                check_own("send_counts", sends[rank], receives[rank])?;
                (Blocks::Each(sends.clone()), (Blocks::Each(receives.clone()), sum(receives)))
            }
            Kind::NeighborAllGather => {
                let sources = comm.comm.neighborhood()?.0.len();
                (one, (Blocks::Equal(sources as u32), length * sources))
            }
            Kind::NeighborAllGatherVarying(lengths) => {
                check_lengths("counts", lengths, comm.comm.neighborhood()?.0.len(), "source")?;
                (one, (Blocks::Each(lengths.clone()), sum(lengths)))
            }
            Kind::NeighborAllToAll => {
                let (sources, destinations) = comm.comm.neighborhood()?;
                let each = equal_part("data.len()", length, destinations.len())?;
                let (from, to) = (sources.len(), destinations.len() as u32);
                (Blocks::Equal(to), (Blocks::Equal(from as u32), each * from))
            }
            Kind::NeighborAllToAllVarying(sends, receives) => {
                let (sources, destinations) = comm.comm.neighborhood()?;
                check_lengths("send_counts", sends, destinations.len(), "destination")?;
                check_lengths("receive_counts", receives, sources.len(), "source")?;
                check_sum("data.len()", length, sends)?;
                (Blocks::Each(sends.clone()), (Blocks::Each(receives.clone()), sum(receives)))
            }
        };
        Ok(Arrangement { which: self.functions().0, root, send, receive, received, in_receive, counts })
    }
}

fn sum(lengths: &[usize]) -> usize {
    lengths.iter().fold(0, |sum, length| sum.saturating_add(*length))
}

/// The elements of each of so many equal parts; 0 for no parts of no elements.
fn equal_part(name: &'static str, length: usize, parts: usize) -> Result<usize> {
    let is_whole = if parts == 0 { length == 0 } else { length.is_multiple_of(parts) };
    match is_whole {
        true => Ok(length.checked_div(parts).unwrap_or(0)),
        false => {
            let rule = format!("each of {} gets an equal part", mpi_errors::counted(parts, "process"));
            Err(Error::new(MPI_ERR_COUNT, rule).arg(name, &length))
        }
    }
}

#[cold]
fn not_equal(name: &'static str, length: usize, each: usize, size: usize) -> Error {
    let rule = format!("each of {} gets {}", mpi_errors::processes(size as u32), mpi_errors::counted(each, "element"));
    Error::new(MPI_ERR_COUNT, rule).arg(name, &length)
}

fn check_lengths(name: &'static str, lengths: &[usize], expected: usize, what: &'static str) -> Result<()> {
    if lengths.len() == expected {
        return Ok(());
    }
    let rule = format!("it needs an entry for each {what}, of which there are {expected}");
    Err(Error::new(MPI_ERR_COUNT, rule).arg(name, &format_args!("a list of {}", lengths.len())))
}

fn check_sum(name: &'static str, length: usize, lengths: &[usize]) -> Result<()> {
    let all = sum(lengths);
    if length == all {
        return Ok(());
    }
    Err(Error::new(MPI_ERR_COUNT, format!("the counts sum up to {all}")).arg(name, &length))
}

fn check_own(name: &'static str, length: usize, expected: usize) -> Result<()> {
    if length == expected {
        return Ok(());
    }
    let rule = format!("the count of this process is {expected}");
    Err(Error::new(MPI_ERR_COUNT, rule).arg(name, &length))
}
