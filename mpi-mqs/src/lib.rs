//! `libferrum_mqs.so`: the message queues and communicators of a process, for debuggers.
//!
//! A debugger loads this library into itself. The interface is that of J. Cownie and W. Gropp, "A Standard Interface for
//! Debugger Access to Message Queue Information in MPI" (EuroPVM/MPI 1999), as the MPI Forum's document "MPI Message Queue
//! Dumping Interface 1.0" has it. The debugger looks up symbols and reads the memory of the process: running, stopped, or a
//! core file.
//!
//! - `interface`: the types of the interface.
//! - `library`: its functions.
//!
//! Invariant: nothing of the process is executed or changed, and whatever its memory contains, each function returns.
//! Not here: reading the queues (`mpi_observe::queues`), the processes of a job (`mpi-launch`).
#![allow(unsafe_code)] // functions called from C

pub mod interface;
pub mod library;
