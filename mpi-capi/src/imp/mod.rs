//! The implementations of the entry points: each gets checked arguments and calls the engine crates.
//!
//! Invariant: an implementation writes its results last, after everything that can fail.
//! Not here: checks that follow from a parameter's kind (generated), the operations themselves (the crates below).

pub mod attribute;
pub mod buffer;
pub mod cart;
pub mod category;
pub mod coll;
pub mod comm;
pub mod comm_create;
pub mod cvar;
pub mod datatype;
pub mod dist_graph;
pub mod env;
pub mod errhandler;
pub mod error_codes;
pub mod event;
pub mod event_callback;
pub mod event_instance;
pub mod event_source;
pub mod file;
pub mod file_access;
pub mod file_shared;
pub mod file_split;
pub mod file_start;
pub mod file_view;
pub mod fortran;
pub mod generalized;
pub mod get_status;
pub mod graph;
pub mod group;
pub mod info;
pub mod int_handles;
pub mod intercomm;
pub mod life;
pub mod many;
pub mod memory;
pub mod op;
pub mod pack;
pub mod partitioned;
pub mod persistent;
pub mod pvar;
pub mod receive;
pub mod request;
pub mod send;
pub mod send_receive;
pub mod session;
pub mod status;
pub mod status_forms;
pub mod tool;
pub mod tool_enum;
pub mod type_contents;
pub mod type_create;
pub mod win;
pub mod win_access;
pub mod win_attribute;
