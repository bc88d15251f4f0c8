//! A send or a receive under way that owns its data, for programs in Rust (`MPI_Isend`, `MPI_Irecv`; MPI-5.0, 3.7).
//!
//! Invariant: the engine alone uses the data until the operation is complete. One that is dropped before, or forgotten,
//! leaks its data, so that they outlive it; a receive that is dropped is cancelled if no message has arrived.
//! Not here: operations that are started again (`owned`), a send and a receive at once (`owned_exchange`).
#![allow(unsafe_code)] // the engine has a pointer to the data between two calls

use std::fmt;

use mpi_core::abi::MPI_ERR_REQUEST;
use mpi_core::{Guard, Handle, Status};
use mpi_datatype::{Datatype, Element, RecvBuf, SendBuf};
use mpi_errors::{Error, Result};

use crate::engine::Engine;
use crate::request::{Completion, Mode};
use crate::selection::{selected_to_receive, selected_to_send};

/// An operation that is under way, with its data.
pub struct OwnedMessage<T: Element> {
    engine: &'static Engine,
    state: State,
    is_receive: bool,
    /// From `Box::into_raw`.
    data: *mut [T],
}

enum State {
    UnderWay(Handle),
    /// It is complete, but the program has not waited for it.
    Complete(Completion),
    Over,
}

// SAFETY: it owns its data, which are plain; the engine may be used from any thread.
unsafe impl<T: Element + Send> Send for OwnedMessage<T> {}
// SAFETY: a shared reference gives no access to the data.
unsafe impl<T: Element + Sync> Sync for OwnedMessage<T> {}

impl<T: Element> OwnedMessage<T> {
    /// Starts to send `data`, or the elements of it that a layout selects, to (rank, tag). Errors: as [`Engine::isend`], and
    /// `MPI_ERR_BUFFER` for a layout that reaches out of the data.
    pub fn send(
        engine: &'static Engine,
        guard: &mut Guard<'_>,
        context: u32,
        (dest, tag): (i32, i32),
        data: Vec<T>,
        layout: Option<&Datatype>,
        mode: Mode,
    ) -> Result<OwnedMessage<T>> {
        OwnedMessage::new(engine, false, data, |memory| {
            // SAFETY: the data stay as they are until the operation is complete.
            let buffer = unsafe { SendBuf::from_slice(&*memory).detach() };
            engine.isend(guard, context, dest, tag, selected_to_send(buffer, layout)?, mode)
        })
    }

    /// Starts to receive into `room`, or into the elements of it that a layout selects, from (rank, tag). Errors: as
    /// [`Engine::irecv`], and `MPI_ERR_BUFFER` for a layout that reaches out of the room or overlaps itself.
    pub fn receive(
        engine: &'static Engine,
        guard: &mut Guard<'_>,
        context: u32,
        (source, tag): (i32, i32),
        room: Vec<T>,
        layout: Option<&Datatype>,
    ) -> Result<OwnedMessage<T>> {
        OwnedMessage::new(engine, true, room, |memory| {
            // SAFETY: used by no other owner, and dropped only when the operation is complete.
            let buffer = unsafe { RecvBuf::from_slice(&mut *memory).detach() };
            engine.irecv(guard, context, source, tag, selected_to_receive(buffer, layout)?)
        })
    }

    /// Starts to receive the message that a matched probe took into `room`. Errors: as [`Engine::imrecv`], and
    /// `MPI_ERR_REQUEST` when `message` names none.
    pub fn receive_matched(
        engine: &'static Engine,
        guard: &mut Guard<'_>,
        message: Handle,
        room: Vec<T>,
    ) -> Result<OwnedMessage<T>> {
        OwnedMessage::new(engine, true, room, |memory| {
            // SAFETY: as in `receive`.
            let buffer = unsafe { RecvBuf::from_slice(&mut *memory).detach() };
            let started = engine.imrecv(guard, message, buffer)?;
            started.ok_or_else(|| Error::new(MPI_ERR_REQUEST, "the message was received before"))
        })
    }

