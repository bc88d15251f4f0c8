//! The window: its processes, memory, attributes and name (MPI-5.0, 12.2).
//!
//! Invariant: its group and the exposed memory never change; it has a communicator of its own, whose name and error
//! handler are the window's.
//! Not here: making windows (`create`), the operations (`access`, `fence`, `passive`, `active`).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mpi_comm::{Comm, Group};
use mpi_core::abi::{MPI_ERR_RMA_SYNC, MPI_PROC_NULL};
use mpi_core::{Guard, Guarded, Info};
use mpi_errors::{Attached, Error, Result};

use mpi_fabric::{EpochCounts, RankLock, RankLocks, RegionKey, Registration};

use crate::epoch::Epoch;
use crate::hints::Hints;
use crate::instruments::WinInstruments;
use crate::memory::{MappedMemory, Memory};
use crate::program_data::Owned;
use crate::serve::WinService;

/// A window of this process. Thread-safe.
#[derive(Debug)]
pub struct Win {
    pub(crate) comm: Comm,
    /// Registration of the memory, by which other processes copy to and from it; dropped before the memory.
    _registration: Registration,
    pub(crate) memory: Arc<Memory>,
    /// Applies the operations of other processes.
    pub(crate) service: Arc<WinService>,
    /// The other processes' memory, by rank, where all have mapped all of it; else empty.
    peers: Box<[Option<Memory>]>,
    /// The memory of all processes, by rank, if `peers` has that of all others; else empty.
    mapped: Box<[MappedMemory]>,
    pub(crate) epoch: Guarded<Epoch>,
    /// The locks of all processes' memory; `None` in all processes if not all can map them.
    locks: Option<RankLocks>,
    /// Counts of epochs in the memory of the locks; `None` in all processes if they are not all of one job and host.
    counts: Option<EpochCounts>,
    exposed: Box<[Exposed]>,
    attributes: WinAttributes,
    hints: Mutex<Hints>,
    /// Memory of the program that the window owns; dropped after the registration and `memory`.
    owned: Mutex<Owned>,
    /// Whether its parts were given out as elements (`shared_parts`).
    given_out: AtomicBool,
    instruments: &'static WinInstruments,
    /// Whether the progress thread is told of the window.
    pub(crate) in_background: bool,
}

/// The values of a window's predefined attributes (MPI-5.0, 12.2.6), laid out as C programs read them.
#[derive(Debug, Clone, Copy)]
pub struct WinAttributes {
    /// `MPI_WIN_BASE`: the address.
    pub base: usize,
    /// `MPI_WIN_SIZE`, in bytes.
    pub size: isize,
    /// `MPI_WIN_DISP_UNIT`, in bytes; `MPI_UNDEFINED` when it does not fit.
    pub disp_unit: i32,
    /// `MPI_WIN_CREATE_FLAVOR`
    pub flavor: i32,
    /// `MPI_WIN_MODEL`
    pub model: i32,
}

/// The memory that one process exposes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Exposed {
    /// The region by which others copy to and from it.
    pub region: RegionKey,
    /// Bytes.
    pub size: u64,
    /// Bytes that one displacement stands for.
    pub unit: u64,
}

impl Win {
    #[allow(clippy::too_many_arguments)] // the parts of a window, from its one creator
    pub(crate) fn new(
        comm: Comm,
        (registration, memory, peers): (Registration, Arc<Memory>, Box<[Option<Memory>]>),
        service: Arc<WinService>,
        (epoch, locks, counts): (Guarded<Epoch>, Option<RankLocks>, Option<EpochCounts>),
        exposed: Box<[Exposed]>,
        attributes: WinAttributes,
        hints: Hints,
        instruments: &'static WinInstruments,
    ) -> Win {
        let mapped = |(exposed, peer): (&Exposed, &Option<Memory>)| {
            MappedMemory::new(peer.as_ref().unwrap_or(&memory), exposed.size, exposed.unit)
        };
        let mapped = exposed.iter().zip(&peers).map(mapped).collect();
        Win {
            mapped,
            comm,
            _registration: registration,
            memory,
            service,
            peers,
            epoch,
            locks,
            counts,
            exposed,
            attributes,
            hints: Mutex::new(hints),
            owned: Mutex::default(),
            given_out: AtomicBool::new(false),
            instruments,
            in_background: false,
        }
    }

    /// Its processes.
    pub fn group(&self) -> &Group {
        self.comm.group()
    }

    /// Number of its processes.
    #[inline]
    pub fn size(&self) -> u32 {
        self.comm.size()
    }

