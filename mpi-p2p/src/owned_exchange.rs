//! A send and a receive under one request that own their data, for programs in Rust (`MPI_Isendrecv`; MPI-5.0, 3.10).
//!
//! Invariant: the engine alone uses the data until the operation is complete. An operation that is dropped before, or
//! forgotten, goes on, and leaks its data.
//! Not here: the operation (`pairs`), operations that are started again (`owned`).
#![allow(unsafe_code)] // the engine has pointers to the data between two calls

use std::fmt;

use mpi_core::{Guard, Handle, Status};
use mpi_datatype::{Element, RecvBuf, SendBuf};
use mpi_errors::Result;

use crate::engine::Engine;

/// A send and a receive that are under way, with their data.
pub struct OwnedExchange<T: Element> {
    engine: &'static Engine,
    /// `None`: complete.
    request: Option<Handle>,
    /// What is sent, and the room for what is received; from `Box::into_raw`.
    data: [*mut [T]; 2],
}

// SAFETY: it owns its data, which are plain; the engine may be used from any thread.
unsafe impl<T: Element + Send> Send for OwnedExchange<T> {}
// SAFETY: a shared reference gives no access to the data.
unsafe impl<T: Element + Sync> Sync for OwnedExchange<T> {}

impl<T: Element> OwnedExchange<T> {
    /// Starts to send `send` to (rank, tag), and to receive into `receive` from (rank, tag). Errors: as
    /// [`Engine::isendrecv`].
    pub fn start(
        engine: &'static Engine,
        guard: &mut Guard<'_>,
        context: u32,
        (to, send): ((i32, i32), Vec<T>),
        (from, receive): ((i32, i32), Vec<T>),
    ) -> Result<OwnedExchange<T>> {
        let data = [send, receive].map(|data| Box::into_raw(data.into_boxed_slice()));
        // SAFETY: just made, used by no other owner, and dropped only when the operation is complete.
        let (outgoing, incoming) =
            unsafe { (SendBuf::from_slice(&*data[0]).detach(), RecvBuf::from_slice(&mut *data[1]).detach()) };
        match engine.isendrecv(guard, context, to, outgoing, from, incoming) {
            Ok(request) => Ok(OwnedExchange { engine, request: Some(request), data }),
            // A send that was started before the error may be under way, so the data stay.
            Err(error) => Err(error),
        }
    }

    /// Waits until both are complete: the room with what was received, and the status of the receive. Errors: those of
    /// the operations, which have ended all the same.
    pub fn wait(mut self, guard: Guard<'_>) -> Result<(Vec<T>, Status)> {
        let Some(request) = self.request else { unreachable!("`wait` consumes the operation") };
        let completion = self.engine.wait(guard, request)?;
        self.request = None;
        match completion.error {
            None => Ok((self.take(), completion.status)),
            Some(error) => Err(error),
        }
    }

    /// Whether both are complete, so that [`OwnedExchange::wait`] does not wait. Errors: as [`Engine::test`].
    pub fn is_complete(&self, guard: &mut Guard<'_>) -> Result<bool> {
        let Some(request) = self.request else { return Ok(true) };
        Ok(self.engine.request_get_status(guard, request)?.is_some())
    }

    /// The request while the operations are under way.
    pub fn request(&self) -> Option<Handle> {
        self.request
    }

    /// The room of the receive, once both are complete.
    fn take(&mut self) -> Vec<T> {
        let received = std::mem::replace(&mut self.data[1], Box::into_raw(Box::default()));
        // SAFETY: from `Box::into_raw`; no operation uses it any more.
        unsafe { Box::from_raw(received) }.into_vec()
    }
}

impl<T: Element> Drop for OwnedExchange<T> {
    fn drop(&mut self) {
        if let Some(request) = self.request.take() {
            let mut guard = self.engine.lock();
            if !matches!(self.engine.test(&mut guard, request), Ok(Some(_))) {
                let _ = self.engine.request_free(&mut guard, request);
                return;
            }
        }
        for data in self.data {
            // SAFETY: from `Box::into_raw`; no operation uses it any more.
            drop(unsafe { Box::from_raw(data) });
        }
    }
}

impl<T: Element> fmt::Debug for OwnedExchange<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedExchange").field("request", &self.request).finish()
    }
}
