//! Values of control variables from the environment: `FERRUM_` + the variable's name in capitals.
//!
//! Whole numbers may end in k, M or G (1024, 1024², 1024³), also as kB or KiB and so on; a variable with named values takes a name or a number; a
//! switch takes on, off, yes, no, true, false, 1, 0.
//! Invariant: whatever stands in the environment, the result is an accepted value or a sentence for the user.
//! Not here: setting the cells (`cvars`).

use std::collections::BTreeMap;

use mpi_core::text::distance;

use super::Registry;
use crate::{CvarDef, Limits, SWITCH, TError, Value, ValueType};

/// What the names of the environment variables begin with.
pub const PREFIX: &str = "FERRUM_";

/// The part of the environment that is for this library.
#[derive(Debug, Default)]
pub(super) struct Environment {
    variables: BTreeMap<String, String>,
    known: Vec<String>,
    errors: Vec<String>,
}

impl Environment {
    pub(super) fn new(variables: impl IntoIterator<Item = (String, String)>) -> Environment {
        let variables = variables.into_iter().filter(|(name, _)| is_ours(name)).collect();
        Environment { variables, ..Environment::default() }
    }

    /// The value that the environment has for a variable, if it has an acceptable one.
    pub(super) fn value_for(&mut self, definition: &CvarDef) -> Option<Value> {
        let name = name_of(definition);
        let text = self.variables.get(&name);
        let value = text.and_then(|text| parse(definition, text)).filter(|value| definition.accepts(value));
        if text.is_some() && value.is_none() {
            self.refuse(definition);
        }
        self.known.push(name);
        value
    }

    /// Notes that a variable's value cannot be taken.
    fn refuse(&mut self, definition: &CvarDef) {
        self.note(definition, &expectation(definition));
    }

    /// Notes that a variable's owner does not take its value, though it is in the declared range.
    pub(super) fn refused_by_owner(&mut self, definition: &CvarDef, error: TError) {
        self.note(definition, &format!("{} refuses that: {error}", definition.name));
    }

    fn note(&mut self, definition: &CvarDef, why: &str) {
        let name = name_of(definition);
        let text = self.variables.get(&name).map_or("", String::as_str);
        self.errors.push(format!("{name} is \"{text}\", but {why}"));
    }

    fn unknown(&self) -> impl Iterator<Item = &str> {
        self.variables.keys().map(String::as_str).filter(|name| !self.known.iter().any(|known| known == name))
    }
}

impl Registry {
    /// Sentences on values in the environment that were not accepted, in the order of registration.
    pub fn startup_errors(&self) -> Vec<String> {
        self.growth().environment.errors.clone()
    }

    /// Names that other parts of the library read from the environment, so that they are not taken for mistakes.
    pub fn reserve_environment(&self, names: &[&str]) {
        self.growth().environment.known.extend(names.iter().map(|name| (*name).to_owned()));
    }

    /// Sentences on `FERRUM_` names in the environment that nothing reads, with the nearest name that something does.
    /// Ask when everything is registered.
    pub fn unknown_environment(&self) -> Vec<String> {
        let growth = self.growth();
        let environment = &growth.environment;
        let told = environment.unknown().map(|name| match nearest(name, &environment.known) {
            Some(nearest) => format!("{name} is set, but no such variable exists; did you mean {nearest}?"),
            None => format!("{name} is set, but no such variable exists"),
        });
        told.collect()
    }
}

/// Whether a name is for this library, perhaps written in the wrong case.
fn is_ours(name: &str) -> bool {
    name.get(..PREFIX.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(PREFIX))
}

fn name_of(definition: &CvarDef) -> String {
    format!("{PREFIX}{}", definition.name.to_ascii_uppercase())
}

fn parse(definition: &CvarDef, text: &str) -> Option<Value> {
    let text = text.trim();
    match definition.value {
        ValueType::Text => Some(Value::Text(text.to_owned())),
        ValueType::F64 => text.parse().ok().map(Value::F64),
        ValueType::I32 => named(definition, text).or_else(|| i32::try_from(whole(text)?).ok()).map(Value::I32),
        ValueType::U32 => u32::try_from(whole(text)?).ok().map(Value::U32),
        ValueType::U64 => u64::try_from(whole(text)?).ok().map(Value::U64),
    }
}

