//! Updates of the objects' metrics when objects are created, named, used and freed.
//!
//! Invariant: the caller holds the process lock, except where counters may be written without it.
//! Not here: the metrics (`objects`, `on_demand`, `predefined_uses`).

use mpi_comm::Comm;
use mpi_core::abi::{MPI_COMM_SELF, MPI_COMM_WORLD};
use mpi_core::{Guard, Handle};
use mpi_errors::Result;
use mpi_p2p::CommMeters;
use mpi_t::Bind;

use crate::metrics::instruments::{DatatypeInstruments, ErrhandlerInstruments};
use crate::metrics::objects::event_key;
use crate::record::process::Process;
use crate::tables::memory::{Memory, SHARED_FROM};

impl Process {
    /// Binds variables and events to the handle of a new communicator.
    pub(crate) fn on_comm_created(&self, guard: &mut Guard<'_>, handle: Handle, rank: u32, size: u32) {
        let Some(comm) = self.comm(guard, handle).cloned() else { return };
        self.on_demand.made(guard, handle, comm.group());
        let instruments = comm.instruments();
        instruments.bind(&self.registry, handle.0).expect("declared when the process record was made");
        self.registry.bind_events(Bind::Comm, handle.0, event_key(instruments));
        self.metrics.counts.communicators.follow(self.comms.get(guard).len() as u64);
        self.metrics.events.comm_made.emit(|| (handle.0 as u64, rank, size));
    }

    /// Gives a live communicator's new name to its instruments, for reports outside the process. The instruments of the
    /// predefined communicators keep their names, so that each can be recognised.
    pub fn on_comm_named(&self, comm: &Comm) {
        let (name, number) = (comm.name(), comm.context() / 2);
        let is_predefined = [MPI_COMM_WORLD, MPI_COMM_SELF].contains(&comm.handle().0);
        if !is_predefined {
            let own = matches!(&*name, "" | "MPI_COMM_WORLD" | "MPI_COMM_SELF");
            let title = if own { format!("communicator {number}") } else { name };
            mpi_t::rename(&*self.memory, comm.instruments().block, &title);
        }
    }

    /// Removes the metrics of a communicator whose handle is stale.
    pub(crate) fn on_comm_freed(&self, guard: &mut Guard<'_>, handle: Handle, instruments: CommMeters) {
        self.on_demand.object_freed(guard, handle);
        instruments.unbind(&self.registry, handle.0);
        self.registry.unbind_events(Bind::Comm, handle.0);
        self.metrics.counts.communicators.follow(self.comms.get(guard).len() as u64);
        self.metrics.events.comm_freed.emit(|| (handle.0 as u64,));
    }

    /// Binds variables to the handle of a datatype that the program created.
    pub(crate) fn on_datatype_created(&self, guard: &mut Guard<'_>, handle: Handle, bytes: u64) {
        let block = DatatypeInstruments::place_for(&*self.memory, "a datatype");
        let (index, all) = (handle.index() as usize, self.metrics.datatypes.get_mut(guard));
        all.resize(all.len().max(index + 1), None);
        all[index] = Some(block);
        self.registry.bind(handle.0, block);
        self.metrics.counts.datatypes.follow(self.datatypes.get(guard).len() as u64);
        self.metrics.events.datatype_made.emit(|| (handle.0 as u64, bytes));
    }

    /// Removes the metrics of a datatype whose handle is stale.
    pub(crate) fn on_datatype_freed(&self, guard: &mut Guard<'_>, handle: Handle) {
        let place = self.metrics.datatypes.get_mut(guard).get_mut(handle.index() as usize);
        if let Some(block) = place.and_then(Option::take) {
            self.registry.unbind(handle.0, block);
            mpi_t::retire(&*self.memory, block);
        }
        self.metrics.counts.datatypes.follow(self.datatypes.get(guard).len() as u64);
        self.metrics.events.datatype_freed.emit(|| (handle.0 as u64,));
    }

    /// Counts a call that uses this live datatype of the program.
    pub fn on_datatype_used(&self, guard: &Guard<'_>, handle: Handle) {
        if let Some(Some(block)) = self.metrics.datatypes.get(guard).get(handle.index() as usize) {
            block.uses.incr();
        }
    }

    /// Binds variables to the handle of an error handler that the program created.
    pub fn on_errhandler_created(&self, guard: &mut Guard<'_>, handle: Handle) {
        self.update_errhandlers(guard);
        let block = ErrhandlerInstruments::place_for(&*self.memory, "an error handler");
        self.metrics.handlers.get_mut(guard).insert(handle.0, block);
        self.registry.bind(handle.0, block);
    }

