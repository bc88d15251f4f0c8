//! Objects by the integers that name them in Fortran, and in `MPI_Comm_toint` and the like (MPI-5.0, 19.3.4).
//!
//! Not here: info objects, which need no process (`infos`), the integer of a handle (`mpi_core::Handle::to_fortran`).

use mpi_core::{Guard, Handle, Kind};

use crate::record::process::Process;

impl Process {
    /// The live object of a kind that an integer names; a predefined handle of any kind is its constant. `None` for any
    /// other integer, and for kinds whose objects have no integers.
    pub fn handle_of_int(&self, guard: &Guard<'_>, kind: Kind, word: i32) -> Option<Handle> {
        match kind {
            Kind::Comm => self.comms.get(guard).from_fortran(word),
            Kind::Group => self.groups.get(guard).from_fortran(word),
            Kind::Datatype => self.datatypes.get(guard).from_fortran(word),
            Kind::Op => self.ops.get(guard).from_fortran(word),
            Kind::Request | Kind::AtOnce | Kind::Recipe => self.engine.request_of_int(guard, word),
            Kind::Message => self.engine.message_of_int(guard, word),
            Kind::Errhandler => self.errhandlers.get(guard).of_int(word),
            Kind::Win => self.windows.get(guard).from_fortran(word),
            Kind::File => self.files.get(guard).from_fortran(word),
            Kind::Session => self.sessions.get(guard).from_fortran(word),
            _ => None,
        }
    }
}
