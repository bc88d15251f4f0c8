//! Metrics of this crate itself: handles, sessions and registrations that tools have.
//!
//! Invariant: a level changes under the lock under which its things come and go.
//! Not here: the events of this crate (`events::tool_events`).

use std::sync::OnceLock;

use crate::Level;

/// What the categories of this crate's own variables and events are about.
pub(crate) static CATEGORIES: [(&str, &str); 2] =
    [("tool", "The tool information interface itself."), ("tool.events", "Changes of the interface's own variables.")];

crate::instruments! {
    /// Handles of performance variables, which all registries of an operating-system process have in common.
    pub struct HandleInstruments: NoObject, verbosity: TunerAll {
        /// Handles of performance variables that are allocated, this one included.
        pub pvar_handles: Level =
            { name: "tool_pvar_handles", class: Level, type: u64, unit: "handles", category: "tool" }
            { name: "tool_pvar_handles", class: HighWatermark, type: u64, unit: "handles", category: "tool",
              doc: "Most handles of performance variables that were allocated at once. If it grows on and on, a tool \
                    does not free them." },
        /// Sessions of performance variables that are created and not freed.
        pub pvar_sessions: Level =
            { name: "tool_pvar_sessions", class: Level, type: u64, unit: "sessions", category: "tool" },
    }
}

crate::instruments! {
    /// What tools have allocated of one registry.
    pub struct RegistryInstruments: NoObject, verbosity: TunerAll {
        /// Handles of control variables that are allocated.
        pub cvar_handles: Level =
            { name: "tool_cvar_handles", class: Level, type: u64, unit: "handles", category: "tool" },
        /// Registrations for events that are allocated, with callbacks or without.
        pub registrations: Level =
            { name: "tool_event_registrations", class: Level, type: u64, unit: "registrations", category: "tool" },
    }
}

/// The one block of this operating-system process, to be registered by those whose variables tools are to see.
pub fn handle_instruments() -> &'static HandleInstruments {
    static BLOCK: OnceLock<&'static HandleInstruments> = OnceLock::new();
    BLOCK.get_or_init(HandleInstruments::detached)
}
