//! Duplicates of communicators under way while the process works (`MPI_Comm_idup`; MPI-5.0, 7.4.2).
//!
//! Invariant: the duplicate is accessible only once it is complete. One that is dropped before is freed; the other
//! processes' duplicates are complete all the same.
//! Not here: duplicates that block (`communicator`).

use std::fmt;

use mpi_core::{Handle, functions};
use mpi_env::Process;

use crate::call::{Call, CallName};
use crate::request::{Request, sealed};
use crate::threads::{Single, ThreadUse};
use crate::{Communicator, Hints, Intercomm, Result};

const START: CallName = CallName::new("Communicator::start_duplicate", functions::MPI_COMM_IDUP);
const START_WITH_HINTS: CallName =
    CallName::new("Communicator::start_duplicate_with_hints", functions::MPI_COMM_IDUP_WITH_INFO);
const DUPLICATE_BOTH: CallName = CallName::new("Intercomm::duplicate", functions::MPI_COMM_DUP);
const WAIT: CallName = CallName::new("Duplicating::wait", functions::MPI_WAIT);
const TEST: CallName = CallName::new("Duplicating::is_complete", functions::MPI_REQUEST_GET_STATUS);

/// A duplicate of a communicator that is under way. Dropping it frees the duplicate.
///
/// ```no_run
/// # fn work(world: &mpi::World) -> mpi::Result<()> {
/// let duplicating = world.start_duplicate()?;
/// // Work and messages on the world.
/// let twin = duplicating.wait()?;
/// twin.barrier()
/// # }
/// ```
#[must_use = "`wait` gives the duplicate"]
pub struct Duplicating<'c, M: ThreadUse = Single> {
    made: Option<Communicator<'c, M>>,
    /// `None`: complete.
    request: Option<Handle>,
    process: &'static Process,
    /// Context id of the communicator that is duplicated.
    context: u32,
}

impl<M: ThreadUse> Communicator<'_, M> {
    /// Starts to make a duplicate, as [`Communicator::duplicate`]. All processes call it, in the same order as other
    /// collective calls; none waits. Errors: `MPI_ERR_NO_MEM`; `MPI_ERR_OTHER` when no context ids are left.
    pub fn start_duplicate(&self) -> Result<Duplicating<'_, M>> {
        self.call(START, |call| self.duplicating(call))
    }

    /// As [`Communicator::start_duplicate`]; the duplicate has these hints (`MPI_Comm_idup_with_info`; MPI-5.0, 7.4.2).
    /// Processes may pass different hints.
    pub fn start_duplicate_with_hints(&self, hints: &Hints) -> Result<Duplicating<'_, M>> {
        self.call(START_WITH_HINTS, |call| {
            let started = self.duplicating(call)?;
            if let Some(made) = &started.made {
                made.set_hints(hints);
            }
            Ok(started)
        })
    }

    fn duplicating(&self, call: &mut Call) -> Result<Duplicating<'_, M>> {
        drop(call.enter(-1, 0, 0));
        let (handle, request) = call.process.comm_idup(self.handle())?;
        let (process, context) = (call.process, call.context);
        let mut started = Duplicating { made: None, request: Some(request), process, context };
        started.made = Some(self.made(handle, "communicator")?);
        Ok(started)
    }
}

impl<M: ThreadUse> Intercomm<'_, M> {
    /// Makes an intercommunicator of the same groups, in which messages are apart from those of this one. All processes of
    /// both groups call it, and wait for each other. Errors: as [`Communicator::duplicate`].
    pub fn duplicate(&self) -> Result<Intercomm<'_, M>> {
        self.both.call(DUPLICATE_BOTH, |call| {
            drop(call.enter(-1, 0, 0));
            let handle = call.process.comm_dup(self.handle())?;
            Ok(Intercomm { both: self.both.made(handle, "intercommunicator")? })
        })
    }
}

impl<'c, M: ThreadUse> Duplicating<'c, M> {
    /// Waits until the duplicate can be used, and gives it. Errors: as [`Communicator::start_duplicate`].
    pub fn wait(mut self) -> Result<Communicator<'c, M>> {
        Call::run(self.process, self.context, WAIT, |call| {
            if let Some(request) = self.request {
                let completion = call.process.engine.wait(call.enter(-1, 0, 0), request)?;
                self.request = None;
                completion.error.map_or(Ok(()), Err)?;
            }
            Ok(self.made.take().expect("a duplicate is taken once"))
        })
    }

    /// Whether it is complete, so that [`Duplicating::wait`] does not wait.
    pub fn is_complete(&self) -> Result<bool> {
        Call::run(self.process, self.context, TEST, |call| {
            let Some(request) = self.request else { return Ok(true) };
            Ok(call.process.engine.request_get_status(&mut call.enter(-1, 0, 0), request)?.is_some())
        })
    }
}

impl<M: ThreadUse> Request for Duplicating<'_, M> {}
impl<M: ThreadUse> sealed::Sealed for Duplicating<'_, M> {
    fn place(&self) -> (&'static Process, u32) {
        (self.process, self.context)
    }

    fn handle(&self) -> Option<Handle> {
        self.request
    }
}

impl<M: ThreadUse> Drop for Duplicating<'_, M> {
    fn drop(&mut self) {
        // The communicator is freed after its request, which completes by itself.
        if let Some(request) = self.request {
            let engine = &self.process.engine;
            let _ = engine.request_free(&mut engine.lock(), request);
        }
    }
}

impl<M: ThreadUse> fmt::Debug for Duplicating<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Duplicating").field("made", &self.made).field("request", &self.request).finish()
    }
}