/// The value that has this name.
fn named(definition: &CvarDef, text: &str) -> Option<i32> {
    let states = definition.states?;
    let item = states.items.iter().find(|(_, name)| name.eq_ignore_ascii_case(text));
    let switched = || match text.to_ascii_lowercase().as_str() {
        "yes" | "true" => Some(1),
        "no" | "false" => Some(0),
        _ => None,
    };
    item.map(|(value, _)| *value).or_else(|| if std::ptr::eq(states, &SWITCH) { switched() } else { None })
}

/// The letters that a number may end in.
const SUFFIXES: [char; 6] = ['k', 'K', 'm', 'M', 'g', 'G'];

/// A whole number, perhaps with a suffix.
fn whole(whole: &str) -> Option<i128> {
    // What is counted are bytes, so 8k, 8kB and 8KiB are the same.
    let text = ["iB", "B"].iter().find_map(|end| whole.strip_suffix(end).filter(|rest| rest.ends_with(SUFFIXES)));
    let text = text.unwrap_or(whole);
    let (digits, unit) = match text.char_indices().next_back()? {
        (at, 'k' | 'K') => (&text[..at], 1 << 10),
        (at, 'm' | 'M') => (&text[..at], 1 << 20),
        (at, 'g' | 'G') => (&text[..at], 1 << 30),
        _ => (text, 1i128),
    };
    digits.trim_end().parse::<i128>().ok()?.checked_mul(unit)
}

/// What a variable takes: `p2p_eager_limit takes a whole number from 0 to 1048576 (bytes)`.
fn expectation(definition: &CvarDef) -> String {
    let mut text = format!("{} takes ", definition.name);
    match (definition.states, definition.limits) {
        (Some(states), _) => {
            let names: Vec<_> = states.items.iter().map(|(_, name)| *name).collect();
            text += &format!("one of {}", names.join(", "));
        }
        (None, Limits::Whole(low, high)) => text += &format!("a whole number from {low} to {high}"),
        (None, Limits::Real(f64::MIN, f64::MAX)) => text += "a number",
        (None, Limits::Real(low, high)) => text += &format!("a number from {low} to {high}"),
        (None, Limits::Length(most)) => text += &format!("a text of fewer than {most} bytes"),
    }
    if !definition.unit.is_empty() {
        text += &format!(" ({})", definition.unit);
    }
    text
}

