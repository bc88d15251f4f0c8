//! The doorbell as seen by waiting threads: polling limits, sleeping and waking.
//!
//! ```
//! # use mpi_fabric::{Endpoint, WaitStep, Sink, RecordHead, Payload};
//! # struct Count(u32);
//! # impl Sink for Count { fn record(&mut self, _: u32, _: &RecordHead, _: Payload<'_>) { self.0 += 1; } }
//! # let mut endpoint = Endpoint::world_of_one()?;
//! # endpoint.push(0, &RecordHead::default(), &[]).expect("an empty ring has room");
//! # let mut sink = Count(0);
//! let doorbell = endpoint.doorbell();
//! let mut wait = doorbell.begin_wait();
//! while endpoint.poll(&mut sink)? == 0 {
//!     if let WaitStep::Sleep(ticket) = wait.next() {
//!         if endpoint.poll(&mut sink)? != 0 {
//!             break; // a record from before the ticket rings no doorbell
//!         }
//!         doorbell.sleep(ticket);
//!     }
//! }
//! # assert_eq!(sink.0, 1);
//! # Ok::<(), mpi_errors::Error>(())
//! ```

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::policy::{BURST, WaitPolicy};
use super::protocol::{Bell, LinuxKernel};
use super::spin_limit::SpinLimit;
use super::thread_word::ThreadWord;
use crate::layout::bell;
use crate::mapping::Mapping;
use crate::transport::Waiting;
use crate::variables::FabricInstruments;

struct Shared {
    mapping: Arc<Mapping>,
    bell_at: usize,
    policy: Arc<WaitPolicy>,
    /// How to sleep if a network can wake the thread.
    network: OnceLock<Waiting>,
    instruments: &'static FabricInstruments,
    /// Polls that a wait spends before it yields the core, if the policy allows as many. Halved by each wait that had
    /// to sleep, doubled by each that did not: polling helps only while the peers run, not while they need this core or
    /// wait for another one.
    poll_limit: AtomicU32,
    /// Number of waits so far. One in [`PROBE`] has the whole limit that the policy allows: two ranks that sleep for
    /// each other would otherwise never measure that they need not.
    waits: AtomicU32,
    /// How long threads spin that wait for another thread.
    thread_spins: SpinLimit,
    /// Sleeps end after [`WATCH_EVERY`], because the end of a process of another job rings no bell, nor does a provider that takes
    /// again what it refused.
    watches: AtomicBool,
}

/// Longest sleep of a process that is connected with other jobs, or has a network.
const WATCH_EVERY: Duration = Duration::from_millis(100);

/// One wait in this many has the whole limit of the policy.
const PROBE: u32 = 16;

/// The smallest limit, in polls: about a microsecond.
const LEAST_POLL_LIMIT: u32 = 2 * BURST;
/// The largest limit, so that doubling does not overflow.
const GREATEST_POLL_LIMIT: u32 = 1 << 30;

