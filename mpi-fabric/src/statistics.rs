//! A table of all ranks' performance variables when a job ends, read from the job memory: so it has those of ranks that
//! died.
//!
//! `mpiexec` writes it; where the launcher is another's, or there is none, rank 0 does in `MPI_Finalize`.
//! Invariant: what a rank wrote is input: whatever stands in the memory, the table has one line for each variable.
//! Not here: the variables and their memory (mpi-fabric, mpi-t).

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;

use crate::instruments::{self, VariableReading};
use crate::{Job, Life};
use mpi_core::json::Object;
use mpi_t::Verbosity::UserBasic;
use mpi_t::{EnumDef, Percentage, PvarClass, Text};

const EXTENTS: EnumDef = EnumDef { name: "stats_at_end", items: &[(0, "off"), (1, "summary"), (2, "all")] };
const FORMATS: EnumDef = EnumDef { name: "stats_format", items: &[(0, "text"), (1, "json")] };

mpi_t::cvars! {
    /// What is written about the job at its end.
    pub struct StatisticsSettings, verbosity: UserDetail {
        /// Whether a table of the ranks' performance variables is written when the job ends: one line for each variable
        /// that is not 0 everywhere, with the least, the mean and the greatest value, their ranks and the sum. Summary:
        /// what the processes and MPI_COMM_WORLD have counted and timed; all: also levels, sizes and states, and all
        /// objects that were not freed, communicators by their names. Variables that plug-ins added are in it;
        /// arrays and watermarks are not. mpiexec writes it, ranks that died included; under another launcher, or none, rank 0
        /// does in MPI_Finalize. To be given by file, environment or option, for the whole job.
        pub at_end: i32 = 0 => {
            name: "stats_at_end", unit: "", category: "stats", scope: Constant, states: &EXTENTS,
            verbosity: UserBasic },
        /// The file that the table is written to; if empty, the standard error output. As stats_at_end, for the whole
        /// job.
        pub file: Text = "" => { name: "stats_file", unit: "", category: "stats", scope: Constant },
        /// The form of the table: text, or JSON, one object a line with the values of all ranks (null: it has not used
        /// MPI). As stats_at_end, for the whole job.
        pub format: i32 = 0 => { name: "stats_format", unit: "", category: "stats", scope: Constant, states: &FORMATS },
    }
}

const SUMMARY: i32 = 1;
/// What a reading calls the type `MPI_INT`.
const INT: u32 = 0;
/// The object whose variables are in the summary beside those of the process.
const WORLD: &str = "MPI_COMM_WORLD";

impl StatisticsSettings {
    /// Writes the table if it is asked for.
    /// # Errors
    /// A sentence: the file cannot be written; then the table is on standard error.
    pub fn write(&self, job: &Job) -> Result<(), String> {
        if self.at_end.get() == 0 {
            return Ok(());
        }
        let table = Table::read(job, self.at_end.get() == SUMMARY);
        let text = if self.format.get() == 1 { table.json() } else { table.text() };
        let file = self.file.get();
        let failure = if file.is_empty() { None } else { std::fs::write(&file, &text).err() };
        if file.is_empty() || failure.is_some() {
            // Nobody to tell if standard error is closed.
            let _ = std::io::stderr().lock().write_all(text.as_bytes());
        }
        failure.map_or(Ok(()), |error| {
            Err(format!("stats_file is \"{file}\", but cannot be written: {error}; the table is on standard error"))
        })
    }
}

/// What one variable of one object is in all ranks.
struct Row {
    /// `None`: none that there is.
    class: Option<PvarClass>,
    unit: String,
    /// The word of each rank; none of a rank that has no such variable.
    words: Vec<Option<i128>>,
}

struct Table {
    /// By object (none: the process), name and class.
    rows: BTreeMap<(String, String, i32), Row>,
    used: Vec<bool>,
    finalised: Vec<bool>,
}

impl Table {
    fn read(job: &Job, summary: bool) -> Table {
        let ranks = job.ranks() as usize;
        let mut table = Table { rows: BTreeMap::new(), used: vec![false; ranks], finalised: vec![false; ranks] };
        for rank in 0..job.ranks() {
            let at = rank as usize;
            table.finalised[at] = job.life(rank) == Life::Finalised;
            for block in instruments::read(job, rank) {
                table.used[at] = true;
                if !summary || block.object.is_empty() || block.object == WORLD {
                    let wanted = block
                        .variables
                        .into_iter()
                        .filter(|variable| is_wanted(PvarClass::from_abi(variable.class), summary));
                    wanted.for_each(|variable| table.add(at, &block.object, variable));
                }
            }
        }
        table.rows.retain(|_, row| row.words.iter().any(|word| word.unwrap_or(0) != 0));
        table
    }

