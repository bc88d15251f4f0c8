//! Messages between the processes of one collective call.
//!
//! Each kind of collective has its tag, so that processes that call different ones wait for each other and never take
//! the data of one for those of the other.
//! Invariant: a receive that fails on its data has taken the message; the caller continues and reports the error later.

use mpi_comm::{Expected, Outcome, PendingOps};
use mpi_core::abi::{MPI_ERR_OTHER, MPI_ERR_TRUNCATE};
use mpi_core::{Guard, Status};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::{Error, Result};
use mpi_p2p::{Completion, Engine, Mode};

/// Longer messages are sent and received by requests, to move in both directions at once.
const LONG: u64 = 8192;

/// The endpoint of one collective call: engine, context, rank, size and tag of its messages.
#[derive(Clone, Copy)]
pub(crate) struct Link<'a> {
    pub engine: &'a Engine,
    pub context: u32,
    pub rank: u32,
    pub size: u32,
    pub tag: i32,
}

impl<'a> Link<'a> {
    /// Sends to a rank, under a guard that the call holds already.
    #[inline]
    pub fn send_with(&self, guard: Guard<'_>, dest: u32, buffer: SendBuf<'_>) -> Result<()> {
        self.engine.send(guard, self.context, dest as i32, self.tag, buffer, Mode::Standard)
    }

    /// Sends if that is over at once; returns whether it did.
    #[inline]
    pub fn send_at_once(&self, dest: u32, buffer: &SendBuf<'_>) -> bool {
        self.engine.send_at_once(&mut self.engine.lock(), self.context, dest as i32, self.tag, buffer)
    }

    /// Receives as many bytes as the buffer has from a rank.
    #[inline]
    pub fn recv(&self, source: u32, buffer: RecvBuf<'_>) -> Result<()> {
        self.recv_with(self.engine.lock(), source, buffer)
    }

    /// Receives under a guard that the call holds already.
    #[inline]
    pub fn recv_with(&self, guard: Guard<'_>, source: u32, buffer: RecvBuf<'_>) -> Result<()> {
        let expected = buffer.bytes();
        let status = self
            .engine
            .recv(guard, self.context, source as i32, self.tag, buffer)
            .map_err(|failure| of_collective(failure.into()))?;
        check(source, expected, &status)
    }

    /// Sends and receives under a guard that the call holds already.
    #[inline]
    pub fn exchange_with(
        &self,
        guard: Guard<'_>,
        dest: u32,
        out: SendBuf<'_>,
        source: u32,
        into: RecvBuf<'_>,
    ) -> Result<()> {
        let expected = into.bytes();
        if expected > LONG {
            drop(guard);
            return self.exchange_at_once(dest, out, source, into);
        }
        let both = self.engine.sendrecv(guard, self.context, dest as i32, self.tag, out, source as i32, self.tag, into);
        let status = both.map_err(|failure| of_collective(failure.into()))?;
        check(source, expected, &status)
    }

    /// Long messages move in both directions at the same time.
    #[cold]
    fn exchange_at_once(&self, dest: u32, out: SendBuf<'_>, source: u32, into: RecvBuf<'_>) -> Result<()> {
        let mut outcome = Outcome::default();
        let mut pending = self.pending();
        self.irecv(&mut pending, source, into)?;
        self.isend(&mut pending, dest, out)?;
        self.wait_all(pending, &mut outcome)?;
        outcome.end()
    }

    /// No operations under way yet.
    #[allow(unsafe_code)] // promises that this crate leaks no operations
    pub fn pending<'b>(&self) -> PendingOps<'a, 'b> {
        // SAFETY: every function of this crate that calls this keeps the result in a local variable, which it passes to
        // `wait_all` or drops.
        unsafe { PendingOps::new(self.engine) }
    }

    /// Starts a send to a rank, if it is not complete at once.
    pub fn isend<'b>(&self, pending: &mut PendingOps<'_, 'b>, dest: u32, buffer: SendBuf<'b>) -> Result<()> {
        pending.isend(&mut self.engine.lock(), self.context, dest, self.tag, buffer)
    }

    /// Starts to receive as many bytes as the buffer has from a rank.
    pub fn irecv<'b>(&self, pending: &mut PendingOps<'_, 'b>, source: u32, buffer: RecvBuf<'b>) -> Result<()> {
        pending.irecv(&mut self.engine.lock(), self.context, source, self.tag, buffer)
    }

    /// Waits until all operations are complete.
    pub fn wait_all(&self, pending: PendingOps<'_, '_>, outcome: &mut Outcome) -> Result<()> {
        let mut fault = Ok(());
        pending.wait_all(|completion, expected| {
            let result = result_of(completion, expected);
            if fault.is_ok() {
                fault = outcome.record_data_error(result);
            }
        })?;
        fault
    }
}

/// The result of a message, which expected these data if it is a receive.
pub(crate) fn result_of(completion: Completion, expected: Option<Expected>) -> Result<()> {
    match (completion.error, expected) {
        (Some(error), _) => Err(of_collective(error)),
        (None, Some(expected)) => check(expected.source, expected.bytes, &completion.status),
        (None, None) => Ok(()),
    }
}

/// A message shorter than the collective demands is an error, as a longer one is for the engine.
#[inline]
fn check(source: u32, expected: u64, status: &Status) -> Result<()> {
    if status.bytes() == expected { Ok(()) } else { Err(mismatch(source, expected, status.bytes())) }
}

#[cold]
fn mismatch(source: u32, expected: u64, got: u64) -> Error {
    let got = mpi_errors::counted(got, "byte");
    Error::new(
        MPI_ERR_OTHER,
        format!(
            "rank {source} sent {got} where {expected} were expected: the counts or types of the processes \
             do not match"
        ),
    )
    .hint(SAME_COUNTS)
}

/// An error of one of a collective's own messages, whose tag is none of the program's.
#[cold]
fn of_collective(error: Error) -> Error {
    match error.class() {
        MPI_ERR_TRUNCATE => error.without_detail().hint(SAME_COUNTS),
        _ => error,
    }
}

pub(crate) const SAME_COUNTS: &str = "Give counts and datatypes that match on all processes of the communicator.";
