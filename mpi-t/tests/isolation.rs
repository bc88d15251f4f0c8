//! Isolation of sessions: random histories of handles of every class, compared with a model without state words. The
//! second session's handles are used as in C, by words and memory, which takes other paths through the library.
#![allow(clippy::unwrap_used)] // a proptest failure shows the history
#![allow(unsafe_code)] // reads as C does

use std::ffi::c_void;

use mpi_core::{Handle, abi};
use mpi_t::{Aggregate, Counter, Level, Percentage, PvarClass, Registry, Size, State, Timer, Value, ValueType};
use proptest::prelude::*;

mpi_t::instruments! {
    /// The watched fields.
    struct Block: NoObject {
        /// Events.
        events: Counter = { name: "events", class: Counter, type: u64, unit: "events", category: "x" },
        /// Depth.
        depth: Level =
            { name: "depth", class: Level, type: u64, unit: "items", category: "x" }
            { name: "depth", class: HighWatermark, type: u64, unit: "items", category: "x" }
            { name: "depth", class: LowWatermark, type: u64, unit: "items", category: "x" }
            { name: "depth", class: Generic, type: i32, unit: "items", category: "x" },
        /// Amounts.
        bytes: Aggregate = { name: "bytes", class: Aggregate, type: u64, unit: "bytes", category: "x" },
        /// Time.
        time: Timer =
            { name: "time", class: Timer, type: u64, unit: "ns", category: "x" }
            { name: "seconds", class: Timer, type: f64, unit: "s", category: "x" },
        /// A state.
        state: State = { name: "state", class: State, type: i32, unit: "", category: "x" },
        /// A size.
        size: Size = { name: "size", class: Size, type: u64, unit: "bytes", category: "x" },
        /// A part.
        part: Percentage = { name: "part", class: Percentage, type: f64, unit: "", category: "x" },
        /// A level that cannot be stopped.
        always: Level = { name: "always", class: Level, type: u32, unit: "items", category: "x", continuous: true },
    }
}

/// Every class, and every difference within one: type, unit, continuity.
const CLASSES: [(&str, PvarClass); 12] = [
    ("events", PvarClass::Counter),
    ("depth", PvarClass::Level),
    ("depth", PvarClass::HighWatermark),
    ("depth", PvarClass::LowWatermark),
    ("depth", PvarClass::Generic),
    ("bytes", PvarClass::Aggregate),
    ("time", PvarClass::Timer),
    ("seconds", PvarClass::Timer),
    ("state", PvarClass::State),
    ("size", PvarClass::Size),
    ("part", PvarClass::Percentage),
    ("always", PvarClass::Level),
];
const HANDLES: usize = 2 * CLASSES.len();
/// The part of the percentage in the model, in sixteenths.
const SIXTEENTHS: u64 = 16;

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
    let handle = 0..HANDLES;
    prop_oneof![
        (0..5u64).prop_map(Step::Count),
        (0..5u64).prop_map(Step::Raise),
        (0..5u64).prop_map(Step::Lower),
        handle.clone().prop_map(Step::Start),
        handle.clone().prop_map(Step::Stop),
        handle.clone().prop_map(Step::Reset),
        (handle.clone(), prop_oneof![4 => 0..50u64, 1 => any::<u64>(), 1 => Just(u64::MAX), 1 => Just(1 << 57)])
            .prop_map(|(handle, value)| Step::Write(handle, value)),
        handle.clone().prop_map(Step::ReadReset),
        handle.prop_map(Step::Replace),
    ]
}

/// The value that one handle should have, by the words of the standard. Values are words of the field's unit.
#[derive(Debug, Clone, Copy)]
struct Model {
    class: PvarClass,
    name: &'static str,
    running: bool,
    value: u64,
}

impl Model {
    fn new(name: &'static str, class: PvarClass, now: u64) -> Model {
        let mut model = Model { class, name, running: matches!(name, "size" | "always"), value: 0 };
        model.reset(now);
        model
    }

    fn is_sum(&self) -> bool {
        matches!(self.class, PvarClass::Counter | PvarClass::Aggregate | PvarClass::Timer)
    }

