//! Info objects by handle (MPI-5.0, chapter 10): allowed at any time, from any thread.
//!
//! Invariant: only `MPI_INFO_ENV` needs the process record.
//! Not here: the info object itself (mpi-core), handles of info objects (mpi-env).

use core::ffi::{CStr, c_char};

use mpi_core::info::Refused;
use mpi_core::{Handle, Info, Kind, abi};
use mpi_env::{info_env, infos};
use mpi_errors::{Error, Result};

use crate::check::{self, Out};
use crate::errors::Outcome;
use crate::handle_errors::bad_handle;

/// Inserts an info object into the table.
pub fn insert(info: Info) -> Result<usize> {
    not_forked()?;
    match infos::insert(info) {
        Ok(handle) => Ok(handle.0),
        Err(_) => Err(Error::new(abi::MPI_ERR_NO_MEM, "there are too many info objects")),
    }
}

/// Reads an info object. `MPI_INFO_ENV` is a read-only info object.
pub fn with<R>(name: &'static str, word: usize, look: impl FnOnce(&Info) -> R) -> Result<R> {
    if word == abi::MPI_INFO_ENV {
        return Ok(look(info_env::contents()));
    }
    not_forked()?;
    infos::look(Handle(word), look).ok_or_else(|| no_info(name, word))
}

fn change<R>(word: usize, change: impl FnOnce(&mut Info) -> R) -> Result<R> {
    not_forked()?;
    infos::change(Handle(word), change).ok_or_else(|| no_info("info", word))
}

/// Fails in a child of `fork`, where the table's lock may remain held for ever if a thread of the parent held it.
#[inline]
fn not_forked() -> Result<()> {
    mpi_env::forked().map_or(Ok(()), Err)
}

#[cold]
fn no_info(name: &'static str, word: usize) -> Error {
    if word == abi::MPI_INFO_ENV {
        return Error::new(abi::MPI_ERR_INFO, "that info object can only be read").arg(name, &"MPI_INFO_ENV");
    }
    bad_handle(name, word, abi::MPI_ERR_INFO, Kind::Info, (abi::MPI_INFO_NULL, "MPI_INFO_NULL", "info object"))
}

fn key_of(key: &CStr) -> Result<&str> {
    match key.to_str() {
        Ok(text) if Info::is_key(text) => Ok(text),
        _ => Err(bad_key(key)),
    }
}

#[cold]
fn bad_key(key: &CStr) -> Error {
    let rule = format!("a key is UTF-8 text of 1 to {} bytes", abi::MPI_MAX_INFO_KEY - 1);
    Error::new(abi::MPI_ERR_INFO_KEY, rule).arg("key", &format_args!("{:?}", key.to_string_lossy()))
}

/// `MPI_Info_create`
pub fn info_create(info: Out<usize>) -> Outcome {
    info.set(insert(Info::new())?);
    Ok(())
}

/// `MPI_Info_dup`
pub fn info_dup(info: usize, new: Out<usize>) -> Outcome {
    let copy = with("info", info, Info::clone)?;
    new.set(insert(copy)?);
    Ok(())
}

/// `MPI_Info_free`
pub fn info_free(info: Out<usize>) -> Outcome {
    let word = info.get();
    not_forked()?;
    if !infos::remove(Handle(word)) {
        return Err(no_info("info", word).into());
    }
    info.set(abi::MPI_INFO_NULL);
    Ok(())
}

/// `MPI_Info_set`
pub fn info_set(info: usize, key: &CStr, value: &CStr) -> Outcome {
    let outcome = change(info, |info| {
        info.set(key_of(key)?, &value.to_string_lossy()).map_err(|why| match why {
            Refused::Key => bad_key(key),
            Refused::Value => {
                let rule = format!("a value has at most {} bytes", abi::MPI_MAX_INFO_VAL - 1);
                Error::new(abi::MPI_ERR_INFO_VALUE, rule)
                    .arg("value", &format_args!("{} long", mpi_errors::counted(value.count_bytes(), "byte")))
            }
        })
    })?;
    Ok(outcome?)
}

/// `MPI_Info_delete`
pub fn info_delete(info: usize, key: &CStr) -> Outcome {
    let text = key_of(key)?;
    match change(info, |info| info.remove(text))? {
        true => Ok(()),
        false => {
            let error = Error::new(abi::MPI_ERR_INFO_NOKEY, "the info object has no such key");
            Err(error.arg("key", &format_args!("{text:?}")).into())
        }
    }
}

