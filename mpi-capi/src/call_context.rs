//! The context of one call: the process, its lock, and the objects that the call's arguments name.
//!
//! Invariant: a `CallContext` exists only between initialisation and finalisation, and holds the lock's guard.
//! Not here: argument checks that need no process (`check`).

use core::ffi::c_void;
use core::ops::Deref;
use std::sync::Arc;

use mpi_coll::op::Op;
use mpi_comm::Comm;
use mpi_core::{Guard, Handle, abi};
use mpi_datatype::{Datatype, RecvBuf, SendBuf, predefined, predefined_unwatched};
use mpi_env::{CommRef, Object, Process};
use mpi_errors::Result;
use mpi_fabric::{Mark, Recorder};
use mpi_io::{File, Memory, Typed};
use mpi_win::Win;

use crate::check;
use crate::errors::Outcome;
use crate::handle_errors::{bad_comm, bad_object, bad_op, bad_rank, bad_root, bad_type, wrong_comm};

/// The context of a call, with the lock held.
pub struct CallContext {
    /// The process.
    pub process: &'static Process,
    /// The guard of its lock.
    pub guard: Guard<'static>,
    comm: CommView,
}

/// The context of a call, without the lock.
#[derive(Clone, Copy)]
pub struct LocklessContext {
    /// The process.
    pub process: &'static Process,
}

impl LocklessContext {
    /// Enters the library without its lock; an error while the library is not running.
    #[inline]
    pub fn new() -> Result<LocklessContext> {
        Ok(LocklessContext { process: mpi_env::running()? })
    }

    /// A communicator, without its context id, which lockless calls do not need.
    #[inline]
    pub fn comm(&self, name: &'static str, word: usize) -> Result<CommView> {
        match self.process.rank_and_size(Handle(word)) {
            Some((rank, size)) => Ok(CommView { handle: Handle(word), context: 0, rank, size, peers: 0, inter: false }),
            None => Err(bad_comm(name, word)),
        }
    }
}

/// The data of a communicator that the message path needs. A lockless context has neither its context id nor `peers`.
#[derive(Debug, Clone, Copy)]
pub struct CommView {
    /// Its handle.
    pub handle: Handle,
    /// Context id of its point-to-point messages.
    pub context: u32,
    /// This process's rank in it; in an intercommunicator in its local group.
    pub rank: u32,
    /// Number of its processes; of an intercommunicator, those of the local group.
    pub size: u32,
    /// Number of ranks that messages go to and come from: of an intercommunicator, the size of the remote group.
    pub peers: u32,
    /// Whether it is an intercommunicator.
    pub inter: bool,
}

impl CommView {
    const NONE: CommView =
        CommView { handle: Handle(abi::MPI_COMM_NULL), context: 0, rank: 0, size: 0, peers: 0, inter: false };

    #[inline]
    fn of(handle: Handle, comm: &Comm) -> CommView {
        let (context, rank) = (comm.context(), comm.rank);
        CommView { handle, context, rank, size: comm.size(), peers: comm.peers(), inter: comm.remote().is_some() }
    }
}

/// A window with its handle.
#[derive(Debug)]
pub struct WinRef {
    /// Its handle.
    pub handle: Handle,
    /// The window.
    pub win: Arc<Win>,
}

/// A datatype with its handle word. A predefined datatype needs no reference count.
#[derive(Debug)]
pub struct TypeRef {
    word: usize,
    source: DatatypeSource,
}

#[derive(Debug)]
enum DatatypeSource {
    Predefined(&'static Datatype),
    Own(Box<Datatype>),
}

impl TypeRef {
    /// The handle word.
    pub fn word(&self) -> usize {
        self.word
    }
}

impl Deref for TypeRef {
    type Target = Datatype;

    #[inline]
    fn deref(&self) -> &Datatype {
        match &self.source {
            DatatypeSource::Predefined(datatype) => datatype,
            DatatypeSource::Own(datatype) => datatype,
        }
    }
}

/// A call's entry in the flight recorder.
pub struct Record(Mark<'static>);

impl Record {
    /// The entry of a call that has begun.
    pub fn of(entry: Mark<'static>) -> Record {
        Record(entry)
    }

    /// The entry.
    #[inline]
    pub fn entry(&self) -> Mark<'static> {
        self.0
    }

    /// Records that the call has ended.
    #[inline]
    pub fn end(&self, outcome: Outcome) -> Outcome {
        self.0.leave();
        if outcome.is_err() {
            self.failed();
        }
        outcome
    }

    #[cold]
    fn failed(&self) {
        self.0.failed();
    }
}

impl CallContext {
    /// Enters the library; an error before initialisation and after finalisation.
    #[inline]
    pub fn new() -> Result<CallContext> {
        let process = mpi_env::running()?;
        Ok(CallContext { process, guard: process.engine.lock(), comm: CommView::NONE })
    }

    /// Records the beginning of a call that may wait in the flight recorder.
    #[inline]
    pub fn enter(&self, function: u16, peer: i32, tag: i32, count: u64) -> Record {
        Record(entered(&self.process.recorder, function, self.comm.context, peer, tag, count))
    }

