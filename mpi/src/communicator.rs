//! Communicators: processes that send messages to each other and call collectives together (MPI-5.0, chapter 7).
//!
//! Invariant: a communicator borrows the one that it was made from, and all borrow the [`World`](crate::World), so each
//! is freed before MPI is finalized.
//! Not here: what goes on in one (`peer`, `collective`), two groups of processes (`intercomm`).

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use mpi_comm::{Comm, Comparison, Group, host_number};
use mpi_core::abi::{MPI_COMM_NULL, MPI_ERR_ARG, MPI_ERR_INTERN, MPI_ERR_OTHER, MPI_ERR_RANK, MPI_UNDEFINED};
use mpi_core::{Handle, functions};
use mpi_env::{Process, Route};

use crate::call::{Call, CallName};
use crate::threads::{Single, ThreadUse};
use crate::{Error, Result};

const DUPLICATE: CallName = CallName::new("Communicator::duplicate", functions::MPI_COMM_DUP);
const SPLIT: CallName = CallName::new("Communicator::split", functions::MPI_COMM_SPLIT);
const SPLIT_BY_MEMORY: CallName = CallName::new("Communicator::split_by_memory", functions::MPI_COMM_SPLIT_TYPE);
const SUBSET: CallName = CallName::new("Communicator::subset", functions::MPI_COMM_CREATE);

/// Processes with ranks from 0, and a space of messages that is apart from those of all other communicators.
///
/// Dropping it frees it, which no other process waits for; messages under way are complete all the same.
///
/// ```no_run
/// # fn work(world: &mpi::World) -> mpi::Result<()> {
/// // The processes of even rank, and those of odd rank.
/// let half = world.split(Some(world.rank() % 2), 0)?.expect("all processes have a color");
/// let largest = half.all_reduce_one(world.rank(), mpi::Operation::Max)?;
/// assert!(world.size() - largest <= 2);
/// # Ok(())
/// # }
/// ```
pub struct Communicator<'c, M: ThreadUse = Single> {
    pub(crate) process: &'static Process,
    pub(crate) comm: Arc<Comm>,
    /// What errors call it.
    name: &'static str,
    /// Whether the value frees the communicator when it is dropped: it is not predefined, and was not freed.
    pub(crate) frees: bool,
    parent: PhantomData<(&'c (), M)>,
}

/// Makes what has it end before the communicator that it borrows: an operation uses the communicator when it is dropped.
#[derive(Debug)]
pub(crate) struct Alive<'c>(PhantomData<&'c ()>);

impl Alive<'_> {
    pub(crate) fn new() -> Self {
        Alive(PhantomData)
    }
}

impl Drop for Alive<'_> {
    fn drop(&mut self) {}
}

/// Ends the job if it is dropped by a panic: other processes would wait for this one for ever.
pub(crate) struct EndOnPanic(pub(crate) &'static Process);

impl Drop for EndOnPanic {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let error = Error::new(MPI_ERR_OTHER, "the program panicked; its message stands above");
            self.0.fatal(&error, Route::default());
        }
    }
}

impl<M: ThreadUse> Communicator<'static, M> {
    /// One that exists while MPI is initialized. Its owner lends it no longer.
    pub(crate) fn predefined(process: &'static Process, comm: Arc<Comm>, name: &'static str) -> Self {
        Communicator { process, comm, name, frees: false, parent: PhantomData }
    }
}

