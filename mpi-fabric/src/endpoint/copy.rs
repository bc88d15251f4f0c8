//! Registering memory for peers, and whether and how theirs can be reached.
//!
//! Invariant: a copy goes to the process that was probed, or within this one to registered memory.
//! Not here: the copying (`copier`).

use super::Endpoint;
use super::copier::Copier;
use crate::peer_process::{Copies, ProbedProcess};
use std::sync::Arc;

use crate::fault;
use crate::job::Job;
use crate::region::{Access, RegionKey, Registration};
use crate::shared::SharedMemory;
use crate::shared_objects;
use crate::transport::{ProcessId, Way};

use mpi_errors::{Error, Result};

impl Endpoint {
    /// How records and copies reach a peer. Panics if there is no process with this number.
    #[inline]
    pub fn way(&self, peer: u32) -> Way {
        match self.outputs.get(peer as usize) {
            Some(output) if output.local.is_some() => Way::SharedMemory,
            _ if peer >= self.size => {
                assert!(self.bridges.is_some(), "rank {peer} of {}", self.size);
                if self.is_remote(peer) { Way::Network } else { Way::Bridge }
            }
            _ => Way::Network,
        }
    }

    /// Identifies the process that is a rank of this job.
    pub fn process(&self, rank: u32) -> ProcessId {
        ProcessId { job: self.job_number, rank }
    }

    /// Whether a peer can map this process's memory and share transfer slots with it.
    #[inline]
    pub fn shares_memory(&self, peer: u32) -> bool {
        self.way(peer) == Way::SharedMemory
    }

    /// Whether a network is between hosts of the job, and the ranks of each share memory.
    pub fn has_hosts(&self) -> bool {
        self.over_hosts && !self.outputs.is_empty()
    }

    /// Whether the others' `membarrier` reaches this process.
    pub(crate) fn is_fenced(&self) -> bool {
        self.fenced
    }

    /// This process ends as it should, which its peers on other hosts are to know.
    pub fn depart(&mut self) {
        if let Some(network) = &mut self.network {
            network.depart();
        }
    }

    /// Whether a transport connects this rank with others of its job.
    pub fn has_network(&self) -> bool {
        self.over_hosts
    }

    /// Whether a transport connects this rank with any other process.
    pub fn uses_network(&self) -> bool {
        self.network.is_some()
    }

    /// The lowest rank of the job that shares memory with this one: the same number in all processes of a host, and in no other.
    pub fn first_of_host(&self) -> u32 {
        (0..self.size).find(|rank| self.shares_memory(*rank)).unwrap_or(self.rank)
    }

    /// Whether to use [`Self::read`] and [`Self::write`] with a peer: they work, and `fabric_single_copy` allows them.
    /// False until the peer has attached.
    pub fn can_copy(&self, peer: u32) -> bool {
        match &self.network {
            Some(network) if self.way(peer) == Way::Network => network.can_copy(peer),
            _ if peer >= self.size => self.settings.single_copy.get() && self.over_bridge(peer).is_some(),
            _ => {
                let copies = self.copies(peer);
                self.settings.single_copy.get() && matches!(copies, Copies::Within | Copies::Process(_))
            }
        }
    }

    /// Whether the kernel copies between this process and a peer, so that [`Copier::read_pieces`] and
    /// [`Copier::write_pieces`] take few system calls and reach any memory of the peer: it is another process of this
    /// host, and `fabric_single_copy` allows copies.
    pub fn can_copy_runs(&self, peer: u32) -> bool {
        self.shares_memory(peer) && self.settings.single_copy.get() && matches!(self.copies(peer), Copies::Process(_))
    }

    /// Permits `peers` to read and write memory by the key until the registration is dropped.
    ///
    /// # Safety
    /// Until then `start..start + bytes` is readable; with [`Access::ReadWrite`] it is writable, and all other code
    /// that uses it meanwhile expects it to change.
    pub unsafe fn register(
        &self,
        peers: &[u32],
        start: *mut u8,
        bytes: usize,
        access: Access,
    ) -> (RegionKey, Registration) {
        let address = start.expose_provenance() as u64;
        let by_network = match &self.network {
            Some(network) if peers.iter().any(|peer| self.way(*peer) == Way::Network) => {
                // SAFETY: the caller's promise.
                Some(unsafe { network.register(start, bytes, access) })
            }
            _ => None,
        };
        let within = peers.iter().any(|peer| match self.outputs.get(*peer as usize) {
            Some(output) => output.local.is_some_and(|local| !output.is_other_process(self.job.block(local), self.pid)),
            None => false,
        });
        // SAFETY: the caller's promise.
        let within = within.then(|| unsafe { self.job.regions().add(start, bytes, access) });
        match (by_network, within) {
            (None, None) => (RegionKey::new(address, 0), Registration::NONE),
            (None, Some(within)) => (RegionKey::new(address, 0), Registration::new(within)),
            (Some((number, network)), None) => (RegionKey::new(address, number), network),
            (Some((number, network)), Some(within)) => {
                (RegionKey::new(address, number), Registration::new((network, within)))
            }
        }
    }

