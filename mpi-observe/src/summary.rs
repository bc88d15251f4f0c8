//! What a job has done, in few numbers: amounts by rank, the ranks that differ most, and all variables.
//!
//! Invariant: amounts are of the program; what the library counted for itself in `MPI_Finalize` is left out. A rank without
//! an amount has none, not 0. A wait that the end of its process has interrupted counts up to then. Not here: the forms (`mpi-launch`).

use std::collections::BTreeMap;

use mpi_core::json::Object;
use mpi_fabric::Unfinished;
use mpi_fabric::statistics::{StateName, Table};
use mpi_t::PvarClass;

use crate::JobView;
pub use crate::measure::Measure;
use crate::origin::Origin;
use crate::traffic::Traffic;
use crate::words;

/// What an amount is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Section {
    /// Messages, operations and file accesses.
    Traffic,
    /// Time in which ranks waited.
    Waits,
    /// Messages and receives that waited for each other.
    Queues,
    /// Collective operations.
    Collectives,
    /// Memory.
    Memory,
    /// Errors.
    Errors,
}

impl Section {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Section::Traffic => "traffic",
            Section::Waits => "waits",
            Section::Queues => "queues",
            Section::Collectives => "collectives",
            Section::Memory => "memory",
            Section::Errors => "errors",
        }
    }
}

/// One amount of all ranks.
#[derive(Clone, Debug)]
pub struct Amount {
    /// What it is about.
    pub section: Section,
    /// The name, for programs.
    pub name: &'static str,
    /// The name, for people.
    pub title: &'static str,
    /// How it is measured.
    pub measure: Measure,
    /// By rank; `None` for a rank that has not counted it.
    pub values: Vec<Option<f64>>,
}

impl Amount {
    /// The sum of all ranks.
    pub fn total(&self) -> f64 {
        self.values.iter().flatten().sum()
    }

    /// The mean of the ranks that have it.
    pub fn mean(&self) -> f64 {
        self.total() / self.values.iter().flatten().count().max(1) as f64
    }

    /// The least and the greatest value, each with the first rank that has it.
    pub fn ends(&self) -> Option<((f64, u32), (f64, u32))> {
        let with_rank = || self.values.iter().zip(0..).filter_map(|(value, rank)| Some(((*value)?, rank)));
        let least = with_rank().min_by(|one, other| one.0.total_cmp(&other.0))?;
        let greatest = with_rank().min_by(|one, other| other.0.total_cmp(&one.0))?;
        Some((least, greatest))
    }
}

/// A rank that differs from the others.
#[derive(Clone, Debug, PartialEq)]
pub struct Outlier {
    /// The rank.
    pub rank: u32,
    /// The name of the amount.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
    /// The median of the others.
    pub others: f64,
    /// A sentence without its point.
    pub sentence: String,
}

/// The summary of a job.
#[derive(Debug)]
pub struct Summary {
    /// Number of ranks.
    pub ranks: u32,
    /// Seconds from the start of the first process to the end of the last.
    pub seconds: f64,
    /// The exit code of the job.
    pub exit_code: i32,
    /// Ranks that did not use MPI.
    pub without_mpi: Vec<u32>,
    /// Ranks that used MPI and ended without `MPI_Finalize`.
    pub without_finalize: Vec<u32>,
    /// The amounts; those that are 0 in all ranks are left out, except the most usual.
    pub amounts: Vec<Amount>,
    /// Calls of each collective operation by rank, the most frequent first.
    pub collectives: Vec<(String, Vec<Option<f64>>)>,
    /// The ranks that differ most, the clearest first.
    pub outliers: Vec<Outlier>,
    /// Bytes of the job memory that are in use.
    pub shared_bytes: Option<u64>,
    /// Who has sent how much to whom.
    pub traffic: Traffic,
    /// Command, host and time of the job, if they are known.
    pub origin: Option<Origin>,
    /// The hosts with their ranks; empty for a job on one host.
    pub hosts: Vec<(String, Vec<u32>)>,
    table: Table,
}

