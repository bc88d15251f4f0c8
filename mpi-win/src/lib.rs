//! One-sided communication (MPI-5.0, chapter 12): windows, and what processes do in each other's windows.
//!
//! - [`Win`]: a window: its processes, what each of them exposes, its name, hints and error handler.
//! - [`OneSided`]: the one-sided calls of one process; `create` makes and ends windows, `access` and `fetch` have the
//!   operations, `fence` the synchronisation of active targets.
//! - `exposure`: the arguments of a new window. `target`: the memory that an operation names. `basic`: predefined
//!   datatypes, which records carry. `combine`: what an accumulation does to elements.
//! - `wire`, `epoch`, `serve`: operations that go as messages, which their target's service carries out as they
//!   arrive.
//! - `obtain`: getting a window's memory. `memory`: the only door to it.
//! - `hints`, `instruments`, `settings`: what a window is told, tells, and what can be set.
//!
//! How data moves: memory that the library allocates is mapped by all processes of the window, which then do everything
//! themselves, accumulations under a lock that stands beside the memory. Of memory that is the program's, a put or a
//! get of bytes that lie one after the other is copied at once by the kernel's help where that is allowed;
//! accumulations, and whatever cannot be copied directly, go as messages and are carried out by the process that owns
//! the memory, under its own lock, in whatever call makes progress there. In either case each element is changed by one accumulation at a
//! time. A fence agrees on how many messages everybody has to expect.
//!
//! Invariants: an access reaches no byte that its target's owner did not expose, checked on both sides; an operation
//! touches memory only between two fences of both processes; no program code runs in here.
//! Not here: handles and attributes of windows (`mpi-env`), argument checks of the C interface (`mpi-capi`).

mod access;
mod basic;
mod combine;
mod create;
mod epoch;
mod exposure;
mod fence;
mod fetch;
mod hints;
mod instruments;
mod memory;
mod obtain;
mod serve;
mod settings;
mod swap;
mod target;
mod window;
mod wire;

use std::sync::Arc;

use mpi_coll::Collectives;
use mpi_p2p::{CommMeters, Engine};

pub use exposure::{Exposure, Flavor};
pub use hints::Hints;
pub use instruments::WinInstruments;
pub use settings::WinSettings;
pub use target::Target;
pub use window::{Win, WinAttributes};

/// The one-sided calls of one process. Thread-safe: threads may be in calls on different windows, and start operations
/// on the same one.
#[derive(Clone)]
pub struct OneSided {
    engine: Arc<Engine>,
    coll: Collectives,
    settings: &'static WinSettings,
    /// Windows' own messages are nobody's traffic: all windows share a block that is not shown.
    unseen: CommMeters,
}

impl OneSided {
    /// The one-sided calls over an engine and its collectives.
    pub fn new(engine: Arc<Engine>, coll: Collectives) -> OneSided {
        OneSided { unseen: CommMeters::detached(engine.size()), engine, coll, settings: WinSettings::new() }
    }

    /// What can be set of one-sided communication.
    pub fn settings(&self) -> &'static WinSettings {
        self.settings
    }
}
