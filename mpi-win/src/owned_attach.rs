//! Vectors that are attached to a window without memory of its own, which owns them, for programs in Rust (MPI-5.0,
//! 12.2.4).
//!
//! Invariant: a vector is given back only after all processes have met in [`OneSided::detach_owned`], when the
//! operations of earlier epochs are complete, and those of later ones do not find it.
//! Not here: memory that the program keeps (`attach`), the vectors (`program_data`).
#![allow(unsafe_code)] // promises that the memory of a vector stays; `Element` is unsafe to implement

use std::fmt;
use std::marker::PhantomData;

use mpi_core::abi::{MPI_AINT, MPI_ERR_BASE, MPI_ERR_SIZE};
use mpi_datatype::Element;
use mpi_errors::{Error, Result};

use crate::OneSided;
use crate::program_data::RawVec;
use crate::window::Win;

/// The place of a vector that is attached to a window, to be sent to the processes that access it. It means nothing in
/// another window.
#[repr(transparent)]
pub struct Address<T> {
    base: usize,
    elements: PhantomData<fn() -> T>,
}

impl<T: Element> Address<T> {
    /// The place of an element, which operations on the window take as `first`.
    pub fn element(self, index: usize) -> usize {
        self.base.saturating_add(index.saturating_mul(size_of::<T>()))
    }
}

// SAFETY: one address, without padding, of the datatype's size; all bit patterns are valid, as it is never dereferenced
// here, and its target compares it with the memory that is attached there.
unsafe impl<T: 'static> Element for Address<T> {
    const HANDLE: usize = MPI_AINT;
}

impl<T> Clone for Address<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Address<T> {}

impl<T> Default for Address<T> {
    /// The address of no vector.
    fn default() -> Self {
        Address { base: 0, elements: PhantomData }
    }
}

impl<T> PartialEq for Address<T> {
    fn eq(&self, other: &Self) -> bool {
        self.base == other.base
    }
}

impl<T> Eq for Address<T> {}

impl<T> fmt::Debug for Address<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Address({:#x})", self.base)
    }
}

impl OneSided {
    /// `MPI_Win_attach` of the elements of a vector, which the window owns. Errors: as [`OneSided::attach`], and
    /// `MPI_ERR_SIZE` for an empty vector; the vector is freed then.
    pub fn attach_owned<T: Element>(&self, win: &Win, data: Vec<T>) -> Result<Address<T>> {
        if size_of_val(&*data) == 0 {
            return Err(Error::new(MPI_ERR_SIZE, "an empty vector has no memory").arg("data.len()", &data.len()));
        }
        let data = RawVec::new(data);
        let (base, length) = data.place();
        // SAFETY: the window owns the memory until it is detached or the window has ended.
        unsafe { self.attach(win, base, (length * size_of::<T>()) as i64) }?;
        win.owned().attach(base, data);
        Ok(Address { base, elements: PhantomData })
    }

    /// `MPI_Win_detach` of vectors that the window owns, which are given back. Collective over the window; waits, with no
    /// guard held. Errors: `MPI_ERR_BASE` for an address at which none begins, or that is there twice; then none is
    /// detached. After an error of the communication the vectors are leaked.
    pub fn detach_owned<T: Element>(&self, win: &Win, addresses: &[Address<T>]) -> Result<Vec<Vec<T>>> {
        let unknown = {
            let owned = win.owned();
            let wrong = |place: &usize| {
                let address = addresses[*place];
                !owned.has::<T>(address.base) || addresses[..*place].contains(&address)
            };
            (0..addresses.len()).find(wrong)
        };
        let refused = unknown.map(|place| {
            let rule = "no vector that is attached to the window begins there";
            let base = format_args!("{:#x}", addresses[place].base).to_string();
            Error::new(MPI_ERR_BASE, rule).arg("addresses", &base).in_element(place)
        });
        if refused.is_none() {
            for address in addresses {
                // From here on no operation begins on the memory.
                self.detach(win, address.base)?;
            }
        }
        // Those of all epochs that have ended are complete when all processes are here.
        self.coll.synchronize(&win.comm)?;
        match refused {
            Some(error) => Err(error),
            None => Ok(addresses.iter().filter_map(|address| win.owned().detach(address.base)).collect()),
        }
    }
}
