//! The parser of the command line: from words to groups and options.
//!
//! Invariant: words after a program belong to the program, up to a separate `:`, and are passed on unchanged.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use super::names::{self, Meaning};
use super::rank_list::rank_list;
use super::{
    ArgsError, Command, ErrorFormat, Group, HostFile, Options, Run, Soft, foreign, hosts, manager, soft, value, words,
};

/// The time without progress after which a report is written, if the option has no value.
const HANG_AFTER: Duration = Duration::from_secs(60);

/// Returns a file's contents.
pub type ReadFile<'a> = &'a dyn Fn(&Path) -> io::Result<Vec<u8>>;

/// Longest file of options or hosts, in bytes.
const LONGEST_FILE: u64 = 16 << 20;

/// The contents of a file of options or hosts.
/// # Errors
/// Those of the system, and a file of more than 16 MiB.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    match File::open(path)?.take(LONGEST_FILE + 1).read_to_end(&mut content)? as u64 {
        ..=LONGEST_FILE => Ok(content),
        _ => Err(io::Error::new(io::ErrorKind::FileTooLarge, "it has more than 16 MiB")),
    }
}

/// Reads a command line without the program's own name.
/// # Errors
/// See [`ArgsError`].
pub fn parse(arguments: impl IntoIterator<Item = OsString>, read: ReadFile<'_>) -> Result<Command, ArgsError> {
    let mut parser = Parser::new(arguments, read);
    match parser.command_line() {
        Ok(()) => {}
        Err(Stop::Command(command)) => return Ok(*command),
        Err(Stop::Error(error)) => return Err(error),
    }
    Ok(Command::Run(parser.run))
}

/// The job options of a command line that has a mistake: those up to the programs; files of options are not read.
pub fn options_of(arguments: impl IntoIterator<Item = OsString>) -> Options {
    let mut parser = Parser::new(arguments, &|_| Err(io::ErrorKind::Unsupported.into()));
    // Each mistake takes at least one word, so this ends.
    while matches!(parser.command_line(), Err(Stop::Error(_))) && !parser.words.is_empty() {}
    parser.run.options
}

/// The reason for an early end of reading.
enum Stop {
    Command(Box<Command>),
    Error(ArgsError),
}

impl From<ArgsError> for Stop {
    fn from(error: ArgsError) -> Stop {
        Stop::Error(error)
    }
}

/// A job whose programs come from a process of another job: the words of each, as in a line of a file, and the options
/// of the whole job, which files of options may change.
/// # Errors
/// The first fault.
pub fn spawned(
    programs: impl IntoIterator<Item = Vec<OsString>>,
    options: Options,
    read: ReadFile<'_>,
) -> Result<Run, ArgsError> {
    let mut parser = Parser::new([], read);
    (parser.form, parser.run.options) = (Form::B, options);
    for words in programs {
        parser.words = words.into();
        match parser.group() {
            Ok(_) => {}
            Err(Stop::Error(error)) => return Err(error),
            // A file of options that requests a text.
            Err(Stop::Command(_)) => return Err(ArgsError::NoProgram(parser.run.groups.len() + 1)),
        }
    }
    Ok(parser.run)
}

/// The source of the words.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// The command line: `:` separates groups.
    A,
    /// A line of a file: it is one group.
    B,
}

/// How a group ends.
#[derive(PartialEq)]
enum End {
    Colon,
    Words,
    /// By `-configfile`, instead of a program.
    File,
}

struct Parser<'a> {
    words: VecDeque<OsString>,
    run: Run,
    read: ReadFile<'a>,
    form: Form,
}

/// A group while it is read.
#[derive(Default)]
struct Draft {
    group: Group,
    /// The first option for this group.
    touched: Option<String>,
}

