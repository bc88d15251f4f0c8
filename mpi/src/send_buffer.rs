//! Buffers for messages in buffered mode (MPI-5.0, 3.6).
//!
//! Invariant: a [`SendBuffer`] is attached while it exists; the library has the memory for the messages, so that a value
//! that is forgotten only stays attached.
//! Not here: the sends (`send_mode`).

use std::fmt;
use std::marker::PhantomData;

use mpi_core::{Handle, functions};
use mpi_env::Process;
use mpi_p2p::{Attached, BufferOwner};

use crate::call::{Call, CallName};
use crate::communicator::Alive;
use crate::request::{Request, sealed};
use crate::threads::{Single, ThreadUse};
use crate::{Communicator, Result, Session, World};

const ATTACH: CallName = CallName::new("World::attach_process_buffer", functions::MPI_BUFFER_ATTACH);
const ATTACH_TO_COMM: CallName = CallName::new("Communicator::attach_buffer", functions::MPI_COMM_ATTACH_BUFFER);
const ATTACH_TO_SESSION: CallName = CallName::new("Session::attach_buffer", functions::MPI_SESSION_ATTACH_BUFFER);
const WAIT: CallName = CallName::new("Flushing::wait", functions::MPI_WAIT);
const TEST: CallName = CallName::new("Flushing::is_complete", functions::MPI_REQUEST_GET_STATUS);

/// A buffer for messages in buffered mode ([`SendMode::Buffered`](crate::SendMode::Buffered)), attached to the process, a
/// communicator or a session.
///
/// It bounds how much may wait to be received: the bytes of the messages, and 64 more for each. Dropping it detaches it at
/// once; messages that wait in it are sent all the same. [`SendBuffer::detach`] waits for them.
///
/// ```no_run
/// # fn work(world: &mpi::World) -> mpi::Result<()> {
/// let buffer = world.attach_buffer(Some(1 << 20))?;
/// world.process(0).send_in_mode(&[1.5; 1000], 0, mpi::SendMode::Buffered)?;
/// if world.rank() == 0 {
///     for _ in 0..world.size() {
///         world.any().receive::<f64>(0)?;
///     }
/// }
/// buffer.detach()
/// # }
/// ```
#[must_use = "the buffer is detached when this is dropped"]
pub struct SendBuffer<'o, M: ThreadUse = Single> {
    process: &'static Process,
    owner: BufferOwner,
    /// The functions of C that flush it, start to, and detach it.
    functions: [u16; 3],
    attached: bool,
    _alive: Alive<'o>,
    threads: PhantomData<M>,
}

impl<M: ThreadUse> World<M> {
    /// Attaches a buffer of so many bytes, or without a bound, for messages of all communicators without a buffer of
    /// their own (`MPI_Buffer_attach`). Errors: `MPI_ERR_BUFFER` while the process has one.
    pub fn attach_process_buffer(&self, bytes: Option<u64>) -> Result<SendBuffer<'_, M>> {
        let functions = [functions::MPI_BUFFER_FLUSH, functions::MPI_BUFFER_IFLUSH, functions::MPI_BUFFER_DETACH];
        self.call(ATTACH, |call| SendBuffer::attach(call, BufferOwner::Process, functions, bytes))
    }
}

impl<M: ThreadUse> Communicator<'_, M> {
    /// Attaches a buffer of so many bytes, or without a bound, for messages of this communicator
    /// (`MPI_Comm_attach_buffer`). Errors: `MPI_ERR_BUFFER` while it has one.
    pub fn attach_buffer(&self, bytes: Option<u64>) -> Result<SendBuffer<'_, M>> {
        let functions =
            [functions::MPI_COMM_FLUSH_BUFFER, functions::MPI_COMM_IFLUSH_BUFFER, functions::MPI_COMM_DETACH_BUFFER];
        let owner = BufferOwner::Comm(self.comm.context());
        self.call(ATTACH_TO_COMM, |call| SendBuffer::attach(call, owner, functions, bytes))
    }
}

impl<M: ThreadUse> Session<M> {
    /// Attaches a buffer of so many bytes, or without a bound, for messages of the session's communicators without a
    /// buffer of their own (`MPI_Session_attach_buffer`). Errors: `MPI_ERR_BUFFER` while it has one.
    pub fn attach_buffer(&self, bytes: Option<u64>) -> Result<SendBuffer<'_, M>> {
        let functions = [
            functions::MPI_SESSION_FLUSH_BUFFER,
            functions::MPI_SESSION_IFLUSH_BUFFER,
            functions::MPI_SESSION_DETACH_BUFFER,
        ];
        let owner = BufferOwner::Session(self.handle());
        Call::run(self.process, 0, ATTACH_TO_SESSION, |call| SendBuffer::attach(call, owner, functions, bytes))
    }
}

