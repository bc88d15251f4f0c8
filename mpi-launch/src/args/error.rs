//! The errors of a command line; every `Display` is one line that names the wrong word.

use std::ffi::OsString;
use std::path::PathBuf;

/// Why a command line is malformed. `Display` is one line.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum ArgsError {
    /// No program, in the only group or in one of several (counted from 1).
    #[error("no program to run is given{}; mpiexec --help shows how to call it", group_text(*.0))]
    NoProgram(usize),
    /// No program after `--settings`, whose value may be the program.
    #[error("no program to run is given: {0:?} is the file of --settings; mpiexec --help shows how to call it")]
    OnlySettings(PathBuf),
    /// An unknown option, with the nearest one that exists.
    #[error("unknown option {given:?}; {}mpiexec --help lists those that exist", hint_text(.hint.as_deref()))]
    UnknownOption {
        /// As given.
        given: OsString,
        /// What may be meant: a similar option, or a number of processes with its option.
        hint: Option<String>,
    },
    /// An option of another launcher.
    #[error("this mpiexec has no option {given}: {instead}")]
    Foreign {
        /// As given.
        given: String,
        /// The alternative.
        instead: &'static str,
    },
    /// An option without its value.
    #[error("option {option} needs {what} after it")]
    NoValue {
        /// As given.
        option: String,
        /// The kind of the missing value.
        what: &'static str,
    },
    /// A value is given to an option without a value.
    #[error("option {option} takes no value, but {value:?} is given")]
    NeedlessValue {
        /// As given.
        option: String,
        /// The extra value.
        value: OsString,
    },
    /// A value that the option does not accept.
    #[error("option {option} is {value:?}, but has to be {rule}")]
    BadValue {
        /// As given.
        option: String,
        /// The value.
        value: OsString,
        /// The accepted values.
        rule: String,
    },
    /// An option that may be given once is given again.
    #[error("option {option} is given twice{}", if *.of_group { " for one program" } else { "" })]
    Twice {
        /// As given, the second time.
        option: String,
        /// Whether it belongs to one program, so that each may have its own.
        of_group: bool,
    },
    /// A word beside `-configfile`, whose file contains all programs.
    #[error(
        "{0:?} stands beside -configfile, but the file gives all programs and their options; only options for the \
             whole job may stand before it, and nothing after it"
    )]
    BesideConfigfile(OsString),
    /// `-configfile` inside such a file.
    #[error("a file given by -configfile or -file cannot name another one by {0}")]
    Nested(String),
    /// A file of options cannot be read.
    #[error("cannot read the file {file:?} that {option} names: {why}")]
    Unreadable {
        /// As given.
        option: String,
        /// The file.
        file: PathBuf,
        /// The reason.
        why: String,
    },
    /// A quotation that does not end in its line, or a byte that no argument can have.
    #[error("{0}")]
    Line(&'static str),
    /// A line of a file of hosts that is none.
    #[error("{0}")]
    HostLine(String),
    /// A mistake in a line of a file.
    #[error("{file:?}, line {line}: {error}")]
    In {
        /// The file.
        file: PathBuf,
        /// Number of the line, from 1; of a continued one, where it begins.
        line: usize,
        /// The mistake.
        error: Box<ArgsError>,
    },
}

fn group_text(group: usize) -> String {
    if group == 0 {
        String::new()
    } else {
        format!(" in part {group} of the command line (parts are divided by \":\")")
    }
}

fn hint_text(hint: Option<&str>) -> String {
    hint.map_or_else(String::new, |hint| format!("did you mean {hint}? "))
}
