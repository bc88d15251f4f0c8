//! Copying to and from another process's memory without action by that process, for one-sided communication.
//!
//! Invariant: nothing here waits, and a bad key is an error, never a crash.
//! Not here: messages that are moved this way (`transfer`), which memory a program may access (`mpi-win`).
#![allow(unsafe_code)] // forwards its caller's guarantee about memory

use std::sync::Arc;

use mpi_core::Guard;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;
use mpi_fabric::{Access, Channel, EpochCounts, Job, Place, RankLocks, RegionKey, Registration, SharedMemory, Way};

use crate::engine::Engine;
use crate::run_table::pieces;

impl Engine {
    /// Whether this process can copy to and from a process of the job, by its rank there.
    #[inline]
    pub fn can_copy(&self, guard: &Guard<'_>, world_rank: u32) -> bool {
        self.state.get(guard).endpoint.can_copy(world_rank)
    }

    /// Permits processes of the job to read and write the memory by the key, until the registration is dropped.
    ///
    /// # Safety
    /// Until then `bytes` bytes from the exposed address `start` are readable and writable, and all other code that
    /// uses them expects them to change.
    pub unsafe fn register(
        &self,
        guard: &Guard<'_>,
        world_ranks: &[u32],
        start: usize,
        bytes: usize,
    ) -> (RegionKey, Registration) {
        let start = std::ptr::with_exposed_provenance_mut(start);
        // SAFETY: the caller's promise.
        unsafe { self.state.get(guard).endpoint.register(world_ranks, start, bytes, Access::ReadWrite) }
    }

    /// Maps the memory that a process of the job holds under a descriptor. Errors: `MPI_ERR_OTHER` when that process is
    /// on another host or holds no such memory.
    pub fn open_shared(
        &self,
        guard: &Guard<'_>,
        world_rank: u32,
        descriptor: i32,
        bytes: u64,
        name: u64,
    ) -> Result<SharedMemory> {
        self.state.get(guard).endpoint.open_shared(world_rank, descriptor, bytes, name)
    }

    /// As [`mpi_fabric::Endpoint::job_and_place`].
    pub fn job_and_place(&self, guard: &Guard<'_>) -> (Arc<Job>, u32) {
        self.state.get(guard).endpoint.job_and_place()
    }

    /// Whether a process of the job still runs. One that has not started yet counts as running.
    pub fn is_alive(&self, guard: &Guard<'_>, world_rank: u32) -> bool {
        self.state.get(guard).endpoint.alive(world_rank)
    }

    /// Whether all these processes of the job share the job memory with this one.
    pub fn share_memory(&self, guard: &Guard<'_>, world_ranks: &[u32]) -> bool {
        let endpoint = &self.state.get(guard).endpoint;
        world_ranks.iter().all(|rank| endpoint.shares_memory(*rank))
    }

    /// Whether no network is between these processes and this one.
    pub fn on_one_host(&self, guard: &Guard<'_>, processes: &[u32]) -> bool {
        let endpoint = &self.state.get(guard).endpoint;
        processes.iter().all(|process| endpoint.way(*process) != Way::Network)
    }

    /// Whether a network is between these processes, in a job whose hosts may have several processes: the same in all of them. False
    /// with processes of other jobs.
    pub fn has_hosts(&self, guard: &Guard<'_>, processes: &[u32]) -> bool {
        let is_of_job = |process: &u32| *process < self.size();
        let has_hosts = self.state.get(guard).endpoint.has_hosts();
        has_hosts && processes.iter().all(is_of_job) && !self.on_one_host(guard, processes)
    }

    /// As [`mpi_fabric::Endpoint::depart`].
    pub fn depart(&self, guard: &mut Guard<'_>) {
        self.state.get_mut(guard).endpoint.depart();
    }

    /// Whether a network is between this process and any other of the job.
    pub fn has_network(&self, guard: &Guard<'_>) -> bool {
        self.state.get(guard).endpoint.has_network()
    }

    /// Whether a network is between this process and any other one.
    pub fn uses_network(&self, guard: &Guard<'_>) -> bool {
        self.state.get(guard).endpoint.uses_network()
    }

    /// The lowest rank of the job that shares memory with this process.
    pub fn first_of_host(&self, guard: &Guard<'_>) -> u32 {
        self.state.get(guard).endpoint.first_of_host()
    }

    /// As [`mpi_fabric::Endpoint::shares_memory`].
    pub fn shares_memory(&self, guard: &Guard<'_>, peer: u32) -> bool {
        self.state.get(guard).endpoint.shares_memory(peer)
    }