impl<'a> Parser<'a> {
    fn new(arguments: impl IntoIterator<Item = OsString>, read: ReadFile<'a>) -> Parser<'a> {
        let run = Run { groups: Vec::new(), options: Options::default() };
        Parser { words: arguments.into_iter().collect(), run, read, form: Form::A }
    }

    fn command_line(&mut self) -> Result<(), Stop> {
        loop {
            match self.group()? {
                End::Colon => {}
                End::Words | End::File => return Ok(()),
            }
        }
    }

    /// Reads options and a program with its arguments.
    fn group(&mut self) -> Result<End, Stop> {
        let mut draft = Draft::default();
        loop {
            let Some(word) = self.words.pop_front() else { return self.no_program(&draft) };
            match word.as_bytes() {
                b"--" => {
                    draft.group.program = self.words.pop_front().unwrap_or_default();
                    draft.group.arguments = self.words.drain(..).collect();
                    return self.end(draft, End::Words);
                }
                b":" if self.form == Form::A => return Err(self.program_missing(true).into()),
                text if text.starts_with(b"-") && text.len() > 1 => {
                    if let Some(end) = self.option(word, &mut draft)? {
                        return Ok(end);
                    }
                }
                _ => {
                    draft.group.program = word;
                    let colon = self.words.iter().position(|word| self.form == Form::A && word == ":");
                    let count = colon.unwrap_or(self.words.len());
                    draft.group.arguments = self.words.drain(..count).collect();
                    let end = if self.words.pop_front().is_some() { End::Colon } else { End::Words };
                    return self.end(draft, end);
                }
            }
        }
    }

    fn end(&mut self, draft: Draft, end: End) -> Result<End, Stop> {
        if draft.group.program.is_empty() {
            return Err(self.program_missing(false).into());
        }
        self.run.groups.push(draft.group);
        Ok(end)
    }

    /// A line of a file may have only options of the job.
    fn no_program(&self, draft: &Draft) -> Result<End, Stop> {
        match self.form == Form::B && draft.touched.is_none() {
            true => Ok(End::Words),
            false => Err(self.program_missing(false).into()),
        }
    }

    fn program_missing(&self, more: bool) -> ArgsError {
        let several = self.form == Form::A && (more || !self.run.groups.is_empty());
        if let (false, Some(file)) = (several, &self.run.options.settings) {
            return ArgsError::OnlySettings(file.clone());
        }
        ArgsError::NoProgram(if several { self.run.groups.len() + 1 } else { 0 })
    }

    /// Takes one option with its values; the end if the option brought all groups.
    fn option(&mut self, word: OsString, draft: &mut Draft) -> Result<Option<End>, Stop> {
        let (found, option, inline) = take_apart(&word);
        let Some(meaning) = found else {
            if let Some(instead) = foreign::instead(&option) {
                return Err(ArgsError::Foreign { given: option, instead }.into());
            }
            let hint = names::meant(&word.to_string_lossy());
            return Err(ArgsError::UnknownOption { given: word, hint }.into());
        };
        let mut words = Values { words: &mut self.words, option: &option, inline };
        let (group, options) = (&mut draft.group, &mut self.run.options);
        let mut own = true;
        match meaning {
            Meaning::Processes => {
                words.once(&mut group.processes, true, "a number of processes", value::processes)?;
            }
            Meaning::Soft => {
                let parse = |text: &OsStr| Soft::parse(text).ok_or_else(|| soft::RULE.to_owned());
                words.once(&mut group.soft, true, "a list of numbers of processes", parse)?;
            }
            Meaning::Host => {
                let parse = |text: &OsStr| hosts::list(text).map(|_| text.to_owned());
                words.once(&mut group.host, true, "the name of a host", parse)?;
            }
            Meaning::Hostfile => {
                own = false;
                let file = words.value("a file", file_name)?;
                if options.hostfile.is_some() {
                    return Err(ArgsError::Twice { option, of_group: false }.into());
                }
                let unreadable = |error: io::Error| ArgsError::Unreadable {
                    option: option.clone(),
                    file: (&file).into(),
                    why: error.to_string(),
                };
                let text = (self.read)(Path::new(&file)).map_err(unreadable)?;
                let hosts = hosts::file(&text).map_err(|(line, why)| in_line(&file, line, ArgsError::HostLine(why)))?;
                options.hostfile = Some(HostFile { file, hosts });
            }
            Meaning::Arch => {
                let rule = "the name of an architecture";
                words.once(&mut group.arch, true, rule, not_empty(rule))?;
            }
            Meaning::Wdir => {
                let parse = |text: &OsStr| not_empty("a directory")(text).map(Into::into);
                words.once(&mut group.wdir, true, "a directory", parse)?;
            }
            Meaning::Path => words.once(&mut group.path, true, "a list of directories", |text| Ok(text.to_owned()))?,
            Meaning::Env => group.variables.push(words.variable()?),
            Meaning::Export => match words.value("a variable", value::assignment)? {
                (name, Some(value)) => group.variables.push((name, value)),
                (name, None) => group.passed.push(name),
            },
            Meaning::File => {
                if draft.group.file.is_some() {
                    return Err(ArgsError::Twice { option, of_group: true }.into());
                }
                let file = words.value("a file", file_name)?;
                draft.group.file = Some(file.clone());
                self.insert(&option, &file)?;
            }
            Meaning::Configfile => {
                if self.form == Form::B || draft.group.file.is_some() {
                    return Err(ArgsError::Nested(option).into());
                }
                let file = words.value("a file", file_name)?;
                let program = self.run.groups.first().map(|group| group.program.clone());
                let beside = draft.touched.take().map(OsString::from).or(program).or_else(|| self.words.pop_front());
                if let Some(word) = beside {
                    return Err(ArgsError::BesideConfigfile(word).into());
                }
                return self.configfile(&option, &file).map(Some);
            }
            _ => {
                own = false;
                job_option(meaning, &mut words, options)?;
            }
        }
        if own {
            draft.touched.get_or_insert(option);
        }
        Ok(None)
    }

    /// Inserts a file's words before the others.
    fn insert(&mut self, option: &str, file: &OsStr) -> Result<(), Stop> {
        let lines = self.lines(option, file)?;
        let mut inserted = Vec::new();
        for (line, words) in lines {
            inserted.extend(words.map_err(|error| in_line(file, line, error))?);
        }
        for word in inserted.into_iter().rev() {
            self.words.push_front(word);
        }
        Ok(())
    }

    /// Reads all groups from a file.
    fn configfile(&mut self, option: &str, file: &OsStr) -> Result<End, Stop> {
        let lines = self.lines(option, file)?;
        self.form = Form::B;
        for (line, words) in lines {
            let read = words.map_err(Stop::Error).and_then(|words| {
                self.words = words.into();
                self.group()
            });
            match read {
                Ok(_) => {}
                Err(Stop::Error(error)) => return Err(in_line(file, line, error).into()),
                Err(stop) => return Err(stop),
            }
        }
        match self.run.groups.len() {
            0 => Err(ArgsError::NoProgram(0).into()),
            _ => Ok(End::File),
        }
    }

    fn lines(&self, option: &str, file: &OsStr) -> Result<Vec<words::Line>, ArgsError> {
        let unreadable = |why: String| ArgsError::Unreadable { option: option.to_owned(), file: file.into(), why };
        let text = (self.read)(Path::new(file)).map_err(|error| unreadable(error.to_string()))?;
        Ok(words::lines(&text))
    }
}

/// Options of the whole job, in any place.
fn job_option(meaning: Meaning, words: &mut Values<'_>, options: &mut Options) -> Result<(), Stop> {
    match meaning {
        Meaning::Help => return Err(Stop::Command(Box::new(Command::Help))),
        Meaning::List(what) => {
            words.flag()?;
            let filter = words.words.drain(..).map(|word| word.to_string_lossy().into_owned()).collect();
            return Err(Stop::Command(Box::new(Command::List(what, filter))));
        }
        Meaning::Version => return Err(Stop::Command(Box::new(Command::Version))),
        Meaning::Genv => options.variables.push(words.variable()?),
        Meaning::Cvar => options.cvars.push(words.value("NAME=VALUE", value::cvar)?),
        Meaning::Settings => {
            words.once(&mut options.settings, false, "a file", |text| file_name(text).map(Into::into))?;
        }
        Meaning::Tool => options.tools.push(words.value("the file of a tool", not_empty("the file of a tool"))?),
        Meaning::Profile => options.profile = words.flag()?,
        Meaning::Trace => {
            words.once(&mut options.trace, false, "a file", |text| file_name(text).map(Into::into))?;
        }
        Meaning::Timeline => {
            words.once(&mut options.timeline, false, "a file", |text| file_name(text).map(Into::into))?;
        }
        Meaning::Stats => {
            // The file stands behind "=" only, because a word behind a blank may be the program.
            let file = words.optional("a file", file_name)?;
            if options.stats.replace(file.map(Into::into)).is_some() {
                return Err(ArgsError::Twice { option: words.option.into(), of_group: false }.into());
            }
        }
        Meaning::TagOutput => options.tag_output = words.flag()?,
        Meaning::Timestamp => options.timestamp = words.flag()?,
        Meaning::Quiet => options.quiet = words.flag()?,
        Meaning::Verbose => options.verbose = words.flag()?,
        Meaning::Output => {
            let parse = |text: &OsStr| not_empty("a directory")(text).map(Into::into);
            words.once(&mut options.output, false, "a directory", parse)?;
        }
        Meaning::Timeout => words.once(&mut options.timeout, false, "a time in seconds", value::limit)?,
        Meaning::PerNode => words.once(&mut options.map_by, false, "a number of ranks a host", hosts::per_node)?,
        Meaning::MapBy => words.once(&mut options.map_by, false, "node, slot or ppr:N:node", hosts::map_by)?,
        Meaning::Manager => words.once(&mut options.manager, false, "a launcher", manager::manager)?,
        Meaning::Oversubscribe => options.oversubscribe = words.flag()?,
        Meaning::HangReport => {
            options.hang_report = Some(words.optional("a time in seconds", value::seconds)?.unwrap_or(HANG_AFTER))
        }
        Meaning::Gdb => words.once(&mut options.gdb, false, "ranks", rank_list)?,
        Meaning::Bind => options.bind = words.value("cores, none or auto", value::bind)?,
        Meaning::Stdin => options.input = words.value("a rank, all or none", value::input)?,
        Meaning::ErrorFormat => {
            words.once(&mut options.error_format, false, "text or json", value::error_format)?;
            let name = if options.error_format == Some(ErrorFormat::Json) { "json" } else { "text" };
            options.cvars.push(("error_format".into(), name.into()));
        }
        Meaning::InitialErrhandler => {
            words.once(&mut options.initial_errhandler, false, "an error handler", value::errhandler)?;
        }
        // The others belong to one group.
        _ => drop(words.flag()?),
    }
    Ok(())
}

/// The option that a word names, the option's part of the word, and the value after it.
fn take_apart(word: &OsStr) -> (Option<Meaning>, String, Option<OsString>) {
    let bytes = word.as_bytes();
    let at = bytes.iter().position(|byte| *byte == b'=').unwrap_or(bytes.len());
    let name = OsStr::from_bytes(&bytes[..at]);
    let inline = bytes.get(at + 1..).map(|value| OsStr::from_bytes(value).to_owned());
    let found = name.to_str().and_then(names::find);
    (found, name.to_string_lossy().into_owned(), inline)
}

fn not_empty(rule: &'static str) -> impl Fn(&OsStr) -> Result<OsString, String> {
    move |text| if text.is_empty() { Err(rule.into()) } else { Ok(text.to_owned()) }
}

/// A file's name; an option in its place means that the name is missing.
fn file_name(text: &OsStr) -> Result<OsString, String> {
    match text.as_bytes() {
        [] => Err("the name of a file".into()),
        [b'-', ..] => Err("the name of a file (one that begins with - is written ./-NAME)".into()),
        _ => Ok(text.to_owned()),
    }
}

fn in_line(file: &OsStr, line: usize, error: ArgsError) -> ArgsError {
    ArgsError::In { file: file.into(), line, error: Box::new(error) }
}

/// The values of one option.
struct Values<'a> {
    words: &'a mut VecDeque<OsString>,
    option: &'a str,
    /// The value after `=`.
    inline: Option<OsString>,
}

