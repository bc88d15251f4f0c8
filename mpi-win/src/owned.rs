//! Windows that own the memory of the program that they expose, for programs in Rust (MPI-5.0, 12.2.1).
//!
//! Safe code may forget a value, so a window cannot borrow its memory. It owns a vector, and gives it back when it is
//! freed.
//! Invariant: the vector is freed or given back only after [`OneSided::end`] has succeeded, when no process accesses it
//! any more; otherwise it is leaked.
//! Not here: the vector (`program_data`), creating windows over memory that the program keeps (`create`).
#![allow(unsafe_code)] // promises that the memory of a vector stays

use mpi_comm::{Comm, ContextIds};
use mpi_core::{Guarded, Info};
use mpi_datatype::Element;
use mpi_errors::Result;
use mpi_t::InstrumentMemory;

use crate::OneSided;
use crate::exposure::{Exposure, Flavor};
use crate::program_data::RawVec;
use crate::window::Win;

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
        let (base, length) = data.place();
        let flavor = Flavor::Create { base };
        let (size, disp_unit) = ((length * size_of::<T>()) as i64, size_of::<T>() as i64);
        // SAFETY: the window owns the memory until it has ended. Where there is no window, no process has one, or no
        // epoch in which others access the memory can begin, because this process calls no fence.
        let win = unsafe { self.create(parent, ids, Exposure { flavor, size, disp_unit, hints }, room, memory) }?;
        win.owned().keep(data);
        Ok(win)
    }
}

impl Win {
    /// The vector that the window owned, after [`OneSided::end`]; `None` if it owned none of these elements, or has not
    /// ended: then the vector is leaked.
    pub fn into_data<T: Element>(self) -> Option<Vec<T>> {
        let data = self.owned().take();
        // The registration of the memory ends before the memory is the program's again.
        drop(self);
        data.map(RawVec::into_vec)
    }
}
