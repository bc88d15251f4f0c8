//! The C ABI of the MPI standard: `extern "C"` functions over the engine crates (MPI-5.0, chapter 20).
//!
//! - `generated`: the entry points, one per function, which check arguments by kind; written by `cargo xtask codegen`.
//! - `entry`, `call_context`, `check`: what those have in common: entering the library, handles, addresses and counts.
//! - `errors`: from an error to its code, by way of the right error handler.
//! - `nesting`: how deep the program's error handlers run within each other.
//! - `attributes`: calling the program's attribute callbacks.
//! - `tool_edge`: the same for the tools interface, whose errors are plain codes.
//! - `allocator`: the allocator.
//! - `imp`: the implementations, one module a subject.
//!
//! Invariant: no argument that a program passes by value can crash the library; no panic leaves it; it never calls
//! its own public names. Not here: anything that a program in Rust would need too (`mpi-env` and below).
#![allow(unsafe_code)] // C pointers become checked references here, and nowhere else

mod allocator;
mod attributes;
mod call_context;
mod check;
mod entry;
mod errors;
mod extension;
pub mod generated;
mod handle_errors;
mod imp;
mod nesting;
mod tool_edge;
