//! The buffers of a collective operation: how long they are, and of which blocks they consist.
//!
//! Invariant: lengths and roots are checked as far as one process can see them.
//! Not here: what is done with the operation (`varying`, `started`).

use mpi_coll::{Blocks, CollOp, Root};
use mpi_core::abi::{MPI_ERR_COUNT, MPI_PROC_NULL, MPI_ROOT};
use mpi_datatype::Placed;

use crate::threads::ThreadUse;
use crate::{Communicator, Error, Result};

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
    AllToAllBlocks(Vec<Placed>, Vec<Placed>),
    NeighborAllGather,
    NeighborAllGatherVarying(Vec<usize>),
    NeighborAllToAll,
    NeighborAllToAllVarying(Vec<usize>, Vec<usize>),
    NeighborAllToAllBlocks(Vec<Placed>, Vec<Placed>),
}

/// The buffers of an operation.
#[derive(Debug)]
pub(crate) struct Arrangement {
    pub which: CollOp,
    /// The root, if it has one.
    pub root: Option<Root>,
    pub send: Blocks,
    pub receive: Blocks,
    /// Elements that are received; 0 for blocks, whose memory the caller passes.
    pub received: usize,
    /// Whether the data are in the receive buffer.
    pub in_receive: bool,
    /// Elements of each process's part of a result that is scattered.
    pub counts: Vec<u64>,
}

impl Arrangement {
    /// Rank of the root as the flight recorder has it.
    pub fn peer(&self) -> i32 {
        match self.root {
            None => -1,
            Some(Root::Rank(root)) => root as i32,
            Some(Root::Here) => MPI_ROOT,
            Some(Root::Elsewhere) => MPI_PROC_NULL,
        }
    }

    pub fn root(&self) -> Root {
        self.root.unwrap_or(Root::Rank(0))
    }
}

impl Kind {
    /// The operation.
    pub fn which(&self) -> CollOp {
        match self {
            Kind::Barrier => CollOp::Barrier,
            Kind::Broadcast(_) => CollOp::Bcast,
            Kind::Reduce(_) => CollOp::Reduce,
            Kind::AllReduce => CollOp::Allreduce,
            Kind::Scan => CollOp::Scan,
            Kind::ExclusiveScan => CollOp::Exscan,
            Kind::ReduceScatter => CollOp::ReduceScatterBlock,
            Kind::ReduceScatterVarying(_) => CollOp::ReduceScatter,
            Kind::Gather(_) => CollOp::Gather,
            Kind::GatherVarying(..) => CollOp::Gatherv,
            Kind::Scatter(..) => CollOp::Scatter,
            Kind::ScatterVarying(..) => CollOp::Scatterv,
            Kind::AllGather => CollOp::Allgather,
            Kind::AllGatherVarying(_) => CollOp::Allgatherv,
            Kind::AllToAll => CollOp::Alltoall,
            Kind::AllToAllVarying(..) => CollOp::Alltoallv,
            Kind::AllToAllBlocks(..) => CollOp::Alltoallw,
            Kind::NeighborAllGather => CollOp::NeighborAllgather,
            Kind::NeighborAllGatherVarying(_) => CollOp::NeighborAllgatherv,
            Kind::NeighborAllToAll => CollOp::NeighborAlltoall,
            Kind::NeighborAllToAllVarying(..) => CollOp::NeighborAlltoallv,
            Kind::NeighborAllToAllBlocks(..) => CollOp::NeighborAlltoallw,
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
                check_to_itself("elements", sends[rank], receives[rank])?;
                (Blocks::Each(sends.clone()), (Blocks::Each(receives.clone()), sum(receives)))
            }
            Kind::AllToAllBlocks(sends, receives) => {
                check_lengths("sends", sends, size, "process")?;
                check_lengths("receives", receives, size, "process")?;
                let bytes = |block: &Placed| block.count.saturating_mul(block.datatype.size()) as usize;
                check_to_itself("bytes", bytes(&sends[rank]), bytes(&receives[rank]))?;
                (Blocks::Placed(sends.clone()), (Blocks::Placed(receives.clone()), 0))
            }
            Kind::NeighborAllGather => {
                let sources = comm.comm.neighborhood()?[0].len();
                (one, (Blocks::Equal(sources as u32), length * sources))
            }
            Kind::NeighborAllGatherVarying(lengths) => {
                check_lengths("counts", lengths, comm.comm.neighborhood()?[0].len(), "source")?;
                (one, (Blocks::Each(lengths.clone()), sum(lengths)))
            }
            Kind::NeighborAllToAll => {
                let [sources, destinations] = comm.comm.neighborhood()?;
                let each = equal_part("data.len()", length, destinations.len())?;
                let (from, to) = (sources.len(), destinations.len() as u32);
                (Blocks::Equal(to), (Blocks::Equal(from as u32), each * from))
            }
            Kind::NeighborAllToAllVarying(sends, receives) => {
                let [sources, destinations] = comm.comm.neighborhood()?;
                check_lengths("send_counts", sends, destinations.len(), "destination")?;
                check_lengths("receive_counts", receives, sources.len(), "source")?;
                check_sum("data.len()", length, sends)?;
                (Blocks::Each(sends.clone()), (Blocks::Each(receives.clone()), sum(receives)))
            }
            Kind::NeighborAllToAllBlocks(sends, receives) => {
                let [sources, destinations] = comm.comm.neighborhood()?;
                check_lengths("sends", sends, destinations.len(), "destination")?;
                check_lengths("receives", receives, sources.len(), "source")?;
                (Blocks::Placed(sends.clone()), (Blocks::Placed(receives.clone()), 0))
            }
        };
        let root = root.map(Root::Rank);
        Ok(Arrangement { which: self.which(), root, send, receive, received, in_receive, counts })
    }
}