impl<'o, M: ThreadUse> SendBuffer<'o, M> {
    fn attach(call: &mut Call, owner: BufferOwner, functions: [u16; 3], bytes: Option<u64>) -> Result<Self> {
        let mut guard = call.enter(-1, 0, bytes.unwrap_or(0));
        let process = call.process;
        process.engine.buffer_attach(&mut guard, owner, Attached { address: 0, bytes })?;
        Ok(SendBuffer { process, owner, functions, attached: true, _alive: Alive::new(), threads: PhantomData })
    }

    /// Waits until all messages that wait in the buffer are on their way.
    pub fn flush(&self) -> Result<()> {
        Call::run(self.process, 0, CallName::new("SendBuffer::flush", self.functions[0]), |call| {
            let guard = call.enter(-1, 0, 0);
            call.process.engine.buffer_flush(guard, self.owner)
        })
    }

    /// Starts to wait until all messages that are in the buffer now are on their way (`MPI_Buffer_iflush`). Errors:
    /// `MPI_ERR_INTERN` when there are too many requests.
    pub fn start_flush(&self) -> Result<Flushing<'o, M>> {
        Call::run(self.process, 0, CallName::new("SendBuffer::start_flush", self.functions[1]), |call| {
            let request = call.process.engine.buffer_iflush(&mut call.enter(-1, 0, 0), self.owner)?;
            let (process, request) = (self.process, Some(request));
            Ok(Flushing { process, request, _alive: Alive::new(), threads: PhantomData })
        })
    }

    /// Waits until all messages that wait in the buffer are on their way, and detaches it.
    pub fn detach(mut self) -> Result<()> {
        Call::run(self.process, 0, CallName::new("SendBuffer::detach", self.functions[2]), |call| {
            let guard = call.enter(-1, 0, 0);
            call.process.engine.buffer_detach(guard, self.owner)?;
            self.attached = false;
            Ok(())
        })
    }
}

impl<M: ThreadUse> Drop for SendBuffer<'_, M> {
    fn drop(&mut self) {
        if self.attached {
            let engine = &self.process.engine;
            engine.buffer_remove(&mut engine.lock(), self.owner);
        }
    }
}

impl<M: ThreadUse> fmt::Debug for SendBuffer<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendBuffer").field("owner", &self.owner).finish()
    }
}

/// A flush of a [`SendBuffer`] under way. Dropping it ends the wait, not the messages.
#[must_use = "`wait` waits for the messages"]
pub struct Flushing<'o, M: ThreadUse = Single> {
    process: &'static Process,
    /// `None`: complete.
    request: Option<Handle>,
    _alive: Alive<'o>,
    threads: PhantomData<M>,
}

impl<M: ThreadUse> Flushing<'_, M> {
    /// Waits until the messages are on their way.
    pub fn wait(mut self) -> Result<()> {
        Call::run(self.process, 0, WAIT, |call| {
            let Some(request) = self.request else { return Ok(()) };
            let completion = call.process.engine.wait(call.enter(-1, 0, 0), request)?;
            self.request = None;
            completion.error.map_or(Ok(()), Err)
        })
    }

    /// Whether they are, so that [`Flushing::wait`] does not wait.
    pub fn is_complete(&self) -> Result<bool> {
        Call::run(self.process, 0, TEST, |call| {
            let Some(request) = self.request else { return Ok(true) };
            Ok(call.process.engine.request_get_status(&mut call.enter(-1, 0, 0), request)?.is_some())
        })
    }
}

impl<M: ThreadUse> Request for Flushing<'_, M> {}
impl<M: ThreadUse> sealed::Sealed for Flushing<'_, M> {
    fn place(&self) -> (&'static Process, u32) {
        (self.process, 0)
    }

    fn handle(&self) -> Option<Handle> {
        self.request
    }
}

impl<M: ThreadUse> Drop for Flushing<'_, M> {
    fn drop(&mut self) {
        if let Some(request) = self.request {
            let engine = &self.process.engine;
            let _ = engine.request_free(&mut engine.lock(), request);
        }
    }
}

impl<M: ThreadUse> fmt::Debug for Flushing<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flushing").field("request", &self.request).finish()
    }
}
