//! Several messages at once: non-blocking operations that are complete before the borrow of their buffers ends.
//!
//! Invariant: a [`PendingOps`] keeps the borrow of its buffers; when it ends, by `wait_all` or by an early return, all
//! of its operations are complete or revoked, and no process copies into the buffers any more.
#![allow(unsafe_code)] // its requests use buffers whose borrow it keeps

use std::fmt;
use std::marker::PhantomData;

use mpi_core::{Guard, Handle, Status};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;
use mpi_p2p::{Completion, Engine, Mode};
use smallvec::SmallVec;

use crate::outcome::Outcome;

/// Requests under way and the borrow of their buffers.
pub struct PendingOps<'e, 'b> {
    engine: &'e Engine,
    requests: SmallVec<[Handle; 16]>,
    /// For each request, the expected message of a receive; `None` for a send.
    expected: SmallVec<[Option<Expected>; 16]>,
    /// Receives that no other process answers; they are revoked at the end.
    unanswered: Vec<Handle>,
    buffers: PhantomData<&'b mut [u8]>,
}

/// The message that a receive expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expected {
    /// Its source.
    pub source: u32,
    /// Its length.
    pub bytes: u64,
}

impl<'e, 'b> PendingOps<'e, 'b> {
    /// No operations.
    ///
    /// # Safety
    /// The value is dropped, or consumed by [`PendingOps::wait_all`], before `'b` ends: not leaked by `mem::forget` or
    /// by a cycle of references.
    #[inline]
    pub unsafe fn new(engine: &'e Engine) -> PendingOps<'e, 'b> {
        let (requests, expected) = (SmallVec::new(), SmallVec::new());
        PendingOps { engine, requests, expected, unanswered: Vec::new(), buffers: PhantomData }
    }

    /// Runs `body` with a set of operations, and waits until all of them are complete. After an error of `body` it
    /// cancels them and waits: for a message that its receiver has matched, until it is received.
    pub fn scope<R>(engine: &'e Engine, body: impl FnOnce(&mut PendingOps<'e, 'b>) -> Result<R>) -> Result<R> {
        PendingOps::scope_each(engine, body, |_, _, _| ())
    }

    /// As [`PendingOps::scope`]; `each` gets the result of `body`, and of every operation its place
    /// ([`PendingOps::len`] before it was started) and status.
    pub fn scope_each<R>(
        engine: &'e Engine,
        body: impl FnOnce(&mut PendingOps<'e, 'b>) -> Result<R>,
        mut each: impl FnMut(&mut R, usize, &Status),
    ) -> Result<R> {
        // SAFETY: `body` has a reference only and cannot leak the value, which ends in this function, before `'b`.
        let mut operations = unsafe { PendingOps::new(engine) };
        let mut result = match body(&mut operations) {
            Ok(result) => result,
            Err(error) => {
                operations.cancel_all();
                return Err(error);
            }
        };
        if operations.requests.is_empty() {
            return Ok(result);
        }
        let mut outcome = Outcome::default();
        operations.wait_for_all(|place, completion| {
            each(&mut result, place, &completion.status);
            outcome.record(completion.error.map_or(Ok(()), Err));
        })?;
        outcome.end().map(|()| result)
    }

    /// The number of operations that have been started and were not complete at once.
    pub fn len(&self) -> usize {
        self.requests.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.requests.is_empty()
    }

    /// Sends, or starts a send that is not complete at once.
    pub fn isend(
        &mut self,
        guard: &mut Guard<'_>,
        context: u32,
        dest: u32,
        tag: i32,
        buffer: SendBuf<'b>,
    ) -> Result<()> {
        if self.engine.send_at_once(guard, context, dest as i32, tag, &buffer) {
            return Ok(());
        }
        self.isend_in_mode(guard, context, (dest, tag), buffer, Mode::Standard)
    }

    /// Starts a send to (rank, tag) in a mode.
    pub fn isend_in_mode(
        &mut self,
        guard: &mut Guard<'_>,
        context: u32,
        (dest, tag): (u32, i32),
        buffer: SendBuf<'b>,
        mode: Mode,
    ) -> Result<()> {
        // SAFETY: the request ends before `self`, which ends before the borrow `'b` of the buffer, as `new` demands.
        let buffer = unsafe { buffer.detach() };
        let request = self.engine.isend(guard, context, dest as i32, tag, buffer, mode)?;
        self.add(request, None);
        Ok(())
    }

    /// Starts to receive as many bytes as the buffer has.
    pub fn irecv(
        &mut self,
        guard: &mut Guard<'_>,
        context: u32,
        source: u32,
        tag: i32,
        buffer: RecvBuf<'b>,
    ) -> Result<()> {
        let bytes = buffer.bytes();
        // SAFETY: as for `isend`.
        let buffer = unsafe { buffer.detach() };
        let request = self.engine.irecv(guard, context, source as i32, tag, buffer)?;
        self.add(request, Some(Expected { source, bytes }));
        Ok(())
    }

    /// Adds a request that was started before.
    pub fn add(&mut self, request: Handle, expected: Option<Expected>) {
        self.requests.push(request);
        self.expected.push(expected);
    }

    /// Whether all are complete; makes progress, and completes none.
    pub fn are_complete(&self, guard: &mut Guard<'_>) -> Result<bool> {
        self.engine.request_get_status_all(guard, &self.requests, |_, _| ())
    }

    /// Excludes the last receive from a source from those to wait for, because no message will come.
    pub fn exclude_last(&mut self, source: u32) {
        let from = |expected: &Option<Expected>| expected.is_some_and(|expected| expected.source == source);
        if let Some(index) = self.expected.iter().rposition(from) {
            self.expected.remove(index);
            self.unanswered.push(self.requests.remove(index));
        }
    }

    /// Waits until all are complete; `each` gets every completion and the message that it expected.
    pub fn wait_all(mut self, mut each: impl FnMut(Completion, Option<Expected>)) -> Result<()> {
        if self.requests.is_empty() {
            return Ok(());
        }
        let expected = std::mem::take(&mut self.expected);
        self.wait_for_all(|place, completion| each(completion, expected[place]))
    }

    /// Cancels all operations, and waits until they are over: another process may be about to read the data of a send
    /// that it has been offered.
    fn cancel_all(&mut self) {
        let mut guard = self.engine.lock();
        for request in &self.requests {
            let _ = self.engine.cancel(&mut guard, *request);
        }
        drop(guard);
        let _ = self.wait_for_all(|_, _| ());
    }

    fn wait_for_all(&mut self, each: impl FnMut(usize, Completion)) -> Result<()> {
        self.engine.wait_all(self.engine.lock(), &self.requests, each)?;
        self.requests.clear();
        Ok(())
    }
}

impl fmt::Debug for PendingOps<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingOps").field("requests", &self.requests).finish()
    }
}

impl Drop for PendingOps<'_, '_> {
    fn drop(&mut self) {
        self.requests.extend(self.unanswered.drain(..));
        if std::thread::panicking() {
            self.cancel_all();
        }
        if !self.requests.is_empty() {
            // Some may be over already. After this no process copies into the buffers any more.
            self.engine.revoke(&self.requests);
        }
    }
}
