//! Every word that is not a live handle of the right session results in the right error and has no effect.
#![allow(unsafe_code)] // reads as C does

use mpi_core::{Handle, Kind, abi};
use mpi_t::{Counter, PvarClass, Registry, TError, Value};

mpi_t::instruments! {
    /// Bound to communicators.
    struct OfComm: Comm {
        /// Events.
        events: Counter = { name: "comm_events", class: Counter, type: u64, unit: "events", category: "x" },
    }
}

mpi_t::instruments! {
    /// Of the process.
    struct OfProcess: NoObject {
        /// Events.
        events: Counter = { name: "process_events", class: Counter, type: u64, unit: "events", category: "x" },
    }
}

mpi_t::cvars! {
    /// Settings.
    struct Settings {
        /// A size.
        size: u64 = 10 => { name: "size", unit: "bytes", category: "x", scope: Local, range: 1..=100 },
        /// A constant.
        version: u32 = 3 => { name: "version", unit: "", category: "x", scope: Constant },
        /// Only before the start.
        early: bool = false => { name: "early", unit: "", category: "x", scope: AllEq, until_init: true },
        /// A text.
        text: mpi_t::Text = "abc" => { name: "text", unit: "", category: "x", scope: Local },
    }
}

fn registry() -> (Registry, &'static OfProcess) {
    let registry = Registry::with_environment([]);
    registry.init_thread().expect("address space for handles");
    let block = OfProcess::detached();
    registry.register(block).expect("new names");
    registry.declare::<OfComm>().expect("new names");
    registry.register_settings(Settings::new()).expect("new names");
    (registry, block)
}

fn index(registry: &Registry, name: &str) -> i32 {
    registry.pvar_get_index(name, PvarClass::Counter as i32).expect("declared")
}

#[test]
fn a_description_ends_with_the_values_that_no_enumeration_names() {
    let (registry, _) = registry();
    let described = |name: &str| {
        let index = registry.cvar_get_index(name).expect("declared");
        registry.cvar_get_info(index).expect("there").description.clone()
    };
    assert_eq!(described("size"), "A size. Unit: bytes. Values: a whole number from 1 to 100.");
    assert_eq!(described("version"), "A constant. Values: a whole number from 0 to 4294967295.");
    assert_eq!(described("early"), "Only before the start.", "a switch has an enumeration");
    assert_eq!(described("text"), format!("A text. Values: a text of fewer than {} bytes.", mpi_t::TEXT_BYTES));
    let limits = mpi_t::Limits::Whole(0, 9);
    let texts =
        mpi_t::VariableTexts { name: "bare", description: "", unit: "", category: "x", category_description: "" };
    registry.add_cvar(&texts, mpi_t::Scope::Local, &Value::I32(1), limits).expect("a new name");
    assert_eq!(described("bare"), "", "a variable without a description");
}

/// Every operation on a handle, with its result.
fn every_operation(registry: &Registry, session: Handle, handle: Handle) -> Vec<Result<(), TError>> {
    vec![
        registry.pvar_read(session, handle).map(|_| ()),
        registry.pvar_read_all(session, handle).map(|_| ()),
        registry.pvar_readreset(session, handle).map(|_| ()),
        registry.pvar_write(session, handle, &[Value::U64(0)]),
        registry.pvar_start(session, handle),
        registry.pvar_stop(session, handle),
        registry.pvar_reset(session, handle),
        registry.pvar_of_handle(session, handle).map(|_| ()),
        registry.pvar_handle_free(session, handle),
        raw(|| {
            let mut out = 0u64;
            // SAFETY: room for one u64.
            unsafe { mpi_t::pvar_read_raw(session.0, handle.0, (&raw mut out).cast()) }
        }),
    ]
}

fn raw(call: impl FnOnce() -> i32) -> Result<(), TError> {
    match call() {
        abi::MPI_SUCCESS => Ok(()),
        abi::MPI_T_ERR_INVALID_HANDLE => Err(TError::INVALID_HANDLE),
        abi::MPI_T_ERR_INVALID_SESSION => Err(TError::INVALID_SESSION),
        other => panic!("{other}"),
    }
}

