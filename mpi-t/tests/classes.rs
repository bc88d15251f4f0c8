//! The rules of each class of performance variable: starting values, values after a stop, writes.
#![allow(unsafe_code)] // one test reads as C does

use mpi_core::{Handle, abi};
use mpi_t::{
    Aggregate, Bind, Counter, EnumDef, Level, Percentage, PvarClass, Registry, Size, State, TError, Timer, Value,
    ValueType, Verbosity,
};

static STATES: EnumDef = EnumDef { name: "engine state", items: &[(0, "idle"), (1, "sending"), (-1, "broken")] };

mpi_t::instruments! {
    /// One field of each type.
    struct All: NoObject {
        /// Events.
        events: Counter = { name: "events", class: Counter, type: u64, unit: "events", category: "x" },
        /// Events as a short number.
        few: Counter = { name: "few", class: Counter, type: u32, unit: "events", category: "x" },
        /// Bytes.
        bytes: Aggregate = { name: "bytes", class: Aggregate, type: u64, unit: "bytes", category: "x.y" },
        /// Time.
        time: Timer = { name: "time", class: Timer, type: f64, unit: "seconds", category: "x.y.z" },
        /// Depth.
        depth: Level =
            { name: "depth", class: Level, type: u32, unit: "items", category: "x" }
            { name: "depth", class: HighWatermark, type: u64, unit: "items", category: "x", doc: "Deepest." }
            { name: "depth", class: LowWatermark, type: f64, unit: "items", category: "x", doc: "Shallowest." },
        /// State.
        state: State = { name: "state", class: State, type: i32, unit: "", category: "x", states: &STATES },
        /// Size.
        size: Size = { name: "size", class: Size, type: u64, unit: "bytes", category: "x" },
        /// Part in use.
        part: Percentage = { name: "part", class: Percentage, type: f64, unit: "parts of one", category: "x" },
        /// A level that is always active.
        always: Level = {
            name: "always", class: Level, type: u64, unit: "items", category: "x", continuous: true,
            verbosity: Verbosity::DeveloperDetail,
        },
    }
}

struct Tool {
    registry: Registry,
    session: Handle,
    block: &'static All,
}

impl Tool {
    fn new() -> Tool {
        let registry = Registry::with_environment([]);
        registry.init_thread().expect("address space for handles");
        let block = All::detached();
        registry.register(block).expect("new names");
        let session = registry.pvar_session_create().expect("room");
        Tool { registry, session, block }
    }

    fn handle(&self, name: &str, class: PvarClass) -> Handle {
        let index = self.registry.pvar_get_index(name, class as i32).expect("declared");
        self.registry.pvar_handle_alloc(self.session, index, None).expect("room").0
    }

    fn read(&self, handle: Handle) -> Value {
        self.registry.pvar_read(self.session, handle).expect("a live handle")
    }

    fn start(&self, handle: Handle) {
        self.registry.pvar_start(self.session, handle).expect("can be started");
    }

    fn stop(&self, handle: Handle) {
        self.registry.pvar_stop(self.session, handle).expect("can be stopped");
    }

    fn reset(&self, handle: Handle) {
        self.registry.pvar_reset(self.session, handle).expect("can be reset");
    }
}

#[test]
fn sums_start_at_zero_and_count_only_while_running() {
    let tool = Tool::new();
    tool.block.events.add(100);
    let handle = tool.handle("events", PvarClass::Counter);
    tool.block.events.add(1);
    assert_eq!(tool.read(handle), Value::U64(0), "stopped after allocation");
    tool.start(handle);
    tool.block.events.add(5);
    assert_eq!(tool.read(handle), Value::U64(5));
    tool.stop(handle);
    tool.block.events.add(7);
    assert_eq!(tool.read(handle), Value::U64(5), "stopped");
    tool.start(handle);
    tool.block.events.add(2);
    assert_eq!(tool.read(handle), Value::U64(7), "continues at the value of the stop");
    tool.reset(handle);
    assert_eq!(tool.read(handle), Value::U64(0));
    tool.block.events.incr();
    assert_eq!(tool.read(handle), Value::U64(1), "a reset does not stop it");
    assert_eq!(tool.block.events.get(), 116, "the engine's own count is unchanged");
}

