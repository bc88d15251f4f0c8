//! Metrics of jobs in the OpenMetrics format: names, units and labels as it wants them.
//!
//! Invariant: each name has its unit at its end, and counters end in `_total`; a rank that has no instruments yet has no
//! samples. Not here: HTTP (`serve`).

use std::collections::HashMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use mpi_fabric::job::HostRanks;
use mpi_observe::job_list::{self, FoundJob, id_text};
use mpi_observe::process;
use mpi_observe::sample::{Counts, Sample, Sampler};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::{Registry, Unit};

use crate::rows;

/// The type of an answer with these metrics.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// The metrics of a job, or of all jobs, as a text.
pub fn once(job: Option<&str>) -> Result<String, String> {
    Exporter::new(job)?.text()
}

/// Exports one job, or those that run when it is asked.
pub struct Exporter {
    /// The one job.
    only: Option<FoundJob>,
    samplers: HashMap<u64, Sampler>,
}

impl Exporter {
    /// For the job that a word names, or for all jobs. Errors: as [`job_list::find`].
    pub fn new(job: Option<&str>) -> Result<Exporter, String> {
        let only = job.map(|word| job_list::find(Some(word))).transpose()?;
        Ok(Exporter { only, samplers: HashMap::new() })
    }

    /// Whether the one job has ended.
    pub fn is_over(&self) -> bool {
        self.only.as_ref().is_some_and(|found| !runs(found))
    }

    /// The metrics now.
    pub fn text(&mut self) -> Result<String, String> {
        let all = match self.only {
            Some(_) => Vec::new(),
            None => job_list::list().map_err(|error| format!("the processes cannot be listed: {error}"))?,
        };
        let jobs = || self.only.iter().chain(&all);
        self.samplers.retain(|id, _| jobs().any(|found| found.job.view().id() == *id));
        let mut readings = Vec::new();
        for found in self.only.iter().chain(&all) {
            let view = found.job.view();
            let sample = self.samplers.entry(view.id()).or_default().take(view);
            let states = states(&sample, &view.hosts());
            readings.push(Reading { job: id_text(view.id()), command: found.command.clone(), sample, states });
        }
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Readings(Mutex::new(readings))));
        let mut out = String::new();
        text::encode(&mut out, &registry).map_err(|fmt::Error| "the metrics cannot be written".to_owned())?;
        Ok(out)
    }
}

/// Whether a process of a job is still there.
pub fn runs(found: &FoundJob) -> bool {
    let view = found.job.view();
    let is_there = |pid| process::facts(pid).is_some_and(|facts| facts.state != process::ProcessState::Ended);
    is_there(found.pid) || (0..view.ranks()).any(|rank| is_there(view.pid(rank)))
}

/// The ranks of this host and their states.
fn states(sample: &Sample, hosts: &[HostRanks]) -> Vec<(u32, &'static str)> {
    let processes: Vec<_> = sample.ranks.iter().map(|rank| process::facts(rank.pid)).collect();
    rows::rows(sample, sample, &processes, hosts).iter().map(|row| (row.rank, row.state)).collect()
}

/// One job at one moment.
#[derive(Debug)]
struct Reading {
    job: String,
    command: String,
    sample: Sample,
    states: Vec<(u32, &'static str)>,
}

#[derive(Debug)]
struct Readings(Mutex<Vec<Reading>>);

/// A metric of each rank: name, text, unit, type, and the value.
type RankMetric = (&'static str, &'static str, Option<Unit>, MetricType, fn(&Counts) -> f64);

/// The library adds the unit and `_total` to the names.
const RANK_METRICS: [RankMetric; 15] = {
    use MetricType::{Counter, Gauge};
    [
        (
            "messages_sent",
            "Messages whose send has started, those of collective operations included",
            None,
            Counter,
            |c| c.messages_sent as f64,
        ),
        ("messages_received", "Messages received, those of collective operations included", None, Counter, |c| {
            c.messages_received as f64
        }),
        ("sent", "Bytes in the messages sent", Some(Unit::Bytes), Counter, |c| c.bytes_sent as f64),
        (
            "received",
            "Bytes in the program's own messages that were matched with a receive",
            Some(Unit::Bytes),
            Counter,
            |c| c.bytes_received as f64,
        ),
        ("collective_calls", "Calls of collective operations", None, Counter, |c| c.collective_calls as f64),
        ("waited", "Time that blocking calls waited, added when a wait ends", Some(Unit::Seconds), Counter, |c| {
            c.waited_ns as f64 / 1e9
        }),
        ("waits", "Waits of blocking calls", None, Counter, |c| c.waits as f64),
        ("unexpected_arrivals", "Messages that arrived before their receive", None, Counter, |c| {
            c.unexpected_ever as f64
        }),
        ("errors", "Errors raised", None, Counter, |c| c.errors as f64),
        ("file", "Bytes read from files and written to them", Some(Unit::Bytes), Counter, |c| c.file_bytes as f64),
        ("unexpected_messages", "Messages that have arrived and wait for a receive", None, Gauge, |c| {
            c.unexpected as f64
        }),
        ("unexpected", "Data stored for messages that wait for a receive", Some(Unit::Bytes), Gauge, |c| {
            c.unexpected_bytes as f64
        }),
        ("posted_receives", "Receives that wait for their message", None, Gauge, |c| c.posted as f64),
        ("requests", "Requests that exist", None, Gauge, |c| c.requests as f64),
        ("alloc_mem", "Memory that the program has from MPI_Alloc_mem", Some(Unit::Bytes), Gauge, |c| {
            c.alloc_mem_bytes as f64
        }),
    ]
};

impl Collector for Readings {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), fmt::Error> {
        let readings = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut jobs =
            encoder.encode_descriptor("ferrum_mpi_job_ranks", "Ranks of the job", None, MetricType::Gauge)?;
        for reading in readings.iter() {
            let labels = [("job", reading.job.clone()), ("command", reading.command.clone())];
            ConstGauge::new(reading.sample.ranks.len() as i64).encode(jobs.encode_family(&labels)?)?;
        }
        let mut states = encoder.encode_descriptor(
            "ferrum_mpi_rank_state",
            "1 for the state that the rank is in",
            None,
            MetricType::Gauge,
        )?;
        for reading in readings.iter() {
            for (rank, state) in &reading.states {
                let labels = [("job", reading.job.clone()), ("rank", rank.to_string()), ("state", (*state).to_owned())];
                ConstGauge::new(1_i64).encode(states.encode_family(&labels)?)?;
            }
        }
        for (name, help, unit, metric_type, value) in RANK_METRICS {
            let name = format!("ferrum_mpi_rank_{name}");
            let mut metric = encoder.encode_descriptor(&name, help, unit.as_ref(), metric_type)?;
            for reading in readings.iter() {
                for (rank, sample) in reading.sample.ranks.iter().enumerate() {
                    let Some(counts) = &sample.counts else { continue };
                    let labels = [("job", reading.job.clone()), ("rank", rank.to_string())];
                    let of_rank = metric.encode_family(&labels)?;
                    match metric_type {
                        MetricType::Counter => ConstCounter::new(value(counts)).encode(of_rank)?,
                        _ => ConstGauge::new(value(counts)).encode(of_rank)?,
                    }
                }
            }
        }
        Ok(())
    }
}
