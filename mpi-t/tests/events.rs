//! Events: which callback is called, when, and with which arguments.

mod engine;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use mpi_core::abi::MPI_T_ENUM_NULL;
use mpi_core::{Handle, Info};
use mpi_t::{Bind, EventCallback, Freed, Registry, Safety, TError, Value, ValueType, Verbosity, now_ns};

use engine::{ENGINE, listen, registry};

mpi_t::events! {
    /// Events of communicators.
    struct CommEvents: Comm, from: ENGINE {
        /// Raised for one communicator.
        of_comm(number: u32) = { name: "of_comm", category: "engine.events", at: None },
    }
}

#[test]
fn the_info_of_events_and_sources_is_as_declared() {
    let (registry, _) = registry();
    let index = registry.event_get_index("free").expect("declared");
    let info = registry.event_get_info(index).expect("an index");
    assert_eq!((info.definition.name, info.description.as_str()), ("free", "Raised where any function may be called."));
    assert_eq!(info.definition.elements.iter().map(|each| each.displacement).collect::<Vec<_>>(), [0, 8, 16, 24]);
    let values = info.definition.elements.iter().map(|each| each.value).collect::<Vec<_>>();
    assert_eq!(values, [ValueType::I32, ValueType::U64, ValueType::F64, ValueType::U32]);
    assert_eq!((info.definition.bind, info.definition.verbosity), (Bind::NoObject, Verbosity::UserDetail));
    let bare = registry.event_get_info(registry.event_get_index("bare").expect("declared")).expect("an index");
    assert_eq!((bare.definition.verbosity, bare.definition.elements.len()), (Verbosity::TunerAll, 0));
    assert_eq!(bare.elements.0, MPI_T_ENUM_NULL, "no elements, no names");
    assert_eq!(registry.enum_get_info(info.elements).expect("names"), (4, "free_elements"));
    assert_eq!(registry.enum_get_item(info.elements, 2), Ok((2, "part")));
    let source = registry.source_get_info(info.source).expect("a source");
    assert_eq!((source.name, source.description), ("engine", "A test engine."));
    let count = registry.event_get_num().expect("initialized");
    for bad in [-1, count, i32::MAX] {
        assert_eq!(registry.event_get_info(bad).map(|_| ()), Err(TError::INVALID_INDEX));
        assert_eq!(registry.event_handle_alloc(bad, None, &Info::new()), Err(TError::INVALID_INDEX));
        assert_eq!(registry.source_get_info(bad).map(|_| ()), Err(TError::INVALID_INDEX));
    }
    assert_eq!(registry.event_get_index("no such event"), Err(TError::INVALID_NAME));
    let category = registry.category_get_index("engine.events").expect("a category");
    assert!(registry.category_get_events(category).expect("a category").contains(&index));
}

#[test]
fn a_callback_sees_the_elements_the_time_and_the_source() {
    let (registry, events) = registry();
    let registry = Arc::new(registry);
    let (inside, calls) = (registry.clone(), Arc::new(AtomicU64::new(0)));
    let counted = calls.clone();
    let before = now_ns();
    let handle = registry.subscribe("free", None, Safety::None, move |event| {
        assert_eq!(event.get("number"), Some(Value::I32(-5)));
        assert_eq!(inside.event_read(event.handle(), 1), Ok(Value::U64(1 << 40)));
        assert_eq!(inside.event_read(event.handle(), 2), Ok(Value::F64(0.25)));
        assert_eq!(inside.event_read(event.handle(), 3), Ok(Value::U32(7)));
        for bad in [-1, 4, i32::MAX] {
            assert_eq!(inside.event_read(event.handle(), bad), Err(TError::INVALID_INDEX));
        }
        let (bytes, length) = inside.event_copy(event.handle()).expect("live");
        assert_eq!((length, &bytes[..4], &bytes[24..28]), (28, &(-5i32).to_ne_bytes()[..], &7u32.to_ne_bytes()[..]));
        let time = inside.event_get_timestamp(event.handle()).expect("live");
        assert!((before..=now_ns()).contains(&time) && time == event.time_ns());
        let source = inside.event_get_source(event.handle()).expect("live");
        assert_eq!(inside.source_get_info(source).expect("an index").name, "engine");
        counted.store(event.handle().0 as u64, Ordering::Relaxed);
    });
    let handle = handle.expect("a known event");
    events.free.emit(|| (-5, 1 << 40, 0.25, 7));
    let instance = Handle(calls.load(Ordering::Relaxed) as usize);
    assert_ne!(instance.0, 0, "the callback was called, and came to its end");
    for stale in [instance, Handle(0), Handle(instance.0 + 1), handle] {
        assert_eq!(registry.event_read(stale, 0), Err(TError::INVALID_HANDLE));
        assert_eq!(registry.event_copy(stale).map(|_| ()), Err(TError::INVALID_HANDLE));
        assert_eq!(registry.event_get_timestamp(stale), Err(TError::INVALID_HANDLE));
        assert_eq!(registry.event_get_source(stale), Err(TError::INVALID_HANDLE));
    }
}

