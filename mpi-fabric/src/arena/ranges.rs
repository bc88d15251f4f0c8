//! The free ranges of a segment, by offset.
//!
//! Invariant: ranges neither overlap nor touch each other.

use std::collections::BTreeMap;

/// Free ranges: offset to length, in bytes.
#[derive(Debug, Default)]
pub(super) struct Ranges(BTreeMap<usize, usize>);

impl Ranges {
    /// One range of so many bytes at offset 0.
    pub(super) fn one(bytes: usize) -> Ranges {
        Ranges(BTreeMap::from([(0, bytes)]))
    }

    /// Takes `bytes` bytes out of the first range that has them at a multiple of `alignment`, a power of two, from the
    /// address `start` of offset 0 on; returns their address.
    pub(super) fn take(&mut self, bytes: usize, alignment: usize, start: usize) -> Option<usize> {
        let (from, length, offset) = self.0.iter().find_map(|(&from, &length)| {
            let offset = (start + from).checked_next_multiple_of(alignment)? - start;
            (offset.checked_add(bytes)? <= from + length).then_some((from, length, offset))
        })?;
        self.0.remove(&from);
        if offset > from {
            self.0.insert(from, offset - from);
        }
        let (end, last) = (offset + bytes, from + length);
        if last > end {
            self.0.insert(end, last - end);
        }
        Some(start + offset)
    }

    /// Gives a range back.
    pub(super) fn give(&mut self, offset: usize, bytes: usize) {
        let (mut first, mut last) = (offset, offset + bytes);
        if let Some((&from, &length)) = self.0.range(..offset).next_back() {
            debug_assert!(from + length <= offset, "a range is given back once");
            if from + length == offset {
                first = from;
            }
        }
        if let Some(length) = self.0.remove(&last) {
            last += length;
        }
        self.0.insert(first, last - first);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_taken_once_aligned_and_joined_when_they_come_back() {
        const PAGES: usize = 64;
        let (start, mut state) = (0x7000, 7u64);
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 40) as usize % below
        };
        let (mut ranges, mut taken) = (Ranges::one(PAGES << 12), Vec::<(usize, usize)>::new());
        let mut used = [false; PAGES];
        for _ in 0..20_000 {
            if random(2) == 0 && !taken.is_empty() {
                let (address, bytes) = taken.swap_remove(random(taken.len()));
                let offset = address - start;
                used[offset >> 12..(offset + bytes) >> 12].fill(false);
                ranges.give(offset, bytes);
                continue;
            }
            let (bytes, alignment) = ((random(8) + 1) << 12, 4096 << random(4));
            // Every range that is free is found.
            let fits = |first: &usize| {
                (start + (first << 12)).is_multiple_of(alignment)
                    && used.get(*first..first + (bytes >> 12)).is_some_and(|pages| pages.iter().all(|used| !used))
            };
            let expected = (0..PAGES).find(fits).map(|first| start + (first << 12));
            let address = ranges.take(bytes, alignment, start);
            assert_eq!(address, expected);
            if let Some(address) = address {
                let offset = address - start;
                used[offset >> 12..(offset + bytes) >> 12].fill(true);
                taken.push((address, bytes));
            }
        }
        taken.drain(..).for_each(|(address, bytes)| ranges.give(address - start, bytes));
        assert_eq!(ranges.0, BTreeMap::from([(0, PAGES << 12)]));
    }
}