#[test]
fn a_written_sum_goes_on_from_what_was_written() {
    let tool = Tool::new();
    let (bytes, few) = (tool.handle("bytes", PvarClass::Aggregate), tool.handle("few", PvarClass::Counter));
    tool.start(bytes);
    tool.block.bytes.add(10);
    tool.registry.pvar_write(tool.session, bytes, &[Value::U64(1000)]).expect("writable");
    tool.block.bytes.add(10);
    assert_eq!(tool.read(bytes), Value::U64(1010));
    tool.registry.pvar_write(tool.session, few, &[Value::U32(3)]).expect("writable while stopped");
    assert_eq!(tool.read(few), Value::U32(3));
    assert_eq!(tool.registry.pvar_write(tool.session, few, &[Value::U64(3)]), Err(TError::INVALID), "a wrong type");
    assert_eq!(tool.registry.pvar_write(tool.session, few, &[]), Err(TError::INVALID), "a wrong count");
}

/// The value that a C program gets, in memory that shows whether it was written.
fn raw_u32(read: unsafe fn(usize, usize, *mut std::ffi::c_void) -> i32, tool: &Tool, handle: Handle) -> [u32; 2] {
    let mut out = [77u32; 2];
    // SAFETY: room for one u32 and more.
    assert_eq!(unsafe { read(tool.session.0, handle.0, out.as_mut_ptr().cast()) }, abi::MPI_SUCCESS);
    out
}

#[test]
fn a_value_too_large_for_its_type_is_read_as_the_largest() {
    let tool = Tool::new();
    let (few, depth) = (tool.handle("few", PvarClass::Counter), tool.handle("depth", PvarClass::Level));
    tool.start(few);
    tool.start(depth);
    tool.block.few.add(u64::from(u32::MAX) + 5);
    tool.block.depth.raise(u64::from(u32::MAX) + 9);
    let largest = [u32::MAX, 77];
    for stopped in [false, true] {
        for handle in [few, depth] {
            assert_eq!(tool.read(handle), Value::U32(u32::MAX), "stopped: {stopped}");
            assert_eq!(raw_u32(mpi_t::pvar_read_raw, &tool, handle), largest, "stopped: {stopped}");
            tool.stop(handle);
        }
    }
    tool.start(few);
    assert_eq!(raw_u32(mpi_t::pvar_readreset_raw, &tool, few), largest);
    assert_eq!(raw_u32(mpi_t::pvar_read_raw, &tool, few), [0, 77]);
}

#[test]
fn readreset_returns_the_value_and_starts_anew() {
    let tool = Tool::new();
    let time = tool.handle("time", PvarClass::Timer);
    tool.start(time);
    tool.block.time.add_ns(1_500_000_000);
    assert_eq!(tool.registry.pvar_readreset(tool.session, time), Ok(vec![Value::F64(1.5)]));
    assert_eq!(tool.read(time), Value::F64(0.0));
    tool.registry.pvar_write(tool.session, time, &[Value::F64(0.25)]).expect("writable");
    tool.block.time.add_ns(1_000_000_000);
    assert_eq!(tool.read(time), Value::F64(1.25));
}

#[test]
fn a_level_shows_what_is_and_keeps_it_while_stopped() {
    let tool = Tool::new();
    tool.block.depth.raise(4);
    let depth = tool.handle("depth", PvarClass::Level);
    assert_eq!(tool.read(depth), Value::U32(4), "the starting value is the level now");
    tool.block.depth.raise(1);
    assert_eq!(tool.read(depth), Value::U32(4), "not started");
    tool.start(depth);
    assert_eq!(tool.read(depth), Value::U32(5));
    tool.block.depth.lower(3);
    assert_eq!(tool.read(depth), Value::U32(2));
    tool.stop(depth);
    tool.block.depth.lower(2);
    assert_eq!(tool.read(depth), Value::U32(2));
    assert_eq!(tool.registry.pvar_reset(tool.session, depth), Err(TError::PVAR_NO_WRITE));
    assert_eq!(tool.registry.pvar_write(tool.session, depth, &[Value::U32(0)]), Err(TError::PVAR_NO_WRITE));
    assert_eq!(tool.registry.pvar_readreset(tool.session, depth), Err(TError::PVAR_NO_ATOMIC));
}

