//! Lists of ranks, such as `0,4-7` or `all`.

use std::ffi::OsStr;

use mpi_fabric::layout::MAX_RANKS;

/// All ranks.
const ALL: (u32, u32) = (0, MAX_RANKS - 1);

/// Ranks that an option names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RankList(Vec<(u32, u32)>);

impl RankList {
    /// Whether a rank is one of them.
    pub fn contains(&self, rank: u32) -> bool {
        self.0.iter().any(|(first, last)| (*first..=*last).contains(&rank))
    }

    /// The greatest rank that is named; `None` for all ranks.
    pub fn greatest(&self) -> Option<u32> {
        self.0.iter().map(|(_, last)| *last).max().filter(|_| !self.is_all())
    }

    fn is_all(&self) -> bool {
        self.0 == [ALL]
    }
}

/// The list that a word describes.
pub(super) fn rank_list(value: &OsStr) -> Result<RankList, String> {
    let rule = || "ranks such as 0,4-7, or all".to_owned();
    let text = value.to_str().ok_or_else(rule)?;
    if text == "all" {
        return Ok(RankList(vec![ALL]));
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
        assert_eq!((list.greatest(), all.greatest()), (Some(7), None));
        for bad in ["", "1,", "3-1", "8192", "-1", "a", "1-2-3", "0x1"] {
            assert!(rank_list(bad.as_ref()).is_err(), "{bad}");
        }
    }
}
