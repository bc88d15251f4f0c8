//! Sentences about failures as values of a key-value space, whose characters are limited.
//!
//! Invariant: any value that is read becomes one line of text.

use crate::launcher::{KeyValueExchange, LauncherError};

/// The value of a process without a failure, and what the value of another one begins with.
const NO_FAILURE: &str = "+";
const FAILED: &str = "-";

/// Puts the trouble of this process, if it has any, and waits until all have come here; then all have the trouble of one.
pub(crate) fn agree(
    link: &mut dyn KeyValueExchange,
    key: &str,
    trouble: Option<&LauncherError>,
) -> Result<(), LauncherError> {
    if link.waits_for_values() {
        return agree_by_first(link, key, trouble);
    }
    if let Some(trouble) = trouble {
        // Another process may have put a sentence already; one is enough.
        let _ = link.put(key, &encoded(&trouble.0, link.longest_value()));
    }
    link.fence()?;
    match (trouble, link.get(0, key)?) {
        (Some(trouble), _) => Err(trouble.clone()),
        (None, Some(text)) => Err(LauncherError(decoded(&text))),
        (None, None) => Ok(()),
    }
}

/// The same where each process finds only values that were put, under the process that put them: rank 0 reads those of all.
fn agree_by_first(
    link: &mut dyn KeyValueExchange,
    key: &str,
    trouble: Option<&LauncherError>,
) -> Result<(), LauncherError> {
    let most = link.longest_value() - 1;
    let value = |trouble: Option<&LauncherError>| match trouble {
        Some(trouble) => format!("{FAILED}{}", encoded(&trouble.0, most)),
        None => NO_FAILURE.to_owned(),
    };
    link.put(key, &value(trouble))?;
    link.fence()?;
    let of_all = format!("{key}-all");
    if link.rank() == 0 {
        let mut first = trouble.cloned();
        for rank in 1..link.size() {
            first = first.or_else(|| verdict(link, rank, key).err());
        }
        link.put(&of_all, &value(first.as_ref()))?;
    }
    link.fence()?;
    let found = verdict(link, 0, &of_all);
    trouble.map_or(found, |trouble| Err(trouble.clone()))
}

/// What a process has put: that it has no failure, or a sentence.
fn verdict(link: &mut dyn KeyValueExchange, rank: u32, key: &str) -> Result<(), LauncherError> {
    let value = link.get(rank, key)?;
    match value.as_deref() {
        Some(NO_FAILURE) => Ok(()),
        Some(value) => Err(LauncherError(decoded(value.strip_prefix(FAILED).unwrap_or(value)))),
        None => Err(LauncherError(format!("rank {rank} has not reported whether it is ready"))),
    }
}

/// A sentence as a value.
fn encoded(text: &str, most: usize) -> String {
    let mut value = String::new();
    for byte in text.bytes() {
        let part = match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b',' | b':' | b'(' | b')' | b'/' | b'-' | b'_' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02x}"),
        };
        if value.len() + part.len() > most {
            break;
        }
        value.push_str(&part);
    }
    value
}

/// The sentence of a value; characters that are no code stay unchanged.
fn decoded(value: &str) -> String {
    let bytes = value.as_bytes();
    let mut text = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let code =
            value.get(at + 1..at + 3).filter(|_| *byte == b'%').and_then(|code| u8::from_str_radix(code, 16).ok());
        text.push(code.unwrap_or(*byte));
        at += if code.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&text).chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_survive_their_coding() {
        let text = "rank 3 (ünlikely) 100% \"gone\"";
        assert_eq!(decoded(&encoded(text, 1000)), text);
        assert_eq!(decoded("%zz%4%"), "%zz%4%");
        assert_eq!(decoded("a%0ab%ff"), "a b\u{fffd}");
        assert!(encoded(text, 10).len() <= 10);
    }
}
