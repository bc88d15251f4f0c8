//! The interface between an endpoint and a network that connects peers outside the host.
//!
//! An endpoint reaches each peer one way ([`Way`]). Peers on the host share memory with it, and their records go into
//! rings without a call through this trait. All other peers share one [`Transport`]: its calls are virtual, and are
//! made after the check for a ring failed. A transport identifies peers by world rank and memory by region and offset;
//! process ids and addresses of other processes do not appear.
//! Invariant: records from one peer are delivered in the order of their pushes.
//! Not here: shared memory (`ring`, `remote`), a transport for tests (`simulated`).

#![allow(unsafe_code)] // accesses memory of this process by the addresses of pieces

use std::ptr::{with_exposed_provenance, with_exposed_provenance_mut};
use std::slice;
use std::sync::Arc;

use mpi_errors::Result;

use crate::pieces::Piece;
use crate::record::{Full, RecordHead, Sink};
use crate::region::{Access, RegionKey, Registration};

/// How an endpoint reaches a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Rings and copies within the host.
    SharedMemory,
    /// The endpoint's transport.
    Network,
    /// A bridge to another job of the host (`bridge`).
    Bridge,
}

/// Identifies a process permanently: a rank is not reused in its job, nor a job's number on its hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProcessId {
    /// Number of the job, never 0.
    pub job: u64,
    /// World rank in the job.
    pub rank: u32,
}

/// A process of another job, as [`Transport::connect`] gets it.
#[derive(Clone, Debug)]
pub struct RemotePeer {
    /// Identifies it.
    pub id: ProcessId,
    /// What [`Transport::address`] returned there.
    pub address: String,
    /// Number of the connection, never 0, and 128 random bits that only its processes have.
    pub connection: u64,
    /// See `connection`.
    pub secret: u128,
    /// Place of this process among those of the connection, and of the other one.
    pub own: u32,
    /// See `own`.
    pub theirs: u32,
}

/// The connection of one rank to its peers beyond shared memory. Used by one thread at a time.
pub trait Transport: Send {
    /// Number of the job, the same in all of its processes; never 0.
    fn job(&self) -> u64;

    /// Longest payload of one record, in bytes.
    fn max_payload(&self) -> usize;

    /// Sends a record to a world rank. `Full`: there is no room now; poll and try again. A record to a peer that has
    /// ended is dropped.
    fn push(&mut self, dest: u32, head: &RecordHead, payload: &[u8]) -> Result<(), Full>;

    /// Longest message that is best sent as one record, whose data are copied in both processes. 0: the engine's own limit.
    fn whole_bytes(&self) -> usize {
        0
    }

    /// Many records may be pushed until [`Self::release`]: they may wait for each other, to leave together.
    fn gather(&mut self) {}

    /// Sends what waits because of [`Self::gather`].
    fn release(&mut self) {}

    /// Hands records that have arrived to `sink`, a bounded number, and returns how many there were. Never waits.
    /// # Errors
    /// A peer is lost (`MPI_ERR_PROC_ABORTED`), or the network failed.
    fn poll(&mut self, sink: &mut dyn Sink) -> Result<usize>;

    /// Whether [`NetworkCopies::read`] and [`NetworkCopies::write`] work with a peer. Where they do not, data travels
    /// in records.
    fn can_copy(&self, peer: u32) -> bool;

    /// Registers memory for the peers until the result is dropped; the number becomes [`RegionKey::number`].
    ///
    /// # Safety
    /// Until then `start..start + bytes` is readable; with [`Access::ReadWrite`] it is writable, and all other code
    /// that uses it meanwhile expects it to change.
    unsafe fn register(&self, start: *mut u8, bytes: usize, access: Access) -> (u64, Registration);

    /// The object that copies to and from the peers' regions: always the same one. Called for each long message.
    fn copies(&self) -> Arc<dyn NetworkCopies>;

    /// Whether a peer still runs, as far as the transport has detected.
    fn alive(&self, peer: u32) -> bool;

    /// Why a peer is lost, in a sentence, if it is.
    fn lost_because(&self, _: u32) -> Option<String> {
        None
    }

    /// How threads of this rank sleep.
    fn waiting(&self) -> Waiting;

    /// The address of this process for processes of other jobs, as text; `None`: they cannot be connected.
    fn address(&self) -> Option<String> {
        None
    }

    /// Connects a process of another job, under a number from the size of the job on. Its records are accepted from now on.
    /// What an earlier process with the number had is forgotten.
    /// # Errors
    /// A sentence: it cannot be reached from here.
    fn connect(&mut self, _: u32, peer: &RemotePeer) -> Result<()> {
        let ProcessId { job, rank } = peer.id;
        Err(crate::fault::foreign(format!("this network connects no process {rank} of job {job:016x}")))
    }

    /// All processes that were connected at once have called [`Self::connect`]. The end of this one is found from now on;
    /// `dials`: by a connection that this process makes.
    fn begin(&mut self, _number: u32, _dials: bool) {}

    /// Forgets a process of another job. False: what was pushed for it has not left; to be called again.
    fn disconnect(&mut self, _: u32) -> bool {
        true
    }

