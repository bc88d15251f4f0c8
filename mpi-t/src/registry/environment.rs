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
            elsewhere.map(|given| (given.source, format!("{} is \"{}\", {rule}", self.subject(given), given.value)));
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
        let error = (given.source, format!("{} is \"{}\", but {why}", self.subject(given), given.value));
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
                _ => format!("{what} is set to \"{value}\", but no such variable exists so far{hint}"),
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

/// The name of an environment variable: `FERRUM_` and the control variable's name in capitals; `name` may begin with the
/// prefix already.
pub fn name_in_environment(name: &str) -> String {
    with_prefix(PREFIX, name)
}

fn with_prefix(prefix: &str, name: &str) -> String {
    let name = name.to_ascii_uppercase();
    if name.starts_with(prefix) { name } else { format!("{prefix}{name}") }
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

    crate::cvars! {
        /// Of a program with a prefix of its own.
        struct OwnPrefix {
            /// A size.
            size: u64 = 1 => { name: "shop_size" },
        }
    }

    #[test]
    fn a_program_has_a_prefix_of_its_own() {
        let variables = [("SHOP_SIZE", "3"), ("FERRUM_OTHER", "x"), ("SHOP_SIZES", "4")];
        let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let registry = Registry::of(Environment::new("shop_", SettingsFile::default(), variables));
        let settings = OwnPrefix::new();
        registry.register_settings(settings).expect("a new name");
        assert_eq!(settings.size.get(), 3);
        let unknown = "SHOP_SIZES is set, but no such variable exists so far; did you mean SHOP_SIZE?";
        assert_eq!(registry.unknown_environment(), [unknown]);
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
    fn options_win_over_the_environment_and_that_over_the_file() {
        let file =
            SettingsFile::parse("/f", b"p2p_eager_limit = 1\nwait_policy = spin\npart = 2\nFERRUM_TOOL_PATH = x\n");
        let registry = Registry::with_values(file, [("FERRUM_P2P_EAGER_LIMIT".to_owned(), "2".to_owned())]);
        registry.give_value("--cvar", "P2P_EAGER_LIMIT", "3");
        registry.give_value("--cvar", "single_copy", "3");
        let block = Block::new();
        registry.register_settings(block).expect("new names");
        assert_eq!((block.size.get(), block.policy.get(), block.text.get().as_str()), (3, 0, "x"));
        assert_eq!(
            registry.startup_errors(),
            [
                "--cvar single_copy is \"3\", but it takes one of off, on",
                "/f, line 3: part is \"2\", but it takes a number from 0 to 1",
            ]
        );
        let in_order = registry.startup_errors_with_source().into_iter().map(|(source, _)| source).collect::<Vec<_>>();
        assert_eq!(in_order, [Source::File(3), Source::Option { place: 1, name: "--cvar" }]);
    }

    #[test]
    fn unknown_names_outside_the_environment_have_their_place_and_variables_to_mean() {
        let registry = Registry::with_values(SettingsFile::parse("/f", b"eager = 1\nrank = 1\n"), []);
        registry.reserve_environment(&["FERRUM_RANK_OF_ALL"]);
        registry.give_value("--cvar", "pard", "2");
        registry.register_settings(Block::new()).expect("new names");
        let reported: Vec<_> =
            registry.unknown_names().into_iter().map(|u| (u.source, u.is_near_another, u.sentence)).collect();
        let so_far = "but no such variable exists so far";
        assert_eq!(
            reported,
            [
                (
                    Source::File(1),
                    true,
                    format!("/f, line 1: eager is set to \"1\", {so_far}; did you mean p2p_eager_limit?")
                ),
                (Source::File(2), false, format!("/f, line 2: rank is set to \"1\", {so_far}")),
                (
                    Source::Option { place: 0, name: "--cvar" },
                    true,
                    format!("--cvar pard is set to \"2\", {so_far}; did you mean part?")
                ),
            ]
        );
    }

    #[test]
    fn what_only_the_environment_can_set_is_refused_elsewhere() {
        let file = SettingsFile::parse("/f", b"other = x\neager_limit = 1\nferrum_settings = x\n");
        let registry = Registry::with_values(file, [("FERRUM_OTHER".to_owned(), "y".to_owned())]);
        registry.give_value("--cvar", "Settings", "s");
        registry.reserve_environment(&["FERRUM_SETTINGS", "FERRUM_MORE"]);
        registry.register_settings(Block::new()).expect("new names");
        let rule = "but no variable has this name; only the environment sets FERRUM_SETTINGS";
        let reported: Vec<_> =
            registry.startup_errors_with_source().into_iter().map(|(_, sentence)| sentence).collect();
        let due =
            [format!("/f, line 3: ferrum_settings is \"x\", {rule}"), format!("--cvar Settings is \"s\", {rule}")];
        assert_eq!(reported, due);
        let misspelt = registry.misspelt_in_file();
        assert!(matches!(&*misspelt, [(Source::File(2), text)] if text.ends_with("did you mean p2p_eager_limit?")));
    }

    #[test]
    fn a_value_set_by_a_launchers_option_is_reported_as_the_option() {
        let (registry, block) = registry(&[
            ("FERRUM_CVARS_READ", "part Single_Copy pard absent"),
            ("FERRUM_PART", "0.25"),
            ("FERRUM_SINGLE_COPY", "3"),
            ("FERRUM_PARD", "2"),
            ("FERRUM_POLICIES", "2"),
        ]);
        assert_eq!(block.part.get(), 0.25);
        assert_eq!(registry.startup_errors(), ["--cvar Single_Copy is \"3\", but it takes one of off, on"]);
        assert_eq!(
            registry.unknown_environment(),
            [
                "--cvar pard is set to \"2\", but no such variable exists so far; did you mean part?",
                "FERRUM_POLICIES is set, but no such variable exists so far",
            ]
        );
    }

    #[test]
    fn an_unknown_name_is_reported_with_the_nearest_known_one() {
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
                "FERRUM_COMPLETELY_ELSE is set, but no such variable exists so far",
                "FERRUM_EAGER_LIMIT is set, but no such variable exists so far; did you mean FERRUM_P2P_EAGER_LIMIT?",
                "FERRUM_P2P_EAGER_LIMT is set, but no such variable exists so far; did you mean FERRUM_P2P_EAGER_LIMIT?",
                "Ferrum_Tool_Path is set, but no such variable exists so far; did you mean FERRUM_TOOL_PATH?",
                "ferrum_wait_policy is set, but no such variable exists so far; did you mean FERRUM_WAIT_POLICY?",
            ]
        );
    }
}
