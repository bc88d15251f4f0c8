//! The shortest program with a performance variable and a setting: docs/rust.md has its text.
//!
//! Run it with `cargo run -p mpi-t --example counter`, or with `CACHE_SIZE=3` in front.

use mpi_t::{Counter, PvarClass, Registry, Variables};

mpi_t::instruments! {
    /// What a cache counts.
    struct CacheCounts: NoObject {
        /// Look-ups that found their key.
        hits: Counter = { name: "cache_hits", class: Counter, type: u64, unit: "look-ups", category: "cache" },
    }
}

mpi_t::cvars! {
    /// Settings of the cache.
    struct CacheSettings {
        /// Most keys in the cache.
        size: u64 = 8 => { name: "cache_size", unit: "keys", category: "cache", range: 1..=4096 },
    }
}

/// The program; public for the test that runs it.
pub fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (counts, settings) = (CacheCounts::detached(), CacheSettings::new());
    // The registry reads settings from the environment: CACHE_SIZE=3.
    let registry = Registry::with_prefix("");
    registry.describe_categories(&[("cache", "The cache of the example.")]);
    registry.register(counts)?;
    registry.register_settings(settings)?;
    // A tool finds the variables by their names. A value counts from when its handle is made.
    let variables = Variables::open(&registry)?;
    let hits = variables.pvar::<u64>("cache_hits", PvarClass::Counter)?;
    counts.hits.incr();
    println!("cache_hits = {}, cache_size = {}", hits.read()?, settings.size.get());
    Ok(())
}
