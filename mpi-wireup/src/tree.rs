//! Combining a value of each rank at rank 0, by a tree in the key-value space of a launcher.
//!
//! Invariant: on each level a rank reads the values of fewer than [`FAN`] other ones; there are as many levels as the number of ranks
//! has digits to this base.
//! Functions that run once in a process are cold, so that they are not copied into each other.
//! Not here: what the values are (`rendezvous`, `sentence`).

use mpi_fabric::layout::MAX_RANKS;

use crate::launcher::{KeyValueExchange, LauncherError};

/// Ranks whose values one of them combines.
pub(crate) const FAN: u32 = 32;

/// What one rank, or the ranks that follow it, have put.
pub(crate) trait Combined {
    /// Adds what `child` has put for itself and the `stride - 1` ranks that follow it, of those that exist. Trouble becomes part of the value.
    fn add_of(&mut self, link: &mut dyn KeyValueExchange, child: u32, stride: u32);

    /// Puts the value for this rank and the `stride - 1` ranks that follow it.
    /// # Errors
    /// The launcher does not accept it.
    fn put(&self, link: &mut dyn KeyValueExchange, stride: u32) -> Result<(), LauncherError>;
}

/// Combines the values of all ranks in that of rank 0. Each has put its own, for a stride of 1. Collective.
/// # Errors
/// The launcher ends a fence, or does not accept a value.
#[cold]
pub(crate) fn combine(link: &mut dyn KeyValueExchange, value: &mut dyn Combined) -> Result<(), LauncherError> {
    let (rank, size) = (link.rank(), link.size());
    let mut stride = 1;
    loop {
        link.fence()?;
        let next = stride * FAN;
        if rank.is_multiple_of(next) {
            (rank + stride..size.min(rank + next))
                .step_by(stride as usize)
                .for_each(|child| value.add_of(link, child, stride));
        }
        if next >= size {
            return Ok(());
        }
        if rank.is_multiple_of(next) && rank != 0 {
            value.put(link, next)?;
        }
        stride = next;
    }
}

/// Puts a text of any length, in parts.
#[cold]
pub(crate) fn put_long(link: &mut dyn KeyValueExchange, key: &str, text: &str) -> Result<(), LauncherError> {
    let most = link.longest_value().saturating_sub(8).max(1);
    let parts: Vec<&[u8]> = text.as_bytes().chunks(most).collect();
    for (i, part) in parts.iter().enumerate() {
        // The text is plain ASCII.
        link.put(&format!("{key}-{i}"), &format!("{}:{}", parts.len(), String::from_utf8_lossy(part)))?;
    }
    Ok(())
}

/// The text that a rank has put, if it has.
#[cold]
pub(crate) fn get_long(link: &mut dyn KeyValueExchange, from: u32, key: &str) -> Result<Option<String>, LauncherError> {
    let (mut text, mut i, mut parts) = (String::new(), 0, 1);
    while i < parts {
        let Some(value) = link.get(from, &format!("{key}-{i}"))? else { break };
        let Some((count, part)) = value.split_once(':') else { break };
        parts = count.parse().unwrap_or(0).min(MAX_RANKS);
        text += part;
        i += 1;
    }
    if i == parts && i > 0 {
        Ok(Some(text))
    } else if i == 0 || parts == 0 {
        Ok(None)
    } else {
        Err(LauncherError(format!("the launcher has lost a part of the value {key}")))
    }
}
