//! Sends in the modes of the standard: standard, synchronous, buffered and ready (MPI-5.0, 3.4).
//!
//! Not here: sends in standard mode (`peer`, `immediate`, `persistent`, `scope`), the buffers (`send_buffer`).

use mpi_core::functions;
use mpi_datatype::Element;
use mpi_p2p::Mode;

use crate::Result;
use crate::call::CallName;
use crate::immediate::Sending;
use crate::peer::Peer;
use crate::persistent::Persistent;
use crate::threads::ThreadUse;

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
