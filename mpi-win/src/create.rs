//! Making and ending windows (MPI-5.0, 12.2).
//!
//! Invariant: a process that cannot get its memory takes part in the exchange all the same, so that all others see it
//! and none waits for ever.
#![allow(unsafe_code)] // the program's promise about its memory is passed on

use mpi_comm::{Comm, CommSpec, ContextIds, agree_on_context, register, unregister};
use mpi_core::abi::*;
use mpi_core::{Guard, Guarded, Handle, Info};
use mpi_datatype::RecvBuf;
use mpi_errors::{Error, Result};
use mpi_t::InstrumentMemory;

use crate::OneSided;
use crate::epoch::Epoch;
use crate::hints::Hints;
use crate::instruments::WinInstruments;
use crate::memory::Memory;
use crate::window::{Exposed, Told, Win};

/// Where a window's memory comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flavor {
    /// `MPI_Win_create`: it is the program's.
    Create {
        /// Its address, exposed.
        base: usize,
    },
    /// `MPI_Win_allocate`: it is the window's own.
    Allocate {
        /// The least alignment, a hint.
        alignment: u64,
    },
}

/// What a process exposes.
#[derive(Debug, Clone)]
pub struct Exposure {
    /// Where its memory comes from.
    pub flavor: Flavor,
    /// Its size in bytes.
    pub size: i64,
    /// Bytes that one displacement stands for.
    pub disp_unit: i64,
    /// Hints.
    pub hints: Info,
}

/// Words of each process in the exchange: address, size, unit, whether there is such memory, and the descriptor under
/// which others may map it, plus one.
const WORDS: usize = 5;

impl OneSided {
    /// `MPI_Win_create` and `MPI_Win_allocate`. Collective over `parent`; waits, with no guard held. `memory` is where
    /// the window's instruments go.
    ///
    /// Errors: `MPI_ERR_SIZE`, `MPI_ERR_DISP` and `MPI_ERR_BASE` at once; `MPI_ERR_NO_MEM` in every process when one of
    /// them cannot get its memory; `MPI_ERR_OTHER` when there are no context ids left.
    ///
    /// # Safety
    /// The program's memory is readable, and writable if anybody writes there, until the window is freed.
    pub unsafe fn create(
        &self,
        parent: &Comm,
        ids: &Guarded<ContextIds>,
        what: Exposure,
        memory: &dyn InstrumentMemory,
    ) -> Result<Win> {
        let (size, unit) = self.check(&what)?;
        let context = agree_on_context(&self.engine, parent, ids)?;
        let spec = CommSpec { errhandler: Handle(MPI_ERRORS_ARE_FATAL), ..CommSpec::duplicate(parent, context) };
        let comm = register(&self.engine, &mut self.engine.lock(), spec, self.unseen);
        let own = match what.flavor {
            // SAFETY: the caller passes the program's promise on.
            Flavor::Create { base } => Some(unsafe { Memory::of_program(base, size) }),
            Flavor::Allocate { alignment } => {
                // Who is alone has nobody to share with; mappings are as aligned as pages are.
                let share = comm.size() > 1 && alignment <= PAGE && self.settings.shared.get();
                let shared = if share { Memory::share(size, name_of(&comm, comm.rank)) } else { None };
                shared.or_else(|| Memory::allocate(size, alignment))
            }
        };
        let made = self.exchange(&comm, own.as_ref(), unit);
        let (exposed, peers, mut own) = match (made, own) {
            (Ok((exposed, peers)), Some(own)) => (exposed, peers, own),
            (made, own) => {
                unregister(&self.engine, &mut self.engine.lock(), &comm);
                let missing = || Error::new(MPI_ERR_NO_MEM, "the system has not that much memory to give");
                return Err(match (made, own) {
                    (_, None) => missing().arg("size", &size),
                    (Err(error), _) => error,
                    (Ok(_), Some(_)) => unreachable!("that window was made"),
                });
            }
        };
        own.close();
        let told = Told {
            base: own.base(),
            size: size as isize,
            disp_unit: i32::try_from(unit).unwrap_or(MPI_UNDEFINED),
            flavor: match what.flavor {
                Flavor::Create { .. } => MPI_WIN_FLAVOR_CREATE,
                Flavor::Allocate { .. } => MPI_WIN_FLAVOR_ALLOCATE,
            },
            // All processes see one memory.
            model: MPI_WIN_UNIFIED,
        };
        let mut hints = Hints::default();
        hints.set(&what.hints);
        let epoch = Guarded::new(self.engine.process_lock(), Epoch::new(comm.size()));
        let instruments = WinInstruments::place_for(memory, &format!("window {}", context / 2));
        Ok(Win::new(comm, (own, peers), epoch, exposed, told, hints, instruments))
    }