    /// This process's rank in its group.
    #[inline]
    pub fn rank(&self) -> u32 {
        self.comm.rank
    }

    /// Context id of its messages.
    #[inline]
    pub fn context(&self) -> u32 {
        self.comm.context()
    }

    /// The predefined attributes. Their addresses are constant while the window exists.
    pub fn attributes(&self) -> &WinAttributes {
        &self.attributes
    }

    /// Its performance variables.
    pub fn instruments(&self) -> &'static WinInstruments {
        self.instruments
    }

    /// Its error handler.
    #[inline]
    pub fn errhandler(&self) -> &Attached {
        self.comm.errhandler()
    }

    /// The name (`MPI_Win_get_name`); empty if it was never given one.
    pub fn name(&self) -> String {
        self.comm.name()
    }

    /// Sets the name (`MPI_Win_set_name`), cut to `MPI_MAX_OBJECT_NAME - 1` bytes at a character's boundary.
    pub fn set_name(&self, name: &str) {
        self.comm.set_name(name);
    }

    /// The window, for messages.
    pub fn described(&self) -> String {
        match self.name() {
            name if name.is_empty() => "a window without a name".to_owned(),
            name => format!("window {name:?}"),
        }
    }

    /// The window and the epochs that this process has open there, for messages.
    pub fn described_with_epoch(&self, guard: &Guard<'_>) -> String {
        format!("{} ({})", self.described(), self.epoch.get(guard).described())
    }

    /// `MPI_Win_set_info`: unknown hints are ignored.
    pub fn set_hints(&self, hints: &Info) {
        // Hints are changed one whole value at a time, so a panic in another thread leaves valid ones.
        self.hints.lock().unwrap_or_else(PoisonError::into_inner).set(hints);
    }

    /// `MPI_Win_get_info`: the supported hints with their values.
    pub fn hints(&self) -> Info {
        self.hints.lock().unwrap_or_else(PoisonError::into_inner).all()
    }

    /// The memory of the program that it owns.
    pub(crate) fn owned(&self) -> MutexGuard<'_, Owned> {
        // It is changed one whole value at a time.
        self.owned.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives its parts out as elements; false if that was done before, or an epoch is open that no fence ends. No epoch is
    /// open from here on.
    pub(crate) fn give_out(&self, guard: &mut Guard<'_>) -> bool {
        if self.check_no_epoch(guard, "its parts are given out").is_err() {
            return false;
        }
        self.epoch.get_mut(guard).open = false;
        // Relaxed: changed under the process lock, under which all accesses look at it.
        !self.given_out.swap(true, Ordering::Relaxed)
    }

    /// Whether its parts were given out as elements.
    pub(crate) fn is_given_out(&self) -> bool {
        // Relaxed: as in `give_out`.
        self.given_out.load(Ordering::Relaxed)
    }

    /// Errors: `MPI_ERR_RMA_SYNC` when its parts were given out as elements: an operation would change elements to which
    /// a process has a reference.
    pub(crate) fn check_operable(&self) -> Result<()> {
        if self.is_given_out() { Err(self.not_operable()) } else { Ok(()) }
    }

    #[cold]
    fn not_operable(&self) -> Error {
        let rule = format!("the memory of {} is accessed as elements, not by operations", self.described());
        Error::new(mpi_core::abi::MPI_ERR_RMA_SYNC, rule)
    }

    /// The memory that a rank exposes; `None` when there is no such rank.
    #[inline]
    pub(crate) fn exposed(&self, rank: i32) -> Option<Exposed> {
        usize::try_from(rank).ok().and_then(|rank| self.exposed.get(rank)).copied()
    }

    /// The memory of a rank, where every process has mapped that of all; `None` also when there is no such rank.
    #[inline(always)]
    pub(crate) fn mapped(&self, rank: i32) -> Option<&MappedMemory> {
        // A negative rank is a large number here.
        self.mapped.get(rank as u32 as usize)
    }

    /// Whether every process has mapped the memory of all others, so that no operation goes as a message: the same in all
    /// of them.
    #[inline]
    pub(crate) fn is_mapped(&self) -> bool {
        !self.mapped.is_empty()
    }

    /// The memory of a rank, where this process has mapped it.
    #[inline]
    pub(crate) fn reach(&self, rank: u32) -> Option<&Memory> {
        if rank == self.rank() {
            return Some(&*self.memory).filter(|memory| memory.attached().is_none());
        }
        self.peers.get(rank as usize).and_then(Option::as_ref)
    }

    /// `MPI_Win_shared_query`: size, displacement unit and address in this process of a rank's memory, where this
    /// process can reach it; size 0 and no address where it cannot. `None` stands for the first rank with memory.
    /// Errors: `MPI_ERR_RANK`.
    pub fn query(&self, rank: Option<i32>) -> Result<(u64, u64, usize)> {
        let first = || self.exposed.iter().position(|exposed| exposed.size > 0).unwrap_or(0) as i32;
        let rank = rank.unwrap_or_else(first);
        let exposed = self.exposed(rank).ok_or_else(|| self.bad_rank("rank", rank))?;
        match self.reach(rank as u32) {
            Some(memory) => Ok((exposed.size, exposed.unit, memory.base())),
            None => Ok((0, exposed.unit, 0)),
        }
    }

    /// The rank in the job of a process of the window.
    #[inline]
    pub(crate) fn world_rank(&self, rank: u32) -> u32 {
        let members: &Arc<[u32]> = self.comm.group().world_ranks();
        members[rank as usize]
    }

    /// The locks of all processes' memory; `None`, in all processes, where messages do their work.
    #[inline]
    pub(crate) fn locks(&self) -> Option<&RankLocks> {
        self.locks.as_ref()
    }

    /// The counts of its epochs among groups; `None`, in all processes, where messages do their work.
    #[inline]
    pub(crate) fn counts(&self) -> Option<&EpochCounts> {
        self.counts.as_ref()
    }

    /// The lock of a rank's memory; `None` also where there is no such rank.
    #[inline(always)]
    pub(crate) fn lock_at(&self, rank: u32) -> Option<RankLock<'_>> {
        self.locks.as_ref()?.get(rank)
    }

    /// A rank of the window, or `None` for `MPI_PROC_NULL`. Errors: `MPI_ERR_RANK`.
    pub(crate) fn rank_named(&self, rank: i32) -> Result<Option<u32>> {
        match rank {
            MPI_PROC_NULL => Ok(None),
            _ if self.exposed(rank).is_some() => Ok(Some(rank as u32)),
            _ => Err(self.bad_rank("rank", rank)),
        }
    }

    /// Errors: `MPI_ERR_RMA_SYNC` while epochs of this process are open that the program has to end, or operations have not
    /// been completed by a fence.
    pub fn is_complete(&self, guard: &Guard<'_>) -> Result<()> {
        self.check_no_epoch(guard, "MPI_Win_free")?;
        self.check_fenced(guard)
    }

    /// Errors: `MPI_ERR_RMA_SYNC` while operations since the last fence are not complete.
    pub(crate) fn check_fenced(&self, guard: &Guard<'_>) -> Result<()> {
        match self.epoch.get(guard).started {
            0 => Ok(()),
            open => Err(self.not_complete(open)),
        }
    }

    /// Errors: `MPI_ERR_RMA_SYNC` while an epoch of this process is open that no fence ends.
    pub(crate) fn check_no_epoch(&self, guard: &Guard<'_>, call: &str) -> Result<()> {
        let epoch = self.epoch.get(guard);
        let open = if epoch.locks.all {
            "MPI_Win_lock_all has begun an epoch, which MPI_Win_unlock_all ends".to_owned()
        } else if let Some(rank) = epoch.locks.first() {
            format!("MPI_Win_lock has begun an epoch for rank {rank}, which MPI_Win_unlock ends")
        } else if epoch.locks.nobody {
            "MPI_Win_lock has begun an epoch for MPI_PROC_NULL, which MPI_Win_unlock ends".to_owned()
        } else if epoch.access.is_some() {
            "MPI_Win_start has begun an epoch, which MPI_Win_complete ends".to_owned()
        } else if epoch.exposure.is_some() {
            "MPI_Win_post has begun an epoch, which MPI_Win_wait ends".to_owned()
        } else {
            return Ok(());
        };
        Err(self.wrong_epoch(format!("{open}, before {call}")))
    }

    /// A call that does not fit the open epochs.
    #[cold]
    pub(crate) fn wrong_epoch(&self, what: String) -> Error {
        Error::new(MPI_ERR_RMA_SYNC, format!("{what} (on {})", self.described()))
    }

    #[cold]
    fn not_complete(&self, open: u64) -> Error {
        let what = if open == 1 { "1 operation is".to_owned() } else { format!("{open} operations are") };
        let text = format!("{what} under way on {}: MPI_Win_fence completes them", self.described());
        Error::new(MPI_ERR_RMA_SYNC, text)
    }
}
