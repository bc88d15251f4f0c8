//! The two shared windows of a file, through which collective accesses go.
//!
//! Invariant: the processes fill and empty a window in turns that an exchange of messages separates; between two of
//! those each process stores at the places of its own data only, or one process alone uses the whole window.
//! Not here: the turns (`two_phase`), the memory (`shared_memory`).
#![allow(unsafe_code)] // makes slices and buffers of the shared memory

use std::io;
use std::slice;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mpi_comm::Comm;
use mpi_errors::Result;
use mpi_p2p::Engine;

use crate::fault::Fault;
use crate::report::{Report, by_first, exchange, first_fault};
use crate::shared_memory::SharedMemory;
use crate::window::Window;

/// The windows, if there are any yet.
#[derive(Debug, Default)]
pub(crate) enum Stage {
    /// No access has needed them yet.
    #[default]
    Absent,
    /// All processes have mapped them.
    Ready(Windows),
    /// Of processes that share no memory: their bytes each, and the memory of those that move whole windows.
    Messages(u64, Vec<u8>),
    /// The processes cannot share memory.
    Unavailable,
}

/// Two windows of the same length.
#[derive(Debug)]
pub(crate) struct Windows {
    memory: SharedMemory,
}

impl Windows {
    /// Bytes of each.
    pub fn each(&self) -> u64 {
        self.memory.bytes() as u64 / 2
    }

    /// The first `bytes` bytes of a window, for the range of the file that begins at `from`. For a window that this
    /// process may store its data in, or read.
    pub fn window(&mut self, number: u64, bytes: u64, from: u64) -> Window<'_> {
        let (start, bytes) = self.part(number, bytes);
        // SAFETY: the part is mapped, and borrowed with `self`.
        unsafe { Window::at(start, bytes, from) }
    }

    /// The first `bytes` bytes of a window that this process alone uses now.
    pub fn alone(&mut self, number: u64, bytes: u64) -> &mut [u8] {
        let (start, bytes) = self.part(number, bytes);
        // SAFETY: as above; other processes use the window before and after, but not meanwhile.
        unsafe { slice::from_raw_parts_mut(start, bytes) }
    }

    fn part(&self, number: u64, bytes: u64) -> (*mut u8, usize) {
        assert!(bytes <= self.each(), "a window has {} bytes", self.each());
        let start = (number % 2 * self.each()) as usize;
        (self.memory.address().as_ptr().wrapping_add(start), bytes as usize)
    }
}

/// The stage, locked for one access.
pub(crate) struct Staged<'a>(MutexGuard<'a, Stage>);

/// The ways of data to windows.
pub(crate) enum Ways<'a> {
    /// Windows in shared memory.
    Shared(&'a mut Windows),
    /// Messages: the bytes of a window, and memory for one.
    Messages(u64, &'a mut Vec<u8>),
}

impl Staged<'_> {
    /// The windows.
    pub fn windows(&mut self) -> Ways<'_> {
        match &mut *self.0 {
            Stage::Ready(windows) => Ways::Shared(windows),
            Stage::Messages(each, memory) => Ways::Messages(*each, memory),
            _ => unreachable!("`Stage::obtain` returns windows that are ready"),
        }
    }
}

impl Stage {
    /// As [`Stage::obtain`], for processes of several hosts; waits for no other process.
    pub fn by_messages(stage: &Mutex<Stage>, each: u64) -> Staged<'_> {
        let mut stage = stage.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *stage {
            Stage::Messages(bytes, memory) => {
                if *bytes != each {
                    *memory = Vec::new();
                }
                *bytes = each;
            }
            other => *other = Stage::Messages(each, Vec::new()),
        }
        Staged(stage)
    }

    /// The windows, of so many bytes each; made when there are none of that length. `None`, in all processes, when
    /// they cannot share memory. Collective.
    pub fn obtain<'a>(stage: &'a Mutex<Stage>, each: u64, engine: &Engine, comm: &Comm) -> Result<Option<Staged<'a>>> {
        // A panic in another thread leaves whole windows; what they hold is overwritten.
        let mut stage = stage.lock().unwrap_or_else(PoisonError::into_inner);
        match &*stage {
            Stage::Unavailable => return Ok(None),
            Stage::Ready(windows) if windows.each() == each => return Ok(Some(Staged(stage))),
            _ => *stage = Stage::Absent,
        }
        let mut own: Option<io::Result<SharedMemory>> = None;
        let bytes = 2 * each as usize;
        let found_at = by_first(engine, comm, || {
            let (memory, found_at) = SharedMemory::create(bytes)?;
            own = Some(Ok(memory));
            Ok(found_at)
        })?;
        let opened = match found_at {
            Ok(found_at) => own.unwrap_or_else(|| SharedMemory::open(found_at, bytes)).map_err(Fault::from),
            Err(fault) => Err(fault),
        };
        let report = Report { fault: opened.as_ref().err().copied(), numbers: [0; 4] };
        let all = exchange(engine, comm, report)?;
        *stage = match opened {
            Ok(mut memory) if first_fault(&all).is_none() => {
                memory.close();
                Stage::Ready(Windows { memory })
            }
            _ => Stage::Unavailable,
        };
        Ok(matches!(*stage, Stage::Ready(_)).then_some(Staged(stage)))
    }
}