    /// A way to copy to and from a peer's regions without the endpoint. It stays usable when the endpoint is dropped.
    /// # Errors
    /// `MPI_ERR_OTHER`, naming the peer: this process cannot reach its memory, or the peer has not attached.
    pub fn copier(&self, peer: u32) -> Result<Copier> {
        match &self.network {
            Some(network) if self.way(peer) == Way::Network => return Ok(Copier::by_network(peer, network.copies())),
            _ => {}
        }
        if peer >= self.size {
            return self
                .over_bridge(peer)
                .map(|process| Copier::by_kernel(peer, process.clone()))
                .ok_or_else(|| not_reachable(peer));
        }
        match self.copies(peer) {
            Copies::Within => Ok(Copier::within(peer, self.job.regions().clone())),
            Copies::Process(process) => Ok(Copier::by_kernel(peer, process.clone())),
            Copies::Unknown | Copies::Refused => Err(not_reachable(peer)),
        }
    }

    /// The place of memory in an object that other processes may have mapped, as a key for [`Self::copier_of_shared`] in
    /// the peer, from offset 0 on. `None`: it lies in none, or the peer is not another process of this host.
    pub fn shared_place(&self, peer: u32, memory: &[u8]) -> Option<RegionKey> {
        let output = self.outputs.get(peer as usize)?;
        let (object, offset) = shared_objects::place_of(memory)?;
        output.is_other_process(self.job.block(output.local?), self.pid).then(|| RegionKey::new(offset, object))
    }

    /// A way to copy `bytes` bytes from an object that a peer has named by [`Self::shared_place`]; `None` if this process
    /// has not mapped the object, and cannot map it as a segment of the peer's arena, or the bytes are not in it.
    pub fn copier_of_shared(&self, peer: u32, key: RegionKey, bytes: u64) -> Option<Copier> {
        let mapping = match shared_objects::is_segment(key.number()) {
            true => {
                let output = self.outputs.get(peer as usize)?;
                let pid = || output.process.pid(self.job.block(output.local?));
                let range = (key.address(), bytes);
                self.arenas.mapping_of((peer, self.process(peer)), pid, key.number(), range)
            }
            false => shared_objects::mapping_of(key.number(), key.address(), bytes),
        };
        mapping.map(|mapping| Copier::of_shared(peer, mapping))
    }

    /// Copies from a peer's region; as [`Copier::read`]. Errors: also those of [`Self::copier`].
    pub fn read(&self, peer: u32, key: RegionKey, offset: u64, into: &mut [u8]) -> Result<()> {
        self.copier(peer)?.read(key, offset, into)
    }

    /// Copies to a peer's region; as [`Copier::write`]. Errors: also those of [`Self::copier`].
    pub fn write(&self, peer: u32, key: RegionKey, offset: u64, data: &[u8]) -> Result<()> {
        self.copier(peer)?.write(key, offset, data)
    }

    /// Maps the memory that a peer on this host made and holds under a descriptor.
    /// # Errors
    /// `MPI_ERR_OTHER`: the peer is on another host, has not attached, or does not hold that memory.
    pub fn open_shared(&self, peer: u32, descriptor: i32, bytes: u64, name: u64) -> Result<SharedMemory> {
        let pid = match self.outputs.get(peer as usize) {
            Some(output) => output.local.and_then(|local| output.process.pid(self.job.block(local))),
            None => self.bridges.as_ref().and_then(|bridges| bridges.pid(peer)),
        };
        let pid = pid.ok_or_else(|| not_reachable(peer))?;
        SharedMemory::open(pid, descriptor, bytes, name)
            .map_err(|error| fault::system(&format!("cannot map the memory that rank {peer} shares"), &error))
    }

    /// The job memory, and the place of this rank in it: for parts of its object ([`Job::extend_object`]).
    pub fn job_and_place(&self) -> (Arc<Job>, u32) {
        (self.job.clone(), self.local)
    }

    /// Whether a peer still runs. A peer that has not attached yet counts as alive.
    pub fn alive(&self, peer: u32) -> bool {
        match (&self.network, self.outputs.get(peer as usize)) {
            (Some(network), _) if self.way(peer) == Way::Network => network.alive(peer),
            (_, Some(output)) => output.local.is_none_or(|local| output.process.alive(self.job.block(local))),
            (_, None) => self.bridges.as_ref().is_some_and(|bridges| bridges.alive(peer)),
        }
    }

    /// The process behind a bridge, if the kernel copies to and from it.
    fn over_bridge(&self, peer: u32) -> Option<&Arc<ProbedProcess>> {
        self.bridges.as_ref()?.probed(peer)
    }

    #[inline]
    fn copies(&self, peer: u32) -> &Copies {
        let output = &self.outputs[peer as usize];
        let Some(local) = output.local else { return &Copies::Unknown };
        output.process.copies(self.job.block(local), || self.job.regions().has_member(peer))
    }
}

#[cold]
fn not_reachable(peer: u32) -> Error {
    fault::foreign(format!("the memory of rank {peer} cannot be reached from this process"))
}
