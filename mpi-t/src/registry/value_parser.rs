//! Values of control variables from text: numbers, names, switches.
//!
//! Whole numbers may end in k, M or G (1024, 1024², 1024³), also as kB or KiB and so on, in any case; a variable with
//! named values takes a name or a number; a switch takes on, off, yes, no, true, false, 1, 0.
//! Invariant: a value parsed from a text is one that the variable accepts.
//! Not here: where the texts come from (`environment`, `file`).

use crate::{CvarDef, Limits, SWITCH, Scope, Value, ValueType};

/// The value of a text for a variable, if the variable accepts it; one that is only read accepts none.
pub(super) fn parse(definition: &CvarDef, text: &str) -> Option<Value> {
    let text = text.trim();
    let value = match definition.value {
        ValueType::Text => Some(Value::Text(text.to_owned())),
        ValueType::F64 => text.parse().ok().map(Value::F64),
        ValueType::I32 => named(definition, text).or_else(|| i32::try_from(whole(text)?).ok()).map(Value::I32),
        ValueType::U32 => u32::try_from(whole(text)?).ok().map(Value::U32),
        ValueType::U64 => u64::try_from(whole(text)?).ok().map(Value::U64),
    };
    value.filter(|value| definition.scope != Scope::Readonly && definition.accepts(value))
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

/// A whole number, optionally with a suffix.
fn whole(text: &str) -> Option<i128> {
    let text = text.to_ascii_lowercase();
    // The units are bytes, so 8k, 8kB and 8KiB are the same.
    let bare = ["ib", "b"].iter().find_map(|end| text.strip_suffix(end).filter(|rest| rest.ends_with(['k', 'm', 'g'])));
    let text = bare.unwrap_or(&text);
    let (digits, unit) = match text.char_indices().next_back()? {
        (at, 'k') => (&text[..at], 1 << 10),
        (at, 'm') => (&text[..at], 1 << 20),
        (at, 'g') => (&text[..at], 1 << 30),
        _ => (text, 1i128),
    };
    digits.trim_end().parse::<i128>().ok()?.checked_mul(unit)
}

/// The values that a variable accepts, as text: `takes a whole number from 0 to 1048576 (bytes)`.
pub fn expectation(definition: &CvarDef) -> String {
    if definition.scope == Scope::Readonly {
        return "is only read".into();
    }
    let mut text = format!("takes {}", values(definition));
    if !definition.unit.is_empty() {
        text += &format!(" ({})", definition.unit);
    }
    text
}

/// The values that a variable accepts, without their unit.
pub(super) fn values(definition: &CvarDef) -> String {
    match (definition.states, definition.limits) {
        (Some(states), _) => {
            let names: Vec<_> = states.items.iter().map(|(_, name)| *name).collect();
            format!("one of {}", names.join(", "))
        }
        // No number is larger.
        (None, Limits::Whole(low, high)) if high >= u64::MAX.into() => format!("a whole number from {low} up"),
        (None, Limits::Whole(low, high)) => format!("a whole number from {low} to {high}"),
        (None, Limits::Real(f64::MIN, f64::MAX)) => "a number".to_owned(),
        (None, Limits::Real(low, high)) => format!("a number from {low} to {high}"),
        (None, Limits::Length(most)) => format!("a text of fewer than {most} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            ("8kib", 8192),
            ("8KB", 8192),
            ("2gIb", 2 << 30),
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