impl Shared {
    fn bell(&self) -> Bell<'_> {
        Bell {
            waiters: self.mapping.half(self.bell_at + bell::WAITERS),
            futex: self.mapping.half(self.bell_at + bell::FUTEX),
        }
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
        bell_at: usize,
        policy: Arc<WaitPolicy>,
        network: Option<Waiting>,
        instruments: &'static FabricInstruments,
    ) -> Doorbell {
        instruments.wait_poll_limit.set(GREATEST_POLL_LIMIT.into());
        let watches = AtomicBool::new(network.is_some());
        Doorbell {
            shared: Arc::new(Shared {
                mapping,
                bell_at,
                policy,
                network: network.map_or_else(OnceLock::new, OnceLock::from),
                instruments,
                poll_limit: AtomicU32::new(GREATEST_POLL_LIMIT),
                waits: AtomicU32::new(0),
                thread_spins: SpinLimit::new(),
                watches,
            }),
        }
    }

    /// A network that the process has got can wake threads from now on. Wakes one that sleeps: what comes over the network would not.
    pub(crate) fn attach_network(&self, network: Waiting) -> Waiting {
        let network = self.shared.network.get_or_init(|| network).clone();
        self.bound_sleeps();
        self.ring();
        network
    }

    /// Begins a wait. The caller creates one for every wait and drops it at the end.
    #[inline]
    pub fn begin_wait(&self) -> Wait<'_> {
        let left = if self.shared.policy.spins() == 0 { 2 } else { BURST };
        // Threads that do this at the same time may lose a step; the number is an estimate.
        let waits = self.shared.waits.load(Relaxed).wrapping_add(1);
        self.shared.waits.store(waits, Relaxed);
        let poll_limit =
            if waits.is_multiple_of(PROBE) { GREATEST_POLL_LIMIT } else { self.shared.poll_limit.load(Relaxed) };
        Wait { doorbell: self, left, poll_limit, spun: 0, yielded: 0, slept: false }
    }

    /// Sleeps until a message arrives or another thread calls [`Self::wake`], if neither happened since the ticket was
    /// made. May also return without a reason.
    pub fn sleep(&self, ticket: Ticket<'_>) {
        match self.shared.network.get() {
            Some(Waiting::Own(waiter)) => return waiter.sleep(),
            // Armed after the last poll: what arrives from now on rings the bell.
            Some(Waiting::Bell(ringer)) if !ringer.arm() => {
                crate::os::sched_yield();
                return;
            }
            _ => {}
        }
        let bell = self.shared.bell();
        match self.shared.watches.load(Relaxed) && !ticket.seen.1 {
            false => bell.sleep(&LinuxKernel, ticket.seen),
            true => crate::os::futex_wait(bell.futex, ticket.seen.0, Some(WATCH_EVERY)),
        }
        if bell.futex.load(Relaxed) != ticket.seen.0 {
            self.shared.instruments.wakeups_received.incr_shared();
        }
    }

    /// Bounds all later sleeps, so that the ends of processes of other jobs are found, and what a network leaves unannounced.
    pub(crate) fn bound_sleeps(&self) {
        self.shared.watches.store(true, Relaxed);
    }

    /// Rings the bell for whatever thread sleeps: for another thread of the process that has found something.
    pub(crate) fn ring(&self) {
        let bell = self.shared.bell();
        if bell.has_waiters(false) {
            bell.ring(&LinuxKernel);
        }
    }

    /// Whether [`Self::announce`] gives tickets: not if threads sleep on an object of the network.
    pub fn can_announce(&self) -> bool {
        !matches!(self.shared.network.get(), Some(Waiting::Own(_)))
    }

    /// Permission to sleep without polling first; the caller polls once more before [`Self::sleep`]. `None` if threads
    /// sleep on an object of the network.
    pub fn announce(&self) -> Option<Ticket<'_>> {
        self.can_announce().then(|| Ticket { doorbell: self, seen: self.shared.bell().announce(&LinuxKernel) })
    }

    /// Wakes the threads of this rank that sleep here, if any: for a thread that has completed another one's operation.
    /// What was done must be visible to a thread that then takes the process lock.
    pub fn wake(&self) {
        if let Some(Waiting::Own(waiter)) = self.shared.network.get() {
            waiter.wake();
        }
        self.ring();
    }

    /// Waits until `word`, which the calling thread has armed, is set: spins for a moment, then sleeps. Takes no lock
    /// and polls no ring.
    pub fn wait_on(&self, word: &ThreadWord) {
        let Shared { policy, instruments, thread_spins, .. } = &*self.shared;
        if thread_spins.spin(word, policy) {
            return;
        }
        if !policy.sleeps() {
            while !word.is_set() {
                instruments.yields.incr_shared();
                crate::os::sched_yield();
            }
            return;
        }
        instruments.sleeps.incr_shared();
        word.sleep(crate::os::thread_wait);
        instruments.wakeups_received.incr_shared();
    }

    /// Wakes the thread that sleeps on `word`: for a thread that got true from [`ThreadWord::set`].
    pub fn wake_thread(&self, word: &ThreadWord) {
        word.wake(crate::os::thread_wake);
    }

    /// The policy that waits obey.
    pub fn policy(&self) -> &WaitPolicy {
        &self.shared.policy
    }
}

/// One wait in progress.
pub struct Wait<'a> {
    doorbell: &'a Doorbell,
    /// Polls until the policy is read again.
    left: u32,
    /// Polls that this wait spends at most before it yields the core.
    poll_limit: u32,
    spun: u32,
    yielded: u32,
    slept: bool,
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        if self.spun == 0 {
            return;
        }
        let poll_limit = &self.doorbell.shared.poll_limit;
        let now = poll_limit.load(Relaxed);
        let next = match self.slept {
            true => (now.min(self.spun) / 2).max(LEAST_POLL_LIMIT),
            false => (now.max(self.spun) * 2).min(GREATEST_POLL_LIMIT),
        };
        if next != now {
            poll_limit.store(next, Relaxed);
            self.doorbell.shared.instruments.wait_poll_limit.set(next.into());
        }
    }
}

/// What to do after a poll that found nothing.
pub enum WaitStep<'a> {
    /// Poll again.
    Again,
    /// Poll once more, and if there is still nothing, give the ticket to [`Doorbell::sleep`].
    Sleep(Ticket<'a>),
}

impl<'a> Wait<'a> {
    /// The next step; yields the core itself when the policy requires it. Thread-safe; needs no lock.
    #[inline(always)]
    #[expect(clippy::should_implement_trait, reason = "it never ends, and its items are steps, not values")]
    pub fn next(&mut self) -> WaitStep<'a> {
        self.left -= 1;
        if self.left != 0 {
            return WaitStep::Again;
        }
        self.next_round()
    }

    #[cold]
    fn next_round(&mut self) -> WaitStep<'a> {
        let shared = &*self.doorbell.shared;
        if self.spun < shared.policy.spins().min(self.poll_limit) {
            self.spun += BURST;
            self.left = BURST;
            std::hint::spin_loop();
            return WaitStep::Again;
        }
        self.left = 1;
        if self.yielded < shared.policy.yields() || !shared.policy.sleeps() {
            self.yielded = self.yielded.saturating_add(1);
            shared.instruments.yields.incr_shared();
            crate::os::sched_yield();
            return WaitStep::Again;
        }
        shared.instruments.sleeps.incr_shared();
        self.slept = true;
        WaitStep::Sleep(Ticket { doorbell: self.doorbell, seen: shared.bell().announce(&LinuxKernel) })
    }
}

/// Permission to sleep. Dropping it withdraws the announcement.
pub struct Ticket<'a> {
    doorbell: &'a Doorbell,
    seen: (u32, bool),
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        self.doorbell.shared.bell().retract();
    }
}
