//! Requests with a recipe: persistent and generalized requests, which are more than one operation (MPI-5.0, 3.9 and
//! 13.2).
//!
//! An ordinary request is one operation under way. A request with a recipe starts such operations: a persistent send or
//! receive one after the other, a generalized request a single one, which the program completes. Completion
//! (`complete`) uses only the methods of [`Recipe`] and [`RecipeRequest`], so a further kind is a further variant here
//! and in `start`.
//! A recipe holds everything that its starts have in common, checked and looked up once: a start of a short send only
//! pushes its record.
//! Invariants: a request with a recipe has at most one operation under way. The context of a recipe exists as long as
//! the recipe (`Context::holds`).
//! Not here: making and starting such requests (`start`).
#![allow(unsafe_code)] // a start reads the buffer's bytes by the address that its recipe has found

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use mpi_core::Handle;
use mpi_datatype::{RecvBuf, SendBuf};
use mpi_fabric::{Endpoint, INLINE_BYTES, RecordHead};

use crate::chains::Key;
use crate::context::Route;
use crate::instruments::{CommInstruments, EngineInstruments, SizeInstruments};
use crate::partitions::{PartitionedReceive, PartitionedSend};
use crate::push::push;
use crate::request::{Generalized, Mode};
use crate::wire;

/// A request with a recipe.
#[derive(Debug)]
pub(crate) struct RecipeRequest {
    pub context: u32,
    pub activity: Activity,
    /// The program freed it: it ends with its operation.
    pub freed: bool,
    pub recipe: Recipe,
}

/// The operation of a request with a recipe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Activity {
    /// None is under way.
    Inactive,
    /// It was over when it was started: a short send. Its message carries the handle of the request with the recipe.
    Over,
    /// It goes on under this request.
    UnderWay(Handle),
}

/// What a request does.
#[repr(u8)] // a tag of its own, which `MPI_Start` compares
pub(crate) enum Recipe {
    /// A persistent send that may be over at once, if it is short.
    Eager(EagerSend),
    /// Any other persistent send.
    Send(PersistentSend),
    /// A persistent receive.
    Receive(PersistentReceive),
    /// An operation that the program performs.
    Generalized(Arc<dyn Generalized>),
    /// A partitioned send.
    PartitionedSend(Box<PartitionedSend>),
    /// A partitioned receive.
    PartitionedReceive(Box<PartitionedReceive>),
    /// A persistent collective operation.
    Collective(PersistentCollective),
}

/// What a persistent send does.
pub(crate) struct PersistentSend {
    pub dest: i32,
    pub tag: i32,
    pub buffer: SendBuf<'static>,
    pub mode: Mode,
}

/// What a persistent receive does.
pub(crate) struct PersistentReceive {
    pub key: Key,
    pub buffer: RecvBuf<'static>,
    /// The request that each start uses again, complete between them. A receive whose message was offered before it was
    /// started has another one.
    pub operation: Handle,
}

/// What a persistent collective operation does.
#[derive(Clone, Copy)]
pub(crate) struct PersistentCollective {
    /// Contexts of its messages, which the recipe holds.
    pub contexts: [u32; 2],
    /// The request that each start uses again, complete between them.
    pub operation: Handle,
}

/// What the starts of a short send have in common.
pub(crate) struct EagerSend {
    pub send: PersistentSend,
    /// The head of each message; its token is the handle of the request.
    pub head: RecordHead,
    pub route: Route,
    pub eager_limit: &'static AtomicU64,
    /// The communicator's metrics, if the message is the program's own.
    pub comm: Option<&'static CommInstruments>,
    pub size: &'static SizeInstruments,
    pub line: LineData,
}

/// The data of a send that fit into one line of a ring.
pub(crate) struct LineData {
    start: *const u8,
    /// `usize::MAX` for data that do not fit, or do not lie side by side.
    bytes: usize,
}

// SAFETY: an address in the buffer of the recipe, which may itself be sent.
unsafe impl Send for LineData {}
// SAFETY: as above.
unsafe impl Sync for LineData {}

