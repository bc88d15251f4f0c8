//! What is written when there is no such entry: the wrong word, and what may be meant.
//!
//! Not here: the entries and their filters (`entries`).

use mpi_launch::CATALOG;

/// Why there are no entries.
#[derive(Debug, PartialEq, Eq)]
pub enum Missing {
    /// A value of the command line is none of those that exist: a sentence.
    Wrong(String),
    /// Nothing passes: a sentence.
    Nothing(String),
}

/// The names of all entries.
fn names() -> impl Iterator<Item = &'static str> {
    let cvars = CATALOG.cvars.iter().map(|row| row.definition.name);
    let categories = CATALOG.categories.iter().map(|row| row.name);
    cvars
        .chain(CATALOG.pvars.iter().map(|row| row.name))
        .chain(CATALOG.events.iter().map(|row| row.name))
        .chain(categories)
}

/// Whether an entry has this name, in any case.
pub fn is_named(name: &str) -> bool {
    names().any(|known| known.eq_ignore_ascii_case(name))
}

/// What may be meant by a word that is none of these; `lists`: the command that lists them.
pub fn hint<'a>(word: &str, names: impl Iterator<Item = &'a str>, lists: &str) -> String {
    let near = mpi_core::text::nearest(word, names, str::to_ascii_lowercase);
    near.map_or_else(|| lists.into(), |near| format!("did you mean {near}?"))
}

/// What may be meant by a name that is none.
pub fn name_hint(name: &str) -> String {
    hint(name, names(), "mpi-info --all --short lists all names")
}

/// The sentence for a word that is in no entry.
pub fn no_word(word: &str) -> String {
    let parts = names().flat_map(|name| name.split(['_', '.']).chain([name]));
    let near = mpi_core::text::nearest(word, parts, str::to_ascii_lowercase);
    let hint = near.map_or_else(String::new, |near| format!("; did you mean {near}?"));
    format!("nothing contains {word}{hint}")
}
