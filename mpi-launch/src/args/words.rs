//! Files of options: from bytes to the words of each line.
//!
//! A line that begins with `#` is a comment; one that ends with a backslash continues in the next, with a blank
//! between; blanks separate words, unless they are quoted as in a shell: `'...'`, `"..."`, or a backslash before one.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use super::ArgsError;

/// The words of a line, and the number of the line, from 1.
pub(super) type Line = (usize, Result<Vec<OsString>, ArgsError>);

/// All lines that contain words.
pub(super) fn lines(text: &[u8]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut partial: Option<(usize, Vec<u8>)> = None;
    let mut finish = |number: usize, line: &[u8]| match words(line) {
        Ok(words) if words.is_empty() => {}
        words => lines.push((number, words)),
    };
    for (number, line) in text.split(|byte| *byte == b'\n').enumerate() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.trim_ascii_start().starts_with(b"#") {
            continue;
        }
        let (number, mut whole) = partial.take().unwrap_or((number + 1, Vec::new()));
        let slashes = line.iter().rev().take_while(|byte| **byte == b'\\').count();
        if slashes % 2 == 1 {
            whole.extend_from_slice(&line[..line.len() - 1]);
            whole.push(b' ');
            partial = Some((number, whole));
        } else {
            whole.extend_from_slice(line);
            finish(number, &whole);
        }
    }
    if let Some((number, whole)) = partial {
        finish(number, &whole);
    }
    lines
}

fn words(line: &[u8]) -> Result<Vec<OsString>, ArgsError> {
    let (mut words, mut word): (Vec<OsString>, Option<Vec<u8>>) = (Vec::new(), None);
    let mut quote = None;
    let mut bytes = line.iter().copied();
    while let Some(byte) = bytes.next() {
        match (quote, byte) {
            (_, 0) => return Err(ArgsError::Line("there is a zero byte, which no argument can have")),
            (Some(open), _) if byte == open => quote = None,
            (None, b'\'' | b'"') => {
                quote = Some(byte);
                word.get_or_insert_default();
            }
            (None | Some(b'"'), b'\\') => {
                let next = bytes.next().unwrap_or(b'\\');
                let word = word.get_or_insert_default();
                // Inside double quotes a backslash is literal, except before a character that it escapes.
                if quote.is_some() && !matches!(next, b'"' | b'\\') {
                    word.push(b'\\');
                }
                word.push(next);
            }
            (None, b' ' | b'\t') => words.extend(word.take().map(OsString::from_vec)),
            _ => word.get_or_insert_default().push(byte),
        }
    }
    if quote.is_some() {
        return Err(ArgsError::Line("a quotation is not closed in its line"));
    }
    words.extend(word.map(OsString::from_vec));
    Ok(words)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Vec<(usize, Vec<String>)> {
        let word = |word: OsString| word.into_string().unwrap();
        lines(text.as_bytes()).into_iter().map(|(n, w)| (n, w.unwrap().into_iter().map(word).collect())).collect()
    }

    #[test]
    fn comments_and_empty_lines_do_not_count() {
        assert_eq!(
            read("# one\n\n  # two\n-n 5 a # b\n"),
            [(4, ["-n", "5", "a", "#", "b"].map(String::from).to_vec())]
        );
    }

    #[test]
    fn a_backslash_at_the_end_continues() {
        let text = "-n 5 \\\n  -arch sun\\\n# in between\n ocean\nnext \\\\\nlast \\";
        let lines = read(text);
        assert_eq!(lines[0], (1, ["-n", "5", "-arch", "sun", "ocean"].map(String::from).to_vec()));
        assert_eq!(lines[1], (5, ["next", "\\"].map(String::from).to_vec()));
        assert_eq!(lines[2], (6, ["last"].map(String::from).to_vec()));
    }

    #[test]
    fn quotations_keep_blanks() {
        let lines = read("a 'b  c' \"d 'e' \\\"\" f\\ g '' x'y'z \"\\n\"\r\n");
        assert_eq!(lines[0].1, ["a", "b  c", "d 'e' \"", "f g", "", "xyz", "\\n"]);
    }

    #[test]
    fn an_open_quotation_is_an_error_with_its_line() {
        let lines = lines(b"a\n'b\n");
        assert_eq!((lines[1].0, lines[1].1.is_err()), (2, true));
    }

    proptest! {
        #[test]
        fn quoting_keeps_any_word(words in prop::collection::vec("[^\n\r\0]{0,12}", 1..6)) {
            let text: Vec<_> = words.iter().map(|word| format!("'{}'", word.replace('\'', "'\"'\"'"))).collect();
            // What looks like a comment or a continuation is not one inside quotes.
            let line = format!("x {}", text.join(" "));
            prop_assert_eq!(&read(&line)[0].1[1..], &words[..]);
        }
    }
}
