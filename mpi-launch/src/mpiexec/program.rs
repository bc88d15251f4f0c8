//! From the name of a program to the file to execute.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Why a program cannot be started. `Display` is one line.
#[derive(Debug, thiserror::Error)]
pub(super) enum ProgramError {
    #[error("program {0:?} is not found{1}")]
    NotFound(OsString, &'static str),
    #[error("program {0:?} cannot be executed: {1}")]
    NotExecutable(OsString, String),
}

impl ProgramError {
    /// The shell's codes for the two cases.
    pub(super) fn exit_code(&self) -> i32 {
        match self {
            ProgramError::NotFound(..) => 127,
            ProgramError::NotExecutable(..) => 126,
        }
    }
}

/// The file for a program's name: the name itself if it has a slash, else the first executable one in `PATH`.
pub(super) fn find(program: &OsStr) -> Result<PathBuf, ProgramError> {
    find_in(program, std::env::var_os("PATH").as_deref().unwrap_or(OsStr::new("/usr/bin:/bin")))
}

fn find_in(program: &OsStr, path: &OsStr) -> Result<PathBuf, ProgramError> {
    if program.as_bytes().contains(&b'/') {
        return check(Path::new(program)).map(|()| program.into());
    }
    let mut refused = None;
    for directory in std::env::split_paths(path) {
        // An empty entry of PATH means the current directory.
        let directory = if directory.as_os_str().is_empty() { PathBuf::from(".") } else { directory };
        let file = directory.join(program);
        match check(&file) {
            Ok(()) => return Ok(file),
            Err(error @ ProgramError::NotExecutable(..)) => refused = refused.or(Some(error)),
            Err(ProgramError::NotFound(..)) => {}
        }
    }
    let here = Path::new(".").join(program);
    let hint =
        if check(&here).is_ok() { " in PATH; to run the one in this directory write ./ before it" } else { " in PATH" };
    Err(refused.unwrap_or(ProgramError::NotFound(program.into(), hint)))
}

fn check(file: &Path) -> Result<(), ProgramError> {
    let refuse = |why: String| Err(ProgramError::NotExecutable(file.into(), why));
    match fs::metadata(file) {
        Ok(facts) if facts.is_dir() => refuse("it is a directory".into()),
        Ok(facts) if facts.permissions().mode() & 0o111 == 0 => refuse("it has no permission to be".into()),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => refuse(error.to_string()),
        Err(_) => Err(ProgramError::NotFound(file.into(), "")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_searched_in_path_and_paths_are_not() {
        assert_eq!(find_in(OsStr::new("sh"), OsStr::new("/nonexistent:/bin")).unwrap(), Path::new("/bin/sh"));
        assert_eq!(find_in(OsStr::new("/bin/sh"), OsStr::new("")).unwrap(), Path::new("/bin/sh"));
    }

    #[test]
    fn the_exit_codes_are_the_shells() {
        let code = |name: &str| find_in(OsStr::new(name), OsStr::new("/bin")).unwrap_err().exit_code();
        assert_eq!(code("no-such-program"), 127);
        assert_eq!(code("/no/such/program"), 127);
        assert_eq!(code("/"), 126);
        assert_eq!(code("/etc/passwd"), 126);
    }
}
