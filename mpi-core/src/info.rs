//! Info objects: keys with values, both text, in the order in which the keys were first set (MPI-5.0, chapter 10).
//!
//! Invariant: keys are distinct, not empty and shorter than `MPI_MAX_INFO_KEY`; values are shorter than
//! `MPI_MAX_INFO_VAL`. Not here: handles of info objects, the meaning of keys.

use crate::abi::{MPI_MAX_INFO_KEY, MPI_MAX_INFO_VAL};

/// A list of keys with their values.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Info {
    entries: Vec<(String, String)>,
}

/// The reason why a key or a value was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The key is empty or too long.
    #[error("a key of an info object has 1 to {} bytes", MPI_MAX_INFO_KEY - 1)]
    Key,
    /// The value is too long.
    #[error("a value of an info object has at most {} bytes", MPI_MAX_INFO_VAL - 1)]
    Value,
}

impl Info {
    /// An empty list.
    pub const fn new() -> Info {
        Info { entries: Vec::new() }
    }

    /// Sets a key. If the key exists, its value is replaced and its position remains.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), Refused> {
        if !Info::is_key(key) {
            return Err(Refused::Key);
        }
        if value.len() >= MPI_MAX_INFO_VAL as usize {
            return Err(Refused::Value);
        }
        match self.entries.iter_mut().find(|entry| entry.0 == key) {
            Some(entry) => value.clone_into(&mut entry.1),
            None => self.entries.push((key.to_owned(), value.to_owned())),
        }
        Ok(())
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.entries.iter().find(|entry| entry.0 == key).map(|entry| entry.1.as_str())
    }

    /// Removes a key; returns whether it existed.
    pub fn remove(&mut self, key: &str) -> bool {
        let before = self.entries.len();
        self.entries.retain(|entry| entry.0 != key);
        self.entries.len() < before
    }

    /// The key at a position, counted from 0.
    pub fn key(&self, place: usize) -> Option<&str> {
        self.entries.get(place).map(|entry| entry.0.as_str())
    }

    /// Number of keys.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether the object has no key.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether a text may be a key.
    pub fn is_key(text: &str) -> bool {
        !text.is_empty() && text.len() < MPI_MAX_INFO_KEY as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_their_place_when_set_again() {
        let mut info = Info::new();
        for (key, value) in [("a", "1"), ("b", "2"), ("a", "3")] {
            info.set(key, value).expect("short");
        }
        assert_eq!((info.len(), info.key(0), info.get("a")), (2, Some("a"), Some("3")));
        assert!(info.remove("a") && !info.remove("a"));
        assert_eq!((info.key(0), info.get("a")), (Some("b"), None));
    }

    #[test]
    fn texts_that_would_not_fit_into_a_program_s_memory_are_refused() {
        let mut info = Info::new();
        assert_eq!(info.set("", "1"), Err(Refused::Key));
        assert_eq!(info.set(&"k".repeat(MPI_MAX_INFO_KEY as usize), ""), Err(Refused::Key));
        assert_eq!(info.set("k", &"v".repeat(MPI_MAX_INFO_VAL as usize)), Err(Refused::Value));
        assert!(info.is_empty());
    }
}
