//! Sessions, process sets, and communicators created from groups (MPI-5.0, 11.3, 7.3.2 and 7.4.2).
//!
//! Invariant: errors of a call with an error handler argument go to that handler, once the argument has been checked.
//! Not here: the session itself (mpi-env), the error handlers of sessions (`errhandler`).

use core::ffi::{CStr, c_char};

use mpi_core::{Handle, Info, abi};
use mpi_env::{Object, PSETS, Process};
use mpi_errors::{Error, HandlerKind, Result};

use super::comm_create::{hints, set_hints};
use super::group::group;
use super::info;
use crate::call_context::CallContext;
use crate::check::{self, Out};
use crate::errors::{Outcome, Raised};
use crate::handle_errors::bad_object;

/// The error handler that a call has as an argument. Errors: `MPI_ERR_ERRHANDLER`.
pub fn given(process: &Process, word: usize, kind: HandlerKind) -> Result<Handle> {
    let guard = process.engine.lock();
    let handler = process.errhandlers.get(&guard).get(Handle(word))?;
    if handler.fits(kind) {
        return Ok(Handle(word));
    }
    let rule = format!("that error handler was not created for this kind of object ({kind:?})");
    Err(Error::new(abi::MPI_ERR_ERRHANDLER, rule).arg("errhandler", &Handle(word)))
}

/// `MPI_Session_init`
pub fn session_init(info: usize, errhandler: usize, session: *mut usize) -> Outcome {
    let process = mpi_env::join_job()?;
    let errhandler = given(process, errhandler, HandlerKind::Session)?;
    let begin = || {
        let (session, hints) = (check::out("session", session)?, hints(info)?);
        let level = hints.as_ref().and_then(|hints| hints.get("thread_level"));
        Ok((session, process.session_init(level, errhandler)?))
    };
    let (session, made) = begin().map_err(|error| Raised::to_passed(error, errhandler, HandlerKind::Session))?;
    mpi_env::info_env::contents();
    session.set(made.0);
    Ok(())
}

/// `MPI_Session_finalize`
pub fn session_finalize(cx: CallContext, session: Out<usize>) -> Outcome {
    let handle = cx.session("session", session.get())?;
    let process = cx.process;
    // The call may wait, so the lock is released first.
    drop(cx);
    process.session_finalize(handle)?;
    session.set(abi::MPI_SESSION_NULL);
    Ok(())
}

/// `MPI_Session_get_info`
pub fn session_get_info(cx: CallContext, session: Handle, used: Out<usize>) -> Outcome {
    let Some(found) = cx.process.session(&cx.guard, session) else {
        return Err(bad_object("session", Object::session(session.0)).into());
    };
    used.set(info::insert(found.hints())?);
    Ok(())
}

/// `MPI_Session_get_num_psets`
pub fn session_get_num_psets(_cx: CallContext, _session: Handle, info: usize, count: Out<i32>) -> Outcome {
    hints(info)?;
    count.set(PSETS.len() as i32);
    Ok(())
}

/// `MPI_Session_get_nth_pset`: the name, truncated to the program's memory, and the length of the whole name, including
/// the NUL. If `pset_len` is 0, only the length is stored.
pub fn session_get_nth_pset(
    _cx: CallContext,
    _session: Handle,
    info: usize,
    place: i32,
    room: Out<i32>,
    name: *mut c_char,
) -> Outcome {
    hints(info)?;
    let found = usize::try_from(place).ok().and_then(|place| PSETS.get(place));
    let found = found.ok_or_else(|| {
        let rule = format!("there are {} process sets, counted from 0", PSETS.len());
        Error::new(abi::MPI_ERR_ARG, rule).arg("n", &place)
    })?;
    let given = room.get();
    if given < 0 {
        return Err(Error::new(abi::MPI_ERR_ARG, "a length must not be negative").arg("pset_len", &given).into());
    }
    if given > 0 {
        check::pointer("pset_name", name)?;
        // SAFETY: the program passed `pset_len` characters.
        unsafe { check::store_text(name, given as usize, found) };
    }
    room.set(found.len() as i32 + 1);
    Ok(())
}

/// `MPI_Session_get_pset_info`
pub fn session_get_pset_info(cx: CallContext, _session: Handle, name: &CStr, info: Out<usize>) -> Outcome {
    let group = pset(cx.process, name)?;
    info.set(facts_of(&[("mpi_size", &group.size().to_string())])?);
    Ok(())
}

/// The group of a process set. Errors: there is none with this name.
fn pset(process: &Process, name: &CStr) -> Result<mpi_comm::Group> {
    name.to_str().ok().and_then(|name| process.pset(name)).ok_or_else(|| {
        let rule = format!("the process sets are {}", PSETS.join(" and "));
        Error::new(abi::MPI_ERR_ARG, rule).arg("pset_name", &format_args!("{:?}", name.to_string_lossy()))
    })
}

fn facts_of(facts: &[(&str, &str)]) -> Result<usize> {
    let mut info = Info::new();
    for (key, value) in facts {
        info.set(key, value).expect("short texts fit into an info object");
    }
    info::insert(info)
}

/// `MPI_Group_from_session_pset`. An unknown set has `MPI_GROUP_NULL`, as the standard has it, and is an error, as in
/// other libraries: the standard does not say which the call returns.
pub fn group_from_session_pset(cx: CallContext, session: Handle, name: &CStr, new: Out<usize>) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    let group = pset(process, name).inspect_err(|_| new.set(abi::MPI_GROUP_NULL))?;
    new.set(process.group_insert(&mut guard, group.of_session(session))?.0);
    Ok(())
}

/// The argument `stringtag`. Errors: `MPI_ERR_ARG`.
pub fn string_tag<'a>(address: *const c_char) -> Result<&'a CStr> {
    let tag = check::text("stringtag", address)?;
    if tag.count_bytes() < abi::MPI_MAX_STRINGTAG_LEN as usize {
        return Ok(tag);
    }
    let rule = format!("a tag has at most {} bytes", abi::MPI_MAX_STRINGTAG_LEN - 1);
    Err(Error::new(abi::MPI_ERR_ARG, rule)
        .arg("stringtag", &format_args!("{} long", mpi_errors::counted(tag.count_bytes(), "byte"))))
}

/// `MPI_Comm_create_from_group`
pub fn comm_create_from_group(
    cx: CallContext,
    of: usize,
    tag: *const c_char,
    info: usize,
    errhandler: usize,
    new: *mut usize,
) -> Outcome {
    let of = group(&cx, "group", of);
    let process = cx.process;
    drop(cx);
    let errhandler = given(process, errhandler, HandlerKind::Comm)?;
    let make = || {
        let (of, tag, hints) = (of?, string_tag(tag)?, hints(info)?);
        let new = check::out("newcomm", new)?;
        let made = process.comm_create_from_group(&of, tag.to_bytes(), errhandler)?;
        if made.0 != abi::MPI_COMM_NULL {
            set_hints(process, made, hints.as_ref());
        }
        Ok((new, made))
    };
    let (new, made) = make().map_err(|error| Raised::to_passed(error, errhandler, HandlerKind::Comm))?;
    new.set(made.0);
    Ok(())
}
