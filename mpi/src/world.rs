//! The processes of the job, and the start and end of this one (MPI-5.0, chapter 11).
//!
//! Invariant: while a [`World`] exists, MPI is initialized. A world of [`Single`] stays on its thread, so the engine
//! needs no lock.
//! Not here: messages (`peer`), collective calls (`collective`).

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use mpi_comm::Comm;
use mpi_core::Handle;
use mpi_core::abi::{MPI_ERR_INTERN, MPI_ERR_OTHER, MPI_THREAD_FUNNELED, MPI_THREAD_MULTIPLE};
use mpi_core::functions;
use mpi_env::{Process, Route};

use crate::call::{Call, CallName};
use crate::{Error, Result};

const FINALIZE: CallName = CallName::new("drop of mpi::World", functions::MPI_FINALIZE);

/// How many threads of the process use MPI: [`Single`] or [`Multiple`].
pub trait ThreadUse {}

/// Only the thread that initialized MPI uses it (`MPI_THREAD_FUNNELED`); the world cannot leave it.
///
/// ```compile_fail
/// fn on_another_thread(world: mpi::World) {
///     std::thread::spawn(move || world.barrier());
/// }
/// ```
#[derive(Debug)]
pub struct Single(PhantomData<*const ()>);

/// Any thread may use MPI at any time (`MPI_THREAD_MULTIPLE`); the world can be shared.
///
/// ```
/// fn on_another_thread(world: mpi::World<mpi::Multiple>) {
///     std::thread::spawn(move || world.barrier());
/// }
/// ```
#[derive(Debug)]
pub struct Multiple(());

impl ThreadUse for Single {}
impl ThreadUse for Multiple {}

/// All processes of the job: `MPI_COMM_WORLD`. Dropping it finalizes MPI, which waits for all processes.
///
/// When it is dropped by a panic, the job ends instead.
pub struct World<M: ThreadUse = Single> {
    pub(crate) process: &'static Process,
    threads: PhantomData<M>,
}

/// Initializes MPI for use by this thread alone. Errors: `MPI_ERR_OTHER` when it was initialized before, or when the
/// launcher's facts are not usable.
pub fn init() -> Result<World<Single>> {
    world(MPI_THREAD_FUNNELED).map_err(|error| error.call("mpi::init"))
}

/// Initializes MPI for use by all threads of the process. Errors: as [`init`].
pub fn init_multiple() -> Result<World<Multiple>> {
    world(MPI_THREAD_MULTIPLE).map_err(|error| error.call("mpi::init_multiple"))
}

/// Initializes MPI, runs `work`, and finalizes MPI. An error of `work` ends the job with a report.
pub fn run(work: impl FnOnce(&World) -> Result<()>) {
    match init() {
        Ok(world) => {
            if let Err(error) = work(&world) {
                world.process.fatal(&error, Route::default());
            }
        }
        Err(error) => {
            mpi_env::fatal_without_process(&error);
        }
    }
}

fn world<M: ThreadUse>(level: i32) -> Result<World<M>> {
    mpi_env::init(level)?;
    let world = World { process: mpi_env::running()?, threads: PhantomData };
    world.process.registry.deliver_events();
    Ok(world)
}

impl<M: ThreadUse> World<M> {
    /// This process's rank, from 0.
    pub fn rank(&self) -> u32 {
        self.process.rank()
    }

    /// The number of processes.
    pub fn size(&self) -> u32 {
        self.process.size()
    }

    /// The handle word of `MPI_COMM_WORLD`, to bind variables to.
    pub fn handle(&self) -> Handle {
        Handle(mpi_core::abi::MPI_COMM_WORLD)
    }

    /// Ends the job with this code (`MPI_Abort`).
    pub fn abort(&self, code: i32) -> ! {
        self.process.abort(code)
    }

    /// A call on the communicator of all processes.
    #[inline]
    pub(crate) fn call<T>(&self, name: CallName, body: impl FnOnce(&mut Call) -> Result<T>) -> Result<T> {
        Call::run(self.process, self.comm().context(), name, body)
    }

    /// The communicator that a call has just created.
    pub(crate) fn created(&self, handle: Handle) -> Result<Arc<Comm>> {
        let guard = self.process.engine.lock();
        let comm = self.process.comm(&guard, handle).cloned();
        comm.ok_or_else(|| Error::new(MPI_ERR_INTERN, "a new communicator does not exist"))
    }

    pub(crate) fn comm(&self) -> &Comm {
        self.process.world()
    }
}

impl<M: ThreadUse> fmt::Debug for World<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("rank", &self.rank()).field("size", &self.size()).finish()
    }
}

impl<M: ThreadUse> Drop for World<M> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let error = Error::new(MPI_ERR_OTHER, "the program panicked; its message stands above");
            self.process.fatal(&error, Route::default());
        }
        let finalized = self.call(FINALIZE, |call| {
            drop(call.enter(-1, 0, 0));
            call.process.finalize()
        });
        if let Err(error) = finalized {
            self.process.fatal(&error, Route::default());
        }
    }
}
