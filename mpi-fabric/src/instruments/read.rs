//! Reading an instruments area that another process may be writing, or may have damaged.

use std::sync::atomic::Ordering;

use super::{Area, CATEGORY, ENTRY_HEAD, FIRST, LIVE, NAME, TITLE, TYPE, UNIT, VARIABLE};
use crate::layout::block;

/// A word of this library's blocks is read by at most so many variables: a level and its two watermarks are three.
const MOST_VARIABLES_OF_A_WORD: usize = 4;

/// One block that a reader found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockReading {
    /// Name of the block's type.
    pub type_name: String,
    /// The object it belongs to; empty: the process.
    pub object: String,
    /// Its variables.
    pub variables: Vec<VariableReading>,
}

/// One variable that a reader found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableReading {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// Its category.
    pub category: String,
    /// `MPI_T_PVAR_CLASS_*`.
    pub class: i32,
    /// `MPI_T_BIND_*`.
    pub bind: i32,
    /// 0 int, 1 unsigned, 2 unsigned long long, 3 double, 4 text.
    pub value_type: u32,
    /// Its word: the value; nanoseconds of a timer; parts of 2^32 of a percentage.
    pub word: u64,
}

/// A block in use whose type is consistent: everything in it lies in the area.
#[derive(Clone, Copy)]
pub(super) struct LiveBlock {
    at: usize,
    words: usize,
    type_at: usize,
    /// Number of variables that the type describes.
    variables: usize,
}

/// The blocks in use. An inconsistent entry ends the search, because its length is unknown.
pub(super) fn live(area: &Area) -> impl Iterator<Item = LiveBlock> + '_ {
    // Acquire pairs with the Release in `publish`.
    let used = (area.word(0).load(Ordering::Acquire) as usize).min(block::INSTRUMENTS_BYTES);
    let mut at = FIRST;
    let entries = std::iter::from_fn(move || {
        if at + ENTRY_HEAD > used {
            return None;
        }
        // Acquire pairs with the Release in `allocate`.
        let first = area.word(at).load(Ordering::Acquire);
        let bytes = (first >> 32) as usize;
        if bytes < ENTRY_HEAD || !bytes.is_multiple_of(8) || bytes > used - at {
            return None;
        }
        let found = (at, bytes, first as u32 as u64 == LIVE);
        at += bytes;
        Some(found)
    });
    entries.filter_map(move |(at, bytes, is_live)| LiveBlock::checked(area, at, bytes, used).filter(|_| is_live))
}

/// The blocks in use with all that they describe.
pub(super) fn blocks(area: &Area) -> Vec<BlockReading> {
    live(area).map(|found| found.read(area)).collect()
}

impl LiveBlock {
    fn checked(area: &Area, at: usize, bytes: usize, used: usize) -> Option<LiveBlock> {
        let second = area.word(at + 8).load(Ordering::Relaxed);
        let (type_at, words) = ((second >> 32) as usize, second as u32 as usize);
        if words != (bytes - ENTRY_HEAD) / 8
            || type_at < FIRST
            || !type_at.is_multiple_of(8)
            || type_at + ENTRY_HEAD > used
        {
            return None;
        }
        let first = area.word(type_at).load(Ordering::Relaxed);
        let type_bytes = (first >> 32) as usize;
        if first as u32 as u64 != TYPE || type_bytes < ENTRY_HEAD || type_bytes > used - type_at {
            return None;
        }
        let count = (area.word(type_at + 8).load(Ordering::Relaxed) >> 32) as usize;
        // A damaged area must not make a reader describe the same words thousands of times.
        let most = words.saturating_mul(MOST_VARIABLES_OF_A_WORD).min((type_bytes - ENTRY_HEAD) / VARIABLE);
        Some(LiveBlock { at, words, type_at, variables: count.min(most) })
    }

    /// Where its type lies.
    pub(super) fn type_at(&self) -> usize {
        self.type_at
    }

    /// The variables: where their descriptions lie, and which words they read.
    pub(super) fn variables<'a>(&'a self, area: &'a Area) -> impl Iterator<Item = (usize, usize)> + 'a {
        let descriptions = (0..self.variables).map(|i| self.type_at + ENTRY_HEAD + i * VARIABLE);
        let words = descriptions.map(|description| (description, load(area, description) as u32 as usize));
        words.filter(|(_, word)| *word < self.words)
    }

    /// A word of the block; 0 if it has no such word.
    pub(super) fn word(&self, area: &Area, word: usize) -> u64 {
        if word < self.words { load(area, self.at + ENTRY_HEAD + word * 8) } else { 0 }
    }

    /// Whether the object's name begins with these eight bytes.
    pub(super) fn object_begins_with(&self, area: &Area, bytes: &[u8; 8]) -> bool {
        load(area, self.at + TITLE.0) == u64::from_le_bytes(*bytes)
    }

    fn read(&self, area: &Area) -> BlockReading {
        let variable = |(description, word): (usize, usize)| {
            let (what, kind) = (load(area, description), load(area, description + 8));
            VariableReading {
                name: text(area, description, NAME),
                unit: text(area, description, UNIT),
                category: text(area, description, CATEGORY),
                class: (what >> 32) as i32,
                bind: (kind >> 32) as i32,
                value_type: kind as u32,
                word: self.word(area, word),
            }
        };
        BlockReading {
            type_name: text(area, self.type_at, TITLE),
            object: text(area, self.at, TITLE),
            variables: self.variables(area).map(variable).collect(),
        }
    }
}

/// The class that a description has.
pub(super) fn class_at(area: &Area, description: usize) -> i32 {
    (load(area, description) >> 32) as i32
}

/// The name and category that a description has.
pub(super) fn texts_at(area: &Area, description: usize) -> (String, String) {
    (text(area, description, NAME), text(area, description, CATEGORY))
}

fn load(area: &Area, at: usize) -> u64 {
    area.word(at).load(Ordering::Relaxed)
}

fn text(area: &Area, entry: usize, (at, len): (usize, usize)) -> String {
    let bytes: Vec<u8> = (0..len).step_by(8).flat_map(|i| load(area, entry + at + i).to_le_bytes()).collect();
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(len);
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
