//! Types that all crates of Ferrum MPI share: constants and handles of the ABI, handle tables, and the lock of a
//! process.
//!
//! - [`abi`]: the constants of the MPI-5.0 standard ABI, generated from `spec/`.
//! - [`handle`]: handles, which are words to look up in tables and never pointers.
//! - [`single_threaded`]: compare-and-swap, cheap while the process has one thread.
//! - [`facts`]: one word for each object, readable without the lock.
//! - [`info`]: info objects, which are lists of keys and values.
//! - [`callee`]: functions of the program, and the language they are written in.
//! - [`clock`]: the time. [`aligned`]: heap memory at a given alignment.
//! - [`table`]: handle tables, whose slots count their reuses.
//! - [`lock`]: the lock of a process, cells that only its holder can access, and a short mutex for other state.
//! - [`status`]: `MPI_Status` as the ABI lays it out.
//! - [`text`]: the edit distance of words, and the nearest known word. [`json`]: JSON objects on one line.
//!
//! ```
//! use mpi_core::{Kind, Table};
//!
//! let mut groups = Table::new(Kind::Group);
//! let handle = groups.insert("three processes")?;
//! assert_eq!(groups.get(handle), Some(&"three processes"));
//! assert_eq!(handle.to_fortran().and_then(|word| groups.from_fortran(word)), Some(handle));
//!
//! groups.remove(handle);
//! assert!(groups.get(handle).is_none() && groups.was_freed(handle));
//! # Ok::<(), mpi_core::table::TableFull>(())
//! ```
//!
//! Not here: error values (`mpi-errors`), instruments (`mpi-t`).

pub mod aligned;
pub mod callee;
pub mod clock;
pub mod facts;
mod generated;
pub mod handle;
mod handle_names;
pub mod info;
pub mod json;
pub mod lock;
pub mod single_threaded;
pub mod status;
mod sync;
pub mod table;
pub mod text;

/// The constants of the standard ABI, by their official names (MPI-5.0, annex A and chapter 20).
///
/// Handles and buffer addresses are `usize`, offsets `i64`, all others `i32`.
pub mod abi {
    pub use crate::generated::constants::*;
}

pub use callee::{Callee, Language};
pub use facts::Facts;
pub use generated::functions;
pub use handle::{Handle, Kind};
pub use info::Info;
pub use lock::{Guard, Guarded, Held, ProcessLock, QuickGuard, ShortMutex, ShortMutexGuard};
pub use status::Status;
pub use table::Table;
