//! Who has sent how much to whom, the sizes of messages, and the greatest lengths of queues.
//!
//! Invariant: messages between ranks are those of the program itself; sizes are those of all messages. What was counted by
//! ranks that died is included. Not here: the rows in the job memory (`mpi_fabric::traffic`), the forms (`mpi-launch`).

use std::collections::HashMap;

use mpi_core::json::Object;
use mpi_fabric::{instruments, traffic};
use mpi_t::{PEAK_KEPT, PvarClass};

use crate::JobView;
use crate::measure::Measure;

/// The messages from one rank to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The sender.
    pub from: u32,
    /// The receiver.
    pub to: u32,
    /// Messages whose send has started.
    pub messages: u64,
    /// Bytes in them.
    pub bytes: u64,
}

/// A queue's greatest length.
#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    /// The name, for programs.
    pub name: &'static str,
    /// The name, for people.
    pub title: &'static str,
    /// How it is measured.
    pub measure: Measure,
    /// By rank; `None`: the rank has no such queue.
    pub values: Vec<Option<u64>>,
}

impl Mark {
    /// The greatest of all ranks, with the first rank that has it.
    pub fn greatest(&self) -> Option<(u64, u32)> {
        let with_rank = self.values.iter().zip(0..).filter_map(|(value, rank)| Some(((*value)?, rank)));
        with_rank.min_by_key(|(value, _)| std::cmp::Reverse(*value))
    }
}

/// The traffic of a job.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Traffic {
    /// Pairs of ranks that have exchanged messages, by sender and receiver.
    pub pairs: Vec<Pair>,
    /// Messages sent by all ranks: element 0 of messages without data, element n of 2^(n-1) to 2^n - 1 bytes.
    pub sizes: Vec<u64>,
    /// Ranks with communicators whose messages are not in `pairs`, because they have too many at once.
    pub incomplete: Vec<u32>,
    /// The greatest lengths of queues.
    pub marks: Vec<Mark>,
}

/// The marks: name, title, measure, the variable, its place among the peaks of freed communicators.
type Definition = (&'static str, &'static str, Measure, &'static str, Option<usize>);

const MARKS: [Definition; 4] = [
    ("most_unexpected", "messages before their receive", Measure::Count, "MPI_T_UMQ_LENGTH", Some(0)),
    ("most_unexpected_bytes", "bytes of such messages", Measure::Bytes, "p2p_unexpected_bytes", Some(1)),
    ("most_posted", "receives without a message", Measure::Count, "p2p_posted_length", Some(2)),
    ("most_requests", "requests", Measure::Count, "p2p_requests", None),
];

impl Traffic {
    /// The traffic of a job up to now.
    pub fn read(job: JobView<'_>) -> Traffic {
        let mut found = Traffic { sizes: vec![0; traffic::SIZE_CLASSES], ..Traffic::default() };
        let ranks = job.ranks() as usize;
        let mut values = vec![vec![None; ranks]; MARKS.len()];
        for rank in 0..job.ranks() {
            let of_rank = traffic::read(job.job(), rank);
            found.pairs.extend(
                of_rank.peers.iter().filter(|(_, counts)| counts.messages_sent != 0 || counts.bytes_sent != 0).map(
                    |(to, counts)| Pair {
                        from: rank,
                        to: *to,
                        messages: counts.messages_sent,
                        bytes: counts.bytes_sent,
                    },
                ),
            );
            for (sum, sent) in found.sizes.iter_mut().zip(&of_rank.sizes) {
                *sum = sum.wrapping_add(*sent);
            }
            if of_rank.elsewhere != 0 {
                found.incomplete.push(rank);
            }
            let peaks = peaks(job, rank);
            for ((_, _, _, variable, freed), values) in MARKS.iter().zip(&mut values) {
                let of_freed = freed.and_then(|place| of_rank.freed_peaks[place]);
                values[rank as usize] = peaks.get(*variable).copied().max(of_freed);
            }
        }
        let marks = MARKS.iter().zip(values);
        found.marks =
            marks.map(|((name, title, measure, ..), values)| Mark { name, title, measure: *measure, values }).collect();
        found
    }

    /// Adds it to an object.
    pub(crate) fn json(&self, object: Object) -> Object {
        let pair = |pair: &Pair| format!("[{},{},{},{}]", pair.from, pair.to, pair.messages, pair.bytes);
        let used = self.sizes.iter().rposition(|sent| *sent != 0).map_or(0, |last| last + 1);
        let marks = self.marks.iter().map(|mark| {
            let value = |value: &Option<u64>| value.map_or_else(|| "null".to_owned(), |value| value.to_string());
            Object::new()
                .text("name", mark.name)
                .text("title", mark.title)
                .text("unit", mark.measure.unit())
                .array("values", mark.values.iter().map(value))
        });
        object
            .array("traffic", self.pairs.iter().map(pair))
            .array("traffic_incomplete", self.incomplete.iter().map(u32::to_string))
            .array("sizes", self.sizes[..used].iter().map(u64::to_string))
            .objects("marks", marks)
    }
}

/// The highest levels of a rank's variables, of all objects that exist.
fn peaks(job: JobView<'_>, rank: u32) -> HashMap<String, u64> {
    let mut found: HashMap<String, u64> = HashMap::new();
    let blocks = instruments::read(job.job(), rank);
    let variables = blocks.into_iter().flat_map(|block| block.variables);
    for variable in variables.filter(|variable| variable.class == PvarClass::HighWatermark as i32) {
        if variable.word & PEAK_KEPT != 0 && MARKS.iter().any(|mark| mark.3 == variable.name) {
            let highest = found.entry(variable.name).or_default();
            *highest = (*highest).max(variable.word & !PEAK_KEPT);
        }
    }
    found
}
