//! The limits on sessions and handles: an error of its own, no effect on existing ones, and room again after a free.
//!
//! One test alone: handles and sessions are those of the whole operating-system process.

use mpi_core::Handle;
use mpi_t::{Counter, PvarClass, Registry, TError, Value};

mpi_t::instruments! {
    /// A variable for handles.
    struct Block: NoObject {
        /// Events.
        events: Counter = { name: "events", class: Counter, type: u64, unit: "events", category: "x" },
    }
}

/// Allocates until there is an error; returns all, and the error.
fn until_refused(get: impl FnMut() -> Result<Handle, TError>) -> (Vec<Handle>, TError) {
    let mut got = Vec::new();
    for next in std::iter::repeat_with(get) {
        match next {
            Ok(handle) => got.push(handle),
            Err(error) => return (got, error),
        }
    }
    unreachable!("an endless iterator has no end")
}

#[test]
fn sessions_and_handles_run_out_with_an_error_and_come_back() {
    let (registry, block) = (Registry::with_environment([]), Block::detached());
    registry.register(block).expect("new names");
    registry.init_thread().expect("address space for handles");
    let index = registry.pvar_get_index("events", PvarClass::Counter as i32).expect("declared");
    let mine = registry.pvar_session_create().expect("room");
    let (first, _) = registry.pvar_handle_alloc(mine, index, None).expect("room");
    registry.pvar_start(mine, first).expect("a counter");

    let (sessions, error) = until_refused(|| registry.pvar_session_create());
    assert_eq!(error, TError::OUT_OF_SESSIONS);
    for session in &sessions {
        registry.pvar_session_free(*session).expect("live");
    }
    let session = registry.pvar_session_create().expect("room again");
    assert!(!sessions.contains(&session), "a freed session's word is not used again soon");

    let (handles, error) = until_refused(|| registry.pvar_handle_alloc(session, index, None).map(|(handle, _)| handle));
    assert_eq!(error, TError::OUT_OF_HANDLES);
    assert!(handles.len() > 10_000, "room for {} only", handles.len());
    block.events.add(3);
    assert_eq!(registry.pvar_read(mine, first), Ok(Value::U64(3)));
    registry.pvar_handle_free(session, handles[0]).expect("live");
    let (again, _) = registry.pvar_handle_alloc(session, index, None).expect("room for one");
    assert_ne!(again, handles[0]);
    registry.pvar_session_free(session).expect("live");
    let session = registry.pvar_session_create().expect("room");
    registry.pvar_handle_alloc(session, index, None).expect("room again");
    assert_eq!(registry.pvar_read(mine, first), Ok(Value::U64(3)));
}
