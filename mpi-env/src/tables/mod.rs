//! The tables of the process record that hold data of the program's objects.
//!
//! - `attributes`, `names_and_hints`: data that programs attach to objects. `memory`, `blocks`: memory that they
//!   allocate.
//! - `infos`: info objects. `session`: a session. `errhandler_cache`: error handlers that are readable without the
//!   lock.
//! - `selected_types`: datatypes of Fortran's precisions. `ports`: open ports.
//! - `freed`: the functions that freed handles. `held_types`: datatypes whose handles outlive `MPI_Type_free`.
//!   `fortran_abi`: what a Fortran layer states about its types.
//!
//! Not here: the functions that change them (`objects`, `process`).

pub(crate) mod attributes;
pub(crate) mod blocks;
pub(crate) mod errhandler_cache;
pub mod fortran_abi;
pub(crate) mod freed;
pub(crate) mod held_types;
pub mod infos;
pub(crate) mod memory;
pub(crate) mod names_and_hints;
pub(crate) mod ports;
pub(crate) mod selected_types;
pub(crate) mod session;
