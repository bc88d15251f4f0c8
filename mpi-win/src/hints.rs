//! The hints of a window (MPI-5.0, 12.2.1 and 12.2.7): those of the standard, with their permitted values.
//!
//! Invariant: every known hint has a value; an unknown key or a bad value changes nothing.

use mpi_core::Info;

/// A hint of the standard: its key, its default, and the check of a value.
type Known = (&'static str, &'static str, fn(&str) -> bool);

const KNOWN: [Known; 7] = [
    ("no_locks", "false", is_truth),
    ("accumulate_ordering", "rar,raw,war,waw", is_ordering),
    ("accumulate_ops", "same_op_no_op", |value| ["same_op", "same_op_no_op"].contains(&value)),
    ("mpi_accumulate_granularity", "0", |value| value.parse::<u64>().is_ok()),
    ("same_size", "false", is_truth),
    ("same_disp_unit", "false", is_truth),
    ("alloc_shared_noncontig", "false", is_truth),
];

/// The hints of a window. Only `alloc_shared_noncontig` has an effect, when the window is created: on the alignment of
/// the parts of shared memory. All rules that hints relax are kept anyway.
#[derive(Debug, Clone, Default)]
pub struct Hints {
    set: Info,
}

impl Hints {
    /// Takes the known hints; the rest is ignored, as the standard allows.
    pub fn set(&mut self, hints: &Info) {
        for (key, _, fits) in KNOWN {
            if let Some(value) = hints.get(key).filter(|value| fits(value)) {
                self.set.set(key, value).expect("it came out of an info object");
            }
        }
    }

    /// All known hints with their values.
    pub fn all(&self) -> Info {
        let mut all = Info::new();
        for (key, usual, _) in KNOWN {
            all.set(key, self.set.get(key).unwrap_or(usual)).expect("short texts fit into an info object");
        }
        all
    }
}

fn is_truth(value: &str) -> bool {
    ["true", "false"].contains(&value)
}

fn is_ordering(value: &str) -> bool {
    value == "none" || value.split(',').all(|each| ["rar", "raw", "war", "waw"].contains(&each))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_hints_are_kept_when_their_values_make_sense() {
        let (mut hints, mut info) = (Hints::default(), Info::new());
        for (key, value) in [
            ("no_locks", "true"),
            ("same_size", "perhaps"),
            ("accumulate_ordering", "war,waw"),
            ("mpi_accumulate_granularity", "-4"),
            ("colour", "red"),
        ] {
            info.set(key, value).expect("short");
        }
        hints.set(&info);
        let all = hints.all();
        assert_eq!((all.len(), all.get("no_locks"), all.get("same_size")), (7, Some("true"), Some("false")));
        assert_eq!((all.get("accumulate_ordering"), all.get("colour")), (Some("war,waw"), None));
        assert_eq!(all.get("mpi_accumulate_granularity"), Some("0"));
        assert!(is_ordering("none") && !is_ordering("") && !is_ordering("rar,none"));
    }
}
