//! Lists of ranks as text, such as `0-2,5,8-16/4`, in variables, in values of launchers and in the job memory.
//!
//! Invariant: ranks that were read are ascending and below the size of the job.

/// Ascending ranks as text: `0-2,5,8-16/4` is 0, 1, 2, 5, 8, 12, 16.
pub fn to_text(ranks: &[u32]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut rest = ranks;
    while let Some(first) = rest.first() {
        let step = rest.get(1).map_or(1, |second| second - first);
        let run = (0u32..).zip(rest).take_while(|(i, rank)| *rank - first == i * step).count();
        let run = if step > 1 && run < 3 { 1 } else { run };
        let last = rest[run - 1];
        parts.push(match (run, step) {
            (1, _) => first.to_string(),
            (_, 1) => format!("{first}-{last}"),
            _ => format!("{first}-{last}/{step}"),
        });
        rest = &rest[run..];
    }
    parts.join(",")
}

/// The ranks of such a text, ascending and below `size`; `None` if it is none.
pub fn of_text(text: &str, size: u32) -> Option<Vec<u32>> {
    let mut ranks: Vec<u32> = Vec::new();
    for part in text.split(',') {
        let (part, step) = part.split_once('/').unwrap_or((part, "1"));
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let digits = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit()).then(|| text.parse::<u32>().ok());
        let (first, last, step) = (digits(first)??, digits(last)??, digits(step)??);
        if first > last || last >= size || step == 0 || ranks.last().is_some_and(|before| *before >= first) {
            return None;
        }
        ranks.extend((first..=last).step_by(step as usize));
    }
    Some(ranks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ranks_are_read_as_they_were_written() {
        assert_eq!(to_text(&[0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
        assert_eq!(of_text("0-2,5,7-8", 9), Some(vec![0, 1, 2, 5, 7, 8]));
        assert_eq!(to_text(&[0, 2, 4, 5, 9, 20, 30, 40, 41]), "0-4/2,5,9,20-40/10,41");
        assert_eq!(of_text("0-4/2,5,9,20-40/10,41", 42), Some(vec![0, 2, 4, 5, 9, 20, 30, 40, 41]));
        for text in
            ["", "1,", "2-1", "9", "1,1", "3,0-1", "+1", "0-", "-1", "0-99999999999", "a", "0-4/0", "0-4/", "0-4/-1"]
        {
            assert_eq!(of_text(text, 9), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn any_text_gives_ascending_ranks_or_none(text in "[0-9,/-]{0,20}", size in 1u32..200) {
            if let Some(ranks) = of_text(&text, size) {
                prop_assert!(ranks.windows(2).all(|pair| pair[0] < pair[1]) && ranks.iter().all(|rank| *rank < size));
                prop_assert_eq!(of_text(&to_text(&ranks), size), Some(ranks));
            }
        }
    }
}
