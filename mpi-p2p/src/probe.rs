//! Probes, and receives of the messages that matched probes took (MPI-5.0, 3.8).
//!
//! Invariant: a message that a matched probe took is received once, by its handle.
//! Not here: receives that match by source and tag (`engine`, `receive`).
#![allow(unsafe_code)] // a blocking call's request holds the call's buffer, and ends before the call does

use mpi_core::{Guard, Handle, Status};
use mpi_datatype::RecvBuf;
use mpi_errors::Result;

use crate::awaited::Awaited;
use crate::direct::Outcome;
use crate::engine::Engine;
use crate::request::{ReceiveFailure, too_many_requests};

impl Engine {
    /// Looks for a message that a receive would match now.
    pub fn iprobe(&self, guard: &mut Guard<'_>, context: u32, source: i32, tag: i32) -> Result<Option<Status>> {
        self.advance(guard)?;
        let state = self.state.get_mut(guard);
        state.peek(context, source, tag)
    }

    /// Waits for a message that a receive would match.
    pub fn probe(&self, guard: Guard<'_>, context: u32, source: i32, tag: i32) -> Result<Status> {
        self.block(guard, Awaited::Change, |state| state.peek(context, source, tag).transpose())?
    }

    /// As [`Engine::iprobe`], and removes the message from its queue for [`Engine::mrecv`] or [`Engine::imrecv`].
    pub fn improbe(
        &self,
        guard: &mut Guard<'_>,
        context: u32,
        source: i32,
        tag: i32,
    ) -> Result<Option<(Handle, Status)>> {
        self.advance(guard)?;
        let state = self.state.get_mut(guard);
        state.hold(context, source, tag)
    }

    /// As [`Engine::probe`], and removes the message from its queue for [`Engine::mrecv`] or [`Engine::imrecv`].
    pub fn mprobe(&self, guard: Guard<'_>, context: u32, source: i32, tag: i32) -> Result<(Handle, Status)> {
        self.block(guard, Awaited::Change, |state| state.hold(context, source, tag).transpose())?
    }

    /// Receives the message a matched probe took. `None` when `message` names none. After an error without a status the
    /// message is still there, unless what another process sent was at fault.
    pub fn mrecv(
        &self,
        mut guard: Guard<'_>,
        message: Handle,
        buffer: RecvBuf<'_>,
    ) -> Result<Option<Status>, ReceiveFailure> {
        // SAFETY: before this call returns the request that holds the buffer is complete, or revoked: then no process
        // copies into the buffer any more (`revoke`).
        let buffer = unsafe { buffer.detach() };
        match self.imrecv(&mut guard, message, buffer)? {
            None => Ok(None),
            Some(request) => self.finish_blocking(guard, request).map(Some),
        }
    }

    /// Starts to receive the message a matched probe took. `None` when `message` names none. After an error the message
    /// is still there. May release the lock as [`Engine::irecv`] does.
    pub fn imrecv(&self, guard: &mut Guard<'_>, message: Handle, buffer: RecvBuf<'static>) -> Result<Option<Handle>> {
        let state = self.state.get_mut(guard);
        if message.0 == mpi_core::abi::MPI_MESSAGE_NO_PROC {
            return state.start_receive(0, mpi_core::abi::MPI_PROC_NULL, 0, buffer).map(Some);
        }
        if state.core.held.get(message).is_some() && !state.core.requests.has_room() {
            return Err(too_many_requests());
        }
        match state.core.held.remove(message) {
            None => Ok(None),
            Some(held) => {
                state.core.end_message_handles(message);
                state.core.instruments.messages_held.lower(1);
                match state.receive_message(held.context, held.key, held.message, buffer)? {
                    Outcome::Under(request) => {
                        self.copy_at_start(guard);
                        Ok(Some(request))
                    }
                    Outcome::Received(status, error) => {
                        state.core.received_request(held.context, status, error).map(Some)
                    }
                }
            }
        }
    }

    /// The context of the message a matched probe took.
    pub fn message_context(&self, guard: &Guard<'_>, message: Handle) -> Option<u32> {
        self.state.get(guard).core.held.get(message).map(|held| held.context)
    }
}
