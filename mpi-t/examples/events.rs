//! A program raises events and a tool has callbacks: one runs at once because it is restricted, the other later because
//! it may call any function.
//!
//! Run it with `cargo run -p mpi-t --example events`.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use mpi_t::{Registry, Safety, SourceDef, Value};

static CACHE: SourceDef = SourceDef { name: "cache", description: "Events of the cache." };

mpi_t::events! {
    /// Events of a cache, raised under its lock.
    struct CacheEvents: NoObject, from: CACHE {
        /// An entry was evicted to make room: its size, and how long it had not been used.
        evicted(bytes: u64, idle_seconds: f64) = { name: "cache_evicted", category: "cache.events", at: MpiRestricted },
    }
}

/// A cache that holds three entries.
struct Cache {
    entries: Mutex<Vec<u64>>,
    events: &'static CacheEvents,
}

impl Cache {
    fn put(&self, bytes: u64) {
        let mut entries = self.entries.lock().expect("no panic");
        if entries.len() == 3 {
            let out = entries.remove(0);
            // While no callback is registered this is one load and a branch.
            self.events.evicted.emit(|| (out, 0.5));
        }
        entries.push(bytes);
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The program.
    let (registry, events) = (Registry::new(), CacheEvents::new());
    registry.register_events(events)?;
    let cache = Arc::new(Cache { entries: Mutex::default(), events });

    // The tool: which events exist?
    registry.init_thread()?;
    for index in 0..registry.event_get_num()? {
        let event = registry.event_get_info(index)?;
        let elements: Vec<_> = event.definition.elements.iter().map(|element| element.name).collect();
        println!("{} ({}): {}", event.definition.name, elements.join(", "), event.description);
    }

    // One callback only counts: it is called under the cache's lock, which it does not use.
    let sum = Arc::new(AtomicU64::new(0));
    let bytes = sum.clone();
    let counting = registry.subscribe("cache_evicted", None, Safety::MpiRestricted, move |event| {
        if let Some(Value::U64(evicted)) = event.get("bytes") {
            bytes.fetch_add(evicted, Ordering::Relaxed);
        }
    })?;
    (1..=5).for_each(|i| cache.put(i * 100));
    println!("bytes evicted: {}", sum.load(Ordering::Relaxed));
    assert_eq!(sum.load(Ordering::Relaxed), 100 + 200);
    registry.event_handle_free(counting, None)?;

    // Another uses the cache itself. It needs a place that permits this: `deliver_events`.
    let again = cache.clone();
    let refilling = registry.subscribe("cache_evicted", None, Safety::None, move |event| {
        println!("evicted at {} ns", event.time_ns());
        again.entries.lock().expect("not under the lock").clear();
    })?;
    cache.put(600);
    assert_eq!(cache.entries.lock().expect("no panic").len(), 3, "it waits");
    registry.deliver_events();
    assert!(cache.entries.lock().expect("no panic").is_empty());
    registry.event_handle_free(refilling, None)?;
    Ok(())
}