/// The name that fewest changes of a character make of this one, if they are few.
fn nearest<'a>(name: &str, known: &'a [String]) -> Option<&'a str> {
    // Another prefix of the same length of what follows is a likely slip: compare whole names, and ends.
    let distance_to = |known: &str| {
        let word = |text: &str| text.to_ascii_uppercase().trim_start_matches(PREFIX).to_owned();
        let (name, known) = (word(name), word(known));
        let part = known.ends_with(&name) && name.len() >= 4;
        if part { 1 } else { distance(name.bytes(), known.as_bytes()) }
    };
    let (most, found) = known.iter().map(|known| (distance_to(known), known)).min()?;
    (most <= 3.max(name.len() / 6)).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EnumDef, Text};

    static POLICY: EnumDef = EnumDef { name: "policy", items: &[(0, "spin"), (2, "sleep")] };

    crate::cvars! {
        /// A test block.
        struct Block {
            /// A size.
            size: u64 = 10 => { name: "p2p_eager_limit", unit: "bytes", category: "a", scope: Local, range: 0..=1 << 20 },
            /// A policy.
            policy: i32 = 2 => { name: "wait_policy", unit: "", category: "a", scope: Local, states: &POLICY },
            /// A switch.
            on: bool = false => { name: "single_copy", unit: "", category: "a", scope: Local },
            /// A text.
            text: Text = "" => { name: "tool_path", unit: "", category: "a", scope: Local },
            /// A part.
            part: f64 = 0.5 => { name: "part", unit: "", category: "a", scope: Local, real_range: 0.0..=1.0 },
        }
    }

    fn registry(variables: &[(&str, &str)]) -> (Registry, &'static Block) {
        let variables = variables.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        let (registry, block) = (Registry::with_environment(variables), Block::new());
        registry.register_settings(block).expect("new names");
        (registry, block)
    }

    #[test]
    fn the_environment_sets_values_by_one_rule_of_names() {
        let (registry, block) = registry(&[
            ("FERRUM_P2P_EAGER_LIMIT", "64k"),
            ("FERRUM_WAIT_POLICY", "Spin"),
            ("FERRUM_SINGLE_COPY", "yes"),
            ("FERRUM_TOOL_PATH", "/a b"),
            ("FERRUM_PART", "0.25"),
            ("OTHER_PART", "7"),
        ]);
        assert_eq!((block.size.get(), block.policy.get(), block.on.get()), (65536, 0, true));
        assert_eq!((block.text.get().as_str(), block.part.get()), ("/a b", 0.25));
        assert!(registry.startup_errors().is_empty() && registry.unknown_environment().is_empty());
    }

    #[test]
    fn a_bad_value_is_a_sentence_and_changes_nothing() {
        let (registry, block) = registry(&[
            ("FERRUM_P2P_EAGER_LIMIT", "2M"),
            ("FERRUM_WAIT_POLICY", "1"),
            ("FERRUM_SINGLE_COPY", "maybe"),
            ("FERRUM_PART", "nan"),
        ]);
        assert_eq!((block.size.get(), block.policy.get(), block.on.get(), block.part.get()), (10, 2, false, 0.5));
        assert_eq!(
            registry.startup_errors(),
            [
                "FERRUM_P2P_EAGER_LIMIT is \"2M\", but p2p_eager_limit takes a whole number from 0 to 1048576 (bytes)",
                "FERRUM_WAIT_POLICY is \"1\", but wait_policy takes one of spin, sleep",
                "FERRUM_SINGLE_COPY is \"maybe\", but single_copy takes one of off, on",
                "FERRUM_PART is \"nan\", but part takes a number from 0 to 1",
            ]
        );
    }

    #[test]
    fn an_unknown_name_is_told_with_the_nearest_known_one() {
        let (registry, _) = registry(&[
            ("FERRUM_P2P_EAGER_LIMT", "1"),
            ("FERRUM_EAGER_LIMIT", "1"),
            ("FERRUM_RANK", "0"),
            ("FERRUM_COMPLETELY_ELSE", "0"),
            ("ferrum_wait_policy", "spin"),
            ("Ferrum_Tool_Path", "x"),
        ]);
        registry.reserve_environment(&["FERRUM_RANK"]);
        assert_eq!(
            registry.unknown_environment(),
            [
                "FERRUM_COMPLETELY_ELSE is set, but no such variable exists",
                "FERRUM_EAGER_LIMIT is set, but no such variable exists; did you mean FERRUM_P2P_EAGER_LIMIT?",
                "FERRUM_P2P_EAGER_LIMT is set, but no such variable exists; did you mean FERRUM_P2P_EAGER_LIMIT?",
                "Ferrum_Tool_Path is set, but no such variable exists; did you mean FERRUM_TOOL_PATH?",
                "ferrum_wait_policy is set, but no such variable exists; did you mean FERRUM_WAIT_POLICY?",
            ]
        );
    }

    #[test]
    fn numbers_take_suffixes_and_never_overflow() {
        for (text, value) in [
            ("0", 0),
            ("-5", -5),
            ("3k", 3072),
            ("1 M", 1 << 20),
            ("2G", 2 << 30),
            ("8KiB", 8192),
            ("8kB", 8192),
            ("1 MiB", 1 << 20),
        ] {
            assert_eq!(whole(text), Some(value), "{text}");
        }
        for text in ["", "k", "1e3", "0x10", "1kk", "8B", "8iB", "KiB", "é", "170141183460469231731687303715884105727G"]
        {
            assert_eq!(whole(text), None, "{text}");
        }
    }
}
