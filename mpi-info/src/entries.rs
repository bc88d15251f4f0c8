//! The catalog as entries: filters, tables, JSON.
//!
//! Not here: the declarations, which are beside the fields that they describe.

use crate::missing::{self, Missing};
use clap::ValueEnum;
use mpi_core::json::Object;
use mpi_launch::CATALOG;
use mpi_launch::catalog::{CategoryRow, CvarRow, EventRow, Initial, PvarRow};
use mpi_t::{Bind, PvarClass, Scope, ValueType, Verbosity, expectation};

/// The kinds of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Control variables.
    Cvar,
    /// Performance variables.
    Pvar,
    /// Event types.
    Event,
    /// Categories.
    Category,
}

/// Readers of an entry, in the order of the standard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Level {
    /// Users, the most important
    UserBasic,
    /// Users, details
    UserDetail,
    /// Users, everything
    UserAll,
    /// Who tunes programs, the most important
    TunerBasic,
    /// Who tunes programs, details
    TunerDetail,
    /// Who tunes programs, everything
    TunerAll,
    /// Developers of the library, the most important
    DeveloperBasic,
    /// Developers of the library, details
    DeveloperDetail,
    /// Developers of the library, everything
    DeveloperAll,
}

impl Level {
    fn verbosity(self) -> Verbosity {
        match self {
            Level::UserBasic => Verbosity::UserBasic,
            Level::UserDetail => Verbosity::UserDetail,
            Level::UserAll => Verbosity::UserAll,
            Level::TunerBasic => Verbosity::TunerBasic,
            Level::TunerDetail => Verbosity::TunerDetail,
            Level::TunerAll => Verbosity::TunerAll,
            Level::DeveloperBasic => Verbosity::DeveloperBasic,
            Level::DeveloperDetail => Verbosity::DeveloperDetail,
            Level::DeveloperAll => Verbosity::DeveloperAll,
        }
    }

    /// The name as on the command line.
    fn name_of(verbosity: Verbosity) -> String {
        let level = Level::value_variants().iter().find(|level| level.verbosity() == verbosity);
        let value = level.and_then(|level| level.to_possible_value());
        value.map_or_else(String::new, |value| value.get_name().to_owned())
    }
}

/// Which entries are wanted; each part that is there has to hold.
#[derive(Debug, Default)]
pub struct Filter {
    /// All are in the entry.
    pub words: Vec<String>,
    /// The name.
    pub name: Option<String>,
    /// The category, or one above it.
    pub category: Option<String>,
    /// The class.
    pub class: Option<String>,
    /// The last reader.
    pub level: Option<Level>,
}

impl Filter {
    /// Whether all entries pass.
    pub fn is_empty(&self) -> bool {
        let Filter { words, name, category, class, level } = self;
        words.is_empty() && name.is_none() && category.is_none() && class.is_none() && level.is_none()
    }

    fn passes(&self, entry: &Entry) -> bool {
        let all = || {
            let facts: Vec<&str> = entry.facts.iter().map(|(_, value)| &**value).collect();
            format!("{} {} {} {}", entry.name, entry.category, facts.join(" "), entry.text).to_lowercase()
        };
        let is_in = |category: &String| {
            entry.category == *category
                || entry.category.strip_prefix(&**category).is_some_and(|rest| rest.starts_with('.'))
        };
        self.name.as_ref().is_none_or(|name| entry.name.eq_ignore_ascii_case(name))
            && self.category.as_ref().is_none_or(is_in)
            && self.class.as_ref().is_none_or(|class| entry.class.as_ref() == Some(class))
            && self.level.is_none_or(|level| entry.verbosity.is_none_or(|of| of <= level.verbosity()))
            && (self.words.is_empty() || self.words.iter().all(|word| all().contains(&word.to_lowercase())))
    }
}