    /// Whether nothing that this rank has pushed is still with it, so that it may stop polling.
    fn is_drained(&self) -> bool {
        true
    }

    /// The process is about to end: [`Self::is_drained`] is true from now on when the peers have what this rank has pushed, or get it
    /// without this process.
    fn settle(&mut self) {}

    /// This process ends as it should: its end is no loss to the peers.
    fn depart(&mut self) {}
}

/// How threads sleep that a network can wake.
#[derive(Clone)]
pub enum Waiting {
    /// On an object of the transport.
    Own(Arc<dyn Waiter>),
    /// On the doorbell, as without a network; the transport rings it.
    Bell(Arc<dyn BellRinger>),
}

/// Rings the doorbell of a rank when its network has something. Thread-safe.
pub trait BellRinger: Send + Sync {
    /// Passes the function that rings the doorbell; once, before the first [`Self::arm`].
    fn attach(&self, ring: Box<dyn Fn() + Send + Sync>);

    /// A thread is going to sleep on the doorbell: from now on it rings once when there is something. False: the thread is
    /// not to sleep, because there is something already, or the network cannot wake it.
    fn arm(&self) -> bool;
}

/// Copies to and from regions that neither the kernel nor a rank of the same process copies: those of peers beyond shared
/// memory, and of shared memory that is mapped. Thread-safe: threads of the rank copy at the same
/// time, also while another uses the [`Transport`].
pub trait NetworkCopies: Send + Sync {
    /// Copies from a peer's region, from `offset` on. Returns when the bytes are there.
    /// # Errors
    /// The key, offset or length names no registered memory of the peer, or the peer is lost.
    fn read(&self, peer: u32, key: RegionKey, offset: u64, into: &mut [u8]) -> Result<()>;

    /// Copies to a peer's region, from `offset` on; otherwise like [`Self::read`]. Returns when the peer has the bytes.
    fn write(&self, peer: u32, key: RegionKey, offset: u64, data: &[u8]) -> Result<()>;

    /// Copies pieces of a peer's region to this process, in any order; otherwise like [`Self::read`].
    ///
    /// # Safety
    /// The pieces of this process are writable memory that no other code uses.
    unsafe fn read_pieces(&self, peer: u32, key: RegionKey, pieces: &[Piece]) -> Result<()> {
        pieces.iter().try_for_each(|piece| {
            let place = with_exposed_provenance_mut(piece.address);
            // SAFETY: the caller's promise.
            self.read(peer, key, piece.offset, unsafe { slice::from_raw_parts_mut(place, piece.bytes) })
        })
    }

    /// Copies pieces of several regions of a peer to this process; otherwise like [`Self::read_pieces`].
    ///
    /// # Safety
    /// As [`Self::read_pieces`].
    unsafe fn read_regions(&self, peer: u32, pieces: &[(RegionKey, Piece)]) -> Result<()> {
        // SAFETY: the caller's promise.
        pieces.iter().try_for_each(|(key, piece)| unsafe { self.read_pieces(peer, *key, slice::from_ref(piece)) })
    }

    /// Starts to copy pieces of several regions of a peer to this process. `None`: only [`Self::read_regions`] copies them.
    ///
    /// # Safety
    /// The pieces of this process are writable memory that no other code uses until the copy is over; for ever, if it is dropped before.
    unsafe fn start_read(
        self: Arc<Self>,
        _peer: u32,
        _pieces: Vec<(RegionKey, Piece)>,
    ) -> Option<Box<dyn StartedCopy>> {
        None
    }

    /// Copies pieces of this process to a peer's region, in any order; otherwise like [`Self::write`].
    ///
    /// # Safety
    /// The pieces of this process are readable memory that no code writes meanwhile.
    unsafe fn write_pieces(&self, peer: u32, key: RegionKey, pieces: &[Piece]) -> Result<()> {
        pieces.iter().try_for_each(|piece| {
            let place = with_exposed_provenance(piece.address);
            // SAFETY: the caller's promise.
            self.write(peer, key, piece.offset, unsafe { slice::from_raw_parts(place, piece.bytes) })
        })
    }
}

/// A copy that goes on while the network is polled.
pub trait StartedCopy: Send {
    /// Requests what is left, as far as the network takes it, and finds what has come. Not after the end.
    fn advance(&mut self) -> CopyState;
}

/// How far a copy is.
pub enum CopyState {
    /// The network has all or a part of it, and the doorbell rings when something of that has come.
    UnderWay {
        /// Whether something has come now.
        came: bool,
    },
    /// The network takes nothing now: to be tried again.
    Refused,
    /// It is over; the errors are those of [`NetworkCopies::read`].
    Over(Result<()>),
}

/// An idle thread sleeps here. Thread-safe.
pub trait Waiter: Send + Sync {
    /// Sleeps until a record may have arrived, a peer is lost, or [`Self::wake`]; may also return for no reason.
    fn sleep(&self);

    /// Ends a sleep of another thread of this rank.
    fn wake(&self);
}
