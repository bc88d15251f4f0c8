//! Operations with requests that own their data, for programs in Rust (MPI-5.0, 12.3.5).
//!
//! Invariant: the data are freed or given back only when the operation is complete. Those of an operation whose start
//! failed are kept until its epoch has ended.
//! Not here: requests of operations (`requested`), operations on borrowed data (`borrowed`).
#![allow(unsafe_code)] // keeps data by raw parts while an operation uses them

use std::fmt;
use std::sync::Arc;

use mpi_core::{Guard, Handle};
use mpi_datatype::{Element, RecvBuf, SendBuf};
use mpi_errors::Result;
use mpi_p2p::Engine;

use crate::OneSided;
use crate::borrowed::{EpochAccess, target};
use crate::target::Target;
use crate::window::Win;

/// An operation under way with its data.
pub struct OwnedAccess<T: Element> {
    engine: Arc<Engine>,
    /// `None`: complete.
    request: Option<Handle>,
    /// From `Box::into_raw`.
    sent: *mut [T],
    room: *mut [T],
}

// SAFETY: it owns its data, which are plain; the engine may be used from any thread.
unsafe impl<T: Element> Send for OwnedAccess<T> {}
// SAFETY: as above; a shared reference gives no access to the data.
unsafe impl<T: Element> Sync for OwnedAccess<T> {}

impl EpochAccess<'_, '_> {
    /// [`EpochAccess::put`] with a request. Errors: as [`OneSided::requested`].
    pub fn start_put<T: Element>(
        &mut self,
        guard: &mut Guard<'_>,
        (rank, first): (i32, i64),
        data: Vec<T>,
    ) -> Result<OwnedAccess<T>> {
        let target = target::<T>(rank, first, data.len());
        self.start_owned(guard, &target, (data, Vec::new()), |one_sided, guard, win, (data, _)| {
            one_sided.put(guard, win, data, &target)
        })
    }

    /// [`EpochAccess::get`] with a request. Errors: as [`OneSided::requested`].
    pub fn start_get<T: Element>(
        &mut self,
        guard: &mut Guard<'_>,
        (rank, first): (i32, i64),
        room: Vec<T>,
    ) -> Result<OwnedAccess<T>> {
        let target = target::<T>(rank, first, room.len());
        self.start_owned(guard, &target, (Vec::new(), room), |one_sided, guard, win, (_, into)| {
            one_sided.get(guard, win, into, &target)
        })
    }

    /// [`EpochAccess::accumulate`] with a request. Errors: as [`OneSided::requested`].
    pub fn start_accumulate<T: Element>(
        &mut self,
        guard: &mut Guard<'_>,
        (rank, first): (i32, i64),
        data: Vec<T>,
        op: usize,
    ) -> Result<OwnedAccess<T>> {
        let target = target::<T>(rank, first, data.len());
        self.start_owned(guard, &target, (data, Vec::new()), |one_sided, guard, win, (data, _)| {
            one_sided.accumulate(guard, win, data, (target.datatype, target.handle), &target, op)
        })
    }

    /// [`EpochAccess::fetch`] with a request; `room` is as long as `data`. Errors: as [`OneSided::requested`].
    pub fn start_fetch<T: Element>(
        &mut self,
        guard: &mut Guard<'_>,
        (rank, first): (i32, i64),
        (data, room): (Vec<T>, Vec<T>),
        op: usize,
    ) -> Result<OwnedAccess<T>> {
        let target = target::<T>(rank, first, room.len());
        let of_all = (target.datatype, target.handle);
        self.start_owned(guard, &target, (data, room), |one_sided, guard, win, (data, before)| {
            one_sided.get_accumulate(guard, win, data, of_all, before, of_all, &target, op)
        })
    }

    fn start_owned<T: Element>(
        &mut self,
        guard: &mut Guard<'_>,
        target: &Target<'_>,
        (sent, room): (Vec<T>, Vec<T>),
        start: impl FnOnce(&OneSided, &mut Guard<'_>, &Win, (SendBuf<'static>, RecvBuf<'static>)) -> Result<()>,
    ) -> Result<OwnedAccess<T>> {
        let (sent, room) = (Box::into_raw(sent.into_boxed_slice()), Box::into_raw(room.into_boxed_slice()));
        let mut access = OwnedAccess { engine: self.one_sided.engine.clone(), request: None, sent, room };
        // SAFETY: the data stay until the request is complete, or, where there is none, until the epoch has ended.
        let buffers = unsafe { (SendBuf::from_slice(&*sent).detach(), RecvBuf::from_slice(&mut *room).detach()) };
        let (one_sided, win) = (self.one_sided, self.win);
        match one_sided.requested(guard, win, target, |guard| start(one_sided, guard, win, buffers)) {
            Ok(request) => {
                access.request = Some(request);
                Ok(access)
            }
            Err(error) => {
                self.kept.push(Box::new(access));
                Err(error)
            }
        }
    }
}

impl<T: Element> OwnedAccess<T> {
    /// The request while the operation is under way.
    pub fn request(&self) -> Option<Handle> {
        self.request
    }

    /// Whether [`OwnedAccess::finish`] does not wait.
    pub fn is_complete(&self, guard: &mut Guard<'_>) -> Result<bool> {
        let Some(request) = self.request else { return Ok(true) };
        Ok(self.engine.request_get_status(guard, request)?.is_some())
    }

    /// Waits until the operation is complete, and gives the data that were sent, and what was received. Errors: those of
    /// the operation, which has ended all the same.
    pub fn finish(mut self, guard: Guard<'_>) -> Result<(Vec<T>, Vec<T>)> {
        if let Some(request) = self.request {
            let completion = self.engine.wait(guard, request)?;
            self.request = None;
            completion.error.map_or(Ok(()), Err)?;
        }
        let [sent, room] = [&mut self.sent, &mut self.room].map(|data| {
            // SAFETY: from `Box::into_raw`; the operation is complete. What replaces it is empty.
            unsafe { Box::from_raw(std::mem::replace(data, Box::into_raw(Box::default()))) }.into_vec()
        });
        Ok((sent, room))
    }
}

impl<T: Element> Drop for OwnedAccess<T> {
    fn drop(&mut self) {
        if let Some(request) = self.request {
            // It completes without a call of the target. Where it cannot, the data are leaked.
            if self.engine.wait(self.engine.lock(), request).is_err() {
                return;
            }
        }
        // SAFETY: from `Box::into_raw`; the operation is complete, or its epoch has ended.
        drop(unsafe { (Box::from_raw(self.sent), Box::from_raw(self.room)) });
    }
}

impl<T: Element> fmt::Debug for OwnedAccess<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedAccess").field("request", &self.request).finish()
    }
}
