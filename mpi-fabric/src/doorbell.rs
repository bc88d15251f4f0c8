//! Waiting for messages: poll, then yield the core, then sleep; and waking threads that sleep.
//!
//! A sender publishes a record and then reads the receiver's `waiters` word; a receiver that is going to sleep
//! increments `waiters`, polls once more, and sleeps on the `futex` word. Lost wake-ups are excluded as in Dekker's
//! algorithm: of (store record; load waiters) and (store waiters; load record) at least one load must see the other's
//! store. That takes a full fence between store and load on both sides. The receiver, which is about to sleep anyway,
//! pays for both: `membarrier` makes every sender pass a fence. A sender that could not register for it fences for
//! itself; a receiver that cannot issue it sleeps with a time limit.
//!
//! Among the threads of one process one at a time waits in this way. The others wait on a [`ThreadWord`] each, which
//! that thread sets when it has completed their operation.
//!
//! Invariant: `waiters` counts live [`Ticket`]s. Not here: what is polled (`ring`), the process lock (above), which
//! thread polls (the engine).

#[cfg(all(loom, test))]
mod model;
#[cfg(not(loom))]
mod policy;
mod protocol;
#[cfg(not(loom))]
mod spin_limit;
#[cfg(not(loom))]
mod thread_word;
#[cfg(not(loom))]
mod wait;

#[cfg(not(loom))]
pub use {
    policy::WaitPolicy,
    thread_word::ThreadWord,
    wait::{Doorbell, Ticket, Wait, WaitStep},
};

#[cfg(not(loom))]
pub(crate) use protocol::{Bell, LinuxKernel};
