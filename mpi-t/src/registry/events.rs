//! Events by index, registrations and their callbacks, instances (MPI-5.0, section 15.3.8).
//!
//! Safe in signal handlers are the calls on instances and `source_get_timestamp`.
//! Invariant: an event type's index, source and elements never change.
//! Not here: queues and their order (`events::dispatcher`), raising (`events::point`).

use std::sync::Arc;

use mpi_core::handle::Kind;
use mpi_core::{Handle, Info, abi::MPI_T_ENUM_NULL};
use mpi_errors::Result;

use super::{Registry, full, int, joined, names, taken};
use crate::events::dispatcher::{self, Unknown};
use crate::events::hub::TypeFacts;
use crate::handle::refusal;
use crate::{
    Bind, Dropped, EVENT_BYTES, EnumDef, EventDef, EventInstance, Events, Freed, Safety, SourceDef, TError, TResult,
    Value, now_ns,
};

/// The hint for the capacity of a registration's queue, 1 to 1048576.
pub const CAPACITY_HINT: &str = "ferrum_waiting_events";
const MOST_WAITING: u32 = 1 << 20;

/// What tools can read about an event type.
#[derive(Debug)]
pub struct EventInfo {
    /// As it was declared.
    pub definition: EventDef,
    /// When it is raised.
    pub description: String,
    /// The names of its elements by their places, or `MPI_T_ENUM_NULL`.
    pub elements: Handle,
    /// The index of its source.
    pub source: i32,
}

/// A callback with the word that is passed to the handler of dropped events.
pub struct EventCallback {
    /// The function.
    pub call: Arc<dyn Fn(&EventInstance<'_>) + Send + Sync>,
    /// [`Dropped::data`] when this callback's level is chosen.
    pub data: usize,
}

impl std::fmt::Debug for EventCallback {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventCallback").field("data", &self.data).finish_non_exhaustive()
    }
}

/// A handler of dropped events.
pub type DroppedHandler = Arc<dyn Fn(&Dropped) + Send + Sync>;
/// The callback of a freed registration.
pub type FreedCallback = Box<dyn FnOnce(&Freed) + Send>;

/// A word that is no live registration.
#[cold]
fn bad_registration(registration: Handle) -> impl FnOnce(Unknown) -> TError {
    move |Unknown| refusal::other("event_registration", registration, Kind::EventRegistration, "it was freed")
}

/// A word that is no live instance.
#[cold]
fn bad_instance(instance: Handle) -> TError {
    let stale = "an instance is valid only until its callback has returned";
    refusal::other("event_instance", instance, Kind::EventInstance, stale)
}

/// A level that has no callback.
#[cold]
fn no_callback(level: Safety) -> TError {
    let rule = "the registration has no callback of that level";
    TError::INVALID.argument("cb_safety", level.name(), rule)
}

impl Registry {
    /// Gives the event types of a block their indices. A block belongs to one registry.
    pub fn register_events<E: Events>(&self, block: &'static E) -> Result<()> {
        let mut state = self.lock_state();
        for (definition, point) in block.points() {
            if self.event_named(definition.name).is_some() {
                return Err(taken("event type", definition.name));
            }
            let source = self.hub.intern_source(definition.source).ok_or_else(full)?;
            let event = self.hub.types.push(TypeFacts { definition, source }).map_err(|_| full())?;
            self.hub.dispatcher.add_event(point.core().listeners());
            let elements = match definition.elements {
                [] => None,
                elements => {
                    let names = elements.iter().enumerate().map(|(i, element)| (int(i), element.name)).collect();
                    let name = Box::leak(format!("{}_elements", definition.name).into_boxed_str());
                    // Once for each event type; never freed.
                    let names = Box::leak(Box::new(EnumDef { name, items: Vec::leak(names) }));
                    self.intern(&mut state, names)
                }
            };
            let info = EventInfo {
                definition,
                description: joined(definition.description),
                elements: elements.unwrap_or(Handle(MPI_T_ENUM_NULL)),
                source: int(source),
            };
            let index = self.events.push(info).map_err(|_| full())?;
            debug_assert_eq!(index, event, "both lists grow together, under one lock");
            let name_of = |index| self.events.get(index).map_or("", |info| info.definition.name);
            self.names.events.add(index, |index| names::hash(name_of(index).as_bytes(), 0));
            self.categorize_event(&mut state, definition.category, index);
            if !point.core().connect(Arc::downgrade(&self.hub), event) {
                return Err(taken("registry for the event type", definition.name));
            }
        }
        Ok(())
    }

    /// From now on, events raised with this key are of this object.
    pub fn bind_events(&self, bind: Bind, object: usize, key: usize) {
        self.lock_state().event_keys.insert((bind, object), key);
    }

    /// Ends the events of an object that is freed: its registrations get no further events; waiting ones are still
    /// delivered, and the handles must still be freed.
    pub fn unbind_events(&self, bind: Bind, object: usize) {
        let mut state = self.lock_state();
        if let Some(key) = state.event_keys.remove(&(bind, object)) {
            self.hub
                .dispatcher
                .end(key, |event| self.hub.types.get(event).is_some_and(|facts| facts.definition.bind == bind));
        }
    }

