//! Initialisation, thread levels, finalisation (MPI-5.0, 11.2 to 11.4).
//!
//! The library is running while it has a user. The world model is a user between initialisation and finalisation, and
//! each session is one.
//! Invariant: the world model passes through its states in order, and through each state once.
//! Not here: sessions (`sessions`).

use std::sync::atomic::Ordering;
use std::thread;

use mpi_core::Guard;
use mpi_core::abi::{
    MPI_ERR_ARG, MPI_ERR_OTHER, MPI_ERR_PROC_ABORTED, MPI_THREAD_FUNNELED, MPI_THREAD_MULTIPLE, MPI_THREAD_SERIALIZED,
    MPI_THREAD_SINGLE,
};
use mpi_errors::{Error, Result};
use mpi_fabric::FabricInstruments;
use mpi_fabric::statistics::FinalizeShare;
use mpi_net::NetInstruments;
use mpi_p2p::EngineInstruments;

use crate::process::running;
use crate::record::process::{Life, Process};

impl Process {
    fn advance(&self, from: Life, to: Life) -> bool {
        self.life.compare_exchange(from as u32, to as u32, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// `MPI_Init_thread`: initialises MPI at the required thread level, which is the level provided, and returns it.
    /// The calling thread becomes the main thread. Errors: `MPI_ERR_ARG` for an invalid level; `MPI_ERR_OTHER` if MPI
    /// was initialised before.
    pub fn init(&self, required: i32) -> Result<i32> {
        let levels = [MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED, MPI_THREAD_MULTIPLE];
        if !levels.contains(&required) {
            let rule = "a thread level is one of MPI_THREAD_SINGLE, _FUNNELED, _SERIALIZED and _MULTIPLE";
            return Err(Error::new(MPI_ERR_ARG, rule).arg("required", &required));
        }
        if !self.advance(Life::New, Life::Initialising) {
            let (rule, advice) = match self.life() {
                Life::Finalising | Life::Finalised => (
                    "MPI was finalized, and cannot be initialized again in this process",
                    "Use MPI_Session_init and MPI_Session_finalize, which a process may call again and again.",
                ),
                _ => (
                    "MPI is initialized already, and can be initialized only once in a process",
                    "Call MPI_Initialized first, and MPI_Init only if the flag is 0.",
                ),
            };
            return Err(Error::new(MPI_ERR_OTHER, rule).hint(advice));
        }
        if self.rank() == 0 {
            self.registry.unknown_environment().iter().for_each(|sentence| self.warn(sentence));
        }
        // Some calls may come from any thread at every level that allows several (MPI-5.0, 11.6): sessions, error
        // classes, infos. Only `MPI_THREAD_SINGLE` needs no lock between threads.
        self.enter(&mut self.engine.lock(), required != MPI_THREAD_SINGLE);
        self.thread_level.store(required, Ordering::Relaxed);
        let _ = self.main_thread.set(thread::current().id());
        self.registry.started();
        self.advance(Life::Initialising, Life::Initialised);
        self.meet_parent()?;
        Ok(required)
    }

    /// Reports a normal end of this process to its launcher and to its peers on the network, unless the process is between
    /// initialisation and finalisation. `exits`: no session begins later.
    ///
    /// After the last session of a process that has not called `MPI_Init` another one may begin, and exchange messages with any process:
    /// the network and the addresses last until the process exits. After `MPI_Finalize` a session has the addresses that were read before.
    pub(crate) fn part_from_launcher(&self, exits: bool) {
        let Some(mut guard) = self.engine.process_lock().try_lock() else { return };
        if self.manager.is_none() && !self.engine.uses_network(&guard) {
            return;
        }
        if matches!(self.life(), Life::New | Life::Finalised) && *self.users.get(&guard) == 0 {
            let stays = self.life() == Life::New && !exits && self.directory.is_some();
            if !stays {
                self.engine.depart(&mut guard);
            }
            drop(guard);
            if let Some(directory) = &self.directory {
                directory.finalize();
            }
            if let Some(manager) = self.manager.as_ref().filter(|_| !stays) {
                // A launcher that has closed the connection detects the end of the process.
                let _ = manager.finalize();
            }
        }
    }

    /// Closes the connection to a foreign launcher of a process that exits between initialisation and finalisation.
    pub(crate) fn leave_launcher(&self) {
        if let Some(manager) = &self.manager {
            manager.leave();
        }
    }

    /// The thread level provided (`MPI_Query_thread`).
    pub fn thread_level(&self) -> i32 {
        self.thread_level.load(Ordering::Relaxed)
    }

    /// Whether the calling thread is the one that initialised MPI (`MPI_Is_thread_main`).
    pub fn is_main_thread(&self) -> bool {
        self.main_thread.get() == Some(&thread::current().id())
    }

    /// Registers a user of the library: the world model or a session. `apart`: the user's threads may call
    /// concurrently.
    ///
    /// Without users the lock is in the mode of `MPI_THREAD_MULTIPLE`, because any thread may begin a session. It is in
    /// the mode of one calling thread while no user needs more.
    pub(crate) fn enter(&self, guard: &mut Guard<'_>, apart: bool) {
        let users = self.users.get_mut(guard);
        *users += 1;
        let first = *users == 1;
        if first || apart {
            self.engine.process_lock().set_multiple(apart);
        }
        if first {
            self.job.set_life(self.rank(), mpi_fabric::Life::Initialised);
            running::announce(self);
        }
    }

    /// Removes a user of the library. The last user waits until all messages that this process sent have left it, so
    /// that the process can end.
    pub(crate) fn depart(&self) -> Result<()> {
        let engine = &self.engine;
        let mut ended = Ok(());
        let mut guard = engine.lock();
        if *self.users.get(&guard) == 1 && engine.has_progress_thread(&guard) {
            drop(guard);
            engine.stop_progress_thread();
            guard = engine.lock();
        }
        if *self.users.get(&guard) == 1 {
            ended = engine.drain(guard);
            guard = engine.lock();
        }
        // Its ports end with it, and the file of a name would stay. A session that has begun meanwhile keeps its names.
        let names = (*self.users.get(&guard) == 1).then(|| self.published.take());
        let users = self.users.get_mut(&mut guard);
        *users -= 1;
        if *users == 0 {
            running::renounce(self);
            self.job.set_life(self.rank(), mpi_fabric::Life::Finalised);
            engine.process_lock().set_multiple(true);
        }
        drop(guard);
        if let Some(names) = names {
            names.unpublish_all().unwrap_or_else(|error| self.warn(&error.to_string()));
        }
        ended
    }

    /// `MPI_Finalize`: buffered sends complete, all processes synchronise, and afterwards only the tool interface can
    /// be used. Collective; waits. Errors: `MPI_ERR_OTHER` if MPI is not initialised, or is finalised.
    pub fn finalize(&self) -> Result<()> {
        if !self.advance(Life::Initialised, Life::Finalising) {
            let state = if self.life() < Life::Initialised { "not initialized" } else { "finalized already" };
            return Err(Error::new(MPI_ERR_OTHER, format!("MPI is {state}")));
        }
        self.close_left_files();
        // A process that calls this has received all messages of the world model that were sent to it, so the
        // synchronisation overtakes none of them. Pending operations of sessions are not waited for.
        let share = (self.statistics.at_end.get() != 0).then(|| FinalizeShare::begin(&self.memory));
        // Processes that were aborted are not waited for.
        let synchronize = || self.coll.synchronize_to_end(&self.world);
        // This library's launcher reports the dead, and writes the statistics when all processes have ended.
        let writes = share.is_some() && !(self.is_launched() && self.manager.is_none());
        let met = if writes { self.reporting_the_dead(synchronize) } else { synchronize() };
        let met = met.or_else(|error| if error.class() == MPI_ERR_PROC_ABORTED { Ok(()) } else { Err(error) });
        let left = self.depart();
        if let Some(share) = share {
            share.record::<FabricInstruments>(&self.memory);
            share.record::<EngineInstruments>(&self.memory);
            share.record::<NetInstruments>(&self.memory);
            share.end(&self.memory);
            if writes {
                self.write_statistics();
            }
        }
        self.engine.leave_jobs(&self.engine.lock());
        self.advance(Life::Finalising, Life::Finalised);
        self.spawner.finalize();
        self.part_from_launcher(false);
        met.and(left)
    }
}
