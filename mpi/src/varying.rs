//! Scans, reductions with scattered results, collective calls with counts that vary from process to process, and calls
//! of neighbours (MPI-5.0, 6.5 to 6.11 and 8.6).
//!
//! Not here: their arguments (`arrangement`), the other collective calls (`collective`).

use mpi_coll::{CollCall, Reduction};
use mpi_core::functions;
use mpi_datatype::{Element, RecvBuf, SendBuf};

use crate::arrangement::{Arrangement, Kind};
use crate::call::{Call, CallName};
use crate::combine::Combine;
use crate::threads::ThreadUse;
use crate::{Communicator, Graph, Grid, Result};

const SCAN: CallName = CallName::new("Communicator::scan", functions::MPI_SCAN);
const EXCLUSIVE_SCAN: CallName = CallName::new("Communicator::exclusive_scan", functions::MPI_EXSCAN);
const REDUCE_SCATTER: CallName = CallName::new("Communicator::reduce_scatter", functions::MPI_REDUCE_SCATTER_BLOCK);
const REDUCE_SCATTER_VARYING: CallName =
    CallName::new("Communicator::reduce_scatter_varying", functions::MPI_REDUCE_SCATTER);
const GATHER_VARYING: CallName = CallName::new("Communicator::gather_varying", functions::MPI_GATHERV);
const SCATTER_VARYING: CallName = CallName::new("Communicator::scatter_varying", functions::MPI_SCATTERV);
const ALL_GATHER_VARYING: CallName = CallName::new("Communicator::all_gather_varying", functions::MPI_ALLGATHERV);
const ALL_TO_ALL_VARYING: CallName = CallName::new("Communicator::all_to_all_varying", functions::MPI_ALLTOALLV);

impl<M: ThreadUse> Communicator<'_, M> {
    /// Combines `data` of the processes up to this one, in the order of ranks, element by element. It must be equally
    /// long in all of them. Errors: `MPI_ERR_OP` when the operation is not defined on the type.
    ///
    /// ```no_run
    /// # fn work(world: &mpi::World) -> mpi::Result<()> {
    /// // The place of this process's records in a common file.
    /// let own = [u64::from(world.rank()) + 10];
    /// let end = world.scan(&own, mpi::Operation::Sum)?[0];
    /// println!("from {} to {end}", end - own[0]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn scan<T: Element + Default>(&self, data: &[T], combine: impl Into<Combine<T>>) -> Result<Vec<T>> {
        self.collective(SCAN, &Kind::Scan, data, Some(combine.into()))
    }

    /// As [`Communicator::scan`], without this process's own data; `None` in the process of rank 0.
    pub fn exclusive_scan<T: Element + Default>(
        &self,
        data: &[T],
        combine: impl Into<Combine<T>>,
    ) -> Result<Option<Vec<T>>> {
        let result = self.collective(EXCLUSIVE_SCAN, &Kind::ExclusiveScan, data, Some(combine.into()))?;
        Ok((self.rank() > 0).then_some(result))
    }

    /// Combines `data` of all processes element by element, and gives each process an equal part of the result, in the
    /// order of ranks. `data` is equally long in all processes. Errors: `MPI_ERR_COUNT` when the parts would not be
    /// equal; `MPI_ERR_OP` when the operation is not defined on the type.
    pub fn reduce_scatter<T: Element + Default>(&self, data: &[T], combine: impl Into<Combine<T>>) -> Result<Vec<T>> {
        self.collective(REDUCE_SCATTER, &Kind::ReduceScatter, data, Some(combine.into()))
    }

    /// As [`Communicator::reduce_scatter`], with parts of `counts` elements, one count for each process, equal in all
    /// processes. Errors: also `MPI_ERR_COUNT` when their sum is not the length of `data`.
    pub fn reduce_scatter_varying<T: Element + Default>(
        &self,
        data: &[T],
        counts: &[usize],
        combine: impl Into<Combine<T>>,
    ) -> Result<Vec<T>> {
        let kind = Kind::ReduceScatterVarying(counts.to_vec());
        self.collective(REDUCE_SCATTER_VARYING, &kind, data, Some(combine.into()))
    }

    /// Gives the root the `data` of all processes, one after the other in the order of ranks; `None` to all others. The
    /// root passes how many elements each process has; `counts` of the others are ignored. Errors: `MPI_ERR_ROOT`,
    /// `MPI_ERR_COUNT`; `MPI_ERR_TRUNCATE` at the root when a process has more elements than its count.
    pub fn gather_varying<T: Element + Default>(
        &self,
        data: &[T],
        counts: &[usize],
        root: u32,
    ) -> Result<Option<Vec<T>>> {
        let kind = Kind::GatherVarying(counts.to_vec(), root);
        let all = self.collective(GATHER_VARYING, &kind, data, None)?;
        Ok((self.rank() == root).then_some(all))
    }

    /// Gives each process its part of the root's `data`: parts of `counts` elements, which all processes pass, one after
    /// the other. `data` of all others than the root is ignored. Errors: as [`Communicator::gather_varying`].
    pub fn scatter_varying<T: Element + Default>(&self, data: &[T], counts: &[usize], root: u32) -> Result<Vec<T>> {
        self.collective(SCATTER_VARYING, &Kind::ScatterVarying(counts.to_vec(), root), data, None)
    }

    /// Gives all processes the `data` of all, one after the other in the order of ranks. All pass how many elements each
    /// process has. Errors: `MPI_ERR_COUNT`, `MPI_ERR_TRUNCATE`.
    ///
    /// ```no_run
    /// # fn work(world: &mpi::World) -> mpi::Result<()> {
    /// let own = vec![world.rank(); world.rank() as usize];
    /// let counts: Vec<usize> = world.all_gather(&[own.len()])?;
    /// assert_eq!(world.all_gather_varying(&own, &counts)?.len(), counts.iter().sum());
    /// # Ok(())
    /// # }
    /// ```
    pub fn all_gather_varying<T: Element + Default>(&self, data: &[T], counts: &[usize]) -> Result<Vec<T>> {
        self.collective(ALL_GATHER_VARYING, &Kind::AllGatherVarying(counts.to_vec()), data, None)
    }

    /// Sends each process a part of `data`, parts of `send_counts` elements one after the other in the order of ranks, and
    /// receives one of `receive_counts` elements from each: those, in the order of ranks. Errors: `MPI_ERR_COUNT`,
    /// `MPI_ERR_TRUNCATE`.
    pub fn all_to_all_varying<T: Element + Default>(
        &self,
        data: &[T],
        send_counts: &[usize],
        receive_counts: &[usize],
    ) -> Result<Vec<T>> {
        let kind = Kind::AllToAllVarying(send_counts.to_vec(), receive_counts.to_vec());
        self.collective(ALL_TO_ALL_VARYING, &kind, data, None)
    }

    /// Carries out an operation: what this process receives.
    fn collective<T: Element + Default>(
        &self,
        name: CallName,
        kind: &Kind,
        data: &[T],
        combine: Option<Combine<T>>,
    ) -> Result<Vec<T>> {
        self.call(name, |call| {
            let arranged = kind.arrange(self, data.len())?;
            let mut received = vec![T::default(); arranged.received];
            self.carry_out(call, &arranged, data, &mut received, combine.as_ref())?;
            Ok(received)
        })
    }

    /// Carries out an operation with its buffers.
    pub(crate) fn carry_out<T: Element>(
        &self,
        call: &mut Call,
        arranged: &Arrangement,
        data: &[T],
        received: &mut [T],
        combine: Option<&Combine<T>>,
    ) -> Result<()> {
        let op = combine.map(|combine| combine.op(call.process)).transpose()?;
        let count = data.len() as u64;
        let reduction = op.as_ref().map(|op| Reduction { op, datatype: T::datatype(), handle: T::HANDLE, count });
        let send = arranged.send.send::<T>(SendBuf::from_slice(data))?;
        let receive = arranged.receive.receive::<T>(RecvBuf::from_slice(received))?;
        let operation = CollCall::new(arranged.which, send, receive);
        let operation = operation.rooted(arranged.root()).scattered(&arranged.counts);
        let operation = match &reduction {
            Some(reduction) => operation.reducing(reduction),
            None => operation,
        };
        let guard = call.enter(arranged.peer(), 0, count);
        call.process.coll.block_with(guard, &self.comm, operation)
    }
}

