//! Data of objects that the engine does not use: names of datatypes, hints of communicators.
//!
//! Invariant: the entries of an object are removed when the object is freed.

use std::collections::HashMap;

use mpi_core::Info;

/// The assertions of MPI-5.0, 7.4.4, that a communicator stores.
const ASSERTIONS: [&str; 4] =
    ["mpi_assert_no_any_tag", "mpi_assert_no_any_source", "mpi_assert_exact_length", "mpi_assert_allow_overtaking"];

/// Names and hints by handle word.
#[derive(Debug, Default)]
pub struct NamesAndHints {
    type_names: HashMap<usize, String>,
    hints: HashMap<usize, Info>,
}

impl NamesAndHints {
    /// `MPI_Type_set_name`
    pub fn set_type_name(&mut self, datatype: usize, name: String) {
        self.type_names.insert(datatype, name);
    }

    /// The name that the program gave to a datatype.
    pub fn type_name(&self, datatype: usize) -> Option<&str> {
        self.type_names.get(&datatype).map(String::as_str)
    }

    /// `MPI_Comm_set_info`: stores the assertions among the hints and ignores all others, as the standard allows.
    pub fn set_hints(&mut self, comm: usize, hints: &Info) {
        for key in ASSERTIONS {
            if let Some(value @ ("true" | "false")) = hints.get(key) {
                let known = self.hints.entry(comm).or_default();
                known.set(key, value).expect("short texts fit into an info object");
            }
        }
    }

    /// `MPI_Comm_get_info`: all assertions with their values.
    pub fn hints(&self, comm: usize) -> Info {
        let (set, mut all) = (self.hints.get(&comm), Info::new());
        for key in ASSERTIONS {
            let value = set.and_then(|set| set.get(key)).unwrap_or("false");
            all.set(key, value).expect("short texts fit into an info object");
        }
        all
    }

    /// Removes the entries of an object.
    pub fn remove(&mut self, object: usize) {
        self.type_names.remove(&object);
        self.hints.remove(&object);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_hints_are_kept_and_others_are_not() {
        let (mut data, mut info) = (NamesAndHints::default(), Info::new());
        for (key, value) in [(ASSERTIONS[1], "true"), (ASSERTIONS[2], "perhaps"), ("color", "red")] {
            info.set(key, value).expect("short");
        }
        data.set_hints(7, &info);
        let known = data.hints(7);
        assert_eq!((known.len(), known.get(ASSERTIONS[1]), known.get(ASSERTIONS[2])), (4, Some("true"), Some("false")));
        assert_eq!(known.get("color"), None);
        data.remove(7);
        assert_eq!(data.hints(7).get(ASSERTIONS[1]), Some("false"));
    }
}
