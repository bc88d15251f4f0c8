//! Waits and tests for several operations under way, of any kinds and types (MPI-5.0, 3.7.5).
//!
//! Invariant: a call here leaves the operations as they are: each still gives its result and its error when it is waited
//! for, which does not wait then.
//! Not here: the operations (`immediate`, `exchange`, `started`, `persistent`, `duplicating`, `generalized`, `file_started`,
//! `window_started`, `send_buffer`), starts of several (`restart`).

use mpi_core::abi::MPI_REQUEST_NULL;
use mpi_core::{Guard, Handle, functions};
use mpi_datatype::Element;

use crate::call::{Call, CallName};
use crate::threads::{Multiple, ThreadUse};
use crate::{Communicator, Exchange, GeneralizedRequest, Persistent, Receiving, Repeated, Result, Sending, Started};

const WAIT_ANY: CallName = CallName::new("mpi::wait_any", functions::MPI_WAITANY);
const WAIT_SOME: CallName = CallName::new("mpi::wait_some", functions::MPI_WAITSOME);
const WAIT_ALL: CallName = CallName::new("mpi::wait_all", functions::MPI_WAITALL);
const TEST_ANY: CallName = CallName::new("mpi::test_any", functions::MPI_REQUEST_GET_STATUS_ANY);
const TEST_SOME: CallName = CallName::new("mpi::test_some", functions::MPI_REQUEST_GET_STATUS_SOME);
const TEST_ALL: CallName = CallName::new("mpi::test_all", functions::MPI_REQUEST_GET_STATUS_ALL);

/// An operation that may be under way: a message, a collective operation, a duplicate of a communicator, an access to a
/// file or a window, a flush of a buffer, or an operation of the program. One that is complete, and a persistent one that is inactive, counts as complete.
pub trait Request: sealed::Sealed {}

pub(crate) mod sealed {
    use mpi_core::Handle;
    use mpi_env::Process;

    /// What a wait needs. No other crate may have requests of its own kind.
    pub trait Sealed {
        /// The process, and the context id of the communicator.
        fn place(&self) -> (&'static Process, u32);
        /// The request while the operation is under way.
        fn handle(&self) -> Option<Handle>;
    }
}

impl<M: ThreadUse> Communicator<'_, M> {
    /// The process, and the context id, for [`sealed::Sealed::place`].
    pub(crate) fn place(&self) -> (&'static mpi_env::Process, u32) {
        (self.process, self.comm.context())
    }
}

/// Makes types requests that have a communicator, and an operation with a request.
macro_rules! requests {
    ($($type:ident $field:ident),+ $(,)?) => {
        $(
            impl<T: Element, M: ThreadUse> Request for $type<'_, T, M> {}
            impl<T: Element, M: ThreadUse> sealed::Sealed for $type<'_, T, M> {
                fn place(&self) -> (&'static mpi_env::Process, u32) {
                    self.comm.place()
                }

                fn handle(&self) -> Option<Handle> {
                    self.$field.request()
                }
            }
        )+
    };
}

requests!(Sending message, Receiving message, Exchange operation, Persistent operation, Started operation,
    Repeated operation);

impl<T> Request for GeneralizedRequest<'_, T> {}
impl<T> sealed::Sealed for GeneralizedRequest<'_, T> {
    fn place(&self) -> (&'static mpi_env::Process, u32) {
        Communicator::<Multiple>::place(self.world)
    }

    fn handle(&self) -> Option<Handle> {
        Some(self.request)
    }
}

/// Waits until one of several operations is complete: its place, the first if there are more; `None` if there are none.
/// Threads may wait for the same operations at once.
///
/// ```no_run
/// # fn work(world: &mpi::World) -> mpi::Result<()> {
/// let sum = world.start(mpi::Collective::all_reduce(vec![1.5], mpi::Operation::Sum))?;
/// let message = world.any().start_receive::<u32>(8, 0)?;
/// match mpi::wait_any(&[&sum, &message])? {
///     Some(0) => println!("{:?}", sum.wait()?),
///     _ => println!("{:?}", message.wait()?),
/// }
/// # Ok(())
/// # }
/// ```
pub fn wait_any(requests: &[&dyn Request]) -> Result<Option<usize>> {
    wait(WAIT_ANY, requests, |call, guard, handles| call.process.engine.await_some(guard, handles))
        .map(|complete| complete.first().copied())
}

/// Waits until at least one of several operations is complete: the places of all that are; empty if there are none.
pub fn wait_some(requests: &[&dyn Request]) -> Result<Vec<usize>> {
    wait(WAIT_SOME, requests, |call, guard, handles| call.process.engine.await_some(guard, handles))
}

/// Waits until all of several operations are complete. Their errors are those of their own waits.
pub fn wait_all(requests: &[&dyn Request]) -> Result<()> {
    wait(WAIT_ALL, requests, |call, guard, handles| call.process.engine.await_all(guard, handles))
}

/// The place of the first of several operations that is complete; `None` if none is. Makes progress; does not wait.
pub fn test_any(requests: &[&dyn Request]) -> Result<Option<usize>> {
    wait(TEST_ANY, requests, |call, mut guard, handles| call.process.engine.complete_requests(&mut guard, handles))
        .map(|complete| complete.first().copied())
}

/// The places of those of several operations that are complete. Makes progress; does not wait.
pub fn test_some(requests: &[&dyn Request]) -> Result<Vec<usize>> {
    wait(TEST_SOME, requests, |call, mut guard, handles| call.process.engine.complete_requests(&mut guard, handles))
}

/// Whether all of several operations are complete. Makes progress; does not wait.
pub fn test_all(requests: &[&dyn Request]) -> Result<bool> {
    wait(TEST_ALL, requests, |call, mut guard, handles| call.process.engine.complete_requests(&mut guard, handles))
        .map(|complete| complete.len() == requests.len())
}

fn wait<R: Default>(
    name: CallName,
    requests: &[&dyn Request],
    body: impl FnOnce(&Call, Guard<'static>, &[Handle]) -> Result<R>,
) -> Result<R> {
    let Some(first) = requests.first() else { return Ok(R::default()) };
    let (process, context) = first.place();
    let null = Handle(MPI_REQUEST_NULL);
    let handles: Vec<Handle> = requests.iter().map(|request| request.handle().unwrap_or(null)).collect();
    Call::run(process, context, name, |call| {
        let guard = call.enter(-1, 0, handles.len() as u64);
        body(call, guard, &handles)
    })
}
