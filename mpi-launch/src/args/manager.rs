//! The launcher that reaches other hosts, as `--manager` and the environment name it.
//!
//! Invariant: a program is run here only where a path is given whose name does not say what it is, with `--version`, for at
//! most [`PATIENCE`]. Not here: which one is used when none is named (`mpiexec::over_hosts::manager`).

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::{Manager, ManagerKind};

/// Environment variable with the launcher that reaches other hosts.
pub const MANAGER: &str = mpi_wireup::MANAGER;

/// How long a program may take to print its version.
const PATIENCE: Duration = Duration::from_secs(5);

/// The launcher that reaches other hosts: a name, or the path of a program, which its name or its version identifies.
pub(super) fn manager(value: &OsStr) -> Result<Manager, String> {
    let rule = || "srun, prterun or hydra, or the path of one (/opt/mpich/bin/mpiexec.hydra)".to_owned();
    let path = Path::new(value);
    let is_path = value.as_bytes().contains(&b'/');
    let name = path.file_name().and_then(OsStr::to_str).ok_or_else(rule)?;
    let kind = match name {
        "srun" | "slurm" => ManagerKind::Srun,
        "prterun" | "prrte" => ManagerKind::Prterun,
        "hydra" | "mpiexec.hydra" | "mpirun.hydra" => ManagerKind::Hydra,
        _ if is_path => kind_by_version(path).ok_or_else(rule)?,
        _ => return Err(rule()),
    };
    Ok(Manager { kind, program: is_path.then(|| value.into()) })
}

/// The launcher that reaches other hosts, from the environment; an empty value selects none.
/// # Errors
/// A sentence with the value.
pub fn manager_of(value: Option<OsString>) -> Result<Option<Manager>, String> {
    let Some(value) = value.filter(|value| !value.is_empty()) else { return Ok(None) };
    manager(&value).map(Some).map_err(|rule| format!("{MANAGER} is {value:?}, but has to be {rule}"))
}

/// What a program says it is. MPICH and Intel MPI install Hydra as `mpiexec` too.
fn kind_by_version(program: &Path) -> Option<ManagerKind> {
    let text = version_of(program)?;
    let first = text.lines().find(|line| !line.trim().is_empty())?;
    // Each begins with its name: "HYDRA build details:", "Intel(R) MPI Library for Linux* OS", "prterun (PRRTE) 3.0", "slurm 23.11".
    let kinds = [
        ("HYDRA", ManagerKind::Hydra),
        ("Intel(R) MPI Library", ManagerKind::Hydra),
        ("prterun", ManagerKind::Prterun),
        ("slurm ", ManagerKind::Srun),
    ];
    kinds.into_iter().find(|(start, _)| first.starts_with(start)).map(|(_, kind)| kind)
}

/// What a program prints when it is asked for its version; `None` if it cannot be run, fails, or takes too long.
fn version_of(program: &Path) -> Option<String> {
    let mut child = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let begin = Instant::now();
    // The text of a version fits in the pipe, so the program ends without a reader.
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if begin.elapsed() < PATIENCE => std::thread::sleep(Duration::from_millis(2)),
            Ok(None) | Err(_) => {
                // An error means that it has ended already.
                let _ = child.kill();
                let _ = child.wait();
                return None;
            }
        }
    };
    let (mut pipe, (sender, text)) = (child.stdout.take()?, mpsc::channel());
    // Another thread reads: a child of the program may still hold the pipe, whose end then does not come.
    std::thread::spawn(move || {
        let mut text = [0; 4096];
        let len = pipe.read(&mut text).unwrap_or(0);
        // Nobody receives it after the time limit.
        let _ = sender.send(text[..len].to_vec());
    });
    let text = text.recv_timeout(PATIENCE).ok()?;
    status.success().then(|| String::from_utf8_lossy(&text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    /// A script named `mpiexec` that prints `text` and returns `code`, in a folder of its own.
    fn script(folder: &str, text: &str, code: u8) -> (std::path::PathBuf, OsString) {
        let folder = std::env::temp_dir().join(format!("ferrum-manager-{}-{folder}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let program = folder.join("mpiexec");
        fs::write(&program, format!("#!/bin/sh\n[ \"$1\" = --version ] && echo '{text}'\nexit {code}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        (folder, program.into_os_string())
    }

    #[test]
    fn a_path_is_identified_by_its_version() {
        for (number, (text, code, kind)) in [
            ("HYDRA build details:", 0, Some(ManagerKind::Hydra)),
            ("Intel(R) MPI Library for Linux* OS, Version 2021.17", 0, Some(ManagerKind::Hydra)),
            ("prterun (PRRTE) 3.0.11", 0, Some(ManagerKind::Prterun)),
            ("slurm 22.05.8", 0, Some(ManagerKind::Srun)),
            ("mpiexec (Ferrum MPI) 0.1", 0, None),
            ("HYDRA build details:", 1, None),
            ("", 0, None),
        ]
        .into_iter()
        .enumerate()
        {
            let (folder, program) = script(&number.to_string(), text, code);
            let found = manager(&program);
            fs::remove_dir_all(folder).unwrap();
            assert_eq!(found.ok(), kind.map(|kind| Manager { kind, program: Some(program.into()) }), "{text:?} {code}");
        }
    }

    #[test]
    fn a_program_that_is_not_there_is_no_manager() {
        assert!(manager(OsStr::new("/nowhere/mpiexec")).unwrap_err().contains("srun, prterun or hydra"));
        assert!(manager(OsStr::new("mpiexec")).is_err());
    }
}
