//! The settings file: lines `name = value`, and comments that begin with `#`.
//!
//! Invariant: each name occurs once, and every fault is a sentence with file, line and text; for any file, reading ends
//! and takes little memory.
//! Not here: which names and values there are (`environment`).

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The environment variable that names the file; empty: none is read.
pub const SETTINGS: &str = "FERRUM_SETTINGS";
/// The environment variable in which a launcher passes on the file that it has read, in the form of
/// [`SettingsFile::to_text`].
pub const SETTINGS_READ: &str = "FERRUM_SETTINGS_READ";

/// The longest file, in bytes: it fits into one environment variable.
const LONGEST: usize = 64 << 10;
/// The most lines that set a variable; their numbers are passed on too.
const MOST_LINES: usize = 1000;

/// The contents of a settings file.
///
/// ```
/// let file = mpi_t::SettingsFile::parse("site", b"# fewer copies\np2p_eager_limit = 64k\n");
/// assert_eq!(file.faults().count(), 0);
/// let file = mpi_t::SettingsFile::parse("site", b"p2p_eager_limit\n");
/// let faults: Vec<&str> = file.faults().collect();
/// assert_eq!(faults, ["site, line 1: \"p2p_eager_limit\" is not of the form NAME = VALUE"]);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SettingsFile {
    pub(super) path: String,
    pub(super) lines: Vec<Line>,
    /// Each with its line; 0: the file as such.
    pub(super) faults: Vec<(usize, String)>,
}

/// One line that sets a variable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// From 1.
    pub number: usize,
    pub name: String,
    pub value: String,
}

impl SettingsFile {
    /// The file that the environment leads to: what a launcher has read, else the one that [`SETTINGS`] names, else
    /// `ferrum-mpi/settings` in `XDG_CONFIG_HOME` or `~/.config`, if there is one. `get` gives a variable's value.
    pub fn find(get: &dyn Fn(&str) -> Option<OsString>) -> SettingsFile {
        if let Some(text) = get(SETTINGS_READ) {
            return SettingsFile::from_text(&text.to_string_lossy());
        }
        match get(SETTINGS) {
            Some(path) if path.is_empty() => SettingsFile::default(),
            Some(path) => SettingsFile::read(Path::new(&path)),
            None => default_path(get).map_or_else(SettingsFile::default, |path| SettingsFile::read_if_there(&path)),
        }
    }

    /// Reads a file. A file that cannot be read, or is no text, is one of its faults.
    pub fn read(path: &Path) -> SettingsFile {
        let path = &std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        load(path).unwrap_or_else(|error| SettingsFile::unreadable(path, &error))
    }

    /// The same for a file that may be absent or not readable for this user.
    fn read_if_there(path: &Path) -> SettingsFile {
        use io::ErrorKind::{NotADirectory, NotFound, PermissionDenied};
        load(path).unwrap_or_else(|error| match error.kind() {
            NotFound | NotADirectory | PermissionDenied => SettingsFile::default(),
            _ => SettingsFile::unreadable(path, &error),
        })
    }

    fn unreadable(path: &Path, error: &io::Error) -> SettingsFile {
        let path = path.display().to_string();
        let faults = vec![(0, format!("the settings file {path} cannot be read: {error}"))];
        SettingsFile { path, faults, ..SettingsFile::default() }
    }

    /// Parses the bytes of a file, which is called `path` in sentences.
    pub fn parse(path: &str, bytes: &[u8]) -> SettingsFile {
        let mut file = SettingsFile { path: path.to_owned(), ..SettingsFile::default() };
        // Some editors begin a file with this mark without showing it.
        let bytes = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
        for (number, line) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
            match std::str::from_utf8(line).ok().filter(|line| !line.contains('\0')) {
                Some(line) => file.line(number, line),
                None => {
                    file.fault(number, "this is no text; a settings file has lines NAME = VALUE");
                    break;
                }
            }
        }
        file
    }

    fn line(&mut self, number: usize, line: &str) {
        let line = without_comment(line).trim();
        if line.is_empty() {
            return;
        }
        let Some((name, value)) = line.split_once('=').map(|(name, value)| (name.trim(), value.trim())) else {
            let short: String = line.chars().take(80).collect();
            return self.fault(number, &format!("{short:?} is not of the form NAME = VALUE"));
        };
        if !is_name(name) {
            let short: String = name.chars().take(80).collect();
            let rule = "is no name of a variable, which has letters, digits and _";
            return self.fault(number, &format!("{short:?} (set to {value:?}) {rule}"));
        }
        if let Some(before) = self.lines.iter().find(|line| line.name.eq_ignore_ascii_case(name)) {
            let before = before.number;
            return self.fault(number, &format!("{name} is {value:?}, but line {before} sets it already"));
        }
        if self.lines.len() == MOST_LINES {
            let rule = format!("is beyond the {MOST_LINES} that a settings file can set");
            return self.fault(number, &format!("{name} (set to {value:?}) {rule}"));
        }
        self.lines.push(Line { number, name: name.to_owned(), value: value.to_owned() });
    }

    fn fault(&mut self, number: usize, what: &str) {
        self.faults.push((number, format!("{}, line {number}: {what}", self.path)));
    }

    /// The faults of the file itself, in sentences; the registry checks names and values.
    pub fn faults(&self) -> impl Iterator<Item = &str> {
        self.faults.iter().map(|(_, sentence)| &**sentence)
    }

    /// The contents of the file, in the form for [`SETTINGS_READ`]; empty if it sets nothing.
    pub fn to_text(&self) -> String {
        if self.lines.is_empty() {
            return String::new();
        }
        let lines = self.lines.iter().map(|line| format!("\n{} {}={}", line.number, line.name, line.value));
        std::iter::once(self.path.replace('\n', " ")).chain(lines).collect()
    }

    /// The file from which [`SettingsFile::to_text`] was made. Another text has faults.
    pub fn from_text(text: &str) -> SettingsFile {
        let mut lines = text.split('\n');
        let mut file = SettingsFile { path: lines.next().unwrap_or_default().to_owned(), ..SettingsFile::default() };
        for line in lines {
            match line.split_once(' ').and_then(|(number, rest)| Some((number.parse().ok()?, rest))) {
                Some((number, rest)) => file.line(number, rest),
                None => {
                    file.faults.push((0, format!("{SETTINGS_READ} holds {line:?}; only mpiexec sets this variable")));
                }
            }
        }
        file
    }
}