/// The amounts: section, name, title, measure, the variables whose sum they are, and whether it is shown when it is 0.
type Definition = (Section, &'static str, &'static str, Measure, &'static [&'static str], bool);

const DEFINITIONS: [Definition; 17] = {
    use Measure::{Bytes, Count, Seconds};
    use Section::{Collectives, Errors, Memory, Queues, Traffic, Waits};
    [
        (Traffic, "messages_sent", "messages sent", Count, &["p2p_eager_sent", "p2p_rendezvous_sent"], true),
        (Traffic, "own_messages_sent", "  sent by the program itself", Count, &["p2p_messages_sent"], false),
        (Traffic, "bytes_sent", "bytes sent", Bytes, &["p2p_eager_bytes_sent", "p2p_rendezvous_bytes_sent"], true),
        (
            Traffic,
            "messages_received",
            "messages received",
            Count,
            &["p2p_eager_received", "p2p_rendezvous_received"],
            true,
        ),
        (
            Traffic,
            "window_operations",
            "one-sided operations",
            Count,
            &["win_puts", "win_gets", "win_accumulates", "win_fetches"],
            false,
        ),
        (
            Traffic,
            "window_bytes",
            "bytes of them",
            Bytes,
            &["win_put_bytes", "win_get_bytes", "win_accumulate_bytes", "win_fetch_bytes"],
            false,
        ),
        (Traffic, "file_bytes_read", "bytes read from files", Bytes, &["file_bytes_read"], false),
        (Traffic, "file_bytes_written", "bytes written to files", Bytes, &["file_bytes_written"], false),
        (Waits, "time_waited", "time waited", Seconds, &["p2p_time_waited"], true),
        (Waits, "waits", "waits", Count, &["p2p_waits"], false),
        (Waits, "sleeps", "sleeps", Count, &["fabric_sleeps"], false),
        (Queues, "unexpected", "messages before their receive", Count, &["p2p_unexpected_messages"], true),
        (Queues, "unexpected_at_end", "  never received", Count, &["MPI_T_UMQ_LENGTH"], false),
        (Queues, "posted_at_end", "receives without a message", Count, &["p2p_posted_length"], false),
        (Collectives, "collective_calls", "collective calls", Count, &[], true),
        (Memory, "alloc_mem", "from MPI_Alloc_mem at the end", Bytes, &["memory_alloc_mem"], false),
        (Errors, "errors", "errors raised", Count, &["errors_raised"], false),
    ]
};

/// Most ranks that are named.
const MOST_OUTLIERS: usize = 4;

impl Summary {
    /// The summary of a job that ended with an exit code after so many seconds.
    pub fn new(job: JobView<'_>, seconds: f64, exit_code: i32, state_name: StateName<'_>) -> Summary {
        let table = job.table(false, state_name);
        let ranks = job.ranks();
        let of = |wanted: &dyn Fn(usize) -> bool| (0..ranks).filter(|rank| wanted(*rank as usize)).collect();
        let without_mpi = of(&|rank| !table.used()[rank]);
        let without_finalize = of(&|rank| table.used()[rank] && !table.finalised()[rank]);
        let mut sums = sums(&table);
        add_unfinished(&mut sums, job, seconds);
        let collectives = collectives(&sums);
        let mut amounts = Vec::new();
        for (section, name, title, measure, variables, always) in DEFINITIONS {
            let values: Vec<Option<f64>> = match name {
                "collective_calls" => added(collectives.iter().map(|(_, values)| values), ranks),
                _ => added(variables.iter().filter_map(|variable| sums.get(variable)), ranks),
            };
            // A rank of MPI that has no row of a variable has counted none.
            let used = values.iter().zip(table.used());
            let values: Vec<_> =
                used.map(|(value, used)| if *used { Some(value.unwrap_or(0.0)) } else { *value }).collect();
            if always || values.iter().flatten().any(|value| *value != 0.0) {
                amounts.push(Amount { section, name, title, measure, values });
            }
        }
        let outliers = outliers(&amounts, seconds);
        let shared_bytes = job.bytes_in_use();
        Summary {
            ranks,
            seconds,
            exit_code,
            without_mpi,
            without_finalize,
            amounts,
            collectives,
            outliers,
            shared_bytes,
            traffic: Traffic::read(job),
            origin: None,
            hosts: Vec::new(),
            table,
        }
    }

