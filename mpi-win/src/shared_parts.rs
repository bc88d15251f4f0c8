//! The parts of a window of shared memory as elements, for programs in Rust (MPI-5.0, 12.2.3).
//!
//! In [`SharedParts`], access goes by phases: in one, each process has exclusive access to its own part; in the other,
//! all processes read all parts. A phase begins when all processes have requested one of the same kind, and ends where
//! the borrow of the [`SharedParts`] ends, at the latest when the process requests the next phase. [`SharedAtomics`] have
//! no phases, because atomic accesses do not race.
//! Invariants: a window's parts are given out once, as elements of one size in all processes, either all in phases or
//! all as atomics; from then on the window has no epoch, so no operation accesses them. Parts lie inside the memory, which is
//! mapped while the window exists.
#![allow(unsafe_code)] // makes slices of memory that all processes of a window have mapped

use std::marker::PhantomData;
use std::ptr::{with_exposed_provenance, with_exposed_provenance_mut};
use std::slice;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
};

use mpi_core::abi::{MPI_ERR_NOT_SAME, MPI_ERR_RMA_FLAVOR, MPI_ERR_RMA_SYNC, MPI_WIN_FLAVOR_SHARED};
use mpi_datatype::Element;
use mpi_errors::{Error, Result};

use crate::OneSided;
use crate::window::Win;

/// An atomic integer that processes may share.
///
/// # Safety
/// Every bit pattern is a valid value, and all access through a shared reference is atomic.
pub unsafe trait AtomicElement: Send + Sync + 'static {}

macro_rules! atomic_elements {
    ($($atomic:ty),+ $(,)?) => {
        $(
            // SAFETY: an integer without padding, which is accessed atomically only.
            unsafe impl AtomicElement for $atomic {}
        )+
    };
}

atomic_elements! {
    AtomicI8, AtomicI16, AtomicI32, AtomicI64, AtomicIsize, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize,
}

/// The parts of a window of shared memory, accessed in phases.
#[derive(Debug)]
pub struct SharedParts<T: Element> {
    parts: Parts,
    elements: PhantomData<T>,
}

/// All parts, in a phase in which all processes read.
#[derive(Debug, Clone, Copy)]
pub struct ReadParts<'p, T: Element> {
    parts: &'p Parts,
    elements: PhantomData<&'p [T]>,
}

/// The parts of a window of shared memory as atomic integers.
#[derive(Debug)]
pub struct SharedAtomics<A: AtomicElement> {
    parts: Parts,
    elements: PhantomData<A>,
}

/// The places of all parts, by rank: address and number of elements.
#[derive(Debug)]
struct Parts {
    places: Box<[(usize, usize)]>,
    /// Keeps the memory mapped.
    win: Arc<Win>,
}

impl OneSided {
    /// The parts of a window of shared memory. Collective over the window; waits, with no guard held. Errors, in all
    /// processes: `MPI_ERR_RMA_FLAVOR` for another kind of window and for one whose parts were given out before,
    /// `MPI_ERR_NOT_SAME` when the displacement units are not the size of an element, or others get atomics.
    pub fn shared_parts<T: Element>(&self, win: Arc<Win>) -> Result<SharedParts<T>> {
        Ok(SharedParts { parts: self.parts(win, (size_of::<T>(), align_of::<T>()), false)?, elements: PhantomData })
    }

    /// The same as atomic integers. Errors: as [`OneSided::shared_parts`].
    pub fn shared_atomics<A: AtomicElement>(&self, win: Arc<Win>) -> Result<SharedAtomics<A>> {
        Ok(SharedAtomics { parts: self.parts(win, (size_of::<A>(), align_of::<A>()), true)?, elements: PhantomData })
    }

