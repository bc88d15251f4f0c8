//! Event points: the places in a program where events are raised.
//!
//! Invariant: with no callback registered in the operating-system process, raising is one relaxed load and one branch
//! that is not taken: the payload is not computed.
//! Not here: the callbacks (`dispatcher`).

use std::marker::PhantomData;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{OnceLock, Weak};

use crate::events::declare::Payload;
use crate::events::dispatcher::Interest;
use crate::events::hub::Hub;
use crate::field::KEPT;

/// Registrations with a callback, of all registries and events. One word for all, so that its address is a constant
/// and one cache line serves every point.
static LISTENERS: AtomicU32 = AtomicU32::new(0);

/// Whether any event has a callback: one relaxed load. Async-signal-safe; thread-safe.
#[inline(always)]
pub fn any_callback_registered() -> bool {
    KEPT && LISTENERS.load(Relaxed) != 0
}

/// The place in a program where events of one type are raised; `P` is the tuple of its elements.
#[derive(Debug)]
pub struct EventPoint<P> {
    core: PointCore,
    payload: PhantomData<fn(P)>,
}

#[derive(Debug, Default)]
pub(crate) struct PointCore {
    listeners: AtomicU32,
    link: OnceLock<Link>,
}

/// The event type and the registry of the point.
#[derive(Debug)]
struct Link {
    hub: Weak<Hub>,
    event: usize,
}

impl<P> Default for EventPoint<P> {
    fn default() -> Self {
        EventPoint { core: PointCore::default(), payload: PhantomData }
    }
}

impl<P: Payload> EventPoint<P> {
    /// Raises an event of the process as a whole. Call it at the declared place: under the engine's lock, or with none
    /// held. Thread-safe; not for signal handlers. A `move` closure costs nothing while no callback is registered; a
    /// closure that borrows forces the borrowed values into memory.
    #[inline(always)]
    pub fn emit(&self, payload: impl FnOnce() -> P) {
        if any_callback_registered() {
            self.raise(move || (0, payload()));
        }
    }

    /// Raises an event of an object; the payload comes with the key by which the object was registered
    /// ([`Registry::bind_events`](crate::Registry::bind_events)).
    #[inline(always)]
    pub fn emit_for(&self, payload: impl FnOnce() -> (usize, P)) {
        if any_callback_registered() {
            self.raise(payload);
        }
    }

    #[cold]
    #[inline(never)]
    fn raise(&self, payload: impl FnOnce() -> (usize, P)) {
        if self.core.listeners.load(Relaxed) == 0 {
            return;
        }
        let Some(link) = self.core.link.get() else { return };
        if let Some(hub) = link.hub.upgrade() {
            let (key, payload) = payload();
            hub.raise(link.event, key, payload.words());
        }
    }
}

/// A point of any payload, for the registry.
pub trait AnyPoint: Sync + Send {
    #[doc(hidden)]
    #[allow(private_interfaces)] // only this crate can use it
    fn core(&self) -> &PointCore;
}

impl<P: Payload> AnyPoint for EventPoint<P> {
    #[allow(private_interfaces)]
    fn core(&self) -> &PointCore {
        &self.core
    }
}

impl PointCore {
    /// Connects the point to this event of a registry, permanently; false if it is already connected.
    pub(crate) fn connect(&self, hub: Weak<Hub>, event: usize) -> bool {
        self.link.set(Link { hub, event }).is_ok()
    }
}

impl Interest for &'static PointCore {
    // Relaxed: the dispatcher selects callbacks under its lock; these counts only decide whether to take it.
    fn more(&self) {
        self.listeners.fetch_add(1, Relaxed);
        LISTENERS.fetch_add(1, Relaxed);
    }

    fn less(&self) {
        self.listeners.fetch_sub(1, Relaxed);
        LISTENERS.fetch_sub(1, Relaxed);
    }
}
