//! The messages of PMI-1: one line each, `cmd=NAME` and then `key=value`, divided by blanks.
//!
//! Invariant: a parsed message is printable text, its keys are valid, and values contain blanks only behind a
//! backslash; they are passed on as they are on the wire. Not here: the meaning of messages (`client`, `mpi-launch`).

use std::fmt::Write;
use std::str::FromStr;

/// Longest line that is read, in bytes: many times the length of any command of PMI-1.
pub const LONGEST_LINE: usize = 16 << 10;
/// Most attributes of one message.
const MOST_ATTRIBUTES: usize = 1024;

/// One message, borrowed from its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message<'a> {
    /// The command, such as `init`.
    pub command: &'a str,
    attributes: Vec<(&'a str, &'a str)>,
}

/// Why a line is no message. `Display` ends a sentence.
#[derive(Clone, Copy, Debug, thiserror::Error, PartialEq, Eq)]
pub enum Malformed {
    /// Bytes that are not UTF-8, or control characters.
    #[error("it is not text")]
    NotText,
    /// The line names no command.
    #[error("it does not begin with cmd=")]
    NoCommand,
    /// A word that is no key is in the place of a key.
    #[error("it has a key that is none")]
    BadKey,
    /// More attributes than any message has.
    #[error("it has too many attributes")]
    TooMany,
}

impl<'a> Message<'a> {
    /// Reads a line, with or without its line end.
    /// # Errors
    /// See [`Malformed`].
    pub fn parse(line: &'a [u8]) -> Result<Message<'a>, Malformed> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let text = std::str::from_utf8(line).map_err(|_| Malformed::NotText)?;
        if text.chars().any(char::is_control) {
            return Err(Malformed::NotText);
        }
        let mut words = words(text);
        let command = words.next().and_then(|word| word.strip_prefix("cmd=")).ok_or(Malformed::NoCommand)?;
        if !is_key(command) {
            return Err(Malformed::NoCommand);
        }
        let mut attributes = Vec::new();
        for word in words {
            // An attribute without a value is a flag.
            let (key, value) = word.split_once('=').unwrap_or((word, ""));
            if !is_key(key) {
                return Err(Malformed::BadKey);
            }
            if attributes.len() == MOST_ATTRIBUTES {
                return Err(Malformed::TooMany);
            }
            attributes.push((key, value));
        }
        Ok(Message { command, attributes })
    }

    /// The value of an attribute; of the first one, if it occurs twice.
    pub fn get(&self, key: &str) -> Option<&'a str> {
        self.attributes.iter().find(|(own, _)| *own == key).map(|(_, value)| *value)
    }

    /// The value of an attribute as a number; `None` also if it is no number.
    pub fn number<T: FromStr>(&self, key: &str) -> Option<T> {
        self.get(key)?.parse().ok()
    }
}

/// Writes a message, with its line end. Values must not contain line ends, and blanks only behind a backslash.
pub fn compose(command: &str, attributes: &[(&str, &str)]) -> String {
    let mut line = format!("cmd={command}");
    for (key, value) in attributes {
        debug_assert!(is_key(key) && words(value).count() <= 1 && !value.contains(['\n', '\0']), "{key}={value}");
        // Writing to a string cannot fail.
        let _ = write!(line, " {key}={value}");
    }
    line.push('\n');
    line
}

/// Whether a word can be a key.
pub fn is_key(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'/'))
}

/// Words divided by blanks that no backslash escapes.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut escaped = false;
    let divides = move |letter: char| {
        let divides = letter == ' ' && !escaped;
        escaped = letter == '\\' && !escaped;
        divides
    };
    text.split(divides).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_message_is_a_command_and_attributes() {
        let message = Message::parse(b"cmd=maxes rc=0 kvsname_max=256  flag value=a=b\\ c\n").unwrap();
        assert_eq!(message.command, "maxes");
        assert_eq!((message.number("kvsname_max"), message.get("flag")), (Some(256), Some("")));
        assert_eq!(message.get("value"), Some("a=b\\ c"));
        assert_eq!((message.get("other"), message.number::<u32>("flag")), (None, None));
    }

    #[test]
    fn what_is_no_message_is_refused_for_its_reason() {
        for (line, reason) in [
            (&b""[..], Malformed::NoCommand),
            (b"\n", Malformed::NoCommand),
            (b"cmd", Malformed::NoCommand),
            (b"cmd=", Malformed::NoCommand),
            (b"cmd=a\\b", Malformed::NoCommand),
            (b"mcmd=spawn", Malformed::NoCommand),
            (b"rc=0 cmd=init", Malformed::NoCommand),
            (b"cmd=init \xff", Malformed::NotText),
            (b"cmd=init a=\0", Malformed::NotText),
            (b"cmd=init\r", Malformed::NotText),
            (b"cmd=init =1", Malformed::BadKey),
            (b"cmd=init a.b=1", Malformed::BadKey),
        ] {
            assert_eq!(Message::parse(line), Err(reason), "{:?}", String::from_utf8_lossy(line));
        }
        let many = format!("cmd=x{}", " a=1".repeat(MOST_ATTRIBUTES + 1));
        assert_eq!(Message::parse(many.as_bytes()), Err(Malformed::TooMany));
    }

    proptest! {
        #[test]
        fn what_is_composed_is_parsed(command in "[a-z_]{1,12}", pairs in prop::collection::vec(("[a-zA-Z0-9_/-]{1,9}", "[!-\\[\\]-~]{0,40}"), 0..6)) {
            let attributes: Vec<(&str, &str)> = pairs.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
            let line = compose(&command, &attributes);
            let message = Message::parse(line.as_bytes()).unwrap();
            prop_assert_eq!(message, Message { command: &command, attributes });
        }

        #[test]
        fn any_bytes_are_a_message_or_malformed(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(message) = Message::parse(&bytes) {
                prop_assert!(is_key(message.command) && message.attributes.iter().all(|(key, _)| is_key(key)));
            }
        }
    }
}