    /// Takes a part of this process's room for collectives; as [`mpi_fabric::Endpoint::take_room`].
    pub fn take_room(&self, guard: &Guard<'_>, lengths: &[usize]) -> Option<Place> {
        self.state.get(guard).endpoint.take_room(lengths)
    }

    /// As [`Engine::take_room`], of what is not kept for communicators.
    pub fn take_spare_room(&self, guard: &Guard<'_>, lengths: &[usize]) -> Option<Place> {
        self.state.get(guard).endpoint.take_spare_room(lengths)
    }

    /// Gives back a part that no channel was opened with.
    pub fn give_room_back(&self, guard: &Guard<'_>, place: Place) {
        self.state.get(guard).endpoint.give_room_back(place);
    }

    /// Opens the channel of these processes; as [`mpi_fabric::Endpoint::open_channel`].
    pub fn open_channel(
        &self,
        guard: &Guard<'_>,
        world_ranks: &[u32],
        rank: u32,
        places: &[Option<Place>],
    ) -> Option<Channel> {
        self.state.get(guard).endpoint.open_channel(world_ranks, rank, places)
    }

    /// The counts of epochs of these processes; as [`mpi_fabric::Endpoint::epoch_counts`].
    pub fn epoch_counts(
        &self,
        guard: &Guard<'_>,
        locks: &RankLocks,
        world_ranks: &Arc<[u32]>,
        rank: u32,
    ) -> Option<EpochCounts> {
        self.state.get(guard).endpoint.epoch_counts(locks, world_ranks, rank)
    }

    /// Copies from a region of another process, as many bytes as `into` has. `None`, and nothing is done, when those
    /// do not lie one after the other. A long copy is made without the process lock. Errors: `MPI_ERR_OTHER` when the
    /// copy is refused or the key is bad.
    #[inline]
    pub fn copy_from(
        &self,
        guard: &mut Guard<'_>,
        world_rank: u32,
        (region, offset): (RegionKey, u64),
        into: &mut RecvBuf<'_>,
    ) -> Option<Result<()>> {
        let memory = into.contiguous_mut()?;
        let copier = self.state.get(guard).endpoint.copier(world_rank);
        let bytes = memory.len() as u64;
        Some(copier.and_then(|copier| self.copy_by(guard, &copier, bytes, || copier.read(region, offset, memory))))
    }

    /// Copies to a region of another process; otherwise like [`Engine::copy_from`].
    #[inline]
    pub fn copy_to(
        &self,
        guard: &mut Guard<'_>,
        world_rank: u32,
        (region, offset): (RegionKey, u64),
        data: &SendBuf<'_>,
    ) -> Option<Result<()>> {
        let memory = data.contiguous()?;
        let copier = self.state.get(guard).endpoint.copier(world_rank);
        let bytes = memory.len() as u64;
        Some(copier.and_then(|copier| self.copy_by(guard, &copier, bytes, || copier.write(region, offset, memory))))
    }

    /// As [`Engine::copy_from`], from several runs of the region, which `runs` returns as offset and bytes, in the
    /// order of the data; the memory may have gaps. Copies as many bytes as `into` has, which the runs have at least.
    pub fn copy_from_runs(
        &self,
        guard: &mut Guard<'_>,
        world_rank: u32,
        region: RegionKey,
        runs: impl FnOnce() -> Vec<(u64, u64)>,
        into: &mut RecvBuf<'_>,
    ) -> Result<()> {
        let copier = self.state.get(guard).endpoint.copier(world_rank)?;
        self.copy_by(guard, &copier, into.bytes(), || {
            let pieces = pieces(&runs(), into);
            // SAFETY: the buffer's own memory, exclusively borrowed here.
            unsafe { copier.read_pieces(region, &pieces) }
        })
    }

    /// Copies to several runs of a region; otherwise like [`Engine::copy_from_runs`].
    pub fn copy_to_runs(
        &self,
        guard: &mut Guard<'_>,
        world_rank: u32,
        region: RegionKey,
        runs: impl FnOnce() -> Vec<(u64, u64)>,
        data: &SendBuf<'_>,
    ) -> Result<()> {
        let copier = self.state.get(guard).endpoint.copier(world_rank)?;
        self.copy_by(guard, &copier, data.bytes(), || {
            let pieces = pieces(&runs(), data);
            // SAFETY: the buffer's own memory, which no code writes while the buffer is borrowed.
            unsafe { copier.write_pieces(region, &pieces) }
        })
    }
}