    /// `MPI_Win_free`: returns when all processes have called it. The window's handle must be gone already; its
    /// instruments are the caller's to retire. Collective; waits, with no guard held.
    pub fn end(&self, win: &Win) -> Result<()> {
        let met = self.coll.synchronize(&win.comm);
        unregister(&self.engine, &mut self.engine.lock(), &win.comm);
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
        {
            let end = base.checked_add(size as usize).filter(|_| base >= FIRST_ADDRESS);
            let there = end.is_some_and(|end| {
                let guard = self.engine.lock();
                self.is_there(&guard, base) && self.is_there(&guard, end - 1)
            });
            if !there {
                let rule = "that is not the address of as many bytes of memory";
                let base = format_args!("{base:#x}").to_string();
                return Err(Error::new(MPI_ERR_BASE, rule).arg("base", &base).arg("size", &size));
            }
        }
        Ok((size, what.disp_unit as u64))
    }

    /// Whether a byte of this process's memory can be read. Where the kernel does not say, it is believed.
    fn is_there(&self, guard: &Guard<'_>, address: usize) -> bool {
        let own = self.engine.rank();
        let mut byte = [0u8];
        !self.engine.can_copy(guard, own)
            || self
                .engine
                .copy_from(guard, own, address as u64, &mut RecvBuf::from_slice(&mut byte))
                .is_none_or(|copied| copied.is_ok())
    }

    /// Tells all processes what each of them exposes, and maps it where that is possible for all.
    fn exchange(&self, comm: &Comm, own: Option<&Memory>, unit: u64) -> Result<(Box<[Exposed]>, Peers)> {
        let mut words = vec![0u64; comm.size() as usize * WORDS];
        if let Some(own) = own {
            let at = comm.rank as usize * WORDS;
            words[at..at + WORDS].copy_from_slice(&[own.base() as u64, own.bytes(), unit, 1, descriptor_word(own)]);
        }
        self.coll.sum(comm, &mut words)?;
        let each = |(rank, words): (usize, &[u64])| match words {
            [base, size, unit, 1, _] => Ok(Exposed { base: *base, size: *size, unit: *unit }),
            _ => {
                let text = format!("rank {rank} could not get the memory for its part of the window");
                Err(Error::new(MPI_ERR_NO_MEM, text))
            }
        };
        let exposed = words.chunks_exact(WORDS).enumerate().map(each).collect::<Result<Box<[Exposed]>>>()?;
        if words.chunks_exact(WORDS).any(|words| words[4] == 0) {
            return Ok((exposed, Peers::default()));
        }
        let peers = self.map_all(comm, &words);
        let mut without = [u64::from(peers.is_none())];
        self.coll.sum(comm, &mut without)?;
        // All or nobody: accumulations are done either by who wants them or by who owns the memory.
        Ok((exposed, peers.filter(|_| without == [0]).unwrap_or_default()))
    }

    /// Maps what all others share.
    fn map_all(&self, comm: &Comm, words: &[u64]) -> Option<Peers> {
        let guard = self.engine.lock();
        let world = comm.group().world_ranks();
        let map = |(rank, words): (u32, &[u64])| {
            if rank == comm.rank {
                return Some(None);
            }
            let pid = self.engine.process_id(&guard, world[rank as usize]);
            let descriptor = i32::try_from(words[4] - 1).ok()?;
            Memory::open(pid, descriptor, words[1], name_of(comm, rank)).map(Some)
        };
        (0..).zip(words.chunks_exact(WORDS)).map(map).collect()
    }
}

/// The other processes' memory, by rank.
type Peers = Box<[Option<Memory>]>;

/// The size that pages have at least.
const PAGE: u64 = 4096;

/// A number that no other memory of the job has.
fn name_of(comm: &Comm, rank: u32) -> u64 {
    u64::from(comm.context()) << 32 | u64::from(rank)
}

fn descriptor_word(own: &Memory) -> u64 {
    own.descriptor().map_or(0, |descriptor| descriptor as u64 + 1)
}

/// No process has memory below this: small numbers are constants of the ABI, not addresses.
const FIRST_ADDRESS: usize = 4096;