impl<M: ThreadUse> Communicator<'_, M> {
    /// This process's rank, from 0.
    #[inline]
    pub fn rank(&self) -> u32 {
        self.comm.rank()
    }

    /// The number of processes.
    #[inline]
    pub fn size(&self) -> u32 {
        self.comm.size()
    }

    /// The handle word, to bind variables to.
    pub fn handle(&self) -> Handle {
        self.comm.handle()
    }

    /// The ranks in the world of its processes, by their ranks here.
    pub fn world_ranks(&self) -> &[u32] {
        self.comm.group().world_ranks()
    }

    /// Makes a communicator of the same processes, in which messages are apart from those of this one. All processes
    /// call it, and wait for each other. Errors: `MPI_ERR_NO_MEM`; `MPI_ERR_OTHER` when no context ids are left.
    pub fn duplicate(&self) -> Result<Communicator<'_, M>> {
        self.call(DUPLICATE, |call| {
            drop(call.enter(-1, 0, 0));
            self.made(call.process.comm_dup(self.handle())?, "communicator")
        })
    }

    /// Makes a communicator of the processes that pass the same color, ordered by key, and by their ranks here where
    /// keys are equal; `None` in a process that passes no color. All processes call it, and wait for each other.
    /// Errors: `MPI_ERR_ARG` for a color from 2^31, and as [`Communicator::duplicate`].
    pub fn split(&self, color: Option<u32>, key: i32) -> Result<Option<Communicator<'_, M>>> {
        self.call(SPLIT, |call| {
            let handle = self.split_handle(call, color, key)?;
            self.made_for_members(handle)
        })
    }

    /// The handle of a new communicator or intercommunicator of the processes that pass the same color.
    pub(crate) fn split_handle(&self, call: &mut Call, color: Option<u32>, key: i32) -> Result<Handle> {
        let color = color.map_or(Ok(MPI_UNDEFINED), |color| {
            let rule = "a color is less than 2^31";
            i32::try_from(color).map_err(|_| Error::new(MPI_ERR_ARG, rule).arg("color", &color))
        })?;
        drop(call.enter(-1, 0, 0));
        call.process.comm_split(self.handle(), color, key)
    }

    /// Makes a communicator of the processes with these ranks, in this order; `None` in all others. All processes of
    /// this communicator call it with equal ranks, and wait for each other. Errors: `MPI_ERR_RANK` for a rank that no
    /// process has or that is there twice, and as [`Communicator::duplicate`].
    pub fn subset(&self, ranks: &[u32]) -> Result<Option<Communicator<'_, M>>> {
        self.call(SUBSET, |call| {
            let group = self.group_of(ranks)?;
            drop(call.enter(-1, 0, ranks.len() as u64));
            self.made_for_members(call.process.comm_create(self.handle(), &group)?)
        })
    }

    /// Makes a communicator of the processes that share memory with this one: those of its host. Ordered by key, as
    /// [`Communicator::split`]. All processes call it, and wait for each other. Errors: as [`Communicator::duplicate`].
    pub fn split_by_memory(&self, key: i32) -> Result<Communicator<'_, M>> {
        self.call(SPLIT_BY_MEMORY, |call| {
            drop(call.enter(-1, 0, 0));
            let host = host_number(&call.process.engine, &self.comm);
            self.made(call.process.comm_split(self.handle(), host as i32, key)?, "communicator")
        })
    }

    /// How the processes of another communicator compare with those of this one.
    pub fn compare(&self, other: &Communicator<'_, M>) -> Comparison {
        self.comm.compare(&other.comm)
    }

    /// Its name, `MPI_COMM_WORLD` or what [`Communicator::set_name`] gave it.
    pub fn name(&self) -> String {
        self.comm.name()
    }

    /// Names it, for reports and tools.
    pub fn set_name(&self, name: &str) {
        self.comm.set_name(name);
        self.process.on_comm_named(&self.comm);
    }

    fn group_of(&self, ranks: &[u32]) -> Result<Group> {
        let mut members = Vec::with_capacity(ranks.len());
        let mut seen = vec![false; self.size() as usize];
        for (place, rank) in ranks.iter().enumerate() {
            let index = *rank as usize;
            let rule = match seen.get_mut(index) {
                Some(seen) if !*seen => {
                    *seen = true;
                    members.push(self.world_ranks()[index]);
                    continue;
                }
                Some(_) => "a process is in a group once".to_owned(),
                None => format!("the {} has {}", self.name, mpi_errors::processes(self.size())),
            };
            return Err(Error::new(MPI_ERR_RANK, rule).arg("ranks", rank).in_element(place));
        }
        Ok(Group::new(members))
    }

    /// A call on this communicator.
    #[inline]
    pub(crate) fn call<T>(&self, name: CallName, body: impl FnOnce(&mut Call) -> Result<T>) -> Result<T> {
        Call::run(self.process, self.comm.context(), name, body)
    }

    /// What errors call the processes that ranks name: of two groups the remote one.
    pub(crate) fn among(&self) -> &'static str {
        if self.comm.remote().is_some() { "remote group" } else { self.name }
    }

    /// The communicator that a call has just made; none in a process that is not a member.
    pub(crate) fn made_for_members(&self, handle: Handle) -> Result<Option<Communicator<'_, M>>> {
        (handle.0 != MPI_COMM_NULL).then(|| self.made(handle, "communicator")).transpose()
    }

    /// The communicator that a call has just made.
    pub(crate) fn made<'c>(&'c self, handle: Handle, name: &'static str) -> Result<Communicator<'c, M>> {
        Communicator::made_in(self.process, handle, name)
    }
}

impl<'c, M: ThreadUse> Communicator<'c, M> {
    /// As [`Communicator::made`]; what it borrows is the caller's.
    pub(crate) fn made_in(
        process: &'static Process,
        handle: Handle,
        name: &'static str,
    ) -> Result<Communicator<'c, M>> {
        let comm = process.comm(&process.engine.lock(), handle).cloned();
        let comm = comm.ok_or_else(|| Error::new(MPI_ERR_INTERN, "a new communicator does not exist"))?;
        Ok(Communicator { process, comm, name, frees: true, parent: PhantomData })
    }
}

impl<M: ThreadUse> Drop for Communicator<'_, M> {
    fn drop(&mut self) {
        if self.frees {
            // The handle is its own, and is live until here.
            let _ = self.process.comm_free(self.handle());
        }
    }
}

impl<M: ThreadUse> fmt::Debug for Communicator<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Communicator").field("rank", &self.rank()).field("size", &self.size()).finish()
    }
}
