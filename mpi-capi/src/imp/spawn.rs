//! Starting processes (MPI-5.0, 11.8).
//!
//! Invariant: arguments that are significant at the root are checked by the root alone, and a wrong one is an error in
//! all processes.
//! Not here: starting and connecting them (`mpi_env::Process::comm_spawn`).

use core::ffi::{CStr, c_char, c_int};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;

use mpi_core::abi;
use mpi_env::{SpawnProgram, Spawned};
use mpi_errors::{Error, Result};

use super::comm_create::hints;
use crate::call_context::{CallContext, CommView};
use crate::check::{self, Out};
use crate::errors::Outcome;

/// `MPI_Comm_get_parent`
pub fn comm_get_parent(cx: CallContext, parent: Out<usize>) -> Outcome {
    let process = cx.process;
    drop(cx);
    parent.set(process.comm_parent().0);
    Ok(())
}

/// `MPI_Comm_spawn`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn comm_spawn(
    cx: CallContext,
    command: *const c_char,
    argv: *mut *mut c_char,
    maxprocs: c_int,
    info: usize,
    root: i32,
    comm: CommView,
    intercomm: Out<usize>,
    codes: *mut c_int,
) -> Outcome {
    // SAFETY: the program passed a list of texts that NULL ends (MPI-5.0, 11.8.2), or MPI_ARGV_NULL.
    let programs = || Ok(vec![program(command, unsafe { texts(argv) }, maxprocs, info)?]);
    spawn(cx, comm, root, programs, intercomm, codes)
}

/// `MPI_Comm_spawn_multiple`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn comm_spawn_multiple(
    cx: CallContext,
    count: c_int,
    commands: *mut *mut c_char,
    argvs: *mut *mut *mut c_char,
    maxprocs: *const c_int,
    infos: *const usize,
    root: i32,
    comm: CommView,
    intercomm: Out<usize>,
    codes: *mut c_int,
) -> Outcome {
    let programs = || {
        let Some(count) = usize::try_from(count).ok().filter(|count| *count > 0) else {
            return Err(Error::new(abi::MPI_ERR_COUNT, "at least one program is needed").arg("count", &count));
        };
        let commands = check::list("array_of_commands", commands, count)?;
        let maxprocs = check::list("array_of_maxprocs", maxprocs, count)?;
        let infos = check::list("array_of_info", infos, count)?;
        let argvs = if argvs.is_null() { None } else { Some(check::list("array_of_argv", argvs, count)?) };
        let program = |i: usize| {
            let argv = argvs.map_or(core::ptr::null_mut(), |argvs| argvs[i]);
            // SAFETY: as in `comm_spawn`.
            program(commands[i], unsafe { texts(argv) }, maxprocs[i], infos[i])
        };
        (0..count).map(program).collect()
    };
    spawn(cx, comm, root, programs, intercomm, codes)
}

fn spawn(
    cx: CallContext,
    comm: CommView,
    root: i32,
    programs: impl FnOnce() -> Result<Vec<SpawnProgram>>,
    intercomm: Out<usize>,
    codes: *mut c_int,
) -> Outcome {
    let process = cx.process;
    // The call is collective, so the lock is released first.
    drop(cx);
    let Spawned { comm, started } = process.comm_spawn(comm.handle, root as u32, programs)?;
    if !codes.is_null() {
        for (code, started) in check::slice("array_of_errcodes", codes, started.len())?.iter_mut().zip(started) {
            *code = if started { abi::MPI_SUCCESS } else { abi::MPI_ERR_SPAWN };
        }
    }
    intercomm.set(comm?.0);
    Ok(())
}

/// One program of the request. Errors: `MPI_ERR_ARG`, `MPI_ERR_INFO`.
fn program(command: *const c_char, arguments: Vec<OsString>, processes: c_int, info: usize) -> Result<SpawnProgram> {
    let command = check::text("command", command)?;
    let Some(processes) = u32::try_from(processes).ok().filter(|number| *number > 0) else {
        return Err(Error::new(abi::MPI_ERR_ARG, "at least one process is needed").arg("maxprocs", &processes));
    };
    let hints = hints(info)?.unwrap_or_default();
    let pairs = (0..hints.len()).filter_map(|place| {
        let key = hints.key(place)?;
        Some((key.to_owned(), hints.get(key)?.into()))
    });
    Ok(SpawnProgram { processes, program: text(command), arguments, info: pairs.collect() })
}

/// The texts of a list that NULL ends; none of NULL.
///
/// # Safety
/// The list and its texts are readable.
unsafe fn texts(list: *mut *mut c_char) -> Vec<OsString> {
    let mut texts = Vec::new();
    if list.is_null() {
        return texts;
    }
    loop {
        // SAFETY: the list is readable up to its NULL, and each entry before that is a C string, as the caller promises.
        unsafe {
            let entry = *list.add(texts.len());
            if entry.is_null() {
                return texts;
            }
            texts.push(text(CStr::from_ptr(entry)));
        }
    }
}

fn text(text: &CStr) -> OsString {
    OsStr::from_bytes(text.to_bytes()).to_owned()
}