    fn add(&mut self, rank: usize, object: &str, variable: VariableReading) {
        let VariableReading { name, unit, class, value_type, word, .. } = variable;
        // States, and what else is an int, may be negative.
        let word = if value_type == INT { i128::from(word as u32 as i32) } else { i128::from(word) };
        let ranks = self.used.len();
        let row = self.rows.entry((printable(object), printable(&name), class));
        let class = PvarClass::from_abi(class);
        let row = row.or_insert_with(|| Row { class, unit: printable(&unit), words: vec![None; ranks] });
        // Objects of one name are taken together.
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
        (of(&|rank| self.used[rank] && !self.finalised[rank]), of(&|rank| !self.used[rank]))
    }

    fn text(&self) -> String {
        let count = self.used.iter().filter(|used| **used).count();
        if count == 0 {
            return "Ferrum MPI statistics: no rank has used MPI\n".into();
        }
        let of = if count == 1 { "1 rank".to_owned() } else { format!("{count} ranks") };
        let mut text = format!("Ferrum MPI statistics of {of}\n");
        let (unfinished, _) = self.missing();
        if !unfinished.is_empty() {
            let _ = writeln!(text, "  without MPI_Finalize, counted up to their end: rank {}", unfinished.join(", "));
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
        text + "  Not in it: freed objects, arrays, high- and low-water marks (each tool has its own). What is kept only while a tool\n  \
                asks for it is missing, or told from then on.\n"
    }

    fn json(&self) -> String {
        let (unfinished, unused) = self.missing();
        let head = Object::new()
            .text("source", "statistics")
            .text("kind", "job")
            .number("ranks", self.used.len() as i64)
            .array("without_mpi", unused)
            .array("without_finalize", unfinished);
        let variables = self.rows.iter().map(|((object, name, _), row)| {
            let values = row.words.iter().map(|word| word.map_or_else(|| "null".into(), |word| row.show_word(word)));
            Object::new()
                .text("source", "statistics")
                .text("kind", "variable")
                .text("object", object)
                .text("variable", name)
                .text("class", &class_name(row.class))
                .text("unit", row.unit())
                .array("values", values)
        });
        std::iter::once(head).chain(variables).map(|object| object.end() + "\n").collect()
    }
}

impl Row {
    fn line(&self, text: &mut String, name: &str, width: usize) {
        let values = || self.words.iter().enumerate().filter_map(|(rank, word)| Some(((*word)?, rank)));
        let (Some(least), Some(most)) =
            (values().min(), values().max_by_key(|(word, rank)| (*word, usize::MAX - rank)))
        else {
            return;
        };
        let sum: f64 = values().map(|(word, _)| word as f64).sum();
        let mean = sum / values().count() as f64;
        let sum = if adds_up(self.class) { self.show(sum) } else { "-".into() };
        let (low, high) = (self.show_word(least.0), self.show_word(most.0));
        let (low_rank, high_rank, unit) = (least.1, most.1, self.unit());
        let line = format!(
            "    {name:<width$} {low:>15} {low_rank:<6} {:>15} {high:>15} {high_rank:<6} {sum:>17} {unit}",
            self.show(mean)
        );
        text.push_str(line.trim_end());
        text.push('\n');
    }

    fn unit(&self) -> &str {
        if self.class == Some(PvarClass::Timer) { "seconds" } else { &self.unit }
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

/// Watermarks are kept for tools that ask, and say nothing of the whole run.
fn is_wanted(class: Option<PvarClass>, summary: bool) -> bool {
    class.is_some_and(PvarClass::is_sum) || !summary && !class.is_some_and(PvarClass::is_watermark)
}

fn adds_up(class: Option<PvarClass>) -> bool {
    class.is_some_and(|class| class.is_sum() || class == PvarClass::Level)
}

/// The class as its constant calls it, without what all have in common.
fn class_name(class: Option<PvarClass>) -> String {
    let name = class.map_or("unknown", PvarClass::name);
    name.trim_start_matches("MPI_T_PVAR_CLASS_").to_ascii_lowercase()
}

/// A text that stays in its line.
fn printable(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Endpoint, JobInstruments};
    use mpi_t::{Counter, Level, State, Timer};

    mpi_t::instruments! {
        /// A block.
        struct TestBlock: Comm {
            /// Things.
            things: Counter = { name: "test_things", class: Counter, type: u64, unit: "things", category: "test" },
            /// How many.
            length: Level = { name: "test_length", class: Level, type: u32, unit: "things", category: "test" },
            /// What.
            state: State = { name: "test_state", class: State, type: i32, unit: "", category: "test" },
            /// How long.
            time: Timer = { name: "test_time", class: Timer, type: f64, unit: "", category: "test" },
        }
    }

    fn place(memory: &JobInstruments, object: &str, things: u64) -> &'static TestBlock {
        let block: &'static TestBlock = mpi_t::place(memory, object);
        block.things.add(things);
        block
    }