#[test]
fn a_forged_or_null_handle_is_invalid() {
    let (registry, _) = registry();
    let session = registry.pvar_session_create().expect("room");
    let live = registry.pvar_handle_alloc(session, index(&registry, "process_events"), None).expect("room").0;
    let words =
        [0, 2, 64, 4096, live.0 ^ 1, live.0 ^ 64, live.0 ^ 1 << 26, live.0 ^ 1 << 57, live.0 | 1 << 63, usize::MAX];
    let kinds = [Kind::Comm, Kind::Cvar, Kind::PvarSession].map(|kind| Handle::pack(kind, live.index(), 1).0);
    for word in words.into_iter().chain(kinds).chain((0..64).map(|bit| live.0 ^ 1 << bit)) {
        for answer in every_operation(&registry, session, Handle(word)) {
            assert_eq!(answer, Err(TError::INVALID_HANDLE), "{word:#x}");
        }
    }
    assert_eq!(registry.pvar_read(session, live), Ok(Value::U64(0)), "the real one is unchanged");
}

#[test]
fn a_handle_of_another_session_is_invalid_and_so_is_no_session() {
    let (registry, _) = registry();
    let (mine, other) = (registry.pvar_session_create().expect("room"), registry.pvar_session_create().expect("room"));
    let handle = registry.pvar_handle_alloc(mine, index(&registry, "process_events"), None).expect("room").0;
    for answer in every_operation(&registry, other, handle) {
        assert_eq!(answer, Err(TError::INVALID_HANDLE));
    }
    for word in [0, handle.0, mine.0 ^ 1 << 30, usize::MAX] {
        for answer in every_operation(&registry, Handle(word), handle) {
            assert_eq!(answer, Err(TError::INVALID_SESSION), "{word:#x}");
        }
        assert_eq!(registry.pvar_session_free(Handle(word)), Err(TError::INVALID_SESSION));
        assert_eq!(registry.pvar_handle_alloc(Handle(word), 0, None), Err(TError::INVALID_SESSION));
        let all = Handle(abi::MPI_T_PVAR_ALL_HANDLES);
        assert_eq!(registry.pvar_start(Handle(word), all), Err(TError::INVALID_SESSION));
    }
}

#[test]
fn a_freed_handle_is_stale_even_after_its_slot_is_reused() {
    let (registry, block) = registry();
    let session = registry.pvar_session_create().expect("room");
    let index = index(&registry, "process_events");
    let mut freed = Vec::new();
    for _ in 0..50 {
        let handle = registry.pvar_handle_alloc(session, index, None).expect("room").0;
        registry.pvar_start(session, handle).expect("live");
        block.events.incr();
        assert_eq!(registry.pvar_read(session, handle), Ok(Value::U64(1)));
        registry.pvar_handle_free(session, handle).expect("live");
        freed.push(handle);
    }
    // A live handle takes their place.
    let live = registry.pvar_handle_alloc(session, index, None).expect("room").0;
    for handle in freed {
        for answer in every_operation(&registry, session, handle) {
            assert_eq!(answer, Err(TError::INVALID_HANDLE));
        }
    }
    assert_eq!(registry.pvar_read(session, live), Ok(Value::U64(0)));
}

#[test]
fn freeing_a_session_frees_its_handles_and_no_others() {
    let (registry, _) = registry();
    let (mine, other) = (registry.pvar_session_create().expect("room"), registry.pvar_session_create().expect("room"));
    let index = index(&registry, "process_events");
    let lost = registry.pvar_handle_alloc(mine, index, None).expect("room").0;
    let kept = registry.pvar_handle_alloc(other, index, None).expect("room").0;
    registry.pvar_session_free(mine).expect("live");
    assert_eq!(registry.pvar_session_free(mine), Err(TError::INVALID_SESSION));
    assert_eq!(registry.pvar_read(mine, lost), Err(TError::INVALID_SESSION));
    assert_eq!(registry.pvar_read(other, lost), Err(TError::INVALID_HANDLE));
    assert_eq!(registry.pvar_read(other, kept), Ok(Value::U64(0)));
}