#[test]
fn watermarks_follow_the_level_from_their_own_start_or_reset() {
    let tool = Tool::new();
    tool.block.depth.raise(10);
    let (high, low) = (tool.handle("depth", PvarClass::HighWatermark), tool.handle("depth", PvarClass::LowWatermark));
    let early = tool.handle("depth", PvarClass::HighWatermark);
    tool.start(early);
    tool.block.depth.raise(20);
    tool.block.depth.lower(25);
    assert_eq!((tool.read(high), tool.read(low)), (Value::U64(10), Value::F64(10.0)), "not started");
    tool.start(high);
    tool.start(low);
    tool.block.depth.raise(7);
    tool.block.depth.lower(10);
    tool.block.depth.raise(3);
    assert_eq!((tool.read(high), tool.read(low)), (Value::U64(12), Value::F64(2.0)));
    assert_eq!(tool.read(early), Value::U64(30), "an earlier start saw more");
    tool.reset(high);
    tool.reset(low);
    assert_eq!((tool.read(high), tool.read(low)), (Value::U64(5), Value::F64(5.0)), "the starting value is the level");
    tool.block.depth.raise(1);
    tool.block.depth.lower(1);
    assert_eq!((tool.read(high), tool.read(low)), (Value::U64(6), Value::F64(5.0)));
    tool.stop(high);
    tool.block.depth.raise(50);
    assert_eq!((tool.read(high), tool.read(early)), (Value::U64(6), Value::U64(55)));
    assert_eq!(tool.registry.pvar_readreset(tool.session, early), Ok(vec![Value::U64(55)]));
    tool.registry.pvar_write(tool.session, early, &[Value::U64(100)]).expect("writable");
    assert_eq!(tool.read(early), Value::U64(100));
    for handle in [high, low, early] {
        tool.registry.pvar_handle_free(tool.session, handle).expect("live");
    }
    tool.block.depth.raise(1000);
    let late = tool.handle("depth", PvarClass::HighWatermark);
    assert_eq!(tool.read(late), Value::U64(1055), "a new handle has nothing of the old ones");
}

#[test]
fn states_sizes_and_percentages_are_read_only() {
    let tool = Tool::new();
    tool.block.state.set(1);
    tool.block.part.set(1, 2);
    let (state, size, part) = (
        tool.handle("state", PvarClass::State),
        tool.handle("size", PvarClass::Size),
        tool.handle("part", PvarClass::Percentage),
    );
    assert_eq!((tool.read(state), tool.read(part)), (Value::I32(1), Value::F64(0.5)), "the present value is the start");
    tool.start(state);
    tool.start(part);
    assert_eq!(tool.registry.pvar_start(tool.session, size), Err(TError::PVAR_NO_STARTSTOP), "sizes are continuous");
    tool.block.state.set(-1);
    tool.block.size.set(1 << 40);
    tool.block.part.set(1, 4);
    assert_eq!(tool.read(state), Value::I32(-1));
    assert_eq!(tool.read(size), Value::U64(1 << 40));
    assert_eq!(tool.read(part), Value::F64(0.25));
    tool.stop(state);
    tool.block.state.set(1);
    assert_eq!(tool.read(state), Value::I32(-1), "a negative state survives stopping");
    for handle in [state, size, part] {
        assert_eq!(tool.registry.pvar_reset(tool.session, handle), Err(TError::PVAR_NO_WRITE));
        let same = [tool.read(handle)];
        assert_eq!(tool.registry.pvar_write(tool.session, handle, &same), Err(TError::PVAR_NO_WRITE));
        assert_eq!(tool.registry.pvar_readreset(tool.session, handle), Err(TError::PVAR_NO_ATOMIC));
    }
}

#[test]
fn a_continuous_variable_runs_from_its_allocation() {
    let tool = Tool::new();
    let always = tool.handle("always", PvarClass::Level);
    tool.block.always.raise(9);
    assert_eq!(tool.read(always), Value::U64(9));
    assert_eq!(tool.registry.pvar_stop(tool.session, always), Err(TError::PVAR_NO_STARTSTOP));
    assert_eq!(tool.registry.pvar_start(tool.session, always), Err(TError::PVAR_NO_STARTSTOP));
    tool.block.always.raise(1);
    assert_eq!(tool.read(always), Value::U64(10), "it runs nevertheless");
}

