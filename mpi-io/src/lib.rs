//! Files, opened collectively by the processes of a communicator (MPI-5.0, chapter 14).
//!
//! - [`Io`]: opening and deleting, for one process. [`OpenArgs`]: the checked arguments of the program.
//! - [`File`]: an open file: access by position and by the individual file pointer, size, hints.
//! - [`AccessMode`]: the `MPI_MODE_*` bits and their rules.
//! - [`View`]: the view of a process on a file. [`Typed`]: memory of an access, with its datatype. [`Representation`]:
//!   the representation of data; `convert`, `registered`: accesses with one that is not as in memory.
//! - `atomicity`: locks on accessed ranges. `split`, `split_access`: split collective accesses.
//! - `plain`: accesses without gaps, in a short way. `places`: where their data lie.
//! - `collective_access`: collective accesses; `two_phase`, `stage`: those through shared windows, `cover`: whether data
//!   fill a window. `sieve`: strided accesses of one process. `window`: data of a view in memory. `hints`, `buffering`.
//! - `shared`: accesses by the shared file pointer. `pointer`: its shared word. `shared_memory`: its memory.
//! - Processes of several hosts: `same_file`: whether they have opened the same file. `served`: the shared file pointer.
//!   `parcels`, `runs`: collective accesses through windows.
//! - `report`: faults and numbers that the processes of a file exchange. `fault`: error classes of the system's errors.
//! - `instruments`: performance variables of a file.
//!
//! Names of files are paths in the system's form, relative ones from the process's current directory. There are no
//! prefixes for file systems: a colon is an ordinary character.
//!
//! Invariants: when opening fails in one process it fails in all with the same class, and no file stays open or
//! created; no lock of the process is held during a system call on a file.
//! Not here: handles of files (`mpi-env`).

mod access;
mod amode;
mod atomicity;
mod buffering;
mod by_element;
mod collective;
mod collective_access;
mod convert;
mod cover;
mod datarep;
mod fault;
mod file;
mod hints;
mod instruments;
mod interrupted;
mod moved;
mod open;
mod openers;
mod parcels;
mod places;
mod plain;
mod pointer;
mod registered;
mod report;
mod runs;
mod same_file;
mod served;
mod shared;
mod shared_memory;
mod sieve;
mod split;
mod split_access;
mod stage;
mod two_phase;
mod typed;
mod view;
mod window;

pub use amode::AccessMode;
pub use by_element::{ByElement, DataRepresentation};
pub use datarep::{Conversions, Registered, Representation};
pub use file::{File, Whence};
pub use instruments::FileInstruments;
pub use open::{Io, OpenArgs};
pub use split_access::SplitKind;
pub use typed::{Memory, Typed};
pub use view::{View, ViewType};
