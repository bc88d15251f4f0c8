//! The table: one row for each variable of each object, with its value in every rank.
//!
//! Invariant: whatever the memory of a rank contains, the table has one line for each variable.
//! Not here: where the table is written (`statistics`), what the library counts of its own (`finalize_share`).

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mpi_core::json::{self, Object};
use mpi_t::{Percentage, PvarClass};

use super::StateName;
use super::finalize_share::FINALIZE;
use crate::instruments::{self, VariableReading};
use crate::job::HostRanks;
use crate::{Job, Life, rank_list};

/// The number of the type `MPI_INT` in a reading.
const INT: u32 = 0;
/// The object whose variables are in the summary beside those of the process.
pub(super) const WORLD: &str = "MPI_COMM_WORLD";

/// One variable of one object in all ranks.
#[derive(Debug)]
pub struct Row {
    /// `None` for a number that is no class.
    class: Option<PvarClass>,
    unit: String,
    /// The word of each rank; `None` for a rank that has no such variable.
    words: Vec<Option<i128>>,
    /// The names of a state's words, where they have names.
    states: BTreeMap<i128, String>,
}

/// The performance variables of all ranks.
#[derive(Debug)]
pub struct Table {
    /// By object (none: the process), name and class.
    rows: BTreeMap<(String, String, i32), Row>,
    used: Vec<bool>,
    finalised: Vec<bool>,
    /// Ranks whose variables have not come, by host; a host without a name is not known.
    absent: Vec<HostRanks>,
    /// Whether it has counters and times of the processes and of `MPI_COMM_WORLD` alone.
    summary: bool,
}

impl Table {
    /// Reads them. `summary`: counters and times of the processes and of `MPI_COMM_WORLD` alone. What the library counted
    /// for itself in `MPI_Finalize` is not in the rows of the process.
    pub fn read(job: &Job, summary: bool, state_name: StateName<'_>) -> Table {
        let mut table = Table::of(job.ranks(), summary);
        (0..job.ranks()).for_each(|rank| table.add_rank(job, rank, rank, state_name));
        table.finish(Vec::new())
    }

    /// A table of so many ranks, without their variables.
    pub fn of(ranks: u32, summary: bool) -> Table {
        let none = vec![false; ranks as usize];
        Table { rows: BTreeMap::new(), used: none.clone(), finalised: none, absent: Vec::new(), summary }
    }

    /// Adds the variables of a rank, which a job memory has at a place. Panics if there is no such rank or place.
    #[cold]
    pub fn add_rank(&mut self, job: &Job, place: u32, rank: u32, state_name: StateName<'_>) {
        let (at, summary) = (rank as usize, self.summary);
        let mut shares = Vec::new();
        self.finalised[at] = job.life(place) == Life::Finalised;
        for block in instruments::read(job, place) {
            self.used[at] = true;
            if block.object == FINALIZE {
                shares.extend(block.variables);
            } else if !summary || block.object.is_empty() || block.object == WORLD {
                let wanted = block
                    .variables
                    .into_iter()
                    .filter(|variable| is_included(PvarClass::from_abi(variable.class), summary));
                wanted.for_each(|variable| self.add(at, &block.object, variable, state_name));
            }
        }
        shares.into_iter().for_each(|share| self.move_share(at, share, summary, state_name));
    }

    /// The table with the ranks of hosts whose variables have not come, and without the rows that are 0 everywhere.
    #[cold]
    pub fn finish(mut self, absent: Vec<HostRanks>) -> Table {
        self.rows.retain(|_, row| row.words.iter().any(|word| word.unwrap_or(0) != 0));
        self.absent = absent;
        self
    }

    /// The rows: object (empty: the process), name, and the values.
    pub fn rows(&self) -> impl Iterator<Item = (&str, &str, &Row)> {
        self.rows.iter().map(|((object, name, _), row)| (&**object, &**name, row))
    }

    /// Of each rank whether it has used MPI.
    pub fn used(&self) -> &[bool] {
        &self.used
    }

    /// Of each rank whether it has called `MPI_Finalize`.
    pub fn finalised(&self) -> &[bool] {
        &self.finalised
    }

    /// Moves what the library counted for itself from the row of the process to a row of its own.
    #[cold]
    fn move_share(&mut self, rank: usize, share: VariableReading, summary: bool, state_name: StateName<'_>) {
        let key = (String::new(), printable(&share.name), share.class);
        if let Some(word) = self.rows.get_mut(&key).and_then(|row| row.words[rank].as_mut()) {
            *word = (*word - i128::from(share.word)).max(0);
            if !summary {
                self.add(rank, FINALIZE, share, state_name);
            }
        }
    }

