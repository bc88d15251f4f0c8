//! An engine that raises events, for the tests of events.

use std::sync::{Arc, Mutex};

use mpi_core::Handle;
use mpi_t::{Registry, Safety, SourceDef};

pub static ENGINE: SourceDef = SourceDef { name: "engine", description: "A test engine." };

mpi_t::events! {
    /// Events of a test engine.
    pub struct EngineEvents: NoObject, from: ENGINE {
        /// Raised where any
        /// function may be called.
        pub free(number: i32, bytes: u64, part: f64, flags: u32) = { name: "free", category: "engine.events", at: None },
        /// Raised under the engine's lock.
        pub locked(number: u32) = { name: "locked", category: "engine.events", at: MpiRestricted },
        /// Raised without any data.
        pub bare() = { name: "bare", category: "engine", at: None, verbosity: mpi_t::Verbosity::TunerAll },
    }
}

/// An initialized registry with the engine's events.
pub fn registry() -> (Registry, &'static EngineEvents) {
    let (registry, events) = (Registry::with_environment([]), EngineEvents::new());
    registry.register_events(events).expect("new names");
    registry.init_thread().expect("address space");
    (registry, events)
}

/// Registers a callback that keeps the first element of every event.
pub fn listen(registry: &Registry, name: &str, level: Safety) -> (Handle, Arc<Mutex<Vec<u64>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let to = seen.clone();
    let handle = registry.subscribe(name, None, level, move |event| {
        to.lock().expect("no panic").push(event.element(0).and_then(|value| value.as_u64()).unwrap_or(u64::MAX));
    });
    (handle.expect("a known event"), seen)
}