    /// Updates the metrics after error handlers were created or freed: retires those of handlers without references.
    pub fn update_errhandlers(&self, guard: &mut Guard<'_>) {
        let unreferenced: Vec<usize> = {
            let all = self.errhandlers.get(guard);
            self.metrics.counts.errhandlers.follow(all.len() as u64);
            self.metrics.handlers.get(guard).keys().copied().filter(|word| !all.is_live(Handle(*word))).collect()
        };
        for word in unreferenced {
            if let Some(block) = self.metrics.handlers.get_mut(guard).remove(&word) {
                self.registry.unbind(word, block);
                mpi_t::retire(&*self.memory, block);
            }
        }
    }

    /// `MPI_Alloc_mem`: as [`Blocks::allocate`]; a long block is shared memory if it can be and
    /// `memory_share_alloc_mem` is set. Errors: `MPI_ERR_NO_MEM`.
    ///
    /// [`Blocks::allocate`]: crate::tables::memory::Blocks::allocate
    #[inline]
    pub fn allocate_block(&self, guard: &mut Guard<'_>, bytes: u64, alignment: u64) -> Result<usize> {
        if bytes >= SHARED_FROM
            && let Some(address) = self.allocate_shared_block(guard, bytes, alignment)
        {
            return Ok(address);
        }
        let blocks = self.blocks.get_mut(guard);
        let address = blocks.allocate(bytes, alignment)?;
        self.metrics.counts.alloc_mem.follow(blocks.bytes());
        self.metrics.counts.alloc_mem_calls.incr();
        Ok(address)
    }

    #[inline(never)]
    fn allocate_shared_block(&self, guard: &mut Guard<'_>, bytes: u64, alignment: u64) -> Option<usize> {
        if !self.memory_settings.share_alloc_mem.get() || self.size() == 1 {
            return None;
        }
        let owner = self.engine.process_id(guard);
        let blocks = self.blocks.get_mut(guard);
        let address = blocks.allocate_shared(bytes, alignment, owner)?;
        self.metrics.counts.alloc_mem.follow(blocks.bytes());
        self.metrics.counts.alloc_mem_shared.follow(blocks.shared_bytes());
        self.metrics.counts.alloc_mem_calls.incr();
        Some(address)
    }

    /// `MPI_Free_mem`: as [`Blocks::free`]. Errors: `MPI_ERR_BASE`.
    ///
    /// [`Blocks::free`]: crate::tables::memory::Blocks::free
    #[inline]
    pub fn free_block(&self, guard: &mut Guard<'_>, address: usize) -> Result<()> {
        let blocks = self.blocks.get_mut(guard);
        if blocks.free(address)? == Memory::Shared {
            self.metrics.counts.alloc_mem_shared.follow(blocks.shared_bytes());
        }
        self.metrics.counts.alloc_mem.follow(blocks.bytes());
        Ok(())
    }

    /// Counts an error that is passed to this error handler.
    pub fn on_errhandler_called(&self, guard: &Guard<'_>, handle: Handle) {
        if let Some(block) = self.counters_of(guard, handle) {
            self.count_call(block);
        }
    }

    /// The counters of an error handler.
    pub(crate) fn counters_of(&self, guard: &Guard<'_>, handle: Handle) -> Option<&'static ErrhandlerInstruments> {
        self.metrics.handlers.get(guard).get(&handle.0).copied()
    }

    /// Counts a call of an error handler. The caller need not hold the process lock.
    #[inline]
    pub(crate) fn count_call(&self, block: &ErrhandlerInstruments) {
        match self.engine.process_lock().is_multiple() {
            true => block.calls.incr_shared(),
            false => block.calls.incr(),
        }
    }

    /// Counts a reduction or accumulation with this operation over this number of bytes. `op` may be any word.
    #[inline]
    pub fn on_op_used(&self, guard: &Guard<'_>, op: usize, bytes: u64) {
        self.on_demand.op_used(guard, op, bytes);
    }

    /// Whether uses of any operation are counted. While none are, [`Process::on_op_used`] need not be called.
    #[inline(always)] // short ways
    pub fn counts_ops(&self, guard: &Guard<'_>) -> bool {
        self.on_demand.counts_ops(guard)
    }

    /// Counts a call that uses this predefined datatype, while this process record or another has a handle allocated
    /// for one.
    #[cold]
    pub fn on_predefined_used(&self, guard: &Guard<'_>, word: usize) {
        self.metrics.predefined.get(guard).used(word);
    }
}
