//! Persistent and partitioned operations that own their data, for programs in Rust (MPI-5.0, 3.9 and 4.2).
//!
//! Invariants: while an operation is active, the engine alone uses its data, except partitions that it has not taken
//! over or has given back. A value that is dropped while it is active, or forgotten, leaks its data, so that they
//! outlive the operation.
//! Not here: the operations (`start`, `partitioned`).
#![allow(unsafe_code)] // the engine has a pointer to the data between two calls

use std::fmt;
use std::ops::Range;

use mpi_core::abi::{MPI_ERR_ARG, MPI_ERR_COUNT, MPI_ERR_REQUEST};
use mpi_core::{Guard, Handle, Status};
use mpi_datatype::{Element, RecvBuf, SendBuf};
use mpi_errors::{Error, Result};

use crate::engine::Engine;
use crate::request::Mode;

/// A persistent operation with its data. A receive is dropped safely at any time; a send that is dropped while it is
/// active goes on.
pub struct OwnedOperation<T: Element> {
    engine: &'static Engine,
    request: Handle,
    /// Rank of the other process, or what stands for it, and tag.
    line: (i32, i32),
    /// From `Box::into_raw`; dropped with the operation.
    data: *mut [T],
    /// Elements of one partition; all for an operation without partitions.
    each: usize,
    active: bool,
    is_receive: bool,
    /// Partitions of an active send that the engine has taken over.
    ready: Vec<bool>,
}

// SAFETY: it owns its data, which are plain; the engine may be used from any thread.
unsafe impl<T: Element + Send> Send for OwnedOperation<T> {}
// SAFETY: a shared reference only reads data that the engine does not write.
unsafe impl<T: Element + Sync> Sync for OwnedOperation<T> {}

impl<T: Element> fmt::Debug for OwnedOperation<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedOperation").field("request", &self.request).field("active", &self.active).finish()
    }
}

impl<T: Element> OwnedOperation<T> {
    /// A persistent send of these data. Errors: as [`Engine::send_init`].
    pub fn send(
        engine: &'static Engine,
        guard: &mut Guard<'_>,
        context: u32,
        (dest, tag): (i32, i32),
        data: Vec<T>,
    ) -> Result<OwnedOperation<T>> {
        OwnedOperation::new(engine, (dest, tag), data, (1, false), |memory| {
            // SAFETY: the data stay until the request is freed and its last operation is complete.
            let buffer = unsafe { SendBuf::from_slice(memory).detach() };
            engine.send_init(guard, context, dest, tag, buffer, Mode::Standard)
        })
    }

    /// A persistent receive into these data. Errors: as [`Engine::recv_init`].
    pub fn receive(
        engine: &'static Engine,
        guard: &mut Guard<'_>,
        context: u32,
        (source, tag): (i32, i32),
        data: Vec<T>,
    ) -> Result<OwnedOperation<T>> {
        OwnedOperation::new(engine, (source, tag), data, (1, true), |memory| {
            // SAFETY: as in `send`.
            let buffer = unsafe { RecvBuf::from_slice(memory).detach() };
            engine.recv_init(guard, context, source, tag, buffer)
        })
    }

    /// A partitioned send of these data. Errors: as [`Engine::psend_init`], and `MPI_ERR_COUNT` when the partitions
    /// would not be equally long.
    pub fn partitioned_send(
        engine: &'static Engine,
        guard: &mut Guard<'_>,
        context: u32,
        to: (i32, i32),
        data: Vec<T>,
        partitions: u32,
    ) -> Result<OwnedOperation<T>> {
        OwnedOperation::new(engine, to, data, (partitions, false), |memory| {
            // SAFETY: as in `send`.
            let buffer = unsafe { SendBuf::from_slice(memory).detach() };
            engine.psend_init(guard, context, to, buffer, partitions)
        })
    }

    /// A partitioned receive into these data. Errors: as [`OwnedOperation::partitioned_send`].
    pub fn partitioned_receive(
        engine: &'static Engine,
        guard: &mut Guard<'_>,
        context: u32,
        from: (i32, i32),
        data: Vec<T>,
        partitions: u32,
    ) -> Result<OwnedOperation<T>> {
        OwnedOperation::new(engine, from, data, (partitions, true), |memory| {
            // SAFETY: as in `send`.
            let buffer = unsafe { RecvBuf::from_slice(memory).detach() };
            engine.precv_init(guard, context, from, buffer, partitions)
        })
    }

