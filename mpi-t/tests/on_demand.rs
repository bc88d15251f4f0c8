//! On-demand metrics: handles are opened while the object exists, and end with it.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mpi_core::Handle;
use mpi_t::{Counter, Level, OnDemand, Registry, Size, TError, Value};

mpi_t::instruments! {
    /// A parcel's metrics.
    struct Parcel: Request {
        /// Grams.
        weight: Size = { name: "parcel_weight", class: Size, type: u64, unit: "grams", category: "parcels" },
        /// Times that it was handed over.
        hops: Counter = { name: "parcel_hops", class: Counter, type: u64, unit: "times", category: "parcels" },
        /// Grams left.
        left: Level =
            { name: "parcel_left", class: Level, type: u64, unit: "grams", category: "parcels" }
            { name: "parcel_left", class: LowWatermark, type: u64, unit: "grams", category: "parcels", doc: "Least." },
    }
}

/// The owner of parcels: existing numbers, and the instruments of those that have had a handle.
#[derive(Default)]
struct Office {
    parcels: BTreeSet<usize>,
    with_handles: OnDemand<Parcel>,
}

const WEIGHT: u64 = 500;

/// Freed memory is reused by the next allocation of its size in the process: these tests run one at a time.
fn alone() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn office() -> (Registry, Arc<Mutex<Office>>, Handle, Arc<AtomicUsize>) {
    let registry = Registry::with_environment([]);
    registry.init_thread().expect("address space for handles");
    let (office, placed) = (Arc::new(Mutex::new(Office::default())), Arc::new(AtomicUsize::new(0)));
    let (owner, count) = (office.clone(), placed.clone());
    let open_for = move |object, open: &mut mpi_t::Open<'_, Parcel>| {
        let office = &mut *owner.lock().expect("no panic");
        if !office.parcels.contains(&object) {
            return Err(TError::INVALID);
        }
        let fill = |parcel: &'static Parcel| {
            count.fetch_add(1, Ordering::Relaxed);
            parcel.weight.set(WEIGHT);
            parcel.left.follow(WEIGHT);
        };
        office.with_handles.open_for(object, fill, open)
    };
    registry.declare_on_demand::<Parcel>(open_for).expect("new names");
    let session = registry.pvar_session_create().expect("room");
    (registry, office, session, placed)
}

/// Variables by the order of declaration.
const WEIGHT_VARIABLE: i32 = 0;
const HOPS: i32 = 1;
const LEAST: i32 = 3;

#[test]
fn nothing_is_placed_for_objects_without_handles() {
    let _alone = alone();
    let (registry, office, session, placed) = office();
    office.lock().expect("no panic").parcels.extend([7, 8]);
    assert_eq!(placed.load(Ordering::Relaxed), 0);
    let (first, count) = registry.pvar_handle_alloc(session, HOPS, Some(7)).expect("it exists");
    let (second, _) = registry.pvar_handle_alloc(session, WEIGHT_VARIABLE, Some(7)).expect("it exists");
    assert_eq!((count, placed.load(Ordering::Relaxed)), (1, 1), "both handles share a block");
    registry.pvar_start(session, first).expect("it can be started");
    let block = office.lock().expect("no panic").with_handles.get(7).expect("it has had a handle");
    block.hops.add(3);
    assert_eq!(registry.pvar_read(session, first), Ok(Value::U64(3)));
    assert_eq!(registry.pvar_read(session, second), Ok(Value::U64(WEIGHT)));
    assert!(office.lock().expect("no panic").with_handles.get(8).is_none());
}

#[test]
fn what_names_no_object_is_refused_and_no_slot_is_lost() {
    let _alone = alone();
    let (registry, office, session, _) = office();
    office.lock().expect("no panic").parcels.insert(7);
    for object in [Some(0), Some(8), Some(usize::MAX), None] {
        let refused = registry.pvar_handle_alloc(session, HOPS, object);
        assert_eq!(refused.map(|(handle, _)| handle), Err(TError::INVALID), "{object:?}");
    }
    let stranger = registry.pvar_handle_alloc(Handle(77), HOPS, Some(7));
    assert_eq!(stranger.map(|(handle, _)| handle), Err(TError::INVALID_SESSION));
    registry.pvar_handle_alloc(session, HOPS, Some(7)).expect("it exists");
}

