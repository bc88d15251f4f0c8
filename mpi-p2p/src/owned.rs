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
use mpi_datatype::{Datatype, Element, RecvBuf, SendBuf};
use mpi_errors::{Error, Result};

use crate::engine::Engine;
use crate::owned_restart::OwnedRestart;
use crate::request::Mode;
use crate::selection::{selected_to_receive, selected_to_send};

/// A persistent operation with its data. A receive is dropped safely at any time; a send that is dropped while it is
/// active goes on.
pub struct OwnedOperation<T: Element> {
    engine: &'static Engine,
    request: Handle,
    /// Rank of the other process, or what stands for it, and tag.
    peer_and_tag: (i32, i32),
    /// From `Box::into_raw`; dropped with the operation.
    data: *mut [T],
    /// Elements of one partition; all for an operation without partitions.
    each: usize,
    active: bool,
    is_receive: bool,
    is_partitioned: bool,
    /// Whether the engine uses a partition while the operation is active: those of a partitioned send once they are
    /// ready, all others at all times.
    taken: Vec<bool>,
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
    /// A persistent send of these data, or of the elements of them that a layout selects. Errors: as [`Engine::send_init`],
    /// and `MPI_ERR_BUFFER` for a layout that reaches out of the data.
    pub fn send(
        engine: &'static Engine,
        guard: &mut Guard<'_>,
        context: u32,
        (dest, tag): (i32, i32),
        data: Vec<T>,
        layout: Option<&Datatype>,
        mode: Mode,
    ) -> Result<OwnedOperation<T>> {
        OwnedOperation::new(engine, (dest, tag), data, (None, false), |memory| {
            // SAFETY: the data stay until the request is freed and its last operation is complete.
            let buffer = unsafe { send_buffer(memory) };
            engine.send_init(guard, context, dest, tag, selected_to_send(buffer, layout)?, mode)
        })
    }