    fn new(
        engine: &'static Engine,
        is_receive: bool,
        data: Vec<T>,
        start: impl FnOnce(*mut [T]) -> Result<Handle>,
    ) -> Result<OwnedMessage<T>> {
        let data = Box::into_raw(data.into_boxed_slice());
        let request = start(data).inspect_err(|_| {
            // SAFETY: from `Box::into_raw`; no operation was started.
            drop(unsafe { Box::from_raw(data) });
        })?;
        Ok(OwnedMessage { engine, state: State::UnderWay(request), is_receive, data })
    }

    /// Waits until it is complete: the data, and the status. Errors: those of the operation, which has ended all the
    /// same.
    pub fn wait(mut self, guard: Guard<'_>) -> Result<(Vec<T>, Status)> {
        let completion = match std::mem::replace(&mut self.state, State::Over) {
            State::UnderWay(request) => self.engine.wait(guard, request).inspect_err(|_| {
                self.state = State::UnderWay(request);
            })?,
            State::Complete(completion) => completion,
            State::Over => unreachable!("`wait` consumes the operation"),
        };
        match completion.error {
            None => Ok((self.take(), completion.status)),
            Some(error) => Err(error),
        }
    }

    /// Cancels a receive and waits until it is over: `None` if it was cancelled, otherwise as [`OwnedMessage::wait`].
    pub fn cancel(self, mut guard: Guard<'_>) -> Result<Option<(Vec<T>, Status)>> {
        if let State::UnderWay(request) = self.state {
            self.engine.cancel(&mut guard, request)?;
        }
        let (data, status) = self.wait(guard)?;
        Ok((!status.cancelled()).then_some((data, status)))
    }

    /// Whether it is complete, so that [`OwnedMessage::wait`] does not wait. Errors: as [`Engine::test`].
    pub fn is_complete(&self, guard: &mut Guard<'_>) -> Result<bool> {
        match self.state {
            State::UnderWay(request) => Ok(self.engine.request_get_status(guard, request)?.is_some()),
            _ => Ok(true),
        }
    }

    /// The request while the operation is under way.
    pub fn request(&self) -> Option<Handle> {
        match self.state {
            State::UnderWay(request) => Some(request),
            _ => None,
        }
    }

    /// Waits until one of several operations is complete, and returns its place; `None` if there are none.
    pub fn wait_any<'m>(
        guard: Guard<'_>,
        messages: impl Iterator<Item = &'m mut OwnedMessage<T>>,
    ) -> Result<Option<usize>> {
        let mut messages: Vec<&mut OwnedMessage<T>> = messages.collect();
        let Some(engine) = messages.first().map(|message| message.engine) else { return Ok(None) };
        let mut requests = Vec::with_capacity(messages.len());
        for (place, message) in messages.iter().enumerate() {
            let State::UnderWay(request) = message.state else { return Ok(Some(place)) };
            requests.push(request);
        }
        let found = engine.wait_any(guard, &requests)?;
        Ok(found.map(|(place, completion)| {
            messages[place].state = State::Complete(completion);
            place
        }))
    }

    /// The data, once it is complete.
    fn take(&mut self) -> Vec<T> {
        let data = std::mem::replace(&mut self.data, Box::into_raw(Box::default()));
        // SAFETY: from `Box::into_raw`; no operation uses it any more.
        unsafe { Box::from_raw(data) }.into_vec()
    }
}

impl<T: Element> Drop for OwnedMessage<T> {
    fn drop(&mut self) {
        if let State::UnderWay(request) = self.state {
            let mut guard = self.engine.lock();
            if self.is_receive {
                let _ = self.engine.cancel(&mut guard, request);
            }
            if !matches!(self.engine.test(&mut guard, request), Ok(Some(_))) {
                let _ = self.engine.request_free(&mut guard, request);
                return;
            }
        }
        // SAFETY: from `Box::into_raw`; no operation uses it any more.
        drop(unsafe { Box::from_raw(self.data) });
    }
}

impl<T: Element> fmt::Debug for OwnedMessage<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &self.state {
            State::UnderWay(_) => "under way",
            State::Complete(_) => "complete",
            State::Over => "over",
        };
        f.debug_struct("OwnedMessage").field("is_receive", &self.is_receive).field("state", &state).finish()
    }
}
