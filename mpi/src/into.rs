//! Collective calls that store what they give into slices of the caller, and those that replace the caller's data
//! (`MPI_IN_PLACE`; MPI-5.0, chapter 6).
//!
//! Invariant: a slice that is too short or too long for the result is an error before the call begins.
//! Not here: calls that make vectors (`collective`, `varying`).

use mpi_coll::{Buffers, CollCall, CollOp, Reduction};
use mpi_core::abi::MPI_ERR_COUNT;
use mpi_core::functions;
use mpi_datatype::{Element, RecvBuf};

use crate::arrangement::{Kind, equal_part};
use crate::call::CallName;
use crate::combine::Combine;
use crate::threads::ThreadUse;
use crate::{Communicator, Error, Result};

const REDUCE: CallName = CallName::new("Communicator::reduce_into", functions::MPI_REDUCE);
const SCAN: CallName = CallName::new("Communicator::scan_into", functions::MPI_SCAN);
const REDUCE_SCATTER: CallName =
    CallName::new("Communicator::reduce_scatter_into", functions::MPI_REDUCE_SCATTER_BLOCK);
const GATHER: CallName = CallName::new("Communicator::gather_into", functions::MPI_GATHER);
const GATHER_VARYING: CallName = CallName::new("Communicator::gather_varying_into", functions::MPI_GATHERV);
const SCATTER_VARYING: CallName = CallName::new("Communicator::scatter_varying_into", functions::MPI_SCATTERV);
const ALL_GATHER: CallName = CallName::new("Communicator::all_gather_into", functions::MPI_ALLGATHER);
const ALL_GATHER_VARYING: CallName = CallName::new("Communicator::all_gather_varying_into", functions::MPI_ALLGATHERV);
const ALL_TO_ALL: CallName = CallName::new("Communicator::all_to_all_into", functions::MPI_ALLTOALL);
const ALL_TO_ALL_VARYING: CallName = CallName::new("Communicator::all_to_all_varying_into", functions::MPI_ALLTOALLV);
const ALL_REDUCE_IN_PLACE: CallName = CallName::new("Communicator::all_reduce_in_place", functions::MPI_ALLREDUCE);
const SCAN_IN_PLACE: CallName = CallName::new("Communicator::scan_in_place", functions::MPI_SCAN);
const ALL_TO_ALL_IN_PLACE: CallName = CallName::new("Communicator::all_to_all_in_place", functions::MPI_ALLTOALL);

