//! The report as one JSON object (RFC 8259) on one line.

use std::fmt::Write;

use mpi_core::text::quote_json;

use super::{Detail, FatalReport};
use crate::classes;

/// The object, ended by a newline.
pub fn object(report: &FatalReport<'_>) -> String {
    let error = report.error;
    let mut out = String::from("{\"source\":\"library\",\"kind\":\"error\"");
    number(&mut out, "rank", report.rank.map(|(rank, _)| rank.into()));
    number(&mut out, "size", report.rank.map(|(_, size)| size.into()));
    text(&mut out, "host", Some(report.host));
    number(&mut out, "pid", Some(report.pid.into()));
    text(&mut out, "call", error.call_name());
    text(&mut out, "object", error.object());
    text(&mut out, "class", classes::name(error.class()));
    number(&mut out, "class_value", Some(error.class().into()));
    out.push_str(",\"arguments\":{");
    for (at, (name, value)) in error.arguments().enumerate() {
        out.push_str(if at == 0 { "" } else { "," });
        quote_json(&mut out, name);
        out.push(':');
        quote_json(&mut out, value);
    }
    out.push('}');
    text(&mut out, "message", Some(&report.what()));
    text(&mut out, "advice", report.advice().as_deref());
    if report.detail == Detail::Full {
        out.push_str(",\"last_calls\":[");
        for (at, call) in report.last_calls.iter().enumerate() {
            out.push_str(if at == 0 { "" } else { "," });
            quote_json(&mut out, call);
        }
        out.push(']');
    }
    text(&mut out, "handler_of", report.handler_of);
    text(&mut out, "consequence", Some(report.consequence));
    out.push_str("}\n");
    out
}

fn number(out: &mut String, name: &str, value: Option<i64>) {
    let value = value.map_or_else(|| "null".to_owned(), |value| value.to_string());
    write!(out, ",\"{name}\":{value}").expect("writing to a String cannot fail");
}

fn text(out: &mut String, name: &str, value: Option<&str>) {
    write!(out, ",\"{name}\":").expect("writing to a String cannot fail");
    match value {
        Some(value) => quote_json(out, value),
        None => out.push_str("null"),
    }
}
