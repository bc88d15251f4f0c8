//! The JSON output has the fields that `docs/mpiexec.md` lists, no more and no less.
//!
//! Jobs end in each possible way; all objects in their output are compared with the two tables of the section "JSON".

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::Report;
use crate::{Result, paths, process};

const LIMIT: Duration = Duration::from_secs(60);

/// Shell lines, as in `launch`; `$J` is `mpiexec` with JSON.
const RUNS: [&str; 28] = [
    "$J -n 2 sh -c 'exit 3'",
    "$J -n 2 $P/refused",
    "$J -n 2 $P/traffic die",
    "$J $P/ends abort",
    "$J -n 2 $P/ends leave",
    "$J --cvar error_verbosity=full $P/ends fatal",
    "$J $P/ends truncated",
    "$J sh -c 'kill -TERM $PPID; exec sleep 50'",
    "$J --timeout 3 -n 1 $P/ends wait : -n 1 true",
    "$J echo lost > /dev/full",
    "$J --nonsense",
    "$J --settings /nonexistent/settings true",
    "$J --cvar error_verbosity=full $P/cvars no_such_variable",
    "$J -x NOT_SET_ANYWHERE true",
    "$J --cvar nonsense=1 $P/size",
    "FERRUM_ERROR_FORMAT=json $P/abort",
    "FERRUM_SETTINGS=/nonexistent/settings FERRUM_ERROR_FORMAT=json $P/size",
    "FERRUM_P2P_EAGER_LIMIT=abc FERRUM_ERROR_FORMAT=json $P/cvars",
    "$J -n 1 $P/ends receive : -n 1 $P/ends abort",
    "$J -n 1 $P/ends receive : -n 1 $P/ends leave",
    "$J -n 1 $P/ends receive : -n 1 $P/ends fatal",
    "$J -n 1 $P/ends receive : -n 1 sh -c '$P/ends leave; exit 3'",
    "$J --hang-report=1 --timeout 6 -n 2 $P/ends stray",
    "$J -n 2 $P/apart part",
    "$J -n 2 $P/apart part-error",
    "$J $P/spawns abort",
    "FERRUM_ERROR_FORMAT=json $P/spawns lost",
    "$J -n 2 --cvar stats_at_end=all --cvar stats_format=json $P/traffic",
];

/// Kinds that no run here writes: the first needs a limited control group; the second a filter of system calls, and a
/// test of `mpi-launch` checks its fields; the others need several hosts.
const UNSEEN: [&str; 4] = ["out_of_memory", "wait_failed", "host_lost", "manager_lost"];

/// Fields that no run here writes: they need several hosts.
const UNSEEN_FIELDS: [&str; 3] = ["absent", "absent.host", "absent.ranks"];

/// The test that needs all runs.
const ALL_FIELDS: &str = "documented fields are written";

/// All runs; `folder` holds the compiled programs.
pub fn suite(dist: &Path, folder: &Path, report: &mut Report) -> Result<()> {
    let page = fs::read_to_string(paths::root().join("docs/mpiexec.md"))?;
    let section = page.split("\n## JSON\n").nth(1).unwrap_or_default().split("\n## ").next().unwrap_or_default();
    let documented = Documented::read(section);
    let json = format!("{} --error-format json", dist.join("bin/mpiexec").display());
    let mut seen = Seen::default();
    let all = report.selects(ALL_FIELDS);
    for line in RUNS {
        if !all && !report.selects(line) {
            continue;
        }
        let mut command = Command::new("sh");
        command.args(["-c", line]).env("J", &json).env("P", folder);
        let outcome = process::run(&mut command, LIMIT)?;
        let lines = || outcome.stdout.lines().chain(outcome.stderr.lines()).filter(|line| line.starts_with('{'));
        let wrong: Vec<String> = lines().filter_map(|line| seen.take(&documented, line).err()).collect();
        let good = !outcome.timed_out && lines().count() > 0 && wrong.is_empty();
        report.check(line, good, || format!("{}: {}", wrong.join("; "), outcome.report()));
    }
    let missing = documented.without(&seen);
    report.check(ALL_FIELDS, missing.is_empty(), || missing.join("; "));
    Ok(())
}

/// A kind of object, as source and kind.
type Kind = (String, String);

/// The tables of the section.
struct Documented {
    /// The fields of each kind, and whether each is always there.
    kinds: BTreeMap<Kind, BTreeMap<String, bool>>,
    /// The fields explained.
    fields: BTreeSet<String>,
}

impl Documented {
    fn read(section: &str) -> Documented {
        let mut documented = Documented { kinds: BTreeMap::new(), fields: BTreeSet::new() };
        let word = |text: &str| text.trim().trim_matches('`').to_owned();
        for row in section.lines().filter(|line| line.starts_with("| `")) {
            let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
            match cells[..] {
                [source, kinds, _, fields] => {
                    let field = |text: &str| (word(text.trim_end_matches([' ', '?'])), !text.trim().ends_with('?'));
                    let all: BTreeMap<String, bool> = fields.split(',').map(field).collect();
                    for kind in kinds.split(',') {
                        documented.kinds.insert((word(source), word(kind)), all.clone());
                    }
                }
                _ => documented.fields.extend(cells[0].split(',').map(word)),
            }
        }
        documented
    }

