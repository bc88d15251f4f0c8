//! The report as one JSON object (RFC 8259) on one line.

use mpi_core::json::Object;

use super::{Detail, FatalReport};
use crate::classes;

/// The object, ended by a newline.
pub fn object(report: &FatalReport<'_>) -> String {
    let error = report.error;
    let arguments = error.arguments().fold(Object::new(), |all, (name, value)| all.text(name, value));
    let mut object = Object::new()
        .text("source", "library")
        .text("kind", "error")
        .number_or_null("rank", report.rank.map(|(rank, _)| rank.into()))
        .number_or_null("size", report.rank.map(|(_, size)| size.into()))
        .text("host", report.host)
        .number("pid", report.pid)
        .text_or_null("call", error.call_name())
        .text_or_null("object", error.object())
        .text_or_null("class", classes::name(error.class()))
        .number("class_value", error.class())
        .object("arguments", arguments);
    for (name, value) in error.facts() {
        object = object.number(name, value);
    }
    object = object.text("message", &report.what()).text_or_null("advice", report.advice().as_deref());
    if report.detail == Detail::Full {
        object = object.texts("last_calls", report.last_calls);
    }
    object.text_or_null("handler_of", report.handler_of).text("consequence", report.consequence).end() + "\n"
}

#[cfg(test)]
mod tests {
    use super::super::{Detail, FatalReport};
    use crate::Error;
    use mpi_core::abi::MPI_ERR_TRUNCATE;

    #[test]
    fn facts_of_the_message_are_numbers_beside_it() {
        let error = Error::new(MPI_ERR_TRUNCATE, "too long").fact("message_source", 3).fact("message_bytes", 16);
        let report = FatalReport {
            rank: Some((0, 1)),
            host: "h",
            pid: 1,
            error: &error,
            handler_of: None,
            handled_by: None,
            consequence: "The job ends.",
            detail: Detail::Normal,
            last_calls: &[],
        };
        let object = super::object(&report);
        assert!(object.contains(",\"message_source\":3,\"message_bytes\":16,\"message\":\"Too long\","), "{object}");
        let other = Error::new(MPI_ERR_TRUNCATE, "too long").fact("message_source", 3).without_detail();
        assert!(!super::object(&FatalReport { error: &other, ..report }).contains("message_source"));
    }
}