    /// As [`CallContext::enter`], for point-to-point calls, which are short.
    #[inline]
    pub fn enter_inline(&self, function: u16, peer: i32, tag: i32, count: u64) -> Record {
        Record(self.process.recorder.enter(function, self.comm.context, peer, tag, count))
    }

    /// As [`CallContext::record`], for point-to-point calls.
    #[inline]
    pub fn record_inline(&self, function: u16, peer: i32, tag: i32, count: u64) {
        self.process.recorder.record(function, self.comm.context, peer, tag, count);
    }

    /// Records a call that cannot wait in the flight recorder.
    #[inline]
    pub fn record(&self, function: u16, peer: i32, tag: i32, count: u64) {
        recorded(&self.process.recorder, function, self.comm.context, peer, tag, count);
    }

    /// A communicator.
    #[inline]
    pub fn comm(&mut self, name: &'static str, word: usize) -> Result<CommView> {
        match self.process.comm_facts(&self.guard, Handle(word)) {
            Some(comm) => {
                self.comm = CommView::of(Handle(word), comm);
                Ok(self.comm)
            }
            None => Err(bad_comm(name, word)),
        }
    }

    /// A communicator that is no intercommunicator.
    #[inline]
    pub fn intracomm(&mut self, name: &'static str, word: usize) -> Result<CommView> {
        self.comm_of_kind(name, word, false)
    }

    /// An intercommunicator.
    pub fn intercomm(&mut self, name: &'static str, word: usize) -> Result<CommView> {
        self.comm_of_kind(name, word, true)
    }

    #[inline(always)] // one branch remains for each kind
    fn comm_of_kind(&mut self, name: &'static str, word: usize, inter: bool) -> Result<CommView> {
        match self.process.comm_facts(&self.guard, Handle(word)) {
            Some(comm) if comm.remote().is_some() == inter => {
                self.comm = CommView::of(Handle(word), comm);
                Ok(self.comm)
            }
            Some(_) => Err(wrong_comm(name, word, !inter)),
            None => Err(bad_comm(name, word)),
        }
    }

    /// A window. The flight recorder shows its context for a waiting call.
    #[inline]
    pub fn window(&mut self, name: &'static str, word: usize) -> Result<WinRef> {
        let Some(win) = self.process.win(&self.guard, Handle(word)) else {
            return Err(bad_object(name, Object::win(word)));
        };
        let win = win.clone();
        let handle = Handle(abi::MPI_COMM_NULL);
        self.comm = CommView {
            handle,
            context: win.context(),
            rank: win.rank(),
            size: win.size(),
            peers: win.size(),
            inter: false,
        };
        Ok(WinRef { handle: Handle(word), win })
    }

    /// A session.
    pub fn session(&self, name: &'static str, word: usize) -> Result<Handle> {
        match self.process.session(&self.guard, Handle(word)) {
            Some(_) => {
                self.process.on_session_used(&self.guard, Handle(word));
                Ok(Handle(word))
            }
            None => Err(bad_object(name, Object::session(word))),
        }
    }

    /// A datatype.
    #[inline]
    pub fn datatype(&self, name: &'static str, word: usize) -> Result<TypeRef> {
        match predefined_unwatched(word) {
            Some(datatype) => Ok(TypeRef { word, source: DatatypeSource::Predefined(datatype) }),
            None => own_datatype(self.process, &self.guard, name, word),
        }
    }

    /// A datatype, borrowed while the lock is held. That is sufficient for a buffer, and needs no reference count.
    #[inline]
    pub fn borrowed_datatype(&self, name: &'static str, word: usize) -> Result<&Datatype> {
        match predefined_unwatched(word) {
            Some(datatype) => Ok(datatype),
            None => borrowed_datatype(self.process, &self.guard, name, word),
        }
    }

    /// A reduction operation.
    pub fn op(&self, name: &'static str, word: usize) -> Result<Op> {
        match Op::predefined(word).or_else(|| self.process.ops.get(&self.guard).get(Handle(word))) {
            Some(op) => Ok(op.clone()),
            None => Err(bad_op(name, word)),
        }
    }

    /// Counts a call that combines elements with this operation; does nothing if the word is not an operation.
    #[inline]
    pub fn on_op_used(&self, op: usize, datatype: &Datatype, count: u64) {
        self.process.on_op_used(&self.guard, op, datatype.size().saturating_mul(count));
    }

    /// A rank to send to.
    #[inline]
    pub fn dest(&self, name: &'static str, rank: i32) -> Result<i32> {
        if (rank as u32) < self.comm.peers || rank == abi::MPI_PROC_NULL {
            Ok(rank)
        } else {
            Err(bad_rank((self.process, self.comm.handle), self.comm.peers, name, rank))
        }
    }

    /// A rank to receive from.
    #[inline]
    pub fn source(&self, name: &'static str, rank: i32) -> Result<i32> {
        match rank {
            abi::MPI_ANY_SOURCE => Ok(rank),
            _ => self.dest(name, rank),
        }
    }

