//! Variables that are added at run time: those of a plug-in that is not written in Rust.
//!
//! Their words are allocated here and never freed, so a plug-in may be unloaded: its variables then keep their values.
//! Invariant: as for declared variables, class, type and limits are compatible.
//! Not here: the C interface of this (`mpi-capi`'s extension).

use std::any::TypeId;
use std::borrow::Cow;
use std::sync::atomic::AtomicU64;

use super::Registry;
use super::opening::Elements;
use super::pvars::PvarInfo;
use super::value_parser::expectation;
use crate::field::WordUnit;
use crate::{
    Bind, BlockDescription, CvarDef, InstrumentMemory, Limits, PvarClass, PvarDef, Scope, TError, TResult, Value,
    ValueType, Verbosity,
};
use mpi_core::Handle;
use mpi_core::abi::MPI_T_ENUM_NULL;

/// The texts of a variable that is added at run time.
#[derive(Debug, Clone, Copy)]
pub struct VariableTexts<'a> {
    /// The name, of letters (a to z, A to Z), digits and `_`, a letter first; unique among control variables, and with
    /// its class among performance variables.
    pub name: &'a str,
    /// What it counts or controls.
    pub description: &'a str,
    /// The unit, for people; may be empty.
    pub unit: &'a str,
    /// The category, a dotted path; not empty.
    pub category: &'a str,
    /// What the category is about, if it is new.
    pub category_description: &'a str,
}

/// The common type of all blocks of variables added at run time, each of which has elements of its own.
enum Added {}

/// The most elements of one variable.
const MOST_ELEMENTS: i32 = 1 << 20;

impl Registry {
    /// Adds a performance variable of the process and returns the words that it reads, zeroed; the caller writes
    /// them, a word at a time. A word is the value itself, nanoseconds for timers, 2^-32 parts for percentages. A
    /// single word is placed in `memory`, where that has room.
    /// Errors: `MPI_T_ERR_INVALID` for an incompatible class and type, for watermarks, an invalid count and an invalid
    /// category; `MPI_T_ERR_INVALID_NAME` for an invalid or taken name; `MPI_T_ERR_MEMORY` when the registry is full.
    pub fn add_pvar(
        &self,
        memory: &dyn InstrumentMemory,
        texts: &VariableTexts<'_>,
        class: PvarClass,
        value: ValueType,
        count: i32,
    ) -> TResult<&'static [AtomicU64]> {
        check(texts)?;
        let count = check_shape(texts.name, class, value, count)?;
        let mut state = self.lock_state();
        if self.pvar_named(texts.name, class).is_some() {
            let name = texts.name;
            return Err(refused_name(format!("name is {name:?}, which another variable of {} has", class.name())));
        }
        let unit_of_word = match class {
            PvarClass::Timer => WordUnit::Nanosecond,
            PvarClass::Percentage => WordUnit::Fraction,
            _ => WordUnit::One,
        };
        // Variables are never freed, so neither are their texts and words.
        let definition: &'static PvarDef = Box::leak(Box::new(PvarDef {
            name: leaked(texts.name),
            description: leaked(texts.description),
            unit: leaked(texts.unit),
            category: leaked(texts.category),
            class,
            value,
            bind: Bind::NoObject,
            verbosity: Verbosity::UserBasic,
            // Tools written for another library start every variable that they read.
            continuous: false,
            states: None,
            word: 0,
            handles_word: 0,
            unit_of_word,
        }));
        // A reader of the job memory finds one word for each variable.
        let variables = std::slice::from_ref(definition);
        let description = BlockDescription { block: definition.name, variables, object: "" };
        let placed = if count == 1 { memory.allocate(1, &description) } else { None };
        let words = placed.unwrap_or_else(|| Vec::leak((0..count).map(|_| AtomicU64::new(0)).collect()));
        let info = PvarInfo::new(definition, Handle(MPI_T_ENUM_NULL), TypeId::of::<Added>(), None);
        info.is_in_rows();
        state.category_texts.entry(definition.category).or_insert_with(|| leaked(texts.category_description));
        let Ok(index) = self.append_pvar(&mut state, info) else {
            // A reader of the job memory finds no variable that tools do not find.
            placed.map(|words| memory.release(words));
            return Err(TError::MEMORY.because(format!("there is no room for {:?}", definition.name)));
        };
        state.elements.insert((Bind::NoObject, 0, index), Elements { words, stride: 1, count });
        Ok(words)
    }

    /// Adds a control variable of the process and returns the word that it sets, which the caller reads: the value
    /// in its low bytes. The environment may set it at once. Errors: as for [`Registry::add_pvar`];
    /// `MPI_T_ERR_INVALID` for an initial value out of its limits too.
    pub fn add_cvar(
        &self,
        texts: &VariableTexts<'_>,
        scope: Scope,
        initial: &Value,
        limits: Limits,
    ) -> TResult<&'static AtomicU64> {
        check(texts)?;
        let taken = || refused_name(format!("name is {:?}, which another control variable has", texts.name));
        if self.cvar_named(texts.name).is_some() {
            return Err(taken());
        }
        let shape = CvarDef {
            name: "",
            description: "",
            unit: "",
            category: "",
            value: initial.value_type(),
            bind: Bind::NoObject,
            scope,
            verbosity: Verbosity::UserBasic,
            limits,
            states: None,
            until_init: false,
        };
        if !shape.accepts(initial) {
            let takes = expectation(&shape);
            return Err(refused(format!("initial is {initial}, but {:?} {takes}", texts.name)));
        }
        if matches!(initial, Value::Text(_)) {
            return Err(refused("a control variable that is a text cannot be added"));
        }
        let cell = super::definitions::cell(initial);
        let definition = CvarDef {
            name: leaked(texts.name),
            description: leaked(texts.description),
            unit: leaked(texts.unit),
            category: leaked(texts.category),
            ..shape
        };
        self.lock_state()
            .category_texts
            .entry(definition.category)
            .or_insert_with(|| leaked(texts.category_description));
        // A second variable of the name, added at the same time, is refused too.
        self.add_settings(vec![definition], std::iter::once(Some(cell)), None).map_err(|_| taken())?;
        Ok(cell.word().expect("numbers lie in one word"))
    }
}

