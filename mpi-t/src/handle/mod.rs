//! Handles of performance variables: the value that each one has accumulated, independent of all others (MPI-5.0,
//! section 15.3.7).
//!
//! - `state`: the one word in which a handle keeps its own starting point, and the steps on it.
//! - `kind`: the parts of a value, by class. `value_format`: how it is converted, and stored for the caller.
//! - `wide`: starting points too large for that word.
//! - `slot`: the facts of a handle; how a slot is reused so that readers detect it.
//! - `table`: the array of slots; the few instructions from a handle word to a value.
//! - `access`: read, write, start, stop, reset, readreset; of one handle and of all.
//! - `pool`: allocating and freeing handles and sessions.
//!
//! Invariant: the operations of `access` take no lock, allocate nothing and call no other function, so they are
//! async-signal-safe and thread-safe, at every thread level, before `MPI_Init` and after `MPI_Finalize`.

pub(crate) mod access;
pub(crate) mod kind;
pub(crate) mod pool;
pub(crate) mod refusal;
pub(crate) mod slot;
pub(crate) mod state;
pub(crate) mod table;
pub(crate) mod value_format;
mod wide;
