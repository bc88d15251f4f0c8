//! The report as one JSON object (RFC 8259) on one line.

use std::fmt::Write;

use super::FatalReport;
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
        quote(&mut out, name);
        out.push(':');
        quote(&mut out, value);
    }
    out.push('}');
    text(&mut out, "message", Some(&report.what()));
    text(&mut out, "advice", report.advice().as_deref());
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
        Some(value) => quote(out, value),
        None => out.push_str("null"),
    }
}

/// A JSON string.
fn quote(out: &mut String, text: &str) {
    out.push('"');
    for each in text.chars() {
        match each {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            each if (each as u32) < 0x20 => {
                write!(out, "\\u{:04x}", each as u32).expect("writing to a String cannot fail");
            }
            each => out.push(each),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_json_cannot_hold_as_it_is_is_escaped() {
        let mut out = String::new();
        quote(&mut out, "a\"b\\c\nd\u{1}\u{e9}");
        assert_eq!(out, "\"a\\\"b\\\\c\\nd\\u0001\u{e9}\"");
    }
}