#[test]
fn no_callback_runs_before_registering_and_after_freeing() {
    let (registry, events) = registry();
    events.free.emit(|| (1, 0, 0.0, 0));
    let (handle, seen) = listen(&registry, "free", Safety::None);
    events.free.emit(|| (2, 0, 0.0, 0));
    let count_of_freed = Arc::new(AtomicU64::new(0));
    let count = count_of_freed.clone();
    let freed = move |freed: &Freed| {
        assert_eq!((freed.registration, freed.safety), (handle, Safety::None));
        count.fetch_add(1, Ordering::Relaxed);
    };
    registry.event_handle_free(handle, Some(Box::new(freed))).expect("live");
    assert_eq!(count_of_freed.load(Ordering::Relaxed), 1, "at once, as no callback runs");
    events.free.emit(|| (3, 0, 0.0, 0));
    assert_eq!(*seen.lock().expect("no panic"), [2]);
    assert_eq!(registry.event_handle_free(handle, None), Err(TError::INVALID_HANDLE));
    assert_eq!(registry.event_register_callback(handle, Safety::None, None), Err(TError::INVALID_HANDLE));
    assert_eq!(registry.event_set_dropped_handler(handle, None), Err(TError::INVALID_HANDLE));
    assert_eq!(registry.event_handle_get_info(handle).map(|_| ()), Err(TError::INVALID_HANDLE));
}

#[test]
fn the_least_restricted_callback_that_the_place_allows_is_called() {
    let (registry, events) = registry();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let index = registry.event_get_index("locked").expect("declared");
    let handle = registry.event_handle_alloc(index, None, &Info::new()).expect("room");
    let register = |level| {
        let to = seen.clone();
        let call = Arc::new(move |event: &mpi_t::EventInstance<'_>| {
            to.lock().expect("no panic").push((level, event.safety()));
        });
        let callback = EventCallback { call, data: 0 };
        registry.event_register_callback(handle, level, Some(callback)).expect("live");
    };
    let expect = |expected: &[(Safety, Safety)]| {
        events.locked.emit(|| (1,));
        assert_eq!(*seen.lock().expect("no panic"), expected);
        seen.lock().expect("no panic").clear();
    };
    register(Safety::AsyncSignalSafe);
    expect(&[(Safety::AsyncSignalSafe, Safety::MpiRestricted)]);
    register(Safety::ThreadSafe);
    register(Safety::None);
    expect(&[(Safety::ThreadSafe, Safety::MpiRestricted)]);
    register(Safety::MpiRestricted);
    expect(&[(Safety::MpiRestricted, Safety::MpiRestricted)]);
    for level in [Safety::MpiRestricted, Safety::ThreadSafe, Safety::AsyncSignalSafe] {
        registry.event_register_callback(handle, level, None).expect("live");
        assert_eq!(registry.event_callback_get_info(handle, level), Err(TError::INVALID));
    }
    expect(&[]);
    registry.deliver_events();
    assert_eq!(
        *seen.lock().expect("no panic"),
        [(Safety::None, Safety::None)],
        "later, at a place without restrictions"
    );
}

#[test]
fn events_that_wait_come_in_order_with_the_times_of_when_they_happened() {
    let (registry, events) = registry();
    let times = Arc::new(Mutex::new(Vec::new()));
    for (name, level) in [("locked", Safety::None), ("free", Safety::MpiRestricted)] {
        let to = times.clone();
        let keep = move |event: &mpi_t::EventInstance<'_>| {
            to.lock().expect("no panic").push((event.definition().name, event.time_ns()));
        };
        registry.subscribe(name, None, level, keep).expect("a known event");
    }
    let begin = now_ns();
    events.locked.emit(|| (0,));
    events.locked.emit(|| (1,));
    assert!(times.lock().expect("no panic").is_empty());
    let between = now_ns();
    // One source: an event that can be delivered at once also delivers those before it.
    events.free.emit(|| (2, 0, 0.0, 0));
    let times = times.lock().expect("no panic").clone();
    assert_eq!(times.iter().map(|(name, _)| *name).collect::<Vec<_>>(), ["locked", "locked", "free"]);
    assert!(times.is_sorted_by_key(|(_, time)| *time));
    assert!(begin <= times[0].1 && times[1].1 <= between && between <= times[2].1);
}

#[test]
fn a_callback_may_free_itself_and_register_others() {
    let (registry, events) = registry();
    let registry = Arc::new(registry);
    let story = Arc::new(Mutex::new(Vec::new()));
    let (inside, to) = (registry.clone(), story.clone());
    let call = move |event: &mpi_t::EventInstance<'_>| {
        let (to_freed, to_other) = (to.clone(), to.clone());
        let freed = move |freed: &Freed| to_freed.lock().expect("no panic").push(format!("freed {:?}", freed.safety));
        inside.event_handle_free(event.registration(), Some(Box::new(freed))).expect("live");
        assert_eq!(event.element(0), Some(Value::I32(1)), "still readable");
        inside
            .subscribe("free", None, Safety::None, move |event| {
                to_other.lock().expect("no panic").push(format!("other {:?}", event.element(0)));
            })
            .expect("a known event");
        to.lock().expect("no panic").push("first".to_owned());
    };
    registry.subscribe("free", None, Safety::None, call).expect("a known event");
    events.free.emit(|| (1, 0, 0.0, 0));
    events.free.emit(|| (2, 0, 0.0, 0));
    assert_eq!(*story.lock().expect("no panic"), ["first", "freed None", "other Some(I32(2))"]);
}