    /// A persistent receive into these data, or into the elements of them that a layout selects. Errors: as
    /// [`Engine::recv_init`], and `MPI_ERR_BUFFER` for a layout that reaches out of the data or overlaps itself.
    pub fn receive(
        engine: &'static Engine,
        guard: &mut Guard<'_>,
        context: u32,
        (source, tag): (i32, i32),
        data: Vec<T>,
        layout: Option<&Datatype>,
    ) -> Result<OwnedOperation<T>> {
        OwnedOperation::new(engine, (source, tag), data, (None, true), |memory| {
            // SAFETY: as in `send`.
            let buffer = unsafe { receive_buffer(memory) };
            engine.recv_init(guard, context, source, tag, selected_to_receive(buffer, layout)?)
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
        OwnedOperation::new(engine, to, data, (Some(partitions), false), |memory| {
            // SAFETY: as in `send`.
            let buffer = unsafe { send_buffer(memory) };
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
        OwnedOperation::new(engine, from, data, (Some(partitions), true), |memory| {
            // SAFETY: as in `send`.
            let buffer = unsafe { receive_buffer(memory) };
            engine.precv_init(guard, context, from, buffer, partitions)
        })
    }

    fn new(
        engine: &'static Engine,
        peer_and_tag: (i32, i32),
        data: Vec<T>,
        (partitions, is_receive): (Option<u32>, bool),
        init: impl FnOnce(*mut [T]) -> Result<Handle>,
    ) -> Result<OwnedOperation<T>> {
        let (length, parts) = (data.len(), partitions.unwrap_or(1) as usize);
        if !(parts > 0 && length.is_multiple_of(parts) || parts == 0 && length == 0) {
            let (elements, of) =
                (mpi_errors::counted(length, "element"), mpi_errors::counted(parts, "equal partition"));
            let rule = format!("no division of {elements} makes {of}");
            return Err(Error::new(MPI_ERR_COUNT, rule).arg("partitions", &parts));
        }
        let data = Box::into_raw(data.into_boxed_slice());
        let request = init(data).inspect_err(|_| {
            // SAFETY: from `Box::into_raw`; no request was made.
            drop(unsafe { Box::from_raw(data) });
        })?;
        let each = length / parts.max(1);
        let (is_partitioned, taken) = (partitions.is_some(), vec![false; parts]);
        Ok(OwnedOperation {
            engine,
            request,
            peer_and_tag,
            data,
            each,
            active: false,
            is_receive,
            is_partitioned,
            taken,
        })
    }

    /// The rank of the other process, or what stands for it, and the tag.
    pub fn peer_and_tag(&self) -> (i32, i32) {
        self.peer_and_tag
    }

    /// Whether it receives.
    pub fn is_receive(&self) -> bool {
        self.is_receive
    }

    /// Starts the operation. Errors: `MPI_ERR_REQUEST` while it is active; those of the operation.
    pub fn start(&mut self, guard: &mut Guard<'_>) -> Result<()> {
        self.engine.start(guard, self.request)?;
        self.has_started();
        Ok(())
    }

    /// Waits until it is inactive. Errors: those of the operation, which has ended all the same.
    pub fn wait(&mut self, guard: Guard<'_>) -> Result<Status> {
        let completion = self.engine.wait(guard, self.request)?;
        self.active = false;
        completion.error.map_or(Ok(completion.status), Err)
    }

    /// Whether [`OwnedOperation::wait`] does not wait. Errors: as [`Engine::test`].
    pub fn is_complete(&self, guard: &mut Guard<'_>) -> Result<bool> {
        Ok(!self.active || self.engine.request_get_status(guard, self.request)?.is_some())
    }

    /// The request while the operation is active.
    pub fn request(&self) -> Option<Handle> {
        self.active.then_some(self.request)
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

    /// A partition of a partitioned send that is not ready, or of an inactive operation; one without partitions has one
    /// that is all. Errors: `MPI_ERR_ARG` for one that does not exist, is ready, or belongs to another active
    /// operation.
    pub fn partition_mut(&mut self, partition: u32) -> Result<&mut [T]> {
        let range = self.range(partition)?;
        if self.active && self.taken[partition as usize] {
            let rule = match self.is_partitioned && !self.is_receive {
                true => "the partition is ready",
                false => "the operation is active, and uses its data until it is complete",
            };
            return Err(Error::new(MPI_ERR_ARG, rule).arg("partition", &partition));
        }
        // SAFETY: the engine does not read a partition of a partitioned send before it is ready, which needs `&mut`,
        // and uses nothing of an inactive operation. The range lies inside.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.data.cast::<T>().add(range.start), range.len()) })
    }

    /// Marks the partitions of the ranges `first..=last` of an active send ready, or none. Errors: as [`Engine::pready`].
    pub fn mark_ready(
        &mut self,
        guard: &mut Guard<'_>,
        ranges: impl Iterator<Item = (u32, u32)> + Clone,
    ) -> Result<()> {
        // The engine refuses an operation that has no partitions to be marked before one that does not exist.
        if self.is_partitioned && !self.is_receive {
            ranges.clone().try_for_each(|(first, last)| self.range(first).and(self.range(last)).map(drop))?;
        }
        self.engine.pready(guard, self.request, ranges.clone().map(|(first, last)| (first as i32, last as i32)))?;
        ranges.for_each(|(first, last)| self.taken[first as usize..=last as usize].fill(true));
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
        let (at, parts) = (partition as usize, self.taken.len());
        if at >= parts {
            let rule = format!("there are {parts} partitions, counted from 0");
            return Err(Error::new(MPI_ERR_ARG, rule).arg("partition", &partition));
        }
        Ok(at * self.each..(at + 1) * self.each)
    }
}

impl<T: Element> OwnedRestart for OwnedOperation<T> {
    fn persistent_request(&self) -> Option<Handle> {
        Some(self.request)
    }

    fn has_started(&mut self) {
        self.active = true;
        self.taken.fill(self.is_receive || !self.is_partitioned);
    }
}

/// The elements as a buffer to send from. Made from the pointer, so that a reference to the data that the operation
/// lends while it is inactive does not end the buffer's right to them.
///
/// # Safety
/// They are readable whenever the buffer is used, and nobody writes them then.
unsafe fn send_buffer<T: Element>(data: *mut [T]) -> SendBuf<'static> {
    // SAFETY: the caller's promise.
    unsafe { SendBuf::new(data.cast(), data.len() as u64, T::datatype()) }.expect("the elements are in memory")
}

/// As [`send_buffer`], to receive into.
///
/// # Safety
/// They are writable whenever the buffer is used, and nobody else accesses them then.
unsafe fn receive_buffer<T: Element>(data: *mut [T]) -> RecvBuf<'static> {
    // SAFETY: the caller's promise.
    unsafe { RecvBuf::new(data.cast(), data.len() as u64, T::datatype()) }.expect("the elements are in memory")
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
