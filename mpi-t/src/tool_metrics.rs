//! Metrics of this crate itself: the handles, sessions and registrations of tools.
//!
//! Invariant: a level changes under the lock under which its objects are allocated and freed.
//! Not here: the events of this crate (`events::tool_events`).

use std::sync::OnceLock;

use crate::Level;

/// The descriptions of the categories of this crate's own variables and events.
pub(crate) static CATEGORIES: [(&str, &str); 2] =
    [("tool", "The tool information interface itself."), ("tool.events", "Changes of the interface's own variables.")];

crate::instruments! {
    /// Handles of performance variables, which all registries of an operating-system process share.
    pub struct HandleInstruments: NoObject, verbosity: TunerAll {
        /// Number of handles of performance variables that are allocated, including the handle that reads it.
        pub pvar_handles: Level =
            { name: "tool_pvar_handles", class: Level, type: u64, unit: "handles", category: "tool" }
            { name: "tool_pvar_handles", class: HighWatermark, type: u64, unit: "handles", category: "tool",
              doc: "Most handles of performance variables that were allocated at once. If it grows on and on, a tool \
                    does not free them." },
        /// Number of sessions of performance variables that are created and not freed.
        pub pvar_sessions: Level =
            { name: "tool_pvar_sessions", class: Level, type: u64, unit: "sessions", category: "tool" },
    }
}

crate::instruments! {
    /// Objects that tools have allocated in one registry.
    pub struct RegistryInstruments: NoObject, verbosity: TunerAll {
        /// Number of handles of control variables that are allocated.
        pub cvar_handles: Level =
            { name: "tool_cvar_handles", class: Level, type: u64, unit: "handles", category: "tool" },
        /// Number of event registrations that are allocated, with or without callbacks.
        pub registrations: Level =
            { name: "tool_event_registrations", class: Level, type: u64, unit: "registrations", category: "tool" },
    }
}

/// The one block of this operating-system process, for the programs that make it readable.
pub fn handle_instruments() -> &'static HandleInstruments {
    static BLOCK: OnceLock<&'static HandleInstruments> = OnceLock::new();
    BLOCK.get_or_init(HandleInstruments::detached)
}
