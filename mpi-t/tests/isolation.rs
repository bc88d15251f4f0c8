//! Whatever one session does, no other sees it: random histories against a model that knows nothing of state words.
#![allow(clippy::unwrap_used)] // a proptest failure shows the history

use mpi_core::Handle;
use mpi_t::{Counter, Level, PvarClass, Registry, Value};
use proptest::prelude::*;

mpi_t::instruments! {
    /// What is watched.
    struct Block: NoObject {
        /// Events.
        events: Counter = { name: "events", class: Counter, type: u64, unit: "events", category: "x" },
        /// Depth.
        depth: Level =
            { name: "depth", class: Level, type: u64, unit: "items", category: "x" }
            { name: "depth", class: HighWatermark, type: u64, unit: "items", category: "x" }
            { name: "depth", class: LowWatermark, type: u64, unit: "items", category: "x" },
    }
}

const CLASSES: [(&str, PvarClass); 4] = [
    ("events", PvarClass::Counter),
    ("depth", PvarClass::Level),
    ("depth", PvarClass::HighWatermark),
    ("depth", PvarClass::LowWatermark),
];

#[derive(Debug, Clone)]
enum Step {
    Count(u64),
    Raise(u64),
    Lower(u64),
    Start(usize),
    Stop(usize),
    Reset(usize),
    Write(usize, u64),
    ReadReset(usize),
    Replace(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let handle = 0..8usize;
    prop_oneof![
        (0..5u64).prop_map(Step::Count),
        (0..5u64).prop_map(Step::Raise),
        (0..5u64).prop_map(Step::Lower),
        handle.clone().prop_map(Step::Start),
        handle.clone().prop_map(Step::Stop),
        handle.clone().prop_map(Step::Reset),
        (handle.clone(), 0..50u64).prop_map(|(handle, value)| Step::Write(handle, value)),
        handle.clone().prop_map(Step::ReadReset),
        handle.prop_map(Step::Replace),
    ]
}

/// What one handle should tell, by the words of the standard.
#[derive(Debug, Clone, Copy)]
struct Model {
    class: PvarClass,
    running: bool,
    value: u64,
}

impl Model {
    fn new(class: PvarClass, level: u64) -> Model {
        let mut model = Model { class, running: false, value: 0 };
        model.reset(level);
        model
    }

    fn reset(&mut self, level: u64) {
        self.value = if self.class == PvarClass::Counter { 0 } else { level };
    }

    fn events(&mut self, n: u64) {
        if self.running && self.class == PvarClass::Counter {
            self.value += n;
        }
    }

    fn level(&mut self, level: u64) {
        if self.running {
            self.value = match self.class {
                PvarClass::Level => level,
                PvarClass::HighWatermark => self.value.max(level),
                PvarClass::LowWatermark => self.value.min(level),
                _ => self.value,
            };
        }
    }
}

struct World {
    registry: Registry,
    block: &'static Block,
    handles: Vec<(Handle, Handle, Model)>,
}

impl World {
    fn new() -> World {
        let registry = Registry::with_environment([]);
        registry.init_thread().unwrap();
        let block = Block::detached();
        registry.register(block).unwrap();
        let mut world = World { registry, block, handles: Vec::new() };
        for _ in 0..2 {
            let session = world.registry.pvar_session_create().unwrap();
            for (name, class) in CLASSES {
                let handle = world.allocate(session, name, class);
                world.handles.push((session, handle, Model::new(class, 0)));
            }
        }
        world
    }

    fn allocate(&self, session: Handle, name: &str, class: PvarClass) -> Handle {
        let index = self.registry.pvar_get_index(name, class as i32).unwrap();
        self.registry.pvar_handle_alloc(session, index, None).unwrap().0
    }

    fn take(&mut self, step: &Step) {
        let level = self.block.depth.get();
        match *step {
            Step::Count(n) => {
                self.block.events.add(n);
                self.handles.iter_mut().for_each(|(_, _, model)| model.events(n));
            }
            Step::Raise(n) => self.block.depth.raise(n),
            Step::Lower(n) => self.block.depth.lower(n.min(level)),
            Step::Start(i) => {
                let (session, handle, model) = &mut self.handles[i];
                self.registry.pvar_start(*session, *handle).unwrap();
                model.running = true;
            }
            Step::Stop(i) => {
                let (session, handle, model) = &mut self.handles[i];
                self.registry.pvar_stop(*session, *handle).unwrap();
                model.running = false;
            }
            Step::Reset(i) => {
                let (session, handle, model) = &mut self.handles[i];
                let done = self.registry.pvar_reset(*session, *handle);
                assert_eq!(done.is_ok(), model.class != PvarClass::Level);
                if done.is_ok() {
                    model.reset(level);
                }
            }
            Step::Write(i, value) => {
                let (session, handle, model) = &mut self.handles[i];
                let done = self.registry.pvar_write(*session, *handle, &[Value::U64(value)]);
                assert_eq!(done.is_ok(), model.class != PvarClass::Level);
                if done.is_ok() {
                    model.value = value;
                }
            }
            Step::ReadReset(i) => {
                let (session, handle, model) = &mut self.handles[i];
                if let Ok(values) = self.registry.pvar_readreset(*session, *handle) {
                    assert_eq!(values, [Value::U64(model.value)]);
                    model.reset(level);
                }
            }
            Step::Replace(i) => {
                let (session, handle, _) = self.handles[i];
                self.registry.pvar_handle_free(session, handle).unwrap();
                let (name, class) = CLASSES[i % CLASSES.len()];
                self.handles[i] = (session, self.allocate(session, name, class), Model::new(class, level));
            }
        }
        let level = self.block.depth.get();
        self.handles.iter_mut().for_each(|(_, _, model)| model.level(level));
    }
}

proptest! {
    #[test]
    fn every_handle_tells_what_its_own_history_says(steps in prop::collection::vec(step(), 1..120)) {
        let mut world = World::new();
        for step in &steps {
            world.take(step);
            for (session, handle, model) in &world.handles {
                let read = world.registry.pvar_read(*session, *handle);
                prop_assert_eq!(read, Ok(Value::U64(model.value)), "after {:?}: {:?}", step, model);
            }
        }
    }
}
