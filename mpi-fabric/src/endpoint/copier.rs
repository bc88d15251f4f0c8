//! Copies to and from the regions of one peer, beside the endpoint that made the handle.
//!
//! An endpoint is used by one thread at a time. A long copy holds up the other threads of the process if it keeps the
//! endpoint; so a [`Copier`] has what a copy needs, and nothing of the endpoint.
//! Invariant: a copy goes to the process that was probed, or within this one to registered memory.
//! Not here: which peers can be reached (`copy`), how one is probed (`peer_process`).

#![allow(unsafe_code)] // accesses memory of this process by the addresses of pieces

use std::fmt;
use std::ptr::{with_exposed_provenance, with_exposed_provenance_mut};
use std::slice;
use std::sync::Arc;

use mpi_errors::{Error, Result};

use crate::fault;
use crate::layout::PAGE;
use crate::mapping::Mapping;
use crate::peer_process::ProbedProcess;
use crate::pieces::{self, Piece};
use crate::prefetching::copy_prefetching;
use crate::region::{NotRegistered, RegionKey, Regions};
use crate::remote;
use crate::transport::{NetworkCopies, StartedCopy};

/// Copies to and from the regions of one peer. Thread-safe; cheap to clone. It can outlive its endpoint: then copies
/// are errors once the peer has ended.
#[derive(Clone)]
pub struct Copier {
    peer: u32,
    way: CopyWay,
}

/// How the bytes move.
#[derive(Clone)]
enum CopyWay {
    /// The peer is a rank of this process: only registered memory is reached.
    Within(Arc<Regions>),
    /// The kernel copies between the two processes.
    Kernel(Arc<ProbedProcess>),
    /// A network copies, or this process from its own mapping of the memory.
    Provided { copies: Arc<dyn NetworkCopies>, over_network: bool },
}

impl Copier {
    pub(super) fn within(peer: u32, regions: Arc<Regions>) -> Copier {
        Copier { peer, way: CopyWay::Within(regions) }
    }

    pub(super) fn by_kernel(peer: u32, process: Arc<ProbedProcess>) -> Copier {
        Copier { peer, way: CopyWay::Kernel(process) }
    }

    pub(super) fn of_shared(peer: u32, mapping: Arc<Mapping>) -> Copier {
        Copier { peer, way: CopyWay::Provided { copies: mapping, over_network: false } }
    }

    pub(super) fn by_network(peer: u32, network: Arc<dyn NetworkCopies>) -> Copier {
        Copier { peer, way: CopyWay::Provided { copies: network, over_network: true } }
    }

    /// World rank of the peer.
    pub fn peer(&self) -> u32 {
        self.peer
    }

    /// Whether a network copies, which can have several copies under way.
    pub fn is_over_network(&self) -> bool {
        matches!(self.way, CopyWay::Provided { over_network: true, .. })
    }

    /// Copies from the peer's region, from `offset` on; also when the peer is a rank of this process.
    /// # Errors
    /// `MPI_ERR_OTHER`, naming the peer: the kernel refuses, the address is bad, the peer has ended, or no registered
    /// region has these bytes.
    pub fn read(&self, key: RegionKey, offset: u64, into: &mut [u8]) -> Result<()> {
        let address = key.address().wrapping_add(offset);
        match &self.way {
            CopyWay::Within(regions) => {
                regions.read(address, into).map_err(|NotRegistered| not_registered(self.peer, address, into.len()))
            }
            CopyWay::Kernel(process) => process
                .check()
                .and_then(|()| remote::read(process.pid, address, into))
                .map_err(|error| copy_failed("read", self.peer, process.pid, &error)),
            CopyWay::Provided { copies, .. } => copies.read(self.peer, key, offset, into),
        }
    }

    /// Copies words from the peer's region, from byte `offset` on; otherwise like [`Self::read`].
    pub fn read_words(&self, key: RegionKey, offset: u64, into: &mut [u64]) -> Result<()> {
        // SAFETY: the bytes of the words, any value of which is valid.
        let bytes = unsafe { slice::from_raw_parts_mut(into.as_mut_ptr().cast::<u8>(), size_of_val(into)) };
        self.read(key, offset, bytes)
    }

    /// Copies to the peer's region, from `offset` on; otherwise like [`Self::read`].
    pub fn write(&self, key: RegionKey, offset: u64, data: &[u8]) -> Result<()> {
        let address = key.address().wrapping_add(offset);
        match &self.way {
            CopyWay::Within(regions) => {
                regions.write(address, data).map_err(|NotRegistered| not_registered(self.peer, address, data.len()))
            }
            CopyWay::Kernel(process) => process
                .check()
                // SAFETY: `PeerProcess::probe` makes a `ProbedProcess` of ids of other processes only.
                .and_then(|()| unsafe { remote::write(process.pid, address, data) })
                .map_err(|error| copy_failed("write", self.peer, process.pid, &error)),
            CopyWay::Provided { copies, .. } => copies.write(self.peer, key, offset, data),
        }
    }

