//! Offsets of blocks, in 32 bits each where they fit: irregular blocks are short, and reading their offsets is half of
//! the work of packing them.

use std::ops::Range;
use std::sync::Arc;

/// A shared list of offsets. Cheap to clone.
#[derive(Debug, Clone)]
pub(crate) enum Offsets {
    Narrow(Arc<[i32]>),
    Wide(Arc<[i64]>),
}

/// A borrowed list of offsets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum OffsetList<'s> {
    Narrow(&'s [i32]),
    Wide(&'s [i64]),
}

impl From<Vec<i64>> for Offsets {
    fn from(list: Vec<i64>) -> Offsets {
        let narrow: Result<Arc<[i32]>, _> = list.iter().map(|offset| i32::try_from(*offset)).collect();
        narrow.map_or_else(|_| Offsets::Wide(list.into()), Offsets::Narrow)
    }
}

impl Offsets {
    #[inline]
    pub fn list(&self) -> OffsetList<'_> {
        match self {
            Offsets::Narrow(list) => OffsetList::Narrow(list),
            Offsets::Wide(list) => OffsetList::Wide(list),
        }
    }
}

impl<'s> OffsetList<'s> {
    #[inline]
    pub fn len(self) -> usize {
        match self {
            OffsetList::Narrow(list) => list.len(),
            OffsetList::Wide(list) => list.len(),
        }
    }

    #[inline]
    pub fn get(self, index: usize) -> i64 {
        match self {
            OffsetList::Narrow(list) => list[index].into(),
            OffsetList::Wide(list) => list[index],
        }
    }

    #[inline]
    pub fn part(self, range: Range<usize>) -> OffsetList<'s> {
        match self {
            OffsetList::Narrow(list) => OffsetList::Narrow(&list[range]),
            OffsetList::Wide(list) => OffsetList::Wide(&list[range]),
        }
    }

    /// The number of offsets below `place`, in an ascending list.
    pub fn below(self, place: i64) -> usize {
        match self {
            OffsetList::Narrow(list) => list.partition_point(|offset| i64::from(*offset) < place),
            OffsetList::Wide(list) => list.partition_point(|offset| *offset < place),
        }
    }

    pub fn iter(self) -> impl Iterator<Item = i64> + 's {
        (0..self.len()).map(move |index| self.get(index))
    }
}
