//! Generalized requests: operations of the program that calls of this library wait for (MPI-5.0, 13.2).
//!
//! Invariants: both ends borrow their [`World`], so a request ends before MPI is finalized. A request is completed
//! once, by [`Completer::complete`] or by the drop of its [`Completer`].
//! Not here: the requests themselves (`mpi_p2p`).

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use mpi_core::abi::MPI_ERR_OTHER;
use mpi_core::{Handle, Status, functions};
use mpi_p2p::Generalized;

use crate::call::CallName;
use crate::threads::Multiple;
use crate::{Error, Result, World};

const START: CallName = CallName::new("World::start_generalized", functions::MPI_GREQUEST_START);
const COMPLETE: CallName = CallName::new("Completer::complete", functions::MPI_GREQUEST_COMPLETE);
const WAIT: CallName = CallName::new("GeneralizedRequest::wait", functions::MPI_WAIT);
const TEST: CallName = CallName::new("GeneralizedRequest::test", functions::MPI_TEST);

/// The result of an operation that the program performs. While a thread waits for it, messages of the process move on.
///
/// ```no_run
/// # fn work(world: &mpi::World<mpi::Multiple>) -> mpi::Result<()> {
/// std::thread::scope(|scope| {
///     let (sum, completer) = world.start_generalized::<u64>()?;
///     scope.spawn(move || completer.complete((0..1_000_000).sum()));
///     world.process(0).send(&[1], 0)?;
///     println!("{}", sum.wait()?);
///     Ok(())
/// })
/// # }
/// ```
pub struct GeneralizedRequest<'w, T> {
    pub(crate) world: &'w World<Multiple>,
    pub(crate) request: Handle,
    value: Arc<Value<T>>,
    ended: bool,
}

/// The end of a [`GeneralizedRequest`] that completes it; any thread may have it. If it is dropped instead, the request
/// ends with an error.
pub struct Completer<'w, T> {
    world: &'w World<Multiple>,
    request: Handle,
    value: Arc<Value<T>>,
    completed: bool,
}

/// The place of the result. The callbacks of a request have nothing to do: the result does not pass through its status.
struct Value<T>(Mutex<Option<T>>);

impl<T> Value<T> {
    fn take(&self) -> Option<T> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl<T: Send> Generalized for Value<T> {
    fn query(&self, _: &mut Status) -> Result<()> {
        Ok(())
    }

    fn free(&self) -> Result<()> {
        Ok(())
    }

    fn cancel(&self, _: bool) -> Result<()> {
        Ok(())
    }
}

impl World<Multiple> {
    /// Starts an operation of the program, and returns the two ends of its request. Errors: `MPI_ERR_INTERN` when there
    /// are too many requests.
    pub fn start_generalized<T: Send + 'static>(&self) -> Result<(GeneralizedRequest<'_, T>, Completer<'_, T>)> {
        self.call(START, |call| {
            let value = Arc::new(Value(Mutex::new(None)));
            let mut guard = call.enter(-1, 0, 0);
            let request = call.process.engine.start_generalized(&mut guard, value.clone())?;
            let completer = Completer { world: self, request, value: value.clone(), completed: false };
            Ok((GeneralizedRequest { world: self, request, value, ended: false }, completer))
        })
    }
}

impl<T> GeneralizedRequest<'_, T> {
    /// Waits for the result. Errors: `MPI_ERR_OTHER` when its [`Completer`] was dropped.
    pub fn wait(mut self) -> Result<T> {
        self.world.call(WAIT, |call| {
            let guard = call.enter(-1, 0, 0);
            let completion = call.process.engine.wait(guard, self.request)?;
            self.ended = true;
            completion.error.map_or_else(|| self.value.take().ok_or_else(dropped), Err)
        })
    }

    /// The result if it is there; otherwise the request. Errors: as [`GeneralizedRequest::wait`].
    pub fn test(mut self) -> Result<std::result::Result<T, Self>> {
        let value = self.world.call(TEST, |call| {
            let mut guard = call.enter(-1, 0, 0);
            let Some(completion) = call.process.engine.test(&mut guard, self.request)? else { return Ok(None) };
            self.ended = true;
            completion.error.map_or_else(|| self.value.take().ok_or_else(dropped), Err).map(Some)
        })?;
        Ok(value.ok_or(self))
    }
}

impl<T> Completer<'_, T> {
    /// Completes the request with its result; a thread that waits for it is woken.
    pub fn complete(mut self, value: T) {
        *self.value.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
        self.end();
    }

    fn end(&mut self) {
        if !std::mem::replace(&mut self.completed, true) {
            // The request is this one's to complete, and nothing else completes it.
            let _ = self.world.call(COMPLETE, |call| {
                let mut guard = call.enter(-1, 0, 0);
                call.process.engine.complete_generalized(&mut guard, self.request)
            });
        }
    }
}

impl<T> Drop for Completer<'_, T> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<T> Drop for GeneralizedRequest<'_, T> {
    fn drop(&mut self) {
        if !self.ended {
            // A request that is not complete yet goes away when it is.
            let engine = &self.world.process.engine;
            let _ = engine.request_free(&mut engine.lock(), self.request);
        }
    }
}

impl<T> fmt::Debug for GeneralizedRequest<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GeneralizedRequest").field("request", &self.request).finish()
    }
}

impl<T> fmt::Debug for Completer<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Completer").field("request", &self.request).finish()
    }
}

#[cold]
fn dropped() -> Error {
    Error::new(MPI_ERR_OTHER, "the request was not completed: its Completer was dropped")
}
