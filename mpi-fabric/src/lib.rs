//! Moving bytes between the processes of a job over shared memory.
//!
//! One [`Endpoint`] per rank. It pushes short records (a head and up to [`Endpoint::max_payload`] bytes) into a ring at
//! the receiver, polls the rings of its own, copies between address spaces where the kernel allows it, and waits on a
//! [`Doorbell`]. All of it lies in one *job memory*, made by the launcher, whose format is in `FORMAT.md`.
//!
//! - [`layout`]: where everything lies in the job memory.
//! - [`ring`]: the single-producer, single-consumer queue of records.
//! - [`Channel`]: flags and slots of the collectives of one communicator. `coll_room`: the memory of a rank for them.
//! - [`EpochCounts`]: counts of the epochs of each pair of processes of a window. `raised_word`: words to wait for.
//! - `cells`: memory that passes to the receiver of a payload.
//! - `copy_buffer`: the memory of a sender through which longer payloads go.
//! - [`calibration`]: measured rates of this host, and up to which length such payloads are faster than copies by the kernel.
//! - [`doorbell`]: spin, yield, sleep; and the protocol that loses no wake-up.
//! - [`RegionKey`], [`Registration`]: memory that peers may read and write. [`Copier`]: copies by any thread.
//!   [`remote`]: how copies between processes are made. [`SharedMemory`]: memory that others map too;
//!   `shared_objects`: a table of it. [`Arena`]: shared memory for blocks of the program; `peer_arenas`: that of others.
//! - `peer`: rings to and from a peer. `peer_process`: its process.
//! - [`BridgeKey`], [`PeerPins`]: processes of other jobs, reached by bridges (`bridge`).
//! - [`Transport`]: the interface to a network. [`simulated`]: a network in virtual time, for tests.
//! - [`queue_map`]: where the queues of a process lie, for readers outside.
//! - [`recorder`]: the flight recorder, the last calls of each rank.
//! - [`instruments`]: variables that live in the job memory, visible from outside.
//! - [`signal_mask`]: calls that grow files and memory without the deadly signal of a limit.
//! - [`statistics`]: a table of the performance variables of all ranks.
//! - [`job`]: the job memory as the launcher and other processes see it. [`block_copy`]: copies of ranks' parts of it.
//!
//! Invariant: what another process wrote is input; a bad record, length or offset is an error that names the peer, and
//! never a crash. Not here: matching, protocols, requests (`mpi-p2p`); starting processes (`mpi-launch`).
#![allow(unsafe_code)] // raw shared memory and system calls; each block states the facts that make it sound
#![cfg_attr(loom, allow(dead_code, unused_imports))] // the models use the protocols only

pub mod layout;
pub mod record;
pub mod recorder;
pub mod ring;
mod sync;

#[cfg(not(loom))]
mod arena;
#[cfg(not(loom))]
pub mod block_copy;
#[cfg(not(loom))]
mod bridge;
#[cfg(not(loom))]
pub mod calibration;
#[cfg(not(loom))]
mod cells;
#[cfg(not(loom))]
mod channel;
mod coll_room;
#[cfg(not(loom))]
pub mod connections;
#[cfg(not(loom))]
mod copy_buffer;
#[cfg(not(loom))]
mod endpoint;
mod epoch_counts;
#[cfg(not(loom))]
mod fault;
#[cfg(not(loom))]
pub mod host;
#[cfg(not(loom))]
pub mod instruments;
#[cfg(not(loom))]
pub mod job;
#[cfg(not(loom))]
mod job_parts;
#[cfg(not(loom))]
mod mapping;
mod memory_lock;
#[cfg(not(loom))]
mod open_waits;
#[cfg(not(loom))]
mod os;
#[cfg(not(loom))]
mod pages_on_demand;
#[cfg(not(loom))]
mod peer;
#[cfg(not(loom))]
mod peer_arenas;
#[cfg(not(loom))]
mod peer_process;
#[cfg(not(loom))]
mod pieces;
mod prefetching;
pub mod queue_map;
#[cfg(not(loom))]
mod raised_word;
#[cfg(not(loom))]
mod rank_block;
pub mod rank_list;
mod rank_lock;
#[cfg(not(loom))]
mod region;
#[cfg(not(loom))]
pub mod remote;
#[cfg(not(loom))]
mod settings;
#[cfg(not(loom))]
mod shared;
#[cfg(not(loom))]
mod shared_objects;
#[cfg(not(loom))]
pub mod signal_mask;
#[cfg(not(loom))]
pub mod simulated;
#[cfg(not(loom))]
pub mod statistics;
#[cfg(not(loom))]
mod streaming;
#[cfg(not(loom))]
pub mod traffic;
#[cfg(not(loom))]
mod transfer;
#[cfg(not(loom))]
mod transport;
#[cfg(not(loom))]
mod variables;

pub mod doorbell;

#[cfg(not(loom))]
pub use {
    arena::Arena,
    bridge::{BridgeKey, BridgeOffer, EnteredBridge, JoinedBridge, PeerPins, lost_peer},
    channel::{Channel, IN_LINE, LONGEST_PASSED, Place, Publication, Published},
    doorbell::{Doorbell, ThreadWord, Ticket, Wait, WaitPolicy, WaitStep},
    endpoint::{Attachment, Copier, Endpoint, Extent, HostShare, LineRoom, Near, NetworkSource, Records},
    epoch_counts::{EpochCount, EpochCounts},
    host::HostFacts,
    instruments::JobInstruments,
    job::{AbortCause, Job, JobOptions},
    open_waits::{OpenWaits, Unfinished},
    pages_on_demand::PagesOnDemand,
    peer_process::{runs, start_time},
    pieces::Piece,
    raised_word::{Awaited, RoomWord},
    rank_block::Life,
    rank_lock::RankLocks,
    recorder::{Mark, Recorder},
    region::{Access, RegionKey, Registration},
    settings::{FabricSettings, RecorderCell, RecorderDepth, RecorderTimes},
    shared::{ResolvedMemoryLock, SharedMemory, SharedMemoryGuard},
    transfer::TransferSlot,
    transport::{
        BellRinger, CopyState, NetworkCopies, ProcessId, RemotePeer, StartedCopy, Transport, Waiter, Waiting, Way,
    },
    variables::{FabricInstruments, RingInstruments},
};

pub use rank_lock::RankLock;
pub use record::{Full, INLINE_BYTES, Payload, RecordHead, Sink};
pub use ring::Expected;