    /// Begins a phase in which each process has exclusive access to its own part. Collective over the window; waits,
    /// with no guard held. Errors: `MPI_ERR_RMA_SYNC` in all processes when some begin to read.
    pub fn own_part<'p, T: Element>(&self, shared: &'p mut SharedParts<T>) -> Result<&'p mut [T]> {
        self.begin_phase(&shared.parts.win, true)?;
        let (address, length) = shared.parts.places[shared.parts.win.rank() as usize];
        // SAFETY: the part lies inside mapped memory and is aligned. No process reads it in this phase, and this one
        // has the only reference to it, because the parts were given out once and are borrowed exclusively. No
        // operation accesses it, because the window has no epoch.
        Ok(unsafe { slice::from_raw_parts_mut(with_exposed_provenance_mut(address), length) })
    }

    /// Begins a phase in which all processes read all parts. Errors: `MPI_ERR_RMA_SYNC` in all processes when some begin
    /// to change their parts.
    pub fn read_parts<'p, T: Element>(&self, shared: &'p mut SharedParts<T>) -> Result<ReadParts<'p, T>> {
        self.begin_phase(&shared.parts.win, false)?;
        Ok(ReadParts { parts: &shared.parts, elements: PhantomData })
    }

    fn parts(&self, win: Arc<Win>, (size, alignment): (usize, usize), atomic: bool) -> Result<Parts> {
        if win.attributes().flavor != MPI_WIN_FLAVOR_SHARED || !win.give_out(&mut self.engine.lock()) {
            let rule = "that takes a window of shared memory whose parts have no other user";
            return Err(Error::new(MPI_ERR_RMA_FLAVOR, rule).arg("win", &win.described()));
        }
        let mut places = Vec::with_capacity(win.size() as usize);
        for rank in 0..win.size() {
            let (bytes, unit, address) = win.query(Some(rank as i32))?;
            // All processes see the same units, so all of them refuse.
            if unit != size as u64 || bytes % unit != 0 {
                let size = mpi_errors::counted(size, "byte");
                let rule = format!("an element has {size} here, and {unit} in rank {rank}");
                return Err(Error::new(MPI_ERR_NOT_SAME, rule));
            }
            let address = if bytes == 0 { alignment } else { address };
            debug_assert!(address.is_multiple_of(alignment), "elements follow each other from a page's start");
            places.push((address, bytes as usize / size));
        }
        match self.agrees(&win, atomic)? {
            true => Ok(Parts { places: places.into(), win }),
            false => Err(Error::new(MPI_ERR_NOT_SAME, "some processes access the memory by atomic operations only")),
        }
    }

    fn begin_phase(&self, win: &Win, changes: bool) -> Result<()> {
        if self.agrees(win, changes)? {
            return Ok(());
        }
        let rule = format!("some processes of {} begin to change their parts, others to read", win.described());
        Err(Error::new(MPI_ERR_RMA_SYNC, rule))
    }

    /// Whether all processes pass the same value. All have called it when it returns.
    fn agrees(&self, win: &Win, value: bool) -> Result<bool> {
        let mut count = [u64::from(value)];
        self.coll.sum(&win.comm, &mut count)?;
        Ok(count[0] == 0 || count[0] == u64::from(win.size()))
    }
}

impl<T: Element> SharedParts<T> {
    /// Elements in each part, by rank.
    pub fn lengths(&self) -> impl Iterator<Item = usize> {
        self.parts.places.iter().map(|place| place.1)
    }
}

impl<'p, T: Element> ReadParts<'p, T> {
    /// The part of a rank; `None` if there is no such rank.
    pub fn of(&self, rank: u32) -> Option<&'p [T]> {
        let (address, length) = *self.parts.places.get(rank as usize)?;
        // SAFETY: the part lies inside mapped memory and is aligned; no process changes it in this phase, which ends
        // after `'p`.
        Some(unsafe { slice::from_raw_parts(with_exposed_provenance(address), length) })
    }
}

impl<A: AtomicElement> SharedAtomics<A> {
    /// The part of a rank; `None` if there is no such rank.
    pub fn of(&self, rank: u32) -> Option<&[A]> {
        let (address, length) = *self.parts.places.get(rank as usize)?;
        // SAFETY: the part lies inside mapped memory and is aligned; all processes access it by atomics of this size.
        Some(unsafe { slice::from_raw_parts(with_exposed_provenance(address), length) })
    }
}