/// An invalid argument.
fn refused(why: impl Into<Cow<'static, str>>) -> TError {
    TError::INVALID.because(why)
}

fn refused_name(why: impl Into<Cow<'static, str>>) -> TError {
    TError::INVALID_NAME.because(why)
}

fn check(texts: &VariableTexts<'_>) -> TResult<()> {
    if texts.name.is_empty() {
        return Err(refused_name("name is empty"));
    }
    let is_name = texts.name.starts_with(|first: char| first.is_ascii_alphabetic())
        && texts.name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if !is_name {
        let rule = "but has to be of letters (a to z, A to Z), digits and _, and to begin with a letter";
        return Err(refused_name(format!("name is {:?}, {rule}", texts.name)));
    }
    if texts.category.split('.').all(|part| !part.is_empty()) {
        return Ok(());
    }
    let rule = "but has to be a name, or several divided by dots, such as solver.cache";
    Err(refused(format!("category of {:?} is {:?}, {rule}", texts.name, texts.category)))
}

/// Checks class, type and number of elements of a performance variable; returns that number.
fn check_shape(name: &str, class: PvarClass, value: ValueType, count: i32) -> TResult<u32> {
    let invalid = |why: String| Err(refused(why));
    if class.is_watermark() {
        return invalid(format!("pvar_class of {name:?} is {}, but watermarks cannot be added", class.name()));
    }
    if !class.allows(value) {
        let all = [ValueType::I32, ValueType::U32, ValueType::U64, ValueType::F64];
        let allowed: Vec<_> = all.into_iter().filter(|value| class.allows(*value)).map(ValueType::name).collect();
        let rule = format!("but {} takes {}", class.name(), allowed.join(", "));
        return invalid(format!("datatype of {name:?} is {}, {rule}", value.name()));
    }
    if !(1..=MOST_ELEMENTS).contains(&count) {
        return invalid(format!("count of {name:?} is {count}, but has to be from 1 to {MOST_ELEMENTS}"));
    }
    Ok(count.unsigned_abs())
}