    /// Copies pieces of the peer's region to this process; otherwise like [`Self::read`]. After an error some pieces
    /// may have been copied.
    ///
    /// # Safety
    /// The pieces of this process are writable memory that no other code uses meanwhile.
    pub unsafe fn read_pieces(&self, key: RegionKey, pieces: &[Piece]) -> Result<()> {
        if let CopyWay::Kernel(process) = &self.way {
            return process
                .check()
                // SAFETY: the caller's promise.
                .and_then(|()| unsafe { pieces::read(process.pid, key.address(), pieces) })
                .map_err(|error| copy_failed("read", self.peer, process.pid, &error));
        }
        if let CopyWay::Provided { copies, .. } = &self.way {
            // SAFETY: the caller's promise.
            return unsafe { copies.read_pieces(self.peer, key, pieces) };
        }
        pieces.iter().try_for_each(|piece| {
            let place = with_exposed_provenance_mut(piece.address);
            // SAFETY: the caller's promise.
            self.read(key, piece.offset, unsafe { slice::from_raw_parts_mut(place, piece.bytes) })
        })
    }

    /// Copies pieces of several regions of the peer to this process; otherwise like [`Self::read_pieces`].
    ///
    /// # Safety
    /// As [`Self::read_pieces`].
    pub unsafe fn read_regions(&self, pieces: &[(RegionKey, Piece)]) -> Result<()> {
        if let CopyWay::Provided { copies, .. } = &self.way {
            // SAFETY: the caller's promise.
            return unsafe { copies.read_regions(self.peer, pieces) };
        }
        // SAFETY: the caller's promise.
        pieces.iter().try_for_each(|(key, piece)| unsafe { self.read_pieces(*key, slice::from_ref(piece)) })
    }

    /// Starts to copy pieces of several regions of the peer to this process, over a network. `None`: only [`Self::read_regions`]
    /// copies them.
    ///
    /// # Safety
    /// As [`NetworkCopies::start_read`].
    pub unsafe fn start_read(&self, pieces: Vec<(RegionKey, Piece)>) -> Option<Box<dyn StartedCopy>> {
        match &self.way {
            // SAFETY: the caller's promise.
            CopyWay::Provided { copies, over_network: true } => unsafe { copies.clone().start_read(self.peer, pieces) },
            _ => None,
        }
    }

    /// Copies pieces of this process to the peer's region; otherwise like [`Self::read_pieces`].
    ///
    /// # Safety
    /// The pieces of this process are readable memory that no code writes meanwhile.
    pub unsafe fn write_pieces(&self, key: RegionKey, pieces: &[Piece]) -> Result<()> {
        if let CopyWay::Kernel(process) = &self.way {
            return process
                .check()
                // SAFETY: the caller's promise; `PeerProcess::probe` makes a `ProbedProcess` of other processes only.
                .and_then(|()| unsafe { pieces::write(process.pid, key.address(), pieces) })
                .map_err(|error| copy_failed("write", self.peer, process.pid, &error));
        }
        if let CopyWay::Provided { copies, .. } = &self.way {
            // SAFETY: the caller's promise.
            return unsafe { copies.write_pieces(self.peer, key, pieces) };
        }
        pieces.iter().try_for_each(|piece| {
            let place = with_exposed_provenance(piece.address);
            // SAFETY: the caller's promise.
            self.write(key, piece.offset, unsafe { slice::from_raw_parts(place, piece.bytes) })
        })
    }
}

impl fmt::Debug for Copier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let way = match &self.way {
            CopyWay::Within(_) => "within this process",
            CopyWay::Kernel(_) => "by the kernel",
            CopyWay::Provided { over_network: true, .. } => "by the network",
            CopyWay::Provided { over_network: false, .. } => "from shared memory",
        };
        write!(f, "Copier(rank {}, {way})", self.peer)
    }
}

/// Copies from the memory of an object (`shared_objects`); the address of the key is an offset there. It is only read.
impl NetworkCopies for Mapping {
    fn read(&self, peer: u32, key: RegionKey, offset: u64, into: &mut [u8]) -> Result<()> {
        let start = key.address().wrapping_add(offset);
        let inside = start.checked_add(into.len() as u64).is_some_and(|end| end <= (self.bytes() - PAGE) as u64);
        if !inside {
            return Err(not_registered(peer, start, into.len()));
        }
        let from = self.at(PAGE + start as usize, into.len()).as_ptr().cast_const();
        let apart = from.addr().abs_diff(into.as_ptr().addr()) >= into.len();
        // SAFETY: inside the mapping, and `into` is writable. The buffer of a faulty program may overlap the data.
        unsafe {
            match apart {
                true => copy_prefetching(from, into.as_mut_ptr(), into.len()),
                false => std::ptr::copy(from, into.as_mut_ptr(), into.len()),
            }
        }
        Ok(())
    }

    fn write(&self, peer: u32, key: RegionKey, offset: u64, data: &[u8]) -> Result<()> {
        Err(not_registered(peer, key.address().wrapping_add(offset), data.len()))
    }
}

#[cold]
fn copy_failed(what: &str, peer: u32, pid: u32, error: &std::io::Error) -> Error {
    fault::system(&format!("cannot {what} the memory of rank {peer} (process {pid})"), error)
}

#[cold]
fn not_registered(peer: u32, address: u64, bytes: usize) -> Error {
    fault::foreign(format!("rank {peer} has registered no region with the {bytes} bytes at {address:#x}"))
}
