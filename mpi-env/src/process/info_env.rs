//! The contents of `MPI_INFO_ENV` (MPI-5.0, 11.5.3): how the program was started.
//!
//! Invariant: the contents are read once, at the first inquiry.
//! Not here: the handle `MPI_INFO_ENV` (mpi-capi).

use std::sync::OnceLock;

use mpi_core::Info;

use crate::process::global::size_of_job;
use crate::process::identity::processor_name;
use crate::process::initial_errhandler::initial_errhandler_name;
use crate::record::process::Process;

/// The contents of `MPI_INFO_ENV`. They are read at the first inquiry. `soft` and `file` are absent if they were not
/// given at the start of the program; `thread_level` is always absent. Thread-safe.
pub fn contents() -> &'static Info {
    static FACTS: OnceLock<Info> = OnceLock::new();
    FACTS.get_or_init(|| {
        let mut arguments = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned());
        let command = arguments.next();
        started_as(command, arguments.collect())
    })
}

/// As [`contents`], for a program with this command and these arguments (`MPI_Info_create_env`).
pub fn started_as(command: Option<String>, arguments: Vec<String>) -> Info {
    let mut info = Info::new();
    let directory = std::env::current_dir().map(|path| path.to_string_lossy().into_owned());
    // In a job of several programs each program has its own request.
    let given = Process::info_env_value;
    let size = || size_of_job().map(|size| size.to_string());
    let facts = [
        ("command", command),
        ("argv", Some(arguments.join(" "))),
        ("maxprocs", given("maxprocs").or_else(size)),
        ("soft", given("soft")),
        ("host", given("host").or_else(|| Some(processor_name().to_owned()))),
        ("arch", given("arch").or_else(|| Some(std::env::consts::ARCH.to_owned()))),
        ("wdir", directory.ok()),
        ("file", given("file")),
        ("mpi_initial_errhandler", Some(initial_errhandler_name().to_owned())),
    ];
    for (key, value) in facts {
        // A value that is too long for an info object is omitted, as the standard allows.
        let _ = value.map(|value| info.set(key, &value));
    }
    info
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_and_its_arguments_are_the_caller_s() {
        let info = started_as(Some("solver".to_owned()), vec!["-n".to_owned(), "7".to_owned()]);
        assert_eq!((info.get("command"), info.get("argv")), (Some("solver"), Some("-n 7")));
        assert_eq!(info.get("arch"), Some(std::env::consts::ARCH));
        assert_eq!(started_as(None, vec!["a".repeat(5000)]).get("argv"), None, "too long");
        assert!(contents().get("command").is_some_and(|command| command.contains("mpi_env")), "{:?}", contents());
    }
}
