//! The table of sends and receives of which two have one request.
//!
//! Not here: the operations (`pairs`).

use std::collections::HashMap;

use mpi_core::Handle;

/// One part of a pair.
#[derive(Debug)]
pub(crate) struct Part {
    /// The request that the program has.
    pub whole: Handle,
    pub is_receive: bool,
    /// The data of the send, if it is a copy.
    pub data: Vec<u8>,
}

/// The parts that are under way.
pub(crate) type Parts = HashMap<Handle, Part>;
