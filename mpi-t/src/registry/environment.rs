//! Values of control variables from a file, the environment, and options of a launcher, and their diagnosis. The later
//! of these sources wins.
//!
//! In the environment a variable's name is the registry's prefix (`FERRUM_` by default) and its name in capitals;
//! elsewhere it is its name.
//! Invariant: each value from outside becomes an accepted value, or a sentence for the user that names the place of the
//! value.
//! Not here: setting the cells (`cvars`), texts of values (`value_parser`), the file's lines (`file`), suggestions for
//! misspelt names (`nearest`).

use std::collections::BTreeMap;

use super::Registry;
use super::file::SettingsFile;
use super::nearest::nearest;
use super::value_parser::{expectation, parse};
use crate::{CvarDef, TError, Value};

/// The prefix of the environment variables, unless a program has its own ([`Registry::with_prefix`]).
pub const PREFIX: &str = "FERRUM_";
/// The environment variable in which a launcher lists the others that it has set because of its option [`CVAR_OPTION`]:
/// the names as the user wrote them, divided by blanks.
pub const CVARS_READ: &str = "FERRUM_CVARS_READ";
/// The launcher's option that gives one control variable its value.
pub const CVAR_OPTION: &str = "--cvar";

/// The place of a control variable's value. The order is that in which mistakes are reported: line by line, word by
/// word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The settings file, at this line; 0: the file as such.
    File(usize),
    /// The environment.
    Environment,
    /// An option.
    Option {
        /// The number of options before it.
        place: usize,
        /// The option's name.
        name: &'static str,
    },
}

/// A name from outside that no variable has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownName {
    /// The name, as written.
    pub name: String,
    /// Its place.
    pub source: Source,
    /// The sentence for the user, with the nearest name that a variable has.
    pub sentence: String,
    /// Whether the name of a variable is so similar that the user probably meant that one.
    pub is_near_another: bool,
}

/// All values from outside.
#[derive(Debug, Default)]
pub(super) struct Environment {
    /// The prefix of the environment variables, in capitals.
    prefix: String,
    path: String,
    /// By the name in the environment; an earlier source wins.
    sources: [BTreeMap<String, Given>; 3],
    /// Names that other parts read, as in the environment.
    known: Vec<String>,
    /// Names of variables.
    variables: Vec<&'static str>,
    /// Mistakes with their places.
    errors: Vec<(Source, String)>,
    /// The number of options.
    options: usize,
}

#[derive(Debug)]
struct Given {
    source: Source,
    /// As the user wrote it.
    name: String,
    value: String,
}

/// Places in `sources`.
const OPTIONS: usize = 0;
const ENVIRONMENT: usize = 1;
const FILE: usize = 2;

impl Environment {
    pub(super) fn new(
        prefix: &str,
        file: SettingsFile,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Environment {
        let errors = file.faults.into_iter().map(|(line, fault)| (Source::File(line), fault)).collect();
        let prefix = prefix.to_ascii_uppercase();
        let mut environment = Environment { prefix, path: file.path, errors, ..Environment::default() };
        for (name, value) in variables {
            if !environment.has_prefix(&name) {
                continue;
            }
            let given = Given { source: Source::Environment, name: name.clone(), value };
            environment.sources[ENVIRONMENT].insert(name, given);
        }
        environment.name_options();
        for line in file.lines {
            let key = environment.key(&line.name);
            let given = Given { source: Source::File(line.number), name: line.name, value: line.value };
            environment.sources[FILE].insert(key, given);
        }
        environment
    }

    /// Whether the name of an environment variable has the prefix, perhaps in the wrong case.
    fn has_prefix(&self, name: &str) -> bool {
        name.get(..self.prefix.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(&self.prefix))
    }

    /// The name of a control variable in the environment.
    fn key(&self, name: &str) -> String {
        with_prefix(&self.prefix, name)
    }

    /// Marks the values that a launcher set because of its option, so that reports name the option.
    fn name_options(&mut self) {
        let variables = &mut self.sources[ENVIRONMENT];
        let names = variables.remove(CVARS_READ).map_or_else(String::new, |given| given.value);
        for (place, name) in names.split_ascii_whitespace().enumerate() {
            if let Some(given) = variables.get_mut(&with_prefix(&self.prefix, name)) {
                given.source = Source::Option { place, name: CVAR_OPTION };
                given.name = name.to_owned();
            }
        }
    }

    /// The value from outside for a variable, if there is an acceptable one.
    pub(super) fn value_for(&mut self, definition: &CvarDef) -> Option<Value> {
        let given = self.given(definition);
        let value = given.and_then(|given| parse(definition, &given.value));
        if given.is_some() && value.is_none() {
            self.refuse(definition);
        }
        self.known.push(self.key(definition.name));
        self.variables.push(definition.name);
        value
    }

    /// Records that a variable's value is not accepted.
    fn refuse(&mut self, definition: &CvarDef) {
        let called = self.called(definition);
        self.report(definition, &format!("{called} {}", expectation(definition)));
    }

    /// Records that a variable's owner refuses its value, though it is in the declared range.
    pub(super) fn refused_by_owner(&mut self, definition: &CvarDef, error: TError) {
        let called = self.called(definition);
        self.report(definition, &format!("{called} refuses that: {error}"));
    }

    /// Records a name that is valid only in the environment: set anywhere else it would have no effect.
    fn reserve(&mut self, name: &str) {
        let given = self.sources.iter().filter_map(|source| source.get(name));
        let rule = format!("but no variable has this name; only the environment sets {name}");
        let elsewhere = given.filter(|given| given.source != Source::Environment);
        let reported =
            elsewhere.map(|given| (given.source, format!("{} is {:?}, {rule}", self.subject(given), given.value)));
        self.errors.extend(reported.collect::<Vec<_>>());
        self.known.push(name.to_owned());
    }

    /// The source of a variable's value.
    fn given(&self, definition: &CvarDef) -> Option<&Given> {
        let name = self.key(definition.name);
        self.sources.iter().find_map(|source| source.get(&name))
    }

    /// The variable in a sentence that has named it already, or has its name in the environment.
    fn called(&self, definition: &CvarDef) -> &'static str {
        let by_name = self.given(definition).is_none_or(|given| given.source == Source::Environment);
        if by_name { definition.name } else { "it" }
    }

