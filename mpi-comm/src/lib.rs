//! Groups, communicators and context ids (MPI-5.0, chapter 7).
//!
//! - `group`: ordered sets of processes.
//! - `comm`: the communicator: context, group, own rank, name, error handler.
//! - `context`: context ids that no two communicators of a job ever share.
//! - `create`: creating and freeing communicators. `split`: groups by color and key.
//! - `exchange`: words of each process, received by all. `context_agreement`: the context id of a new communicator.
//! - `pending_ops`, `outcome`: several messages at once, and calls that continue after an error.
//! - `set`: making groups out of groups.
//!
//! Invariant: a communicator's context, group and rank never change.
//! Not here: handles (`mpi-env`), matching (`mpi-p2p`), collectives (`mpi-coll`).

mod comm;
mod context;
mod context_agreement;
mod create;
mod exchange;
mod group;
mod outcome;
mod pending_ops;
mod set;
mod split;

pub use comm::{Comm, Comparison};
pub use context::ContextIds;
pub use context_agreement::{Agreement, agree, agree_in_group, agree_on_context};
pub use create::{CommSpec, register, unregister};
pub use exchange::Exchange;
pub use group::{Group, GroupRelation};
pub use outcome::Outcome;
pub use pending_ops::{Expected, PendingOps};
pub use set::ranks_of_ranges;
pub use split::by_color;
