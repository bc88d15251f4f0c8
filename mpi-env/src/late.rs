//! Duplicates that do not wait: `MPI_Comm_idup` (MPI-5.0, 7.4.2).
//!
//! The handle exists at once; the communicator does from the moment its context id has come from rank 0. The request
//! is the receive of that id. Whoever first looks the handle up after that makes the communicator of it.
//! Invariant: the memory an id comes into stays until it has come, and that of one on its way until it has left.
#![allow(unsafe_code)] // the memory of receives under way, which belongs to this table

use mpi_comm::{CommSpec, Group};
use mpi_core::abi::MPI_ERR_NO_MEM;
use mpi_core::{Guard, Handle};
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_errors::{Error, Result};
use mpi_p2p::Mode;

use crate::process::Process;

/// Tag of the message that tells an id.
const TAG: i32 = 0x7002;
/// Not an id: ids are even.
const NOT_YET: u32 = u32::MAX;

/// One word that the engine reads or writes while a message is under way.
#[derive(Debug)]
struct Word(*mut [u32; 1]);

// SAFETY: the word is owned by this value, and touched only with the process's lock held.
unsafe impl Send for Word {}

impl Word {
    fn new(value: u32) -> Word {
        Word(Box::into_raw(Box::new([value])))
    }

    fn get(&self) -> u32 {
        // SAFETY: the word lives as long as this value; the engine writes it under the lock that the caller holds.
        unsafe { (*self.0)[0] }
    }
}

impl Drop for Word {
    fn drop(&mut self) {
        // SAFETY: made by `Box::into_raw`; its owner drops it only when no message needs it any more.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

/// A communicator whose id has not come yet.
#[derive(Debug)]
struct Coming {
    handle: Handle,
    id: Word,
    group: Group,
    rank: u32,
    errhandler: Handle,
}

/// What of `MPI_Comm_idup` is under way.
#[derive(Debug, Default)]
pub struct Late {
    coming: Vec<Coming>,
    /// Ids being told, with the sends that have not left yet.
    telling: Vec<(Word, Vec<Handle>)>,
}

impl Drop for Late {
    fn drop(&mut self) {
        // Messages may still be under way when a process ends: their words outlive it.
        self.coming.drain(..).for_each(std::mem::forget);
        self.telling.drain(..).for_each(std::mem::forget);
    }
}

impl Process {
    /// `MPI_Comm_idup`: the handle of the duplicate, good once the request is complete, and the request. Collective;
    /// does not wait. Errors: `MPI_ERR_COMM`, `MPI_ERR_NO_MEM`, `MPI_ERR_OTHER`.
    pub fn comm_idup(&self, parent: Handle) -> Result<(Handle, Handle)> {
        let parent = self.parent(parent)?;
        let guard = &mut self.engine.lock();
        self.sweep(guard)?;
        let context = parent.collective_context();
        let told = match parent.rank {
            0 => Some(Word::new(self.context_ids.get_mut(guard).take()?)),
            _ => None,
        };
        let handle = self.comms.get_mut(guard).reserve();
        let handle = handle.map_err(|_| Error::new(MPI_ERR_NO_MEM, "there are too many communicators"))?;
        let id = Word::new(NOT_YET);
        // SAFETY: the word stays in `late` until the id has come, and nothing else refers to it until then.
        let place = RecvBuf::from_slice(unsafe { &mut *id.0 });
        let request = self.engine.irecv(guard, context, 0, TAG, place)?;
        let errhandler = parent.errhandler().get();
        self.errhandlers.get_mut(guard).attach_again(errhandler);
        let (group, rank) = (parent.group().clone(), parent.rank);
        self.late.get_mut(guard).coming.push(Coming { handle, id, group, rank, errhandler });
        if let Some(told) = told {
            let mut sends = Vec::new();
            for dest in 0..parent.size() as i32 {
                // SAFETY: the word stays in `late` until all sends have left; the engine only reads it.
                let data = SendBuf::from_slice(unsafe { &*told.0 });
                sends.push(self.engine.isend(guard, context, dest, TAG, data, Mode::Standard)?);
            }
            self.late.get_mut(guard).telling.push((told, sends));
        }
        Ok((handle, request))
    }

    /// Makes the communicators whose ids have come. Called when a handle names no communicator.
    pub fn settle_late(&self, guard: &mut Guard<'_>) {
        let coming = &mut self.late.get_mut(guard).coming;
        let (arrived, waiting) = std::mem::take(coming).into_iter().partition(|each: &Coming| each.id.get() != NOT_YET);
        *coming = waiting;
        let arrived: Vec<Coming> = arrived;
        for Coming { handle, id, group, rank, errhandler } in arrived {
            let spec = CommSpec { context: id.get(), group, rank, name: String::new(), errhandler };
            self.establish(guard, handle, spec);
        }
    }

    /// Gives back the words whose messages have left.
    fn sweep(&self, guard: &mut Guard<'_>) -> Result<()> {
        let telling = std::mem::take(&mut self.late.get_mut(guard).telling);
        let mut left = Vec::new();
        for (word, sends) in telling {
            let mut waiting = Vec::new();
            for send in sends {
                if self.engine.test(guard, send)?.is_none() {
                    waiting.push(send);
                }
            }
            if !waiting.is_empty() {
                left.push((word, waiting));
            }
        }
        self.late.get_mut(guard).telling = left;
        Ok(())
    }
}