    fn report(&mut self, definition: &CvarDef, why: &str) {
        let Some(given) = self.given(definition) else { return };
        let error = (given.source, format!("{} is {:?}, but {why}", self.subject(given), given.value));
        self.errors.push(error);
    }

    /// The beginning of a sentence about a value.
    fn subject(&self, given: &Given) -> String {
        match given.source {
            Source::File(line) => format!("{}, line {line}: {}", self.path, given.name),
            Source::Environment => given.name.clone(),
            Source::Option { name, .. } => format!("{name} {}", given.name),
        }
    }

    fn unknown(&self) -> impl Iterator<Item = UnknownName> {
        let given = self.sources.iter().rev().flatten();
        given.filter(|(key, _)| !self.known.iter().any(|known| known == *key)).map(|(key, given)| {
            let near = match given.source {
                Source::Environment => {
                    nearest(&self.prefix, key, self.known.iter().map(String::as_str)).map(str::to_owned)
                }
                _ => nearest(&self.prefix, key, self.variables.iter().copied()).map(str::to_owned),
            };
            let hint = near.as_ref().map_or_else(String::new, |near| format!("; did you mean {near}?"));
            let (what, value) = (self.subject(given), &given.value);
            let sentence = match given.source {
                Source::Environment => format!("{what} is set, but no such variable exists so far{hint}"),
                _ => format!("{what} is set to {value:?}, but no such variable exists so far{hint}"),
            };
            UnknownName { name: given.name.clone(), source: given.source, sentence, is_near_another: near.is_some() }
        })
    }
}

impl Registry {
    /// Sets a value of a launcher's option for a variable; it wins over environment and file. To be called before the
    /// variable is registered; the last of several for one name counts.
    pub fn give_value(&self, option: &'static str, name: &str, value: &str) {
        let environment = &mut self.lock_state().environment;
        let source = Source::Option { place: environment.options, name: option };
        let given = Given { source, name: name.to_owned(), value: value.to_owned() };
        let key = environment.key(name);
        environment.sources[OPTIONS].insert(key, given);
        environment.options += 1;
    }

    /// Sentences on mistakes in the settings file, and on values from outside that were not accepted: the file's own
    /// first, then in the order of registration.
    pub fn startup_errors(&self) -> Vec<String> {
        self.lock_state().environment.errors.iter().map(|(_, sentence)| sentence.clone()).collect()
    }

    /// [`Registry::startup_errors`], each with the place of the value, in the order of these places.
    pub fn startup_errors_with_source(&self) -> Vec<(Source, String)> {
        let mut errors = self.lock_state().environment.errors.clone();
        errors.sort_by_key(|(source, _)| *source);
        errors
    }

    /// Names that other parts of the library read from the environment: they are no mistakes there, and are mistakes
    /// elsewhere ([`Registry::startup_errors`]). To be called after [`Registry::give_value`].
    pub fn reserve_environment(&self, names: &[&str]) {
        let environment = &mut self.lock_state().environment;
        names.iter().for_each(|name| environment.reserve(name));
    }

    /// The file's names that are nearly a variable's, to be reported beside its other mistakes, with their sentences.
    /// Call it when everything is registered.
    pub fn misspelt_in_file(&self) -> Vec<(Source, String)> {
        let unknown = self.unknown_names().into_iter();
        let misspelt = unknown.filter(|name| name.is_near_another && matches!(name.source, Source::File(_)));
        misspelt.map(|name| (name.source, name.sentence)).collect()
    }

    /// Names of the file, of the environment (those with the prefix) and of options that no part reads.
    /// Call it when everything is registered; variables that are added later still get their values.
    pub fn unknown_names(&self) -> Vec<UnknownName> {
        self.lock_state().environment.unknown().collect()
    }

    /// The sentences of [`Registry::unknown_names`].
    pub fn unknown_environment(&self) -> Vec<String> {
        self.lock_state().environment.unknown().map(|unknown| unknown.sentence).collect()
    }
}

/// The name of an environment variable: `FERRUM_` and the control variable's name in capitals; `name` may begin with
/// the prefix already.
pub fn name_in_environment(name: &str) -> String {
    with_prefix(PREFIX, name)
}

fn with_prefix(prefix: &str, name: &str) -> String {
    let name = name.to_ascii_uppercase();
    if name.starts_with(prefix) { name } else { format!("{prefix}{name}") }
}

#[cfg(test)]
mod tests;
