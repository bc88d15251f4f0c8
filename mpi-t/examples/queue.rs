//! A program that has nothing to do with MPI tells of itself: a queue with instruments and settings, and a tool that
//! finds them by name, watches them for a while, and prints what all variables are.
//!
//! Run it with `cargo run -p mpi-t --example queue`, or with `FERRUM_QUEUE_LIMIT=3` in front, or with a mistake there.

use mpi_t::{Counter, Handle, Level, PvarClass, Registry, TResult};

mpi_t::instruments! {
    /// What a queue tells of itself.
    struct QueueInstruments: NoObject {
        /// Items put into the queue; counts each `push` that was taken.
        items: Counter = { name: "queue_items", class: Counter, type: u64, unit: "items", category: "queue" },
        /// Items refused because the queue was full.
        refused: Counter = { name: "queue_refused", class: Counter, type: u64, unit: "items", category: "queue.limits" },
        /// Items in the queue.
        length: Level =
            { name: "queue_length", class: Level, type: u32, unit: "items", category: "queue" }
            { name: "queue_length", class: HighWatermark, type: u32, unit: "items", category: "queue",
              doc: "Most items that were in the queue at once." },
    }
}

mpi_t::cvars! {
    /// How the queue behaves.
    struct QueueSettings {
        /// Items that the queue holds at most; in force with the next item.
        limit: u64 = 8 => { name: "queue_limit", unit: "items", category: "queue.limits", scope: Local, range: 1..=4096 },
    }
}

struct Queue {
    items: std::collections::VecDeque<u32>,
    instruments: &'static QueueInstruments,
    settings: &'static QueueSettings,
}

impl Queue {
    fn push(&mut self, item: u32) {
        if self.items.len() as u64 >= self.settings.limit.get() {
            return self.instruments.refused.incr();
        }
        self.items.push_back(item);
        self.instruments.items.incr();
        self.instruments.length.raise(1);
    }

    fn pop(&mut self) -> Option<u32> {
        let item = self.items.pop_front()?;
        self.instruments.length.lower(1);
        Some(item)
    }
}

/// Starts watching a variable.
fn watch(registry: &Registry, session: Handle, name: &str, class: PvarClass) -> TResult<Handle> {
    let index = registry.pvar_get_index(name, class as i32)?;
    let (handle, _) = registry.pvar_handle_alloc(session, index, None)?;
    registry.pvar_start(session, handle)?;
    Ok(handle)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (instruments, settings) = (QueueInstruments::detached(), QueueSettings::new());
    let registry = Registry::new();
    registry.describe_categories(&[("queue", "The example's queue."), ("queue.limits", "When it is full.")]);
    registry.register(instruments)?;
    registry.register_settings(settings)?;
    for complaint in registry.startup_errors().iter().chain(&registry.unknown_environment()) {
        eprintln!("{complaint}");
    }

    registry.init_thread()?;
    let session = registry.pvar_session_create()?;
    let items = watch(&registry, session, "queue_items", PvarClass::Counter)?;
    let most = watch(&registry, session, "queue_length", PvarClass::HighWatermark)?;
    let mut queue = Queue { items: Default::default(), instruments, settings };
    for item in 0..20 {
        queue.push(item);
        if item % 4 == 0 {
            queue.pop();
        }
    }
    let (items, most) = (registry.pvar_read(session, items)?, registry.pvar_read(session, most)?);
    println!("the tool saw {items} items, at most {most} at once\n");

    for index in 0..registry.category_get_num()? {
        let category = registry.category_get_info(index)?;
        println!("{}: {}", category.name(), category.description());
        for cvar in category.cvars() {
            let info = registry.cvar_get_info(cvar)?;
            println!(
                "  {:<14} {:<14} = {:<4} {}",
                info.name(),
                "setting",
                info.read().map_or("-".to_owned(), |value| value.to_string()),
                info.description
            );
        }
        for pvar in category.pvars() {
            let info = registry.pvar_get_info(pvar)?;
            let class = format!("{:?}", info.class());
            let (handle, _) = registry.pvar_handle_alloc(session, pvar, None)?;
            let value = registry.pvar_read(session, handle)?.to_string();
            println!("  {:<14} {class:<14} = {value:<4} {}", info.name(), info.description);
        }
    }
    registry.pvar_session_free(session)?;
    registry.finalize()?;
    Ok(())
}