/// `MPI_Info_get`: the value, truncated to `length` bytes, not counting the NUL.
pub fn info_get(info: usize, key: &CStr, length: i32, value: *mut c_char, flag: Out<i32>) -> Outcome {
    let found = with("info", info, |info| Ok::<_, Error>(info.get(key_of(key)?).map(str::to_owned)))??;
    if length < 0 {
        return Err(Error::new(abi::MPI_ERR_ARG, "a length must not be negative").arg("valuelen", &length).into());
    }
    if let Some(text) = &found {
        // SAFETY: the program passed `length + 1` characters.
        unsafe { check::store_text(value, length as usize + 1, text) };
    }
    flag.set(i32::from(found.is_some()));
    Ok(())
}

/// `MPI_Info_get_valuelen`
pub fn info_get_valuelen(info: usize, key: &CStr, length: Out<i32>, flag: Out<i32>) -> Outcome {
    let found = with("info", info, |info| Ok::<_, Error>(info.get(key_of(key)?).map(str::len)))??;
    if let Some(found) = found {
        length.set(found as i32);
    }
    flag.set(i32::from(found.is_some()));
    Ok(())
}

/// `MPI_Info_get_string`: the value, truncated to the program's memory, and the length of the whole value, including
/// the NUL.
pub fn info_get_string(info: usize, key: &CStr, room: Out<i32>, value: *mut c_char, flag: Out<i32>) -> Outcome {
    let found = with("info", info, |info| Ok::<_, Error>(info.get(key_of(key)?).map(str::to_owned)))??;
    let given = room.get();
    if given < 0 {
        return Err(Error::new(abi::MPI_ERR_ARG, "a length must not be negative").arg("buflen", &given).into());
    }
    if given > 0 {
        check::pointer("value", value)?;
    }
    if let Some(text) = &found {
        // SAFETY: the program passed `room` characters; if `room` is 0, none is written.
        unsafe { check::store_text(value, given as usize, text) };
        room.set(text.len() as i32 + 1);
    }
    flag.set(i32::from(found.is_some()));
    Ok(())
}

/// `MPI_Info_get_nkeys`
pub fn info_get_nkeys(info: usize, count: Out<i32>) -> Outcome {
    count.set(with("info", info, Info::len)? as i32);
    Ok(())
}

/// `MPI_Info_get_nthkey`
pub fn info_get_nthkey(info: usize, place: i32, key: *mut c_char) -> Outcome {
    let (found, keys) = with("info", info, |info| {
        (usize::try_from(place).ok().and_then(|place| info.key(place)).map(str::to_owned), info.len())
    })?;
    let Some(found) = found else {
        let rule = format!("the info object has {}, counted from 0", mpi_errors::counted(keys, "key"));
        return Err(Error::new(abi::MPI_ERR_ARG, rule).arg("n", &place).into());
    };
    // SAFETY: the program passed MPI_MAX_INFO_KEY characters.
    unsafe { check::store_text(key, abi::MPI_MAX_INFO_KEY as usize, &found) };
    Ok(())
}

/// `MPI_Info_create_env`: as `MPI_INFO_ENV`, but with the command and arguments that the program passes, if any.
pub fn info_create_env(count: i32, arguments: *mut *mut c_char, info: Out<usize>) -> Outcome {
    if count < 0 {
        return Err(Error::new(abi::MPI_ERR_ARG, "a number of arguments must not be negative")
            .arg("argc", &count)
            .into());
    }
    if count == 0 || arguments.is_null() {
        info.set(insert(info_env::contents().clone())?);
        return Ok(());
    }
    let mut texts = Vec::new();
    for &argument in check::slice("argv", arguments, count as usize)?.iter() {
        texts.push(check::text("argv", argument)?.to_string_lossy().into_owned());
    }
    let command = texts.remove(0);
    info.set(insert(info_env::started_as(Some(command), texts))?);
    Ok(())
}

/// `MPI_Abi_get_info`
pub fn abi_get_info(info: Out<usize>) -> Outcome {
    let mut facts = Info::new();
    let sizes = [("mpi_aint_size", size_of::<isize>()), ("mpi_count_size", 8), ("mpi_offset_size", 8)];
    for (key, size) in sizes {
        facts.set(key, &size.to_string()).expect("short texts fit into an info object");
    }
    info.set(insert(facts)?);
    Ok(())
}