/// One entry.
pub struct Entry {
    kind: Kind,
    name: String,
    category: String,
    class: Option<String>,
    verbosity: Option<Verbosity>,
    /// What a line of a short table has behind the name.
    brief: String,
    /// Names as in JSON, and values.
    facts: Vec<(&'static str, String)>,
    text: String,
}

/// The entries of these kinds that pass, by kind and name.
/// # Errors
/// None does; the sentence names what may be meant.
pub fn find(kinds: &[Kind], filter: &Filter) -> Result<Vec<Entry>, Missing> {
    let classes = PvarClass::ALL.map(class_name);
    if let Some(class) = filter.class.as_ref().filter(|class| !classes.contains(class)) {
        return Err(Missing::Wrong(format!("no class is named {class}; there are {}", classes.join(", "))));
    }
    let known = |category: &String| CATALOG.categories.iter().any(|row| row.name == category);
    if let Some(category) = filter.category.as_ref().filter(|category| !known(category)) {
        let names = CATALOG.categories.iter().map(|row| row.name);
        let hint = missing::hint(category, names, "mpi-info --categories lists them");
        return Err(Missing::Wrong(format!("no category is named {category}; {hint}")));
    }
    if let Some(name) = filter.name.as_ref().filter(|name| !missing::is_named(name)) {
        return Err(Missing::Wrong(format!("nothing is named {name}; {}", missing::name_hint(name))));
    }
    let mut found: Vec<Entry> = Vec::new();
    for kind in kinds {
        let mut of_kind = all_of(*kind);
        of_kind.retain(|entry| filter.passes(entry));
        of_kind.sort_by(|one, other| (&one.name, &one.class).cmp(&(&other.name, &other.class)));
        found.append(&mut of_kind);
    }
    if found.is_empty() {
        return Err(Missing::Nothing(nothing_passes(filter)));
    }
    Ok(found)
}

fn all_of(kind: Kind) -> Vec<Entry> {
    match kind {
        Kind::Cvar => CATALOG.cvars.iter().map(cvar).collect(),
        Kind::Pvar => CATALOG.pvars.iter().map(pvar).collect(),
        Kind::Event => CATALOG.events.iter().map(event).collect(),
        Kind::Category => CATALOG.categories.iter().map(category).collect(),
    }
}

/// The sentence for filters that leave nothing; it names a word that is in no entry.
fn nothing_passes(filter: &Filter) -> String {
    let Filter { words, name, category, class, level } = filter;
    let kinds = [Kind::Cvar, Kind::Pvar, Kind::Event, Kind::Category];
    let is_found = |word: &String| {
        let of_word = Filter { words: vec![word.clone()], ..Filter::default() };
        kinds.iter().any(|kind| all_of(*kind).iter().any(|entry| of_word.passes(entry)))
    };
    if let Some(word) = words.iter().find(|word| !is_found(word)) {
        return missing::no_word(word);
    }
    let options = [("name", name), ("category", category), ("class", class)];
    let given = options.iter().filter_map(|(option, value)| Some(format!("--{option} {}", value.as_ref()?)));
    let level = level.map(|level| format!("--verbosity {}", Level::name_of(level.verbosity())));
    let all: Vec<String> = words.iter().cloned().chain(given).chain(level).collect();
    format!("nothing passes all of: {}", all.join(", "))
}

/// What there is in each category at the top.
pub fn overview() -> String {
    let mut text = format!(
        "Catalog: {} control variables, {} performance variables, {} event types\n",
        CATALOG.cvars.len(),
        CATALOG.pvars.len(),
        CATALOG.events.len()
    );
    for row in CATALOG.categories.iter().filter(|row| !row.name.contains('.')) {
        let is_in = |category: &str| category.split('.').next() == Some(row.name);
        let cvars = CATALOG.cvars.iter().filter(|cvar| is_in(cvar.definition.category)).count();
        let pvars = CATALOG.pvars.iter().filter(|pvar| is_in(pvar.category)).count();
        let events = CATALOG.events.iter().filter(|event| is_in(event.category)).count();
        text += &format!(
            "  {:<12} {cvars:>3} control, {pvars:>3} performance, {events:>2} events  {}\n",
            row.name, row.description
        );
    }
    text + "\nmpi-info --all prints them, --cvars, --pvars, --events or --categories a part; words search.\n"
}

/// One line an entry.
pub fn short(entries: &[Entry]) -> String {
    let width = entries.iter().map(|entry| entry.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    let mut last = None;
    for entry in entries {
        heading(&mut text, &mut last, entry.kind);
        text += format!("  {:<width$}  {}", entry.name, entry.brief).trim_end();
        text.push('\n');
    }
    text
}

/// All that is there, with texts in lines of at most 92 characters.
pub fn long(entries: &[Entry]) -> String {
    let mut text = String::new();
    let mut last = None;
    for entry in entries {
        heading(&mut text, &mut last, entry.kind);
        text += format!("\n  {}  {}", entry.name, entry.brief).trim_end();
        text.push('\n');
        for (name, value) in entry.facts.iter().filter(|(name, _)| !IN_BRIEF.contains(name)) {
            wrap(&format!("{}: {value}", name.replace('_', " ")), &mut text);
        }
        wrap(&entry.text, &mut text);
    }
    text
}

/// Facts that are in the line of the name.
const IN_BRIEF: [&str; 4] = ["initial", "class", "unit", "source"];

fn heading(text: &mut String, last: &mut Option<Kind>, kind: Kind) {
    if *last != Some(kind) {
        *text += if last.is_some() { "\n" } else { "" };
        *last = Some(kind);
        *text += match kind {
            Kind::Cvar => "Control variables (set by --cvar NAME=VALUE, FERRUM_NAME, or a settings file)\n",
            Kind::Pvar => "Performance variables (read by MPI_T, mpitop, mpiexec --stats)\n",
            Kind::Event => "Event types\n",
            Kind::Category => "Categories\n",
        };
    }
}

/// Appends a text in lines; nothing for an empty one.
fn wrap(text: &str, lines: &mut String) {
    let mut line = String::from("     ");
    for word in text.split_whitespace() {
        if line.len() + word.len() >= 92 && !line.trim().is_empty() {
            *lines += &format!("{line}\n");
            line = String::from("     ");
        }
        line += &format!(" {word}");
    }
    if !line.trim().is_empty() {
        *lines += &format!("{line}\n");
    }
}

/// One object a line.
pub fn json(entries: &[Entry]) -> String {
    let object = |entry: &Entry| {
        let kind = match entry.kind {
            Kind::Cvar => "cvar",
            Kind::Pvar => "pvar",
            Kind::Event => "event",
            Kind::Category => "category",
        };
        let object = Object::new().text("source", "mpi-info").text("kind", kind).text("name", &entry.name);
        let object = entry.facts.iter().fold(object, |object, (name, value)| object.text(name, value));
        object.text("description", &entry.text).end() + "\n"
    };
    entries.iter().map(object).collect()
}

fn cvar(row: &CvarRow) -> Entry {
    let of = &row.definition;
    let initial = match row.initial {
        Initial::Bound => format!("each {}'s own", of.bind.object()),
        Initial::Chosen => "chosen when the job starts".to_owned(),
        Initial::I32(value) => {
            of.states.and_then(|states| states.name_of(value)).map_or_else(|| value.to_string(), str::to_owned)
        }
        Initial::U32(value) => value.to_string(),
        Initial::U64(value) => value.to_string(),
        Initial::F64(value) => value.to_string(),
        Initial::Text(text) => text.to_owned(),
    };
    let changes = match of.scope {
        Scope::AllEq | Scope::GroupEq => "at any time, alike in all processes",
        scope if scope.is_writable() => "at any time",
        _ => "before the start only",
    };
    let facts = vec![
        ("initial", initial.clone()),
        ("accepts", expectation(of).trim_start_matches("takes ").to_owned()),
        ("set", changes.to_owned()),
        ("category", of.category.to_owned()),
        ("verbosity", Level::name_of(of.verbosity)),
    ];
    entry(Kind::Cvar, of.name, of.category, of.verbosity, format!("= {initial}"), facts, of.description)
}

fn pvar(row: &PvarRow) -> Entry {
    let unit = if row.class == PvarClass::Timer { "seconds" } else { row.unit };
    let class = class_name(row.class);
    let mut facts = vec![("class", class.clone()), ("unit", unit.to_owned()), ("object", row.bind.object().to_owned())];
    if let Some(states) = row.states {
        facts.push(("values", states.items.iter().map(|(_, name)| *name).collect::<Vec<_>>().join(", ")));
    }
    facts.extend([("category", row.category.to_owned()), ("verbosity", Level::name_of(row.verbosity))]);
    let of = if row.bind == Bind::NoObject { String::new() } else { format!(", of each {}", row.bind.object()) };
    let brief = if unit.is_empty() { format!("{class}{of}") } else { format!("{class}, {unit}{of}") };
    let mut made = entry(Kind::Pvar, row.name, row.category, row.verbosity, brief, facts, row.description);
    made.class = Some(class);
    made
}

/// The class by the name of its constant, without the common prefix, as in the statistics.
fn class_name(class: PvarClass) -> String {
    class.name().trim_start_matches("MPI_T_PVAR_CLASS_").to_ascii_lowercase()
}

fn event(row: &EventRow) -> Entry {
    let element = |(name, value): &(&str, ValueType)| {
        let c_type = match value {
            ValueType::I32 => "int",
            ValueType::U32 => "unsigned",
            ValueType::U64 => "unsigned long long",
            ValueType::F64 => "double",
            ValueType::Text => "char",
        };
        format!("{name} ({c_type})")
    };
    let elements: Vec<String> = row.elements.iter().map(element).collect();
    let facts = vec![
        ("source", row.source.to_owned()),
        ("elements", elements.join(", ")),
        ("object", row.bind.object().to_owned()),
        ("category", row.category.to_owned()),
        ("verbosity", Level::name_of(row.verbosity)),
    ];
    // In JSON `source` is the program.
    let facts: Vec<_> =
        facts.into_iter().map(|(name, value)| (if name == "source" { "event_source" } else { name }, value)).collect();
    let brief = format!("from {}", row.source);
    entry(Kind::Event, row.name, row.category, row.verbosity, brief, facts, row.description)
}

fn category(row: &CategoryRow) -> Entry {
    let count = |number: usize| number.to_string();
    let cvars = CATALOG.cvars.iter().filter(|cvar| cvar.definition.category == row.name).count();
    let pvars = CATALOG.pvars.iter().filter(|pvar| pvar.category == row.name).count();
    let events = CATALOG.events.iter().filter(|event| event.category == row.name).count();
    let facts = vec![
        ("control_variables", count(cvars)),
        ("performance_variables", count(pvars)),
        ("event_types", count(events)),
    ];
    let mut made =
        entry(Kind::Category, row.name, row.name, Verbosity::UserBasic, String::new(), facts, row.description);
    made.verbosity = None;
    made
}

fn entry(
    kind: Kind,
    name: &str,
    category: &str,
    verbosity: Verbosity,
    brief: String,
    facts: Vec<(&'static str, String)>,
    text: &str,
) -> Entry {
    Entry {
        kind,
        name: name.to_owned(),
        category: category.to_owned(),
        class: None,
        verbosity: Some(verbosity),
        brief,
        facts,
        text: text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Kind; 4] = [Kind::Cvar, Kind::Pvar, Kind::Event, Kind::Category];

    fn names(kinds: &[Kind], filter: &Filter) -> Vec<String> {
        find(kinds, filter).map(|found| found.into_iter().map(|entry| entry.name).collect()).unwrap_or_default()
    }

    #[test]
    fn each_filter_leaves_what_it_says() {
        let all = names(&ALL, &Filter::default());
        assert_eq!(
            all.len(),
            CATALOG.cvars.len() + CATALOG.pvars.len() + CATALOG.events.len() + CATALOG.categories.len()
        );
        let of = |filter: Filter| names(&ALL, &filter);
        let p2p = of(Filter { category: Some("p2p".into()), ..Filter::default() });
        assert!(p2p.iter().any(|name| name == "p2p_eager_limit") && p2p.len() < all.len());
        assert!(p2p.iter().all(|name| !name.starts_with("coll_")), "{p2p:?}");
        let timers = find(&ALL, &Filter { class: Some("timer".into()), ..Filter::default() }).unwrap();
        assert!(timers.len() > 3 && timers.iter().all(|entry| entry.class.as_deref() == Some("timer")));
        let basic = of(Filter { level: Some(Level::UserBasic), ..Filter::default() });
        let tuner = of(Filter { level: Some(Level::TunerBasic), ..Filter::default() });
        assert!(basic.len() < tuner.len() && tuner.len() < all.len());
        assert_eq!(of(Filter { name: Some("P2P_EAGER_LIMIT".into()), ..Filter::default() }), ["p2p_eager_limit"]);
        let words = of(Filter { words: vec!["UNEXPECTED".into(), "queue".into()], ..Filter::default() });
        assert!(words.contains(&"MPI_T_UMQ_LENGTH".to_owned()), "{words:?}");
    }

    #[test]
    fn what_does_not_exist_is_an_error_with_a_hint() {
        let wrong = |filter: Filter| match find(&ALL, &filter) {
            Err(Missing::Wrong(sentence)) => sentence,
            _ => panic!("{filter:?}"),
        };
        let nothing = |filter: Filter| match find(&ALL, &filter) {
            Err(Missing::Nothing(sentence)) => sentence,
            _ => panic!("{filter:?}"),
        };
        assert!(wrong(Filter { class: Some("clock".into()), ..Filter::default() }).contains("counter"));
        let near = wrong(Filter { category: Some("p2p.unexpectd".into()), ..Filter::default() });
        assert!(near.contains("did you mean p2p.unexpected?"), "{near}");
        let named = |name: &str| wrong(Filter { name: Some(name.into()), ..Filter::default() });
        assert_eq!(named("p2p_eager_limt"), "nothing is named p2p_eager_limt; did you mean p2p_eager_limit?");
        assert_eq!(named("zzzzzzzz"), "nothing is named zzzzzzzz; mpi-info --all --short lists all names");
        let words = |words: &[&str]| Filter {
            words: words.iter().map(|word| (*word).to_owned()).collect(),
            ..Filter::default()
        };
        assert_eq!(nothing(words(&["barier"])), "nothing contains barier; did you mean barrier?");
        assert_eq!(nothing(words(&["barrier", "zzzzzzzz"])), "nothing contains zzzzzzzz");
        assert_eq!(nothing(words(&["alltoall", "win_puts"])), "nothing passes all of: alltoall, win_puts");
        let both = Filter { category: Some("coll".into()), class: Some("counter".into()), ..words(&["eager"]) };
        assert_eq!(nothing(both), "nothing passes all of: eager, --category coll, --class counter");
    }

    /// The names of the fields of an object whose values are texts.
    fn keys(line: &str) -> Vec<String> {
        let mut texts = Vec::new();
        let mut letters = line.chars();
        while letters.by_ref().any(|letter| letter == '"') {
            let mut text = String::new();
            while let Some(letter) = letters.next().filter(|letter| *letter != '"') {
                text.push(if letter == '\\' { letters.next().expect("a letter behind a backslash") } else { letter });
            }
            texts.push(text);
        }
        assert_eq!(texts.len() % 2, 0, "{line}");
        texts.into_iter().step_by(2).collect()
    }

    #[test]
    fn no_object_has_a_field_twice() {
        let library = crate::machine::json() + "\n";
        let text = library + &json(&find(&ALL, &Filter::default()).unwrap());
        for line in text.lines() {
            let mut keys = keys(line);
            assert!(keys.contains(&"kind".to_owned()), "{line}");
            keys.sort();
            let count = keys.len();
            keys.dedup();
            assert_eq!(keys.len(), count, "{line}");
        }
        assert!(text.lines().any(|line| line.contains("\"kind\":\"cvar\"") && line.contains("\"category\":")));
    }

    #[test]
    fn texts_are_narrow_and_json_has_a_line_for_each_entry() {
        let all = find(&ALL, &Filter::default()).unwrap();
        assert!(long(&all).lines().filter(|line| line.starts_with("      ")).all(|line| line.len() <= 92));
        assert_eq!(json(&all).lines().count(), all.len());
        assert_eq!(short(&all).lines().filter(|line| line.starts_with("  ")).count(), all.len());
    }
}
