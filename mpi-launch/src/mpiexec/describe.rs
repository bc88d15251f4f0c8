//! The texts of `--help-cvars`, `--help-pvars`, `--help-events` and `--help-categories`.
//!
//! Each lists the entries of the catalog that contain all words given, in any case, in name, category, class or text.
//! Not here: the variables (`catalog`).

use mpi_t::{Bind, PvarClass, Scope, ValueType, expectation};

use crate::args::Listing;
use crate::catalog::{CategoryRow, CvarRow, EventRow, Initial, PvarRow};
use crate::generated::CATALOG;

/// The longest line.
const WIDTH: usize = 92;
const INDENT: &str = "      ";

const CVARS: &str = "Control variables of the library, each with the value that it begins with, what it takes,\n\
                     and what it does. Set one by --cvar NAME=VALUE; else by FERRUM_NAME (in capitals) in the\n\
                     environment; else by a line NAME = VALUE in a settings file (--settings). Whole numbers may\n\
                     end in k, M or G (1024, 1024 k, 1024 M). Programs and tools set them by MPI_T_cvar_write,\n\
                     but for those that can be set before the start only.\n";
const PVARS: &str = "Performance variables of the library, each with its class, unit, object and category,\n\
                     and what it counts. Tools read them by MPI_T; --cvar stats_at_end=summary (or all)\n\
                     writes a table of their values when the job ends.\n";
const EVENTS: &str = "Event types of the library, each with its source, object, category and elements,\n\
                      and when it is raised. Tools receive them by MPI_T_event_register_callback.\n";
const CATEGORIES: &str = "Categories of the library, each with what is directly in it, and what that is about.\n";

/// One entry of a list.
struct Entry {
    name: String,
    /// The facts; each begins a line.
    facts: Vec<String>,
    text: String,
}

/// The entries of a list that contain all words. `None` if there are none.
pub(super) fn list(what: Listing, words: &[String]) -> Option<String> {
    let (head, mut entries): (&str, Vec<Entry>) = match what {
        Listing::Cvars => (CVARS, CATALOG.cvars.iter().map(cvar).collect()),
        Listing::Pvars => (PVARS, CATALOG.pvars.iter().map(pvar).collect()),
        Listing::Events => (EVENTS, CATALOG.events.iter().map(event).collect()),
        Listing::Categories => (CATEGORIES, CATALOG.categories.iter().map(category).collect()),
    };
    entries.retain(|entry| entry.contains(words));
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    if entries.is_empty() {
        return None;
    }
    let mut text = if words.is_empty() { head.to_owned() } else { String::new() };
    entries.iter().for_each(|entry| text += &entry.lines());
    Some(if words.is_empty() { text } else { text.trim_start_matches('\n').to_owned() })
}

impl Entry {
    fn contains(&self, words: &[String]) -> bool {
        let all = format!("{} {} {}", self.name, self.facts.join(" "), self.text).to_lowercase();
        words.iter().all(|word| all.contains(&word.to_lowercase()))
    }

    fn lines(&self) -> String {
        let mut lines = format!("\n  {}\n", self.name);
        self.facts.iter().chain([&self.text]).for_each(|text| wrap(text, &mut lines));
        lines
    }
}

/// Appends a text in lines of at most [`WIDTH`]; nothing for an empty text.
fn wrap(text: &str, lines: &mut String) {
    let mut line = INDENT.to_owned();
    for word in text.split_whitespace() {
        if line.len() + word.len() > WIDTH && line.len() > INDENT.len() {
            *lines += &format!("{}\n", line.trim_end());
            line = INDENT.to_owned();
        }
        line += &format!("{word} ");
    }
    if !line.trim().is_empty() {
        *lines += &format!("{}\n", line.trim_end());
    }
}

fn cvar(row: &CvarRow) -> Entry {
    let of = &row.definition;
    let named = |value| of.states.and_then(|states| states.name_of(value));
    let initial = match row.initial {
        Initial::Bound => format!("each {}'s own", of.bind.object()),
        Initial::Chosen => "chosen when the job starts".to_owned(),
        Initial::I32(value) => named(value).map_or_else(|| value.to_string(), str::to_owned),
        Initial::U32(value) => value.to_string(),
        Initial::U64(value) => value.to_string(),
        Initial::F64(value) => value.to_string(),
        Initial::Text("") => "empty".to_owned(),
        Initial::Text(text) => text.to_owned(),
    };
    let all = if matches!(of.scope, Scope::AllEq | Scope::GroupEq) { "; alike in all processes" } else { "" };
    let early = if of.scope.is_writable() { "" } else { "; set before the start only" };
    Entry {
        name: format!("{} = {initial}", of.name),
        facts: vec![format!("{}{all}{early}", expectation(of)), format!("category {}", of.category)],
        text: of.description.to_owned(),
    }
}

