//! The tool `calls`: a line for each call, with arguments, result and time, to the standard error output or a file.
//!
//! Invariant: a line is one write, so that lines of threads and processes do not mix.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Write as _;

use mpi_pmpi::interceptor::{Call, Direction, Host, Interceptor, Parameter, Value};
use mpi_pmpi::records::CALLS_FILE;

use super::now_ns;
use crate::fatal::fatal;

/// Where the lines go.
pub(super) struct Calls {
    file: Option<File>,
    /// The rank, where a launcher gives it.
    rank: Option<String>,
}

impl Interceptor for Calls {
    fn start(_: &Host<'_>) -> Calls {
        let rank = std::env::var("FERRUM_RANK").ok();
        let named = std::env::var(CALLS_FILE).ok().filter(|name| !name.is_empty());
        let file =
            named.map(|name| {
                let name =
                    name.replace("%r", rank.as_deref().unwrap_or("0")).replace("%p", &std::process::id().to_string());
                File::options().create(true).append(true).open(&name).unwrap_or_else(|error| {
                    fatal(&format!("{CALLS_FILE} is {name:?}, which cannot be written: {error}"))
                })
            });
        Calls { file, rank }
    }

    fn enter(&self, call: &mut Call<'_>) {
        call.keep(now_ns());
        // These may not return.
        if matches!(call.function().name(), "MPI_Abort") {
            self.write(&format!("{} ...", line(call)));
        }
    }

    fn leave(&self, call: &mut Call<'_>) {
        let time = now_ns().saturating_sub(call.kept());
        let mut text = line(call);
        match call.result() {
            Some(Value::Int(0)) if call.function().returns_error_code() => text.push_str(" = MPI_SUCCESS"),
            Some(value) => {
                text.push_str(" = ");
                push(&mut text, value);
            }
            None => {}
        }
        let _ = write!(text, " <{}.{:03} us>", time / 1000, time % 1000);
        self.write(&text);
    }
}

impl Calls {
    fn write(&self, line: &str) {
        let line = match &self.rank {
            Some(rank) => format!("rank {rank}: {line}\n"),
            None => format!("{line}\n"),
        };
        // Without a place for the lines there is none for a message.
        let _ = match &self.file {
            Some(file) => (&*file).write_all(line.as_bytes()),
            None => std::io::stderr().lock().write_all(line.as_bytes()),
        };
    }
}

/// The function with its arguments.
fn line(call: &Call<'_>) -> String {
    let mut text = format!("{}(", call.function().name());
    for (number, (parameter, value)) in call.arguments().enumerate() {
        let _ = write!(text, "{}{}=", if number == 0 { "" } else { ", " }, parameter.name());
        argument(&mut text, parameter, value);
    }
    text.push(')');
    text
}

fn argument(text: &mut String, parameter: Parameter, value: Value) {
    match (parameter.direction(), value) {
        (Direction::Out, Value::Address(_)) => text.push_str("out"),
        _ => push(text, value),
    }
}

fn push(text: &mut String, value: Value) {
    let _ = match value {
        Value::Int(number) => write!(text, "{number}"),
        Value::Int64(number) => write!(text, "{number}"),
        Value::Double(number) => write!(text, "{number}"),
        Value::Handle(handle) => write!(text, "{handle:#x}"),
        Value::Address(address) | Value::Function(address) => write!(text, "{address:p}"),
        Value::Void => write!(text, "..."),
    };
}