impl<M: ThreadUse> Communicator<'_, M> {
    /// As [`Communicator::reduce`], into a slice of the root; `into` of the others is empty. Errors: also `MPI_ERR_COUNT`
    /// for a slice of another length.
    pub fn reduce_into<T: Element>(
        &self,
        data: &[T],
        into: &mut [T],
        combine: impl Into<Combine<T>>,
        root: u32,
    ) -> Result<()> {
        self.collective_into(REDUCE, &Kind::Reduce(root), data, into, Some(combine.into()))
    }

    /// As [`Communicator::scan`], into a slice as long as `data`. Errors: also `MPI_ERR_COUNT` for another length.
    pub fn scan_into<T: Element>(&self, data: &[T], into: &mut [T], combine: impl Into<Combine<T>>) -> Result<()> {
        self.collective_into(SCAN, &Kind::Scan, data, into, Some(combine.into()))
    }

    /// As [`Communicator::reduce_scatter`], into a slice. Errors: also `MPI_ERR_COUNT` for one of another length than a part.
    pub fn reduce_scatter_into<T: Element>(
        &self,
        data: &[T],
        into: &mut [T],
        combine: impl Into<Combine<T>>,
    ) -> Result<()> {
        self.collective_into(REDUCE_SCATTER, &Kind::ReduceScatter, data, into, Some(combine.into()))
    }

    /// As [`Communicator::gather`], into a slice of the root; `into` of the others is empty. Errors: also `MPI_ERR_COUNT`
    /// for a slice of another length.
    pub fn gather_into<T: Element>(&self, data: &[T], into: &mut [T], root: u32) -> Result<()> {
        self.collective_into(GATHER, &Kind::Gather(root), data, into, None)
    }

    /// As [`Communicator::gather_varying`], into a slice of the root, as [`Communicator::gather_into`].
    pub fn gather_varying_into<T: Element>(
        &self,
        data: &[T],
        into: &mut [T],
        counts: &[usize],
        root: u32,
    ) -> Result<()> {
        self.collective_into(GATHER_VARYING, &Kind::GatherVarying(counts.to_vec(), root), data, into, None)
    }

    /// As [`Communicator::scatter_varying`], into a slice. Errors: also `MPI_ERR_COUNT` for one of another length than this
    /// process's part.
    pub fn scatter_varying_into<T: Element>(
        &self,
        data: &[T],
        into: &mut [T],
        counts: &[usize],
        root: u32,
    ) -> Result<()> {
        self.collective_into(SCATTER_VARYING, &Kind::ScatterVarying(counts.to_vec(), root), data, into, None)
    }

    /// As [`Communicator::all_gather`], into a slice. Errors: `MPI_ERR_COUNT` for one of another length than all data.
    pub fn all_gather_into<T: Element>(&self, data: &[T], into: &mut [T]) -> Result<()> {
        self.collective_into(ALL_GATHER, &Kind::AllGather, data, into, None)
    }

    /// As [`Communicator::all_gather_varying`], into a slice. Errors: also `MPI_ERR_COUNT` for one of another length.
    pub fn all_gather_varying_into<T: Element>(&self, data: &[T], into: &mut [T], counts: &[usize]) -> Result<()> {
        self.collective_into(ALL_GATHER_VARYING, &Kind::AllGatherVarying(counts.to_vec()), data, into, None)
    }

    /// As [`Communicator::all_to_all`], into a slice as long as `data`. Errors: also `MPI_ERR_COUNT` for another length.
    pub fn all_to_all_into<T: Element>(&self, data: &[T], into: &mut [T]) -> Result<()> {
        self.collective_into(ALL_TO_ALL, &Kind::AllToAll, data, into, None)
    }

    /// As [`Communicator::all_to_all_varying`], into a slice. Errors: also `MPI_ERR_COUNT` for one of another length.
    pub fn all_to_all_varying_into<T: Element>(
        &self,
        data: &[T],
        into: &mut [T],
        send_counts: &[usize],
        receive_counts: &[usize],
    ) -> Result<()> {
        let kind = Kind::AllToAllVarying(send_counts.to_vec(), receive_counts.to_vec());
        self.collective_into(ALL_TO_ALL_VARYING, &kind, data, into, None)
    }

    /// As [`Communicator::all_reduce`]; the result replaces `data`.
    pub fn all_reduce_in_place<T: Element>(&self, data: &mut [T], combine: impl Into<Combine<T>>) -> Result<()> {
        self.in_place(ALL_REDUCE_IN_PLACE, CollOp::Allreduce, data, 1, Some(combine.into()))
    }

    /// As [`Communicator::scan`]; the result replaces `data`.
    pub fn scan_in_place<T: Element>(&self, data: &mut [T], combine: impl Into<Combine<T>>) -> Result<()> {
        self.in_place(SCAN_IN_PLACE, CollOp::Scan, data, 1, Some(combine.into()))
    }

    /// As [`Communicator::all_to_all`]; what is received replaces `data`.
    pub fn all_to_all_in_place<T: Element>(&self, data: &mut [T]) -> Result<()> {
        self.in_place(ALL_TO_ALL_IN_PLACE, CollOp::Alltoall, data, self.size(), None)
    }

    fn collective_into<T: Element>(
        &self,
        name: CallName,
        kind: &Kind,
        data: &[T],
        into: &mut [T],
        combine: Option<Combine<T>>,
    ) -> Result<()> {
        self.call(name, |call| {
            let arranged = kind.arrange(self, data.len())?;
            if into.len() != arranged.received {
                let rule = format!("this process receives {}", mpi_errors::counted(arranged.received, "element"));
                return Err(Error::new(MPI_ERR_COUNT, rule).arg("into.len()", &into.len()));
            }
            self.carry_out(call, &arranged, data, into, combine.as_ref())
        })
    }

    /// Carries out an operation on `blocks` equal blocks of data that its result replaces.
    fn in_place<T: Element>(
        &self,
        name: CallName,
        which: CollOp,
        data: &mut [T],
        blocks: u32,
        combine: Option<Combine<T>>,
    ) -> Result<()> {
        self.call(name, |call| {
            let count = data.len() as u64;
            equal_part("data.len()", data.len(), blocks as usize)?;
            let op = combine.map(|combine| combine.op(call.process)).transpose()?;
            let reduction = op.as_ref().map(|op| Reduction { op, datatype: T::datatype(), handle: T::HANDLE, count });
            let receive = Buffers::Whole { buffer: RecvBuf::from_slice(data), blocks };
            let operation = CollCall::new(which, Buffers::InPlace, receive);
            let operation = match &reduction {
                Some(reduction) => operation.reducing(reduction),
                None => operation,
            };
            let guard = call.enter(-1, 0, count);
            call.process.coll.block_with(guard, &self.comm, operation)
        })
    }
}