    /// The rank of a root; in an intercommunicator one of the remote group, `MPI_ROOT` or `MPI_PROC_NULL`.
    #[inline]
    pub fn root(&self, name: &'static str, rank: i32) -> Result<i32> {
        let elsewhere = self.comm.inter && matches!(rank, abi::MPI_ROOT | abi::MPI_PROC_NULL);
        if (rank as u32) < self.comm.peers || elsewhere {
            return Ok(rank);
        }
        Err(bad_root(self.comm.peers, name, rank))
    }

    /// Memory to send from. The engine may use it until the operation is complete; the program promises that it remains
    /// valid (MPI-5.0, 3.7.2).
    #[inline]
    pub fn send_buffer(
        &self,
        name: &'static str,
        address: *const c_void,
        count: u64,
        datatype: &Datatype,
    ) -> Result<SendBuf<'static>> {
        if check::is_no_memory(address) {
            check::no_data(name, address, count, datatype)?;
        }
        // SAFETY: the program passed a buffer of `count` elements, and does not modify it until the operation is
        // complete.
        let buffer = unsafe { SendBuf::new(address.cast(), count, datatype) };
        buffer.ok_or_else(|| check::no_buffer(name, count, datatype))
    }

    /// Memory to receive into, as [`CallContext::send_buffer`].
    #[inline]
    pub fn recv_buffer(
        &self,
        name: &'static str,
        address: *mut c_void,
        count: u64,
        datatype: &Datatype,
    ) -> Result<RecvBuf<'static>> {
        if check::is_no_memory(address) {
            check::no_data(name, address, count, datatype)?;
        }
        // SAFETY: as in `send_buffer`.
        let buffer = unsafe { RecvBuf::new(address.cast(), count, datatype) };
        buffer.ok_or_else(|| check::no_buffer(name, count, datatype))
    }

    /// Data of an access to a file, with their type: [`CallContext::send_buffer`].
    pub fn file_data(
        &self,
        name: &'static str,
        address: *const c_void,
        count: u64,
        datatype: TypeRef,
    ) -> Result<Typed<SendBuf<'static>>> {
        let buffer = self.send_buffer(name, address, count, &datatype)?;
        let memory = Memory { address: address.expose_provenance(), word: datatype.word() };
        // SAFETY: the buffer was made just above, of the same address and type.
        Ok(unsafe { Typed::in_memory(buffer, datatype.clone(), memory) })
    }

    /// Memory of an access to a file, with its type: [`CallContext::recv_buffer`].
    pub fn file_room(
        &self,
        name: &'static str,
        address: *mut c_void,
        count: u64,
        datatype: TypeRef,
    ) -> Result<Typed<RecvBuf<'static>>> {
        let buffer = self.recv_buffer(name, address, count, &datatype)?;
        let memory = Memory { address: address.expose_provenance(), word: datatype.word() };
        // SAFETY: the buffer was made just above, of the same address and type.
        Ok(unsafe { Typed::in_memory(buffer, datatype.clone(), memory) })
    }

    /// An open file. The flight recorder shows the context of the file's own communicator.
    pub fn file(&mut self, name: &'static str, word: usize) -> Result<Arc<File>> {
        let file = self.process.file(&self.guard, Handle(word)).cloned();
        let file = file.ok_or_else(|| bad_object(name, Object::file(word)))?;
        let comm = file.comm();
        self.comm = CommView::of(comm.handle(), comm);
        Ok(file)
    }

    /// The communicator itself, for calls that need more data than the message path.
    #[inline]
    pub fn whole_comm(&self, handle: Handle) -> Result<CommRef<'static>> {
        self.process.comm_ref(&self.guard, handle).ok_or_else(|| bad_comm("comm", handle.0))
    }
}

// Entry points of other than point-to-point calls share these two, which keeps the library small.

#[inline(never)]
fn entered(recorder: &'static Recorder, function: u16, comm: u32, peer: i32, tag: i32, count: u64) -> Mark<'static> {
    recorder.enter(function, comm, peer, tag, count)
}

#[inline(never)]
fn recorded(recorder: &Recorder, function: u16, comm: u32, peer: i32, tag: i32, count: u64) {
    recorder.record(function, comm, peer, tag, count);
}

// These functions take values, not the `CallContext`: a cold call that borrows it would force the hot path to keep all
// of it in memory.

#[cold]
fn own_datatype(process: &Process, guard: &Guard<'_>, name: &'static str, word: usize) -> Result<TypeRef> {
    let datatype = borrowed_datatype(process, guard, name, word)?;
    let source = match predefined(word) {
        Some(datatype) => DatatypeSource::Predefined(datatype),
        None => DatatypeSource::Own(Box::new(datatype.clone())),
    };
    Ok(TypeRef { word, source })
}

#[cold]
fn borrowed_datatype<'g>(
    process: &'g Process,
    guard: &'g Guard<'_>,
    name: &'static str,
    word: usize,
) -> Result<&'g Datatype> {
    if let Some(datatype) = predefined(word) {
        process.on_predefined_used(guard, word);
        return Ok(datatype);
    }
    let found = process.datatypes.get(guard).get(Handle(word)).ok_or_else(|| bad_type(name, word))?;
    process.on_datatype_used(guard, Handle(word));
    Ok(found)
}