fn leaked(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::HeapMemory;
    use std::sync::atomic::AtomicUsize;
    use std::sync::atomic::Ordering::Relaxed;

    fn texts<'a>(name: &'a str, category: &'a str) -> VariableTexts<'a> {
        VariableTexts {
            name,
            description: "What it does.",
            unit: "things",
            category,
            category_description: "A plug-in.",
        }
    }

    #[test]
    fn tools_see_added_variables_appear_and_read_what_the_plug_in_writes() {
        let registry = Registry::with_environment([("FERRUM_PLUG_LIMIT".to_owned(), "7".to_owned())]);
        registry.init_thread().expect("address space");
        let seen =
            || (registry.pvar_get_num().expect("initialized"), registry.category_changed().expect("initialized"));
        let before = seen();
        let words = registry
            .add_pvar(&HeapMemory, &texts("plug_things", "plug.in"), PvarClass::Counter, ValueType::U64, 3)
            .expect("a new name");
        let limit = registry
            .add_cvar(&texts("plug_limit", "plug.in"), Scope::Local, &Value::U32(5), Limits::Whole(1, 9))
            .expect("a new name");
        assert_eq!(limit.load(Relaxed), 7, "from the environment");
        assert!(seen().0 > before.0 && seen().1 > before.1);
        let index = registry.pvar_get_index("plug_things", PvarClass::Counter as i32).expect("added");
        let session = registry.pvar_session_create().expect("room");
        let (handle, count) = registry.pvar_handle_alloc(session, index, None).expect("of the process");
        registry.pvar_start(session, handle).expect("a counter");
        words.iter().zip([1, 20, 300]).for_each(|(word, value)| word.store(value, Relaxed));
        let read = registry.pvar_read_all(session, handle);
        assert_eq!((count, read), (3, Ok(vec![Value::U64(1), Value::U64(20), Value::U64(300)])));
        let category = registry.category_get_index("plug.in").expect("new");
        assert_eq!(registry.category_get_info(category).expect("an index").description(), "A plug-in.");
        let (handle, _) =
            registry.cvar_handle_alloc(registry.cvar_get_index("plug_limit").expect("added"), None).expect("room");
        registry.cvar_write(handle, &Value::U32(9)).expect("in its limits");
        assert_eq!((registry.cvar_write(handle, &Value::U32(10)), limit.load(Relaxed)), (Err(TError::INVALID), 9));
    }

    #[test]
    fn what_finds_no_room_among_the_variables_keeps_none_in_the_memory() {
        /// Counts what is placed in it.
        struct Counting(AtomicUsize);
        impl InstrumentMemory for Counting {
            fn allocate(&self, words: usize, what: &BlockDescription<'_>) -> Option<&'static [AtomicU64]> {
                self.0.fetch_add(1, Relaxed);
                HeapMemory.allocate(words, what)
            }
            fn release(&self, words: &'static [AtomicU64]) -> bool {
                self.0.fetch_sub(1, Relaxed);
                HeapMemory.release(words)
            }
        }
        let (registry, memory) = (Registry::with_environment([]), Counting(AtomicUsize::new(0)));
        let add = |name: &str| {
            registry.add_pvar(&memory, &texts(name, "plug"), PvarClass::Level, ValueType::U32, 1).map(|_| ())
        };
        let first_refused = (0..).find_map(|i| add(&format!("plug_{i}")).err().map(|error| (i, error)));
        let (added, error) = first_refused.expect("some time");
        let why = format!("there is no room for \"plug_{added}\"");
        assert_eq!((error.clone(), error.to_string()), (TError::MEMORY, why));
        assert_eq!(memory.0.load(Relaxed), added);
    }

    #[test]
    fn what_does_not_go_together_is_refused() {
        let registry = Registry::with_environment([]);
        let add = |texts: &VariableTexts<'_>, class, value, count| {
            let error = registry.add_pvar(&HeapMemory, texts, class, value, count).map(|_| ()).unwrap_err();
            (error.clone(), error.to_string())
        };
        let invalid = |why: &str| (TError::INVALID, why.to_owned());
        let level = |texts: &VariableTexts<'_>| add(texts, PvarClass::Level, ValueType::U32, 1);
        let good = texts("thing", "plug");
        registry.add_pvar(&HeapMemory, &good, PvarClass::Level, ValueType::U32, 1).expect("a new name");
        let taken = "name is \"thing\", which another variable of MPI_T_PVAR_CLASS_LEVEL has";
        assert_eq!(level(&good), (TError::INVALID_NAME, taken.into()));
        assert_eq!(level(&texts("", "plug")), (TError::INVALID_NAME, "name is empty".into()));
        for name in ["Odd Name", "a=b", "été", "x#y", "9a", "_a", "a-b"] {
            let (code, why) = level(&texts(name, "plug"));
            assert!(code == TError::INVALID_NAME && why.starts_with(&format!("name is {name:?}, but has to")), "{why}");
            let error = registry
                .add_cvar(&texts(name, "plug"), Scope::Local, &Value::I32(0), Limits::Whole(0, 9))
                .expect_err("it could not be set");
            assert_eq!((error.clone(), error.to_string()), (code, why));
        }
        let rule = "but has to be a name, or several divided by dots, such as solver.cache";
        assert_eq!(level(&texts("a", "plug..in")), invalid(&format!("category of \"a\" is \"plug..in\", {rule}")));
        assert_eq!(level(&texts("a", "")), invalid(&format!("category of \"a\" is \"\", {rule}")));
        let high = "pvar_class of \"a\" is MPI_T_PVAR_CLASS_HIGHWATERMARK, but watermarks cannot be added";
        let whole = "datatype of \"a\" is MPI_DOUBLE, but MPI_T_PVAR_CLASS_COUNTER takes MPI_UNSIGNED, \
                     MPI_UNSIGNED_LONG_LONG";
        let range = "but has to be from 1 to 1048576";
        for (class, value, count, why) in [
            (PvarClass::HighWatermark, ValueType::U32, 1, high),
            (PvarClass::Counter, ValueType::F64, 1, whole),
            (PvarClass::Counter, ValueType::U64, 0, &format!("count of \"a\" is 0, {range}")),
            (PvarClass::Counter, ValueType::U64, -1, &format!("count of \"a\" is -1, {range}")),
            (PvarClass::Counter, ValueType::U64, MOST_ELEMENTS + 1, &format!("count of \"a\" is 1048577, {range}")),
        ] {
            assert_eq!(add(&texts("a", "plug"), class, value, count), invalid(why));
        }
        let cvar = |initial: Value, limits| {
            let added = registry.add_cvar(&texts("a", "plug"), Scope::Local, &initial, limits);
            added.map(|_| ()).map_err(|error| (error.clone(), error.to_string()))
        };
        let low = "initial is -1, but \"a\" takes a whole number from 0 to 9";
        assert_eq!(cvar(Value::I32(-1), Limits::Whole(0, 9)), Err(invalid(low)));
        assert_eq!(cvar(Value::Text("x".into()), Limits::Length(9)).map_err(|error| error.0), Err(TError::INVALID));
        cvar(Value::F64(0.5), Limits::Real(0.0, 1.0)).expect("a new name");
        let taken = (TError::INVALID_NAME, "name is \"a\", which another control variable has".to_owned());
        assert_eq!(cvar(Value::F64(0.5), Limits::Real(0.0, 1.0)), Err(taken));
    }
}
