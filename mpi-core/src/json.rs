//! JSON objects (RFC 8259), each on one line, for reports that programs read.
//!
//! Invariant: every text is escaped, so that it cannot end its quotes or its line.
//! Not here: the fields of reports.

use std::fmt::Write;

/// An object to which fields are appended in order.
#[derive(Debug)]
pub struct Object(String);

impl Default for Object {
    fn default() -> Object {
        Object::new()
    }
}

impl Object {
    /// An object without fields.
    pub fn new() -> Object {
        Object("{".into())
    }

    /// Appends a text.
    pub fn text(mut self, name: &str, value: &str) -> Object {
        quote(self.field(name), value);
        self
    }

    /// Appends a text, or `null`.
    pub fn text_or_null(self, name: &str, value: Option<&str>) -> Object {
        match value {
            Some(value) => self.text(name, value),
            None => self.raw(name, "null"),
        }
    }

    /// Appends a number.
    pub fn number(self, name: &str, value: impl Into<i64>) -> Object {
        self.raw(name, &value.into().to_string())
    }

    /// Appends a number, or `null`.
    pub fn number_or_null(self, name: &str, value: Option<i64>) -> Object {
        self.raw(name, &value.map_or_else(|| "null".to_owned(), |value| value.to_string()))
    }

    /// Appends `true` or `false`.
    pub fn flag(self, name: &str, value: bool) -> Object {
        self.raw(name, if value { "true" } else { "false" })
    }

    /// Appends an object.
    pub fn object(self, name: &str, value: Object) -> Object {
        self.raw(name, &value.end())
    }

    /// Appends an array of objects.
    pub fn objects(self, name: &str, items: impl IntoIterator<Item = Object>) -> Object {
        self.array(name, items.into_iter().map(Object::end))
    }

    /// Appends an array of texts.
    pub fn texts(self, name: &str, items: impl IntoIterator<Item = impl AsRef<str>>) -> Object {
        self.array(name, items.into_iter().map(|item| text(item.as_ref())))
    }

    /// Appends an array of values that are JSON already, such as numbers.
    pub fn array(self, name: &str, items: impl IntoIterator<Item = String>) -> Object {
        let items: Vec<String> = items.into_iter().collect();
        self.raw(name, &format!("[{}]", items.join(",")))
    }

    /// Appends a value that is JSON already, such as a number with decimals.
    pub fn json(self, name: &str, value: &str) -> Object {
        self.raw(name, value)
    }

    /// Returns the text of the object.
    pub fn end(mut self) -> String {
        self.0.push('}');
        self.0
    }

    fn raw(mut self, name: &str, value: &str) -> Object {
        self.field(name).push_str(value);
        self
    }

    /// Begins a field; its value follows.
    fn field(&mut self, name: &str) -> &mut String {
        if self.0.len() > 1 {
            self.0.push(',');
        }
        quote(&mut self.0, name);
        self.0.push(':');
        &mut self.0
    }
}

/// A text as a JSON string.
pub fn text(text: &str) -> String {
    let mut out = String::new();
    quote(&mut out, text);
    out
}

fn quote(out: &mut String, text: &str) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            control if control < ' ' => {
                let _ = write!(out, "\\u{:04x}", control as u32);
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_text_stays_in_one_line_and_inside_its_quotes() {
        let inner = Object::new().number("n", -3).flag("ok", true).text_or_null("none", None);
        let object = Object::new().text("a\"b", "x\ny\\\u{1}\u{e9}\t").objects("l", [inner]).objects("e", []);
        assert_eq!(
            object.end(),
            "{\"a\\\"b\":\"x\\ny\\\\\\u0001\u{e9}\\t\",\"l\":[{\"n\":-3,\"ok\":true,\"none\":null}],\"e\":[]}"
        );
        assert_eq!(Object::new().end(), "{}");
    }

    #[test]
    fn arrays_and_objects_can_be_fields() {
        let object = Object::new().texts("t", ["a", "b"]).array("n", ["1".into(), "null".into()]);
        let object = object.object("o", Object::new().number_or_null("x", Some(1)).number_or_null("y", None));
        assert_eq!(object.end(), "{\"t\":[\"a\",\"b\"],\"n\":[1,null],\"o\":{\"x\":1,\"y\":null}}");
    }
}