#[test]
fn all_handles_start_stop_and_reset_what_can_be() {
    let tool = Tool::new();
    let all = Handle(abi::MPI_T_PVAR_ALL_HANDLES);
    let (events, depth, size) = (
        tool.handle("events", PvarClass::Counter),
        tool.handle("depth", PvarClass::Level),
        tool.handle("size", PvarClass::Size),
    );
    assert_eq!(tool.registry.pvar_start(tool.session, all), Ok(()));
    assert_eq!(tool.registry.pvar_start(tool.session, all), Ok(()), "already started ones are unchanged");
    tool.block.events.add(3);
    tool.block.depth.raise(3);
    assert_eq!(tool.registry.pvar_start(tool.session, all), Ok(()), "those that run keep what they have");
    assert_eq!((tool.read(events), tool.read(depth)), (Value::U64(3), Value::U32(3)));
    assert_eq!(tool.registry.pvar_reset(tool.session, all), Ok(()));
    assert_eq!((tool.read(events), tool.read(depth)), (Value::U64(0), Value::U32(3)), "read-only ones are unchanged");
    tool.block.events.add(2);
    assert_eq!(tool.registry.pvar_stop(tool.session, all), Ok(()));
    tool.block.events.add(3);
    tool.block.depth.raise(3);
    tool.block.size.set(5);
    assert_eq!(tool.registry.pvar_stop(tool.session, all), Ok(()), "already stopped ones are unchanged");
    assert_eq!((tool.read(events), tool.read(depth)), (Value::U64(2), Value::U32(3)));
    assert_eq!(tool.read(size), Value::U64(5), "continuous ones run");
    assert_eq!(tool.registry.pvar_reset(tool.session, all), Ok(()));
    assert_eq!((tool.read(events), tool.read(depth)), (Value::U64(0), Value::U32(3)), "stopped read-only ones as well");
    assert_eq!(tool.registry.pvar_read(tool.session, all), Err(TError::INVALID_HANDLE));
    assert_eq!(tool.registry.pvar_readreset(tool.session, all), Err(TError::INVALID_HANDLE));
    assert_eq!(tool.registry.pvar_write(tool.session, all, &[Value::U64(0)]), Err(TError::INVALID_HANDLE));
    let empty = tool.registry.pvar_session_create().expect("room");
    for done in [
        tool.registry.pvar_start(empty, all),
        tool.registry.pvar_stop(empty, all),
        tool.registry.pvar_reset(empty, all),
    ] {
        assert_eq!(done, Ok(()), "a session without handles");
    }
}

/// The standard's texts of the classes on types (MPI-5.0, section 15.3.7), as an independent table. No class has texts,
/// and `MPI_INT` is only for states and for variables without a class.
#[test]
fn each_class_allows_the_types_that_the_standard_lists_and_no_others() {
    use ValueType::{F64, I32, Text, U32, U64};
    let types = [I32, U32, U64, F64, Text];
    let table = [
        (PvarClass::State, [true, false, false, false, false]),
        (PvarClass::Level, [false, true, true, true, false]),
        (PvarClass::Size, [false, true, true, true, false]),
        (PvarClass::Percentage, [false, false, false, true, false]),
        (PvarClass::HighWatermark, [false, true, true, true, false]),
        (PvarClass::LowWatermark, [false, true, true, true, false]),
        (PvarClass::Counter, [false, true, true, false, false]),
        (PvarClass::Aggregate, [false, true, true, true, false]),
        (PvarClass::Timer, [false, true, true, true, false]),
        (PvarClass::Generic, [true, true, true, true, false]),
    ];
    for (class, allowed) in table {
        assert_eq!(types.map(|each| class.allows(each)), allowed, "{class:?}");
    }
    assert_eq!(table.map(|(class, _)| class), PvarClass::ALL);
}

#[test]
fn the_info_of_a_variable_is_as_declared() {
    let tool = Tool::new();
    assert_eq!(tool.registry.pvar_get_num(), Ok(All::VARS.len() as i32));
    for (index, definition) in (0..).zip(All::VARS) {
        let info = tool.registry.pvar_get_info(index).expect("in range");
        assert_eq!((info.name(), info.class(), info.value()), (definition.name, definition.class, definition.value));
        assert_eq!(info.enumeration.0 != abi::MPI_T_ENUM_NULL, info.name() == "state");
        let readonly = matches!(
            info.class(),
            PvarClass::State | PvarClass::Level | PvarClass::Size | PvarClass::Percentage | PvarClass::Generic
        );
        assert_eq!((info.readonly(), info.atomic()), (readonly, !readonly), "{}", info.name());
        assert_eq!(info.continuous(), matches!(info.name(), "size" | "always"), "{}", info.name());
        let verbosity = if info.name() == "always" { Verbosity::DeveloperDetail } else { Verbosity::UserBasic };
        assert_eq!((info.verbosity(), info.bind()), (verbosity, Bind::NoObject), "{}", info.name());
    }
    let state = tool.registry.pvar_get_info(tool.registry.pvar_get_index("state", 1).expect("a state")).expect("there");
    assert_eq!(state.description, "State.", "a value without a unit");
    let size = tool.registry.pvar_get_index("size", PvarClass::Size as i32).expect("declared");
    assert_eq!(tool.registry.pvar_get_info(size).expect("there").description, "Size. Unit: bytes.");
}
