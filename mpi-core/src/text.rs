//! The edit distance of words, and the known word that is nearest to an unknown word.
//!
//! Not here: the lists of known words, messages about unknown words.

/// The smallest number of items to insert, remove or change that turns one word into the other; items are letters or
/// bytes, as the caller chooses.
pub fn distance<T: PartialEq>(a: impl Iterator<Item = T>, b: &[T]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, to) in b.iter().enumerate() {
            let changed = diagonal + usize::from(from != *to);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// The known word that a user probably meant by an unknown word: one that contains it, or the one at the smallest edit
/// distance if that is small. Words are compared in the form that `plain` returns.
pub fn nearest<'a>(
    word: &str,
    known: impl Iterator<Item = &'a str>,
    plain: impl Fn(&str) -> String,
) -> Option<&'a str> {
    // Only the beginning of a very long word, because no known word is near it.
    let word: String = plain(word).chars().take(80).collect();
    let length = word.chars().count();
    let changes = |known: &str| {
        let known = plain(known);
        match length >= 4 {
            true if known.ends_with(&word) => 1,
            true if known.contains(&word) => 2,
            _ => distance(word.chars(), &known.chars().collect::<Vec<_>>()),
        }
    };
    let (fewest, found) = known.map(|known| (changes(known), known)).min()?;
    (fewest <= (2 + length / 6).min(length)).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_distance_is_the_fewest_changes() {
        for (a, b, changes) in
            [("", "", 0), ("", "abc", 3), ("tag", "tag", 0), ("kitten", "sitting", 3), ("ab", "ba", 2)]
        {
            assert_eq!(distance(a.bytes(), b.as_bytes()), changes, "{a} {b}");
        }
    }

    #[test]
    fn a_part_of_a_word_or_a_slip_is_near_and_another_word_is_not() {
        let known = ["p2p_eager_limit", "coll_shape", "win_direct"];
        let near = |word| nearest(word, known.into_iter(), str::to_ascii_lowercase);
        assert_eq!(near("eager_limit"), Some("p2p_eager_limit"));
        assert_eq!(near("COLL_SHAPP"), Some("coll_shape"));
        assert_eq!(near("nonsense"), None);
        assert_eq!(near(""), None);
    }
}
