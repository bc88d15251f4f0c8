//! Point-to-point communication: the message engine (MPI-4.1, chapter 3).
//!
//! [`Engine`] is one process's engine, over one endpoint of `mpi-fabric`. Its modules, from the wire up:
//! - `wire`: the records between two engines. `registration`: memory that the other process may copy.
//! - `chains`, `queue`, `matching`: which receive gets which message, in constant time.
//! - `request`, `recipe`, `message`, `direct`: operations under way, requests that start operations, messages that came
//!   before their receive, the receive that waits without a request.
//! - `partitions`, `arrivals`, `partition_transfer`, `partitioned`, `partition_metrics`: partitioned communication.
//! - `context`, `id_table`, `pending_contexts`: the communicators. `posted`, `on_demand`: metrics that exist while a handle does.
//! - `service_queue`, `transfer_slots`, `buffered`: what waits for services, shared copies, the attached buffer.
//! - `awaited`, `waiters`, `wait_record`: what a thread waits for, and which of several waiting threads polls.
//! - `core`: the state of all of these. `arrival`, `delivery`: handling a record that arrives.
//! - `collective_request`: requests of operations that `mpi-coll` carries out.
//! - `foreign`: processes of other jobs, and the end of operations with processes that have ended.
//! - `room_word`, `room_waits`: waiting for what other processes publish in shared memory.
//! - `pairs`, `pair_parts`: a send and a receive under one request.
//! - `push`, `send`, `buffered_send`, `receive`, `direct_receive`: starting operations. `transfer`, `shared_copy`,
//!   `chunk_claims`: moving long messages. `copy_job`, `copies`, `copying`: copying them with the lock released.
//!   `cancel`, `revoke`: taking operations back. `progress`: moving what can move.
//! - `int_handles`: handles by Fortran integers.
//! - `owned`, `owned_exchange`: operations with their data, for programs in Rust; `owned_restart`: starts of several.
//! - `engine`: the calls. `waiting`, `complete`, `get_status`, `probe`, `start`, `generalized`, `buffer_calls`,
//!   `remote`, `service`, `context_agreement`, `on_demand_handles`, `posted_handles`: further calls, by subject.
//! - `instruments`, `events`, `request_events`, `cvars`, `limits`, `pipelined_limit`, `both_limit`: metrics, events and settings.
//!
//! The graph of modules has no cycle.
//! Invariants: one `Engine` per process, all of its state behind the process's lock; nothing that another process wrote
//! is used unchecked; the paths of short messages do not allocate once warm.
//! Absent on purpose: collectives (`mpi-coll`), handles of communicators (`mpi-comm`), the program's callbacks, except
//! those of generalized requests.

mod ahead;
mod arrival;
mod arrivals;
mod at_once;
mod awaited;
mod background;
mod both_limit;
mod buffer_calls;
mod buffered;
mod buffered_send;
mod cancel;
mod chains;
mod chunk_claims;
mod collective_request;
mod complete;
mod context;
mod context_agreement;
mod copies;
mod copy_job;
mod copy_ways;
mod copying;
mod core;
mod cvars;
mod delivery;
mod direct;
mod direct_receive;
mod disconnect;
mod engine;
mod events;
mod foreign;
mod freed_ids;
mod generalized;
mod get_status;
mod id_table;
mod instruments;
mod int_handles;
mod limits;
mod matching;
mod message;
mod on_demand;
mod on_demand_handles;
mod owned;
mod owned_exchange;
mod owned_message;
mod owned_restart;
mod pair_parts;
mod pairs;
mod partition_metrics;
mod partition_transfer;
mod partitioned;
mod partitions;
mod pending_contexts;
mod pipelined_limit;
mod posted;
mod posted_handles;
mod posted_queue;
mod probe;
mod progress;
mod progress_thread;
mod push;
mod queue;
mod queue_map;
mod receive;
mod recipe;
mod region_table;
mod registration;
mod remote;
mod request;
mod request_events;
mod return_message;
mod revoke;
mod room_waits;
mod room_word;
mod run_table;
mod segmented;
mod selection;
mod send;
mod service;
mod service_queue;
mod shared_copy;
mod short_receive;
mod start;
mod sync;
mod test_pass;
mod transfer;
mod transfer_slots;
mod wait_record;
mod waiters;
mod waiting;
mod wildcards;
mod wire;

pub use buffered::{Attached, BufferOwner};
pub use context::{BLOCK_OF_IDS, ContextSpec, PENDING_CONTEXT, SHARED_IDS};
pub use cvars::{AUTOMATIC, CommSettings, EngineSettings};
pub use engine::{Engine, Service, ServiceMessage};
pub use events::{MessageEvents, WaitEvents};
pub use foreign::TAGS_OF_SOME;
pub use get_status::Found;
pub use instruments::{CommInstruments, CommMeters, Doing, EngineInstruments, PeerInstruments, SizeInstruments};
pub use limits::{AS_PROCESS, CommLimit, CommLimitCell, ProcessLimit, ProcessLimitCell};
pub use mpi_fabric::EpochCount;
pub use mpi_fabric::{
    Awaited as AwaitedWord, Channel, IN_LINE, LONGEST_PASSED, Place, Publication, Published, RoomWord,
};
pub use on_demand::{MessageInstruments, RequestInstruments};
pub use owned::OwnedOperation;
pub use owned_exchange::OwnedExchange;
pub use owned_message::OwnedMessage;
pub use owned_restart::OwnedRestart;
pub use partition_metrics::{PartitionEvents, PartitionInstruments};
pub use pending_contexts::MakeContext;
pub use pipelined_limit::CalibrationInstruments;
pub use posted::PostedInstruments;
pub use request::{Completion, Generalized, Mode, ReceiveFailure};
pub use send::StartedLine;
pub use service::LONGEST_FOR_SERVICE;
pub use short_receive::{Received, ShortReceive};
pub use start::StartedRequest;
