//! Collective operations that do not block, or are persistent, and own their data, for programs in Rust (MPI-5.0, 6.12
//! and 6.13).
//!
//! Invariant: while an operation is active, its schedule alone uses the data. One that is dropped while it is active, or
//! forgotten, goes on and leaks its data, because a collective operation cannot be cancelled.
//! Not here: what an operation does (`start`, `schedule`).
#![allow(unsafe_code)] // a schedule has pointers to the data between two calls

use std::fmt;

use mpi_comm::Comm;
use mpi_core::abi::MPI_ERR_BUFFER;
use mpi_core::{Guard, Handle};
use mpi_datatype::{Element, Misplaced, Placed, RecvBuf, SendBuf};
use mpi_errors::{Error, Result};
use mpi_p2p::{Engine, OwnedRestart};

use crate::call::CollCall;
use crate::coll_op::CollOp;
use crate::memory::Buffers;
use crate::op::Op;
use crate::shape::Root;
use crate::{Collectives, Reduction};

/// The blocks that elements which follow each other in memory consist of.
#[derive(Debug, Clone)]
pub enum Blocks {
    /// This process passes no such buffer.
    Absent,
    /// So many equal blocks.
    Equal(u32),
    /// Blocks of so many elements, one after the other.
    Each(Vec<usize>),
    /// Blocks of a datatype each, anywhere in the memory.
    Placed(Vec<Placed>),
}

impl Blocks {
    /// The buffers of elements that are sent. Errors: `MPI_ERR_BUFFER` for blocks that reach out of the memory.
    pub fn send<'b, T: Element>(&self, data: SendBuf<'b>) -> Result<Buffers<SendBuf<'b>>> {
        Ok(match self {
            Blocks::Absent => Buffers::Absent,
            Blocks::Equal(blocks) => Buffers::Whole { buffer: data, blocks: *blocks },
            Blocks::Each(lengths) => {
                let mut at = 0;
                Buffers::Each(
                    lengths
                        .iter()
                        .map(|length| {
                            let bytes = bytes_of::<T>(*length);
                            let block = data.part(at, bytes);
                            at += bytes;
                            block
                        })
                        .collect(),
                )
            }
            Blocks::Placed(places) => {
                let length = data.bytes() as usize / T::BYTES;
                Buffers::Each(data.places(places).map_err(|wrong| misplaced("sends", wrong, length))?)
            }
        })
    }

    /// The buffers for elements that are received. Errors: as [`Blocks::send`], and for blocks that overlap.
    pub fn receive<'b, T: Element>(&self, data: RecvBuf<'b>) -> Result<Buffers<RecvBuf<'b>>> {
        Ok(match self {
            Blocks::Absent => Buffers::Absent,
            Blocks::Equal(blocks) => Buffers::Whole { buffer: data, blocks: *blocks },
            Blocks::Each(lengths) => {
                let mut rest = data;
                let mut blocks = |length: &usize| {
                    let (block, behind) =
                        std::mem::replace(&mut rest, RecvBuf::empty()).split_at(bytes_of::<T>(*length));
                    rest = behind;
                    block
                };
                Buffers::Each(lengths.iter().map(&mut blocks).collect())
            }
            Blocks::Placed(places) => {
                let length = data.bytes() as usize / T::BYTES;
                Buffers::Each(data.places(places).map_err(|wrong| misplaced("receives", wrong, length))?)
            }
        })
    }
}

#[cold]
fn misplaced(name: &'static str, wrong: Misplaced, length: usize) -> Error {
    let (rule, place) = match wrong {
        Misplaced::Outside(place) => {
            (format!("the block reaches out of the slice, which has {length} elements"), place)
        }
        Misplaced::Overlapping(place) => ("data cannot be received into blocks that overlap".to_owned(), place),
    };
    Error::new(MPI_ERR_BUFFER, rule).arg(name, &format_args!("block {place}"))
}

fn bytes_of<T: Element>(length: usize) -> u64 {
    (length * T::BYTES) as u64
}

/// A collective operation with its data, before it begins.
#[derive(Debug)]
pub struct OwnedArguments<T: Element> {
    /// The operation.
    pub which: CollOp,
    /// The root of a rooted operation.
    pub root: Root,
    /// The data that are sent; none if there is no send buffer.
    pub send: (Vec<T>, Blocks),
    /// The room for what is received; the data of a broadcast.
    pub receive: (Vec<T>, Blocks),
    /// The operation of a reduction, and the elements that each process contributes.
    pub reduction: Option<(Op, u64)>,
    /// Elements of each process's part of a result that is scattered.
    pub counts: Vec<u64>,
}

/// A collective operation that was started, or a persistent one, with its data.
pub struct OwnedCollective<T: Element> {
    engine: &'static Engine,
    /// `None`: the operation was complete, and is not persistent.
    request: Option<Handle>,
    /// Whether the schedule uses the data.
    active: bool,
    /// From `Box::into_raw`.
    send: *mut [T],
    receive: *mut [T],
    /// Whether the data that this process contributes are those in `receive`.
    in_receive: bool,
}

// SAFETY: it owns its data, which are plain; the engine may be used from any thread.
unsafe impl<T: Element + Send> Send for OwnedCollective<T> {}
// SAFETY: a shared reference only reads data that no schedule uses.
unsafe impl<T: Element + Sync> Sync for OwnedCollective<T> {}

