//! MPI for Rust programs: start, messages, collectives, variables, without a line of unsafe code.
//!
//! - [`init`] gives the [`World`]; when it goes out of scope, MPI is finalized. [`run`] does both, and turns an error
//!   into a report that ends the job. [`init_multiple`] and [`run_multiple`]: for programs with threads.
//! - [`Communicator`]: processes that send messages to each other and call collectives together. The world is one;
//!   it makes others of all or of some processes.
//! - [`Peer`]: messages to and from one process of a communicator, or from any. [`Sending`] and [`Receiving`]: those under
//!   way. [`Communicator::scope`]: several at once, of borrowed data. [`Exchange`]: one to a process and one from a
//!   process at once. [`Persistent`]: those that are sent again and again.
//! - [`Message`]: one that a matched probe has found. [`SendMode`]: synchronous, buffered and ready sends.
//! - [`Collective`]: a collective operation that is [`Started`] and waited for later, or [`Repeated`]. [`Block`]: the data
//!   for one process in exchanges of layouts.
//! - [`Request`]: operations of any kinds and types that are waited for together ([`wait_any`], [`wait_all`]).
//! - [`start_all`]: persistent operations of any kinds that are started together.
//! - [`Group`]: an ordered set of processes, of which communicators are made.
//! - [`Grid`]: processes as neighbours in a grid, with [`balance`] for its dimensions. [`Graph`]: in a graph.
//! - [`Intercomm`]: two groups of processes that send messages to each other, with an [`InterCollective`] between them.
//! - [`Program`]: processes that a communicator [spawns](Communicator::spawn). [`Port`]: where jobs that were started
//!   separately connect.
//! - [`GeneralizedRequest`]: an operation of the program that is waited for like a message.
//! - [`Layout`]: messages of elements that do not lie side by side, such as the column of a matrix.
//! - [`Element`]: the types of data, with a derive macro for structs. [`Located`]: a value with its place.
//! - [`Window`]: memory that other processes read and change; [`WindowAccess`]: one operation on it under way; [`Address`]:
//!   the place of a vector that is attached. [`SharedWindow`], [`SharedAtomics`]: memory that the
//!   processes of a host share. [`File`]: a file that all processes open together.
//! - [`Hints`]: keys with values for communicators, windows and files. [`version`], [`processor_name`], [`wtime`],
//!   [`started_with`], [`hardware`]: inquiries.
//! - [`test`](macro@test): tests on several processes under `cargo test`.
//! - [`tool`]: control and performance variables, before, while and after MPI is initialized.
//! - [`core`], [`errors`], [`t`], [`datatype`], [`fabric`], [`p2p`], [`comm`], [`coll`],
//!   [`io`], [`mod@env`]: the crates underneath.
//!
//! ```no_run
//! mpi::run(|world| {
//!     let next = (world.rank() + 1) % world.size();
//!     world.process(next).send(&[world.rank()], 0)?;
//!     let (from, _) = world.any().receive::<u32>(0)?;
//!     println!("rank {} received {:?}", world.rank(), from);
//!     world.barrier()
//! });
//! ```
//!
//! A panic ends the job, because the other processes would wait for ever for this one.
//! Invariant: MPI is initialized at most once in a process, so a process has at most one [`World`].
//! Not here: the implementation (the crates underneath); this crate makes it safe and short.

mod arrangement;
mod between;
mod between_varying;
mod block;
mod call;
mod coll_functions;
mod collective;
mod combine;
mod communicator;
#[cfg(doctest)]
mod derived;
mod duplicating;
mod dynamic;
mod environment;
mod exchange;
mod file;
mod file_access;
mod file_collective;
mod file_layout;
mod file_split;
mod file_started;
mod file_view;
mod generalized;
mod graph;
mod grid;
mod group;
mod hints;
mod immediate;
mod inter_collective;
mod intercomm;
mod into;
mod layout;
mod message;
mod operation;
mod peer;
mod persistent;
mod request;
mod restart;
mod scope;
mod send_buffer;
mod send_mode;
mod session;
mod shared_window;
mod started;
#[doc(hidden)]
pub mod testing;
mod threads;
pub mod tool;
mod varying;
mod window;
mod window_attached;
mod window_epochs;
mod window_layout;
mod window_started;
mod world;

pub use between::Part;
pub use block::Block;
pub use combine::Combine;
pub use communicator::Communicator;
pub use duplicating::Duplicating;
pub use dynamic::{Port, Program};
pub use environment::{
    hardware, is_finalized, is_initialized, library_version, processor_name, started_with, version, wtick, wtime,
};
pub use exchange::Exchange;
pub use file::{Access, File};
pub use file_split::SplitAccess;
pub use file_started::FileAccess;
pub use generalized::{Completer, GeneralizedRequest};
pub use graph::{Edge, Graph, Neighbor};
pub use grid::{Grid, balance};
pub use group::Group;
pub use hints::Hints;
pub use immediate::{Receiving, Sending};
pub use inter_collective::InterCollective;
pub use intercomm::Intercomm;
pub use mpi_coll as coll;
pub use mpi_comm as comm;
pub use mpi_comm::{Comparison, GroupRelation};
pub use mpi_core as core;
pub use mpi_datatype as datatype;
pub use mpi_env as env;
pub use mpi_errors as errors;
pub use mpi_fabric as fabric;
pub use mpi_io as io;
pub use mpi_io::DataRepresentation;
pub use mpi_macros::{Element, test};
pub use mpi_p2p as p2p;
pub use mpi_t as t;
pub use mpi_win as win;
pub use mpi_win::{Address, AtomicElement, ReadParts};

pub use layout::Layout;
pub use message::Message;
pub use mpi_datatype::{Element, Located, Value};
pub use mpi_errors::{Error, ErrorClass, Result};
pub use operation::Operation;
pub use peer::{ANY_TAG, Peer, Received};
pub use persistent::Persistent;
pub use request::{Request, test_all, test_any, test_some, wait_all, wait_any, wait_some};
pub use restart::{Restart, start_all};
pub use scope::Scope;
pub use send_buffer::{Flushing, SendBuffer};
pub use send_mode::SendMode;
pub use session::Session;
pub use shared_window::{SharedAtomics, SharedWindow};
pub use started::{Collective, Repeated, Started};
pub use threads::{Multiple, Single, ThreadUse};
pub use window::{Epoch, Window};
pub use window_epochs::Lock;
pub use window_started::WindowAccess;
pub use world::{World, init, init_multiple, run, run_multiple};
