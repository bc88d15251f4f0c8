//! Phrases that errors of several crates have in common.

use std::fmt::Display;

/// `1 process`, or `4 processes`.
pub fn processes(number: impl Into<u64>) -> String {
    match number.into() {
        1 => "1 process".to_owned(),
        number => format!("{number} processes"),
    }
}

/// The same with the ranks that there are: `4 processes, ranks 0 to 3`.
pub fn processes_and_ranks(number: impl Into<u64>) -> String {
    match number.into() {
        0 => "0 processes".to_owned(),
        1 => "1 process, rank 0".to_owned(),
        number => format!("{number} processes, ranks 0 to {}", number - 1),
    }
}

/// A number with its noun: `1 byte`, `4 bytes`, `2 entries`.
pub fn counted(number: impl Display, noun: &str) -> String {
    let number = number.to_string();
    // A vowel before the y keeps it: keys.
    let stem = noun.strip_suffix('y').filter(|stem| !stem.ends_with(['a', 'e', 'o', 'u']));
    match (number.as_str(), stem) {
        ("1" | "-1", _) => format!("{number} {noun}"),
        (_, Some(stem)) => format!("{number} {stem}ies"),
        _ => format!("{number} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_process_is_singular() {
        assert_eq!([0, 1, 2u32].map(processes), ["0 processes", "1 process", "2 processes"]);
        let ranks = ["0 processes", "1 process, rank 0", "2 processes, ranks 0 to 1"];
        assert_eq!([0, 1, 2u32].map(processes_and_ranks), ranks);
    }

    #[test]
    fn one_of_anything_is_singular() {
        assert_eq!([0, 1, 2].map(|number| counted(number, "byte")), ["0 bytes", "1 byte", "2 bytes"]);
        assert_eq!([1, 12].map(|number: usize| counted(number, "entry")), ["1 entry", "12 entries"]);
        assert_eq!([0, 1].map(|number: usize| counted(number, "key")), ["0 keys", "1 key"]);
    }
}
