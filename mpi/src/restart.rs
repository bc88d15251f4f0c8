//! Starts of several persistent operations, of any kinds and types (`MPI_Startall`; MPI-5.0, 3.9).
//!
//! Not here: the operations (`persistent`, `started`), waits for several (`request`).

use mpi_core::functions;
use mpi_datatype::Element;
use mpi_p2p::OwnedRestart;

use crate::call::{Call, CallName};
use crate::request::Request;
use crate::threads::ThreadUse;
use crate::{Persistent, Repeated, Result};

const START_ALL: CallName = CallName::new("mpi::start_all", functions::MPI_STARTALL);

/// An operation that is started again and again: a [`Persistent`] or a [`Repeated`] one.
pub trait Restart: Request + sealed::Owned {}

mod sealed {
    use mpi_p2p::OwnedRestart;

    /// No other crate may have operations of its own kind.
    pub trait Owned {
        /// The operation.
        fn owned(&mut self) -> &mut dyn OwnedRestart;
    }
}

impl<T: Element, M: ThreadUse> Restart for Persistent<'_, T, M> {}
impl<T: Element, M: ThreadUse> sealed::Owned for Persistent<'_, T, M> {
    fn owned(&mut self) -> &mut dyn OwnedRestart {
        &mut self.operation
    }
}

impl<T: Element, M: ThreadUse> Restart for Repeated<'_, T, M> {}
impl<T: Element, M: ThreadUse> sealed::Owned for Repeated<'_, T, M> {
    fn owned(&mut self) -> &mut dyn OwnedRestart {
        &mut self.operation
    }
}

/// Starts persistent operations, in this order; collective ones in the same order in all processes. Errors:
/// `MPI_ERR_REQUEST` when one of them is active, and none is started then; the error names its place. After an error of
/// a start, such as `MPI_ERR_BUFFER` in buffered mode, the operations before that one are active.
///
/// ```no_run
/// # fn work(world: &mpi::World) -> mpi::Result<()> {
/// let next = world.process((world.rank() + 1) % world.size());
/// let mut sends = next.persistent_send(vec![0.0; 8], 0)?;
/// let mut receives = world.any().persistent_receive::<f64>(8, 0)?;
/// for _ in 0..100 {
///     mpi::start_all(&mut [&mut receives, &mut sends])?;
///     receives.wait()?;
///     sends.wait()?;
/// }
/// # Ok(())
/// # }
/// ```
pub fn start_all(operations: &mut [&mut dyn Restart]) -> Result<()> {
    let Some((process, context)) = operations.first().map(|first| first.place()) else { return Ok(()) };
    Call::run(process, context, START_ALL, |call| {
        let mut guard = call.enter(-1, 0, operations.len() as u64);
        let mut owned: Vec<&mut dyn OwnedRestart> = operations.iter_mut().map(|operation| operation.owned()).collect();
        process.engine.start_owned(&mut guard, &mut owned).map_err(|(_, error)| error)
    })
}