    fn readonly(&self) -> bool {
        !self.is_sum() && !matches!(self.class, PvarClass::HighWatermark | PvarClass::LowWatermark)
    }

    fn continuous(&self) -> bool {
        matches!(self.name, "size" | "always")
    }

    fn reset(&mut self, now: u64) {
        self.value = if self.is_sum() { 0 } else { now };
    }

    fn added(&mut self, n: u64) {
        if self.running && self.is_sum() {
            self.value = self.value.wrapping_add(n);
        }
    }

    fn is_now(&mut self, now: u64) {
        if self.running && !self.is_sum() {
            self.value = match self.class {
                PvarClass::HighWatermark => self.value.max(now),
                PvarClass::LowWatermark => self.value.min(now),
                _ => now,
            };
        }
    }

    /// A word as a value of the variable's type.
    fn as_value(&self, word: u64) -> Value {
        match (self.name, self.class) {
            ("seconds", _) => Value::F64(word as f64 / 1e9),
            ("part", _) => Value::F64(word as f64 / SIXTEENTHS as f64),
            ("state", _) | (_, PvarClass::Generic) => Value::I32(word as i32),
            ("always", _) => Value::U32(word as u32),
            _ => Value::U64(word),
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
                world.handles.push((session, handle, Model::new(name, class, 0)));
            }
        }
        world
    }

    fn allocate(&self, session: Handle, name: &str, class: PvarClass) -> Handle {
        let index = self.registry.pvar_get_index(name, class as i32).unwrap();
        self.registry.pvar_handle_alloc(session, index, None).unwrap().0
    }

    /// The present levels and states, all following one number.
    fn now(&self, name: &str) -> u64 {
        let depth = self.block.depth.get();
        if name == "part" { depth.min(SIXTEENTHS) } else { depth }
    }

    fn take(&mut self, step: &Step) {
        let depth = self.block.depth.get();
        match *step {
            Step::Count(n) => {
                self.block.events.add(n);
                self.block.bytes.add(n);
                self.block.time.add_ns(n);
                self.handles.iter_mut().for_each(|(_, _, model)| model.added(n));
            }
            Step::Raise(n) => self.follow(depth + n),
            Step::Lower(n) => self.follow(depth - n.min(depth)),
            Step::Start(i) | Step::Stop(i) => {
                let running = matches!(step, Step::Start(_));
                let (session, handle, model) = &mut self.handles[i];
                let done = match running {
                    _ if as_c(i) => outcome(mpi_t::pvar_set_running(session.0, handle.0, running)),
                    true => self.registry.pvar_start(*session, *handle).map_err(|error| error.code()),
                    false => self.registry.pvar_stop(*session, *handle).map_err(|error| error.code()),
                };
                assert_eq!(done.is_err(), model.continuous());
                if done.is_ok() {
                    model.running = running;
                }
            }
            Step::Reset(i) => {
                let now = self.now(self.handles[i].2.name);
                let (session, handle, model) = &mut self.handles[i];
                let done = match as_c(i) {
                    true => outcome(mpi_t::pvar_reset(session.0, handle.0)),
                    false => self.registry.pvar_reset(*session, *handle).map_err(|error| error.code()),
                };
                assert_eq!(done.is_err(), model.readonly());
                if done.is_ok() {
                    model.reset(now);
                }
            }
            Step::Write(i, value) => {
                let (session, handle, model) = &mut self.handles[i];
                // Whole seconds, so that nothing is rounded.
                let word = if model.name == "seconds" { value % 50 * 1_000_000_000 } else { value };
                let value = model.as_value(word);
                let wrong = if value.value_type() == ValueType::U64 { Value::I32(1) } else { Value::U64(1) };
                assert!(self.registry.pvar_write(*session, *handle, &[wrong]).is_err(), "a wrong type");
                let done = if as_c(i) {
                    let memory = in_memory(&value);
                    // SAFETY: a value of the variable's type.
                    outcome(unsafe { mpi_t::pvar_write_raw(session.0, handle.0, memory.as_ptr().cast()) })
                } else {
                    self.registry.pvar_write(*session, *handle, &[value]).map_err(|error| error.code())
                };
                assert_eq!(done.is_err(), model.readonly());
                if done.is_ok() {
                    model.value = word;
                }
            }
            Step::ReadReset(i) => {
                let now = self.now(self.handles[i].2.name);
                let (session, handle, model) = &mut self.handles[i];
                let expected = model.as_value(model.value);
                let done = match as_c(i) {
                    true => from_memory(&expected, |out| {
                        // SAFETY: room for any value.
                        unsafe { mpi_t::pvar_readreset_raw(session.0, handle.0, out) }
                    }),
                    false => {
                        let values = self.registry.pvar_readreset(*session, *handle);
                        values.map(|values| values[0].clone()).map_err(|error| error.code())
                    }
                };
                assert_eq!(done.is_err(), model.readonly());
                if let Ok(value) = done {
                    assert_eq!(value, expected);
                    model.reset(now);
                }
            }
            Step::Replace(i) => {
                let (session, handle, _) = self.handles[i];
                self.registry.pvar_handle_free(session, handle).unwrap();
                let (name, class) = CLASSES[i % CLASSES.len()];
                self.handles[i] =
                    (session, self.allocate(session, name, class), Model::new(name, class, self.now(name)));
            }
        }
        for i in 0..HANDLES {
            let now = self.now(self.handles[i].2.name);
            self.handles[i].2.is_now(now);
        }
    }

    /// All levels and states follow one number.
    fn follow(&self, depth: u64) {
        self.block.depth.follow(depth);
        self.block.always.follow(depth);
        self.block.state.set(depth as i32);
        self.block.size.set(depth);
        self.block.part.set(depth.min(SIXTEENTHS), SIXTEENTHS);
    }
}

