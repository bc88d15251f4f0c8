//! The manifest of the conformance programs; its format is described at its beginning.

use std::time::Duration;

use crate::{Result, process::Outcome};

/// One line: one program with one setting.
#[derive(Debug, PartialEq)]
pub struct Entry {
    /// Chapter and name, as in `p2p/probe`.
    pub program: String,
    /// The numbers of ranks to run it with.
    pub ranks: Vec<usize>,
    /// Arguments of the program.
    pub arguments: Vec<String>,
    /// Environment of the run.
    pub environment: Vec<(String, String)>,
    /// The expected end of the launcher.
    pub ending: Ending,
    /// Text that must be in the output.
    pub prints: Option<String>,
    /// Text that must be in the output once.
    pub once: Option<String>,
    /// Why no other program may run beside it.
    pub alone: Option<String>,
    /// Time limit of one run.
    pub limit: Duration,
    /// Why MPICH may fail.
    pub mpich: Option<String>,
    /// Why the suite `asan` skips it.
    pub asan: Option<String>,
    /// Why it does not hold for processes that share no memory, so that the suite `network` skips it.
    pub network: Option<String>,
    /// Why it does not hold for processes of several hosts, so that the suite `hosts` skips it.
    pub hosts: Option<String>,
}

/// The expected end of a run.
#[derive(Debug, PartialEq)]
pub enum Ending {
    /// Status 0 and "No Errors" in the output.
    NoErrors,
    /// This exit status.
    Status(i32),
    /// Any exit status but 0, and not by the time limit.
    Nonzero,
}

impl Entry {
    /// The name of one run, for reports.
    pub fn title(&self, ranks: usize) -> String {
        let mut title = format!("{} -n {ranks}", self.program);
        for (name, value) in &self.environment {
            title.push_str(&format!(" {name}={value}"));
        }
        for argument in &self.arguments {
            title.push_str(&format!(" {argument:?}"));
        }
        title
    }

    /// The mistake in how a run ended, if there is one.
    pub fn verdict(&self, outcome: &Outcome) -> Option<String> {
        let ended = match self.ending {
            Ending::NoErrors => outcome.success() && outcome.stdout.lines().any(|line| line == "No Errors"),
            Ending::Status(status) => !outcome.timed_out && outcome.status.code() == Some(status),
            Ending::Nonzero => !outcome.timed_out && outcome.status.code().is_some_and(|status| status != 0),
        };
        let prints = self.prints.as_deref().unwrap_or("");
        let printed = outcome.stdout.contains(prints) || outcome.stderr.contains(prints);
        let count = |text: &str| outcome.stdout.matches(text).count() + outcome.stderr.matches(text).count();
        if let Some(once) = self.once.as_deref().filter(|once| ended && count(once) != 1) {
            return Some(format!("prints {once:?} {} times; {}", count(once), outcome.report()));
        }
        match (ended, printed) {
            (true, true) => None,
            (false, _) => Some(outcome.report()),
            (_, false) => Some(format!("does not print {prints:?}; {}", outcome.report())),
        }
    }
}

/// All entries of the manifest's text.
pub fn parse(text: &str) -> Result<Vec<Entry>> {
    let lines = text.lines().enumerate().map(|(number, line)| (number + 1, line.trim()));
    lines
        .filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
        .map(|(number, line)| entry(line).map_err(|failure| failure.during(format_args!("manifest, line {number}"))))
        .collect()
}

fn entry(line: &str) -> Result<Entry> {
    let words = words(line);
    let [program, ranks, options @ ..] = words.as_slice() else { return Err("a program and numbers of ranks".into()) };
    let ranks =
        ranks.split(',').map(|number| number.parse().map_err(|_| format!("{number} is no number of ranks").into()));
    let mut entry = Entry {
        program: program.clone(),
        ranks: ranks.collect::<Result<_>>()?,
        arguments: Vec::new(),
        environment: Vec::new(),
        ending: Ending::NoErrors,
        prints: None,
        once: None,
        alone: None,
        limit: Duration::from_secs(60),
        mpich: None,
        asan: None,
        network: None,
        hosts: None,
    };
    for option in options {
        let (name, value) = option.split_once('=').ok_or_else(|| format!("{option} is no option"))?;
        let number = || value.parse().map_err(|_| format!("{value} is no number"));
        match name {
            "arg" => entry.arguments.push(value.to_owned()),
            "set" => {
                let (name, value) = value.split_once('=').ok_or_else(|| format!("{option} sets nothing"))?;
                entry.environment.push((name.to_owned(), value.to_owned()));
            }
            "exit" if value == "nonzero" => entry.ending = Ending::Nonzero,
            "exit" => entry.ending = Ending::Status(number()?),
            "prints" => entry.prints = Some(value.to_owned()),
            "once" => entry.once = Some(value.to_owned()),
            "alone" => entry.alone = Some(value.to_owned()),
            "limit" => entry.limit = Duration::from_secs(number()?.unsigned_abs().into()),
            "mpich" => entry.mpich = Some(value.to_owned()),
            "asan" => entry.asan = Some(value.to_owned()),
            "network" => entry.network = Some(value.to_owned()),
            "hosts" => entry.hosts = Some(value.to_owned()),
            _ => return Err(format!("{name} is no option").into()),
        }
    }
    Ok(entry)
}

/// Words separated by blanks; quotes keep blanks in a word and are removed.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let (mut word, mut quoted, mut any) = (String::new(), false, false);
    for character in line.chars() {
        match character {
            '"' => (quoted, any) = (!quoted, true),
            blank if blank.is_whitespace() && !quoted => {
                if any {
                    words.push(std::mem::take(&mut word));
                }
                any = false;
            }
            other => {
                word.push(other);
                any = true;
            }
        }
    }
    if any {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_gives_ranks_arguments_and_ending() {
        let entries = parse(
            "# head\n\na/b 1,4 arg=one arg=\"two words\" arg=\"\" set=X=1 exit=42 prints=MPI_Send alone=\"it counts\"\n",
        );
        let entry = &entries.expect("a good line")[0];
        assert_eq!(entry.ranks, [1, 4]);
        assert_eq!(entry.arguments, ["one", "two words", ""]);
        assert_eq!(entry.environment, [("X".to_owned(), "1".to_owned())]);
        assert_eq!(entry.ending, Ending::Status(42));
        assert_eq!(entry.prints.as_deref(), Some("MPI_Send"));
        assert_eq!(entry.alone.as_deref(), Some("it counts"));
    }

    #[test]
    fn unknown_option_and_missing_ranks_are_refused() {
        assert!(parse("a/b 1 colour=red").is_err());
        assert!(parse("a/b").is_err());
        assert!(parse("a/b x").is_err());
    }
}
