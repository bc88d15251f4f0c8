//! Point-to-point communication: the message engine (MPI-4.1, chapter 3).
//!
//! [`Engine`] is one process's engine, over one endpoint of `mpi-fabric`. Its insides, from the wire up:
//! - `wire`: what the records between two engines mean.
//! - `chains`, `queue`, `matching`: which receive gets which message, in constant time.
//! - `context`: what the engine knows of a communicator.
//! - `recipe`, `start`: requests that start operations: persistent and generalized ones.
//! - `request`, `message`: operations under way, and messages that came before their receive.
//! - `core`: the state and its requests. `arrival`: what becomes of a record that arrives.
//! - `send`, `receive`, `direct`, `buffered`: starting operations. `transfer`, `shared_copy`, `chunk_claims`: moving large messages.
//! - `announce`: duplicates of communicators that do not wait.
//! - `asked`: what single requests and messages tell, once somebody asks; `posted`: the room in posted receives.
//! - `remote`: copying without the other process's help.
//! - `engine`: the calls. `progress`, `waiting`, `complete`: moving what can move, waiting, completing.
//! - `instruments`, `events`, `cvars`: what the engine tells of itself, and lets be set. `limits`: eager limits.
//!
//! Invariants: one `Engine` per process, all of its state behind the process's lock; nothing another process wrote
//! is used unchecked; the paths of short messages do not allocate once warm.
//! Absent on purpose: collectives (`mpi-coll`), handles of communicators (`mpi-comm`), the program's callbacks.

mod arrival;
mod buffered;
mod cancel;
mod chains;
mod chunk_claims;
mod complete;
mod context;
mod context_agreement;
mod core;
mod cvars;
mod direct;
mod engine;
mod events;
mod instruments;
mod limits;
mod matching;
mod message;
mod on_demand;
mod posted;
mod progress;
mod queue;
mod receive;
mod recipe;
mod registration;
mod remote;
mod request;
mod send;
mod service;
mod shared_copy;
mod start;
mod sync;
mod transfer;
mod waiting;
mod wire;

pub use buffered::Attached;
pub use context::{ContextSpec, UNSETTLED};
pub use context_agreement::MakeContext;
pub use cvars::{CommSettings, EngineSettings};
pub use engine::Engine;
pub use events::{MessageEvents, WaitEvents};
pub use instruments::{CommInstruments, CommMeters, Doing, EngineInstruments, PeerInstruments, SizeInstruments};
pub use limits::{AS_PROCESS, CommLimit, CommLimitCell, ProcessLimit, ProcessLimitCell};
pub use on_demand::{MessageInstruments, RequestInstruments};
pub use posted::PostedInstruments;
pub use request::{Completion, Generalized, Mode, ReceiveFailure};
pub use service::{Service, ServiceMessage};
