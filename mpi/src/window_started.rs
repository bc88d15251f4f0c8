//! One-sided operations with requests (MPI-5.0, 12.3.5): each is waited for by itself, before its epoch ends.
//!
//! Invariant: an operation owns its data until it is complete, and does not outlive its epoch, so it may be dropped or
//! forgotten.
//! Not here: operations that are complete when their epoch ends (`window`, `window_layout`).

use std::fmt;

use mpi_core::{Handle, functions};
use mpi_datatype::Element;
use mpi_env::Process;
use mpi_win::OwnedAccess;

use crate::call::{Call, CallName};
use crate::request::{Request, sealed};
use crate::threads::{Single, ThreadUse};
use crate::window::{Epoch, Window};
use crate::{Operation, Result};

const PUT: CallName = CallName::new("Epoch::start_put", functions::MPI_RPUT);
const GET: CallName = CallName::new("Epoch::start_get", functions::MPI_RGET);
const ACCUMULATE: CallName = CallName::new("Epoch::start_accumulate", functions::MPI_RACCUMULATE);
const FETCH: CallName = CallName::new("Epoch::start_fetch", functions::MPI_RGET_ACCUMULATE);
const WAIT: CallName = CallName::new("WindowAccess::wait", functions::MPI_WAIT);
const TEST: CallName = CallName::new("WindowAccess::is_complete", functions::MPI_REQUEST_GET_STATUS);

/// An operation on a window under way, with its data. When it is dropped, it is waited for.
///
/// ```no_run
/// # fn work(window: &mut mpi::Window<f64>) -> mpi::Result<()> {
/// window.lock_all(|epoch| {
///     let parts = [epoch.start_get(0, 0, 1000)?, epoch.start_get(1, 0, 1000)?];
///     let mut sum = 0.0;
///     for part in parts {
///         // The next part comes while this one is added.
///         sum += part.wait()?.iter().sum::<f64>();
///     }
///     println!("{sum}");
///     Ok(())
/// })
/// # }
/// ```
///
/// ```compile_fail
/// # fn work(window: &mut mpi::Window<f64>) -> mpi::Result<()> {
/// let mut kept = None;
/// window.lock_all(|epoch| {
///     kept = Some(epoch.start_get(0, 0, 1)?); // it may not outlive its epoch
///     Ok(())
/// })
/// # }
/// ```
#[must_use = "`wait` gives the data"]
pub struct WindowAccess<'e, T: Element, M: ThreadUse = Single> {
    window: &'e Window<'e, T, M>,
    access: OwnedAccess<T>,
    /// Whether the result is what was received.
    receives: bool,
}

impl<'e, T: Element, M: ThreadUse> Epoch<'e, '_, '_, T, M> {
    /// As [`Epoch::put`], with data of its own, which [`WindowAccess::wait`] gives back when they have left this process;
    /// the elements have them after [`Epoch::flush`] or at the end of the epoch. Errors: as there, and `MPI_ERR_RMA_SYNC`
    /// except in [`Window::lock`] and [`Window::lock_all`].
    pub fn start_put(&mut self, rank: u32, first: usize, data: Vec<T>) -> Result<WindowAccess<'e, T, M>> {
        self.begin(PUT, rank, first, (data, Vec::new()), |call, access, place, (data, _)| {
            access.start_put(&mut call.enter(place.0, 0, data.len() as u64), place, data)
        })
    }

    /// As [`Epoch::get`], of `count` elements, which [`WindowAccess::wait`] gives. Errors: as [`Epoch::start_put`].
    pub fn start_get(&mut self, rank: u32, first: usize, count: usize) -> Result<WindowAccess<'e, T, M>>
    where
        T: Default,
    {
        self.begin(GET, rank, first, (Vec::new(), vec![T::default(); count]), |call, access, place, (_, room)| {
            access.start_get(&mut call.enter(place.0, 0, room.len() as u64), place, room)
        })
    }

    /// As [`Epoch::accumulate`], with data of its own, as [`Epoch::start_put`]. Errors: as both.
    pub fn start_accumulate(
        &mut self,
        rank: u32,
        first: usize,
        data: Vec<T>,
        operation: Operation,
    ) -> Result<WindowAccess<'e, T, M>> {
        self.begin(ACCUMULATE, rank, first, (data, Vec::new()), |call, access, place, (data, _)| {
            access.start_accumulate(&mut call.enter(place.0, 0, data.len() as u64), place, data, operation.handle())
        })
    }

    /// As [`Epoch::fetch`]; [`WindowAccess::wait`] gives the elements as they were. Errors: as [`Epoch::start_accumulate`].
    pub fn start_fetch(
        &mut self,
        rank: u32,
        first: usize,
        data: Vec<T>,
        operation: Operation,
    ) -> Result<WindowAccess<'e, T, M>>
    where
        T: Default,
    {
        let room = vec![T::default(); data.len()];
        self.begin(FETCH, rank, first, (data, room), |call, access, place, buffers| {
            access.start_fetch(&mut call.enter(place.0, 0, buffers.0.len() as u64), place, buffers, operation.handle())
        })
    }

    /// Starts an operation with data that are sent, and room for what is received.
    fn begin(
        &mut self,
        name: CallName,
        rank: u32,
        first: usize,
        (data, room): (Vec<T>, Vec<T>),
        run: impl FnOnce(
            &mut Call,
            &mut mpi_win::EpochAccess<'_, '_>,
            (i32, i64),
            (Vec<T>, Vec<T>),
        ) -> Result<OwnedAccess<T>>,
    ) -> Result<WindowAccess<'e, T, M>> {
        let (window, receives, count) = (self.window, !room.is_empty(), data.len().max(room.len()));
        let mut begun = None;
        self.start(name, rank, first, count, |call, access, place| {
            begun = Some(run(call, access, place, (data, room))?);
            Ok(())
        })?;
        let access = begun.expect("the call has succeeded");
        Ok(WindowAccess { window, access, receives })
    }
}

impl<T: Element, M: ThreadUse> WindowAccess<'_, T, M> {
    /// Waits until the operation is complete in this process: what was received, else the data that were sent. Errors:
    /// those of the operation.
    pub fn wait(self) -> Result<Vec<T>> {
        let WindowAccess { window, access, receives } = self;
        Call::run(window.comm.process, window.win.context(), WAIT, |call| {
            let (data, received) = access.finish(call.enter(-1, 0, 0))?;
            Ok(if receives { received } else { data })
        })
    }

    /// Whether [`WindowAccess::wait`] does not wait.
    pub fn is_complete(&self) -> Result<bool> {
        Call::run(self.window.comm.process, self.window.win.context(), TEST, |call| {
            self.access.is_complete(&mut call.enter(-1, 0, 0))
        })
    }
}

impl<T: Element, M: ThreadUse> Request for WindowAccess<'_, T, M> {}
impl<T: Element, M: ThreadUse> sealed::Sealed for WindowAccess<'_, T, M> {
    fn place(&self) -> (&'static Process, u32) {
        (self.window.comm.process, self.window.win.context())
    }

    fn handle(&self) -> Option<Handle> {
        self.access.request()
    }
}

impl<T: Element, M: ThreadUse> fmt::Debug for WindowAccess<'_, T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WindowAccess").field("window", &self.window).field("access", &self.access).finish()
    }
}
