//! One JSON object in one line.

use std::fmt::Write;

use mpi_core::text::quote_json;

/// An object that grows by its fields, in their order.
pub(super) struct Object(String);

impl Object {
    pub(super) fn new() -> Object {
        Object("{".into())
    }

    pub(super) fn text(mut self, name: &str, value: &str) -> Object {
        self.name(name);
        quote_json(&mut self.0, value);
        self
    }

    pub(super) fn number(mut self, name: &str, value: impl Into<i64>) -> Object {
        self.name(name);
        let _ = write!(self.0, "{}", value.into());
        self
    }

    pub(super) fn flag(mut self, name: &str, value: bool) -> Object {
        self.name(name);
        self.0.push_str(if value { "true" } else { "false" });
        self
    }

    /// A field that is an array of objects.
    pub(super) fn list(mut self, name: &str, items: impl IntoIterator<Item = Object>) -> Object {
        self.name(name);
        let items: Vec<String> = items.into_iter().map(Object::end).collect();
        let _ = write!(self.0, "[{}]", items.join(","));
        self
    }

    /// The object's text.
    pub(super) fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }

    fn name(&mut self, name: &str) {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        quote_json(&mut self.0, name);
        self.0.push(':');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_stays_in_one_line_and_inside_its_quotes() {
        let inner = Object::new().number("n", -3).flag("ok", true);
        let text = Object::new().text("a\"b", "x\ny\\\u{1}ü").list("l", [inner]).list("e", []).end();
        assert_eq!(text, "{\"a\\\"b\":\"x\\ny\\\\\\u0001ü\",\"l\":[{\"n\":-3,\"ok\":true}],\"e\":[]}");
        assert_eq!(Object::new().end(), "{}");
    }
}
