//! The datatypes that stand for precisions and ranges of Fortran numbers (MPI-5.0, 19.1.10): one handle for each combiner
//! and parameters, which lives as long as the process record.

use std::collections::BTreeMap;

use mpi_core::Handle;

/// Handles by combiner and parameters.
pub(crate) type SelectedTypes = BTreeMap<(i32, Vec<i32>), Handle>;
