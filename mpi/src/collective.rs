//! Calls that all processes make together (MPI-5.0, chapter 6).
//!
//! Invariant: lengths and roots are checked before the collective starts, as far as one process can see them.
//! Not here: the algorithms (mpi-coll).

use mpi_coll::{Op, Reduction};
use mpi_core::abi::{MPI_ERR_COUNT, MPI_ERR_ROOT};
use mpi_core::functions;
use mpi_datatype::{Element, RecvBuf, SendBuf};

use crate::call::CallName;
use crate::threads::ThreadUse;
use crate::{Combine, Communicator, Error, Result};

const BARRIER: CallName = CallName::new("Communicator::barrier", functions::MPI_BARRIER);
const BROADCAST: CallName = CallName::new("Communicator::broadcast", functions::MPI_BCAST);
const ALL_REDUCE: CallName = CallName::new("Communicator::all_reduce", functions::MPI_ALLREDUCE);
const ALL_REDUCE_ONE: CallName = CallName::new("Communicator::all_reduce_one", functions::MPI_ALLREDUCE);
const ALL_REDUCE_WITH: CallName = CallName::new("Communicator::all_reduce_with", functions::MPI_ALLREDUCE);
const REDUCE: CallName = CallName::new("Communicator::reduce", functions::MPI_REDUCE);
const GATHER: CallName = CallName::new("Communicator::gather", functions::MPI_GATHER);
const SCATTER: CallName = CallName::new("Communicator::scatter", functions::MPI_SCATTER);
const ALL_TO_ALL: CallName = CallName::new("Communicator::all_to_all", functions::MPI_ALLTOALL);
const ALL_GATHER: CallName = CallName::new("Communicator::all_gather", functions::MPI_ALLGATHER);

