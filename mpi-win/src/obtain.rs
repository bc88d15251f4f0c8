//! Allocation of a new window's memory, and the exchange of its description among the processes.
//!
//! Invariant: a process that cannot get its memory takes part in the exchange nevertheless, so that all others get the
//! error and none waits for ever. Either all processes have mapped all memory, or none has.
#![allow(unsafe_code)] // the program's promise about its memory is passed on

use std::sync::Arc;

use mpi_comm::{Comm, Exchange};
use mpi_core::abi::{MPI_ERR_NO_MEM, MPI_ERR_RMA_SHARED};
use mpi_errors::{Error, Result};
use mpi_fabric::{RankLocks, RegionKey, Registration, SharedMemory};

use crate::OneSided;
use crate::exposure::{Exposure, Flavor};
use crate::memory::Memory;
use crate::window::Exposed;

/// The memory of a window in one process.
pub(crate) struct Obtained {
    /// The memory that each process exposes.
    pub exposed: Box<[Exposed]>,
    pub own: Memory,
    /// The other processes' memory, by rank, where all have mapped all of it; else empty.
    pub peers: Box<[Option<Memory>]>,
    /// The registration by which the others copy to and from it.
    pub registration: Registration,
}

/// Tag of the exchanges, in the context of the window's collectives.
const TAG: i32 = 0x7020;
/// The smallest size of a page.
const PAGE: u64 = 4096;
/// Words of each process in the exchange: two of the region, size, unit, whether there is such memory, and the
/// descriptor under which others may map it, plus one.
const WORDS: usize = 6;
/// The same for memory that is one object: size, unit, whether the process shares, whether parts begin at pages,
/// whether it has room for a window.
const SHARED_WORDS: usize = 5;

impl OneSided {
    /// Gets this process's memory, if it has `room` for the window, and exchanges its description. Collective; waits.
    /// Errors: `MPI_ERR_NO_MEM`, `MPI_ERR_RMA_SHARED`, in every process.
    ///
    /// # Safety
    /// The program's memory stays as long as the result.
    pub(crate) unsafe fn obtain(
        &self,
        comm: &Comm,
        what: &Exposure,
        size: u64,
        unit: u64,
        room: bool,
    ) -> Result<Obtained> {
        let own = match what.flavor {
            Flavor::Shared => {
                let noncontiguous = what.hints.get("alloc_shared_noncontig") == Some("true");
                return self.obtain_together(comm, [size, unit], noncontiguous, room);
            }
            _ if !room => None,
            // SAFETY: the caller passes the program's promise on.
            Flavor::Create { base } => Some(unsafe { Memory::of_program(base, size) }),
            Flavor::Dynamic => Some(Memory::attachable()),
            Flavor::Allocate { alignment } => {
                // A process alone shares with none; mappings have the alignment of pages.
                let share = comm.size() > 1 && alignment <= PAGE && self.settings.shared.get();
                let shared = if share { Memory::share(size, name_of(comm, comm.rank)) } else { None };
                shared.or_else(|| Memory::allocate(size, alignment))
            }
        };
        let (region, registration) = match &own {
            // SAFETY: the memory exists until the window is freed, and the window drops the registration first.
            Some(own) if own.attached().is_none() => unsafe {
                let members = comm.group().world_ranks();
                self.engine.register(&self.engine.lock(), members, own.base(), own.bytes() as usize)
            },
            _ => (RegionKey::NONE, Registration::NONE),
        };
        let made = self.exchange(comm, own.as_ref(), region, unit);
        let Some(mut own) = own else { return Err(no_memory(size)) };
        let (exposed, peers) = made?;
        own.close();
        Ok(Obtained { exposed, own, peers, registration })
    }

