//! Windows and fences (MPI-5.0, 12.2 and 12.5.1).
//!
//! Not here: operations on windows (`win_access`), their attributes (`win_attribute`).

use core::ffi::{CStr, c_char, c_void};

use mpi_core::{Handle, Info, abi};
use mpi_env::Object;
use mpi_errors::{Error, Result};
use mpi_win::{Exposure, Flavor};

use super::info;
use crate::attributes;
use crate::call_context::{CallContext, CommView, WinRef};
use crate::check::{self, CountOut, Out, is_no_memory};
use crate::errors::Outcome;
use crate::handle_errors::bad_object;

fn hints(word: usize) -> Result<Info> {
    match word {
        abi::MPI_INFO_NULL => Ok(Info::new()),
        _ => info::with("info", word, Info::clone),
    }
}

/// `MPI_Win_create`
pub fn win_create(
    cx: CallContext,
    base: *mut c_void,
    size: isize,
    disp_unit: i64,
    info: usize,
    comm: CommView,
    win: Out<usize>,
) -> Outcome {
    let hints = hints(info)?;
    if is_no_memory(base) && size > 0 {
        let rule = format!("a window of {} needs the address of its memory", mpi_errors::counted(size, "byte"));
        return Err(Error::new(abi::MPI_ERR_BASE, rule).arg("base", &format_args!("{base:p}")).into());
    }
    let flavor = Flavor::Create { base: base.expose_provenance() };
    let what = Exposure { flavor, size: size as i64, disp_unit, hints };
    let process = cx.process;
    // The call is collective, so the lock is released first.
    drop(cx);
    // SAFETY: the program passed `size` bytes, which remain valid until it frees the window (MPI-5.0, 12.2.1).
    win.set(unsafe { process.win_create(comm.handle, what) }?.0);
    Ok(())
}

/// `MPI_Win_allocate`: the only hint with an effect is the alignment.
pub fn win_allocate(
    cx: CallContext,
    size: isize,
    disp_unit: i64,
    info: usize,
    comm: CommView,
    base: *mut c_void,
    win: Out<usize>,
) -> Outcome {
    let hints = hints(info)?;
    let alignment = hints.get("mpi_minimum_memory_alignment").and_then(|value| value.parse().ok()).unwrap_or(0);
    let what = Exposure { flavor: Flavor::Allocate { alignment }, size: size as i64, disp_unit, hints };
    allocate(cx, what, comm, base, win)
}

/// `MPI_Win_allocate_shared`
pub fn win_allocate_shared(
    cx: CallContext,
    size: isize,
    disp_unit: i64,
    info: usize,
    comm: CommView,
    base: *mut c_void,
    win: Out<usize>,
) -> Outcome {
    let what = Exposure { flavor: Flavor::Shared, size: size as i64, disp_unit, hints: hints(info)? };
    allocate(cx, what, comm, base, win)
}

/// `MPI_Win_create_dynamic`
pub fn win_create_dynamic(cx: CallContext, info: usize, comm: CommView, win: Out<usize>) -> Outcome {
    let (process, hints) = (cx.process, hints(info)?);
    drop(cx);
    win.set(process.win_create_dynamic(comm.handle, hints)?.0);
    Ok(())
}

/// `MPI_Win_attach`
pub fn win_attach(cx: CallContext, win: WinRef, base: *mut c_void, size: isize) -> Outcome {
    // SAFETY: the program passed so much memory, which remains valid until it detaches it or frees the window (MPI-5.0,
    // 12.2.4).
    Ok(unsafe { cx.process.one_sided.attach(&win.win, base.expose_provenance(), size as i64) }?)
}

/// `MPI_Win_detach`
pub fn win_detach(cx: CallContext, win: WinRef, base: *const c_void) -> Outcome {
    Ok(cx.process.one_sided.detach(&win.win, base.expose_provenance())?)
}

/// Creates a window with its own memory and stores the memory's address at `base`.
fn allocate(cx: CallContext, what: Exposure, comm: CommView, base: *mut c_void, win: Out<usize>) -> Outcome {
    let base = check::out::<usize>("baseptr", base.cast())?;
    let process = cx.process;
    drop(cx);
    // SAFETY: the window has its own memory, so no promise about the program's memory is needed.
    let made = unsafe { process.win_create(comm.handle, what) }?;
    let found = process.win(&process.engine.lock(), made).map(|win| win.attributes().base);
    base.set(found.unwrap_or_default());
    win.set(made.0);
    Ok(())
}

/// `MPI_Win_shared_query`: allowed for windows of any flavor; the memory of other processes may be inaccessible.
pub fn win_shared_query(
    _cx: CallContext,
    win: WinRef,
    rank: i32,
    size: Out<isize>,
    disp_unit: CountOut,
    base: *mut c_void,
) -> Outcome {
    let place = check::out::<usize>("baseptr", base.cast())?;
    let (bytes, unit, address) = win.win.query((rank != abi::MPI_PROC_NULL).then_some(rank))?;
    size.set(bytes as isize);
    disp_unit.set(unit as i64);
    place.set(address);
    Ok(())
}

/// `MPI_Win_free`
pub fn win_free(cx: CallContext, win: Out<usize>) -> Outcome {
    let handle = Handle(win.get());
    let CallContext { process, guard, .. } = cx;
    let found = process.win(&guard, handle).ok_or_else(|| bad_object("win", Object::win(handle.0)))?;
    // This check precedes every change.
    found.is_complete(&guard)?;
    drop(guard);
    attributes::delete_all(process, handle.0)?;
    process.win_free(handle)?;
    win.set(abi::MPI_WIN_NULL);
    Ok(())
}

/// `MPI_Win_fence`
pub fn win_fence(cx: CallContext, assert: i32, win: WinRef) -> Outcome {
    let process = cx.process;
    drop(cx);
    Ok(process.one_sided.fence(&win.win, assert)?)
}

/// `MPI_Win_get_group`
pub fn win_get_group(cx: CallContext, win: WinRef, group: Out<usize>) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    group.set(process.group_insert(&mut guard, win.win.group().clone())?.0);
    Ok(())
}

/// `MPI_Win_set_info`
pub fn win_set_info(_cx: CallContext, win: WinRef, info: usize) -> Outcome {
    win.win.set_hints(&hints(info)?);
    Ok(())
}

/// `MPI_Win_get_info`
pub fn win_get_info(_cx: CallContext, win: WinRef, used: Out<usize>) -> Outcome {
    used.set(info::insert(win.win.hints())?);
    Ok(())
}

/// `MPI_Win_set_name`
pub fn win_set_name(_cx: CallContext, win: WinRef, name: &CStr) -> Outcome {
    win.win.set_name(&name.to_string_lossy());
    Ok(())
}

/// `MPI_Win_get_name`
pub fn win_get_name(mut cx: CallContext, win: usize, name: *mut c_char, length: Out<i32>) -> Outcome {
    let text = match win {
        abi::MPI_WIN_NULL => "MPI_WIN_NULL".into(),
        _ => cx.window("win", win)?.win.name(),
    };
    // SAFETY: the program passed MPI_MAX_OBJECT_NAME characters (MPI-5.0, 7.8).
    let stored = unsafe { check::store_text(name, abi::MPI_MAX_OBJECT_NAME as usize, &text) };
    length.set(stored as i32);
    Ok(())
}