#[test]
fn handles_end_with_their_object_and_do_not_read_the_next_ones_block() {
    let _alone = alone();
    let (registry, office, session, _) = office();
    office.lock().expect("no panic").parcels.insert(7);
    let (mark, _) = registry.pvar_handle_alloc(session, LEAST, Some(7)).expect("it exists");
    registry.pvar_start(session, mark).expect("it can be started");
    let block = office.lock().expect("no panic").with_handles.get(7).expect("it has had a handle");
    block.left.lower(200);
    assert_eq!(registry.pvar_read(session, mark), Ok(Value::U64(300)));
    {
        let office = &mut *office.lock().expect("no panic");
        office.parcels.remove(&7);
        office.with_handles.end(7);
        office.parcels.insert(9);
    }
    let (other, _) = registry.pvar_handle_alloc(session, HOPS, Some(9)).expect("it exists");
    let again = office.lock().expect("no panic").with_handles.get(9).expect("it has had a handle");
    assert!(std::ptr::eq(again, block), "the memory is used again, zeroed");
    assert_eq!(registry.pvar_read(session, mark), Err(TError::INVALID_HANDLE));
    assert_eq!(registry.pvar_start(session, mark), Err(TError::INVALID_HANDLE));
    assert_eq!(registry.pvar_handle_alloc(session, HOPS, Some(7)).map(drop), Err(TError::INVALID));
    registry.pvar_start(session, other).expect("it can be started");
    again.hops.incr();
    assert_eq!(registry.pvar_read(session, other), Ok(Value::U64(1)));
    registry.pvar_handle_free(session, mark).expect("an ended handle can be freed nevertheless");
}

#[test]
fn objects_that_end_while_handles_are_opened_leave_no_handle_that_reads_another() {
    let _alone = alone();
    let (registry, office, session, _) = office();
    let over = AtomicBool::new(false);
    let opened = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        // Objects are created and freed; each with a handle has its own number as a value.
        scope.spawn(|| {
            for round in 1..20_000usize {
                let object = 1000 + round % 7;
                let office = &mut *office.lock().expect("no panic");
                if office.parcels.remove(&object) {
                    office.with_handles.end(object);
                } else {
                    office.parcels.insert(object);
                }
                for object in 1000..1007 {
                    if let Some(block) = office.with_handles.get(object) {
                        block.hops.add((object as u64).wrapping_sub(block.hops.get()));
                    }
                }
            }
            over.store(true, Ordering::Relaxed);
        });
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                for object in 1000..1007 {
                    let Ok((handle, _)) = registry.pvar_handle_alloc(session, HOPS, Some(object)) else { continue };
                    registry.pvar_start(session, handle).ok();
                    opened.fetch_add(1, Ordering::Relaxed);
                    for _ in 0..20 {
                        // From its start on the handle counts from the block's value at that time: 0, or the number.
                        if let Ok(value) = registry.pvar_read(session, handle) {
                            assert!(
                                [0, object as u64].contains(&value.as_u64().expect("a number")),
                                "{object}: {value}"
                            );
                        }
                    }
                    registry.pvar_handle_free(session, handle).expect("it is ours");
                }
            }
        });
    });
    assert!(opened.into_inner() > 0, "no handle was ever opened");
}

static HERE: mpi_t::SourceDef = mpi_t::SourceDef { name: "office", description: "Parcels." };

mpi_t::events! {
    /// Events of parcels.
    struct ParcelEvents: NoObject, from: HERE {
        /// A parcel has come.
        come(parcel: u64) = { name: "parcel_come", category: "parcels.events", at: MpiRestricted },
    }
}

#[test]
fn a_callback_at_a_place_that_may_hold_the_owners_lock_is_refused_instead_of_waiting_for_ever() {
    let _alone = alone();
    let (registry, office, session, _) = office();
    let registry = Arc::new(registry);
    let events = ParcelEvents::new();
    registry.register_events(events).expect("new names");
    let outcome = Arc::new(Mutex::new(Vec::new()));
    let index = registry.event_get_index("parcel_come").expect("registered");
    let registration = registry.event_handle_alloc(index, None, &mpi_core::Info::new()).expect("room");
    let (of, result) = (Arc::downgrade(&registry), outcome.clone());
    let callback = move |_: &mpi_t::EventInstance<'_>| {
        let registry = of.upgrade().expect("the test has it");
        result.lock().expect("no panic").push(registry.pvar_handle_alloc(session, HOPS, Some(7)).map(drop));
    };
    let callback = mpi_t::EventCallback { call: Arc::new(callback), data: 0 };
    registry
        .event_register_callback(registration, mpi_t::Safety::MpiRestricted, Some(callback))
        .expect("it can be called there");
    {
        // As an engine does: the event is raised while the lock is held.
        let office = &mut *office.lock().expect("no panic");
        office.parcels.insert(7);
        events.come.emit(|| (7,));
    }
    assert_eq!(*outcome.lock().expect("no panic"), [Err(TError::NOT_ACCESSIBLE)]);
    registry.pvar_handle_alloc(session, HOPS, Some(7)).expect("outside of callbacks it can be allocated");
}