/// Whether this handle, one of the second session, is used as in C.
fn as_c(i: usize) -> bool {
    i >= CLASSES.len()
}

fn outcome(code: i32) -> Result<(), i32> {
    if code == abi::MPI_SUCCESS { Ok(()) } else { Err(code) }
}

/// A value as in a C program's memory, in as many of the bytes as its type has.
fn in_memory(value: &Value) -> [u8; 8] {
    let mut memory = [0xa5; 8];
    match value {
        Value::I32(value) => memory[..4].copy_from_slice(&value.to_ne_bytes()),
        Value::U32(value) => memory[..4].copy_from_slice(&value.to_ne_bytes()),
        Value::U64(value) => memory.copy_from_slice(&value.to_ne_bytes()),
        Value::F64(value) => memory.copy_from_slice(&value.to_ne_bytes()),
        Value::Text(_) => unreachable!("no performance variable is a text"),
    }
    memory
}

/// The value that a call stores, of the same type as this one. Nothing may be stored behind it.
fn from_memory(like: &Value, call: impl FnOnce(*mut c_void) -> i32) -> Result<Value, i32> {
    let mut memory = [0xa5u8; 8];
    outcome(call(memory.as_mut_ptr().cast()))?;
    let short = memory[..4].try_into().unwrap();
    let value = match like {
        Value::I32(_) => Value::I32(i32::from_ne_bytes(short)),
        Value::U32(_) => Value::U32(u32::from_ne_bytes(short)),
        Value::U64(_) => Value::U64(u64::from_ne_bytes(memory)),
        _ => Value::F64(f64::from_ne_bytes(memory)),
    };
    assert_eq!(in_memory(&value), memory, "{like:?}");
    Ok(value)
}

proptest! {
    #[test]
    fn every_handle_reads_the_value_of_its_own_history(steps in prop::collection::vec(step(), 1..120)) {
        let mut world = World::new();
        for step in &steps {
            world.take(step);
            for (i, (session, handle, model)) in world.handles.iter().enumerate() {
                let expected = model.as_value(model.value);
                let read = match as_c(i) {
                    // SAFETY: room for any value.
                    true => from_memory(&expected, |out| unsafe { mpi_t::pvar_read_raw(session.0, handle.0, out) }),
                    false => world.registry.pvar_read(*session, *handle).map_err(|error| error.code()),
                };
                prop_assert_eq!(read, Ok(expected), "after {:?}: {:?}", step, model);
            }
        }
    }
}
