//! The command line of `mpiexec`.

use std::ffi::OsString;

use mpi_fabric::layout::MAX_RANKS;

/// What `--help` prints.
pub const HELP: &str = "\
Usage: mpiexec [-n N] [--] PROGRAM [ARGUMENT...]

Starts N processes of PROGRAM on this host, connected as the ranks 0 to N-1 of one MPI job.

  -n N, -np N    number of processes, 1 to 1024; 1 if not given
  --help, -h     print this text
  --version, -V  print the version

Standard output and error of all ranks are passed on by whole lines, standard input goes to rank 0.
SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP and SIGCONT are passed on to all ranks.
The exit code is 0 if all ranks return 0, else that of the first rank that failed (128 + N for signal N);
126 if PROGRAM cannot be executed, 127 if it is not found, 2 for a malformed command line.
When a rank fails the others are ended; no process is left behind.

Environment:
  FERRUM_RING_BYTES   length of the message queue between two ranks: a power of two, 16384 to 16777216
";

/// What the user wants.
#[derive(Debug, PartialEq, Eq)]
pub enum Command {
    /// Print [`HELP`].
    Help,
    /// Print the version.
    Version,
    /// Run a program.
    Run(Run),
}

/// A program to run.
#[derive(Debug, PartialEq, Eq)]
pub struct Run {
    /// Number of processes, 1..=1024.
    pub processes: u32,
    /// The program as given; searched in `PATH` if it has no slash.
    pub program: OsString,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

/// Why a command line is malformed. `Display` is one line.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ArgsError {
    /// No program.
    #[error("no program to run is given; mpiexec --help shows how to call it")]
    NoProgram,
    /// An option of no meaning here.
    #[error("unknown option {0:?}; mpiexec --help lists those that exist")]
    UnknownOption(OsString),
    /// An option without its value.
    #[error("option {0} needs a number of processes after it")]
    NoValue(&'static str),
    /// The number of processes is not one.
    #[error("option {option} is {value:?}, but has to be a number of processes from 1 to {MAX_RANKS}")]
    BadNumber {
        /// The option.
        option: &'static str,
        /// What was given.
        value: OsString,
    },
    /// The number of processes is given twice.
    #[error("the number of processes is given twice")]
    Twice,
    /// A group of programs begins, which the standard allows and this launcher does not know.
    #[error(
        "a job of several programs, divided by \":\", cannot be started; write -- before the program to pass \":\" on to it"
    )]
    SeveralPrograms,
}

/// Reads a command line without the program's own name.
/// # Errors
/// See [`ArgsError`].
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Command, ArgsError> {
    let mut arguments = arguments.into_iter();
    let mut processes = None;
    let mut dashes = false;
    let program = loop {
        let argument = arguments.next().ok_or(ArgsError::NoProgram)?;
        match argument.to_str() {
            Some("--help" | "-help" | "-h" | "-?") => return Ok(Command::Help),
            Some("--version" | "-version" | "-V") => return Ok(Command::Version),
            Some("-n" | "--n") => set(&mut processes, "-n", arguments.next())?,
            Some("-np" | "--np") => set(&mut processes, "-np", arguments.next())?,
            Some("--") => {
                dashes = true;
                break arguments.next().ok_or(ArgsError::NoProgram)?;
            }
            _ if argument.as_encoded_bytes().starts_with(b"-") => return Err(ArgsError::UnknownOption(argument)),
            _ => break argument,
        }
    };
    if program.is_empty() {
        return Err(ArgsError::NoProgram);
    }
    let arguments: Vec<OsString> = arguments.collect();
    if !dashes && arguments.iter().any(|argument| argument == ":") {
        return Err(ArgsError::SeveralPrograms);
    }
    Ok(Command::Run(Run { processes: processes.unwrap_or(1), program, arguments }))
}

fn set(processes: &mut Option<u32>, option: &'static str, value: Option<OsString>) -> Result<(), ArgsError> {
    let value = value.ok_or(ArgsError::NoValue(option))?;
    let digits = value.to_str().filter(|text| text.bytes().all(|b| b.is_ascii_digit()));
    match digits.and_then(|text| text.parse().ok()).filter(|n| (1..=MAX_RANKS).contains(n)) {
        None => Err(ArgsError::BadNumber { option, value }),
        Some(_) if processes.is_some() => Err(ArgsError::Twice),
        Some(n) => {
            *processes = Some(n);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse_words(words: &[&str]) -> Result<Command, ArgsError> {
        parse(words.iter().map(OsString::from))
    }

    fn run(processes: u32, program: &str, arguments: &[&str]) -> Result<Command, ArgsError> {
        let arguments = arguments.iter().map(OsString::from).collect();
        Ok(Command::Run(Run { processes, program: program.into(), arguments }))
    }

    #[test]
    fn options_end_at_the_program() {
        assert_eq!(parse_words(&["-n", "4", "./a", "-n", "x", "--"]), run(4, "./a", &["-n", "x", "--"]));
        assert_eq!(parse_words(&["-np", "2", "--", "-odd", "1"]), run(2, "-odd", &["1"]));
        assert_eq!(parse_words(&["prog"]), run(1, "prog", &[]));
        assert_eq!(parse_words(&["--", "prog", ":"]), run(1, "prog", &[":"]));
        assert_eq!(parse_words(&["-n", "1", "a", ":", "-n", "2", "b"]), Err(ArgsError::SeveralPrograms));
    }

    #[test]
    fn help_and_version_need_no_program() {
        assert_eq!(parse_words(&["-n", "2", "--help", "x"]), Ok(Command::Help));
        assert_eq!(parse_words(&["--version"]), Ok(Command::Version));
    }

    #[test]
    fn each_mistake_is_named() {
        for (words, text) in [
            (&[][..], "no program"),
            (&["-n", "2"], "no program"),
            (&["--"], "no program"),
            (&[""], "no program"),
            (&["-n"], "-n needs a number"),
            (&["-np", "0", "x"], "-np is \"0\""),
            (&["-n", "1025", "x"], "1 to 1024"),
            (&["-n", "-3", "x"], "\"-3\""),
            (&["-n", "99999999999999999999", "x"], "from 1 to"),
            (&["-n", "1", "-np", "1", "x"], "twice"),
            (&["--frobnicate", "x"], "\"--frobnicate\""),
        ] {
            let error = parse_words(words).unwrap_err().to_string();
            assert!(error.contains(text) && !error.contains('\n'), "{words:?}: {error}");
        }
    }

    proptest! {
        #[test]
        fn any_command_line_is_understood_or_refused_in_one_line(
            words in prop::collection::vec(prop_oneof![Just("-n".to_owned()), Just("-np".to_owned()), Just("--".to_owned()),
                "[0-9]{1,6}", "-.*", ".*"], 0..8)
        ) {
            match parse(words.iter().map(OsString::from)) {
                Ok(Command::Run(run)) => {
                    prop_assert!((1..=MAX_RANKS).contains(&run.processes) && !run.program.is_empty());
                    prop_assert!(words.len() > run.arguments.len());
                    let tail: Vec<OsString> = words[words.len() - run.arguments.len()..].iter().map(Into::into).collect();
                    prop_assert_eq!(tail, run.arguments, "the program's arguments are passed on untouched");
                }
                Ok(_) => {}
                Err(error) => prop_assert!(!error.to_string().contains('\n')),
            }
        }

        #[test]
        fn bytes_that_are_no_text_are_fine_too(bytes in prop::collection::vec(any::<u8>(), 0..20)) {
            use std::os::unix::ffi::OsStringExt;
            let _ = parse([OsString::from_vec(bytes)]);
        }
    }
}