    /// Exchanges the descriptions of the exposed memory, and maps it where that is possible for all.
    fn exchange(
        &self,
        comm: &Comm,
        own: Option<&Memory>,
        region: RegionKey,
        unit: u64,
    ) -> Result<(Box<[Exposed]>, Peers)> {
        let own = own.map(|own| {
            let descriptor = own.descriptor().map_or(0, |descriptor| descriptor as u64 + 1);
            let [address, key] = region.to_words();
            [address, key, own.bytes(), unit, 1, descriptor]
        });
        let words = self.words_of_all::<WORDS>(comm, own.unwrap_or_default())?;
        let each = |(rank, words): (usize, &[u64; WORDS])| match words {
            [address, key, size, unit, 1, _] => {
                Ok(Exposed { region: RegionKey::from_words([*address, *key]), size: *size, unit: *unit })
            }
            _ => Err(without_memory(rank)),
        };
        let exposed = words.iter().enumerate().map(each).collect::<Result<Box<[Exposed]>>>()?;
        if words.iter().any(|words| words[5] == 0) {
            return Ok((exposed, Peers::default()));
        }
        let peers = self.map_all(comm, &words);
        // All or none: accumulations are performed either by their origins or by the owners of the memory.
        let all = self.count(comm, peers.is_none())? == 0;
        Ok((exposed, peers.filter(|_| all).unwrap_or_default()))
    }

    /// Maps the memory of all others.
    fn map_all(&self, comm: &Comm, words: &[[u64; WORDS]]) -> Option<Peers> {
        let map = |(rank, words): (u32, &[u64; WORDS])| {
            if rank == comm.rank {
                return Some(None);
            }
            let descriptor = i32::try_from(words[5] - 1).ok()?;
            let shared = Arc::new(self.open(comm, (rank, name_of(comm, rank)), descriptor, words[2])?);
            Some(Some(Memory::part(&shared, 0, words[2])))
        };
        (0..).zip(words).map(map).collect()
    }

    /// Memory that is one object, which rank 0 creates: the parts follow each other in rank order, or begin at pages if
    /// rank 0 has the hint alloc_shared_noncontig.
    fn obtain_together(
        &self,
        comm: &Comm,
        [size, unit]: [u64; 2],
        noncontiguous: bool,
        room: bool,
    ) -> Result<Obtained> {
        let shares = self.settings.shared.get();
        let words = self.words_of_all::<SHARED_WORDS>(
            comm,
            [size, unit, u64::from(shares), u64::from(noncontiguous), u64::from(room)],
        )?;
        if let Some(rank) = words.iter().position(|words| words[4] == 0) {
            return Err(without_memory(rank));
        }
        if let Some(rank) = words.iter().position(|words| words[2] == 0) {
            return Err(not_shared(&format!("rank {rank} does not share memory (control variable win_shared)")));
        }
        let grain = if words[0][3] == 1 { PAGE } else { 1 };
        let mut total = 0u64;
        let mut starts = Vec::with_capacity(words.len());
        for [size, ..] in &words {
            starts.push(total);
            total = size.checked_next_multiple_of(grain).and_then(|size| total.checked_add(size)).unwrap_or(u64::MAX);
        }
        let (made, refusal) = made_or_refused((comm.rank == 0).then(|| SharedMemory::create(total, name_of(comm, 0))));
        let descriptor = made.as_ref().and_then(SharedMemory::descriptor).map_or(0, |number| number as u64 + 1);
        let descriptor = self.words_of_all::<1>(comm, [descriptor])?[0][0];
        if descriptor == 0 {
            return Err(refusal.unwrap_or_else(|| without_memory(0)));
        }
        let shared = made.or_else(|| {
            let number = i32::try_from(descriptor - 1).ok()?;
            self.open(comm, (0, name_of(comm, 0)), number, total)
        });
        let mut shared = match self.count(comm, shared.is_none())? {
            0 => shared.ok_or_else(|| without_memory(0))?,
            _ => {
                drop(shared);
                self.obtain_part(comm, total)?
            }
        };
        shared.close();
        let shared = Arc::new(shared);
        let part = |rank: usize| Memory::part(&shared, starts[rank], words[rank][0]);
        let exposed = words.iter().map(|words| {
            // No process copies to and from these by a key: all have them mapped.
            Exposed { region: RegionKey::NONE, size: words[0], unit: words[1] }
        });
        let own = comm.rank as usize;
        let peers = (0..words.len()).map(|rank| (rank != own).then(|| part(rank)));
        let registration = Registration::NONE;
        Ok(Obtained { exposed: exposed.collect(), own: part(own), peers: peers.collect(), registration })
    }

