//! Reading an instruments area that another process may be writing, or may have damaged.

use std::sync::atomic::Ordering;

use super::{Area, CATEGORY, ENTRY_HEAD, FIRST, LIVE, NAME, TITLE, TYPE, UNIT, VARIABLE};
use crate::layout::block;

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

/// The blocks in use. An inconsistent entry ends the search, because its length is unknown.
pub(super) fn blocks(area: &Area) -> Vec<BlockReading> {
    // Acquire pairs with the Release in `publish`.
    let used = (area.word(0).load(Ordering::Acquire) as usize).min(block::INSTRUMENTS_BYTES);
    let mut found = Vec::new();
    let mut at = FIRST;
    while at + ENTRY_HEAD <= used {
        // Acquire pairs with the Release in `allocate`.
        let first = area.word(at).load(Ordering::Acquire);
        let bytes = (first >> 32) as usize;
        if bytes < ENTRY_HEAD || !bytes.is_multiple_of(8) || bytes > used - at {
            break;
        }
        if first as u32 as u64 == LIVE {
            found.extend(read_block(area, at, bytes, used));
        }
        at += bytes;
    }
    found
}

fn read_block(area: &Area, at: usize, bytes: usize, used: usize) -> Option<BlockReading> {
    let second = area.word(at + 8).load(Ordering::Relaxed);
    let (type_at, words) = ((second >> 32) as usize, second as u32 as usize);
    if words != (bytes - ENTRY_HEAD) / 8 || type_at < FIRST || !type_at.is_multiple_of(8) || type_at + ENTRY_HEAD > used
    {
        return None;
    }
    let first = area.word(type_at).load(Ordering::Relaxed);
    let type_bytes = (first >> 32) as usize;
    if first as u32 as u64 != TYPE || type_bytes < ENTRY_HEAD || type_bytes > used - type_at {
        return None;
    }
    let count = (area.word(type_at + 8).load(Ordering::Relaxed) >> 32) as usize;
    let count = count.min((type_bytes - ENTRY_HEAD) / VARIABLE);
    let variables = (0..count).filter_map(|i| {
        let description = type_at + ENTRY_HEAD + i * VARIABLE;
        let (what, kind) = (load(area, description), load(area, description + 8));
        let word = what as u32 as usize;
        (word < words).then(|| VariableReading {
            name: text(area, description, NAME),
            unit: text(area, description, UNIT),
            category: text(area, description, CATEGORY),
            class: (what >> 32) as i32,
            bind: (kind >> 32) as i32,
            value_type: kind as u32,
            word: load(area, at + ENTRY_HEAD + word * 8),
        })
    });
    Some(BlockReading {
        type_name: text(area, type_at, TITLE),
        object: text(area, at, TITLE),
        variables: variables.collect(),
    })
}

fn load(area: &Area, at: usize) -> u64 {
    area.word(at).load(Ordering::Relaxed)
}

fn text(area: &Area, entry: usize, (at, len): (usize, usize)) -> String {
    let bytes: Vec<u8> = (0..len).step_by(8).flat_map(|i| load(area, entry + at + i).to_le_bytes()).collect();
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(len);
    String::from_utf8_lossy(&bytes[..end]).into_owned()
}