    #[cold]
    fn add(&mut self, rank: usize, object: &str, variable: VariableReading, state_name: StateName<'_>) {
        let VariableReading { name, unit, class, value_type, word, .. } = variable;
        // States, like other ints, may be negative.
        let word = if value_type == INT { i128::from(word as u32 as i32) } else { i128::from(word) };
        let ranks = self.used.len();
        let row = self.rows.entry((printable(object), printable(&name), class));
        let class = PvarClass::from_abi(class);
        let row = row.or_insert_with(|| Row {
            class,
            unit: printable(&unit),
            words: vec![None; ranks],
            states: BTreeMap::new(),
        });
        if class == Some(PvarClass::State)
            && let Some(state) = i32::try_from(word).ok().and_then(|value| state_name(&name, value))
        {
            row.states.insert(word, state.to_owned());
        }
        // Objects of one name are combined.
        row.words[rank] = Some(match row.words[rank] {
            Some(before) if adds_up(class) => before + word,
            Some(before) => before.max(word),
            None => word,
        });
    }

    /// The ranks that used MPI and did not call MPI_Finalize, and those that did not use it.
    fn missing(&self) -> (Vec<String>, Vec<String>) {
        let of = |wanted: &dyn Fn(usize) -> bool| {
            (0..self.used.len()).filter(|rank| wanted(*rank)).map(|rank| rank.to_string()).collect()
        };
        let is_absent = |rank: usize| self.absent.iter().any(|host| host.ranks.contains(&(rank as u32)));
        (of(&|rank| self.used[rank] && !self.finalised[rank]), of(&|rank| !self.used[rank] && !is_absent(rank)))
    }

    /// `name`: of a spawned job.
    pub(super) fn text(&self, name: Option<&str>) -> String {
        let job = name.map_or_else(String::new, |name| format!(" of spawned job {name}"));
        let count = self.used.iter().filter(|used| **used).count();
        if count == 0 {
            return format!("Ferrum MPI statistics{job}: no rank has used MPI\n");
        }
        let of = if count == 1 { "1 rank".to_owned() } else { format!("{count} ranks") };
        let mut text = format!("Ferrum MPI statistics of {of}{job}\n");
        let (unfinished, _) = self.missing();
        if !unfinished.is_empty() {
            let _ = writeln!(text, "  without MPI_Finalize, counted up to their end: rank {}", unfinished.join(", "));
        }
        for host in &self.absent {
            let of = if host.name.is_empty() { String::new() } else { format!(" of host {}", printable(&host.name)) };
            let ranks = rank_list::to_text(&host.ranks);
            let _ = writeln!(text, "  not in it, because nothing came from them in time: ranks {ranks}{of}");
        }
        let width = self.rows.keys().map(|(_, name, _)| name.len()).max().unwrap_or(0) + 2;
        let mut last = None;
        for ((object, name, _), row) in &self.rows {
            if last != Some(object) {
                last = Some(object);
                let title = if object.is_empty() { "process" } else { object };
                let _ = writeln!(
                    text,
                    "  {title:<width$} {:>15} {:<6} {:>15} {:>15} {:<6} {:>17}",
                    "least", "rank", "mean", "greatest", "rank", "sum"
                );
            }
            row.line(&mut text, name, width - 2);
        }
        if self.rows.is_empty() {
            text += "  the program has sent, received and called nothing that is counted\n";
        }
        text + "  Not in it: freed objects, arrays, high- and low-water marks (each tool has its own). Variables that \
                exist\n  only while a tool has a handle are absent, or count from when the handle was allocated.\n"
    }

    pub(super) fn json(&self, name: Option<&str>) -> String {
        let (unfinished, unused) = self.missing();
        let head = Object::new()
            .text("source", "statistics")
            .text("kind", "job")
            .number("ranks", self.used.len() as i64)
            .array("without_mpi", unused)
            .array("without_finalize", unfinished);
        let host = |host: &HostRanks| {
            let ranks = host.ranks.iter().map(u32::to_string);
            Object::new().text("host", &host.name).array("ranks", ranks)
        };
        let head = if self.absent.is_empty() { head } else { head.objects("absent", self.absent.iter().map(host)) };
        let in_job = |object: Object| match name {
            Some(name) => object.text("job", name),
            None => object,
        };
        let variables = self.rows.iter().map(|((object, name, _), row)| {
            let values = row.words.iter().map(|word| word.map_or_else(|| "null".into(), |word| row.json_value(word)));
            Object::new()
                .text("source", "statistics")
                .text("kind", "variable")
                .text("object", object)
                .text("variable", name)
                .text("class", &class_name(row.class))
                .text("unit", row.unit())
                .array("values", values)
        });
        std::iter::once(head).chain(variables).map(|object| in_job(object).end() + "\n").collect()
    }
}

