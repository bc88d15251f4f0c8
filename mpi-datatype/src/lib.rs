//! Datatypes: layouts, sizes and extents, typed user memory, pack and unpack (MPI-5.0, chapter 5).
//!
//! - [`datatype`]: [`Datatype`]: size, bounds and layout of a type.
//! - [`layout`]: where the data bytes of one element lie.
//! - [`mod@predefined`]: the types of the standard, by handle.
//! - [`buffer`]: [`SendBuf`] and [`RecvBuf`]: user memory with its type, and the only code that touches it.
//! - [`element`]: Rust types that have a datatype.
//!
//! Invariant: the engine counts packed bytes (`0 .. bytes()`); only this crate maps them to addresses.
//! Not here: reductions (`mpi-coll`), handles of duplicated types (`mpi-env`).

pub mod buffer;
pub mod datatype;
pub mod element;
pub mod layout;
pub mod predefined;

pub use buffer::{RecvBuf, SendBuf, TypedBuf};
pub use datatype::{Category, Datatype, Scalar};
pub use element::Element;
pub use layout::{Layout, LayoutError, Segment};
pub use predefined::{predefined, predefined_unwatched};