    /// Documented fields that were never found; fields that are used and not explained, or the other way round.
    fn without(&self, seen: &Seen) -> Vec<String> {
        let mut missing = Vec::new();
        for (kind, fields) in self.kinds.iter().filter(|(kind, _)| !UNSEEN.contains(&&*kind.1)) {
            match seen.0.get(kind) {
                None => missing.push(format!("{kind:?} never comes")),
                Some(found) => {
                    let is_here = |field: &&String| !UNSEEN_FIELDS.contains(&field.as_str());
                    let never = fields.keys().filter(is_here).filter(|field| !found.contains(*field));
                    missing.extend(never.map(|field| format!("{field} of {kind:?} never comes")));
                }
            }
        }
        let used: BTreeSet<String> = self.kinds.values().flat_map(|fields| fields.keys().cloned()).collect();
        missing
            .extend(used.symmetric_difference(&self.fields).map(|field| format!("{field} stands in one table only")));
        missing
    }
}

/// The fields found, by kind.
#[derive(Default)]
struct Seen(BTreeMap<Kind, BTreeSet<String>>);

impl Seen {
    /// Reads one line. Errors: a sentence.
    fn take(&mut self, documented: &Documented, line: &str) -> std::result::Result<(), String> {
        let mut found = BTreeSet::new();
        let mut reader = Reader { rest: line, found: &mut found };
        reader.value("").filter(|()| reader.rest.is_empty()).ok_or_else(|| format!("no JSON: {line}"))?;
        let head = line.strip_prefix("{\"source\":\"").and_then(|rest| rest.split_once("\",\"kind\":\""));
        let (source, rest) = head.ok_or_else(|| format!("does not begin with source and kind: {line}"))?;
        let kind = (source.to_owned(), rest.split('"').next().unwrap_or_default().to_owned());
        // Every object begins with these; and the names of arguments are the calls' own.
        // Those of a spawned job end with its name.
        found.retain(|field| !["source", "kind", "job"].contains(&&**field) && !field.starts_with("arguments."));
        let fields = documented.kinds.get(&kind).ok_or_else(|| format!("{kind:?} is not documented"))?;
        if let Some(field) = found.iter().find(|field| !fields.contains_key(*field)) {
            return Err(format!("{field} of {kind:?} is not documented"));
        }
        if let Some((field, _)) = fields.iter().find(|(field, always)| **always && !found.contains(*field)) {
            return Err(format!("{kind:?} without {field}: {line}"));
        }
        self.0.entry(kind).or_default().extend(found);
        Ok(())
    }
}

/// Reads JSON, and records the names of all fields; those of an object inside another after its name and a dot.
struct Reader<'a, 'b> {
    rest: &'a str,
    found: &'b mut BTreeSet<String>,
}

impl Reader<'_, '_> {
    /// One value; `None` where there is none.
    fn value(&mut self, path: &str) -> Option<()> {
        match self.rest.chars().next()? {
            '{' => self.list('}', |reader| {
                let name = format!("{path}{}", reader.string()?);
                reader.expect(':')?;
                reader.value(&format!("{name}."))?;
                reader.found.insert(name);
                Some(())
            }),
            '[' => self.list(']', |reader| reader.value(path)),
            '"' => self.string().map(|_| ()),
            _ => {
                let end = self.rest.find([',', '}', ']']).unwrap_or(self.rest.len());
                let (word, rest) = self.rest.split_at(end);
                self.rest = rest;
                (["null", "true", "false"].contains(&word) || word.parse::<f64>().is_ok()).then_some(())
            }
        }
    }

    /// Items with commas between, from the bracket that opens them to the one that closes.
    fn list(&mut self, close: char, mut item: impl FnMut(&mut Self) -> Option<()>) -> Option<()> {
        self.rest = &self.rest[1..];
        if self.expect(close).is_some() {
            return Some(());
        }
        loop {
            item(self)?;
            if self.expect(',').is_none() {
                return self.expect(close);
            }
        }
    }

    fn string(&mut self) -> Option<String> {
        let text = self.rest.strip_prefix('"')?;
        let mut escaped = false;
        let end = text.find(|letter| {
            let ends = letter == '"' && !escaped;
            escaped = letter == '\\' && !escaped;
            ends
        })?;
        self.rest = &text[end + 1..];
        Some(text[..end].to_owned())
    }

    fn expect(&mut self, letter: char) -> Option<()> {
        self.rest = self.rest.strip_prefix(letter)?;
        Some(())
    }
}
