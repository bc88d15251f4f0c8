//! What job a summary is of: its command line, where and when it ran.
//!
//! Invariant: the text has no control characters, so that it stays in its line.
//! Not here: the numbers (`summary`).

/// What job it was.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The programs with their arguments.
    command: String,
    /// The host of its `mpiexec`.
    host: String,
    /// When it started: year, month, day, hour, minute and second in UTC.
    started: [i32; 6],
}

impl Origin {
    /// Of programs, each with its number of ranks and the words of its command line, started at a time: year, month, day, hour, minute
    /// and second in UTC.
    pub fn new<Word: AsRef<str>>(
        programs: impl IntoIterator<Item = (u32, Vec<Word>)>,
        host: &str,
        started: [i32; 6],
    ) -> Origin {
        let programs: Vec<_> = programs.into_iter().collect();
        let of = |(ranks, words): &(u32, Vec<Word>)| {
            let line = words.iter().map(|word| word_of_shell(word.as_ref())).collect::<Vec<_>>().join(" ");
            if programs.len() == 1 { line } else { format!("-n {ranks} {line}") }
        };
        let command = programs.iter().map(of).collect::<Vec<_>>().join(" : ");
        Origin { command, host: printable(host), started }
    }

    /// The programs with their arguments, in one line.
    pub fn command(&self) -> &str {
        &self.command
    }

    /// The host of its `mpiexec`.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// The start as `2026-11-27T14:00:05Z` (RFC 3339).
    pub fn started(&self) -> String {
        let [year, month, day, hour, minute, second] = self.started;
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
    }

    /// All of it as one line of at most so many characters: the command is shortened. `place`: the hosts, if they are several.
    pub fn line(&self, place: Option<&str>, width: usize) -> String {
        let started = self.started();
        let time = started.get(..16).map_or(String::new(), |minute| minute.replace('T', " "));
        let rest = format!(" on {}, {time} UTC", place.unwrap_or(&self.host));
        let room = width.saturating_sub(rest.chars().count()).max(8);
        let command = match self.command.chars().count() > room {
            true => self.command.chars().take(room - 1).chain(['…']).collect(),
            false => self.command.clone(),
        };
        command + &rest
    }
}

/// A word as a shell would read it, without control characters.
fn word_of_shell(word: &str) -> String {
    let is_plain = |letter: char| letter.is_alphanumeric() || "-_./=:,+@%~".contains(letter);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", printable(word).replace('\'', "'\\''")),
    }
}

fn printable(text: &str) -> String {
    let letter = |letter: char| if letter.is_control() { letter.escape_default().to_string() } else { letter.into() };
    text.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_names_command_host_and_time() {
        let origin = Origin::new([(4, vec!["./halo", "10"])], "h1", [2026, 11, 27, 14, 0, 5]);
        assert_eq!(origin.line(None, 90), "./halo 10 on h1, 2026-11-27 14:00 UTC");
        assert_eq!(origin.line(Some("2 hosts"), 90), "./halo 10 on 2 hosts, 2026-11-27 14:00 UTC");
        assert_eq!(origin.started(), "2026-11-27T14:00:05Z");
        let several =
            Origin::new([(1, vec!["a b", ""]), (2, vec!["x\u{1b}[31m\n", "it's"])], "h", [1970, 1, 1, 0, 0, 0]);
        assert_eq!(several.command(), "-n 1 'a b' '' : -n 2 'x\\u{1b}[31m\\n' 'it'\\''s'");
        let long = Origin::new([(1, vec!["./p"; 100])], "h", [1970, 1, 1, 0, 0, 0]).line(None, 60);
        assert!(long.chars().count() == 60 && long.ends_with("… on h, 1970-01-01 00:00 UTC"), "{long}");
    }
}
