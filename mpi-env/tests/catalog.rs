//! The catalog that `mpiexec` uses to describe variables equals the registry of a process.
//!
//! With `CATALOG_WRITE=1`, which `cargo xtask catalog` sets, the test writes the catalog instead of comparing it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use mpi_env::Process;
use mpi_fabric::Endpoint;
use mpi_t::{EnumDef, Registry, SWITCH, Value};

/// Control variables whose default value depends on the machine.
const CHOSEN: [&str; 3] = ["fabric_ring_bytes", "p2p_wait_spins", "p2p_wait_yields"];

/// As in the C library, whose heap has variables.
#[global_allocator]
static HEAP: mpi_env::Heap = mpi_env::Heap;

const FILE: &str = "mpi-launch/src/generated/mod.rs";

/// Parts of the generated source that several rows share.
#[derive(Default)]
struct Writer {
    enums: BTreeMap<&'static str, &'static EnumDef>,
    rows: String,
}

impl Writer {
    /// The source text of an `Option` that names the static of an enumeration.
    fn states(&mut self, states: Option<&'static EnumDef>) -> String {
        let Some(states) = states else { return "None".into() };
        if std::ptr::eq(states, &SWITCH) {
            // Variables that also accept yes and no.
            return "Some(&SWITCH)".into();
        }
        self.enums.insert(states.name, states);
        format!("Some(&{})", static_name(states.name))
    }

    fn cvars(&mut self, registry: &Registry) {
        self.rows += "    cvars: &[\n";
        for index in 0..registry.cvar_get_num().expect("initialized") {
            let info = registry.cvar_get_info(index).expect("an index");
            let of = &info.definition;
            let initial = match info.read() {
                None => "Bound".to_owned(),
                Some(_) if CHOSEN.contains(&of.name) => "Chosen".to_owned(),
                Some(Value::I32(value)) => format!("I32({value})"),
                Some(Value::U32(value)) => format!("U32({value})"),
                Some(Value::U64(value)) => format!("U64({value})"),
                Some(Value::F64(value)) => format!("F64({value:?})"),
                Some(Value::Text(text)) => format!("Text({text:?})"),
            };
            let states = self.states(of.states);
            let _ = writeln!(
                self.rows,
                "        CvarRow {{\n            definition: CvarDef {{\n                name: {:?},\n                \
                 description: {:?},\n                unit: {:?},\n                category: {:?},\n                \
                 value: ValueType::{:?},\n                bind: Bind::{:?},\n                scope: Scope::{:?},\n                \
                 verbosity: Verbosity::{:?},\n                limits: Limits::{:?},\n                states: {states},\n                \
                 until_init: {:?},\n            }},\n            initial: Initial::{initial},\n        }},",
                of.name,
                words(of.description),
                of.unit,
                of.category,
                of.value,
                of.bind,
                of.scope,
                of.verbosity,
                of.limits,
                of.until_init,
            );
        }
        self.rows += "    ],\n";
    }

    fn pvars(&mut self, registry: &Registry) {
        self.rows += "    pvars: &[\n";
        for index in 0..registry.pvar_get_num().expect("initialized") {
            let of = registry.pvar_get_info(index).expect("an index").definition;
            let states = self.states(of.states);
            let _ = writeln!(
                self.rows,
                "        PvarRow {{\n            name: {:?},\n            description: {:?},\n            unit: {:?},\n            \
                 category: {:?},\n            class: PvarClass::{:?},\n            value: ValueType::{:?},\n            \
                 bind: Bind::{:?},\n            verbosity: Verbosity::{:?},\n            states: {states},\n        }},",
                of.name,
                words(of.description),
                of.unit,
                of.category,
                of.class,
                of.value,
                of.bind,
                of.verbosity,
            );
        }
        self.rows += "    ],\n";
    }

    fn events(&mut self, registry: &Registry) {
        self.rows += "    events: &[\n";
        for index in 0..registry.event_get_num().expect("initialized") {
            let of = registry.event_get_info(index).expect("an index").definition;
            let elements: Vec<_> = of
                .elements
                .iter()
                .map(|element| format!("({:?}, ValueType::{:?})", element.name, element.value))
                .collect();
            let _ = writeln!(
                self.rows,
                "        EventRow {{\n            name: {:?},\n            description: {:?},\n            category: {:?},\n            \
                 source: {:?},\n            bind: Bind::{:?},\n            verbosity: Verbosity::{:?},\n            \
                 elements: &[{}],\n        }},",
                of.name,
                words(of.description),
                of.category,
                of.source.name,
                of.bind,
                of.verbosity,
                elements.join(", "),
            );
        }
        self.rows += "    ],\n";
    }

    fn categories(&mut self, registry: &Registry) {
        self.rows += "    categories: &[\n";
        let count = registry.category_get_num().expect("initialized");
        let mut all: Vec<_> = (0..count).map(|index| registry.category_get_info(index).expect("an index")).collect();
        all.sort_by_key(|category| category.name());
        for category in all {
            let (name, description) = (category.name(), category.description());
            let _ = writeln!(self.rows, "        CategoryRow {{ name: {name:?}, description: {description:?} }},");
        }
        self.rows += "    ],\n";
    }

    fn finish(self) -> String {
        let mut text = String::from(
            "//! The catalog of variables, events and categories.\n//!\n//! @generated by `cargo xtask catalog` from the \
             registry of a process.\n\nuse mpi_t::{Bind, CvarDef, EnumDef, Limits, PvarClass, SWITCH, Scope, ValueType, \
             Verbosity};\n\nuse crate::catalog::{Catalog, CategoryRow, CvarRow, EventRow, Initial, PvarRow};\n\n",
        );
        for (name, states) in self.enums {
            let name_of = static_name(name);
            let _ =
                writeln!(text, "static {name_of}: EnumDef = EnumDef {{ name: {name:?}, items: &{:?} }};", states.items);
        }
        text += "\n/// All that a process of this release registers.\npub static CATALOG: Catalog = Catalog {\n";
        text + &self.rows + "};\n"
    }
}

/// A description on one line.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn static_name(name: &str) -> String {
    let letters = name.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '_' });
    letters.collect::<String>().to_ascii_uppercase()
}

#[test]
fn the_catalog_of_mpiexec_is_that_of_a_process() {
    let endpoint = Endpoint::threads(1).expect("memory for one rank").pop().expect("one rank");
    let process = Process::new(endpoint).expect("variables have different names");
    let registry = &process.registry;
    registry.init_thread().expect("address space");
    let mut writer = Writer::default();
    writer.cvars(registry);
    writer.pvars(registry);
    writer.events(registry);
    writer.categories(registry);
    let text = writer.finish();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(FILE);
    if std::env::var_os("CATALOG_WRITE").is_some() {
        std::fs::write(&path, &text).expect("the catalog can be written");
        return;
    }
    let committed = std::fs::read_to_string(&path).expect("the catalog can be read");
    let different = text.lines().zip(committed.lines()).find(|(due, is)| due != is);
    assert_eq!(different, None, "{FILE} is stale: run `cargo xtask catalog`");
    assert_eq!(text.len(), committed.len(), "{FILE} is stale: run `cargo xtask catalog`");
}
