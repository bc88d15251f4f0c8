//! The dispatcher: registrations for events, and the queues in which events wait for their callbacks.
//!
//! Raising an event ([`Dispatcher::post`]) puts it into the queue of its source, once for every registration for it;
//! then the raising thread serves the queue ([`Dispatcher::drain`]) as far as its place permits. One thread serves a
//! queue at a time; it also serves the events that other threads or the callbacks raise meanwhile. Events whose
//! callbacks this place does not permit wait for the next drain at a place that does.
//!
//! Invariants: callbacks of one source run one at a time, in the order of their events' times; a registration's queue
//! never exceeds its capacity, and further events are counted; no callback runs with the dispatcher's lock held; after
//! a registration is freed, its callback does not start again, and `Freed` is called after the last one has returned.
//! Handle words are serial numbers, so a freed one is never valid again.
//! Not here: the types of callbacks (`hub`). `tests/loom.rs` checks this file.

use std::collections::{BTreeMap, VecDeque};
use std::sync::PoisonError;

use super::safety::Safety;
use crate::sync::{AtomicUsize, Mutex, MutexGuard, Ordering};
use mpi_core::Info;
use mpi_core::handle::{Handle, Kind, MAX_OBJECTS};

/// An event's elements.
pub(crate) type Data = [u64; super::WORDS];

/// The types that the dispatcher passes on without using them.
pub(crate) trait DispatcherTypes {
    /// The callback of an event.
    type Call: Clone;
    /// The handler of dropped events.
    type Drop: Clone;
    /// The callback of a freed registration.
    type Free;
    /// The point that raises the event, which counts the registrations.
    type Point: Interest;
}

/// Counts the registrations with callbacks that an event has.
pub(crate) trait Interest {
    fn more(&self);
    fn less(&self);
}

/// The default capacity of a registration, in events.
pub(crate) const CAPACITY: u32 = 4096;
/// The most callbacks of one drain, so that callbacks that raise events themselves do not keep their thread for ever.
const TURNS: usize = 1 << 16;

pub(crate) struct Dispatcher<P: DispatcherTypes> {
    state: Mutex<State<P>>,
    /// Events in all queues.
    waiting: AtomicUsize,
}

struct State<P: DispatcherTypes> {
    registrations: BTreeMap<usize, Registration<P>>,
    serial: u64,
    points: Vec<P::Point>,
    queues: Vec<Queue<P>>,
}

struct Queue<P: DispatcherTypes> {
    items: VecDeque<Item>,
    /// The time of the last event.
    last: u64,
    /// A thread serves the queue.
    busy: bool,
    /// The registration whose callback runs.
    current: Option<usize>,
    /// The callback of its end, if the registration was freed meanwhile.
    on_free: Option<P::Free>,
}

/// One event for one registration.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Item {
    pub registration: Handle,
    pub event: usize,
    pub time: u64,
    pub data: Data,
}

struct Registration<P: DispatcherTypes> {
    event: usize,
    source: usize,
    key: usize,
    info: Info,
    capacity: u32,
    queued: u32,
    callbacks: [Option<Callback<P>>; 4],
    dropped: Option<P::Drop>,
    lost: u64,
    /// The time of the first event lost since the last report.
    lost_since: u64,
    /// The object was freed: it raises no further event.
    ended: bool,
}

#[derive(Clone)]
struct Callback<P: DispatcherTypes> {
    call: P::Call,
    /// Passed to the dropped handler when this level is chosen.
    data: usize,
}

/// The next step of the thread that serves a queue.
pub(crate) enum Step<P: DispatcherTypes> {
    Deliver { item: Item, call: P::Call },
    Dropped { registration: Handle, count: u64, handler: P::Drop, data: usize },
    Freed { free: P::Free },
}

/// No registration has this handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unknown;

impl<P: DispatcherTypes> Dispatcher<P> {
    pub fn new() -> Dispatcher<P> {
        let state = State { registrations: BTreeMap::new(), serial: 0, points: Vec::new(), queues: Vec::new() };
        Dispatcher { state: Mutex::new(state), waiting: AtomicUsize::new(0) }
    }

    /// Adds a source; returns its number.
    pub fn add_source(&self) -> usize {
        self.with(|state| {
            let queue = Queue { items: VecDeque::new(), last: 0, busy: false, current: None, on_free: None };
            state.queues.push(queue);
            state.queues.len() - 1
        })
    }

    /// Adds an event type; returns its number.
    pub fn add_event(&self, point: P::Point) -> usize {
        self.with(|state| {
            state.points.push(point);
            state.points.len() - 1
        })
    }

