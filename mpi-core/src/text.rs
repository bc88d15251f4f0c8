//! Small services to sentences and reports that several crates write.
//!
//! Invariant: nothing here knows what a text is about. Not here: which names are known, what stands in a report.

/// How many items have to be inserted, left out or changed to make one word of the other: letters or bytes, as the
/// caller has it.
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

/// Appends a text as a JSON string (RFC 8259), which stays in one line.
pub fn quote_json(out: &mut String, text: &str) {
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => out.extend(['\\', letter]),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            control if control < ' ' => out.push_str(&format!("\\u{:04x}", control as u32)),
            other => out.push(other),
        }
    }
    out.push('"');
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
    fn what_json_cannot_hold_as_it_is_is_escaped() {
        let mut out = String::new();
        quote_json(&mut out, "a\"b\\c\nd\te\u{1}\u{e9}");
        assert_eq!(out, "\"a\\\"b\\\\c\\nd\\te\\u0001\u{e9}\"");
    }
}