#[test]
fn events_raised_by_a_callback_come_after_it_has_returned() {
    let (registry, events) = registry();
    let depth = Arc::new(AtomicU64::new(0));
    let (handle, seen) = listen(&registry, "free", Safety::None);
    let inside = depth.clone();
    registry
        .subscribe("free", None, Safety::None, move |event| {
            assert_eq!(inside.fetch_add(1, Ordering::Relaxed), 0, "not within itself");
            if let Some(Value::I32(number)) = event.element(0)
                && number < 3
            {
                events.free.emit(|| (number + 1, 0, 0.0, 0));
            }
            inside.fetch_sub(1, Ordering::Relaxed);
        })
        .expect("a known event");
    events.free.emit(|| (0, 0, 0.0, 0));
    assert_eq!(*seen.lock().expect("no panic"), [0, 1, 2, 3]);
    registry.event_handle_free(handle, None).expect("live");
}

#[test]
fn a_panic_in_a_callback_leaves_the_others_served() {
    let (registry, events) = registry();
    let (_, seen) = listen(&registry, "bare", Safety::None);
    let bad = registry.subscribe("free", None, Safety::None, |_| panic!("a bad callback")).expect("a known event");
    let raised = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| events.free.emit(|| (0, 0, 0.0, 0))));
    assert!(raised.is_err());
    events.bare.emit(|| ());
    assert_eq!(seen.lock().expect("no panic").len(), 1);
    registry.event_handle_free(bad, None).expect("live");
}

#[test]
fn a_registration_gets_the_events_of_its_object_only_until_that_ends() {
    let (registry, events) = (Registry::with_environment([]), CommEvents::new());
    registry.register_events(events).expect("new names");
    registry.init_thread().expect("address space");
    registry.bind_events(Bind::Comm, 1000, 1);
    registry.bind_events(Bind::Comm, 2000, 2);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let of = |object| {
        let to = seen.clone();
        registry.subscribe("of_comm", object, Safety::None, move |event| {
            to.lock().expect("no panic").push(event.element(0));
        })
    };
    assert_eq!((of(None), of(Some(3000))), (Err(TError::INVALID), Err(TError::INVALID)));
    let first = of(Some(1000)).expect("bound");
    // Another registration exists, so that events are raised all the time.
    let second = registry.subscribe("of_comm", Some(2000), Safety::None, |_| ()).expect("bound");
    events.of_comm.emit_for(|| (1, (10,)));
    events.of_comm.emit_for(|| (2, (20,)));
    registry.unbind_events(Bind::Comm, 1000);
    events.of_comm.emit_for(|| (1, (11,)));
    assert_eq!(*seen.lock().expect("no panic"), [Some(Value::U32(10))]);
    assert_eq!(of(Some(1000)), Err(TError::INVALID));
    registry.event_handle_free(first, None).expect("still to be freed");
    registry.event_handle_free(second, None).expect("live");
}

#[test]
fn nothing_is_raised_while_the_interface_is_not_initialized() {
    let (registry, events) = registry();
    let (handle, seen) = listen(&registry, "free", Safety::None);
    registry.finalize().expect("initialized");
    events.free.emit(|| (1, 0, 0.0, 0));
    assert_eq!(registry.event_handle_free(handle, None), Err(TError::NOT_INITIALIZED));
    assert_eq!(registry.event_get_num(), Err(TError::NOT_INITIALIZED));
    registry.init_thread().expect("again");
    events.free.emit(|| (2, 0, 0.0, 0));
    assert_eq!(*seen.lock().expect("no panic"), [2]);
}

#[test]
fn a_control_variable_that_is_set_is_an_event() {
    mpi_t::cvars! {
        /// Settings.
        struct Settings {
            /// A size.
            size: u64 = 1 => { name: "size", unit: "bytes", category: "engine", scope: Local, range: 0..=9 },
        }
    }
    let (registry, settings) = (Registry::with_environment([]), Settings::new());
    registry.register_settings(settings).expect("new names");
    registry.init_thread().expect("address space");
    let (_, seen) = listen(&registry, "tool_cvar_set", Safety::None);
    let (handle, _) = registry.cvar_handle_alloc(0, None).expect("an index");
    registry.cvar_write(handle, &Value::U64(5)).expect("in range");
    assert_eq!(registry.cvar_write(handle, &Value::U64(10)), Err(TError::INVALID));
    assert_eq!(*seen.lock().expect("no panic"), [0], "one change, of variable 0");
}
