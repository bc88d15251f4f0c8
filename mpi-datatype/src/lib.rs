//! Datatypes: constructors, sizes and extents, typed user memory, pack and unpack (MPI-5.0, chapter 5).
//!
//! - [`datatype`]: [`Datatype`]: size, bounds and layout of a type. [`construct`] and [`construct_array`] derive types,
//!   `construct_section` those of array sections of Fortran; [`envelope`] keeps how.
//! - [`layout`]: where packed bytes lie in memory: a program of loops (`shape`), a position in it (`cursor`), and
//!   moving bytes (`kernels`, `direct_copy`).
//! - [`mod@predefined`]: the types of the standard, by handle.
//! - [`buffer`]: [`SendBuf`] and [`RecvBuf`]: user memory with its type, and the only code that accesses it.
//! - [`scalar`]: how reductions read an element. [`signature`]: the basic elements of a type.
//! - [`external32`]: the portable representation of data. `representation`: types with elements of other sizes.
//! - [`element`]: Rust types that have a datatype. [`located`]: values with their places.
//!
//! Invariant: the engine counts packed bytes (`0 .. bytes()`); only this crate maps them to addresses.
//! Not here: reductions (`mpi-coll`), handles of datatypes that a program made (`mpi-env`).

mod array;
mod bounds;
pub mod buffer;
pub mod construct;
pub mod construct_array;
mod construct_section;
mod cursor;
pub mod datatype;
mod direct_copy;
mod draft;
pub mod element;
pub mod envelope;
pub mod external32;
mod kernels;
pub mod layout;
pub mod located;
mod offsets;
mod overlap;
mod placed;
pub mod predefined;
mod representation;
pub mod scalar;
mod shape;
pub mod signature;
mod slices;

pub use buffer::{Packing, RecvBuf, SendBuf, TypedBuf};
pub use construct_array::{Distribution, Subarray};
pub use construct_section::Section;
pub use datatype::Datatype;
pub use element::Element;
pub use envelope::{Envelope, Form};
pub use layout::Layout;
pub use located::{Located, Value};
pub use placed::{Misplaced, Placed};
pub use predefined::{predefined, predefined_unwatched, short_bytes, short_number};
pub use scalar::{Category, Number, Scalar};
pub use signature::{BasicType, External};
