//! Collective calls of two groups: each gets what the other one contributes (MPI-5.0, 6.2.2).
//!
//! Not here: the groups (`intercomm`), the algorithms (mpi-coll).

use mpi_coll::{Buffers, CollCall, CollOp, Reduction, Root};
use mpi_core::abi::{MPI_ERR_COUNT, MPI_ERR_ROOT, MPI_PROC_NULL, MPI_ROOT};
use mpi_core::functions;
use mpi_datatype::{Element, RecvBuf, SendBuf};

use crate::call::CallName;
use crate::combine::Combine;
use crate::threads::ThreadUse;
use crate::{Error, Intercomm, Result};

const BARRIER: CallName = CallName::new("Intercomm::barrier", functions::MPI_BARRIER);
const BROADCAST: CallName = CallName::new("Intercomm::broadcast", functions::MPI_BCAST);
const REDUCE: CallName = CallName::new("Intercomm::reduce", functions::MPI_REDUCE);
const ALL_REDUCE: CallName = CallName::new("Intercomm::all_reduce", functions::MPI_ALLREDUCE);
const GATHER: CallName = CallName::new("Intercomm::gather", functions::MPI_GATHER);
const SCATTER: CallName = CallName::new("Intercomm::scatter", functions::MPI_SCATTER);
const ALL_GATHER: CallName = CallName::new("Intercomm::all_gather", functions::MPI_ALLGATHER);
const ALL_TO_ALL: CallName = CallName::new("Intercomm::all_to_all", functions::MPI_ALLTOALL);

/// The part of a process in a call of two groups in which one process has a part of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// This process is the root.
    Root,
    /// Another process of its group is the root: it does nothing.
    BesideRoot,
    /// The root is the process of the other group with this rank.
    Across(u32),
}