    fn new(
        engine: &'static Engine,
        line: (i32, i32),
        data: Vec<T>,
        (partitions, is_receive): (u32, bool),
        init: impl FnOnce(&mut [T]) -> Result<Handle>,
    ) -> Result<OwnedOperation<T>> {
        let (length, parts) = (data.len(), partitions as usize);
        if !(parts > 0 && length.is_multiple_of(parts) || parts == 0 && length == 0) {
            let rule = format!("{length} elements do not make {partitions} equal partitions");
            return Err(Error::new(MPI_ERR_COUNT, rule).arg("partitions", &partitions));
        }
        let data = Box::into_raw(data.into_boxed_slice());
        // SAFETY: just made, and used by no other owner.
        let request = init(unsafe { &mut *data }).inspect_err(|_| {
            // SAFETY: from `Box::into_raw`; no request was made.
            drop(unsafe { Box::from_raw(data) });
        })?;
        let each = length / parts.max(1);
        Ok(OwnedOperation { engine, request, line, data, each, active: false, is_receive, ready: vec![false; parts] })
    }

    /// The rank of the other process, or what stands for it, and the tag.
    pub fn peer_and_tag(&self) -> (i32, i32) {
        self.line
    }

    /// Starts the operation. Errors: `MPI_ERR_REQUEST` while it is active; those of the operation.
    pub fn start(&mut self, guard: &mut Guard<'_>) -> Result<()> {
        self.engine.start(guard, self.request)?;
        self.active = true;
        self.ready.fill(false);
        Ok(())
    }

    /// Waits until it is inactive. Errors: those of the operation, which has ended all the same.
    pub fn wait(&mut self, guard: Guard<'_>) -> Result<Status> {
        let completion = self.engine.wait(guard, self.request)?;
        self.active = false;
        completion.error.map_or(Ok(completion.status), Err)
    }

    /// The data; `None` while the operation is active.
    pub fn data(&self) -> Option<&[T]> {
        // SAFETY: the operation is inactive, so the engine leaves the data alone until `start`, which needs `&mut`.
        (!self.active).then(|| unsafe { &*self.data })
    }

    /// As [`OwnedOperation::data`], to be changed.
    pub fn data_mut(&mut self) -> Option<&mut [T]> {
        // SAFETY: as in `data`.
        (!self.active).then(|| unsafe { &mut *self.data })
    }

    /// A partition of a send that is not ready, or of an inactive one. Errors: `MPI_ERR_ARG` for one that does not
    /// exist or is ready.
    pub fn partition_mut(&mut self, partition: u32) -> Result<&mut [T]> {
        let range = self.range(partition)?;
        if self.active && self.ready[partition as usize] {
            return Err(Error::new(MPI_ERR_ARG, "the partition is ready").arg("partition", &partition));
        }
        // SAFETY: the engine does not read a partition before it is ready, which needs `&mut`. The range lies inside.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.data.cast::<T>().add(range.start), range.len()) })
    }

    /// Marks a partition of an active send ready. Errors: as [`Engine::pready`].
    pub fn mark_ready(&mut self, guard: &mut Guard<'_>, partition: u32) -> Result<()> {
        self.range(partition)?;
        let which = partition as i32;
        self.engine.pready(guard, self.request, std::iter::once((which, which)))?;
        self.ready[partition as usize] = true;
        Ok(())
    }

    /// A partition of a receive that has arrived; `None` if it has not. Errors, and `record`: as [`Engine::parrived`].
    pub fn arrived(&self, partition: u32, record: impl FnOnce()) -> Result<Option<&[T]>> {
        let range = self.range(partition)?;
        if !self.engine.parrived(self.request, partition as i32, record)? {
            return Ok(None);
        }
        // SAFETY: a partition that has arrived stays as it is until the next start, which needs `&mut`. The range lies
        // inside.
        Ok(Some(unsafe { std::slice::from_raw_parts(self.data.cast::<T>().add(range.start), range.len()) }))
    }

    /// The elements of a partition.
    fn range(&self, partition: u32) -> Result<Range<usize>> {
        let (at, parts) = (partition as usize, self.ready.len());
        if at >= parts {
            let rule = format!("there are {parts} partitions, counted from 0");
            return Err(Error::new(MPI_ERR_ARG, rule).arg("partition", &partition));
        }
        Ok(at * self.each..(at + 1) * self.each)
    }
}

impl<T: Element> Drop for OwnedOperation<T> {
    fn drop(&mut self) {
        let mut guard = self.engine.lock();
        if self.active {
            if self.is_receive {
                // A partitioned receive refuses it, and goes on.
                let _ = self.engine.cancel(&mut guard, self.request);
            }
            let over = self.engine.test(&mut guard, self.request);
            self.active = !matches!(over, Ok(Some(_)));
        }
        let freed = self.engine.request_free(&mut guard, self.request);
        let refused = freed.is_err_and(|error| error.class() == MPI_ERR_REQUEST);
        if !self.active && !refused {
            // SAFETY: from `Box::into_raw`; no operation uses it any more.
            drop(unsafe { Box::from_raw(self.data) });
        }
    }
}
