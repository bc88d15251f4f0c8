//! Collective calls of two groups whose results are scattered, with counts that vary from process to process, or with
//! blocks (MPI-5.0, 6.2.2).
//!
//! Not here: their arguments (`inter_collective`), the other calls of two groups (`between`).

use mpi_core::functions;
use mpi_datatype::Element;

use crate::block::{Block, placed};
use crate::call::CallName;
use crate::combine::Combine;
use crate::inter_collective::InterKind;
use crate::threads::ThreadUse;
use crate::{Intercomm, Part, Result};

const REDUCE_SCATTER: CallName = CallName::new("Intercomm::reduce_scatter", functions::MPI_REDUCE_SCATTER_BLOCK);
const REDUCE_SCATTER_VARYING: CallName =
    CallName::new("Intercomm::reduce_scatter_varying", functions::MPI_REDUCE_SCATTER);
const GATHER_VARYING: CallName = CallName::new("Intercomm::gather_varying", functions::MPI_GATHERV);
const SCATTER_VARYING: CallName = CallName::new("Intercomm::scatter_varying", functions::MPI_SCATTERV);
const ALL_GATHER_VARYING: CallName = CallName::new("Intercomm::all_gather_varying", functions::MPI_ALLGATHERV);
const ALL_TO_ALL_VARYING: CallName = CallName::new("Intercomm::all_to_all_varying", functions::MPI_ALLTOALLV);
const ALL_TO_ALL_BLOCKS: CallName = CallName::new("Intercomm::all_to_all_blocks", functions::MPI_ALLTOALLW);

impl<M: ThreadUse> Intercomm<'_, M> {
    /// Combines `data` of the processes of the other group, element by element, and gives each process of this group an
    /// equal part of the result, in the order of ranks. `data` is equally long in all processes of both groups. Errors:
    /// `MPI_ERR_COUNT` when the parts would not be equal; `MPI_ERR_OP` when the operation is not defined on the type.
    pub fn reduce_scatter<T: Element + Default>(&self, data: &[T], combine: impl Into<Combine<T>>) -> Result<Vec<T>> {
        self.carry_out(REDUCE_SCATTER, &InterKind::ReduceScatter, data, Some(combine.into()))
    }

    /// As [`Intercomm::reduce_scatter`], with parts of `counts` elements, one count for each process of this group, equal
    /// in all of them. Errors: also `MPI_ERR_COUNT` when their sum is not the length of `data`.
    pub fn reduce_scatter_varying<T: Element + Default>(
        &self,
        data: &[T],
        counts: &[usize],
        combine: impl Into<Combine<T>>,
    ) -> Result<Vec<T>> {
        let kind = InterKind::ReduceScatterVarying(counts.to_vec());
        self.carry_out(REDUCE_SCATTER_VARYING, &kind, data, Some(combine.into()))
    }

    /// Gives the root the `data` of all processes of the other group, one after the other in the order of ranks; `None` to
    /// all others. The root passes how many elements each of them has; its `data`, and `counts` of the others, are
    /// ignored. Errors: `MPI_ERR_ROOT`, `MPI_ERR_COUNT`, `MPI_ERR_TRUNCATE`.
    pub fn gather_varying<T: Element + Default>(
        &self,
        data: &[T],
        counts: &[usize],
        part: Part,
    ) -> Result<Option<Vec<T>>> {
        let all = self.carry_out(GATHER_VARYING, &InterKind::GatherVarying(counts.to_vec(), part), data, None)?;
        Ok((part == Part::Root).then_some(all))
    }

    /// Gives each process of the other group than the root's its part of the root's `data`: parts of `counts` elements,
    /// which the root passes. A process of that group passes how many it gets as `count`, and nothing else. Errors: as
    /// [`Intercomm::gather_varying`].
    pub fn scatter_varying<T: Element + Default>(
        &self,
        data: &[T],
        counts: &[usize],
        count: usize,
        part: Part,
    ) -> Result<Vec<T>> {
        self.carry_out(SCATTER_VARYING, &InterKind::ScatterVarying(counts.to_vec(), count, part), data, None)
    }

    /// Gives all processes the `data` of all processes of the other group, one after the other in the order of ranks:
    /// `counts` has how many elements each of them has. Errors: `MPI_ERR_COUNT`, `MPI_ERR_TRUNCATE`.
    pub fn all_gather_varying<T: Element + Default>(&self, data: &[T], counts: &[usize]) -> Result<Vec<T>> {
        self.carry_out(ALL_GATHER_VARYING, &InterKind::AllGatherVarying(counts.to_vec()), data, None)
    }

    /// Sends each process of the other group a part of `data`, parts of `send_counts` elements one after the other in the
    /// order of ranks, and receives one of `receive_counts` elements from each: those, in the order of ranks. Errors:
    /// `MPI_ERR_COUNT`, `MPI_ERR_TRUNCATE`.
    pub fn all_to_all_varying<T: Element + Default>(
        &self,
        data: &[T],
        send_counts: &[usize],
        receive_counts: &[usize],
    ) -> Result<Vec<T>> {
        let kind = InterKind::AllToAllVarying(send_counts.to_vec(), receive_counts.to_vec());
        self.carry_out(ALL_TO_ALL_VARYING, &kind, data, None)
    }

    /// As [`Communicator::all_to_all_blocks`](crate::Communicator::all_to_all_blocks), with a block for each process of the
    /// other group.
    pub fn all_to_all_blocks<T: Element>(
        &self,
        data: &[T],
        sends: &[Block<T>],
        into: &mut [T],
        receives: &[Block<T>],
    ) -> Result<()> {
        self.both.call(ALL_TO_ALL_BLOCKS, |call| {
            let arranged = InterKind::AllToAllBlocks(placed(sends), placed(receives)).arrange(self, data.len())?;
            self.both.carry_out(call, &arranged, data, into, None)
        })
    }

    fn carry_out<T: Element + Default>(
        &self,
        name: CallName,
        kind: &InterKind,
        data: &[T],
        combine: Option<Combine<T>>,
    ) -> Result<Vec<T>> {
        self.both.call(name, |call| {
            let arranged = kind.arrange(self, data.len())?;
            let mut received = vec![T::default(); arranged.received];
            self.both.carry_out(call, &arranged, data, &mut received, combine.as_ref())?;
            Ok(received)
        })
    }
}