    #[test]
    fn each_variable_has_one_line_with_both_ends_of_its_values() {
        let endpoints = Endpoint::threads(3).expect("memory for three ranks");
        let job = endpoints[0].job().clone();
        for (rank, things) in [(0, 4), (1, 1), (2, 10)] {
            let memory = endpoints[rank].instrument_memory();
            let block = place(&memory, WORLD, things);
            block.time.add_ns(1_500_000_000 * rank as u64);
            place(&memory, "other", 1).length.raise(2);
            place(&memory, "other", 2);
            if rank == 1 {
                place(&memory, "third", u64::MAX).state.set(-2);
            }
        }
        job.set_life(0, Life::Finalised);
        let text = Table::read(&job, true).text();
        let words = |name: &str| -> Vec<String> {
            let line = text.lines().find(|line| line.trim_start().starts_with(name)).expect(name);
            line.split_whitespace().skip(1).map(str::to_owned).collect()
        };
        assert!(text.contains("of 3 ranks\n") && text.contains("up to their end: rank 1, 2\n"), "{text}");
        assert_eq!(words("test_things"), ["1", "1", "5", "10", "2", "15", "things"]);
        let time = ["0.000000000", "0", "1.500000000", "3.000000000", "2", "4.500000000", "seconds"];
        assert_eq!(words("test_time"), time);
        assert!(!text.contains("other") && !text.contains("test_length"), "{text}");
        assert!(text.contains("Not in it: freed objects, arrays, high- and low-water marks"), "{text}");
        assert!(text.ends_with("kept only while a tool\n  asks for it is missing, or told from then on.\n"), "{text}");
        let json = Table::read(&job, false).json();
        let first =
            "{\"source\":\"statistics\",\"kind\":\"job\",\"ranks\":3,\"without_mpi\":[],\"without_finalize\":[1,2]}\n";
        assert!(json.starts_with(first), "{json}");
        for line in [
            "{\"source\":\"statistics\",\"kind\":\"variable\",\"object\":\"other\",\"variable\":\"test_things\",\"class\":\"counter\",\
             \"unit\":\"things\",\"values\":[3,3,3]}",
            "\"class\":\"counter\",\"unit\":\"things\",\"values\":[null,18446744073709551615,null]}",
            "\"variable\":\"test_state\",\"class\":\"state\",\"unit\":\"\",\"values\":[null,-2,null]}",
            "\"variable\":\"test_length\",\"class\":\"level\",\"unit\":\"things\",\"values\":[2,2,2]}",
        ] {
            assert!(json.lines().any(|found| found.ends_with(line)), "{line}: {json}");
        }
    }

    #[test]
    fn a_job_without_mpi_has_no_numbers() {
        let job = Job::create(&crate::JobOptions { ranks: 2, ring_bytes: None, cores: 1 }).expect("memory");
        assert_eq!(Table::read(&job, false).text(), "Ferrum MPI statistics: no rank has used MPI\n");
        let json =
            "{\"source\":\"statistics\",\"kind\":\"job\",\"ranks\":2,\"without_mpi\":[0,1],\"without_finalize\":[]}\n";
        assert_eq!(Table::read(&job, false).json(), json);
        let settings = StatisticsSettings::new();
        settings.write(&job).expect("off");
        settings.at_end.set(2);
        mpi_t::Cell::write(&settings.file, &mpi_t::Value::Text("/nonexistent/x".into())).expect("a text");
        let error = settings.write(&job).expect_err("no such folder");
        assert!(error.starts_with("stats_file is \"/nonexistent/x\", but cannot be written: No such file"), "{error}");
    }
}