pub(crate) fn sum(lengths: &[usize]) -> usize {
    lengths.iter().fold(0, |sum, length| sum.saturating_add(*length))
}

/// The elements of each of so many equal parts; 0 for no parts of no elements.
pub(crate) fn equal_part(name: &'static str, length: usize, parts: usize) -> Result<usize> {
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
pub(crate) fn not_equal(name: &'static str, length: usize, each: usize, size: usize) -> Error {
    let rule = format!("each of {} gets {}", mpi_errors::processes(size as u32), mpi_errors::counted(each, "element"));
    Error::new(MPI_ERR_COUNT, rule).arg(name, &length)
}

pub(crate) fn check_lengths<L>(name: &'static str, lengths: &[L], expected: usize, what: &'static str) -> Result<()> {
    if lengths.len() == expected {
        return Ok(());
    }
    let rule = format!("it needs an entry for each {what}, of which there are {expected}");
    Err(Error::new(MPI_ERR_COUNT, rule).arg(name, &format_args!("a list of {}", lengths.len())))
}

pub(crate) fn check_sum(name: &'static str, length: usize, lengths: &[usize]) -> Result<()> {
    let all = sum(lengths);
    if length == all {
        return Ok(());
    }
    Err(Error::new(MPI_ERR_COUNT, format!("the counts sum up to {all}")).arg(name, &length))
}

pub(crate) fn check_own(name: &'static str, length: usize, expected: usize) -> Result<()> {
    if length == expected {
        return Ok(());
    }
    let rule = format!("the count of this process is {expected}");
    Err(Error::new(MPI_ERR_COUNT, rule).arg(name, &length))
}

/// What a process sends to itself is what it receives from itself.
fn check_to_itself(unit: &'static str, sent: usize, received: usize) -> Result<()> {
    if sent == received {
        return Ok(());
    }
    let rule = format!("this process sends {sent} {unit} to itself and receives {received} from itself");
    Err(Error::new(MPI_ERR_COUNT, rule))
}
