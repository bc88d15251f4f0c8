//! Queues of registrations: capacity, dropped events, and the handler of dropped events.

mod engine;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use mpi_core::Info;
use mpi_t::{CAPACITY_HINT, Dropped, EventCallback, Safety, TError};
use proptest::prelude::*;

use engine::{listen, registry};

#[test]
fn events_beyond_the_capacity_are_dropped_counted_and_reported_in_order() {
    let (registry, events) = registry();
    let mut hints = Info::new();
    hints.set(CAPACITY_HINT, "3").expect("short");
    let index = registry.event_get_index("locked").expect("declared");
    let handle = registry.event_handle_alloc(index, None, &hints).expect("room");
    let (other, all) = listen(&registry, "locked", Safety::MpiRestricted);
    let story = Arc::new(Mutex::new(Vec::new()));
    let (to, dropped_to) = (story.clone(), story.clone());
    let call = Arc::new(move |event: &mpi_t::EventInstance<'_>| {
        to.lock().expect("no panic").push(event.element(0).and_then(|value| value.as_u64()).expect("a number") as i64);
    });
    registry.event_register_callback(handle, Safety::None, Some(EventCallback { call, data: 77 })).expect("live");
    let handler = move |dropped: &Dropped| {
        assert_eq!((dropped.registration, dropped.safety, dropped.data), (handle, Safety::None, 77));
        dropped_to.lock().expect("no panic").push(-(dropped.count as i64));
    };
    registry.event_set_dropped_handler(handle, Some(Arc::new(handler))).expect("live");
    (0..10).for_each(|i| events.locked.emit(|| (i,)));
    registry.deliver_events();
    assert_eq!(*story.lock().expect("no panic"), [0, 1, 2, -7]);
    (10..15).for_each(|i| events.locked.emit(|| (i,)));
    registry.deliver_events();
    assert_eq!(*story.lock().expect("no panic"), [0, 1, 2, -7, 10, 11, 12, -2]);
    // An event whose callback could run at once waits for those before it in the source; its registration loses
    // nothing.
    assert_eq!(*all.lock().expect("no panic"), (0..15).collect::<Vec<_>>());
    registry.event_handle_free(other, None).expect("live");
}

#[test]
fn hints_in_use_are_returned_and_bad_values_refused() {
    let (registry, _) = registry();
    let index = registry.event_get_index("bare").expect("declared");
    let hint = |value: &str| {
        let mut hints = Info::new();
        hints.set(CAPACITY_HINT, value).expect("short");
        hints.set("somebody_else", "1").expect("short");
        hints
    };
    let handle = registry.event_handle_alloc(index, None, &hint("17")).expect("room");
    let used = registry.event_handle_get_info(handle).expect("live");
    assert_eq!((used.len(), used.get(CAPACITY_HINT)), (1, Some("17")));
    registry.event_handle_set_info(handle, &hint("18")).expect("live");
    assert_eq!(registry.event_handle_get_info(handle).expect("live").get(CAPACITY_HINT), Some("18"));
    for bad in ["", "0", "-1", "1048577", "many"] {
        assert_eq!(registry.event_handle_alloc(index, None, &hint(bad)), Err(TError::INVALID), "{bad:?}");
        assert_eq!(registry.event_handle_set_info(handle, &hint(bad)), Err(TError::INVALID), "{bad:?}");
    }
}

#[test]
fn threads_lose_no_event_and_callbacks_of_a_source_never_meet() {
    const THREADS: u64 = 4;
    const EACH: u64 = 2000;
    let (registry, events) = registry();
    let index = registry.event_get_index("free").expect("declared");
    let handle = registry.event_handle_alloc(index, None, &Info::new()).expect("room");
    let (delivered, dropped, inside) =
        (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
    let (counted, lost, last) = (delivered.clone(), dropped.clone(), Arc::new(AtomicU64::new(0)));
    let call = Arc::new(move |event: &mpi_t::EventInstance<'_>| {
        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
        assert!(last.swap(event.time_ns(), Ordering::Relaxed) <= event.time_ns(), "in order");
        counted.fetch_add(1, Ordering::Relaxed);
        inside.fetch_sub(1, Ordering::SeqCst);
    });
    registry.event_register_callback(handle, Safety::None, Some(EventCallback { call, data: 0 })).expect("live");
    let handler = move |dropped: &Dropped| {
        lost.fetch_add(dropped.count, Ordering::Relaxed);
    };
    registry.event_set_dropped_handler(handle, Some(Arc::new(handler))).expect("live");
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| (0..EACH).for_each(|i| events.free.emit(|| (i as i32, 0, 0.0, 0))));
        }
    });
    registry.deliver_events();
    assert_eq!(delivered.load(Ordering::Relaxed) + dropped.load(Ordering::Relaxed), THREADS * EACH);
}

proptest! {
    /// Random events, deliveries and capacities against a simple model of one queue.
    #[test]
    fn delivered_and_dropped_agree_with_a_bounded_queue(
        capacity in 1usize..5,
        steps in proptest::collection::vec(prop_oneof![4 => Just(true), 1 => Just(false)], 0..60),
    ) {
        let (registry, events) = registry();
        let mut hints = Info::new();
        hints.set(CAPACITY_HINT, &capacity.to_string()).expect("short");
        let index = registry.event_get_index("locked").expect("declared");
        let handle = registry.event_handle_alloc(index, None, &hints).expect("room");
        let story = Arc::new(Mutex::new(Vec::new()));
        let (to, dropped_to) = (story.clone(), story.clone());
        let call = Arc::new(move |event: &mpi_t::EventInstance<'_>| {
            to.lock().expect("no panic").push(event.element(0).and_then(|value| value.as_u64()).expect("a number") as i64);
        });
        registry.event_register_callback(handle, Safety::None, Some(EventCallback { call, data: 0 })).expect("live");
        let handler = move |dropped: &Dropped| dropped_to.lock().expect("no panic").push(-(dropped.count as i64));
        registry.event_set_dropped_handler(handle, Some(Arc::new(handler))).expect("live");

        let (mut model, mut queued, mut lost) = (Vec::new(), Vec::new(), 0);
        for (number, raise) in steps.iter().chain([&false]).enumerate() {
            if *raise {
                events.locked.emit(|| (number as u32,));
                if queued.len() < capacity { queued.push(number as i64) } else { lost += 1 }
            } else {
                registry.deliver_events();
                model.append(&mut queued);
                if lost > 0 { model.push(-std::mem::take(&mut lost)) }
            }
        }
        prop_assert_eq!(&*story.lock().expect("no panic"), &model);
    }
}
