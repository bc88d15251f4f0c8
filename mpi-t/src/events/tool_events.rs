//! The events that this crate itself raises: control variables that were set.

use crate::SourceDef;

/// Changes of settings.
pub static SETTINGS: SourceDef =
    SourceDef { name: "settings", description: "Changes of control variables, raised in the thread that makes them." };

crate::events! {
    /// Changes of the interface's own variables.
    pub(crate) struct ToolEvents: NoObject, from: SETTINGS, verbosity: TunerAll {
        /// A control variable was set, to the same value or another, by MPI_T_cvar_write or from Rust: its index and
        /// its value as a number, 0 for texts.
        pub cvar_set(cvar_index: i32, value: f64) =
            { name: "tool_cvar_set", category: "tool.events", at: None },
    }
}
