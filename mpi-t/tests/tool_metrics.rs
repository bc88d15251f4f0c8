//! Metrics of the interface itself: numbers of handles, sessions and registrations.
//!
//! One test alone: handles and sessions are those of the whole operating-system process.

use mpi_core::{Handle, Info};
use mpi_t::{Counter, PvarClass, Registry, Value};

mpi_t::instruments! {
    /// A variable for handles.
    struct Block: NoObject {
        /// Events.
        events: Counter = { name: "tool_events", class: Counter, type: u64, unit: "events", category: "x" },
    }
}

mpi_t::cvars! {
    /// A variable to set.
    struct Settings {
        /// A number.
        number: u64 = 3 => { name: "own_number", unit: "", category: "x", scope: Local },
    }
}

#[test]
fn levels_follow_what_tools_allocate_and_free() {
    let registry = Registry::with_environment([]);
    registry.register(Block::detached()).expect("new names");
    registry.register(mpi_t::handle_instruments()).expect("new names");
    registry.register(registry.instruments()).expect("new names");
    registry.register_settings(Settings::new()).expect("new names");
    registry.init_thread().expect("address space for handles");
    let session = registry.pvar_session_create().expect("room");
    let handle = |session, name, class: PvarClass| -> Handle {
        let index = registry.pvar_get_index(name, class as i32).expect("declared");
        let handle = registry.pvar_handle_alloc(session, index, None).expect("room").0;
        registry.pvar_start(session, handle).expect("can be started");
        handle
    };
    let names = ["tool_pvar_handles", "tool_pvar_sessions", "tool_cvar_handles", "tool_event_registrations"];
    let levels = names.map(|name| handle(session, name, PvarClass::Level));
    let most = handle(session, "tool_pvar_handles", PvarClass::HighWatermark);
    let now = || levels.map(|level| registry.pvar_read(session, level).expect("live").as_u64().expect("a number"));
    assert_eq!(now(), [5, 1, 0, 0]);

    let other = registry.pvar_session_create().expect("room");
    let handles = [(); 3].map(|()| handle(other, "tool_events", PvarClass::Counter));
    let setting = registry.cvar_handle_alloc(registry.cvar_get_index("own_number").expect("declared"), None);
    let event = registry.event_get_index("tool_cvar_set").expect("declared");
    let registration = registry.event_handle_alloc(event, None, &Info::new()).expect("room");
    assert_eq!(now(), [8, 2, 1, 1]);
    registry.pvar_handle_free(other, handles[1]).expect("live");
    registry.pvar_handle_free(other, handles[1]).expect_err("freed");
    assert_eq!(now(), [7, 2, 1, 1]);
    registry.pvar_session_free(other).expect("live");
    registry.cvar_handle_free(setting.expect("room").0).expect("live");
    registry.event_handle_free(registration, None).expect("live");
    assert_eq!(now(), [5, 1, 0, 0]);
    assert_eq!(registry.pvar_read(session, most), Ok(Value::U64(8)));
}