    /// A new registration, without callbacks, for events of the object with this key.
    pub fn open(&self, event: usize, source: usize, key: usize, capacity: u32, info: Info) -> Handle {
        self.with(|state| {
            state.serial += 1;
            let index = (state.serial % MAX_OBJECTS as u64) as u32;
            let handle = Handle::pack(Kind::EventRegistration, index, 1 + (state.serial / MAX_OBJECTS as u64) as u32);
            let registration = Registration {
                event,
                source,
                key,
                info,
                capacity: capacity.max(1),
                queued: 0,
                callbacks: [None, None, None, None],
                dropped: None,
                lost: 0,
                lost_since: 0,
                ended: false,
            };
            state.registrations.insert(handle.0, registration);
            handle
        })
    }

    /// The hints of a registration.
    pub fn info(&self, handle: Handle) -> Result<Info, Unknown> {
        self.of(handle, |_, registration| registration.info.clone())
    }

    /// Changes the hints of a registration, and with them its capacity.
    pub fn set_info(&self, handle: Handle, change: impl FnOnce(&mut Info, &mut u32)) -> Result<(), Unknown> {
        self.of(handle, |_, registration| change(&mut registration.info, &mut registration.capacity))
    }

    /// Sets or removes the callback of a level.
    pub fn set_callback(
        &self,
        handle: Handle,
        level: Safety,
        callback: Option<(P::Call, usize)>,
    ) -> Result<(), Unknown> {
        self.of(handle, |points, registration| {
            let before = registration.listens();
            let callback = callback.map(|(call, data)| Callback { call, data });
            let old = std::mem::replace(&mut registration.callbacks[level.place()], callback);
            match (before, registration.listens()) {
                (false, true) => points[registration.event].more(),
                (true, false) => points[registration.event].less(),
                _ => {}
            }
            old
        })
        .map(drop)
    }

    /// Whether there is a callback of this level.
    pub fn has_callback(&self, handle: Handle, level: Safety) -> Result<bool, Unknown> {
        self.of(handle, |_, registration| registration.callbacks[level.place()].is_some())
    }

    /// Sets or removes the handler of dropped events.
    pub fn set_dropped(&self, handle: Handle, handler: Option<P::Drop>) -> Result<(), Unknown> {
        self.of(handle, |_, registration| std::mem::replace(&mut registration.dropped, handler)).map(drop)
    }

    /// Ends a registration and drops its waiting events. Returns `free` to be called now, unless its callback runs at
    /// this moment: then the thread that runs it calls `free` afterwards.
    pub fn free(&self, handle: Handle, free: Option<P::Free>) -> Result<Option<P::Free>, Unknown> {
        let (registration, now) = {
            let mut state = self.lock();
            let state = &mut *state;
            let registration = state.registrations.remove(&handle.0).ok_or(Unknown)?;
            if registration.listens() {
                state.points[registration.event].less();
            }
            let queue = &mut state.queues[registration.source];
            queue.items.retain(|item| item.registration != handle);
            self.waiting.fetch_sub(registration.queued as usize, Ordering::Relaxed);
            if queue.current == Some(handle.0) {
                queue.on_free = free;
                (registration, None)
            } else {
                (registration, free)
            }
        };
        // The callbacks' data may run any code when dropped: no lock is held here.
        drop(registration);
        Ok(now)
    }

    /// Ends the registrations for events of a freed object, identified by its key: they get no further events.
    pub fn end(&self, key: usize, of: impl Fn(usize) -> bool) {
        self.with(|state| {
            for registration in state.registrations.values_mut().filter(|each| each.key == key && of(each.event)) {
                if registration.listens() {
                    state.points[registration.event].less();
                }
                registration.ended = true;
            }
        });
    }

    /// Queues an event for each registration for it; returns the time of the source.
    pub fn post(&self, event: usize, source: usize, key: usize, now: impl FnOnce() -> u64, data: Data) {
        self.with(|state| {
            let State { registrations, queues, .. } = state;
            let queue = &mut queues[source];
            // Under the lock, so that the order of times is that of the queue.
            let time = queue.last.max(now());
            queue.last = time;
            for (word, registration) in registrations.iter_mut() {
                if registration.event != event || registration.key != key || !registration.listens() {
                    continue;
                }
                if registration.queued >= registration.capacity {
                    registration.lost_since = if registration.lost == 0 { time } else { registration.lost_since };
                    registration.lost += 1;
                    continue;
                }
                registration.queued += 1;
                self.waiting.fetch_add(1, Ordering::Relaxed);
                queue.items.push_back(Item { registration: Handle(*word), event, time, data });
            }
        });
    }

