//! Model of threads that use the dispatcher of events in every order: the protocol's file itself, on loom's mutex and
//! atomics.
#![allow(dead_code)] // the models use a part of the file

mod sync {
    pub(crate) use loom::sync::atomic::{AtomicUsize, Ordering};
    pub(crate) use loom::sync::{Mutex, MutexGuard};
}

pub(crate) const WORDS: usize = 8;

#[path = "../src/events/dispatcher.rs"]
mod dispatcher;
#[path = "../src/events/safety.rs"]
mod safety;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use dispatcher::{Dispatcher, DispatcherTypes, Interest, Step};
use loom::thread;
use mpi_core::{Handle, Info};
use safety::Safety;

struct Model;

/// The events of the run, in order: std's atomics, because the model is not about them.
type Story = Arc<AtomicU64>;

impl DispatcherTypes for Model {
    type Call = ();
    type Drop = ();
    type Free = ();
    type Point = Listeners;
}

#[derive(Clone, Default)]
struct Listeners(Arc<AtomicU32>);

impl Interest for Listeners {
    fn more(&self) {
        self.0.fetch_add(1, Relaxed);
    }

    fn less(&self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

fn opened(capacity: u32, level: Safety) -> (Arc<Dispatcher<Model>>, Handle, Listeners) {
    let (dispatcher, listeners) = (Dispatcher::new(), Listeners::default());
    assert_eq!((dispatcher.add_source(), dispatcher.add_event(listeners.clone())), (0, 0));
    let handle = dispatcher.open(0, 0, 0, capacity, Info::new());
    dispatcher.set_callback(handle, level, Some(((), 0))).expect("just made");
    (Arc::new(dispatcher), handle, listeners)
}

fn raise(dispatcher: &Dispatcher<Model>, place: Safety, act: impl FnMut(Step<Model>)) {
    dispatcher.post(0, 0, 0, || 0, [0; WORDS]);
    dispatcher.drain(0, place, act);
}

/// Counts deliveries in the low half, drops in the high one; checks that no two callbacks run at once.
fn counting(story: &Story, inside: &Arc<AtomicU32>) -> impl FnMut(Step<Model>) + use<> {
    let (story, inside) = (story.clone(), inside.clone());
    move |step| {
        assert_eq!(inside.fetch_add(1, Relaxed), 0, "one at a time");
        thread::yield_now();
        match step {
            Step::Deliver { .. } => story.fetch_add(1, Relaxed),
            Step::Dropped { count, .. } => story.fetch_add(count << 32, Relaxed),
            Step::Freed { .. } => 0,
        };
        inside.fetch_sub(1, Relaxed);
    }
}

#[test]
fn an_event_raised_while_another_thread_serves_is_not_left_behind() {
    loom::model(|| {
        let (dispatcher, _, _) = opened(4, Safety::None);
        let (story, inside) = (Story::default(), Arc::new(AtomicU32::new(0)));
        let (other_desk, act) = (dispatcher.clone(), counting(&story, &inside));
        let other = thread::spawn(move || raise(&other_desk, Safety::None, act));
        raise(&dispatcher, Safety::None, counting(&story, &inside));
        other.join().expect("no panic");
        assert_eq!(story.load(Relaxed), 2, "both, with no later thread");
        assert!(!dispatcher.has_waiting());
    });
}

#[test]
fn deliveries_and_drops_add_up_to_all_events() {
    loom::model(|| {
        let (dispatcher, handle, _) = opened(1, Safety::None);
        dispatcher.set_dropped(handle, Some(())).expect("live");
        let (story, inside) = (Story::default(), Arc::new(AtomicU32::new(0)));
        let (other_desk, act) = (dispatcher.clone(), counting(&story, &inside));
        let other = thread::spawn(move || raise(&other_desk, Safety::MpiRestricted, act));
        raise(&dispatcher, Safety::MpiRestricted, counting(&story, &inside));
        dispatcher.drain(0, Safety::None, counting(&story, &inside));
        other.join().expect("no panic");
        dispatcher.drain(0, Safety::None, counting(&story, &inside));
        let counts = story.load(Relaxed);
        assert_eq!((counts & 0xffff_ffff) + (counts >> 32), 2);
        assert!(!dispatcher.has_waiting());
    });
}

#[test]
fn after_freeing_no_callback_begins_and_freed_comes_once_behind_the_last() {
    loom::model(|| {
        let (dispatcher, handle, listeners) = opened(4, Safety::None);
        let (running, freed) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicU32::new(0)));
        let (other_desk, its_running, its_freed) = (dispatcher.clone(), running.clone(), freed.clone());
        let other = thread::spawn(move || {
            raise(&other_desk, Safety::None, |step| match step {
                Step::Deliver { .. } => {
                    assert_eq!(its_freed.load(Relaxed), 0, "not after it was freed");
                    its_running.store(1, Relaxed);
                    thread::yield_now();
                    its_running.store(0, Relaxed);
                }
                Step::Freed { .. } => {
                    assert_eq!(its_running.load(Relaxed), 0);
                    its_freed.fetch_add(1, Relaxed);
                }
                Step::Dropped { .. } => {}
            });
        });
        if dispatcher.free(handle, Some(())).expect("live").is_some() {
            assert_eq!(running.load(Relaxed), 0, "otherwise the other thread reports it");
            freed.fetch_add(1, Relaxed);
        }
        assert!(dispatcher.free(handle, Some(())).is_err());
        other.join().expect("no panic");
        assert_eq!((freed.load(Relaxed), listeners.0.load(Relaxed)), (1, 0));
        assert!(!dispatcher.has_waiting());
    });
}
