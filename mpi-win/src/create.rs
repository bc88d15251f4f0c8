//! Creating and freeing windows (MPI-5.0, 12.2).
//!
//! Invariant: the arguments of a process are checked before it waits for the others.
//! Not here: getting the memory (`obtain`).
#![allow(unsafe_code)] // passes on the program's promise about its memory

use std::sync::Arc;

use mpi_comm::{Comm, CommSpec, ContextIds, agree_on_context, register, unregister};
use mpi_core::abi::*;
use mpi_core::{Guarded, Handle};
use mpi_errors::{Error, Result};
use mpi_fabric::remote::is_readable;
use mpi_t::InstrumentMemory;

use crate::OneSided;
use crate::epoch::Epoch;
use crate::exposure::{Exposure, Flavor};
use crate::hints::Hints;
use crate::instruments::WinInstruments;
use crate::obtain::Obtained;
use crate::serve::WinService;
use crate::window::{Win, WinAttributes};

impl OneSided {
    /// `MPI_Win_create`, `MPI_Win_allocate`, `MPI_Win_allocate_shared` and `MPI_Win_create_dynamic`. Collective over
    /// `parent`; waits, with no guard held. `memory` holds the window's instruments; without `room` for the
    /// window in this process, no process gets one.
    ///
    /// Errors: `MPI_ERR_SIZE`, `MPI_ERR_DISP` and `MPI_ERR_BASE` at once; `MPI_ERR_NO_MEM` in every process when one of
    /// them cannot get its memory, `MPI_ERR_RMA_SHARED` when one cannot share it; `MPI_ERR_OTHER` when there are no
    /// context ids left.
    ///
    /// # Safety
    /// The program's memory is readable, and writable if any process writes there, until the window is freed.
    pub unsafe fn create(
        &self,
        parent: &Comm,
        ids: &Guarded<ContextIds>,
        what: Exposure,
        room: bool,
        memory: &dyn InstrumentMemory,
    ) -> Result<Win> {
        let (size, unit) = self.check(&what)?;
        // Without a thread that is to be there no process gets a window.
        let thread = self.choose_progress();
        let context = agree_on_context(&self.engine, parent, ids)?;
        let spec = CommSpec { errhandler: Handle(MPI_ERRORS_ARE_FATAL), ..CommSpec::duplicate(parent, context) };
        let internal_meters = self.internal_meters.of(parent.size().max(self.engine.size()));
        let comm = register(&self.engine, &mut self.engine.lock(), spec, internal_meters);
        // SAFETY: the caller passes the program's promise on.
        let Obtained { exposed, own, peers, registration } =
            match unsafe { self.obtain(&comm, &what, size, unit, room && thread.is_ok()) } {
                Ok(obtained) => obtained,
                Err(error) => {
                    unregister(&self.engine, &mut self.engine.lock(), &comm);
                    return Err(thread.err().unwrap_or(error));
                }
            };
        let locks = match self.obtain_locks(&comm) {
            Ok(locks) => locks,
            Err(error) => {
                unregister(&self.engine, &mut self.engine.lock(), &comm);
                return Err(error);
            }
        };
        let attributes = WinAttributes {
            base: own.base(),
            size: size as isize,
            disp_unit: i32::try_from(unit).unwrap_or(MPI_UNDEFINED),
            flavor: match what.flavor {
                Flavor::Create { .. } => MPI_WIN_FLAVOR_CREATE,
                Flavor::Allocate { .. } => MPI_WIN_FLAVOR_ALLOCATE,
                Flavor::Dynamic => MPI_WIN_FLAVOR_DYNAMIC,
                Flavor::Shared => MPI_WIN_FLAVOR_SHARED,
            },
            // All processes see one memory.
            model: MPI_WIN_UNIFIED,
        };
        let mut hints = Hints::default();
        hints.set(&what.hints);
        let epoch = Guarded::new(self.engine.process_lock(), Epoch::new(comm.size(), !peers.is_empty()));
        let instruments = WinInstruments::place_for(memory, &format!("window {}", context / 2));
        let members = comm.group().world_ranks();
        let counts =
            locks.as_ref().and_then(|locks| self.engine.epoch_counts(&self.engine.lock(), locks, members, comm.rank));
        let own = Arc::new(own);
        let (lock, members) = (self.engine.process_lock(), members.clone());
        let service = Arc::new(WinService::new(lock, context, (comm.rank, members), own.clone()));
        self.engine.add_service(&mut self.engine.lock(), context, service.clone());
        let (memory, epochs) = ((registration, own, peers), (epoch, locks, counts));
        let mut win = Win::new(comm, memory, service, epochs, exposed, attributes, hints, instruments);
        self.begin_progress(&mut win);
        Ok(win)
    }

    /// `MPI_Win_free`: returns when all processes have called it. The window's handle must be freed already; the caller
    /// retires its instruments. Collective; waits, with no guard held.
    pub fn end(&self, win: &Win) -> Result<()> {
        let met = self.coll.synchronize(&win.comm);
        self.end_progress(win);
        let mut guard = self.engine.lock();
        self.engine.remove_service(&mut guard, win.context());
        let requests = win.service.requests(&guard);
        unregister(&self.engine, &mut guard, &win.comm);
        win.service.await_threads(&self.engine, guard);
        // No operation is left unless another process broke the protocol; then no process may copy into the memory
        // after this.
        self.engine.revoke(&requests);
        if met.is_ok() {
            win.owned().end();
        }
        met
    }

    fn check(&self, what: &Exposure) -> Result<(u64, u64)> {
        let Ok(size) = u64::try_from(what.size) else {
            return Err(Error::new(MPI_ERR_SIZE, "a window's size in bytes is not negative").arg("size", &what.size));
        };
        if what.disp_unit <= 0 {
            let rule = "a displacement unit is a positive number of bytes";
            return Err(Error::new(MPI_ERR_DISP, rule).arg("disp_unit", &what.disp_unit));
        }
        if let Flavor::Create { base } = what.flavor
            && size > 0
            && !is_memory(base, size)
        {
            let rule = "that is not the address of as many bytes of memory";
            let base = format_args!("{base:#x}").to_string();
            return Err(Error::new(MPI_ERR_BASE, rule).arg("base", &base).arg("size", &size));
        }
        Ok((size, what.disp_unit as u64))
    }
}

/// Whether this process has so many bytes of memory at an address, as far as that can be found out; there are some.
pub(crate) fn is_memory(base: usize, bytes: u64) -> bool {
    let end = base.checked_add(bytes as usize).filter(|_| base >= FIRST_ADDRESS);
    end.is_some_and(|end| is_readable(base as u64) && is_readable(end as u64 - 1))
}

/// No process has memory below this: small numbers are constants of the ABI, not addresses.
const FIRST_ADDRESS: usize = 4096;