    /// Which ranks are on which host, in a line; empty for a job on one host. Of many hosts only their number and the first.
    pub fn hosts_line(&self) -> String {
        const MOST: usize = 8;
        let part = |(name, ranks): &(String, Vec<u32>)| format!("{name} ({})", words::ranks(ranks));
        let mut text = self.hosts.iter().take(MOST).map(part).collect::<Vec<_>>().join(", ");
        if let Some(more) = self.hosts.len().checked_sub(MOST).filter(|more| *more > 0) {
            text += &format!(" and {more} more");
        }
        text
    }

    /// An amount by its name.
    pub fn amount(&self, name: &str) -> Option<&Amount> {
        self.amounts.iter().find(|amount| amount.name == name)
    }

    /// All of it as one object, in one line.
    pub fn json(&self, job: Option<&str>) -> String {
        let numbers = |ranks: &[u32]| ranks.iter().map(u32::to_string).collect::<Vec<_>>();
        let values = |values: &[Option<f64>]| {
            values.iter().map(|value| value.map_or_else(|| "null".into(), number)).collect::<Vec<_>>()
        };
        let amounts = self.amounts.iter().map(|amount| {
            Object::new()
                .text("section", amount.section.name())
                .text("name", amount.name)
                .text("title", amount.title.trim_start())
                .text("unit", amount.measure.unit())
                .json("total", &number(amount.total()))
                .array("values", values(&amount.values))
        });
        let collectives = self.collectives.iter().map(|(name, calls)| {
            let total: f64 = calls.iter().flatten().sum();
            Object::new().text("name", name).json("total", &number(total)).array("values", values(calls))
        });
        let outliers = self.outliers.iter().map(|outlier| {
            Object::new()
                .number("rank", outlier.rank)
                .text("name", outlier.name)
                .json("value", &number(outlier.value))
                .json("others", &number(outlier.others))
                .text("message", &outlier.sentence)
        });
        let variables = self.table.rows().map(|(object, name, row)| {
            let values = row.words().iter().map(|word| word.map_or_else(|| "null".into(), |word| row.json_value(word)));
            Object::new()
                .text("object", object)
                .text("variable", name)
                .text("class", &row.class_name())
                .text("unit", row.unit())
                .array("values", values)
        });
        let object = Object::new().text("source", "statistics").text("kind", "summary");
        let object = match job {
            Some(job) => object.text("job", job),
            None => object,
        };
        let object = match &self.origin {
            Some(origin) => {
                let object = object.text("command", origin.command()).text("host", origin.host());
                object.text("started", &origin.started())
            }
            None => object,
        };
        let object = object
            .number("ranks", self.ranks)
            .json("seconds", &number(self.seconds))
            .number("exit_code", self.exit_code)
            .array("without_mpi", numbers(&self.without_mpi))
            .array("without_finalize", numbers(&self.without_finalize))
            .number_or_null("shared_bytes", self.shared_bytes.and_then(|bytes| i64::try_from(bytes).ok()))
            .objects("outliers", outliers)
            .objects("amounts", amounts)
            .objects("collectives", collectives);
        let host = |(name, ranks): &(String, Vec<u32>)| Object::new().text("host", name).array("ranks", numbers(ranks));
        let object = match self.hosts.is_empty() {
            true => object,
            false => object.objects("hosts", self.hosts.iter().map(host)),
        };
        self.traffic.json(object).objects("variables", variables).end()
    }
}

