//! A call of any operation on any communicator, with data that depend on their places, checked where they arrive.

use mpi_coll::{Buffers, CollCall, CollOp, Collectives, Op, Reduction, Root};
use mpi_comm::Comm;
use mpi_core::abi::MPI_SUM;
use mpi_datatype::{Element, RecvBuf, SendBuf};
use mpi_errors::Result;

/// The rank of the root, if there are so many.
const ROOT: u32 = 3;
/// In place of a receiver, for data that all receive.
const ALL: u32 = u32::MAX;

/// One process in a call.
pub struct Caller<'c> {
    pub coll: &'c Collectives,
    pub comm: &'c Comm,
    /// Whether an intercommunicator's root is in this process's group.
    pub on_side_of_root: bool,
}

impl Caller<'_> {
    /// Makes a call with blocks of so many bytes, or with so many bytes of a contribution to a reduction.
    pub fn call(&self, op: CollOp, bytes: usize) -> Result<()> {
        use CollOp::*;
        match op {
            Barrier if self.inter() => {
                self.coll.block(self.comm, CollCall::new(Barrier, Buffers::Absent, Buffers::Absent))
            }
            Barrier => self.coll.barrier(self.comm),
            Bcast => self.bcast(bytes),
            Reduce | Allreduce | Scan | Exscan => self.reduce(op, bytes),
            ReduceScatter | ReduceScatterBlock => self.reduce_scatter(op, bytes),
            _ => self.move_blocks(op, bytes),
        }
    }

    fn inter(&self) -> bool {
        self.comm.remote().is_some()
    }

    fn root(&self) -> Root {
        let rank = ROOT % self.comm.size();
        match self.inter() && self.on_side_of_root {
            true if self.comm.rank() == rank => Root::Here,
            true => Root::Elsewhere,
            false => Root::Rank(rank),
        }
    }

    fn is_root(&self) -> bool {
        self.root() == Root::Here || !self.inter() && self.root() == Root::Rank(self.comm.rank())
    }

    /// Whether it sends to the root, or receives from it.
    fn faces_root(&self) -> bool {
        matches!(self.root(), Root::Rank(_))
    }

    fn bcast(&self, bytes: usize) -> Result<()> {
        let takes_part = self.is_root() || self.faces_root();
        let (root, expected) = (self.root(), vec![7u8; bytes]);
        let mut data = if self.is_root() { expected.clone() } else { vec![0; bytes] };
        let buffer = RecvBuf::from_slice(&mut data);
        match root {
            Root::Rank(root) if !self.inter() => self.coll.bcast(self.comm, buffer, root)?,
            _ => {
                let recv = if takes_part { Buffers::one(buffer) } else { Buffers::Absent };
                self.coll.block(self.comm, CollCall::new(CollOp::Bcast, Buffers::Absent, recv).rooted(root))?;
            }
        }
        assert!(!takes_part || data == expected);
        Ok(())
    }

    /// A reduction of which each process that has a result gets all of it.
    fn reduce(&self, op: CollOp, bytes: usize) -> Result<()> {
        let (me, peers) = (u64::from(self.comm.rank()), u64::from(self.comm.peers()));
        let own = vec![me; bytes / 8];
        let mut result = vec![0u64; own.len()];
        let what = sum(own.len());
        let at_root = op != CollOp::Reduce || self.is_root();
        let contributes = op != CollOp::Reduce || self.faces_root();
        let (send, recv) = (SendBuf::from_slice(&own), at_root.then(|| RecvBuf::from_slice(&mut result)));
        match (op, recv, self.root()) {
            (CollOp::Allreduce, Some(recv), _) if !self.inter() => {
                self.coll.allreduce(self.comm, Some(send), recv, &what)?;
            }
            (CollOp::Reduce, recv, Root::Rank(root)) if !self.inter() => {
                self.coll.reduce(self.comm, Some(send), recv, &what, root)?;
            }
            (_, recv, root) => {
                let send = if contributes { Buffers::one(send) } else { Buffers::Absent };
                let recv = recv.map_or(Buffers::Absent, Buffers::one);
                let call = CollCall::new(op, send, recv).reducing(&what);
                self.coll.block(self.comm, if op == CollOp::Reduce { call.rooted(root) } else { call })?;
            }
        }
        let expected = match op {
            CollOp::Scan => me * (me + 1) / 2,
            CollOp::Exscan => me * me.saturating_sub(1) / 2,
            _ => peers * (peers - 1) / 2,
        };
        assert!(!at_root || result.iter().all(|number| *number == expected));
        Ok(())
    }

    /// A reduction of which each process gets a part of so many bytes.
    fn reduce_scatter(&self, op: CollOp, bytes: usize) -> Result<()> {
        let (size, peers) = (self.comm.size() as usize, u64::from(self.comm.peers()));
        let own = vec![u64::from(self.comm.rank()); size * bytes / 8];
        let (mut result, counts) = (vec![0u64; bytes / 8], vec![bytes as u64 / 8; size]);
        let what = sum(own.len());
        let (send, recv) = (Buffers::one(SendBuf::from_slice(&own)), Buffers::one(RecvBuf::from_slice(&mut result)));
        self.coll.block(self.comm, CollCall::new(op, send, recv).scattered(&counts).reducing(&what))?;
        assert!(result.iter().all(|number| *number == peers * (peers - 1) / 2));
        Ok(())
    }

    /// An operation that moves blocks of so many bytes.
    fn move_blocks(&self, op: CollOp, bytes: usize) -> Result<()> {
        use CollOp::*;
        let listed = matches!(
            op,
            Gatherv
                | Scatterv
                | Allgatherv
                | Alltoallv
                | Alltoallw
                | NeighborAllgatherv
                | NeighborAlltoallv
                | NeighborAlltoallw
        );
        let (gathers, scatters) = (matches!(op, Gather | Gatherv), matches!(op, Scatter | Scatterv));
        // All receivers of a gathering operation get the same block of a process.
        let same = gathers || matches!(op, Allgather | Allgatherv | NeighborAllgather | NeighborAllgatherv);
        let (me, [sources, destinations]) = (self.comm.rank(), self.partners(op)?);
        let to = match (gathers, scatters) {
            (true, _) if self.faces_root() => vec![ALL],
            (_, true) if !self.is_root() => vec![],
            (true, _) => vec![],
            _ if same => vec![ALL],
            _ => destinations,
        };
        let from = match (gathers, scatters, self.root()) {
            (true, ..) if !self.is_root() => vec![],
            (_, true, Root::Rank(root)) => vec![root],
            (_, true, _) => vec![],
            _ => sources,
        };
        let out: Vec<u8> = to.iter().flat_map(|to| (0..bytes).map(|at| value(me, *to, at))).collect();
        let mut into = vec![0u8; from.len() * bytes];
        let send = match to.len() {
            0 => Buffers::Absent,
            _ if same || !listed => Buffers::Whole { buffer: SendBuf::from_slice(&out), blocks: to.len() as u32 },
            _ => Buffers::Each(out.chunks(bytes).map(SendBuf::from_slice).collect()),
        };
        let recv = match from.len() {
            0 => Buffers::Absent,
            _ if scatters || !listed => {
                Buffers::Whole { buffer: RecvBuf::from_slice(&mut into), blocks: from.len() as u32 }
            }
            _ => Buffers::Each(into.chunks_mut(bytes).map(RecvBuf::from_slice).collect()),
        };
        let call = CollCall::new(op, send, recv);
        self.coll.block(self.comm, if gathers || scatters { call.rooted(self.root()) } else { call })?;
        let to = if same { ALL } else { me };
        for (from, block) in from.iter().zip(into.chunks(bytes)) {
            assert!(block.iter().enumerate().all(|(at, byte)| *byte == value(*from, to, at)), "{op:?}: from {from}");
        }
        Ok(())
    }

    /// The processes that blocks come from and go to.
    fn partners(&self, op: CollOp) -> Result<[Vec<u32>; 2]> {
        if !op.is_of_neighbours() {
            return Ok([(0..self.comm.peers()).collect(), (0..self.comm.peers()).collect()]);
        }
        Ok(self.comm.neighborhood()?.map(|ranks| ranks.iter().flatten().copied().collect()))
    }
}

fn sum(count: usize) -> Reduction<'static> {
    let op = Op::predefined(MPI_SUM).expect("a predefined operation");
    Reduction { op, datatype: u64::datatype(), handle: u64::HANDLE, count: count as u64 }
}

/// A byte that depends on sender, receiver and place.
fn value(from: u32, to: u32, at: usize) -> u8 {
    (from.wrapping_mul(31) ^ to.wrapping_mul(17) ^ at as u32) as u8 ^ (from >> 8) as u8
}
