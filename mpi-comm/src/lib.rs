//! Groups, communicators and context ids (MPI-5.0, chapter 7).
//!
//! - [`group`]: ordered sets of processes.
//! - [`comm`]: the communicator: context, group, own rank, name, error handler.
//! - [`context`]: context ids that no two communicators of a job ever share.
//! - [`create`]: making and ending communicators. [`agree`], [`split`]: making them of parts of others.
//! - [`set`]: making groups out of groups.
//!
//! Invariant: a communicator's context, group and rank never change.
//! Not here: handles (`mpi-env`), matching (`mpi-p2p`), collectives (`mpi-coll`).

mod agree;
mod comm;
mod context;
mod create;
mod group;
mod set;
mod split;

pub use agree::{Agreement, agree, agree_in_group};
pub use comm::{Comm, Comparison};
pub use context::ContextIds;
pub use create::{CommSpec, agree_on_context, register, unregister};
pub use group::{Group, GroupRelation};
pub use set::ranks_of_ranges;
pub use split::by_color;
