//! Several messages at once: non-blocking operations on borrowed buffers that are over before the borrow is.
//!
//! Invariant: a `PendingOps` holds its buffers' borrow; when it ends, by `wait_all` or by an early return, all of its
//! operations are complete or revoked, and no process copies into the buffers any more.
#![allow(unsafe_code)] // its requests hold buffers whose borrow it keeps

use std::marker::PhantomData;

use mpi_core::Handle;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;
use mpi_p2p::Mode;
use smallvec::SmallVec;

use crate::link::{Link, Outcome, check, of_collective};

/// Operations under way.
pub(crate) struct PendingOps<'l, 'b> {
    link: Link<'l>,
    requests: SmallVec<[Handle; 16]>,
    /// Of each receive: its source and the bytes it expects; of a send, `None`.
    expected: SmallVec<[Option<(u32, u64)>; 16]>,
    buffers: PhantomData<&'b mut [u8]>,
}

impl<'l, 'b> PendingOps<'l, 'b> {
    pub fn new(link: Link<'l>) -> Self {
        PendingOps { link, requests: SmallVec::new(), expected: SmallVec::new(), buffers: PhantomData }
    }

    /// Sends, or starts to where that is not over at once.
    pub fn send(&mut self, dest: u32, buffer: SendBuf<'b>) -> Result<()> {
        let Link { engine, context, tag, .. } = self.link;
        let guard = &mut engine.lock();
        if engine.send_at_once(guard, context, dest as i32, tag, &buffer) {
            return Ok(());
        }
        // SAFETY: the request ends before `self`, whose lifetime `'b` keeps the buffer borrowed.
        let buffer = unsafe { buffer.detach() };
        let request = engine.isend(guard, context, dest as i32, tag, buffer, Mode::Standard)?;
        self.requests.push(request);
        self.expected.push(None);
        Ok(())
    }

    /// Starts to receive as many bytes as the buffer has.
    pub fn recv(&mut self, source: u32, buffer: RecvBuf<'b>) -> Result<()> {
        let bytes = buffer.bytes();
        // SAFETY: as for `send`.
        let buffer = unsafe { buffer.detach() };
        let Link { engine, context, tag, .. } = self.link;
        let request = engine.irecv(&mut engine.lock(), context, source as i32, tag, buffer)?;
        self.requests.push(request);
        self.expected.push(Some((source, bytes)));
        Ok(())
    }

    /// Waits until all are complete.
    pub fn wait_all(mut self, outcome: &mut Outcome) -> Result<()> {
        if self.requests.is_empty() {
            return Ok(());
        }
        let mut fault = Ok(());
        let (engine, expected) = (self.link.engine, &self.expected);
        engine.wait_all(engine.lock(), &self.requests, |index, completion| {
            let result = match (completion.error, expected[index]) {
                (Some(error), _) => Err(of_collective(error)),
                (None, Some((source, bytes))) => check(source, bytes, &completion.status),
                (None, None) => Ok(()),
            };
            if fault.is_ok() {
                fault = outcome.note(result);
            }
        })?;
        self.requests.clear();
        fault
    }
}

impl Drop for PendingOps<'_, '_> {
    fn drop(&mut self) {
        if !self.requests.is_empty() {
            // Some may be over already. After this no process copies into the buffers any more.
            self.link.engine.revoke(&self.requests);
        }
    }
}