    /// Calls the callbacks of all events that wait for a place without restrictions: this one. For the end of a call,
    /// with no lock held. One load while no callback is registered.
    #[inline(always)]
    pub fn deliver_events(&self) {
        if crate::any_callback_registered() {
            self.deliver_waiting();
        }
    }

    #[cold]
    #[inline(never)]
    fn deliver_waiting(&self) {
        self.hub.deliver();
    }

    /// `MPI_T_source_get_num`
    pub fn source_get_num(&self) -> TResult<i32> {
        self.check_initialized()?;
        Ok(int(self.hub.sources.len()))
    }

    /// `MPI_T_source_get_info`: all sources are ordered; their time is in nanoseconds and never wraps.
    pub fn source_get_info(&self, index: i32) -> TResult<&'static SourceDef> {
        self.check_initialized()?;
        let found = usize::try_from(index).ok().and_then(|index| self.hub.sources.get(index));
        let missing = || TError::index("source_index", index, self.hub.sources.len(), "event sources");
        Ok(found.ok_or_else(missing)?.definition)
    }

    /// `MPI_T_source_get_timestamp`, in nanoseconds. Async-signal-safe.
    pub fn source_get_timestamp(&self, index: i32) -> TResult<u64> {
        self.source_get_info(index).map(|_| now_ns())
    }

    /// `MPI_T_event_get_num`
    pub fn event_get_num(&self) -> TResult<i32> {
        self.check_initialized()?;
        Ok(int(self.events.len()))
    }

    /// `MPI_T_event_get_info`
    pub fn event_get_info(&self, index: i32) -> TResult<&EventInfo> {
        self.check_initialized()?;
        let found = usize::try_from(index).ok().and_then(|index| self.events.get(index));
        found.ok_or_else(|| TError::index("event_index", index, self.events.len(), "event types"))
    }

    /// `MPI_T_event_get_index`
    pub fn event_get_index(&self, name: impl AsRef<[u8]>) -> TResult<i32> {
        self.check_initialized()?;
        let name = name.as_ref();
        self.event_named(name).map(int).ok_or_else(|| self.no_event(name))
    }

    /// `MPI_T_event_handle_alloc`. `object` is the handle word of the object to bind to; it is ignored for events of
    /// the process. `MPI_T_ERR_INVALID` if there are no such events of that object, or for a hint's bad value.
    pub fn event_handle_alloc(&self, index: i32, object: Option<usize>, hints: &Info) -> TResult<Handle> {
        let info = self.event_get_info(index)?;
        let (mut used, mut capacity) = (default_hints(), dispatcher::CAPACITY);
        take_hints(hints, &mut used, &mut capacity)?;
        let bind = info.definition.bind;
        // Held while the registration is made, so that the object is not freed in between.
        let state = self.lock_state();
        let key = match bind {
            Bind::NoObject => 0,
            _ => {
                let key = object.and_then(|object| state.event_keys.get(&(bind, object)));
                *key.ok_or_else(|| super::refusal::no_object(info.definition.name, bind, object))?
            }
        };
        let registration = self.hub.dispatcher.open(index as usize, info.source as usize, key, capacity, used);
        self.metrics.registrations.raise(1);
        Ok(registration)
    }

    /// `MPI_T_event_handle_get_info`: the hints in use.
    pub fn event_handle_get_info(&self, registration: Handle) -> TResult<Info> {
        self.check_initialized()?;
        self.hub.dispatcher.info(registration).map_err(bad_registration(registration))
    }

    /// `MPI_T_event_handle_set_info`. `MPI_T_ERR_INVALID` for a hint's bad value.
    pub fn event_handle_set_info(&self, registration: Handle, hints: &Info) -> TResult<()> {
        self.check_initialized()?;
        take_hints(hints, &mut Info::new(), &mut 0)?;
        let set = self.hub.dispatcher.set_info(registration, |used, capacity| {
            // The hints were checked above.
            let _ = take_hints(hints, used, capacity);
        });
        set.map_err(bad_registration(registration))
    }

    /// `MPI_T_event_register_callback`: the callback of a level, in place of the one before; `None` removes it.
    /// Callbacks have no hints.
    pub fn event_register_callback(
        &self,
        registration: Handle,
        level: Safety,
        callback: Option<EventCallback>,
    ) -> TResult<()> {
        self.check_initialized()?;
        let callback = callback.map(|EventCallback { call, data }| (call, data));
        let set = self.hub.dispatcher.set_callback(registration, level, callback);
        set.map_err(bad_registration(registration))
    }

    /// `MPI_T_event_callback_get_info`. `MPI_T_ERR_INVALID` if there is no callback of that level.
    pub fn event_callback_get_info(&self, registration: Handle, level: Safety) -> TResult<Info> {
        self.check_initialized()?;
        let found = self.hub.dispatcher.has_callback(registration, level).map_err(bad_registration(registration))?;
        if found { Ok(Info::new()) } else { Err(no_callback(level)) }
    }

    /// `MPI_T_event_callback_set_info`: there are no hints for callbacks, so none is used. `MPI_T_ERR_INVALID` if there
    /// is no callback of that level.
    pub fn event_callback_set_info(&self, registration: Handle, level: Safety, _hints: &Info) -> TResult<()> {
        self.event_callback_get_info(registration, level).map(drop)
    }

    /// `MPI_T_event_set_dropped_handler`; `None` removes it.
    pub fn event_set_dropped_handler(&self, registration: Handle, handler: Option<DroppedHandler>) -> TResult<()> {
        self.check_initialized()?;
        self.hub.dispatcher.set_dropped(registration, handler).map_err(bad_registration(registration))
    }

    /// `MPI_T_event_handle_free`: no callback of the registration begins after this; its waiting events are dropped.
    /// `freed` is called once none runs any more: before this returns, or when the one that runs has returned.
    pub fn event_handle_free(&self, registration: Handle, freed: Option<FreedCallback>) -> TResult<()> {
        self.check_initialized()?;
        let now = {
            let _growth = self.lock_state();
            let freed = freed.map(|freed| (registration, freed));
            let now = self.hub.dispatcher.free(registration, freed).map_err(bad_registration(registration))?;
            self.metrics.registrations.lower(1);
            now
        };
        if let Some((registration, freed)) = now {
            freed(&Freed { registration, safety: Safety::None });
        }
        Ok(())
    }

    /// Calls `callback` with each event of a name from here on, until the registration returned is freed
    /// ([`Registry::event_handle_free`]). `object` as for [`Registry::event_handle_alloc`]; `level` states what the
    /// callback restricts itself to: with [`Safety::None`] it may run later than the event, in
    /// [`Registry::deliver_events`], which engines that raise events at other places call at the end of their calls.
    pub fn subscribe(
        &self,
        name: &str,
        object: Option<usize>,
        level: Safety,
        callback: impl Fn(&EventInstance<'_>) + Send + Sync + 'static,
    ) -> TResult<Handle> {
        let registration = self.event_handle_alloc(self.event_get_index(name)?, object, &Info::new())?;
        let callback = EventCallback { call: Arc::new(callback), data: 0 };
        self.event_register_callback(registration, level, Some(callback))?;
        Ok(registration)
    }

    /// `MPI_T_event_read`: an element of an instance. Async-signal-safe.
    pub fn event_read(&self, instance: Handle, element: i32) -> TResult<Value> {
        self.check_initialized()?;
        let (seen, _) = self.hub.instance(instance).ok_or_else(|| bad_instance(instance))?;
        let value = usize::try_from(element).ok().and_then(|place| self.hub.element(seen.event, &seen.data, place));
        value.ok_or_else(|| {
            let count = self.hub.types.get(seen.event).map_or(0, |facts| facts.definition.elements.len());
            TError::index("element_index", element, count, "elements of the event type")
        })
    }

    /// `MPI_T_event_copy`: the data of an instance, laid out by its type, and their number of bytes.
    /// Async-signal-safe.
    pub fn event_copy(&self, instance: Handle) -> TResult<([u8; EVENT_BYTES], usize)> {
        self.check_initialized()?;
        let (seen, _) = self.hub.instance(instance).ok_or_else(|| bad_instance(instance))?;
        let facts = self.hub.types.get(seen.event).ok_or_else(|| bad_instance(instance))?;
        let mut bytes = [0; EVENT_BYTES];
        for (to, word) in bytes.chunks_exact_mut(8).zip(seen.data) {
            to.copy_from_slice(&word.to_ne_bytes());
        }
        Ok((bytes, facts.definition.bytes))
    }

    /// `MPI_T_event_get_timestamp`, in nanoseconds. Async-signal-safe.
    pub fn event_get_timestamp(&self, instance: Handle) -> TResult<u64> {
        self.check_initialized()?;
        Ok(self.hub.instance(instance).ok_or_else(|| bad_instance(instance))?.0.time)
    }

    /// `MPI_T_event_get_source`. Async-signal-safe.
    pub fn event_get_source(&self, instance: Handle) -> TResult<i32> {
        self.check_initialized()?;
        Ok(int(self.hub.instance(instance).ok_or_else(|| bad_instance(instance))?.1))
    }
}

fn default_hints() -> Info {
    let mut hints = Info::new();
    hints.set(CAPACITY_HINT, &dispatcher::CAPACITY.to_string()).expect("a short text");
    hints
}

/// Takes the supported hints; others are ignored, as the standard requires.
fn take_hints(hints: &Info, used: &mut Info, capacity: &mut u32) -> TResult<()> {
    if let Some(text) = hints.get(CAPACITY_HINT) {
        let value = text.trim().parse().ok().filter(|value| (1..=MOST_WAITING).contains(value));
        *capacity = value.ok_or_else(|| {
            let rule = format!("but it takes a whole number from 1 to {MOST_WAITING}");
            TError::INVALID.because(format!("argument info has {CAPACITY_HINT} = {text:?}, {rule}"))
        })?;
        used.set(CAPACITY_HINT, &capacity.to_string()).expect("a short text");
    }
    Ok(())
}