/// A number of JSON: whole where it is.
fn number(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 { format!("{value:.0}") } else { format!("{value:.9}") }
}

/// The objects whose variables are left out: what the library counted for itself.
const OWN: &str = "MPI_Finalize";

/// Each variable's values by rank, all objects together; timers in seconds.
fn sums(table: &Table) -> BTreeMap<&str, Vec<Option<f64>>> {
    let mut sums: BTreeMap<&str, Vec<Option<f64>>> = BTreeMap::new();
    for (_, name, row) in table.rows().filter(|(object, ..)| *object != OWN) {
        let is_amount = row.class().is_some_and(|class| class.is_sum() || class == PvarClass::Level);
        if !is_amount {
            continue;
        }
        let scale = if row.class() == Some(PvarClass::Timer) { 1e-9 } else { 1.0 };
        let into = sums.entry(name).or_insert_with(|| vec![None; row.words().len()]);
        for (sum, word) in into.iter_mut().zip(row.words()) {
            if let Some(word) = word {
                *sum = Some(sum.unwrap_or(0.0) + *word as f64 * scale);
            }
        }
    }
    sums
}

/// Adds the waits that the end of the processes has interrupted, as if they had ended then.
fn add_unfinished(sums: &mut BTreeMap<&str, Vec<Option<f64>>>, job: JobView<'_>, seconds: f64) {
    for rank in 0..job.ranks() {
        let Unfinished { waits, ns } = job.unfinished_waits(rank);
        // No wait is longer than the job; a greater number is damage.
        let length = (ns as f64 * 1e-9).min(seconds * waits as f64);
        for (variable, value) in [("p2p_time_waited", length), ("p2p_waits", waits as f64)] {
            if waits > 0 {
                let values = sums.entry(variable).or_insert_with(|| vec![None; job.ranks() as usize]);
                values[rank as usize] = Some(values[rank as usize].unwrap_or(0.0) + value);
            }
        }
    }
}

fn added<'a>(parts: impl Iterator<Item = &'a Vec<Option<f64>>>, ranks: u32) -> Vec<Option<f64>> {
    let mut sum = vec![None; ranks as usize];
    for part in parts {
        for (sum, value) in sum.iter_mut().zip(part) {
            if let Some(value) = value {
                *sum = Some(sum.unwrap_or(0.0) + value);
            }
        }
    }
    sum
}

/// `coll_ibcast_calls` and `coll_bcast_starts` are calls of `MPI_Ibcast` and starts of `MPI_Bcast_init`.
fn collectives(sums: &BTreeMap<&str, Vec<Option<f64>>>) -> Vec<(String, Vec<Option<f64>>)> {
    let named = sums.iter().filter_map(|(name, values)| {
        let operation = name.strip_prefix("coll_")?;
        let (operation, suffix) = match operation.strip_suffix("_calls") {
            Some(operation) => (operation, ""),
            None => (operation.strip_suffix("_starts")?, "_init"),
        };
        // Calls by algorithm and by reduction operation are counted a second time.
        if operation.ends_with("_algorithm") || operation == "op" {
            return None;
        }
        let mut letters = operation.chars();
        let first = letters.next()?.to_ascii_uppercase();
        Some((format!("MPI_{first}{}{suffix}", letters.as_str()), values.clone()))
    });
    let mut found: Vec<_> = named.collect();
    let total = |values: &[Option<f64>]| values.iter().flatten().sum::<f64>();
    found.sort_by(|one, other| total(&other.1).total_cmp(&total(&one.1)));
    found
}

/// Amounts by which ranks are compared.
const COMPARED: [(&str, &str); 5] = [
    ("time_waited", "waited"),
    ("bytes_sent", "sent"),
    ("messages_sent", "sent messages:"),
    ("unexpected", "had messages before their receive:"),
    ("collective_calls", "made collective calls:"),
];

