//! Suggestions for misspelt names: the variable that a user probably meant.
//!
//! Not here: the sentences (`environment`, `refusal`).

use mpi_core::text;

/// The name that needs the fewest changes of a character, if they are few. Case and `prefix`, that of environment
/// variables, are ignored.
pub(super) fn nearest<'a>(prefix: &str, name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    text::nearest(name, known, |text| text.to_ascii_uppercase().trim_start_matches(prefix).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_name_or_a_slip_is_near_and_another_word_is_not() {
        let known = ["p2p_eager_limit", "coll_shape", "FERRUM_WIN_DIRECT"];
        let near = |name| nearest("FERRUM_", name, known.into_iter());
        assert_eq!(near("eager_limit"), Some("p2p_eager_limit"));
        assert_eq!(near("FERRUM_COLL_SHAPP"), Some("coll_shape"));
        assert_eq!(near("win_drect"), Some("FERRUM_WIN_DIRECT"));
        assert_eq!(near("nonsense"), None);
        assert_eq!(near(""), None);
    }
}
