//! Windows that own the memory of the program that they expose, for programs in Rust (MPI-5.0, 12.2.1).
//!
//! Safe code may forget a value, so a window cannot borrow its memory. It owns a vector, and gives it back when it is
//! freed.
//! Invariant: the vector is freed or given back only after [`OneSided::end`] has succeeded, when no process accesses it
//! any more; otherwise it is leaked.
//! Not here: creating windows over memory that the program keeps (`create`).
#![allow(unsafe_code)] // keeps a vector by its raw parts, because other processes change its elements

use std::any::Any;
use std::fmt;
use std::mem::ManuallyDrop;

use mpi_comm::{Comm, ContextIds};
use mpi_core::{Guarded, Info};
use mpi_datatype::Element;
use mpi_errors::Result;
use mpi_t::InstrumentMemory;

use crate::OneSided;
use crate::exposure::{Exposure, Flavor};
use crate::window::Win;

/// A vector by its raw parts: no reference to its elements exists while other processes may access them.
struct RawVec<T: Element> {
    start: *mut T,
    length: usize,
    capacity: usize,
}

// SAFETY: it owns its elements, which are plain.
unsafe impl<T: Element> Send for RawVec<T> {}
// SAFETY: a shared reference gives no access to the elements.
unsafe impl<T: Element> Sync for RawVec<T> {}

impl<T: Element> RawVec<T> {
    fn new(data: Vec<T>) -> RawVec<T> {
        let mut data = ManuallyDrop::new(data);
        RawVec { start: data.as_mut_ptr(), length: data.len(), capacity: data.capacity() }
    }

    fn into_vec(self) -> Vec<T> {
        let raw = ManuallyDrop::new(self);
        // SAFETY: these are the parts of a vector that this value owns, and it gives it away once.
        unsafe { Vec::from_raw_parts(raw.start, raw.length, raw.capacity) }
    }
}

impl<T: Element> Drop for RawVec<T> {
    fn drop(&mut self) {
        // SAFETY: as in `into_vec`, which does not drop the value.
        drop(unsafe { Vec::from_raw_parts(self.start, self.length, self.capacity) });
    }
}

/// What a window owns of the program's memory, and whether other processes may still access it.
#[derive(Default)]
pub(crate) struct Owned {
    data: Option<Box<dyn Any + Send + Sync>>,
    ended: bool,
}

impl Owned {
    /// No process accesses the memory from now on.
    pub fn end(&mut self) {
        self.ended = true;
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if !self.ended {
            std::mem::forget(self.data.take());
        }
    }
}

impl fmt::Debug for Owned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owned").field("data", &self.data.is_some()).field("ended", &self.ended).finish()
    }
}

impl OneSided {
    /// `MPI_Win_create` over the elements of a vector, which the window owns; a displacement is an element. Collective;
    /// waits. Errors: as [`OneSided::create`]; the vector is freed then.
    pub fn create_owning<T: Element>(
        &self,
        parent: &Comm,
        ids: &Guarded<ContextIds>,
        (data, hints): (Vec<T>, Info),
        room: bool,
        memory: &dyn InstrumentMemory,
    ) -> Result<Win> {
        let data = RawVec::new(data);
        let flavor = Flavor::Create { base: data.start.expose_provenance() };
        let (size, disp_unit) = ((data.length * size_of::<T>()) as i64, size_of::<T>() as i64);
        // SAFETY: the window owns the memory until it has ended. Where there is no window, no process has one, or no
        // epoch in which others access the memory can begin, because this process calls no fence.
        let win = unsafe { self.create(parent, ids, Exposure { flavor, size, disp_unit, hints }, room, memory) }?;
        win.owned().data = Some(Box::new(data));
        Ok(win)
    }
}

impl Win {
    /// The vector that the window owned, after [`OneSided::end`]; `None` if it owned none of these elements, or has not
    /// ended: then the vector is leaked.
    pub fn into_data<T: Element>(self) -> Option<Vec<T>> {
        let data = {
            let mut owned = self.owned();
            let ended = owned.ended;
            owned.data.take_if(|_| ended)
        };
        // The registration of the memory ends before the memory is the program's again.
        drop(self);
        let raw = data?.downcast::<RawVec<T>>().ok()?;
        Some(raw.into_vec())
    }
}