impl<T: Element> OwnedCollective<T> {
    /// Starts the operation. Errors: as [`Collectives::start`].
    pub fn start(
        (engine, coll): (&'static Engine, &Collectives),
        guard: &mut Guard<'_>,
        comm: &Comm,
        arguments: OwnedArguments<T>,
    ) -> Result<OwnedCollective<T>> {
        OwnedCollective::new(engine, arguments, true, |call| coll.start(guard, comm, call))
    }

    /// Makes a persistent operation, which is inactive. Errors: as [`Collectives::init`].
    pub fn persistent(
        (engine, coll): (&'static Engine, &Collectives),
        guard: &mut Guard<'_>,
        comm: &Comm,
        arguments: OwnedArguments<T>,
    ) -> Result<OwnedCollective<T>> {
        OwnedCollective::new(engine, arguments, false, |call| coll.init(guard, comm, call))
    }

    fn new(
        engine: &'static Engine,
        arguments: OwnedArguments<T>,
        active: bool,
        begin: impl FnOnce(CollCall<'static, '_>) -> Result<Handle>,
    ) -> Result<OwnedCollective<T>> {
        let OwnedArguments { which, root, send: (send, sent), receive: (receive, received), reduction, counts } =
            arguments;
        let in_receive = matches!(sent, Blocks::Absent);
        let [send, receive] = [send, receive].map(|data| Box::into_raw(data.into_boxed_slice()));
        // SAFETY: just made, used by no other owner, and dropped only when no operation uses them.
        let (outgoing, incoming) = unsafe { (send_buffer(send), receive_buffer(receive)) };
        let reduction = reduction.as_ref().map(|(op, count)| Reduction {
            op,
            datatype: T::datatype(),
            handle: T::HANDLE,
            count: *count,
        });
        let mut made = OwnedCollective { engine, request: None, active: false, send, receive, in_receive };
        let call = CollCall::new(which, sent.send::<T>(outgoing)?, received.receive::<T>(incoming)?);
        let call = call.rooted(root).scattered(&counts);
        // After an error the data are dropped with `made`: no operation was started.
        made.request = Some(begin(match &reduction {
            Some(reduction) => call.reducing(reduction),
            None => call,
        })?);
        made.active = active;
        Ok(made)
    }

    /// Starts the next operation of a persistent one. Errors: `MPI_ERR_REQUEST` while one is active.
    pub fn restart(&mut self, guard: &mut Guard<'_>) -> Result<()> {
        if let Some(request) = self.request {
            self.engine.start(guard, request)?;
            self.has_started();
        }
        Ok(())
    }

    /// Waits until the operation is complete; a persistent one is inactive then. Errors: those of the operation, which
    /// has ended all the same.
    pub fn wait(&mut self, guard: Guard<'_>) -> Result<()> {
        let Some(request) = self.request else { return Ok(()) };
        let completion = self.engine.wait(guard, request)?;
        self.active = false;
        completion.error.map_or(Ok(()), Err)
    }

    /// Waits until an operation that is not persistent is complete, and gives what was received. Errors: as
    /// [`OwnedCollective::wait`].
    pub fn finish(mut self, guard: Guard<'_>) -> Result<Vec<T>> {
        let waited = self.wait(guard);
        // A wait that did not end the operation leaves it active; otherwise the request is gone.
        if !self.active {
            self.request = None;
        }
        waited?;
        let received = std::mem::replace(&mut self.receive, Box::into_raw(Box::default()));
        // SAFETY: from `Box::into_raw`; no operation uses it any more.
        Ok(unsafe { Box::from_raw(received) }.into_vec())
    }

    /// Whether [`OwnedCollective::wait`] does not wait. Errors: as [`Engine::test`].
    pub fn is_complete(&self, guard: &mut Guard<'_>) -> Result<bool> {
        match self.request {
            Some(request) if self.active => Ok(self.engine.request_get_status(guard, request)?.is_some()),
            _ => Ok(true),
        }
    }

    /// The request while the operation is active.
    pub fn request(&self) -> Option<Handle> {
        self.request.filter(|_| self.active)
    }

    /// The data that this process contributes; `None` while the operation is active.
    pub fn data_mut(&mut self) -> Option<&mut [T]> {
        let data = if self.in_receive { self.receive } else { self.send };
        // SAFETY: the operation is inactive, so no schedule uses the data until `restart`, which needs `&mut`.
        (!self.active).then(|| unsafe { &mut *data })
    }

    /// What the last operation has given to this process; `None` while one is active.
    pub fn received(&self) -> Option<&[T]> {
        // SAFETY: as in `data_mut`.
        (!self.active).then(|| unsafe { &*self.receive })
    }
}

impl<T: Element> OwnedRestart for OwnedCollective<T> {
    fn persistent_request(&self) -> Option<Handle> {
        self.request
    }

    fn has_started(&mut self) {
        self.active = true;
    }
}

/// The elements as a buffer to send from. Made from the pointer, so that a reference to the data that the operation
/// gives while it is inactive does not end the buffer's right to them.
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

impl<T: Element> Drop for OwnedCollective<T> {
    fn drop(&mut self) {
        if let Some(request) = self.request.take() {
            let mut guard = self.engine.lock();
            if self.active && !matches!(self.engine.test(&mut guard, request), Ok(Some(_))) {
                return;
            }
            // The request of an operation that is not persistent is gone when it is complete.
            let _ = self.engine.request_free(&mut guard, request);
        }
        for data in [self.send, self.receive] {
            // SAFETY: from `Box::into_raw`; no operation uses it any more.
            drop(unsafe { Box::from_raw(data) });
        }
    }
}

impl<T: Element> fmt::Debug for OwnedCollective<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedCollective").field("request", &self.request).field("active", &self.active).finish()
    }
}
