//! Attaching, detaching and flushing the buffers of buffered sends (MPI-5.0, 3.6).
//!
//! Not here: the buffer that a message uses, and its contents (`buffered`).

use mpi_core::{Guard, Handle};
use mpi_errors::{Error, Result};

use crate::awaited::Awaited;
use crate::buffered::{Attached, BufferOwner};
use crate::engine::Engine;
use crate::request::{NO_CONTEXT, Request, Work};

impl Engine {
    /// Attaches a buffer for buffered sends. Errors: `MPI_ERR_BUFFER` if the owner has one.
    pub fn buffer_attach(&self, guard: &mut Guard<'_>, owner: BufferOwner, buffer: Attached) -> Result<()> {
        self.state.get_mut(guard).core.buffered.attach(owner, buffer)
    }

    /// Waits until all messages of a buffer that have been sent before are on their way.
    pub fn buffer_flush(&self, mut guard: Guard<'_>, owner: BufferOwner) -> Result<()> {
        let request = self.buffer_iflush(&mut guard, owner)?;
        self.finish_blocking(guard, request).map(drop).map_err(Error::from)
    }

    /// A request that is complete when all messages of a buffer that have been sent before are on their way. Errors:
    /// `MPI_ERR_INTERN` when there are too many requests.
    pub fn buffer_iflush(&self, guard: &mut Guard<'_>, owner: BufferOwner) -> Result<Handle> {
        let core = &mut self.state.get_mut(guard).core;
        let request = core.add_request(Request::done(NO_CONTEXT))?;
        if core.buffered.flush(owner, request)
            && let Some(request) = core.requests.get_mut(request)
        {
            request.work = Work::External;
        }
        Ok(request)
    }

    /// Waits until all messages of a buffer are on their way, then returns and removes it; `None` without one.
    pub fn buffer_detach(&self, guard: Guard<'_>, owner: BufferOwner) -> Result<Option<Attached>> {
        self.block(guard, Awaited::Change, |state| {
            let buffered = &mut state.core.buffered;
            buffered.is_idle(owner).then(|| buffered.detach(owner))
        })
    }

    /// Removes the buffer of an owner that ends; its messages are sent all the same.
    pub fn buffer_remove(&self, guard: &mut Guard<'_>, owner: BufferOwner) {
        self.state.get_mut(guard).core.buffered.detach(owner);
    }
}
