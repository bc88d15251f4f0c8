//! Start and end of the world model (MPI-4.1, 11.2), and thread levels.
//!
//! Invariant: a process is initialised at most once and finalised at most once, in this order.

use std::sync::atomic::Ordering;

use mpi_core::abi::{
    MPI_ERR_ARG, MPI_ERR_OTHER, MPI_THREAD_FUNNELED, MPI_THREAD_MULTIPLE, MPI_THREAD_SERIALIZED, MPI_THREAD_SINGLE,
};
use mpi_errors::{Error, Result};
use mpi_fabric::Life;

use crate::global;
use crate::process::Process;

/// Where a process stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Phase {
    /// Before MPI_Init.
    NotInitialised = 0,
    /// Between MPI_Init and MPI_Finalize.
    Initialised = 1,
    /// After MPI_Finalize.
    Finalised = 2,
}

/// Which threads may call (MPI-4.1, 11.6). The discriminants are the ABI's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i32)]
pub enum ThreadLevel {
    /// Only one thread exists.
    Single = MPI_THREAD_SINGLE,
    /// Only the thread that initialised.
    Funneled = MPI_THREAD_FUNNELED,
    /// Any thread, one at a time.
    Serialized = MPI_THREAD_SERIALIZED,
    /// Any threads, all at once.
    Multiple = MPI_THREAD_MULTIPLE,
}

impl ThreadLevel {
    /// The level with this value of the ABI. Errors: `MPI_ERR_ARG` for any other value.
    pub fn from_word(required: i32) -> Result<ThreadLevel> {
        Ok(match required {
            MPI_THREAD_SINGLE => ThreadLevel::Single,
            MPI_THREAD_FUNNELED => ThreadLevel::Funneled,
            MPI_THREAD_SERIALIZED => ThreadLevel::Serialized,
            MPI_THREAD_MULTIPLE => ThreadLevel::Multiple,
            other => {
                return Err(
                    Error::new(MPI_ERR_ARG, "it must be one of the four MPI_THREAD_ levels").arg("required", &other)
                );
            }
        })
    }
}

impl Process {
    /// Where the process stands. Thread-safe.
    #[inline]
    pub fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            // pairs with the Release stores below
            0 => Phase::NotInitialised,
            1 => Phase::Initialised,
            _ => Phase::Finalised,
        }
    }

    /// Initialises; the level given is the level asked for (`MPI_Init_thread`).
    ///
    /// Errors: `MPI_ERR_OTHER` when the process was initialised before.
    pub fn init(&'static self, level: ThreadLevel) -> Result<ThreadLevel> {
        self.initialise(level)?;
        global::set_running(Some(self));
        Ok(level)
    }

    /// As [`Process::init`] for a process that is not the program's one: a rank that lives as a thread.
    pub fn initialise(&self, level: ThreadLevel) -> Result<()> {
        let _one_at_a_time = self.starting.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match self.phase() {
            Phase::NotInitialised => {}
            Phase::Initialised => return Err(Error::new(MPI_ERR_OTHER, "MPI is initialised already")),
            Phase::Finalised => {
                return Err(Error::new(MPI_ERR_OTHER, "MPI was finalised; it cannot be initialised again"));
            }
        }
        self.level.store(level as i32, Ordering::Relaxed);
        *self.main_thread.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(std::thread::current().id());
        self.engine.process_lock().set_multiple(level == ThreadLevel::Multiple);
        self.set_life(Life::Initialised);
        self.registry.started();
        if self.engine.rank() == 0 {
            self.registry.unknown_environment().iter().for_each(|sentence| eprintln!("Ferrum MPI: {sentence}"));
        }
        self.phase.store(Phase::Initialised as u8, Ordering::Release);
        Ok(())
    }

    /// The thread level in force. Errors: `MPI_ERR_OTHER` before initialisation.
    pub fn thread_level(&self) -> Result<ThreadLevel> {
        if self.phase() == Phase::NotInitialised {
            return Err(Error::new(MPI_ERR_OTHER, "MPI is not initialised; call MPI_Init first"));
        }
        ThreadLevel::from_word(self.level.load(Ordering::Relaxed))
    }

    /// Whether the calling thread is the one that initialised (`MPI_Is_thread_main`).
    pub fn is_main_thread(&self) -> bool {
        *self.main_thread.lock().unwrap_or_else(std::sync::PoisonError::into_inner) == Some(std::thread::current().id())
    }

    /// Finalises: completes what the program has let go of, then ends communication. Instruments stay.
    ///
    /// Errors: `MPI_ERR_OTHER` when the process is not initialised, or finalised already.
    pub fn finalize(&self) -> Result<()> {
        match self.phase() {
            Phase::Initialised => {}
            Phase::NotInitialised => {
                return Err(Error::new(MPI_ERR_OTHER, "MPI is not initialised; there is nothing to finalise"));
            }
            Phase::Finalised => return Err(Error::new(MPI_ERR_OTHER, "MPI was finalised already")),
        }
        self.engine.drain(self.engine.lock())?;
        self.phase.store(Phase::Finalised as u8, Ordering::Release);
        self.set_life(Life::Finalised);
        if global::running().is_ok_and(|running| std::ptr::eq(running, self)) {
            global::set_running(None);
        }
        Ok(())
    }
}
