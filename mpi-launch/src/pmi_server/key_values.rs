//! The key-value space of a job, which its processes fill and read over PMI.
//!
//! Invariant: keys and values are no longer than the limits that the server reports to the processes, and their sum is
//! bounded.

use std::collections::HashMap;

/// Longest name of a space, in bytes.
pub const LONGEST_NAME: usize = 256;
/// Longest key, in bytes.
pub const LONGEST_KEY: usize = 64;
/// Longest value, in bytes.
pub const LONGEST_VALUE: usize = 1024;
/// Most bytes of all keys and values.
const MOST_BYTES: usize = 64 << 20;

/// The values of one job.
#[derive(Default)]
pub struct KeyValueSpace {
    values: HashMap<String, String>,
    bytes: usize,
}

impl KeyValueSpace {
    /// Puts a value; a second one for the same key replaces the first. The error is one word, the reason.
    pub fn put(&mut self, key: &str, value: &str) -> Result<(), &'static str> {
        if key.is_empty() || key.len() > LONGEST_KEY {
            return Err("key_length");
        }
        if value.len() > LONGEST_VALUE {
            return Err("value_too_long");
        }
        let before = self.values.get(key).map_or(0, |old| key.len() + old.len());
        let bytes = self.bytes - before + key.len() + value.len();
        if bytes > MOST_BYTES {
            return Err("no_room_for_more_values");
        }
        self.bytes = bytes;
        self.values.insert(key.to_owned(), value.to_owned());
        Ok(())
    }

    /// The value of a key, if it has one.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.values.get(key).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_counts() {
        let mut space = KeyValueSpace::default();
        assert_eq!(space.get("k"), None);
        assert_eq!((space.put("k", "old"), space.put("k", "newer")), (Ok(()), Ok(())));
        assert_eq!((space.get("k"), space.bytes), (Some("newer"), 6));
    }

    #[test]
    fn what_is_too_long_is_refused() {
        let mut space = KeyValueSpace::default();
        let long = "x".repeat(LONGEST_VALUE + 1);
        assert_eq!(space.put("", "v"), Err("key_length"));
        assert_eq!(space.put(&long[..LONGEST_KEY + 1], "v"), Err("key_length"));
        assert_eq!(space.put("k", &long), Err("value_too_long"));
        assert_eq!(space.put(&long[..LONGEST_KEY], &long[1..]), Ok(()));
    }

    #[test]
    fn memory_is_bounded() {
        let mut space = KeyValueSpace::default();
        let value = "v".repeat(LONGEST_VALUE);
        let full = (0..MOST_BYTES).find(|n| space.put(&n.to_string(), &value).is_err());
        assert!(full.is_some_and(|n| n < MOST_BYTES / LONGEST_VALUE) && space.bytes <= MOST_BYTES);
        assert_eq!(space.put("0", "shorter"), Ok(()), "an existing value can be changed");
    }
}