/// The calls of neighbours.
macro_rules! neighbors {
    ($topology:ident $all_gather:literal $all_gather_varying:literal $all_to_all:literal $all_to_all_varying:literal) => {
        impl<M: ThreadUse> $topology<'_, M> {
            /// Sends `data` to all neighbours that this process sends to, and gives it what it receives from its
            /// sources, one after the other in their order; default values where there is no process. `data` is equally
            /// long in all processes.
            pub fn neighbor_all_gather<T: Element + Default>(&self, data: &[T]) -> Result<Vec<T>> {
                const NAME: CallName = CallName::new($all_gather, functions::MPI_NEIGHBOR_ALLGATHER);
                self.collective(NAME, &Kind::NeighborAllGather, data, None)
            }

            /// As `neighbor_all_gather`, with as many elements from each source as `counts` has for it. Errors:
            /// `MPI_ERR_COUNT`, `MPI_ERR_TRUNCATE`.
            pub fn neighbor_all_gather_varying<T: Element + Default>(
                &self,
                data: &[T],
                counts: &[usize],
            ) -> Result<Vec<T>> {
                const NAME: CallName = CallName::new($all_gather_varying, functions::MPI_NEIGHBOR_ALLGATHERV);
                self.collective(NAME, &Kind::NeighborAllGatherVarying(counts.to_vec()), data, None)
            }

            /// Sends each neighbour that this process sends to an equal part of `data`, in their order, and receives one
            /// from each source: those, in their order; default values where there is no process. The parts are equally
            /// long in all processes. Errors: `MPI_ERR_COUNT` when they would not be equal.
            pub fn neighbor_all_to_all<T: Element + Default>(&self, data: &[T]) -> Result<Vec<T>> {
                const NAME: CallName = CallName::new($all_to_all, functions::MPI_NEIGHBOR_ALLTOALL);
                self.collective(NAME, &Kind::NeighborAllToAll, data, None)
            }

            /// As `neighbor_all_to_all`, with parts of `send_counts` elements to the destinations and of `receive_counts`
            /// from the sources. Errors: `MPI_ERR_COUNT`, `MPI_ERR_TRUNCATE`.
            pub fn neighbor_all_to_all_varying<T: Element + Default>(
                &self,
                data: &[T],
                send_counts: &[usize],
                receive_counts: &[usize],
            ) -> Result<Vec<T>> {
                const NAME: CallName = CallName::new($all_to_all_varying, functions::MPI_NEIGHBOR_ALLTOALLV);
                let kind = Kind::NeighborAllToAllVarying(send_counts.to_vec(), receive_counts.to_vec());
                self.collective(NAME, &kind, data, None)
            }
        }
    };
}

neighbors!(Grid "Grid::neighbor_all_gather" "Grid::neighbor_all_gather_varying" "Grid::neighbor_all_to_all"
    "Grid::neighbor_all_to_all_varying");
neighbors!(Graph "Graph::neighbor_all_gather" "Graph::neighbor_all_gather_varying" "Graph::neighbor_all_to_all"
    "Graph::neighbor_all_to_all_varying");