    /// Whether any event waits. One load: it sees every event that this thread has raised; other threads serve theirs.
    pub fn has_waiting(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) != 0
    }

    /// Serves a source's queue as far as this place permits, unless another thread does.
    pub fn drain(&self, source: usize, place: Safety, mut act: impl FnMut(Step<P>)) {
        if self.with(|state| std::mem::replace(&mut state.queues[source].busy, true)) {
            return;
        }
        let turn = Turn { dispatcher: self, source };
        for _ in 0..TURNS {
            let next = self.with(|state| {
                let next = state.next(source, place, &self.waiting);
                // In the same step, so that a thread that posts afterwards finds the queue free, and serves it.
                state.queues[source].busy = next.is_some();
                next
            });
            let Some(step) = next else {
                std::mem::forget(turn);
                return;
            };
            act(step);
            let free = self.with(|state| {
                let queue = &mut state.queues[source];
                queue.current = None;
                queue.on_free.take()
            });
            if let Some(free) = free {
                act(Step::Freed { free });
            }
        }
    }

    fn of<R>(&self, handle: Handle, work: impl FnOnce(&[P::Point], &mut Registration<P>) -> R) -> Result<R, Unknown> {
        self.with(|state| {
            let State { registrations, points, .. } = state;
            registrations.get_mut(&handle.0).map(|registration| work(points, registration)).ok_or(Unknown)
        })
    }

    fn with<R>(&self, work: impl FnOnce(&mut State<P>) -> R) -> R {
        work(&mut self.lock())
    }

    fn lock(&self) -> MutexGuard<'_, State<P>> {
        // No callback runs under the lock, so the data are always complete.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<P: DispatcherTypes> Drop for Dispatcher<P> {
    fn drop(&mut self) {
        self.with(|state| {
            for registration in state.registrations.values().filter(|registration| registration.listens()) {
                state.points[registration.event].less();
            }
        });
    }
}

/// Exclusive service of a queue; ends also when a callback panics.
struct Turn<'a, P: DispatcherTypes> {
    dispatcher: &'a Dispatcher<P>,
    source: usize,
}

impl<P: DispatcherTypes> Drop for Turn<'_, P> {
    fn drop(&mut self) {
        self.dispatcher.with(|state| {
            let queue = &mut state.queues[self.source];
            (queue.busy, queue.current) = (false, None);
        });
    }
}

impl<P: DispatcherTypes> State<P> {
    /// The next step at this place; records whose callback it is.
    fn next(&mut self, source: usize, place: Safety, waiting: &AtomicUsize) -> Option<Step<P>> {
        let State { registrations, queues, .. } = self;
        let queue = &mut queues[source];
        while let Some(item) = queue.items.front().copied() {
            let registration = registrations.get_mut(&item.registration.0).expect("freed with its events");
            let Some(callback) = registration.callback_at(place) else {
                if registration.callbacks.iter().any(Option::is_some) {
                    return None;
                }
                queue.items.pop_front();
                registration.queued -= 1;
                waiting.fetch_sub(1, Ordering::Relaxed);
                continue;
            };
            let call = callback.call.clone();
            queue.current = Some(item.registration.0);
            if registration.lost > 0
                && item.time >= registration.lost_since
                && let Some(step) = registration.report(item.registration, place)
            {
                return Some(step);
            }
            queue.items.pop_front();
            registration.queued -= 1;
            waiting.fetch_sub(1, Ordering::Relaxed);
            return Some(Step::Deliver { item, call });
        }
        let of_source = registrations.iter_mut().filter(|(_, registration)| registration.source == source);
        for (word, registration) in of_source {
            if let Some(step) = registration.report(Handle(*word), place) {
                queue.current = Some(*word);
                return Some(step);
            }
        }
        None
    }
}

impl<P: DispatcherTypes> Registration<P> {
    fn listens(&self) -> bool {
        !self.ended && self.callbacks.iter().any(Option::is_some)
    }

    /// The callback with the fewest restrictions that this place permits.
    fn callback_at(&self, place: Safety) -> Option<&Callback<P>> {
        self.callbacks[place.place()..].iter().flatten().next()
    }

    /// Calls the handler of dropped events, if there are any and the registration has a handler.
    fn report(&mut self, handle: Handle, place: Safety) -> Option<Step<P>> {
        if self.lost == 0 {
            return None;
        }
        let (handler, data) = (self.dropped.clone()?, self.callback_at(place)?.data);
        let count = std::mem::take(&mut self.lost);
        Some(Step::Dropped { registration: handle, count, handler, data })
    }
}
