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
    /// When it started: seconds since 1970.
    started: u64,
}

impl Origin {
    /// Of programs, each with its number of ranks and the words of its command line, started at a time in seconds since 1970.
    pub fn new<'a>(programs: impl IntoIterator<Item = (u32, Vec<&'a str>)>, host: &str, started: u64) -> Origin {
        let programs: Vec<_> = programs.into_iter().collect();
        let of = |(ranks, words): &(u32, Vec<&str>)| {
            let line = words.iter().map(|word| word_of_shell(word)).collect::<Vec<_>>().join(" ");
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
        let ((year, month, day), second) = (date(self.started / DAY), self.started % DAY);
        let (hour, minute) = (second / 3600, second / 60 % 60);
        format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{:02}Z", second % 60)
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

const DAY: u64 = 86_400;

/// Year, month and day of a day since 1970 in the Gregorian calendar.
fn date(days: u64) -> (u64, u64, u64) {
    // Years begin in March, so that the day of a leap year is the last; 400 of them have 146,097 days.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let of_month = of_year - (153 * month + 2) / 5 + 1;
    let (year, month) = (era * 400 + year, if month < 10 { month + 3 } else { month - 9 });
    (year + u64::from(month <= 2), month, of_month)
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
        let origin = Origin::new([(4, vec!["./halo", "10"])], "h1", 1_795_788_005);
        assert_eq!(origin.line(None, 90), "./halo 10 on h1, 2026-11-27 14:00 UTC");
        assert_eq!(origin.line(Some("2 hosts"), 90), "./halo 10 on 2 hosts, 2026-11-27 14:00 UTC");
        assert_eq!(origin.started(), "2026-11-27T14:00:05Z");
        let several = Origin::new([(1, vec!["a b", ""]), (2, vec!["x\u{1b}[31m\n", "it's"])], "h", 0);
        assert_eq!(several.command(), "-n 1 'a b' '' : -n 2 'x\\u{1b}[31m\\n' 'it'\\''s'");
        let long = Origin::new([(1, vec!["./p"; 100])], "h", 0).line(None, 60);
        assert!(long.chars().count() == 60 && long.ends_with("… on h, 1970-01-01 00:00 UTC"), "{long}");
    }

    #[test]
    fn days_have_their_dates() {
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(date(11_016), (2000, 2, 29));
        assert_eq!(date(11_017), (2000, 3, 1));
        assert_eq!(date(20_818), (2026, 12, 31));
        assert_eq!(date(20_819), (2027, 1, 1));
        // The days are in their order, without a gap.
        let mut last = date(0);
        for day in 1..200_000 {
            let next = date(day);
            let follows = next.2 == last.2 + 1 && next.1 == last.1
                || next.2 == 1 && (next.1 == last.1 + 1 || next.1 == 1 && next.0 == last.0 + 1);
            assert!(follows, "{last:?} {next:?}");
            last = next;
        }
    }
}
