//! Which ranks of a job share memory with a process, and the job's secret: their texts in variables and values.
//!
//! Invariant: ranks that were read are ascending and below the size of the job.
//! Not here: who finds them out (`rendezvous`, `environment`).

use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

use crate::launcher::LauncherError;

/// What a rank needs to know of a job whose ranks do not all share memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverHosts {
    /// The ranks that share memory with this one, and itself, ascending.
    pub here: Arc<[u32]>,
    /// 128 random bits that all processes of the job have, and no other process.
    pub secret: u128,
}

/// 128 bits of the system's random numbers.
/// # Errors
/// Those of reading `/dev/urandom`.
pub fn random_bits() -> io::Result<u128> {
    let mut bytes = [0u8; 16];
    File::open("/dev/urandom")?.read_exact(&mut bytes)?;
    Ok(u128::from_ne_bytes(bytes))
}

/// A secret for a job.
pub(crate) fn random_secret() -> Result<u128, LauncherError> {
    random_bits().map_err(|error| LauncherError(format!("/dev/urandom gives no random number for the job: {error}")))
}

/// The number of 32 hexadecimal digits.
pub(crate) fn secret_of(text: &str) -> Option<u128> {
    let is_one = text.len() == 32 && text.bytes().all(|digit| digit.is_ascii_hexdigit());
    if is_one { u128::from_str_radix(text, 16).ok() } else { None }
}

/// Ranks as text, such as `0-2,5`.
pub(crate) fn ranks_to_text(ranks: &[u32]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut rest = ranks;
    while let Some(first) = rest.first() {
        let run = (0u32..).zip(rest).take_while(|(i, rank)| first + i == **rank).count();
        parts.push(if run == 1 { first.to_string() } else { format!("{first}-{}", rest[run - 1]) });
        rest = &rest[run..];
    }
    parts.join(",")
}

/// The ranks of such a text, ascending and below `size`; `None` if it is none.
pub(crate) fn ranks_of_text(text: &str, size: u32) -> Option<Vec<u32>> {
    let mut ranks: Vec<u32> = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let digits = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit()).then(|| text.parse::<u32>().ok());
        let (first, last) = (digits(first)??, digits(last)??);
        if first > last || last >= size || ranks.last().is_some_and(|before| *before >= first) {
            return None;
        }
        ranks.extend(first..=last);
    }
    Some(ranks)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ranks_are_read_as_they_were_written() {
        assert_eq!(ranks_to_text(&[0, 1, 2, 5, 7, 8]), "0-2,5,7-8");
        assert_eq!(ranks_of_text("0-2,5,7-8", 9), Some(vec![0, 1, 2, 5, 7, 8]));
        for text in ["", "1,", "2-1", "9", "1,1", "3,0-1", "+1", "0-", "-1", "0-99999999999", "a"] {
            assert_eq!(ranks_of_text(text, 9), None, "{text}");
        }
    }

    #[test]
    fn secrets_are_128_bits() {
        let secret = random_secret().unwrap();
        assert_ne!(secret, random_secret().unwrap());
        assert_eq!(secret_of(&format!("{secret:032x}")), Some(secret));
        assert_eq!(
            (secret_of("1"), secret_of(&"g".repeat(32)), secret_of(&format!("+{:031x}", 1))),
            (None, None, None)
        );
    }

    proptest! {
        #[test]
        fn any_text_gives_ascending_ranks_or_none(text in "[0-9,-]{0,20}", size in 1u32..200) {
            if let Some(ranks) = ranks_of_text(&text, size) {
                prop_assert!(ranks.windows(2).all(|pair| pair[0] < pair[1]) && ranks.iter().all(|rank| *rank < size));
                prop_assert_eq!(ranks_of_text(&ranks_to_text(&ranks), size), Some(ranks));
            }
        }
    }
}
