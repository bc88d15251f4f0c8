//! The places of data in a window, in a message: for processes that share no memory with the one that moves the window.
//!
//! Runs of the same length at the same distance from each other form a group, so that the data of a regular view are few
//! numbers.
//! Invariant: the runs that a process takes out of a message lie in its window.
//! Not here: the messages (`parcels`).

use crate::view::View;

/// Numbers of a group in a message, of 4 bytes each.
const NUMBERS: usize = 4;
/// Bytes of a group in a message.
const GROUP: usize = 4 * NUMBERS;

/// Runs at equal distances.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Group {
    /// Where the first one begins, from the start of the window.
    place: u32,
    /// Bytes of each.
    length: u32,
    /// From the start of one to that of the next; 0 of a single run.
    stride: u32,
    /// Their number.
    count: u32,
}

/// Runs in ascending order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Runs {
    groups: Vec<Group>,
}

impl Runs {
    /// Those of the view's data bytes `at .. at + bytes`, which lie in the window that begins at `from`.
    pub fn of_data(view: &View, at: u64, bytes: u64, from: u64) -> Runs {
        let mut runs = Runs::default();
        // A window has fewer than 2^31 bytes.
        view.each_run(at, bytes, |place, length| runs.push((place - from) as u32, length as u32));
        runs
    }

    fn push(&mut self, place: u32, length: u32) {
        if let Some(last) = self.groups.last_mut().filter(|last| last.length == length) {
            let stride = if last.count == 1 { place - last.place } else { last.stride };
            if u64::from(last.place) + u64::from(stride) * u64::from(last.count) == u64::from(place) {
                *last = Group { stride, count: last.count + 1, ..*last };
                return;
            }
        }
        self.groups.push(Group { place, length, stride: 0, count: 1 });
    }

    /// Bytes of the message.
    pub fn message_bytes(&self) -> u64 {
        (self.groups.len() * GROUP) as u64
    }

    /// Appends the message to `bytes`.
    pub fn append_to(&self, bytes: &mut Vec<u8>) {
        for group in &self.groups {
            let numbers = [group.place, group.length, group.stride, group.count];
            bytes.extend(numbers.iter().flat_map(|number| number.to_ne_bytes()));
        }
    }

    /// The runs of a message. `None` for a message that has no such form, and when runs lie outside a window of so
    /// many bytes, overlap or do not ascend.
    pub fn from_message(message: &[u8], window: u64) -> Option<Runs> {
        let (groups, []) = message.as_chunks::<GROUP>() else { return None };
        let mut runs = Runs { groups: Vec::with_capacity(groups.len()) };
        let mut end = 0;
        for group in groups {
            let number = |which: usize| u32::from_ne_bytes(std::array::from_fn(|byte| group[4 * which + byte]));
            let group = Group { place: number(0), length: number(1), stride: number(2), count: number(3) };
            let ascends = match group.count {
                0 => false,
                1 => true,
                _ => group.stride > group.length,
            };
            if !ascends || group.length == 0 || u64::from(group.place) < end {
                return None;
            }
            end = u64::from(group.stride)
                .checked_mul(u64::from(group.count - 1))?
                .checked_add(u64::from(group.place) + u64::from(group.length))
                .filter(|end| *end <= window)?;
            runs.groups.push(group);
        }
        Some(runs)
    }

    /// Calls `each` with start and end of each run, cut where the window's first `got` bytes end.
    pub fn each_below(&self, got: u64, mut each: impl FnMut(usize, usize)) {
        for group in &self.groups {
            for number in 0..u64::from(group.count) {
                let start = u64::from(group.place) + u64::from(group.stride) * number;
                if start >= got {
                    return;
                }
                each(start as usize, (start + u64::from(group.length)).min(got) as usize);
            }
        }
    }

    /// Data bytes in all of them.
    pub fn bytes(&self) -> u64 {
        self.groups.iter().map(|group| u64::from(group.length) * u64::from(group.count)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(list: &[(u32, u32)]) -> Runs {
        let mut runs = Runs::default();
        list.iter().for_each(|(place, length)| runs.push(*place, *length));
        runs
    }

    fn listed(runs: &Runs, got: u64) -> Vec<(usize, usize)> {
        let mut list = Vec::new();
        runs.each_below(got, |start, end| list.push((start, end)));
        list
    }

    #[test]
    fn runs_keep_their_places_in_a_message() {
        for list in [&[][..], &[(0, 8)], &[(0, 4), (8, 4), (16, 4)], &[(3, 4), (9, 4), (20, 4), (26, 1), (30, 1)]] {
            let runs = runs(list);
            let mut message = Vec::new();
            runs.append_to(&mut message);
            assert_eq!(message.len() as u64, runs.message_bytes());
            let taken = Runs::from_message(&message, 31).expect("they lie in the window");
            let due: Vec<_> = list.iter().map(|(place, length)| (*place as usize, (place + length) as usize)).collect();
            assert_eq!((listed(&taken, 31), taken.bytes()), (due, list.iter().map(|run| u64::from(run.1)).sum()));
        }
    }

    #[test]
    fn a_regular_view_is_one_group() {
        let list: Vec<_> = (0..1000).map(|number| (4 * number, 2)).collect();
        assert_eq!(runs(&list).message_bytes(), GROUP as u64);
    }

    #[test]
    fn a_cut_window_cuts_the_runs() {
        assert_eq!(listed(&runs(&[(0, 4), (8, 4), (16, 4)]), 10), [(0, 4), (8, 10)]);
        assert_eq!(listed(&runs(&[(0, 4), (8, 4)]), 0), []);
    }

    #[test]
    fn messages_that_reach_out_of_the_window_are_refused() {
        let message = |numbers: &[u32]| numbers.iter().flat_map(|number| number.to_ne_bytes()).collect::<Vec<u8>>();
        assert!(Runs::from_message(&message(&[0, 4, 8, 3]), 20).is_some());
        for numbers in [
            &[0, 4, 8, 3, 19, 1, 0, 1][..],
            &[0, 4, 8, 4],
            &[0, 4, 8],
            &[0, 4, 4, 2],
            &[0, 0, 8, 2],
            &[0, 4, 8, 0],
            &[17, 4, 0, 1],
            &[u32::MAX, u32::MAX, u32::MAX, u32::MAX],
        ] {
            assert_eq!(Runs::from_message(&message(numbers), 20), None, "{numbers:?}");
        }
        assert_eq!(Runs::from_message(&[0; 17], 20), None);
    }
}