impl<M: ThreadUse> Intercomm<'_, M> {
    /// Waits until all processes of both groups have called it.
    pub fn barrier(&self) -> Result<()> {
        self.collective(BARRIER, CollOp::Barrier, -1, (Buffers::Absent, Buffers::Absent), None::<(&Combine<u8>, usize)>)
    }

    /// Copies `data` of the root to all processes of the other group. Errors: `MPI_ERR_ROOT`.
    pub fn broadcast<T: Element>(&self, data: &mut [T], part: Part) -> Result<()> {
        let receive = match part {
            Part::BesideRoot => Buffers::Absent,
            _ => Buffers::one(RecvBuf::from_slice(data)),
        };
        self.rooted::<T>(BROADCAST, CollOp::Bcast, part, (Buffers::Absent, receive), None)
    }

    /// Combines `data` of the processes of the other group than the root's, element by element, for the root; `None` in
    /// all others. The root's `data` give only the length. Errors: `MPI_ERR_ROOT`; `MPI_ERR_OP` when the operation is not
    /// defined on the type.
    pub fn reduce<T: Element + Default>(
        &self,
        data: &[T],
        combine: impl Into<Combine<T>>,
        part: Part,
    ) -> Result<Option<Vec<T>>> {
        let combine = combine.into();
        let what = (part != Part::BesideRoot).then_some((&combine, data.len()));
        self.to_root(REDUCE, CollOp::Reduce, part, data, data.len(), 1, what)
    }

    /// Combines `data` of the processes of the other group, element by element, for all processes of this one. It is
    /// equally long in all processes of both groups. Errors: `MPI_ERR_OP` when the operation is not defined on the type.
    pub fn all_reduce<T: Element + Default>(&self, data: &[T], combine: impl Into<Combine<T>>) -> Result<Vec<T>> {
        let mut received = vec![T::default(); data.len()];
        let buffers = (Buffers::one(SendBuf::from_slice(data)), Buffers::one(RecvBuf::from_slice(&mut received)));
        self.collective(ALL_REDUCE, CollOp::Allreduce, -1, buffers, Some((&combine.into(), data.len())))?;
        Ok(received)
    }

    /// Gives the root the `data` of all processes of the other group, in the order of ranks; `None` to all others. The
    /// root's `data` give only the length, which is equal in all processes. Errors: `MPI_ERR_ROOT`, `MPI_ERR_TRUNCATE`.
    pub fn gather<T: Element + Default>(&self, data: &[T], part: Part) -> Result<Option<Vec<T>>> {
        let peers = self.remote_size();
        self.to_root(GATHER, CollOp::Gather, part, data, data.len() * peers as usize, peers, None)
    }

    /// Gives each process of the other group than the root's an equal part of the root's `data`, in the order of ranks,
    /// into `into`. Others than the root pass no data, and the root's group takes none. Errors: `MPI_ERR_ROOT`,
    /// `MPI_ERR_TRUNCATE`; `MPI_ERR_COUNT` at the root when the parts would not be equal.
    pub fn scatter<T: Element>(&self, data: &[T], into: &mut [T], part: Part) -> Result<()> {
        let peers = self.remote_size();
        let buffers = match part {
            Part::Root => {
                self.check_parts(SCATTER, data.len())?;
                (Buffers::Whole { buffer: SendBuf::from_slice(data), blocks: peers }, Buffers::Absent)
            }
            Part::BesideRoot => (Buffers::Absent, Buffers::Absent),
            Part::Across(_) => (Buffers::Absent, Buffers::one(RecvBuf::from_slice(into))),
        };
        self.rooted::<T>(SCATTER, CollOp::Scatter, part, buffers, None)
    }

    /// Gives all processes the `data` of all processes of the other group, in the order of ranks: `count` elements of
    /// each. Errors: `MPI_ERR_TRUNCATE`.
    pub fn all_gather<T: Element + Default>(&self, data: &[T], count: usize) -> Result<Vec<T>> {
        let peers = self.remote_size();
        let mut received = vec![T::default(); count * peers as usize];
        let receive = Buffers::Whole { buffer: RecvBuf::from_slice(&mut received), blocks: peers };
        let buffers = (Buffers::one(SendBuf::from_slice(data)), receive);
        self.collective(ALL_GATHER, CollOp::Allgather, -1, buffers, None::<(&Combine<T>, usize)>)?;
        Ok(received)
    }

    /// Sends each process of the other group an equal part of `data`, in the order of ranks, and receives `count` elements
    /// from each: those, in the order of ranks. Errors: `MPI_ERR_COUNT` when the parts would not be equal,
    /// `MPI_ERR_TRUNCATE`.
    pub fn all_to_all<T: Element + Default>(&self, data: &[T], count: usize) -> Result<Vec<T>> {
        let blocks = self.remote_size();
        self.check_parts(ALL_TO_ALL, data.len())?;
        let mut received = vec![T::default(); count * blocks as usize];
        let receive = Buffers::Whole { buffer: RecvBuf::from_slice(&mut received), blocks };
        let buffers = (Buffers::Whole { buffer: SendBuf::from_slice(data), blocks }, receive);
        self.collective(ALL_TO_ALL, CollOp::Alltoall, -1, buffers, None::<(&Combine<T>, usize)>)?;
        Ok(received)
    }

    fn check_parts(&self, name: CallName, length: usize) -> Result<()> {
        if length.is_multiple_of(self.remote_size() as usize) {
            return Ok(());
        }
        let rule = format!("each of {} gets an equal part", mpi_errors::processes(self.remote_size()));
        self.both.call(name, |_| Err(Error::new(MPI_ERR_COUNT, rule).arg("data.len()", &length)))
    }

    /// An operation whose result of `count` elements in `blocks` blocks only the root gets.
    #[allow(clippy::too_many_arguments)] // each is a fact of the call
    fn to_root<T: Element + Default>(
        &self,
        name: CallName,
        which: CollOp,
        part: Part,
        data: &[T],
        count: usize,
        blocks: u32,
        combine: Option<(&Combine<T>, usize)>,
    ) -> Result<Option<Vec<T>>> {
        let mut received = if part == Part::Root { vec![T::default(); count] } else { Vec::new() };
        let buffers = match part {
            Part::Root => (Buffers::Absent, Buffers::Whole { buffer: RecvBuf::from_slice(&mut received), blocks }),
            Part::BesideRoot => (Buffers::Absent, Buffers::Absent),
            Part::Across(_) => (Buffers::one(SendBuf::from_slice(data)), Buffers::Absent),
        };
        self.rooted(name, which, part, buffers, combine)?;
        Ok((part == Part::Root).then_some(received))
    }

    fn rooted<'b, T: Element>(
        &self,
        name: CallName,
        which: CollOp,
        part: Part,
        buffers: (Buffers<SendBuf<'b>>, Buffers<RecvBuf<'b>>),
        combine: Option<(&Combine<T>, usize)>,
    ) -> Result<()> {
        let root = match part {
            Part::Root => MPI_ROOT,
            Part::BesideRoot => MPI_PROC_NULL,
            Part::Across(root) if root < self.remote_size() => root as i32,
            Part::Across(root) => {
                let rule = format!("the remote group has {}", mpi_errors::processes(self.remote_size()));
                return self.both.call(name, |_| Err(Error::new(MPI_ERR_ROOT, rule).arg("root", &root)));
            }
        };
        self.collective(name, which, root, buffers, combine)
    }

    fn collective<'b, T: Element>(
        &self,
        name: CallName,
        which: CollOp,
        root: i32,
        (send, receive): (Buffers<SendBuf<'b>>, Buffers<RecvBuf<'b>>),
        combine: Option<(&Combine<T>, usize)>,
    ) -> Result<()> {
        self.both.call(name, |call| {
            let of = |(combine, count): (&Combine<T>, usize)| combine.op(call.process).map(|op| (op, count as u64));
            let op = combine.map(of).transpose()?;
            let reduction = op.as_ref().map(|(op, count)| Reduction {
                op,
                datatype: T::datatype(),
                handle: T::HANDLE,
                count: *count,
            });
            let operation = CollCall::new(which, send, receive).rooted(Root::of(root));
            let operation = match &reduction {
                Some(reduction) => operation.reducing(reduction),
                None => operation,
            };
            let guard = call.enter(root, 0, 0);
            call.process.coll.block_with(guard, &self.both.comm, operation)
        })
    }
}
