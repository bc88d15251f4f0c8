//! The table of sends and receives that are two under one request.
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
    /// What the send sends, if it is a copy.
    pub data: Vec<u8>,
}

/// The parts that are under way.
pub(crate) type Parts = HashMap<Handle, Part>;
