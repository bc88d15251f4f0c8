//! Sentences about failures as values of a key-value space, whose characters are limited, and how the processes of a job agree on
//! one of them.
//!
//! Invariant: any value that is read becomes one line of text.

use std::ops::Range;

use crate::launcher::{KeyValueExchange, LauncherError};
use crate::tree::{Combined, combine, get_long, put_long};

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
        /// A text without blanks, `,`, `/`, `:` and `~`, equal for processes that probably have access to each other's memory.
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
/// request more than [`agree`], or none where values are waited for; with one, the values of all are combined by a tree.
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
        End::Refused { why, .. } => {
            // Another process may have put a sentence already; one is enough.
            let _ = link.put(&any, &encoded(why, link.longest_value()));
        }
    }
    agree(link, key, trouble.as_ref())?;
    if link.get(0, &any)?.is_none() {
        return match end {
            End::Refused { .. } => Err(LauncherError(format!("the launcher has lost the value {any}"))),
            _ => Ok(None),
        };
    }
    agree_by_first(link, &format!("{key}-who"), end)
}

/// The same where each process finds only values that were put, under the process that put them: rank 0 combines those of all.
#[cold]
fn agree_by_first(link: &mut dyn KeyValueExchange, key: &str, end: End<'_>) -> Result<Option<Refusals>, LauncherError> {
    let mut all = Verdict { key, end: Verdict::of(link.rank(), end) };
    all.put(link, 1)?;
    combine(link, &mut all)?;
    let of_all = format!("{key}-all");
    if link.rank() == 0 {
        let text = Verdict::text(&all.end, link.longest_value(), false);
        put_long(link, &of_all, &text)?;
    }
    link.fence()?;
    let found = Verdict::read(link, 0, &of_all, 0..0);
    let ranks = match all.end {
        Ok(Some(Refusals { ranks, .. })) if link.rank() == 0 => ranks,
        _ => Vec::new(),
    };
    match end {
        End::Failed(trouble) => Err(trouble.clone()),
        _ => Ok(found?.map(|Refusals { why, .. }| Refusals { ranks, why })),
    }
}

/// How a step has ended in some ranks: which were refused, if any; or why one has failed.
struct Verdict<'a> {
    key: &'a str,
    end: Result<Option<Refusals>, LauncherError>,
}

impl Verdict<'_> {
    fn of(rank: u32, end: End<'_>) -> Result<Option<Refusals>, LauncherError> {
        match end {
            End::Ready => Ok(None),
            End::Refused { class, why } => {
                Ok(Some(Refusals { ranks: vec![(rank, class.to_owned())], why: why.to_owned() }))
            }
            End::Failed(trouble) => Err(trouble.clone()),
        }
    }

    /// As a text; with the ranks that were refused, or with their sentence alone.
    #[cold]
    fn text(end: &Result<Option<Refusals>, LauncherError>, most: usize, with_ranks: bool) -> String {
        match end {
            Ok(None) => NO_FAILURE.to_owned(),
            Ok(Some(Refusals { ranks, why })) => {
                let ranks = ranks.iter().filter(|_| with_ranks).map(|(rank, class)| format!("{rank}:{class}"));
                format!("{REFUSED}{},{}", ranks.collect::<Vec<_>>().join("/"), encoded(why, most))
            }
            Err(trouble) => format!("{FAILED}{}", encoded(&trouble.0, most)),
        }
    }

    /// What a rank has put for some ranks.
    #[cold]
    fn read(
        link: &mut dyn KeyValueExchange,
        from: u32,
        key: &str,
        of: Range<u32>,
    ) -> Result<Option<Refusals>, LauncherError> {
        let Some(text) = get_long(link, from, key)? else {
            return Err(LauncherError(format!("rank {from} has not reported whether it is ready")));
        };
        if text == NO_FAILURE {
            return Ok(None);
        }
        let Some(refused) = text.strip_prefix(REFUSED) else {
            return Err(LauncherError(decoded(text.strip_prefix(FAILED).unwrap_or(&text))));
        };
        let (ranks, why) = refused.split_once(',').unwrap_or((refused, ""));
        let rank = |field: &str| {
            let (rank, class) = field.split_once(':')?;
            Some((rank.parse().ok().filter(|rank| of.contains(rank))?, class.to_owned()))
        };
        let ranks = ranks.split('/').filter(|field| !field.is_empty()).map(rank).collect::<Option<_>>();
        let ranks =
            ranks.ok_or_else(|| LauncherError(format!("rank {from} put {text:?} where refused ranks belong")))?;
        Ok(Some(Refusals { ranks, why: decoded(why) }))
    }

    fn key_of(&self, rank: u32, stride: u32) -> String {
        format!("{}-{stride}-{rank}", self.key)
    }
}

impl Combined for Verdict<'_> {
    fn add_of(&mut self, link: &mut dyn KeyValueExchange, child: u32, stride: u32) {
        let found = Verdict::read(link, child, &self.key_of(child, stride), child..child + stride);
        // The first failure is that of all.
        self.end = match (std::mem::replace(&mut self.end, Ok(None)), found) {
            (Err(trouble), _) | (Ok(_), Err(trouble)) => Err(trouble),
            (Ok(one), Ok(other)) => Ok(Refusals::both(one, other)),
        };
    }

    fn put(&self, link: &mut dyn KeyValueExchange, stride: u32) -> Result<(), LauncherError> {
        let (key, text) = (self.key_of(link.rank(), stride), Verdict::text(&self.end, link.longest_value(), true));
        put_long(link, &key, &text)
    }
}

/// A sentence as a value.
#[cold]
pub(crate) fn encoded(text: &str, most: usize) -> String {
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
#[cold]
pub(crate) fn decoded(value: &str) -> String {
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
