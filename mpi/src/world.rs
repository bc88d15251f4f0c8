//! The processes of the job, and the start and end of this one (MPI-5.0, chapter 11).
//!
//! Invariant: while a [`World`] exists, MPI is initialized. A world of [`Single`] stays on its thread.
//! Not here: what is done with the processes (`communicator`, `collective`, `peer`).

use std::backtrace::Backtrace;
use std::fmt;
use std::ops::Deref;
use std::panic;

use mpi_core::functions;
use mpi_env::Route;

use crate::call::{CallName, for_rust};
use crate::communicator::EndOnPanic;
use crate::threads::{Multiple, Single, ThreadUse};
use crate::{Communicator, Result};

const FINALIZE: CallName = CallName::new("drop of mpi::World", functions::MPI_FINALIZE);

/// All processes of the job: the [`Communicator`] `MPI_COMM_WORLD`. Dropping it finalizes MPI, which waits for all
/// processes.
///
/// When it is dropped by a panic, the job ends instead.
pub struct World<M: ThreadUse = Single> {
    /// Lent no longer than the world lives, so that nothing made of it outlives MPI.
    all: Communicator<'static, M>,
    alone: Communicator<'static, M>,
}

/// Initializes MPI for use by this thread alone. Errors: `MPI_ERR_OTHER` when it was initialized before, or when the
/// launcher's facts are not usable.
///
/// An error that leaves the function with the world in it, as by `?` in `main`, drops the world first. If only some
/// processes have the error, the drop waits for the others, which wait for this one. [`run`] ends the job instead.
pub fn init() -> Result<World<Single>> {
    init_as()
}

/// Initializes MPI for use by all threads of the process. Errors: as [`init`].
pub fn init_multiple() -> Result<World<Multiple>> {
    init_as()
}

/// Initializes MPI, runs `work`, and finalizes MPI. An error of `work` ends the job with a report, a panic also with a
/// backtrace.
///
/// In `work`, `?` also takes errors of the standard library and `Box<dyn std::error::Error>`, in which an error of MPI keeps
/// its class; [`Error::other`](crate::Error::other) takes any other.
///
/// ```no_run
/// fn work(world: &mpi::World) -> Result<(), Box<dyn std::error::Error>> {
///     let steps: u32 = std::fs::read_to_string("steps")?.trim().parse()?;
///     println!("rank {} of {} takes {steps} steps", world.rank(), world.size());
///     Ok(())
/// }
///
/// mpi::run(|world| Ok(work(world)?));
/// ```
pub fn run(work: impl FnOnce(&World) -> Result<()>) {
    run_in(work);
}

/// As [`run`], for use by all threads of the process.
///
/// ```
/// mpi::run_multiple(|world| {
///     std::thread::scope(|threads| {
///         threads.spawn(|| world.process(world.rank()).send(&[1.5], 0));
///         let (values, _) = world.process(world.rank()).receive::<f64>(0)?;
///         assert_eq!(values, [1.5]);
///         Ok(())
///     })
/// });
/// ```
pub fn run_multiple(work: impl FnOnce(&World<Multiple>) -> Result<()>) {
    run_in(work);
}

/// [`run`] for any use of threads.
pub(crate) fn run_in<M: ThreadUse>(work: impl FnOnce(&World<M>) -> Result<()>) {
    show_backtraces();
    match init_as::<M>() {
        Ok(world) => {
            if let Err(error) = work(&world) {
                world.process.fatal(&for_rust(error), Route::default());
            }
        }
        Err(error) => {
            mpi_env::fatal_without_process(&error);
        }
    }
}

/// Lets panics print a backtrace where the user has not said whether they do: a job that fails on one of many processes
/// is hard to run again with `RUST_BACKTRACE=1`.
fn show_backtraces() {
    if std::env::var_os("RUST_BACKTRACE").is_some() {
        return;
    }
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        before(panic);
        eprintln!("stack backtrace:\n{}", Backtrace::force_capture());
    }));
}

fn init_as<M: ThreadUse>() -> Result<World<M>> {
    mpi_env::init(M::LEVEL).map_err(|error| error.call(M::INIT))?;
    // The folder may change later.
    mpi_env::info_env::contents();
    let process = mpi_env::running()?;
    let [all, alone] = [process.world(), process.comm_self()];
    let world = World {
        all: Communicator::predefined(process, all.clone(), "world"),
        alone: Communicator::predefined(process, alone.clone(), "communicator of this process alone"),
    };
    process.registry.deliver_events();
    Ok(world)
}

impl<M: ThreadUse> World<M> {
    /// This process alone: `MPI_COMM_SELF`.
    pub fn alone(&self) -> &Communicator<'_, M> {
        &self.alone
    }

    /// Ends the job with this code (`MPI_Abort`).
    pub fn abort(&self, code: i32) -> ! {
        self.process.abort(code)
    }
}

impl<M: ThreadUse> Deref for World<M> {
    type Target = Communicator<'static, M>;

    fn deref(&self) -> &Communicator<'static, M> {
        &self.all
    }
}

impl<M: ThreadUse> fmt::Debug for World<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("World").field("rank", &self.rank()).field("size", &self.size()).finish()
    }
}

impl<M: ThreadUse> Drop for World<M> {
    fn drop(&mut self) {
        drop(EndOnPanic(self.process));
        let finalized = self.call(FINALIZE, |call| {
            drop(call.enter(-1, 0, 0));
            call.process.finalize()
        });
        if let Err(error) = finalized {
            self.process.fatal(&error, Route::default());
        }
    }
}
