//! One process's events: the dispatcher, the event instances in use, and the types of callbacks.
//!
//! Invariant: while the interface is not initialized no event is raised and no callback runs.
//! Not here: names and indices (`registry::events`).

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use mpi_core::Handle;
use mpi_core::handle::{Kind, MAX_OBJECTS};

use super::clock::now_ns;
use super::dispatcher::{Data, Dispatcher, DispatcherTypes, Item, Step};
use super::event_def::EventDef;
use super::listeners::Listeners;
use super::live::{Live, Seen};
use super::safety::{Restricted, Safety};
use crate::append_only::AppendOnly;
use crate::{Value, ValueType};

/// The callback of an event.
pub(crate) type Call = Arc<dyn Fn(&EventInstance<'_>) + Send + Sync>;
/// The handler of dropped events.
pub(crate) type DropCall = Arc<dyn Fn(&Dropped) + Send + Sync>;
/// The callback of a freed registration.
pub(crate) type FreeCall = Box<dyn FnOnce(&Freed) + Send>;

/// An event, for its callback.
#[derive(Debug)]
pub struct EventInstance<'a> {
    hub: &'a Hub,
    item: &'a Item,
    handle: Handle,
    place: Safety,
}

/// The argument of a handler of dropped events.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dropped {
    /// How many events of the registration were dropped since the last call of the handler.
    pub count: u64,
    /// The registration.
    pub registration: Handle,
    /// The index of the source.
    pub source: i32,
    /// The restrictions on the handler now.
    pub safety: Safety,
    /// The data of the callback of this level.
    pub data: usize,
}

/// The argument of the callback of a freed registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Freed {
    /// The registration, no longer valid.
    pub registration: Handle,
    /// The restrictions on the callback now.
    pub safety: Safety,
}

pub(crate) struct TheParts;

impl DispatcherTypes for TheParts {
    type Call = Call;
    type Drop = DropCall;
    type Free = (Handle, FreeCall);
    type Point = &'static Listeners;
}

/// One source.
#[derive(Debug)]
pub(crate) struct Source {
    pub definition: &'static super::SourceDef,
    live: Live,
}

/// One process's events.
pub(crate) struct Hub {
    pub dispatcher: Dispatcher<TheParts>,
    pub sources: AppendOnly<Source>,
    pub types: AppendOnly<TypeFacts>,
    initializations: AtomicUsize,
    instances: AtomicU64,
}

/// The facts of an event type that raising and reading need.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TypeFacts {
    pub definition: EventDef,
    pub source: usize,
}

impl fmt::Debug for Hub {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hub").finish_non_exhaustive()
    }
}

impl Hub {
    pub fn new() -> Hub {
        Hub {
            dispatcher: Dispatcher::new(),
            sources: AppendOnly::new(),
            types: AppendOnly::new(),
            initializations: AtomicUsize::new(0),
            instances: AtomicU64::new(0),
        }
    }

    pub fn initialized(&self) {
        self.initializations.fetch_add(1, Ordering::SeqCst);
    }

    pub fn finalized(&self) {
        self.initializations.fetch_sub(1, Ordering::SeqCst);
    }

    /// The number of a source, which is added if it is new.
    pub fn intern_source(&self, definition: &'static super::SourceDef) -> Option<usize> {
        let known = self.sources.iter().position(|source| source.definition.name == definition.name);
        known.or_else(|| {
            self.dispatcher.add_source();
            self.sources.push(Source { definition, live: Live::default() }).ok()
        })
    }

    /// Queues an event that has happened at its place.
    pub fn raise(&self, event: usize, key: usize, data: Data) {
        if self.initializations.load(Ordering::Relaxed) == 0 {
            return;
        }
        let Some(facts) = self.types.get(event) else { return };
        self.dispatcher.post(event, facts.source, key, now_ns, data);
        self.serve(facts.source, facts.definition.place);
    }

    /// Calls the callbacks of all waiting events; for a thread that holds no lock.
    pub fn deliver(&self) {
        if self.dispatcher.has_waiting() && self.initializations.load(Ordering::Relaxed) != 0 {
            (0..self.sources.len()).for_each(|source| self.serve(source, Safety::None));
        }
    }

    fn serve(&self, source: usize, place: Safety) {
        let Some(Source { live, .. }) = self.sources.get(source) else { return };
        let _restricted = Restricted::at(place);
        self.dispatcher.drain(source, place, |step| match step {
            Step::Deliver { item, call } => {
                let handle = self.next_instance();
                live.open(handle.0, &item);
                let close = Close(live);
                call(&EventInstance { hub: self, item: &item, handle, place });
                drop(close);
            }
            Step::Dropped { registration, count, handler, data } => {
                handler(&Dropped { count, registration, source: source as i32, safety: place, data });
            }
            Step::Freed { free: (registration, free) } => free(&Freed { registration, safety: place }),
        });
    }

    fn next_instance(&self) -> Handle {
        let serial = self.instances.fetch_add(1, Ordering::Relaxed);
        let index = (serial % MAX_OBJECTS as u64) as u32;
        Handle::pack(Kind::EventInstance, index, 1 + (serial / MAX_OBJECTS as u64) as u32)
    }

    /// The instance with this handle, and its source. Async-signal-safe.
    pub fn instance(&self, handle: Handle) -> Option<(Seen, usize)> {
        if handle.kind() != Some(Kind::EventInstance) {
            return None;
        }
        self.sources.iter().enumerate().find_map(|(i, source)| Some((source.live.look(handle.0)?, i)))
    }

    /// An element of an event's data.
    pub fn element(&self, event: usize, data: &Data, element: usize) -> Option<Value> {
        let element = self.types.get(event)?.definition.elements.get(element)?;
        let word = data[element.displacement / 8].to_ne_bytes();
        let at = element.displacement % 8;
        let half = <[u8; 4]>::try_from(&word[at..at + 4]).ok();
        Some(match element.value {
            ValueType::I32 => Value::I32(i32::from_ne_bytes(half?)),
            ValueType::U32 => Value::U32(u32::from_ne_bytes(half?)),
            ValueType::U64 => Value::U64(u64::from_ne_bytes(word)),
            ValueType::F64 => Value::F64(f64::from_ne_bytes(word)),
            ValueType::Text => return None,
        })
    }
}

/// Closes the instance when the callback returns, or panics.
struct Close<'a>(&'a Live);

impl Drop for Close<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl EventInstance<'_> {
    /// The handle of the instance, valid until the callback returns.
    pub fn handle(&self) -> Handle {
        self.handle
    }

    /// The registration that the callback is of.
    pub fn registration(&self) -> Handle {
        self.item.registration
    }

    /// The restrictions on the callback now.
    pub fn safety(&self) -> Safety {
        self.place
    }

    /// The event type.
    pub fn definition(&self) -> &EventDef {
        &self.hub.types.get(self.item.event).expect("events are raised by known types").definition
    }

    /// The time in nanoseconds at which the event happened ([`now_ns`](crate::now_ns)).
    pub fn time_ns(&self) -> u64 {
        self.item.time
    }

    /// The element at a place, counted from 0.
    pub fn element(&self, place: usize) -> Option<Value> {
        self.hub.element(self.item.event, &self.item.data, place)
    }

    /// The element of a name.
    pub fn get(&self, name: &str) -> Option<Value> {
        let elements = self.definition().elements;
        self.element(elements.iter().position(|element| element.name == name)?)
    }
}