fn pvar(row: &PvarRow) -> Entry {
    let unit = match row.class {
        PvarClass::Timer => "seconds",
        _ => row.unit,
    };
    let unit = if unit.is_empty() { String::new() } else { format!(" of {unit}") };
    let mut facts = vec![format!("{}{unit}, {}; category {}", class(row.class), owner(row.bind), row.category)];
    if let Some(states) = row.states {
        let names: Vec<_> = states.items.iter().map(|(_, name)| *name).collect();
        facts.push(format!("one of: {}", names.join(", ")));
    }
    Entry { name: row.name.to_owned(), facts, text: row.description.to_owned() }
}

fn event(row: &EventRow) -> Entry {
    let elements: Vec<_> = row.elements.iter().map(|(name, value)| format!("{name} ({})", number(*value))).collect();
    let elements = if elements.is_empty() { "no elements".to_owned() } else { elements.join(", ") };
    let facts = vec![format!("from {}, {}; category {}", row.source, owner(row.bind), row.category), elements];
    Entry { name: row.name.to_owned(), facts, text: row.description.to_owned() }
}

fn category(row: &CategoryRow) -> Entry {
    let count = |number: usize, what: &str| (number > 0).then(|| mpi_errors::counted(number, what));
    let below = |name: &str| name.rsplit_once('.').is_some_and(|(above, _)| above == row.name);
    let counts = [
        count(CATALOG.cvars.iter().filter(|cvar| cvar.definition.category == row.name).count(), "control variable"),
        count(CATALOG.pvars.iter().filter(|pvar| pvar.category == row.name).count(), "performance variable"),
        count(CATALOG.events.iter().filter(|event| event.category == row.name).count(), "event type"),
        count(CATALOG.categories.iter().filter(|other| below(other.name)).count(), "category"),
    ];
    let counts: Vec<_> = counts.into_iter().flatten().collect();
    Entry { name: row.name.to_owned(), facts: vec![counts.join(", ")], text: row.description.to_owned() }
}

/// The name of a class.
fn class(class: PvarClass) -> &'static str {
    match class {
        PvarClass::State => "state",
        PvarClass::Level => "level",
        PvarClass::Size => "size",
        PvarClass::Percentage => "percentage",
        PvarClass::HighWatermark => "high-water mark",
        PvarClass::LowWatermark => "low-water mark",
        PvarClass::Counter => "counter",
        PvarClass::Aggregate => "aggregate",
        PvarClass::Timer => "timer",
        PvarClass::Generic => "generic",
    }
}

fn owner(bind: Bind) -> String {
    match bind {
        Bind::NoObject => "of the process".to_owned(),
        bind => format!("of a {}", bind.object()),
    }
}

/// The C type of an element.
fn number(value: ValueType) -> &'static str {
    match value {
        ValueType::I32 => "int",
        ValueType::U32 => "unsigned",
        ValueType::U64 => "unsigned long long",
        ValueType::F64 => "double",
        ValueType::Text => "char",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Listing; 4] = [Listing::Cvars, Listing::Pvars, Listing::Events, Listing::Categories];

    #[test]
    fn each_control_variable_has_its_first_value_what_it_takes_and_a_text() {
        let text = list(Listing::Cvars, &[]).expect("there are variables");
        for part in [
            "\n  p2p_eager_limit = 16384\n      takes a whole number from 0 to 1073741824 (bytes)\n      category p2p",
            "\n  coll_shape = auto\n      takes one of auto, flat, tree; alike in all processes\n",
            "\n  win_direct = on\n      takes one of off, on\n",
            "\n  coll_split_limit = 16384\n      takes a whole number from 0 up (bytes); alike in all processes\n",
            "\n  fabric_ring_bytes = chosen when the job starts\n",
            "\n  stats_at_end = off\n      takes one of off, summary, all; set before the start only\n",
            "\n  p2p_comm_eager_limit = each communicator's own\n",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }

    #[test]
    fn lines_are_narrow_and_entries_have_a_text() {
        for what in ALL {
            let text = list(what, &[]).expect("there are entries");
            assert!(text.lines().all(|line| line.len() <= WIDTH), "{text}");
            assert!(text.split("\n\n").skip(1).all(|entry| entry.lines().count() >= 2), "{text}");
        }
    }

    #[test]
    fn all_words_must_be_in_an_entry_in_any_case() {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let both = list(Listing::Pvars, &words(&["P2P", "unexpected"])).expect("there are some");
        assert!(both.contains("p2p.unexpected") && both.starts_with("  "), "{both}");
        let one = list(Listing::Pvars, &words(&["unexpected"])).expect("there are some");
        assert!(both.len() <= one.len() && one.len() < list(Listing::Pvars, &[]).expect("all").len());
        assert_eq!(list(Listing::Events, &words(&["p2p", "no such word"])), None);
    }
}
