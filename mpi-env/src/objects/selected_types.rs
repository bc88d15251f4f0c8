//! Datatypes of precisions and ranges of Fortran numbers (`tables::selected_types`).
//!
//! Invariant: equal parameters give the same handle.
//! Not here: which numbers have a precision and range (mpi-capi).

use mpi_core::{Guard, Handle};
use mpi_datatype::Datatype;
use mpi_errors::Result;

use crate::record::process::Process;

impl Process {
    /// The handle of the datatype with this combiner and these parameters, which are those of `like`. Errors:
    /// `MPI_ERR_NO_MEM`.
    pub fn type_selected(
        &self,
        guard: &mut Guard<'_>,
        like: &Datatype,
        combiner: i32,
        parameters: &[i32],
    ) -> Result<Handle> {
        let key = (combiner, parameters.to_vec());
        if let Some(handle) = self.selected_types.get(guard).get(&key) {
            return Ok(*handle);
        }
        let handle = self.type_create(guard, like.selected(combiner, parameters))?;
        self.selected_types.get_mut(guard).insert(key, handle);
        Ok(handle)
    }
}