impl LineData {
    /// Those of a buffer.
    pub fn of(buffer: &SendBuf<'_>) -> LineData {
        // Not from a slice: what the program does with its data between two starts ends the right of a reference.
        match buffer.as_ptr() {
            Some(start) if buffer.bytes() <= INLINE_BYTES as u64 => LineData { start, bytes: buffer.bytes() as usize },
            _ => LineData { start: std::ptr::null(), bytes: usize::MAX },
        }
    }
}

impl EagerSend {
    /// Puts a message of one line into the ring if there is room; counts it. No earlier send to its destination waits.
    #[inline(always)] // its one caller is `MPI_Start`
    pub fn send_line(&self, endpoint: &mut Endpoint, engine: &EngineInstruments) -> bool {
        let LineData { start, bytes } = self.line;
        if bytes > INLINE_BYTES || bytes as u64 > self.eager_limit.load(Relaxed) {
            return false;
        }
        // SAFETY: these are the bytes of the recipe's buffer, which are readable, and which no code writes while the
        // program starts the send.
        let memory = unsafe { std::slice::from_raw_parts(start, bytes) };
        // The head has them too; here they are constants of the code.
        let head = RecordHead { kind: wire::EAGER, flags: 0, ..self.head };
        if !endpoint.push_line(self.route.world, &head, memory) {
            return false;
        }
        self.count(engine);
        true
    }

    /// As [`EagerSend::send_line`], for a message of any number of lines.
    pub fn send_at_once(&self, endpoint: &mut Endpoint, engine: &EngineInstruments) -> bool {
        if self.send.buffer.bytes() > self.eager_limit.load(Relaxed)
            || push(endpoint, self.route.world, &self.head, &self.send.buffer).is_err()
        {
            return false;
        }
        self.count(engine);
        true
    }

    /// Counts a message that is on its way.
    #[inline(always)]
    fn count(&self, engine: &EngineInstruments) {
        let bytes = self.send.buffer.bytes();
        if let Some(comm) = self.comm {
            comm.messages_sent.incr();
            comm.bytes_sent.add(bytes);
            self.route.peer.messages_sent.incr();
            self.route.peer.bytes_sent.add(bytes);
        }
        engine.eager_sent.incr();
        engine.eager_bytes_sent.add(bytes);
        self.size.sent.incr();
    }
}

impl Recipe {
    /// The rank of the other process, or what stands for it, and the tag; a generalized request has none.
    pub fn peer_and_tag(&self) -> Option<(i32, i32)> {
        match self {
            Recipe::Eager(EagerSend { send, .. }) | Recipe::Send(send) => Some((send.dest, send.tag)),
            Recipe::Receive(receive) => Some((receive.key.source, receive.key.tag)),
            Recipe::PartitionedSend(send) => Some((send.pair.channel.peer, send.pair.channel.tag)),
            Recipe::PartitionedReceive(receive) => Some((receive.pair.channel.peer, receive.pair.channel.tag)),
            Recipe::Collective(_) => Some((-1, 0)),
            Recipe::Generalized(_) => None,
        }
    }
}

impl fmt::Debug for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Recipe::Eager(_) | Recipe::Send(_) => "Send",
            Recipe::Receive(_) => "Receive",
            Recipe::Generalized(_) => "Generalized",
            Recipe::PartitionedSend(_) => "PartitionedSend",
            Recipe::PartitionedReceive(_) => "PartitionedReceive",
            Recipe::Collective(_) => "Collective",
        })
    }
}

impl Recipe {
    /// Whether a completion leaves the request, inactive, to be started again.
    pub fn is_persistent(&self) -> bool {
        !matches!(self, Recipe::Generalized(_))
    }

    /// What the program is called for.
    pub fn callbacks(&self) -> Option<&Arc<dyn Generalized>> {
        match self {
            Recipe::Generalized(callbacks) => Some(callbacks),
            _ => None,
        }
    }

    /// Whether it is a partitioned send or receive.
    pub fn is_partitioned(&self) -> bool {
        matches!(self, Recipe::PartitionedSend(_) | Recipe::PartitionedReceive(_))
    }
}

impl RecipeRequest {
    /// The request of the operation under way, if it has one.
    #[inline]
    pub fn under_way(&self) -> Option<Handle> {
        match self.activity {
            Activity::UnderWay(request) => Some(request),
            Activity::Inactive | Activity::Over => None,
        }
    }
}
