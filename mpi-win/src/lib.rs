//! One-sided communication (MPI-5.0, chapter 12): windows, and operations on the windows of other processes.
//!
//! - [`Win`]: a window: its processes, the memory that each of them exposes, its name, hints and error handler.
//! - [`OneSided`]: the one-sided calls of one process; `create` makes and ends windows, `access` and `fetch` have the
//!   operations; `fence`, `active` (post and start) and `passive` (locks) begin and end epochs. `assertions`: the
//!   arguments of these. `requested`: operations with requests.
//! - `message_locks`, `lock_queue`: locks that the owner of the memory grants, where the processes share none.
//! - `exposure`: the arguments of a new window. `target`, `place`: the memory that an operation names. `elements`,
//!   `basic`: their types. `blocks`: memory of derived types in records. `combine`: the effect of an accumulation on
//!   elements. `accumulate`: accumulations in steps, each under the memory's lock.
//! - `short`: short ways of the most frequent calls. `single`: the effect of an accumulation on one element.
//! - `wire`, `epoch`, `sending`, `replies`, `serve`: operations that are sent as messages, which their target's service
//!   applies as they arrive.
//! - `obtain`: allocating a window's memory. `memory`: the only code that accesses it. `attach`, `attached`: memory that
//!   the program attaches later.
//! - `borrowed`, `owned` with `program_data`, `shared_parts`: the forms for programs in Rust, with borrowed data, a
//!   vector, shared memory.
//! - `hints`, `instruments`, `settings`: a window's hints, performance variables and control variables.
//!
//! Data transfer: memory that the library allocates is mapped by all processes of the window, which then perform all
//! operations themselves, accumulations under a lock of that memory. In memory of the program, the kernel copies a put
//! or a get of contiguous bytes, or of long runs of bytes, at once where it permits that; accumulations, and other
//! operations that cannot be copied directly, are sent as messages, and the process that owns the memory applies them,
//! under a lock of the memory, in any call that makes progress. In either case each element is changed by one
//! accumulation at a time. Locks of the memory are words that all processes have mapped, or, where these are not all of
//! one host, are granted by the service of the process that owns the memory. The process lock is released while an operation on more than some kilobytes runs. A fence
//! of mapped memory is a barrier; another one computes how many messages each process must expect.
//!
//! Invariants: an access reaches no byte that its target's owner did not expose, checked on both sides; an operation
//! accesses memory only in an epoch of its process for the target; no code of the program runs in this crate.
//! Not here: handles and attributes of windows (`mpi-env`), argument checks of the C interface (`mpi-capi`).

mod access;
mod accumulate;
mod active;
mod assertions;
mod attach;
mod attached;
mod background;
mod basic;
mod blocks;
mod borrowed;
mod combine;
mod create;
mod elements;
mod epoch;
mod exposure;
mod fence;
mod fetch;
mod hints;
mod instruments;
mod lock_queue;
mod memory;
mod message_locks;
mod obtain;
mod owned;
mod owned_access;
mod owned_attach;
mod passive;
mod place;
mod program_data;
mod replies;
mod requested;
mod sending;
mod serve;
mod settings;
mod shared_parts;
mod short;
mod single;
mod swap;
mod target;
mod window;
mod wire;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering, fence};

use mpi_coll::Collectives;
use mpi_comm::InternalMeters;
use mpi_core::Guard;
use mpi_p2p::Engine;

pub use borrowed::EpochAccess;
pub use exposure::{Exposure, Flavor};
pub use hints::Hints;
pub use instruments::WinInstruments;
pub use owned_access::OwnedAccess;
pub use owned_attach::Address;
pub use settings::WinSettings;
pub use shared_parts::{AtomicElement, ReadParts, SharedAtomics, SharedParts};
pub use short::{SHORT_BYTES, Shortly};
pub use target::Target;
pub use window::{Win, WinAttributes};

/// The one-sided calls of one process. Thread-safe: threads may be in calls on different windows, and start operations
/// on the same one.
#[derive(Clone)]
pub struct OneSided {
    engine: Arc<Engine>,
    coll: Collectives,
    settings: &'static WinSettings,
    /// Messages of windows are not the program's: all windows share a block that tools do not see.
    internal_meters: InternalMeters,
    /// Whether stores of operations may still be in the processor's buffer, which later loads overtake. Changed under
    /// the process lock.
    stored: Arc<AtomicBool>,
}

impl OneSided {
    /// The one-sided calls over an engine and its collectives.
    pub fn new(engine: Arc<Engine>, coll: Collectives) -> OneSided {
        OneSided {
            internal_meters: InternalMeters::default(),
            engine,
            coll,
            settings: WinSettings::new(),
            stored: Arc::default(),
        }
    }

    /// Control variables of one-sided communication.
    pub fn settings(&self) -> &'static WinSettings {
        self.settings
    }

    /// An operation has stored to memory that other processes have mapped.
    ///
    /// Processors keep stores in order, and complete them soon, so that a flush needs no fence: who finds a later store
    /// finds these. A load of a later operation must not overtake them, because they are complete: it calls
    /// [`OneSided::order_stores`] first. Loads of the program see other processes' operations eventually; those that
    /// have to be ordered follow a call of `MPI_Win_sync` (MPI-5.0, 12.4).
    #[inline(always)]
    fn stored(&self, _guard: &Guard<'_>) {
        // Relaxed: under the process lock.
        self.stored.store(true, Ordering::Relaxed);
    }

    /// Orders the stores of operations before the loads that follow.
    #[inline(always)]
    fn order_stores(&self, guard: &Guard<'_>) {
        // Relaxed: as above. A thread that takes the lock after another one stored finds that thread's stores complete,
        // or orders them by its own fence, which all processors make cumulative.
        if self.stored.load(Ordering::Relaxed) {
            self.order_stores_now(guard);
        }
    }

    /// In line, because a call would make its callers keep what they need afterwards.
    #[inline(always)]
    fn order_stores_now(&self, _guard: &Guard<'_>) {
        fence(Ordering::SeqCst);
        self.stored.store(false, Ordering::Relaxed);
    }
}