#[test]
fn a_handle_ends_with_its_object() {
    let (registry, _) = registry();
    let session = registry.pvar_session_create().expect("room");
    let index = index(&registry, "comm_events");
    let (first, second) = (OfComm::detached(), OfComm::detached());
    registry.bind(0x101, first);
    registry.bind(0x102, second);
    assert_eq!(registry.pvar_handle_alloc(session, index, None), Err(TError::INVALID), "an object is needed");
    assert_eq!(
        registry.pvar_handle_alloc(session, index, Some(0x103)),
        Err(TError::INVALID),
        "there is no such object"
    );
    let on = |object| registry.pvar_handle_alloc(session, index, Some(object)).expect("bound").0;
    let (of_first, of_second) = (on(0x101), on(0x102));
    registry.pvar_start(session, of_first).expect("live");
    registry.pvar_start(session, of_second).expect("live");
    first.events.add(1);
    second.events.add(2);
    registry.unbind(0x101, first);
    mpi_t::retire(&mpi_t::HeapMemory, first);
    assert_eq!(registry.pvar_handle_alloc(session, index, Some(0x101)), Err(TError::INVALID));
    let after = every_operation(&registry, session, of_first);
    assert_eq!(after[..7], vec![Err(TError::INVALID_HANDLE); 7], "no operation works");
    assert_eq!(after[8..], [Ok(()), Err(TError::INVALID_HANDLE)], "except freeing it");
    assert_eq!(registry.pvar_read(session, of_second), Ok(Value::U64(2)));
}

#[test]
fn many_handles_exist_at_once() {
    let (registry, block) = registry();
    let session = registry.pvar_session_create().expect("room");
    let index = index(&registry, "process_events");
    let handles: Vec<_> =
        (0..100_000).map(|_| registry.pvar_handle_alloc(session, index, None).expect("room").0).collect();
    registry.pvar_start(session, Handle(abi::MPI_T_PVAR_ALL_HANDLES)).expect("all can be started");
    block.events.incr();
    for handle in &handles {
        assert_eq!(registry.pvar_read(session, *handle), Ok(Value::U64(1)));
    }
    registry.pvar_session_free(session).expect("live");
}

#[test]
fn indices_and_names_that_do_not_exist_have_different_errors() {
    let (registry, _) = registry();
    let counts = [registry.pvar_get_num(), registry.cvar_get_num(), registry.category_get_num()];
    // The number itself is the first index that is none.
    let [pvars, cvars, categories] = counts.map(|count| count.expect("initialized"));
    assert!(registry.pvar_get_info(pvars - 1).is_ok() && registry.pvar_get_info(pvars).is_err());
    assert!(registry.cvar_get_info(cvars - 1).is_ok() && registry.cvar_get_info(cvars).is_err());
    assert!(registry.category_get_info(categories - 1).is_ok() && registry.category_get_info(categories).is_err());
    for index in [-1, i32::MIN, i32::MAX, 100] {
        assert_eq!(registry.pvar_get_info(index).map(|_| ()), Err(TError::INVALID_INDEX));
        assert_eq!(registry.cvar_get_info(index).map(|_| ()).err(), Some(TError::INVALID_INDEX));
        assert_eq!(registry.category_get_info(index).map(|_| ()).err(), Some(TError::INVALID_INDEX));
        assert_eq!(registry.cvar_handle_alloc(index, None), Err(TError::INVALID_INDEX));
        let session = registry.pvar_session_create().expect("room");
        assert_eq!(registry.pvar_handle_alloc(session, index, None), Err(TError::INVALID_INDEX));
        registry.pvar_session_free(session).expect("live");
    }
    assert_eq!(registry.pvar_get_index("process_events", PvarClass::Level as i32), Err(TError::INVALID_NAME));
    assert_eq!(registry.pvar_get_index("process_events", 77), Err(TError::INVALID_NAME));
    assert_eq!(registry.pvar_get_index("Process_events", PvarClass::Counter as i32), Err(TError::INVALID_NAME));
    assert_eq!(registry.cvar_get_index("none"), Err(TError::INVALID_NAME));
    assert_eq!(registry.category_get_index("x.y"), Err(TError::INVALID_NAME));
}

