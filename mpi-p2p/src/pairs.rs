//! A send and a receive under one request (`MPI_Isendrecv` and `MPI_Isendrecv_replace`), or from and into one buffer
//! (MPI-5.0, 3.10).
//!
//! The two operations are ordinary requests, marked as parts; the request that the program gets is complete when both
//! are. Its status, and its error first of all, is the receive's. If the send is over at once, the receive alone is the
//! program's request.
//! Invariant: a part is in the table of parts until it is complete; no call of the program names it.
//! Not here: the table (`pair_parts`).
#![allow(unsafe_code)] // a copy that a send is made from is kept beside it

use mpi_core::abi::{MPI_ERR_NO_MEM, MPI_PROC_NULL};
use mpi_core::{Guard, Handle, Status};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::{Error, Result};

use crate::core::{Core, State};
use crate::engine::Engine;
use crate::pair_parts::Part;
use crate::request::Receiver;
use crate::request::{Mode, PAIRED, PART, ReceiveFailure, Request, Work};
use crate::send::Started;

impl Engine {
    /// Starts a send and a receive under one request. Errors: as [`Engine::isend`] and [`Engine::irecv`].
    #[allow(clippy::too_many_arguments)] // the standard's own list
    pub fn isendrecv(
        &self,
        guard: &mut Guard<'_>,
        context: u32,
        (dest, send_tag): (i32, i32),
        send_buffer: SendBuf<'static>,
        (source, recv_tag): (i32, i32),
        recv_buffer: RecvBuf<'static>,
    ) -> Result<Handle> {
        let state = self.state.get_mut(guard);
        let send = state.start_send(context, dest, send_tag, send_buffer, Mode::Standard, Receiver::Matching)?;
        let started = state.start_pair(context, send, Vec::new(), (source, recv_tag), recv_buffer);
        self.copy_if_open(guard);
        started
    }

    /// As [`Engine::isendrecv`], from and into one buffer: data that does not leave at once is copied. Errors: also
    /// `MPI_ERR_NO_MEM` without memory for the copy.
    pub fn isendrecv_replace(
        &self,
        guard: &mut Guard<'_>,
        context: u32,
        (dest, send_tag): (i32, i32),
        (source, recv_tag): (i32, i32),
        buffer: RecvBuf<'static>,
    ) -> Result<Handle> {
        let state = self.state.get_mut(guard);
        let (send, data) = match dest {
            MPI_PROC_NULL => (Started::Complete, Vec::new()),
            _ if state.send_at_once(context, dest, send_tag, &buffer.as_send(), 0) => (Started::Complete, Vec::new()),
            _ => {
                let data = self.copy_unlocked(guard, buffer.bytes(), || copy_of(&buffer))?;
                let state = self.state.get_mut(guard);
                // SAFETY: the copy stays where it is until the send is complete: its part keeps it.
                let copied = unsafe { SendBuf::from_slice(&data).detach() };
                (state.start_send(context, dest, send_tag, copied, Mode::Standard, Receiver::Matching)?, data)
            }
        };
        let started = self.state.get_mut(guard).start_pair(context, send, data, (source, recv_tag), buffer);
        self.copy_if_open(guard);
        started
    }
}

impl Engine {
    /// As [`Engine::sendrecv`], from and into one buffer: data that does not leave at once is copied. Errors: also
    /// `MPI_ERR_NO_MEM` without memory for the copy.
    pub fn sendrecv_replace(
        &self,
        mut guard: Guard<'_>,
        context: u32,
        (dest, send_tag): (i32, i32),
        (source, recv_tag): (i32, i32),
        buffer: RecvBuf<'_>,
    ) -> Result<Status, ReceiveFailure> {
        let state = self.state.get_mut(&mut guard);
        if dest == MPI_PROC_NULL || state.send_at_once(context, dest, send_tag, &buffer.as_send(), 0) {
            return self.recv(guard, context, source, recv_tag, buffer);
        }
        let data = self.copy_unlocked(&mut guard, buffer.bytes(), || copy_of(&buffer))?;
        self.sendrecv(guard, context, dest, send_tag, SendBuf::from_slice(&data), source, recv_tag, buffer)
    }

    /// Copies what the start of an operation has matched; may release the lock.
    fn copy_if_open(&self, guard: &mut Guard<'_>) {
        if self.state.get(guard).core.copies.open > 0 {
            self.copy_at_start(guard);
        }
    }
}

/// The packed bytes of a buffer.
fn copy_of(buffer: &RecvBuf<'_>) -> Result<Vec<u8>> {
    let bytes = usize::try_from(buffer.bytes()).unwrap_or(usize::MAX);
    let mut copy = Vec::new();
    if copy.try_reserve_exact(bytes).is_err() {
        let rule = format!("there is no memory for a copy of the buffer ({})", mpi_errors::counted(bytes, "byte"));
        return Err(Error::new(MPI_ERR_NO_MEM, rule));
    }
    copy.resize(bytes, 0u8);
    buffer.as_send().pack(0, &mut copy);
    Ok(copy)
}

impl State {
    /// Starts the receive of a pair whose send is started.
    fn start_pair(
        &mut self,
        context: u32,
        send: Started,
        data: Vec<u8>,
        (source, tag): (i32, i32),
        buffer: RecvBuf<'static>,
    ) -> Result<Handle> {
        let send = match send {
            Started::Complete => {
                let receive = self.start_receive(context, source, tag, buffer)?;
                if let Some(request) = self.core.requests.get_mut(receive) {
                    request.marks |= PAIRED;
                }
                return Ok(receive);
            }
            Started::Under(send) => send,
        };
        let core = &mut self.core;
        let whole = match core.add_request(Request::waiting(context, Work::Pair { left: 2 })) {
            Ok(whole) => whole,
            Err(error) => {
                // The copy of a send that goes on without a request stays for good.
                std::mem::forget(data);
                core.detach(send);
                return Err(error);
            }
        };
        core.parts.insert(send, Part { whole, is_receive: false, data });
        core.mark_part(send);
        match self.start_receive(context, source, tag, buffer) {
            Ok(receive) => {
                self.core.parts.insert(receive, Part { whole, is_receive: true, data: Vec::new() });
                self.core.mark_part(receive);
                Ok(whole)
            }
            Err(error) => {
                // The send goes on: the request ends with it.
                if let Some(Request { work: Work::Pair { left }, .. }) = self.core.requests.get_mut(whole) {
                    *left -= 1;
                }
                match self.core.requests.get(whole) {
                    Some(Request { work: Work::Pair { left: 0 }, .. }) => drop(self.core.drop_request(whole)),
                    _ => self.core.detach(whole),
                }
                Err(error)
            }
        }
    }
}

impl Core {
    /// Marks a part, which may be complete already.
    fn mark_part(&mut self, part: Handle) {
        match self.requests.get_mut(part) {
            Some(request) if !request.is_done() => request.marks |= PART,
            _ => self.part_complete(part),
        }
    }

    /// A part is complete; so is the whole if it was the last one.
    #[cold]
    pub fn part_complete(&mut self, part: Handle) {
        let Some(of) = self.parts.remove(&part) else { return };
        let completed = self.drop_request(part);
        drop(of.data);
        let Some(whole) = self.requests.get_mut(of.whole) else { return };
        if let Some(completed) = completed {
            if of.is_receive {
                whole.status = completed.status;
                whole.error = completed.error.or(whole.error.take());
            } else if whole.error.is_none() {
                whole.error = completed.error;
            }
        }
        if let Work::Pair { left } = &mut whole.work {
            *left -= 1;
            if *left == 0 {
                self.finish(of.whole);
            }
        }
    }
}
