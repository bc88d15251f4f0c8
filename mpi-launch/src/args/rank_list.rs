//! Lists of ranks, such as `0,4-7` or `all`.

use std::ffi::OsStr;

use mpi_fabric::layout::MAX_RANKS;

/// Ranks that an option names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankList(Vec<(u32, u32)>);

impl RankList {
    /// Whether a rank is one of them.
    pub fn contains(&self, rank: u32) -> bool {
        self.0.iter().any(|(first, last)| (*first..=*last).contains(&rank))
    }

    /// Whether a job of so many ranks has any of them.
    pub fn has_any_of(&self, ranks: u32) -> bool {
        self.0.iter().any(|(first, _)| *first < ranks)
    }
}

/// The list that a word describes.
pub(super) fn rank_list(value: &OsStr) -> Result<RankList, String> {
    let rule = || "ranks such as 0,4-7, or all".to_owned();
    let text = value.to_str().ok_or_else(rule)?;
    if text == "all" {
        return Ok(RankList(vec![(0, MAX_RANKS - 1)]));
    }
    let rank = |text: &str| super::hosts::digits(text.as_ref()).filter(|rank| *rank < MAX_RANKS);
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        rank(first).zip(rank(last)).filter(|(first, last)| first <= last)
    };
    text.split(',').map(range).collect::<Option<_>>().map(RankList).ok_or_else(rule)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_and_ranges_are_understood() {
        let list = rank_list("0,4-7".as_ref()).expect("a list");
        let named: Vec<u32> = (0..20).filter(|rank| list.contains(*rank)).collect();
        assert_eq!(named, [0, 4, 5, 6, 7]);
        let all = rank_list("all".as_ref()).expect("a list");
        assert!(all.contains(0) && all.contains(MAX_RANKS - 1) && !all.contains(MAX_RANKS));
        assert!(list.has_any_of(1) && !rank_list("3".as_ref()).expect("a list").has_any_of(3));
        for bad in ["", "1,", "3-1", "1024", "-1", "a", "1-2-3", "0x1"] {
            assert!(rank_list(bad.as_ref()).is_err(), "{bad}");
        }
    }
}
