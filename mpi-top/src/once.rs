//! The ranks of a job, once: as text, or as JSON with one object a line.
//!
//! Not here: the live view (`screen`).

use std::time::Duration;

use mpi_core::json::Object;
use mpi_fabric::job::HostRanks;
use mpi_observe::job_list::{self, FoundJob, id_text};
use mpi_observe::process;
use mpi_observe::sample::{Sample, Sampler};

use crate::rows::{self, COLUMNS, Column, Row};

/// The jobs of this user.
pub fn list(json: bool) -> Result<String, String> {
    let jobs = job_list::list().map_err(|error| format!("the processes cannot be listed: {error}"))?;
    match json {
        true => Ok(jobs.iter().map(|found| job_object(found, "job").end() + "\n").collect()),
        false if jobs.is_empty() => Ok("no job of this user runs on this host\n".into()),
        false => Ok(job_list::lines(&jobs)),
    }
}

/// The ranks of a job, their rates over an interval.
pub fn ranks(job: Option<&str>, json: bool, interval: Duration) -> Result<String, String> {
    let found = job_list::find(job)?;
    let view = found.job.view();
    let mut sampler = Sampler::new();
    let before = sampler.take(view);
    std::thread::sleep(interval);
    let after = sampler.take(view);
    let processes: Vec<_> = after.ranks.iter().map(|rank| process::facts(rank.pid)).collect();
    let rows = rows::rows(&before, &after, &processes, &view.hosts());
    Ok(match json {
        true => json_lines(&found, &rows, &before, &after),
        false => text(&found, &rows),
    })
}

fn text(found: &FoundJob, rows: &[Row]) -> String {
    let mut text = crate::ranks_screen::title(found) + "\n";
    let line = |cells: Vec<String>| {
        let mut line = String::new();
        for ((column, _, width), cell) in COLUMNS.iter().zip(cells) {
            let width = usize::from(*width);
            line += &match column {
                Column::State | Column::Call => format!("{cell:<width$} "),
                _ => format!("{cell:>width$} "),
            };
        }
        line.trim_end().to_owned() + "\n"
    };
    text += &line(COLUMNS.iter().map(|(_, title, _)| (*title).to_owned()).collect());
    for row in rows {
        text += &line(COLUMNS.iter().map(|(column, ..)| row.cell(*column)).collect());
        for call in &row.other_calls {
            let mut cells = vec![String::new(); COLUMNS.len() - 1];
            cells.push(format!("another thread: {}", call.describe()));
            text += &line(cells);
        }
    }
    text
}

fn job_object(found: &FoundJob, kind: &str) -> Object {
    let view = found.job.view();
    let object = Object::new()
        .text("source", "mpitop")
        .text("kind", kind)
        .text("job", &id_text(view.id()))
        .number("pid", found.pid)
        .number("ranks", view.ranks())
        .number("cores", view.cores())
        .text("command", &found.command.clone());
    let host =
        |host: HostRanks| Object::new().text("host", &host.name).array("ranks", host.ranks.iter().map(u32::to_string));
    let object = match view.hosts() {
        hosts if hosts.is_empty() => object,
        hosts => object.objects("hosts", hosts.into_iter().map(host)),
    };
    match found.spawned_by {
        Some(parent) => object.number("spawned_by", parent),
        None => object,
    }
}

fn json_lines(found: &FoundJob, rows: &[Row], before: &Sample, after: &Sample) -> String {
    let seconds = after.at.duration_since(before.at).as_secs_f64();
    let head = job_object(found, "job").json("seconds", &number(seconds));
    std::iter::once(head).chain(rows.iter().map(rank_object)).map(|object| object.end() + "\n").collect()
}

fn rank_object(row: &Row) -> Object {
    let whole = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    let mut object = Object::new()
        .text("source", "mpitop")
        .text("kind", "rank")
        .number("rank", row.rank)
        .number("pid", row.pid)
        .text("state", row.state);
    if let Some(call) = &row.call {
        object = object
            .text("call", &call.function_name())
            .flag("returned", call.ended)
            .number("call_number", whole(call.sequence))
            .text("doing", &rows::call_text(Some(call)));
    }
    if let Some(peer) = row.peer() {
        object = object.text("peer", &peer);
    }
    let others = row.other_calls.iter().map(|call| call.describe());
    object = object.texts("other_calls", others);
    if let Some(facts) = row.process {
        let cpu_ms = (facts.cpu_seconds * 1000.0).round() as i64;
        object = object.text("process", facts.state.name()).number("cpu_ms", cpu_ms);
    }
    let rates = row.rates;
    object = object
        .json("waiting", &number(rates.waiting))
        .json("messages_sent_per_second", &number(rates.messages_sent))
        .json("messages_received_per_second", &number(rates.messages_received))
        .json("bytes_sent_per_second", &number(rates.bytes_sent))
        .json("bytes_received_per_second", &number(rates.bytes_received))
        .json("collective_calls_per_second", &number(rates.collective_calls));
    let Some(counts) = row.counts else { return object };
    object
        .json("messages_sent", &counts.messages_sent.to_string())
        .json("messages_received", &counts.messages_received.to_string())
        .json("bytes_sent", &counts.bytes_sent.to_string())
        .json("bytes_received", &counts.bytes_received.to_string())
        .json("collective_calls", &counts.collective_calls.to_string())
        .json("waited_ns", &counts.waited_ns.to_string())
        .json("waits", &counts.waits.to_string())
        .json("unexpected", &counts.unexpected.to_string())
        .json("unexpected_bytes", &counts.unexpected_bytes.to_string())
        .json("posted", &counts.posted.to_string())
        .json("requests", &counts.requests.to_string())
        .json("alloc_mem_bytes", &counts.alloc_mem_bytes.to_string())
        .json("errors", &counts.errors.to_string())
}

/// A number of JSON; those that are not finite have none there.
fn number(value: f64) -> String {
    if value.is_finite() { format!("{value:.6}") } else { "null".to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rank_is_one_line_of_json() {
        let (before, after) = rows::tests::two_samples(&[rows::tests::rank(1), rows::tests::rank(-1)]);
        let rows = rows::rows(&before, &after, &[None, None], &[]);
        let line = rank_object(&rows[1]).end();
        for part in [
            "{\"source\":\"mpitop\",\"kind\":\"rank\",\"rank\":1,",
            "\"call\":\"MPI_Recv\",\"returned\":false,\"call_number\":1,",
            "\"peer\":\"any\",\"other_calls\":[],\"waiting\":1.000000,\"messages_sent_per_second\":20.000000,",
        ] {
            assert!(line.contains(part), "{part}: {line}");
        }
        assert!(!line.contains('\n'));
    }
}