impl Row {
    /// The class; `None` for a number that is no class.
    pub fn class(&self) -> Option<PvarClass> {
        self.class
    }

    /// The class by the name of its constant, without the common prefix.
    pub fn class_name(&self) -> String {
        class_name(self.class)
    }

    /// The word of each rank: the value; nanoseconds of a timer, parts of 2^32 of a percentage. `None` for a rank that has
    /// no such variable.
    pub fn words(&self) -> &[Option<i128>] {
        &self.words
    }

    fn line(&self, text: &mut String, name: &str, width: usize) {
        if self.class == Some(PvarClass::State) {
            let _ = writeln!(text, "    {name:<width$} {}", self.state_counts());
            return;
        }
        let values = || self.words.iter().enumerate().filter_map(|(rank, word)| Some(((*word)?, rank)));
        let (Some(least), Some(most)) =
            (values().min(), values().max_by_key(|(word, rank)| (*word, usize::MAX - rank)))
        else {
            return;
        };
        let sum: f64 = values().map(|(word, _)| word as f64).sum();
        // A value that neither adds up nor is a part of a whole has no meaningful mean.
        let mean = match self.class {
            Some(PvarClass::Percentage) => self.show(sum / values().count() as f64),
            class if adds_up(class) => self.show(sum / values().count() as f64),
            _ => "-".into(),
        };
        let sum = if adds_up(self.class) { self.show(sum) } else { "-".into() };
        let (low, high) = (self.show_word(least.0), self.show_word(most.0));
        let (low_rank, high_rank, unit) = (least.1, most.1, self.unit());
        let line =
            format!("    {name:<width$} {low:>15} {low_rank:<6} {mean:>15} {high:>15} {high_rank:<6} {sum:>17} {unit}");
        text.push_str(line.trim_end());
        text.push('\n');
    }

    /// The unit of the values; seconds for timers.
    pub fn unit(&self) -> &str {
        if self.class == Some(PvarClass::Timer) { "seconds" } else { &self.unit }
    }

    /// How many ranks are in each state.
    fn state_counts(&self) -> String {
        let mut counts: BTreeMap<i128, usize> = BTreeMap::new();
        self.words.iter().flatten().for_each(|word| *counts.entry(*word).or_default() += 1);
        let count = |(word, count): (&i128, &usize)| {
            let state = self.states.get(word).cloned().unwrap_or_else(|| word.to_string());
            format!("{state}: {count} {}", if *count == 1 { "rank" } else { "ranks" })
        };
        counts.iter().map(count).collect::<Vec<_>>().join(", ")
    }

    /// A word as a value of JSON: a number, or the name of a state.
    pub fn json_value(&self, word: i128) -> String {
        self.states.get(&word).map_or_else(|| self.show_word(word), |state| json::text(state))
    }

    /// A word as its value.
    fn show_word(&self, word: i128) -> String {
        match self.class {
            Some(PvarClass::Timer | PvarClass::Percentage) => self.show(word as f64),
            _ => word.to_string(),
        }
    }

    /// A mean or sum of words as its value.
    fn show(&self, words: f64) -> String {
        match self.class {
            Some(PvarClass::Timer) => format!("{:.9}", words / 1e9),
            Some(PvarClass::Percentage) => format!("{:.6}", words / Percentage::WHOLE as f64),
            _ if words.fract() == 0.0 => format!("{words:.0}"),
            _ => format!("{words:.1}"),
        }
    }
}

/// Watermarks are kept for tools that read them, and do not describe the whole run.
fn is_included(class: Option<PvarClass>, summary: bool) -> bool {
    class.is_some_and(PvarClass::is_sum) || !summary && !class.is_some_and(PvarClass::is_watermark)
}

fn adds_up(class: Option<PvarClass>) -> bool {
    class.is_some_and(|class| class.is_sum() || class == PvarClass::Level)
}

/// The class by the name of its constant, without the common prefix.
fn class_name(class: Option<PvarClass>) -> String {
    let name = class.map_or("unknown", PvarClass::name);
    name.trim_start_matches("MPI_T_PVAR_CLASS_").to_ascii_lowercase()
}

/// A text that stays in its line.
fn printable(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}