impl Values<'_> {
    fn next(&mut self, what: &'static str) -> Result<OsString, ArgsError> {
        let value = self.inline.take().or_else(|| self.words.pop_front());
        value.ok_or_else(|| ArgsError::NoValue { option: self.option.into(), what })
    }

    fn value<T>(&mut self, what: &'static str, parse: impl Fn(&OsStr) -> Result<T, String>) -> Result<T, ArgsError> {
        let value = self.next(what)?;
        parse(&value).map_err(|rule| ArgsError::BadValue { option: self.option.into(), value, rule })
    }

    fn once<T>(
        &mut self,
        place: &mut Option<T>,
        of_group: bool,
        what: &'static str,
        parse: impl Fn(&OsStr) -> Result<T, String>,
    ) -> Result<(), ArgsError> {
        let value = self.value(what, parse)?;
        match place.replace(value) {
            None => Ok(()),
            Some(_) => Err(ArgsError::Twice { option: self.option.into(), of_group }),
        }
    }

    /// An option whose value, if it has one, stands behind `=`.
    fn optional<T>(
        &mut self,
        what: &'static str,
        parse: impl Fn(&OsStr) -> Result<T, String>,
    ) -> Result<Option<T>, ArgsError> {
        self.inline.is_some().then(|| self.value(what, parse)).transpose()
    }

    /// An option without value.
    fn flag(&mut self) -> Result<bool, ArgsError> {
        match self.inline.take() {
            None => Ok(true),
            Some(value) => Err(ArgsError::NeedlessValue { option: self.option.into(), value }),
        }
    }

    /// `NAME VALUE` or `NAME=VALUE`.
    fn variable(&mut self) -> Result<super::Variable, ArgsError> {
        match self.value("the name of a variable and its value", value::assignment)? {
            (name, Some(value)) => Ok((name, value)),
            (name, None) => {
                let value = self.next("the name of a variable and its value")?;
                let is_option = value.to_str().is_some_and(|value| names::find(value).is_some());
                if !is_option {
                    return Ok((name, value));
                }
                let (option, name) = (self.option, name.to_string_lossy());
                let assignment = format!("{name}={}", value.to_string_lossy());
                let rule =
                    format!("followed by a value: {option} {assignment:?} sets one that is the name of an option");
                Err(ArgsError::BadValue { option: format!("{option} {name}"), value, rule })
            }
        }
    }
}
