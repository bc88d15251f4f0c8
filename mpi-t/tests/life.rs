//! Before the first initialization and after the last finalization every call fails, and none crashes.
//! One test, because the state is that of the whole operating-system process.
#![allow(unsafe_code)] // reads as C does

use mpi_core::{Handle, abi};
use mpi_t::{Counter, Registry, TError, Value};

mpi_t::instruments! {
    /// Of the process.
    struct Block: NoObject {
        /// Events.
        events: Counter = { name: "events", class: Counter, type: u64, unit: "events", category: "x" },
    }
}

fn nothing_works(registry: &Registry, session: Handle, handle: Handle) {
    let not = || TError::NOT_INITIALIZED;
    assert_eq!(registry.pvar_get_num(), Err(not()));
    assert_eq!(registry.pvar_get_info(0).map(|_| ()), Err(not()));
    assert_eq!(registry.pvar_get_index("events", abi::MPI_T_PVAR_CLASS_COUNTER), Err(not()));
    assert_eq!(registry.pvar_session_create(), Err(not()));
    assert_eq!(registry.pvar_session_free(session), Err(not()));
    assert_eq!(registry.pvar_handle_alloc(session, 0, None), Err(not()));
    assert_eq!(registry.pvar_handle_free(session, handle), Err(not()));
    assert_eq!(registry.cvar_get_num(), Err(not()));
    assert_eq!(registry.category_get_num(), Err(not()));
    assert_eq!(registry.category_changed(), Err(not()));
    assert_eq!(registry.enum_get_info(Handle(0)), Err(not()));
    for (session, handle) in [(session, handle), (Handle(0), Handle(0)), (Handle(usize::MAX), Handle(usize::MAX))] {
        assert_eq!(registry.pvar_read(session, handle), Err(not()));
        assert_eq!(registry.pvar_start(session, handle), Err(not()));
        assert_eq!(registry.pvar_stop(session, Handle(abi::MPI_T_PVAR_ALL_HANDLES)), Err(not()));
        assert_eq!(registry.pvar_reset(session, handle), Err(not()));
        assert_eq!(registry.pvar_write(session, handle, &[Value::U64(1)]), Err(not()));
        let mut out = 42u64;
        // SAFETY: room for one u64.
        let code = unsafe { mpi_t::pvar_read_raw(session.0, handle.0, (&raw mut out).cast()) };
        assert_eq!((code, out), (abi::MPI_T_ERR_NOT_INITIALIZED, 42));
    }
}

#[test]
fn the_interface_works_between_its_first_initialization_and_its_last_finalization() {
    let registry = Registry::with_environment([]);
    let block = Block::detached();
    registry.register(block).expect("variables can be added at any time");
    assert_eq!(registry.finalize(), Err(TError::NOT_INITIALIZED));
    nothing_works(&registry, Handle(0), Handle(0));

    assert_eq!(registry.init_thread(), Ok(abi::MPI_THREAD_MULTIPLE));
    assert_eq!(registry.init_thread(), Ok(abi::MPI_THREAD_MULTIPLE));
    let session = registry.pvar_session_create().expect("room");
    let handle = registry.pvar_handle_alloc(session, 0, None).expect("room").0;
    registry.pvar_start(session, handle).expect("live");
    block.events.add(3);
    registry.finalize().expect("initialized twice");
    assert_eq!(registry.pvar_read(session, handle), Ok(Value::U64(3)));
    registry.finalize().expect("initialized twice");
    assert_eq!(registry.finalize(), Err(TError::NOT_INITIALIZED));
    nothing_works(&registry, session, handle);

    block.events.add(4);
    registry.init_thread().expect("again");
    assert_eq!(registry.pvar_read(session, handle), Ok(Value::U64(7)), "sessions and handles survive");
    drop(registry);
    // SAFETY: room for one u64.
    let code = unsafe { mpi_t::pvar_read_raw(session.0, handle.0, (&raw mut *Box::new(0u64)).cast()) };
    assert_eq!(code, abi::MPI_T_ERR_NOT_INITIALIZED, "a registry's end is its finalization");
}