    /// Memory for all in the object of the job memory, for processes of which some may not open the descriptors of others.
    /// Collective; waits.
    fn obtain_part(&self, comm: &Comm, bytes: u64) -> Result<SharedMemory> {
        let (job, place) = self.engine.job_and_place(&self.engine.lock());
        let name = name_of(comm, 0);
        let (made, refusal) = made_or_refused((comm.rank == 0).then(|| job.extend_object(place, bytes, name)));
        // The header of the job memory is at offset 0.
        let at = made.as_ref().map_or(0, |(at, _)| *at);
        // A number of a job is random: where it is the same, so is the memory.
        let [at, number] = self.words_of_all(comm, [at, job.id()])?[0];
        if at == 0 {
            return Err(refusal.unwrap_or_else(|| without_memory(0)));
        }
        let part = made
            .map(|(_, made)| made)
            .or_else(|| (number == job.id()).then(|| job.open_extension(place, at, bytes, name).ok()).flatten());
        let without = self.count(comm, part.is_none())?;
        part.filter(|_| without == 0)
            .ok_or_else(|| not_shared(&format!("{without} of {} could not map it", mpi_errors::processes(comm.size()))))
    }

    /// Creates the locks of all processes' memory; `None` when not all can map them. Collective; waits.
    pub(crate) fn obtain_locks(&self, comm: &Comm) -> Result<Option<RankLocks>> {
        let name = name_of(comm, LOCKS);
        let shares = self.settings.shared_locks.get();
        let made = (shares && comm.rank == 0).then(|| RankLocks::create(comm.size(), name).ok()).flatten();
        if comm.size() == 1 {
            return Ok(made);
        }
        let descriptor = made.as_ref().and_then(RankLocks::descriptor).map_or(0, |number| number as u64 + 1);
        let descriptor = self.words_of_all::<1>(comm, [descriptor])?[0][0];
        let locks = made.or_else(|| {
            let number = i32::try_from(descriptor.checked_sub(1).filter(|_| shares)?).ok()?;
            let opened = self.open(comm, (0, name), number, RankLocks::bytes(comm.size()))?;
            Some(RankLocks::of(opened, comm.size()))
        });
        let without = self.count(comm, locks.is_none())?;
        Ok(locks.filter(|_| without == 0).map(|mut locks| {
            locks.close();
            locks
        }))
    }

    /// The words of each process, by rank.
    fn words_of_all<const N: usize>(&self, comm: &Comm, own: [u64; N]) -> Result<Vec<[u64; N]>> {
        Exchange::among_all(&self.engine, comm, TAG).all(own)
    }

    /// The number of processes in which `own` is true.
    fn count(&self, comm: &Comm, own: bool) -> Result<u64> {
        let mut count = [u64::from(own)];
        self.coll.sum(comm, &mut count)?;
        Ok(count[0])
    }

    /// Maps the memory that another process shares under a descriptor.
    fn open(&self, comm: &Comm, (rank, name): (u32, u64), descriptor: i32, bytes: u64) -> Option<SharedMemory> {
        let world_rank = comm.group().world_ranks()[rank as usize];
        self.engine.open_shared(&self.engine.lock(), world_rank, descriptor, bytes, name).ok()
    }
}

/// The other processes' memory, by rank.
type Peers = Box<[Option<Memory>]>;

/// Stands for the rank in the name of the memory of locks.
const LOCKS: u32 = 1 << 31;

/// A number that no other memory of the job has.
fn name_of(comm: &Comm, rank: u32) -> u64 {
    u64::from(comm.context()) << 32 | u64::from(rank)
}

#[cold]
fn no_memory(size: u64) -> Error {
    Error::new(MPI_ERR_NO_MEM, "the system has not that much memory to give").arg("size", &size)
}

/// What one process was to make, and why it could not; neither in the others.
fn made_or_refused<T>(made: Option<Result<T>>) -> (Option<T>, Option<Error>) {
    match made.transpose() {
        Ok(made) => (made, None),
        Err(refusal) => (None, Some(refusal)),
    }
}

#[cold]
fn without_memory(rank: usize) -> Error {
    Error::new(MPI_ERR_NO_MEM, format!("rank {rank} could not get the memory for its part of the window"))
}

#[cold]
fn not_shared(why: &str) -> Error {
    Error::new(MPI_ERR_RMA_SHARED, format!("the processes cannot share the window's memory: {why}"))
}
