//! Event points: the places in a program where events are raised.
//!
//! Invariant: with no callback registered in the operating-system process, raising is one relaxed load and one branch
//! that is not taken: the payload is not computed.
//! Not here: the callbacks (`dispatcher`), their number (`listeners`).

use std::marker::PhantomData;
use std::sync::{OnceLock, Weak};

use super::event_def::Payload;
use super::hub::Hub;
use super::listeners::{Listeners, any_callback_registered};

/// The place in a program where events of one type are raised; `P` is the tuple of its elements.
#[derive(Debug)]
pub struct EventPoint<P> {
    core: PointCore,
    payload: PhantomData<fn(P)>,
}

#[derive(Debug, Default)]
pub(crate) struct PointCore {
    listeners: Listeners,
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
        if self.core.listeners.is_empty() {
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
    /// The registrations with a callback of this point's events.
    pub(crate) fn listeners(&self) -> &Listeners {
        &self.listeners
    }

    /// Connects the point to this event of a registry, permanently; false if it is already connected.
    pub(crate) fn connect(&self, hub: Weak<Hub>, event: usize) -> bool {
        self.link.set(Link { hub, event }).is_ok()
    }
}
