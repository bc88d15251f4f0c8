//! The tool stack: `libferrum_stack.so`, which `mpiexec --tool` preloads into programs. It puts several tools in front of
//! the library, in a given order, without changing the tools.
//!
//! The library defines every `MPI_X` as a jump through a table (`generated`, `entry_x86_64.s`), which leads to the first
//! tool that defines the function. In each tool the relocations of `PMPI_X` are changed to the next tool that defines
//! `MPI_X`, in the last one to the library. So a call passes through the tools with no code of the stack in between.
//!
//! - `table`, `entry`: where the entry points lead, and what they call before they lead to tools.
//! - `stack`: the list of tools from the environment; loading and chaining them.
//! - `image`: a loaded shared object: its symbols and relocations.
//! - `objects`: the loaded objects of the process, and private copies of files.
//! - `helpers`: copies of libraries that several tools share.
//! - `typed`: tools with the typed interface of `ferrum_stack.h`, each behind a copy of the adapter.
//! - `handlers`: what typed tools register for the end of the process.
//! - `tools`: the tools `calls`, `profile` and `timeline`.
//!
//! Invariant: without `FERRUM_TOOLS` nothing is loaded or changed, and a program that has no MPI library runs as it does
//! without the stack. Not here: the options of `mpiexec` and the reports at the end (mpi-launch).
#![allow(unsafe_code)] // entry points, the dynamic linker, memory shared with mpiexec

mod entry;
mod fatal;
mod functions;
mod generated;
mod handlers;
mod helpers;
mod image;
mod objects;
mod stack;
mod table;
mod tools;
mod typed;
