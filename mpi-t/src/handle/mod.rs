//! Handles of performance variables: the value that each one has accumulated, independent of all others (MPI-5.0,
//! section 15.3.7).
//!
//! - `value_format`: how a value is converted, and stored for the caller.
//! - `slot`: the facts of a handle; how a slot is reused so that readers detect it.
//! - `table`: the array of slots, at `origin`. `read`: the few instructions from a handle word to a value.
//! - `wide_read`: many elements of an array at a time.
//! - `access`: write, start, stop, reset, readreset, other reads; of one handle and of all. `found`: the same steps on
//!   the elements of a live handle.
//! - `pool`: allocating and freeing handles and sessions.
//!
//! The word in which a handle keeps its own starting point is in `state_word`.
//!
//! Invariant: the operations of `access` and `found` take no lock, allocate nothing and call no other function, so they
//! are async-signal-safe and thread-safe, at every thread level, before `MPI_Init` and after `MPI_Finalize`.

pub(crate) mod access;
mod found;
mod origin;
pub(crate) mod pool;
pub(crate) mod read;
pub(crate) mod refusal;
pub(crate) mod slot;
pub(crate) mod table;
pub(crate) mod value_format;
pub(crate) mod wide_read;
