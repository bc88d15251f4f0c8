//! A file of calls: those of all ranks as events of the Chrome trace format, which ui.perfetto.dev opens.
//!
//! Each rank is a process of the trace, each of its threads a thread. A call that has returned is a complete event
//! (`X`), one that has not is a begin without an end (`B`). Times are microseconds from the job's first call. Behind the calls
//! come the arrows from sends to receives, as flows.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use mpi_core::functions;
use mpi_core::json::Object;
use mpi_pmpi::records::Event;

use super::trace_arrows::{Arrows, End};

/// A rank of a trace.
pub struct TracedRank<I> {
    /// Its program.
    pub program: String,
    /// Its host, if the job has several.
    pub host: Option<String>,
    /// Its calls in their order, with what is known of them beyond the event.
    pub calls: I,
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Calls.
    pub calls: u64,
    /// Arrows from sends to receives.
    pub arrows: u64,
}

/// Writes the file. `start`: when the first call began. `arrows`: which sends and receives belong together. `now`: a moment
/// that is marked on all ranks, with its name. Errors: of writing.
pub fn write(
    file: File,
    start: u64,
    ranks: Vec<TracedRank<impl Iterator<Item = (Event, Option<String>)>>>,
    mut arrows: Arrows<'_>,
    now: Option<(u64, &str)>,
) -> io::Result<Written> {
    let mut out = BufWriter::new(file);
    let mut written = Written::default();
    out.write_all(b"{\"displayTimeUnit\":\"ms\",\"traceEvents\":[")?;
    let mut separator = "\n";
    let mut put = |line: String| {
        let begin = std::mem::replace(&mut separator, ",\n");
        out.write_all(begin.as_bytes()).and_then(|()| out.write_all(line.as_bytes()))
    };
    for (rank, TracedRank { program, host, calls }) in ranks.into_iter().enumerate() {
        let rank = rank as i64;
        let host = host.map_or(String::new(), |host| format!(" on {host}"));
        put(metadata("process_name", rank, Object::new().text("name", &format!("rank {rank}{host}: {program}"))))?;
        put(metadata("process_sort_index", rank, Object::new().number("sort_index", rank)))?;
        for (event, text) in calls {
            arrows.add(rank as u32, &event);
            put(line(rank, &event, text.as_deref(), start))?;
            written.calls += 1;
        }
    }
    for (id, (sent, received)) in (1..).zip(arrows.matched()) {
        put(arrow(id, "s", &sent, start).end())?;
        put(arrow(id, "f", &received, start).text("bp", "e").end())?;
        written.arrows += 1;
    }
    if let Some((ns, name)) = now {
        let mark = Object::new().text("name", name).text("ph", "i").text("s", "g").number("pid", 0).number("tid", 0);
        put(mark.json("ts", &micro(ns.saturating_sub(start))).end())?;
    }
    out.write_all(b"\n]}\n")?;
    out.into_inner().map_err(io::IntoInnerError::into_error).map(|_| written)
}

fn metadata(name: &str, rank: i64, arguments: Object) -> String {
    Object::new().text("name", name).text("ph", "M").number("pid", rank).object("args", arguments).end()
}

fn line(rank: i64, event: &Event, text: Option<&str>, start: u64) -> String {
    let returned = event.end_ns != 0;
    let object = Object::new()
        .text("name", functions::name(event.function).unwrap_or("?"))
        .text("cat", "mpi")
        .text("ph", if returned { "X" } else { "B" })
        .number("pid", rank)
        .number("tid", event.thread)
        .json("ts", &micro(event.start_ns.saturating_sub(start)));
    let object = match returned {
        true => object.json("dur", &micro(event.end_ns.saturating_sub(event.start_ns))),
        false => object,
    };
    let arguments = text.map_or_else(|| arguments(event), |text| arguments(event).text("call", text));
    object.object("args", arguments).end()
}

/// One end of an arrow.
fn arrow(id: i64, phase: &str, end: &End, start: u64) -> Object {
    Object::new()
        .text("name", "message")
        .text("cat", "message")
        .text("ph", phase)
        .number("id", id)
        .number("pid", end.rank)
        .number("tid", end.thread)
        .json("ts", &micro(end.ns.saturating_sub(start)))
}

fn arguments(event: &Event) -> Object {
    let mut object = Object::new();
    for (name, value) in [("peer", event.peer), ("tag", event.tag)] {
        object = value.into_iter().fold(object, |object, value| object.number(name, value));
    }
    if let Some(bytes) = event.bytes {
        object = object.number("bytes", i64::try_from(bytes).unwrap_or(i64::MAX));
    }
    if let Some(handle) = event.object {
        object = object.text("object", &format!("{handle:#x}"));
    }
    match event.code {
        0 => object,
        code => object.number("error_code", code),
    }
}

/// Nanoseconds as microseconds with three decimals.
fn micro(ns: u64) -> String {
    format!("{}.{:03}", ns / 1000, ns % 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_one_complete_event_and_one_that_has_not_returned_a_begin() {
        let sent = Event {
            function: functions::MPI_SEND,
            thread: 7,
            start_ns: 2_001_500,
            end_ns: 2_002_000,
            bytes: Some(8),
            peer: Some(1),
            tag: Some(-1),
            object: Some(0x101),
            code: 0,
            second: None,
        };
        assert_eq!(
            line(3, &sent, None, 2_000_000),
            "{\"name\":\"MPI_Send\",\"cat\":\"mpi\",\"ph\":\"X\",\"pid\":3,\"tid\":7,\"ts\":1.500,\"dur\":0.500,\"args\":\
             {\"peer\":1,\"tag\":-1,\"bytes\":8,\"object\":\"0x101\"}}"
        );
        let open = Event { function: functions::MPI_FINALIZE, start_ns: 5, ..Event::default() };
        assert_eq!(
            line(0, &open, Some("it"), 9),
            "{\"name\":\"MPI_Finalize\",\"cat\":\"mpi\",\"ph\":\"B\",\"pid\":0,\"tid\":0,\"ts\":0.000,\"args\":\
             {\"call\":\"it\"}}"
        );
    }
}
