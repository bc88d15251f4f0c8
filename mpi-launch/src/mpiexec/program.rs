//! From the name of a program to the file to execute.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::refusal::Refusal;
use crate::args::Group;

/// The file of a group's program. A name with a slash is a path from the directory of `mpiexec`, or else from `-wdir`;
/// any other is searched in `-path`, then in `PATH`.
pub(super) fn find(group: &Group) -> Result<PathBuf, Refusal> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    let mut whole = group.path.clone().unwrap_or_default();
    if group.path.is_some() {
        whole.push(":");
    }
    whole.push(path);
    let found = match &group.wdir {
        Some(wdir) if is_path(&group.program) && check(Path::new(&group.program)).is_err() => {
            // A message is about the path as given.
            check(&wdir.join(&group.program)).map(|()| wdir.join(&group.program))
        }
        _ => find_in(&group.program, &whole),
    }?;
    // The program starts in another directory, where a relative path would have another meaning.
    match &group.wdir {
        Some(_) => Ok(std::path::absolute(&found)?),
        None => Ok(found),
    }
}

fn is_path(program: &OsStr) -> bool {
    program.as_bytes().contains(&b'/')
}

fn find_in(program: &OsStr, path: &OsStr) -> Result<PathBuf, Refusal> {
    if is_path(program) {
        return check(Path::new(program)).map(|()| program.into()).map_err(|error| match error {
            Refusal::NotFound(file, _) if is_of_statistics(program) => {
                Refusal::NotFound(file, "; the file of --stats stands behind =, as in --stats=job.json")
            }
            error => error,
        });
    }
    let mut refused = None;
    for directory in std::env::split_paths(path) {
        // An empty entry of PATH means the current directory.
        let directory = if directory.as_os_str().is_empty() { PathBuf::from(".") } else { directory };
        let file = directory.join(program);
        match check(&file) {
            Ok(()) => return Ok(file),
            Err(error @ Refusal::NotExecutable(..)) => refused = refused.or(Some(error)),
            Err(_) => {}
        }
    }
    let here = Path::new(".").join(program);
    let hint = match () {
        () if is_of_statistics(program) => " in PATH; the file of --stats stands behind =, as in --stats=job.json",
        () if check(&here).is_ok() => " in PATH; to run the one in this directory write ./ before it",
        () if program.as_bytes().iter().all(|byte| byte.is_ascii_digit() || *byte == b'.') => {
            " in PATH; the values of --hang-report and --stats stand behind =, as in --hang-report=5"
        }
        () => " in PATH",
    };
    Err(refused.unwrap_or(Refusal::NotFound(program.into(), hint)))
}

/// Whether a word is rather the file of a summary than a program.
fn is_of_statistics(word: &OsStr) -> bool {
    [".json", ".html", ".htm", ".txt"].iter().any(|ending| word.as_bytes().ends_with(ending.as_bytes()))
}

fn check(file: &Path) -> Result<(), Refusal> {
    let refuse = |why: String| Err(Refusal::NotExecutable(file.into(), why));
    match fs::metadata(file) {
        Ok(facts) if facts.is_dir() => refuse("it is a directory".into()),
        Ok(facts) if facts.permissions().mode() & 0o111 == 0 => refuse("it has no permission to be".into()),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => refuse(error.to_string()),
        Err(_) => Err(Refusal::NotFound(file.into(), "")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

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
        for name in ["x.json", "/no/such/x.html"] {
            let refused = find_in(OsStr::new(name), OsStr::new("/bin")).unwrap_err();
            assert!(refused.to_string().ends_with("behind =, as in --stats=job.json"), "{refused}");
            assert_eq!(refused.exit_code(), 127);
        }
        assert_eq!(code("/"), 126);
        assert_eq!(code("/etc/passwd"), 126);
    }

    #[test]
    fn path_comes_before_the_environments_and_wdir_after_the_own_directory() {
        let group = |program: &str, path: Option<&str>, wdir: Option<&str>| Group {
            program: program.into(),
            path: path.map(OsString::from),
            wdir: wdir.map(PathBuf::from),
            ..Group::default()
        };
        let directory = std::env::temp_dir().join(format!("mpiexec-path-{}", std::process::id()));
        let directory_text = directory.to_str().unwrap();
        fs::create_dir_all(&directory).unwrap();
        let file = directory.join("sh");
        fs::write(&file, "exit 0").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(find(&group("sh", Some(&format!("/nonexistent:{directory_text}")), None)).unwrap(), file);
        assert_ne!(find(&group("sh", None, None)).unwrap(), file);
        assert_eq!(find(&group("./sh", None, Some(directory_text))).unwrap(), directory.join("./sh"));
        assert_eq!(find(&group("./sh", None, Some("/nonexistent"))).unwrap_err().exit_code(), 127);
        fs::remove_dir_all(&directory).unwrap();
    }
}
