//! Groups, communicators and context ids (MPI-5.0, chapter 7).
//!
//! - `group`: ordered sets of processes.
//! - `comm`: the communicator: context, group, own rank, name, error handler.
//! - `remote`: the other side of an intercommunicator.
//! - `context`: context ids that no two communicators of a job ever share.
//! - `connect`, `leaders`: a new intercommunicator of two groups. `routes`: between processes of several jobs. `merge`, `subsets`: communicators created from one.
//! - `create`: creating and freeing communicators. `split`: groups by color and key.
//! - `exchange`: words of each process, received by all. `both_groups`: the same in two groups. `tags`: their tags.
//! - `internal_meters`: instruments of internal communicators.
//! - `context_agreement`: the context id of a new communicator.
//! - `pending_ops`, `outcome`: several messages at once, and calls that continue after an error.
//! - `hosts`, `host_number`: which processes of a communicator share memory.
//! - `sent_class`: errors whose class another process has sent.
//! - `set`: making groups out of groups.
//! - `comm_topology`: the topology of a communicator.
//! - `topology`: grids and graphs of the processes of a communicator. `edge_exchange`: edges that others name.
//!
//! Invariant: a communicator's context, group and rank never change.
//! Not here: handles (`mpi-env`), matching (`mpi-p2p`), collectives (`mpi-coll`).

mod both_groups;
mod comm;
mod comm_topology;
mod connect;
mod context;
mod context_agreement;
mod create;
mod edge_exchange;
mod exchange;
mod group;
mod host_number;
mod hosts;
mod internal_meters;
mod leaders;
mod merge;
mod outcome;
mod pending_ops;
mod remote;
mod routes;
mod sent_class;
mod set;
mod split;
mod subsets;
mod tags;
pub mod topology;

pub use both_groups::WordExchange;
pub use comm::{Channels, Comm, Comparison};
pub use connect::{Connection, ExpectedRemote, PeerLeader, connect, connect_jobs};
pub use context::ContextIds;
pub use context_agreement::{Agreement, agree, agree_in_group, agree_on_context, spans_jobs};
pub use create::{CommSpec, RemoteSpec, contexts_of, register, unregister, unregistered};
pub use edge_exchange::distribute;
pub use exchange::Exchange;
pub use group::{Group, GroupRelation};
pub use host_number::host_number;
pub use hosts::Hosts;
pub use internal_meters::InternalMeters;
pub use leaders::{AgreedLeaders, RemoteSide, agree_on_leaders};
pub use merge::merged;
pub use outcome::Outcome;
pub use pending_ops::{Expected, PendingOps};
pub use remote::Remote;
pub use set::ranks_of_ranges;
pub use split::{by_color, by_color_in_both};
pub use subsets::{PLACE_OUTSIDE, place_in, subsets};
pub use tags::{CHANNELS as CHANNELS_TAG, TOPOLOGY as TOPOLOGY_TAG};
