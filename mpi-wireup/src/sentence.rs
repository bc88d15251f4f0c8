//! Sentences about failures as values of a key-value space, whose characters are limited, and how the processes of a job agree on
//! one of them.
//!
//! Invariant: any value that is read becomes one line of text.

use crate::launcher::{KeyValueExchange, LauncherError};

/// The value of a process without a failure, and what the value of another one begins with.
const NO_FAILURE: &str = "+";
const FAILED: &str = "-";
/// What the value of a process that was refused begins with.
const REFUSED: &str = "~";

/// How a step has ended in a process.
#[derive(Clone, Copy)]
pub(crate) enum End<'a> {
    /// As it should.
    Ready,
    /// The system refuses this process the memory of another one.
    Refused {
        /// A text without blanks, `,` and `~`, equal for processes that probably have access to each other's memory.
        class: &'a str,
        /// A sentence: what was refused, and why.
        why: &'a str,
    },
    /// All processes have to fail.
    Failed(&'a LauncherError),
}

/// The processes that were refused in a step.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Refusals {
    /// Their ranks and classes: at rank 0; elsewhere empty.
    pub(crate) ranks: Vec<(u32, String)>,
    /// The sentence of one of them.
    pub(crate) why: String,
}

impl Refusals {
    /// Those of two steps.
    pub(crate) fn both(one: Option<Refusals>, other: Option<Refusals>) -> Option<Refusals> {
        match (one, other) {
            (Some(mut one), Some(other)) => {
                one.ranks.extend(other.ranks);
                Some(one)
            }
            (one, other) => one.or(other),
        }
    }
}

/// Puts the trouble of this process, if it has any, and waits until all have come here; then all have the trouble of one.
pub(crate) fn agree(
    link: &mut dyn KeyValueExchange,
    key: &str,
    trouble: Option<&LauncherError>,
) -> Result<(), LauncherError> {
    if link.waits_for_values() {
        return agree_by_first(link, key, trouble.map_or(End::Ready, End::Failed)).map(drop);
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

/// As [`agree`], for a step in which processes may be refused: `None` if none was. Without a refusal this costs each process one
/// request more than [`agree`], or none where values are waited for; with one it costs rank 0 a request for each process.
pub(crate) fn agree_or_regroup(
    link: &mut dyn KeyValueExchange,
    key: &str,
    end: End<'_>,
) -> Result<Option<Refusals>, LauncherError> {
    if link.waits_for_values() {
        return agree_by_first(link, key, end);
    }
    let (any, mut trouble) = (format!("{key}-refused"), None);
    match end {
        End::Ready => {}
        End::Failed(failure) => trouble = Some(failure.clone()),
        End::Refused { class, why } => {
            trouble = link.put(&refused_key(key, link.rank()), class).err();
            // Another process may have put a sentence already; one is enough.
            let _ = link.put(&any, &encoded(why, link.longest_value()));
        }
    }
    agree(link, key, trouble.as_ref())?;
    let Some(why) = link.get(0, &any)? else {
        return match end {
            End::Refused { .. } => Err(LauncherError(format!("the launcher has lost the value {any}"))),
            _ => Ok(None),
        };
    };
    let mut ranks = Vec::new();
    if link.rank() == 0 {
        for rank in 1..link.size() {
            ranks.extend(link.get(rank, &refused_key(key, rank))?.map(|class| (rank, class)));
        }
    }
    Ok(Some(Refusals { ranks, why: decoded(&why) }))
}

fn refused_key(key: &str, rank: u32) -> String {
    format!("{key}-refused-{rank}")
}

/// The same where each process finds only values that were put, under the process that put them: rank 0 reads those of all.
fn agree_by_first(link: &mut dyn KeyValueExchange, key: &str, end: End<'_>) -> Result<Option<Refusals>, LauncherError> {
    let most = link.longest_value() - 1;
    let value = |end: End<'_>| match end {
        End::Ready => NO_FAILURE.to_owned(),
        End::Refused { class, why } => {
            format!("{REFUSED}{class},{}", encoded(why, most.saturating_sub(class.len() + 1)))
        }
        End::Failed(trouble) => format!("{FAILED}{}", encoded(&trouble.0, most)),
    };
    link.put(key, &value(end))?;
    link.fence()?;
    let of_all = format!("{key}-all");
    let mut ranks = Vec::new();
    if link.rank() == 0 {
        let mut first = if let End::Failed(trouble) = end { Some(trouble.clone()) } else { None };
        let mut why = None;
        for rank in 1..link.size() {
            match verdict(link, rank, key) {
                Ok(None) => {}
                Ok(Some((class, sentence))) => {
                    ranks.push((rank, class));
                    why = why.or(Some(sentence));
                }
                Err(failure) => first = first.or(Some(failure)),
            }
        }
        let refused = why.as_ref().map_or(End::Ready, |why| End::Refused { class: "", why });
        link.put(&of_all, &value(first.as_ref().map_or(refused, End::Failed)))?;
    }
    link.fence()?;
    let found = verdict(link, 0, &of_all);
    match end {
        End::Failed(trouble) => Err(trouble.clone()),
        _ => Ok(found?.map(|(_, why)| Refusals { ranks, why })),
    }
}

/// What a process has put: that it is ready, or its class and a sentence if it was refused; or why it has failed.
fn verdict(link: &mut dyn KeyValueExchange, rank: u32, key: &str) -> Result<Option<(String, String)>, LauncherError> {
    let Some(value) = link.get(rank, key)? else {
        return Err(LauncherError(format!("rank {rank} has not reported whether it is ready")));
    };
    if value == NO_FAILURE {
        return Ok(None);
    }
    match value.strip_prefix(REFUSED) {
        Some(refused) => {
            let (class, why) = refused.split_once(',').unwrap_or((refused, ""));
            Ok(Some((class.to_owned(), decoded(why))))
        }
        None => Err(LauncherError(decoded(value.strip_prefix(FAILED).unwrap_or(&value)))),
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
