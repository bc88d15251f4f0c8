//! Any values of control variables from the environment: names and values in turn, divided by NUL.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use mpi_t::{Registry, Text};

mpi_t::cvars! {
    /// One variable of each type that is read from text.
    pub struct Settings {
        /// A size with a range.
        pub size: u64 = 10 => { name: "size", unit: "bytes", category: "a", scope: Local, range: 1..=100 },
        /// A switch.
        pub on: bool = true => { name: "on", unit: "", category: "a", scope: Local },
        /// A number with a range.
        pub part: f64 = 0.5 => { name: "part", unit: "", category: "a", scope: Local, real_range: 0.0..=1.0 },
        /// A text.
        pub text: Text = "abc" => { name: "text", unit: "", category: "a", scope: Local },
    }
}

/// A block is never freed, so there is one for all runs.
static SETTINGS: LazyLock<&Settings> = LazyLock::new(Settings::new);

fuzz_target!(|input: &[u8]| {
    let words: Vec<String> = input.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into()).collect();
    let pairs = words.chunks_exact(2).map(|pair| (format!("FERRUM_{}", pair[0]), pair[1].clone()));
    let registry = Registry::with_environment(pairs);
    let settings = *SETTINGS;
    registry.register_settings(settings).expect("new names");
    assert!((1..=100).contains(&settings.size.get()) && (0.0..=1.0).contains(&settings.part.get()));
    assert!(registry.startup_errors().iter().chain(&registry.unknown_environment()).all(|text| !text.is_empty()));
});