fn outliers(amounts: &[Amount], seconds: f64) -> Vec<Outlier> {
    let mut found = Vec::new();
    for (name, verb) in COMPARED {
        let Some(amount) = amounts.iter().find(|amount| amount.name == name) else { continue };
        let values: Vec<(u32, f64)> =
            (0..).zip(&amount.values).filter_map(|(rank, value)| Some((rank, (*value)?))).collect();
        if values.len() < 2 {
            continue;
        }
        let difference = |(rank, value): (u32, f64)| {
            let mut others: Vec<f64> =
                values.iter().filter(|(other, _)| *other != rank).map(|(_, value)| *value).collect();
            others.sort_by(f64::total_cmp);
            let middle = others.len() / 2;
            let median =
                if others.len() % 2 == 1 { others[middle] } else { (others[middle - 1] + others[middle]) / 2.0 };
            (rank, value, median)
        };
        // The median without a rank differs from that of all by one place at most: only the ends are looked at.
        let Some((least, greatest)) = amount.ends() else { continue };
        let ends = [(greatest.1, greatest.0), (least.1, least.0)].map(difference);
        let by = |(_, value, median): &(u32, f64, f64)| (value - median).abs();
        let (rank, value, others) = if by(&ends[1]) > by(&ends[0]) { ends[1] } else { ends[0] };
        let differs = (value - others).abs();
        if differs < amount.measure.notable(seconds) || differs < 0.5 * others {
            continue;
        }
        let who = if values.len() == 2 { "the other rank" } else { "the others (median)" };
        let text = |value| amount.measure.text(value);
        let sentence = format!("rank {rank} {verb} {}, {who} {}", text(value), text(others));
        found.push((differs / others.max(f64::MIN_POSITIVE), Outlier { rank, name, value, others, sentence }));
    }
    found.sort_by(|one, other| other.0.total_cmp(&one.0));
    found.into_iter().map(|(_, outlier)| outlier).take(MOST_OUTLIERS).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(name: &'static str, measure: Measure, values: &[f64]) -> Amount {
        let values = values.iter().map(|value| Some(*value)).collect();
        Amount { section: Section::Waits, name, title: "", measure, values }
    }

    #[test]
    fn the_rank_that_differs_most_is_named_with_the_median_of_the_others() {
        let waits = amount("time_waited", Measure::Seconds, &[0.1, 0.12, 0.11, 3.0]);
        let bytes = amount("bytes_sent", Measure::Bytes, &[1e6, 1e6, 0.0, 1e6]);
        let found = outliers(&[waits, bytes], 4.0);
        let sentences: Vec<&str> = found.iter().map(|outlier| &*outlier.sentence).collect();
        assert_eq!(
            sentences,
            ["rank 3 waited 3.00 s, the others (median) 110.0 ms", "rank 2 sent 0 B, the others (median) 977 KiB"]
        );
        assert!(outliers(&[amount("time_waited", Measure::Seconds, &[1.0, 1.2, 1.1])], 4.0).is_empty());
        assert!(outliers(&[amount("time_waited", Measure::Seconds, &[1.0])], 4.0).is_empty());
        let two = outliers(&[amount("messages_sent", Measure::Count, &[5.0, 1000.0])], 4.0);
        assert_eq!(two[0].sentence, "rank 1 sent messages: 1.00k, the other rank 5");
    }

    #[test]
    fn collective_functions_have_their_names_and_are_counted_once() {
        let mut sums: BTreeMap<&str, Vec<Option<f64>>> = BTreeMap::new();
        sums.insert("coll_bcast_calls", vec![Some(2.0), None]);
        sums.insert("coll_ibarrier_calls", vec![Some(5.0), Some(5.0)]);
        sums.insert("coll_allreduce_starts", vec![Some(1.0), Some(1.0)]);
        sums.insert("coll_bcast_algorithm_calls", vec![Some(2.0), None]);
        sums.insert("coll_op_calls", vec![Some(2.0), None]);
        let names: Vec<String> = collectives(&sums).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["MPI_Ibarrier", "MPI_Allreduce_init", "MPI_Bcast"]);
    }
}
