//! Sends in the modes of the standard: standard, synchronous, buffered and ready (MPI-5.0, 3.4 and 3.6).
//!
//! Invariant: a [`SendBuffer`] is attached while it exists; the library has the memory for the messages, so that a value
//! that is forgotten only stays attached.
//! Not here: sends in standard mode (`peer`, `immediate`, `persistent`, `scope`).

use std::fmt;
use std::marker::PhantomData;

use mpi_core::functions;
use mpi_datatype::Element;
use mpi_env::Process;
use mpi_p2p::{Attached, BufferOwner, Mode};

use crate::call::{Call, CallName};
use crate::communicator::Alive;
use crate::immediate::Sending;
use crate::peer::Peer;
use crate::persistent::Persistent;
use crate::threads::{Single, ThreadUse};
use crate::{Communicator, Result, Session, World};

const ATTACH: CallName = CallName::new("World::attach_process_buffer", functions::MPI_BUFFER_ATTACH);
const ATTACH_TO_COMM: CallName = CallName::new("Communicator::attach_buffer", functions::MPI_COMM_ATTACH_BUFFER);
const ATTACH_TO_SESSION: CallName = CallName::new("Session::attach_buffer", functions::MPI_SESSION_ATTACH_BUFFER);

/// When a send is complete, and what it needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SendMode {
    /// It is complete when the data may be changed again (`MPI_Send`).
    Standard,
    /// It is complete once the message is being received (`MPI_Ssend`).
    Synchronous,
    /// It is complete at once. A message that is not received yet waits in the attached buffer of its communicator, or
    /// without one in that of its session, or without one in that of the process (`MPI_Bsend`). Errors: `MPI_ERR_BUFFER`
    /// without a buffer, and without room in it.
    Buffered,
    /// The receive has been posted (`MPI_Rsend`). Without one the program is wrong; this library sends the message as in
    /// standard mode then, others may lose it.
    Ready,
}

impl SendMode {
    pub(crate) fn mode(self) -> Mode {
        match self {
            SendMode::Standard => Mode::Standard,
            SendMode::Synchronous => Mode::Synchronous,
            SendMode::Buffered => Mode::Buffered,
            SendMode::Ready => Mode::Ready,
        }
    }

    /// The name of a call that starts a send.
    pub(crate) fn started(self, rust: &'static str) -> CallName {
        use functions::{MPI_IBSEND, MPI_IRSEND, MPI_ISEND, MPI_ISSEND};
        self.call(rust, [MPI_ISEND, MPI_ISSEND, MPI_IBSEND, MPI_IRSEND])
    }

    /// The name of a call, and the function of C in this mode.
    fn call(self, rust: &'static str, functions: [u16; 4]) -> CallName {
        CallName::new(rust, functions[self as usize])
    }
}

impl<'c, M: ThreadUse> Peer<'c, M> {
    /// As [`Peer::send`], in another mode. Errors: also those of the mode.
    pub fn send_in_mode<T: Element>(&self, data: &[T], tag: i32, mode: SendMode) -> Result<()> {
        use functions::{MPI_BSEND, MPI_RSEND, MPI_SEND, MPI_SSEND};
        let name = mode.call("Peer::send_in_mode", [MPI_SEND, MPI_SSEND, MPI_BSEND, MPI_RSEND]);
        self.send_as(name, data, tag, mode.mode())
    }

    /// As [`Peer::start_send`], in another mode. Errors: also those of the mode.
    pub fn start_send_in_mode<T: Element>(&self, data: Vec<T>, tag: i32, mode: SendMode) -> Result<Sending<'c, T, M>> {
        self.start_as(mode.started("Peer::start_send_in_mode"), (data, None), tag, mode.mode())
    }

    /// As [`Peer::persistent_send`], in another mode. The errors of buffered mode are those of each start.
    pub fn persistent_send_in_mode<T: Element>(
        &self,
        data: Vec<T>,
        tag: i32,
        mode: SendMode,
    ) -> Result<Persistent<'c, T, M>> {
        use functions::{MPI_BSEND_INIT, MPI_RSEND_INIT, MPI_SEND_INIT, MPI_SSEND_INIT};
        let functions = [MPI_SEND_INIT, MPI_SSEND_INIT, MPI_BSEND_INIT, MPI_RSEND_INIT];
        let name = mode.call("Peer::persistent_send_in_mode", functions);
        self.persistent_send_as(name, (data, None), tag, mode.mode())
    }
}

/// A buffer for messages in buffered mode ([`SendMode::Buffered`]), attached to the process, a communicator or a session.
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
    /// The functions of C that flush and detach it.
    functions: [u16; 2],
    attached: bool,
    _alive: Alive<'o>,
    threads: PhantomData<M>,
}

impl<M: ThreadUse> World<M> {
    /// Attaches a buffer of so many bytes, or without a bound, for messages of all communicators without a buffer of
    /// their own (`MPI_Buffer_attach`). Errors: `MPI_ERR_BUFFER` while the process has one.
    pub fn attach_process_buffer(&self, bytes: Option<u64>) -> Result<SendBuffer<'_, M>> {
        let functions = [functions::MPI_BUFFER_FLUSH, functions::MPI_BUFFER_DETACH];
        self.call(ATTACH, |call| SendBuffer::attach(call, BufferOwner::Process, functions, bytes))
    }
}

impl<M: ThreadUse> Communicator<'_, M> {
    /// Attaches a buffer of so many bytes, or without a bound, for messages of this communicator
    /// (`MPI_Comm_attach_buffer`). Errors: `MPI_ERR_BUFFER` while it has one.
    pub fn attach_buffer(&self, bytes: Option<u64>) -> Result<SendBuffer<'_, M>> {
        let functions = [functions::MPI_COMM_FLUSH_BUFFER, functions::MPI_COMM_DETACH_BUFFER];
        let owner = BufferOwner::Comm(self.comm.context());
        self.call(ATTACH_TO_COMM, |call| SendBuffer::attach(call, owner, functions, bytes))
    }
}

impl<M: ThreadUse> Session<M> {
    /// Attaches a buffer of so many bytes, or without a bound, for messages of the session's communicators without a
    /// buffer of their own (`MPI_Session_attach_buffer`). Errors: `MPI_ERR_BUFFER` while it has one.
    pub fn attach_buffer(&self, bytes: Option<u64>) -> Result<SendBuffer<'_, M>> {
        let functions = [functions::MPI_SESSION_FLUSH_BUFFER, functions::MPI_SESSION_DETACH_BUFFER];
        let owner = BufferOwner::Session(self.handle());
        Call::run(self.process, 0, ATTACH_TO_SESSION, |call| SendBuffer::attach(call, owner, functions, bytes))
    }
}

impl<M: ThreadUse> SendBuffer<'_, M> {
    fn attach(call: &mut Call, owner: BufferOwner, functions: [u16; 2], bytes: Option<u64>) -> Result<Self> {
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

    /// Waits until all messages that wait in the buffer are on their way, and detaches it.
    pub fn detach(mut self) -> Result<()> {
        Call::run(self.process, 0, CallName::new("SendBuffer::detach", self.functions[1]), |call| {
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
