//! Datatypes whose handles pending operations pass to functions of the program: a handle stays valid until the last of
//! them is over, also when the program has freed the datatype.

use std::collections::HashMap;

use mpi_core::Handle;
use rustc_hash::FxBuildHasher;

/// The datatypes that are held, by handle.
pub(crate) type HeldTypes = HashMap<Handle, Held, FxBuildHasher>;

/// The use of a handle by pending operations.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// Number of operations, persistent requests included.
    pub holds: u32,
    /// Whether the program has freed the datatype.
    pub freed: bool,
}