#[test]
fn control_variables_are_read_and_set_through_handles() {
    let (registry, _) = registry();
    let handle_of =
        |name| registry.cvar_handle_alloc(registry.cvar_get_index(name).expect("declared"), None).expect("room");
    let ((size, one), (version, _), (early, _)) = (handle_of("size"), handle_of("version"), handle_of("early"));
    assert_eq!((registry.cvar_read(size), one), (Ok(Value::U64(10)), 1));
    assert_eq!(registry.cvar_write(size, &Value::U64(99)), Ok(()));
    assert_eq!(registry.cvar_read(size), Ok(Value::U64(99)));
    assert_eq!(registry.cvar_write(size, &Value::U64(101)), Err(TError::INVALID), "out of range");
    assert_eq!(registry.cvar_write(size, &Value::I32(5)), Err(TError::INVALID), "a wrong type");
    assert_eq!(registry.cvar_write(version, &Value::U32(5)), Err(TError::CVAR_SET_NEVER));
    assert_eq!(registry.cvar_write(early, &Value::I32(1)), Ok(()));
    registry.started();
    assert_eq!(registry.cvar_write(early, &Value::I32(0)), Err(TError::CVAR_SET_NEVER));
    assert_eq!(registry.cvar_read(early), Ok(Value::I32(1)));
    registry.cvar_handle_free(size).expect("live");
    for handle in [size, Handle(0), Handle(usize::MAX), Handle(version.0 ^ 1 << 57)] {
        assert_eq!(registry.cvar_read(handle), Err(TError::INVALID_HANDLE));
        assert_eq!(registry.cvar_write(handle, &Value::U64(5)), Err(TError::INVALID_HANDLE));
        assert_eq!(registry.cvar_handle_free(handle), Err(TError::INVALID_HANDLE));
    }
}

#[test]
fn a_text_variable_goes_through_c_memory_with_its_null() {
    let (registry, _) = registry();
    let (text, count) =
        registry.cvar_handle_alloc(registry.cvar_get_index("text").expect("declared"), None).expect("room");
    let mut buffer = vec![0xffu8; count as usize];
    // SAFETY: the buffer has as many bytes as the variable.
    unsafe {
        registry.cvar_read_raw(text, buffer.as_mut_ptr().cast()).expect("live");
        assert_eq!(&buffer[..5], b"abc\0\xff");
        buffer[..4].copy_from_slice(b"xyz\0");
        registry.cvar_write_raw(text, buffer.as_ptr().cast()).expect("a text");
        assert_eq!(registry.cvar_read(text), Ok(Value::Text("xyz".into())));
        buffer.fill(b'x');
        assert_eq!(registry.cvar_write_raw(text, buffer.as_ptr().cast()), Err(TError::INVALID), "no null, too long");
        buffer[..3].copy_from_slice(b"\xff\xfe\0");
        assert_eq!(registry.cvar_write_raw(text, buffer.as_ptr().cast()), Err(TError::INVALID), "not UTF-8");
    }
}

#[test]
fn a_name_cannot_be_declared_twice() {
    let (registry, _) = registry();
    assert!(registry.declare::<OfComm>().is_ok(), "the same block again changes nothing");
    mpi_t::instruments! {
        /// A name that exists.
        struct Again: NoObject {
            /// Events.
            events: Counter = { name: "process_events", class: Counter, type: u64, unit: "events", category: "x" },
        }
    }
    let before = registry.pvar_get_num();
    assert!(registry.register(Again::detached()).is_err_and(|error| error.to_string().contains("process_events")));
    assert_eq!(registry.pvar_get_num(), before);
    assert!(registry.register_settings(Settings::new()).is_err());
}
