//! Calls that all processes make together (MPI-5.0, chapter 6).
//!
//! Invariant: lengths and roots are checked before the collective starts, as far as one process can see them.
//! Not here: the algorithms (mpi-coll).

use mpi_coll::{Op, Reduction};
use mpi_core::abi::{
    MPI_BAND, MPI_BOR, MPI_BXOR, MPI_ERR_COUNT, MPI_ERR_OP, MPI_ERR_ROOT, MPI_LAND, MPI_LOR, MPI_MAX, MPI_MIN,
    MPI_PROD, MPI_SUM,
};
use mpi_core::functions;
use mpi_datatype::{Element, RecvBuf, SendBuf};

use crate::call::CallName;
use crate::world::ThreadUse;
use crate::{Error, Result, World};

const BARRIER: CallName = CallName::new("World::barrier", functions::MPI_BARRIER);
const BROADCAST: CallName = CallName::new("World::broadcast", functions::MPI_BCAST);
const ALL_REDUCE: CallName = CallName::new("World::all_reduce", functions::MPI_ALLREDUCE);
const ALL_REDUCE_ONE: CallName = CallName::new("World::all_reduce_one", functions::MPI_ALLREDUCE);
const ALL_GATHER: CallName = CallName::new("World::all_gather", functions::MPI_ALLGATHER);

/// The operation of a reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// The sum.
    Sum,
    /// The product.
    Product,
    /// The largest.
    Max,
    /// The smallest.
    Min,
    /// Bits set in all; whole numbers only.
    BitAnd,
    /// Bits set in any; whole numbers only.
    BitOr,
    /// Bits set in an odd number; whole numbers only.
    BitXor,
    /// One if none is zero; whole numbers only.
    And,
    /// One if any is not zero; whole numbers only.
    Or,
}

impl Operation {
    fn op(self) -> Result<&'static Op> {
        let handle = match self {
            Operation::Sum => MPI_SUM,
            Operation::Product => MPI_PROD,
            Operation::Max => MPI_MAX,
            Operation::Min => MPI_MIN,
            Operation::BitAnd => MPI_BAND,
            Operation::BitOr => MPI_BOR,
            Operation::BitXor => MPI_BXOR,
            Operation::And => MPI_LAND,
            Operation::Or => MPI_LOR,
        };
        Op::predefined(handle).ok_or_else(|| Error::new(MPI_ERR_OP, "the operation is not in this build"))
    }
}

impl<M: ThreadUse> World<M> {
    /// Waits until all processes have called it.
    pub fn barrier(&self) -> Result<()> {
        self.call(BARRIER, |call| {
            drop(call.enter(-1, 0, 0));
            call.process.coll.barrier(self.comm())
        })
    }

    /// Copies `data` of the root to all processes. Errors: `MPI_ERR_ROOT`.
    pub fn broadcast<T: Element>(&self, data: &mut [T], root: u32) -> Result<()> {
        self.call(BROADCAST, |call| {
            let rank = self.check_root(root)?;
            drop(call.enter(rank, 0, data.len() as u64));
            call.process.coll.bcast(self.comm(), RecvBuf::from_slice(data), root)
        })
    }

    /// Combines `data` of all processes element by element, for all processes. Errors: `MPI_ERR_COUNT` when the
    /// slices differ in length; `MPI_ERR_OP` when the operation is not defined on the type.
    pub fn all_reduce<T: Element>(&self, data: &[T], into: &mut [T], operation: Operation) -> Result<()> {
        self.all_reduce_as(ALL_REDUCE, data, into, operation)
    }

    /// Combines one value of each process, for all processes. Errors: as [`World::all_reduce`].
    pub fn all_reduce_one<T: Element>(&self, value: T, operation: Operation) -> Result<T> {
        let mut result = [value];
        self.all_reduce_as(ALL_REDUCE_ONE, &[value], &mut result, operation)?;
        Ok(result[0])
    }

    /// Gives all processes the `data` of all, in the order of ranks. It must be equally long in all of them.
    pub fn all_gather<T: Element + Default>(&self, data: &[T]) -> Result<Vec<T>> {
        self.call(ALL_GATHER, |call| {
            drop(call.enter(-1, 0, data.len() as u64));
            let mut all = vec![T::default(); data.len() * self.size() as usize];
            let send = Some(SendBuf::from_slice(data));
            call.process.coll.allgather(self.comm(), send, RecvBuf::from_slice(&mut all))?;
            Ok(all)
        })
    }

    fn all_reduce_as<T: Element>(
        &self,
        name: CallName,
        data: &[T],
        into: &mut [T],
        operation: Operation,
    ) -> Result<()> {
        self.call(name, |call| {
            if data.len() != into.len() {
                let rule = format!("into has {} elements; both slices must be equally long", into.len());
                return Err(Error::new(MPI_ERR_COUNT, rule).arg("data.len()", &data.len()));
            }
            let op = operation.op()?;
            let what = Reduction { op, datatype: T::datatype(), handle: T::HANDLE, count: data.len() as u64 };
            op.on(what.datatype, what.handle)?;
            drop(call.enter(-1, 0, what.count));
            let (send, receive) = (Some(SendBuf::from_slice(data)), RecvBuf::from_slice(into));
            call.process.coll.allreduce(self.comm(), send, receive, &what)
        })
    }

    /// The root's rank as the flight recorder has it, if there is such a process.
    fn check_root(&self, root: u32) -> Result<i32> {
        let size = self.size();
        let known = i32::try_from(root).ok().filter(|_| root < size);
        known.ok_or_else(|| Error::new(MPI_ERR_ROOT, format!("the world has {size} processes")).arg("root", &root))
    }
}
