//! Which variable a user meant by a name that none has.
//!
//! Not here: who asks (`environment`, whose tests have the sentences).

use mpi_core::text::distance;

use super::environment::PREFIX;

/// The name that fewest changes of a character make of this one, if they are few.
pub(super) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    // Another prefix of the same length of what follows is a likely slip: compare whole names, and ends.
    let word = |text: &str| text.to_ascii_uppercase().trim_start_matches(PREFIX).to_owned();
    // Of very long words only the begin: none of them is near a name.
    let name: String = word(name).chars().take(80).collect();
    let distance_to = |known: &str| {
        let known = word(known);
        match name.len() >= 4 {
            true if known.ends_with(&name) => 1,
            true if known.contains(&name) => 2,
            _ => distance(name.bytes(), known.as_bytes()),
        }
    };
    let (most, found) = known.map(|known| (distance_to(known), known)).min()?;
    (most <= (2 + name.len() / 6).min(name.len())).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_name_or_a_slip_is_near_and_another_word_is_not() {
        let known = ["p2p_eager_limit", "coll_shape", "FERRUM_WIN_DIRECT"];
        let near = |name| nearest(name, known.into_iter());
        assert_eq!(near("eager_limit"), Some("p2p_eager_limit"));
        assert_eq!(near("FERRUM_COLL_SHAPP"), Some("coll_shape"));
        assert_eq!(near("win_drect"), Some("FERRUM_WIN_DIRECT"));
        assert_eq!(near("nonsense"), None);
        assert_eq!(near(""), None);
    }
}