impl<M: ThreadUse> Communicator<'_, M> {
    /// Waits until all processes have called it.
    pub fn barrier(&self) -> Result<()> {
        self.call(BARRIER, |call| {
            drop(call.enter(-1, 0, 0));
            call.process.coll.barrier(&self.comm)
        })
    }

    /// Copies `data` of the root to all processes. Errors: `MPI_ERR_ROOT`.
    pub fn broadcast<T: Element>(&self, data: &mut [T], root: u32) -> Result<()> {
        self.call(BROADCAST, |call| {
            let rank = self.check_root(root)?;
            drop(call.enter(rank, 0, data.len() as u64));
            call.process.coll.bcast(&self.comm, RecvBuf::from_slice(data), root)
        })
    }

    /// Combines `data` of all processes element by element, for all processes. It must be equally long in all of them: if
    /// it is not, some may wait for ever (`coll_check` finds it). Errors: `MPI_ERR_COUNT` when the slices differ in length; `MPI_ERR_OP` when the operation is not defined on the type.
    pub fn all_reduce<T: Element>(&self, data: &[T], into: &mut [T], combine: impl Into<Combine<T>>) -> Result<()> {
        self.all_reduce_as(ALL_REDUCE, data, into, combine.into())
    }

    /// Combines one value of each process, for all processes. Errors: as [`Communicator::all_reduce`].
    pub fn all_reduce_one<T: Element>(&self, value: T, combine: impl Into<Combine<T>>) -> Result<T> {
        let mut result = [value];
        self.all_reduce_as(ALL_REDUCE_ONE, &[value], &mut result, combine.into())?;
        Ok(result[0])
    }

    /// As [`Communicator::all_reduce`], with a function of the program: `combine(a, b)` is called with values of lower
    /// and of higher ranks. It must be associative, and the same in all processes. A panic of it ends the job.
    ///
    /// ```no_run
    /// # fn work(world: &mpi::World) -> mpi::Result<()> {
    /// // The position and value of the maximum.
    /// let own = [f64::from(world.rank()), f64::from(world.rank()).sin()];
    /// let mut largest = [own];
    /// world.all_reduce_with(&[own], &mut largest, |a, b| if a[1] >= b[1] { a } else { b })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn all_reduce_with<T: Element>(
        &self,
        data: &[T],
        into: &mut [T],
        combine: impl Fn(T, T) -> T + Send + Sync + 'static,
    ) -> Result<()> {
        self.all_reduce_as(ALL_REDUCE_WITH, data, into, Combine::by(combine))
    }

    /// Combines `data` of all processes element by element, for the root; `None` in all others. Errors: `MPI_ERR_ROOT`;
    /// `MPI_ERR_OP` when the operation is not defined on the type.
    pub fn reduce<T: Element + Default>(
        &self,
        data: &[T],
        combine: impl Into<Combine<T>>,
        root: u32,
    ) -> Result<Option<Vec<T>>> {
        self.call(REDUCE, |call| {
            let rank = self.check_root(root)?;
            let op = combine.into().op(call.process)?;
            let what = reduction::<T>(&op, data.len());
            drop(call.enter(rank, 0, what.count));
            self.for_root(root, data.len(), |receive| {
                call.process.coll.reduce(&self.comm, Some(SendBuf::from_slice(data)), receive, &what, root)
            })
        })
    }

    /// Gives the root the `data` of all processes, in the order of ranks; `None` to all others. It must be equally long
    /// in all of them. Errors: `MPI_ERR_ROOT`, `MPI_ERR_TRUNCATE` at the root when a process has more than the root.
    pub fn gather<T: Element + Default>(&self, data: &[T], root: u32) -> Result<Option<Vec<T>>> {
        self.call(GATHER, |call| {
            let rank = self.check_root(root)?;
            drop(call.enter(rank, 0, data.len() as u64));
            self.for_root(root, data.len() * self.size() as usize, |receive| {
                call.process.coll.gather(&self.comm, Some(SendBuf::from_slice(data)), receive, root)
            })
        })
    }

    /// Gives each process its part of the root's `data`, which has a part as long as `into` for each, in the order of
    /// ranks. `into` is equally long in all processes; `data` of all others than the root is ignored. Errors:
    /// `MPI_ERR_ROOT`; at the root `MPI_ERR_COUNT` for data of another length.
    pub fn scatter<T: Element>(&self, data: &[T], into: &mut [T], root: u32) -> Result<()> {
        self.call(SCATTER, |call| {
            let rank = self.check_root(root)?;
            let is_root = root == self.rank();
            if is_root && data.len() != into.len() * self.size() as usize {
                let processes = mpi_errors::processes(self.size());
                let rule = format!("each of {processes} gets as many elements as into has, which are {}", into.len());
                return Err(Error::new(MPI_ERR_COUNT, rule).arg("data.len()", &data.len()));
            }
            drop(call.enter(rank, 0, into.len() as u64));
            let (send, receive) = (is_root.then(|| SendBuf::from_slice(data)), Some(RecvBuf::from_slice(into)));
            call.process.coll.scatter(&self.comm, send, receive, root)
        })
    }

    /// Gives all processes the `data` of all, in the order of ranks. It must be equally long in all of them.
    pub fn all_gather<T: Element + Default>(&self, data: &[T]) -> Result<Vec<T>> {
        self.call(ALL_GATHER, |call| {
            drop(call.enter(-1, 0, data.len() as u64));
            let mut all = vec![T::default(); data.len() * self.size() as usize];
            let send = Some(SendBuf::from_slice(data));
            call.process.coll.allgather(&self.comm, send, RecvBuf::from_slice(&mut all))?;
            Ok(all)
        })
    }

    /// Sends each process a part of `data`, equal parts in the order of ranks, and receives one from each: those, in
    /// the order of ranks. `data` is equally long in all processes. Errors: `MPI_ERR_COUNT` when the parts would not be
    /// equal.
    pub fn all_to_all<T: Element + Default>(&self, data: &[T]) -> Result<Vec<T>> {
        self.call(ALL_TO_ALL, |call| {
            if !data.len().is_multiple_of(self.size() as usize) {
                let rule = format!("each of {} gets an equal part", mpi_errors::processes(self.size()));
                return Err(Error::new(MPI_ERR_COUNT, rule).arg("data.len()", &data.len()));
            }
            drop(call.enter(-1, 0, data.len() as u64));
            let mut received = vec![T::default(); data.len()];
            let send = Some(SendBuf::from_slice(data));
            call.process.coll.alltoall(&self.comm, send, RecvBuf::from_slice(&mut received))?;
            Ok(received)
        })
    }

    fn all_reduce_as<T: Element>(&self, name: CallName, data: &[T], into: &mut [T], combine: Combine<T>) -> Result<()> {
        self.call(name, |call| {
            if data.len() != into.len() {
                let other = mpi_errors::counted(into.len(), "element");
                let rule = format!("into has {other}; both slices must be equally long");
                return Err(Error::new(MPI_ERR_COUNT, rule).arg("data.len()", &data.len()));
            }
            let op = combine.op(call.process)?;
            let what = reduction::<T>(&op, data.len());
            drop(call.enter(-1, 0, what.count));
            let (send, receive) = (Some(SendBuf::from_slice(data)), RecvBuf::from_slice(into));
            call.process.coll.allreduce(&self.comm, send, receive, &what)
        })
    }

    /// Runs a collective whose result of `count` elements only the root gets.
    fn for_root<T: Element + Default>(
        &self,
        root: u32,
        count: usize,
        run: impl FnOnce(Option<RecvBuf<'_>>) -> Result<()>,
    ) -> Result<Option<Vec<T>>> {
        if root != self.rank() {
            return run(None).map(|()| None);
        }
        let mut result = vec![T::default(); count];
        run(Some(RecvBuf::from_slice(&mut result)))?;
        Ok(Some(result))
    }

    /// The root's rank as the flight recorder has it, if there is such a process.
    pub(crate) fn check_root(&self, root: u32) -> Result<i32> {
        let size = self.size();
        let known = i32::try_from(root).ok().filter(|_| root < size);
        known.ok_or_else(|| {
            let rule = format!("the {} has {}", self.among(), mpi_errors::processes(size));
            Error::new(MPI_ERR_ROOT, rule).arg("root", &root)
        })
    }
}

/// The reduction of `count` elements.
fn reduction<T: Element>(op: &Op, count: usize) -> Reduction<'_> {
    Reduction { op, datatype: T::datatype(), handle: T::HANDLE, count: count as u64 }
}
