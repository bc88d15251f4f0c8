//! The doorbell as waiters use it.
//!
//! ```
//! # use mpi_fabric::{Endpoint, Spell, Sink, RecordHead, Payload};
//! # struct Count(u32);
//! # impl Sink for Count { fn record(&mut self, _: u32, _: &RecordHead, _: Payload<'_>) { self.0 += 1; } }
//! # let mut endpoint = Endpoint::world_of_one()?;
//! # endpoint.push(0, &RecordHead::default(), &[]).expect("an empty ring has room");
//! # let mut sink = Count(0);
//! let doorbell = endpoint.doorbell();
//! let mut wait = doorbell.spell();
//! while endpoint.poll(&mut sink)? == 0 {
//!     if let Spell::Sleep(ticket) = wait.next() {
//!         if endpoint.poll(&mut sink)? != 0 {
//!             break; // what came since the ticket was made would ring no more
//!         }
//!         doorbell.sleep(ticket);
//!     }
//! }
//! # assert_eq!(sink.0, 1);
//! # Ok::<(), mpi_errors::Error>(())
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use super::policy::{BURST, WaitPolicy};
use super::protocol::{Bell, LinuxKernel};
use crate::layout::block;
use crate::mapping::Mapping;
use crate::variables::FabricInstruments;

struct Shared {
    mapping: Arc<Mapping>,
    block_at: usize,
    policy: Arc<WaitPolicy>,
    instruments: &'static FabricInstruments,
    /// Above 0 while the core seems to be wanted by others; see `yield_core`.
    crowded: AtomicU32,
}

/// A yield that takes longer let another thread run (one that finds nobody takes well under a microsecond).
const TAKEN: Duration = Duration::from_micros(2);
/// So many yields in a row that nobody took end the suspicion that the core is shared.
const QUIET_YIELDS: u32 = 64;

impl Shared {
    fn bell(&self) -> Bell<'_> {
        Bell {
            waiters: self.mapping.half(self.block_at + block::WAITERS),
            futex: self.mapping.half(self.block_at + block::FUTEX),
        }
    }

    /// Gives the core away, and learns from the time it takes whether somebody wanted it. Where somebody does (it may be
    /// the very rank that is waited for, whatever the number of cores), polling before yielding only delays everybody.
    fn yield_core(&self) {
        self.instruments.yields.incr_shared();
        if self.policy.spins() == 0 {
            return crate::os::sched_yield();
        }
        let before = Instant::now();
        crate::os::sched_yield();
        if before.elapsed() >= TAKEN {
            if !self.crowded() {
                self.instruments.core_shared.incr_shared();
            }
            self.crowded.store(QUIET_YIELDS, Relaxed);
        } else if self.crowded() {
            // Threads that do this at the same time may lose a step; it is a guess anyway.
            self.crowded.store(self.crowded.load(Relaxed).saturating_sub(1), Relaxed);
        }
    }

    fn crowded(&self) -> bool {
        self.crowded.load(Relaxed) > 0
    }
}

/// Where the threads of one rank wait for messages, without holding the process lock. Thread-safe; cheap to clone.
#[derive(Clone)]
pub struct Doorbell {
    shared: Arc<Shared>,
}

impl Doorbell {
    pub(crate) fn new(
        mapping: Arc<Mapping>,
        block_at: usize,
        policy: Arc<WaitPolicy>,
        instruments: &'static FabricInstruments,
    ) -> Doorbell {
        Doorbell { shared: Arc::new(Shared { mapping, block_at, policy, instruments, crowded: AtomicU32::new(0) }) }
    }

    /// Begins to wait. Make one for every wait and drop it when done.
    #[inline]
    pub fn spell(&self) -> Wait<'_> {
        let eager = self.shared.policy.spins() == 0 || self.shared.crowded();
        Wait { doorbell: self, left: if eager { 2 } else { BURST }, spun: 0, yielded: 0 }
    }

    /// Sleeps until a message arrives or another thread calls [`Self::wake`], if neither happened since the ticket was
    /// made. May also return for no reason.
    pub fn sleep(&self, ticket: Ticket<'_>) {
        self.shared.bell().sleep(&LinuxKernel, ticket.seen);
    }

    /// Wakes the threads of this rank that sleep, if any: for a thread that has completed what another one waits for.
    /// What was done must be visible to who then takes the process lock.
    pub fn wake(&self) {
        let bell = self.shared.bell();
        if bell.has_waiters(false) {
            bell.ring(&LinuxKernel);
        }
    }

    /// The policy that waits obey.
    pub fn policy(&self) -> &WaitPolicy {
        &self.shared.policy
    }
}

/// One wait in progress.
pub struct Wait<'a> {
    doorbell: &'a Doorbell,
    /// Polls until the policy is asked again.
    left: u32,
    spun: u32,
    yielded: u32,
}

/// What to do after a poll that found nothing.
pub enum Spell<'a> {
    /// Poll again.
    Again,
    /// Poll once more, and if there is still nothing, give the ticket to [`Doorbell::sleep`].
    Sleep(Ticket<'a>),
}

impl<'a> Wait<'a> {
    /// Says what to do next; yields the core by itself when it is time to. Thread-safe; needs no lock.
    #[inline(always)]
    #[expect(clippy::should_implement_trait, reason = "it never ends, and its items are steps, not values")]
    pub fn next(&mut self) -> Spell<'a> {
        self.left -= 1;
        if self.left != 0 {
            return Spell::Again;
        }
        self.patience()
    }

    #[cold]
    fn patience(&mut self) -> Spell<'a> {
        let shared = &*self.doorbell.shared;
        if self.spun < shared.policy.spins() && !shared.crowded() {
            self.spun += BURST;
            self.left = BURST;
            std::hint::spin_loop();
            return Spell::Again;
        }
        self.left = 1;
        if self.yielded < shared.policy.yields() || !shared.policy.sleeps() {
            self.yielded = self.yielded.saturating_add(1);
            shared.yield_core();
            return Spell::Again;
        }
        shared.instruments.sleeps.incr_shared();
        Spell::Sleep(Ticket { doorbell: self.doorbell, seen: shared.bell().announce(&LinuxKernel) })
    }
}

/// The right to sleep. Dropping it takes the announcement back.
pub struct Ticket<'a> {
    doorbell: &'a Doorbell,
    seen: (u32, bool),
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.doorbell.shared.bell().retract();
    }
}
