//! Sessions: communicators without the world (MPI-5.0, 11.3).
//!
//! Invariant: a session is open as long as its value lives, and its communicators borrow it.
//! Not here: the world (`world`).

use std::fmt;
use std::marker::PhantomData;

use mpi_core::abi::{MPI_ERR_ARG, MPI_ERRORS_RETURN};
use mpi_core::{Handle, functions};
use mpi_env::{PSETS, Process, Route};

use crate::call::{Call, CallName};
use crate::communicator::EndOnPanic;
use crate::threads::{Multiple, Single, ThreadUse};
use crate::{Communicator, Error, Hints, Result};

const COMMUNICATOR: CallName = CallName::new("Session::communicator", functions::MPI_COMM_CREATE_FROM_GROUP);
/// The levels of thread support, the lowest first.
const LEVELS: [&str; 4] = ["MPI_THREAD_SINGLE", FUNNELED, "MPI_THREAD_SERIALIZED", MULTIPLE];
const FUNNELED: &str = "MPI_THREAD_FUNNELED";
const MULTIPLE: &str = "MPI_THREAD_MULTIPLE";
const FINALIZE: CallName = CallName::new("drop of mpi::Session", functions::MPI_SESSION_FINALIZE);

/// A use of MPI that is independent of the [`World`](crate::World) and of other sessions: a library may have one without
/// regard to what the program does. Dropping it ends it, after its communicators.
///
/// ```no_run
/// # fn work() -> mpi::Result<()> {
/// let session = mpi::Session::new()?;
/// let all = session.communicator("mpi://WORLD", "org.example.library")?;
/// println!("{}", all.all_reduce_one(1u32, mpi::Operation::Sum)?);
/// # Ok(())
/// # }
/// ```
pub struct Session<M: ThreadUse = Single> {
    pub(crate) process: &'static Process,
    handle: Handle,
    threads: PhantomData<M>,
}

impl Session<Single> {
    /// Begins a session for use by this thread alone. Errors: `MPI_ERR_OTHER` when the launcher's facts are not usable,
    /// or when MPI has ended for good; `MPI_ERR_NO_MEM`.
    pub fn new() -> Result<Session<Single>> {
        Session::begin(FUNNELED, None, "Session::new")
    }

    /// As [`Session::new`], with hints (MPI-5.0, 11.3.1): `thread_level` is the name of a level of thread support, here
    /// `MPI_THREAD_FUNNELED` or a higher one. Errors: also `MPI_ERR_ARG` for another level.
    pub fn new_with_hints(hints: &Hints) -> Result<Session<Single>> {
        Session::begin(FUNNELED, Some(hints), "Session::new_with_hints")
    }
}

impl Session<Multiple> {
    /// Begins a session for use by all threads of the process. Errors: as [`Session::new`].
    pub fn new_multiple() -> Result<Session<Multiple>> {
        Session::begin(MULTIPLE, None, "Session::new_multiple")
    }

    /// As [`Session::new_with_hints`], for use by all threads of the process: the level is `MPI_THREAD_MULTIPLE`.
    pub fn new_multiple_with_hints(hints: &Hints) -> Result<Session<Multiple>> {
        Session::begin(MULTIPLE, Some(hints), "Session::new_multiple_with_hints")
    }
}

impl<M: ThreadUse> Session<M> {
    /// A session with the level of the hints, else the least that its type allows: other threads may have sessions too.
    fn begin(least: &'static str, hints: Option<&Hints>, name: &'static str) -> Result<Session<M>> {
        let begin = || {
            let wanted = hints.and_then(|hints| hints.get("thread_level")).unwrap_or(least);
            let process = mpi_env::join_job()?;
            let below = |level: &str| LEVELS.iter().take_while(|known| **known != least).any(|known| *known == level);
            if below(wanted) {
                let rule = format!("a session of this type has {least} at least");
                return Err(Error::new(MPI_ERR_ARG, rule).arg("thread_level", &wanted));
            }
            Ok((process, process.session_init(Some(wanted), Handle(MPI_ERRORS_RETURN))?))
        };
        let (process, handle) = begin().map_err(|error: Error| error.call(name))?;
        Ok(Session { process, handle, threads: PhantomData })
    }

    /// The hints that the session uses: `thread_level`, and `mpi_memory_alloc_kinds`, the kinds of memory that messages
    /// may lie in (`MPI_Session_get_info`; MPI-5.0, 11.3.1).
    pub fn hints(&self) -> Hints {
        let guard = self.process.engine.lock();
        self.process.session(&guard, self.handle).map_or_else(Hints::new, |session| session.hints().into())
    }

    /// The names of the sets of processes that communicators can be made of.
    pub fn sets(&self) -> &'static [&'static str] {
        &PSETS
    }

    /// Makes a communicator of the processes of a set. All of them call it, with the same `tag`, which distinguishes it
    /// from other calls at the same time, and wait for each other. Errors: `MPI_ERR_ARG` for an unknown set,
    /// `MPI_ERR_NO_MEM`, `MPI_ERR_OTHER`.
    pub fn communicator(&self, set: &str, tag: &str) -> Result<Communicator<'_, M>> {
        Call::run(self.process, 0, COMMUNICATOR, |call| {
            let group = self.process.pset(set).ok_or_else(|| {
                let rule = format!("a session has the sets {}", PSETS.join(" and "));
                Error::new(MPI_ERR_ARG, rule).arg("set", &set)
            })?;
            drop(call.enter(-1, 0, 0));
            let group = group.of_session(self.handle);
            let handle = self.process.comm_create_from_group(&group, tag.as_bytes(), Handle(MPI_ERRORS_RETURN))?;
            Communicator::made_in(self.process, handle, "communicator")
        })
    }

    /// The handle word, to bind variables to.
    pub fn handle(&self) -> Handle {
        self.handle
    }
}

impl<M: ThreadUse> Drop for Session<M> {
    fn drop(&mut self) {
        drop(EndOnPanic(self.process));
        let ended = Call::run(self.process, 0, FINALIZE, |call| {
            drop(call.enter(-1, 0, 0));
            self.process.session_finalize(self.handle)
        });
        if let Err(error) = ended {
            self.process.fatal(&error, Route::default());
        }
    }
}

impl<M: ThreadUse> fmt::Debug for Session<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("handle", &self.handle).finish()
    }
}
