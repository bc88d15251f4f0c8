//! Copying to and from another process's memory without its help, for one-sided communication.
//!
//! Invariant: nothing here waits, and a bad address is an error, never a crash.
//! Not here: messages that are moved this way (`transfer`), whose memory may be touched (`mpi-win`).

use mpi_core::Guard;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::Result;

use crate::engine::Engine;

impl Engine {
    /// Whether this process can copy to and from a process of the job, by its rank there.
    #[inline]
    pub fn can_copy(&self, guard: &Guard<'_>, world_rank: u32) -> bool {
        self.state.get(guard).endpoint.can_copy(world_rank)
    }

    /// The id of a process of the job, for [`mpi_fabric::SharedMemory::open`].
    pub fn process_id(&self, guard: &Guard<'_>, world_rank: u32) -> u32 {
        self.state.get(guard).endpoint.job().pid(world_rank)
    }

    /// Copies from an address in another process, as many bytes as `into` has. `None`, and nothing is done, when those
    /// do not lie one after the other. Errors: `MPI_ERR_OTHER` when the kernel refuses or the address is bad.
    #[inline]
    pub fn copy_from(
        &self,
        guard: &Guard<'_>,
        world_rank: u32,
        address: u64,
        into: &mut RecvBuf<'_>,
    ) -> Option<Result<()>> {
        let memory = into.contiguous_mut()?;
        Some(self.state.get(guard).endpoint.read_remote(world_rank, address, memory))
    }

    /// Copies to an address in another process; otherwise like [`Engine::copy_from`].
    #[inline]
    pub fn copy_to(&self, guard: &Guard<'_>, world_rank: u32, address: u64, data: &SendBuf<'_>) -> Option<Result<()>> {
        let memory = data.contiguous()?;
        Some(self.state.get(guard).endpoint.write_remote(world_rank, address, memory))
    }
}