fn default_path(get: &dyn Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name: &str| get(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set("XDG_CONFIG_HOME").or_else(|| Some(set("HOME")?.join(".config")))?;
    Some(folder.join("ferrum-mpi/settings"))
}

fn load(path: &Path) -> io::Result<SettingsFile> {
    // Checked first: opening a pipe could wait for ever, and reading a device could never end.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no plain file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(LONGEST as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > LONGEST {
        return Err(io::Error::other(format!("it is longer than {LONGEST} bytes")));
    }
    Ok(SettingsFile::parse(&path.display().to_string(), &bytes))
}

/// A line up to its comment, which begins with `#` at the line's begin or after a blank.
fn without_comment(line: &str) -> &str {
    let begins = |(at, _): &(usize, &str)| *at == 0 || line[..*at].ends_with([' ', '\t']);
    line.match_indices('#').find(begins).map_or(line, |(at, _)| &line[..at])
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(file: &SettingsFile) -> Vec<(usize, &str, &str)> {
        file.lines.iter().map(|line| (line.number, &*line.name, &*line.value)).collect()
    }

    #[test]
    fn lines_are_names_and_values_and_comments() {
        let text = "# all of it\n\n p2p_eager_limit=64k\r\nCOLL_SHAPE = tree # why\n\tpath\t=\t/a=b#c\nempty =\n";
        let file = SettingsFile::parse("f", text.as_bytes());
        assert_eq!(file.faults().count(), 0);
        let due = [(3, "p2p_eager_limit", "64k"), (4, "COLL_SHAPE", "tree"), (5, "path", "/a=b#c"), (6, "empty", "")];
        assert_eq!(pairs(&file), due);
    }

    #[test]
    fn each_fault_names_file_line_and_word() {
        let file = SettingsFile::parse("/f", b"wait\na b = 1\nx = 1\nX = 2\n\xff\nnever = read\n");
        assert_eq!(
            file.faults().collect::<Vec<_>>(),
            [
                "/f, line 1: \"wait\" is not of the form NAME = VALUE",
                "/f, line 2: \"a b\" (set to \"1\") is no name of a variable, which has letters, digits and _",
                "/f, line 4: X is \"2\", but line 3 sets it already",
                "/f, line 5: this is no text; a settings file has lines NAME = VALUE",
            ]
        );
    }

    #[test]
    fn what_a_launcher_hands_on_is_the_file_again() {
        let file = SettingsFile::parse("/a b", b"\nx = 1 2\n\ny=\n");
        assert_eq!(SettingsFile::from_text(&file.to_text()), file);
        assert_eq!(SettingsFile::from_text(""), SettingsFile::default());
        assert_eq!(SettingsFile::default().to_text(), "");
        let torn = SettingsFile::from_text("/f\nx=1");
        let fault = ["FERRUM_SETTINGS_READ holds \"x=1\"; only mpiexec sets this variable"];
        assert_eq!(torn.faults().collect::<Vec<_>>(), fault);
    }

    #[test]
    fn odd_files_are_refused_with_their_reason_and_an_absent_default_is_none() {
        let faults = |path: &str| SettingsFile::read(Path::new(path)).faults().collect::<String>();
        assert!(faults("/nonexistent/x").starts_with("the settings file /nonexistent/x cannot be read: No such file"));
        for odd in ["/", "/dev/zero"] {
            assert!(faults(odd).ends_with("it is no plain file"), "{odd}");
        }
        let folder = std::env::temp_dir().join(format!("ferrum-settings-{}", std::process::id()));
        fs::create_dir_all(folder.join("ferrum-mpi")).expect("a temporary folder");
        let file = folder.join("ferrum-mpi/settings");
        let found = |name: &'static str, value: &Path| {
            let value = value.as_os_str().to_owned();
            SettingsFile::find(&move |requested| (requested == name).then(|| value.clone()))
        };
        assert_eq!(found("XDG_CONFIG_HOME", &folder), SettingsFile::default());
        fs::write(&file, "a = 1\n").expect("a temporary file");
        assert_eq!(pairs(&found("XDG_CONFIG_HOME", &folder)), [(1, "a", "1")]);
        assert_eq!(pairs(&found(SETTINGS, &file)), [(1, "a", "1")]);
        assert_eq!(found("HOME", &folder), SettingsFile::default());
        assert_eq!(found(SETTINGS, Path::new("")), SettingsFile::default());
        fs::write(&file, vec![b'#'; LONGEST + 1]).expect("a temporary file");
        assert!(faults(file.to_str().expect("text")).ends_with("it is longer than 65536 bytes"));
        fs::remove_dir_all(folder).expect("it is there");
    }

    #[test]
    fn a_byte_order_mark_at_the_begin_is_no_part_of_a_name() {
        let file = SettingsFile::parse("/f", "\u{feff}a = 1\n\u{feff}b = 2\n".as_bytes());
        assert_eq!(file.lines, [Line { number: 1, name: "a".into(), value: "1".into() }]);
        assert_eq!(file.faults().count(), 1);
    }
}
