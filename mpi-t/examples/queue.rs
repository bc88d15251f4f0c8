//! A program that has nothing to do with MPI: a queue with performance variables and settings, and a tool that finds
//! them by name, reads and sets them, and prints all variables with their descriptions.
//!
//! Run it with `cargo run -p mpi-t --example queue`, or with `QUEUE_LIMIT=3` in front, or with a mistake there.

use mpi_t::{Counter, Level, PvarClass, Registry, Variables};

mpi_t::instruments! {
    /// Metrics of a queue.
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
    /// Settings of the queue.
    struct QueueSettings {
        /// Most items in the queue; takes effect with the next item.
        limit: u64 = 8 => { name: "queue_limit", unit: "items", category: "queue.limits", range: 1..=4096 },
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

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (instruments, settings) = (QueueInstruments::detached(), QueueSettings::new());
    let registry = Registry::with_prefix("QUEUE_");
    registry.describe_categories(&[("queue", "The example's queue."), ("queue.limits", "Limits of the queue.")]);
    registry.register(instruments)?;
    registry.register_settings(settings)?;
    for complaint in registry.startup_errors().iter().chain(&registry.unknown_environment()) {
        eprintln!("{complaint}");
    }

    let variables = Variables::open(&registry)?;
    let items = variables.pvar::<u64>("queue_items", PvarClass::Counter)?;
    let most = variables.pvar::<u32>("queue_length", PvarClass::HighWatermark)?;
    // A value counts from when its handle starts, so the handles are made before anything happens.
    let (cvars, pvars): (Vec<_>, Vec<_>) = (variables.cvars().collect(), variables.pvars().collect());
    let values = pvars.iter().map(|pvar| variables.watch(*pvar, None)).collect::<Result<Vec<_>, _>>()?;
    let mut queue = Queue { items: Default::default(), instruments, settings };
    for item in 0..20 {
        queue.push(item);
        if item % 4 == 0 {
            queue.pop();
        }
    }
    println!(
        "after 20 pushes and 5 pops: queue_items = {} taken, queue_length was at most {}, because queue_limit = {}",
        items.read()?,
        most.read()?,
        settings.limit.get()
    );

    let limit = variables.cvar::<u64>("queue_limit")?;
    limit.set(2 * limit.get()?)?;
    queue.push(20);
    println!("after one more push with queue_limit = {}: queue_items = {}", limit.get()?, items.read()?);
    if let Err(error) = variables.pvar::<u64>("queue_item", PvarClass::Counter) {
        println!("the error of a misspelt name, queue_item: {error}");
    }

    println!("\nAll variables by category, with their values:");
    for category in variables.categories() {
        println!("\n{}: {}", category.name(), category.description());
        for index in category.cvars() {
            let cvar = cvars[index as usize];
            println!("  {:<14} {:<14} = {cvar:<4} {}", cvar.info.name(), "setting", cvar.info.description);
        }
        for index in category.pvars() {
            let (pvar, value) = (pvars[index as usize], values[index as usize].read()?);
            let class = format!("{:?}", pvar.info.class());
            println!("  {:<14} {class:<14} = {value:<4} {}", pvar.info.name(), pvar.info.description);
        }
    }
    Ok(())
}
