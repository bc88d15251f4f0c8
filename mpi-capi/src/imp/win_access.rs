//! Put, get, accumulate, and fetching accumulates, also with requests (MPI-5.0, 12.3).

use core::ffi::{c_int, c_void};
use std::sync::Arc;

use mpi_core::single_threaded::is_single_threaded;
use mpi_core::{Guard, Handle, QuickGuard, abi, functions};
use mpi_datatype::{Number, RecvBuf, SendBuf, short_bytes, short_number};
use mpi_env::Process;
use mpi_errors::Error;
use mpi_win::{SHORT_BYTES, Shortly, Target, Win};

use crate::call_context::{CallContext, TypeRef, WinRef};
use crate::check::{self, Out};
use crate::errors::Outcome;
use crate::fortran_section;

fn target(rank: i32, displacement: isize, count: u64, datatype: &TypeRef) -> Target<'_> {
    Target { rank, displacement: displacement as i64, count, datatype, handle: datatype.word() }
}

/// A window without a reference count, for short ways.
///
/// # Safety
/// The caller holds the process lock, by this guard, and frees no window, while it uses the result.
#[inline(always)]
pub(super) unsafe fn held_window<'w>(process: &Process, guard: &Guard<'_>, word: usize) -> Option<&'w Win> {
    let win: *const Win = Arc::as_ptr(process.win(guard, Handle(word))?);
    // SAFETY: the table has a reference, and only the holder of the lock removes it.
    Some(unsafe { &*win })
}

/// Runs the short way of a call on one window, if no thread holds the process lock; whether it has carried out the call.
#[inline(always)] // short ways
pub(super) fn on_window<'p>(
    process: &'p Process,
    win: usize,
    call: impl FnOnce(Guard<'p>, &Win) -> Shortly<'p>,
) -> bool {
    let engine = &process.engine;
    let guard = match is_single_threaded() {
        true => engine.lock_quickly::<true>().map(QuickGuard::into_guard),
        false => engine.lock_quickly::<false>().map(QuickGuard::into_guard),
    };
    let Some(guard) = guard else { return false };
    // SAFETY: the guard is held, and no short way frees a window.
    let called = match unsafe { held_window(process, &guard, win) } {
        Some(win) => call(guard, win),
        None => Err(guard),
    };
    // The longer way takes the lock.
    called.map_err(Guard::release_to_retake).is_ok()
}

/// The process and bytes of a put or get that may go the short way: contiguous elements of one predefined type on both
/// sides.
#[inline(always)] // two callers: short ways
fn few_bytes(
    (address, count, datatype): (*const c_void, c_int, usize),
    (target_count, target_datatype): (c_int, usize),
) -> Option<(&'static Process, usize)> {
    let process = mpi_env::running_quickly()?;
    let bytes = short_bytes(datatype, count, SHORT_BYTES as usize)?;
    let differ = datatype != target_datatype || count != target_count;
    if differ || check::is_no_memory(address) || mpi_t::whole_calls_requested() {
        return None;
    }
    Some((process, bytes))
}

/// The process and type of an accumulation of one element that may go the short way.
#[inline(always)] // three callers: short ways
fn one_element(addresses: &[*const c_void], datatype: usize) -> Option<(&'static Process, Number)> {
    let process = mpi_env::running_quickly()?;
    let number = short_number(datatype)?;
    if addresses.iter().any(|address| check::is_no_memory(*address)) || mpi_t::whole_calls_requested() {
        return None;
    }
    Some((process, number))
}

/// The short way of `MPI_Put`, into memory that this process has mapped: checks all arguments, and copies. Otherwise
/// nothing has happened, and the longer way finds the reason.
#[allow(clippy::too_many_arguments)] // the standard's own list
#[inline(always)] // one caller: the entry point
pub fn put_quickly(
    origin: *const c_void,
    count: c_int,
    datatype: usize,
    rank: c_int,
    displacement: isize,
    target_count: c_int,
    target_datatype: usize,
    win: usize,
) -> bool {
    let few = few_bytes((origin, count, datatype), (target_count, target_datatype));
    let Some((process, bytes)) = few else { return false };
    on_window(process, win, |guard, win| {
        // The count is not negative, and without its sign no register besides that of the argument has it.
        let record =
            || process.recorder.record_untimed(functions::MPI_PUT, win.context(), rank, 0, u64::from(count as u32));
        // SAFETY: the program passed a buffer of `count` elements.
        unsafe { process.one_sided.put_quickly(guard, win, (origin.cast(), bytes), rank, displacement, record) }
    })
}

/// The short way of `MPI_Get`, as that of `MPI_Put`.
#[allow(clippy::too_many_arguments)] // the standard's own list
#[inline(always)] // one caller: the entry point
pub fn get_quickly(
    origin: *mut c_void,
    count: c_int,
    datatype: usize,
    rank: c_int,
    displacement: isize,
    target_count: c_int,
    target_datatype: usize,
    win: usize,
) -> bool {
    let few = few_bytes((origin, count, datatype), (target_count, target_datatype));
    let Some((process, bytes)) = few else { return false };
    on_window(process, win, |guard, win| {
        // The count as in `put_quickly`.
        let record =
            || process.recorder.record_untimed(functions::MPI_GET, win.context(), rank, 0, u64::from(count as u32));
        // SAFETY: as in `put_quickly`.
        unsafe { process.one_sided.get_quickly(guard, win, (origin.cast(), bytes), rank, displacement, record) }
    })
}

/// The short way of `MPI_Accumulate`, of one element, as that of `MPI_Put`.
#[allow(clippy::too_many_arguments)] // the standard's own list
#[inline(always)] // one caller: the entry point
pub fn accumulate_quickly(
    origin: *const c_void,
    count: c_int,
    datatype: usize,
    rank: c_int,
    displacement: isize,
    target_count: c_int,
    target_datatype: usize,
    op: usize,
    win: usize,
) -> bool {
    if count != 1 || target_count != 1 || datatype != target_datatype {
        return false;
    }
    let Some((process, number)) = one_element(&[origin], datatype) else { return false };
    on_window(process, win, |guard, win| {
        if process.counts_ops(&guard) {
            return Err(guard);
        }
        let (data, one_sided) = (origin.cast(), &process.one_sided);
        let record = || process.recorder.record_untimed(functions::MPI_ACCUMULATE, win.context(), rank, 0, 1);
        // SAFETY: the program passed an element.
        unsafe { one_sided.accumulate_quickly(guard, win, data, number, rank, displacement, op, record) }
    })
}

/// The short way of `MPI_Fetch_and_op`, as that of `MPI_Put`.
#[allow(clippy::too_many_arguments)] // the standard's own list
#[inline(always)] // one caller: the entry point
pub fn fetch_and_op_quickly(
    origin: *const c_void,
    result: *mut c_void,
    datatype: usize,
    rank: c_int,
    displacement: isize,
    op: usize,
    win: usize,
) -> bool {
    // Without data their address is ignored.
    let data = if op == abi::MPI_NO_OP { result.cast_const() } else { origin };
    let Some((process, number)) = one_element(&[data, result], datatype) else { return false };
    on_window(process, win, |guard, win| {
        if process.counts_ops(&guard) {
            return Err(guard);
        }
        let (buffers, one_sided) = ((data.cast(), result.cast()), &process.one_sided);
        let record = || process.recorder.record_untimed(functions::MPI_FETCH_AND_OP, win.context(), rank, 0, 1);
        // SAFETY: the program passed elements.
        unsafe { one_sided.fetch_and_op_quickly(guard, win, buffers, number, rank, displacement, op, record) }
    })
}

/// The short way of `MPI_Compare_and_swap`, as that of `MPI_Put`.
#[allow(clippy::too_many_arguments)] // the standard's own list
#[inline(always)] // one caller: the entry point
pub fn compare_and_swap_quickly(
    origin: *const c_void,
    compare: *const c_void,
    result: *mut c_void,
    datatype: usize,
    rank: c_int,
    displacement: isize,
    win: usize,
) -> bool {
    let addresses = [origin, compare, result.cast_const()];
    let Some((process, number)) = one_element(&addresses, datatype) else { return false };
    on_window(process, win, |guard, win| {
        let (buffers, one_sided) = ((origin.cast(), compare.cast(), result.cast()), &process.one_sided);
        let record = || process.recorder.record_untimed(functions::MPI_COMPARE_AND_SWAP, win.context(), rank, 0, 1);
        // SAFETY: the program passed elements.
        unsafe { one_sided.compare_and_swap_quickly(guard, win, buffers, number, rank, displacement, record) }
    })
}

/// `MPI_Put`
pub fn put(
    cx: CallContext,
    data: SendBuf<'static>,
    rank: i32,
    displacement: isize,
    count: u64,
    datatype: TypeRef,
    win: WinRef,
) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    let target = target(rank, displacement, count, &datatype);
    start(process, &mut guard, &win, &target, None, |guard| process.one_sided.put(guard, &win.win, data, &target))
}

/// `MPI_Get`
pub fn get(
    cx: CallContext,
    memory: RecvBuf<'static>,
    rank: i32,
    displacement: isize,
    count: u64,
    datatype: TypeRef,
    win: WinRef,
) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    let target = target(rank, displacement, count, &datatype);
    start(process, &mut guard, &win, &target, None, |guard| process.one_sided.get(guard, &win.win, memory, &target))
}

/// `MPI_Accumulate`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn accumulate(
    cx: CallContext,
    address: *const c_void,
    origin_count: u64,
    origin_datatype: TypeRef,
    rank: i32,
    displacement: isize,
    count: u64,
    datatype: TypeRef,
    op: usize,
    win: WinRef,
) -> Outcome {
    let (origin, at) = ((address, origin_count, origin_datatype), (rank, displacement, count, datatype));
    start_accumulate(cx, origin, at, op, win, None)
}

/// `MPI_Get_accumulate`: `MPI_NO_OP` ignores all origin arguments.
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn get_accumulate<C: Into<i64>>(
    cx: CallContext,
    address: *const c_void,
    origin_count: C,
    origin_datatype: usize,
    result: *mut c_void,
    result_count: u64,
    result_datatype: TypeRef,
    rank: i32,
    displacement: isize,
    count: u64,
    datatype: TypeRef,
    op: usize,
    win: WinRef,
) -> Outcome {
    let origin = (address, origin_count.into(), origin_datatype);
    let (result, at) = ((result, result_count, result_datatype), (rank, displacement, count, datatype));
    start_get_accumulate(cx, origin, result, at, op, win, None)
}

/// `MPI_Fetch_and_op`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn fetch_and_op(
    cx: CallContext,
    address: *const c_void,
    result: *mut c_void,
    datatype: TypeRef,
    rank: i32,
    displacement: isize,
    op: usize,
    win: WinRef,
) -> Outcome {
    let data = match op {
        abi::MPI_NO_OP => SendBuf::empty(),
        _ => fortran_section::send_buffer(&cx, "origin_addr", address, 1, &datatype)?,
    };
    let result = fortran_section::recv_buffer(&cx, "result_addr", result, 1, &datatype)?;
    let CallContext { process, mut guard, .. } = cx;
    process.on_op_used(&guard, op, data.bytes());
    let target = target(rank, displacement, 1, &datatype);
    let fetch = |guard: &mut Guard<'_>| {
        process.one_sided.fetch_and_op(guard, &win.win, data, result, &target, op).map_err(of_one_element)
    };
    start(process, &mut guard, &win, &target, None, fetch)
}

/// `MPI_Compare_and_swap`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn compare_and_swap(
    cx: CallContext,
    address: *const c_void,
    compare: *const c_void,
    result: *mut c_void,
    datatype: TypeRef,
    rank: i32,
    displacement: isize,
    win: WinRef,
) -> Outcome {
    let data = fortran_section::send_buffer(&cx, "origin_addr", address, 1, &datatype)?;
    let compare = fortran_section::send_buffer(&cx, "compare_addr", compare, 1, &datatype)?;
    let result = fortran_section::recv_buffer(&cx, "result_addr", result, 1, &datatype)?;
    let CallContext { process, mut guard, .. } = cx;
    let target = target(rank, displacement, 1, &datatype);
    let swap = |guard: &mut Guard<'_>| {
        process.one_sided.compare_and_swap(guard, &win.win, &data, &compare, result, &target).map_err(of_one_element)
    };
    start(process, &mut guard, &win, &target, None, swap)
}

/// The error of a call on one element, which has no count.
#[cold]
fn of_one_element(error: Error) -> Error {
    error.rename_arguments(&[("target_count", "datatype")])
}

/// `MPI_Rput`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn rput(
    cx: CallContext,
    data: SendBuf<'static>,
    rank: i32,
    displacement: isize,
    count: u64,
    datatype: TypeRef,
    win: WinRef,
    request: Out<usize>,
) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    let target = target(rank, displacement, count, &datatype);
    let put = |guard: &mut Guard<'_>| process.one_sided.put(guard, &win.win, data, &target);
    start(process, &mut guard, &win, &target, Some(request), put)
}

/// `MPI_Rget`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn rget(
    cx: CallContext,
    memory: RecvBuf<'static>,
    rank: i32,
    displacement: isize,
    count: u64,
    datatype: TypeRef,
    win: WinRef,
    request: Out<usize>,
) -> Outcome {
    let CallContext { process, mut guard, .. } = cx;
    let target = target(rank, displacement, count, &datatype);
    let get = |guard: &mut Guard<'_>| process.one_sided.get(guard, &win.win, memory, &target);
    start(process, &mut guard, &win, &target, Some(request), get)
}

/// `MPI_Raccumulate`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn raccumulate(
    cx: CallContext,
    address: *const c_void,
    origin_count: u64,
    origin_datatype: TypeRef,
    rank: i32,
    displacement: isize,
    count: u64,
    datatype: TypeRef,
    op: usize,
    win: WinRef,
    request: Out<usize>,
) -> Outcome {
    let (origin, at) = ((address, origin_count, origin_datatype), (rank, displacement, count, datatype));
    start_accumulate(cx, origin, at, op, win, Some(request))
}

/// `MPI_Rget_accumulate`: `MPI_NO_OP` ignores all origin arguments.
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn rget_accumulate<C: Into<i64>>(
    cx: CallContext,
    address: *const c_void,
    origin_count: C,
    origin_datatype: usize,
    result: *mut c_void,
    result_count: u64,
    result_datatype: TypeRef,
    rank: i32,
    displacement: isize,
    count: u64,
    datatype: TypeRef,
    op: usize,
    win: WinRef,
    request: Out<usize>,
) -> Outcome {
    let origin = (address, origin_count.into(), origin_datatype);
    let (result, at) = ((result, result_count, result_datatype), (rank, displacement, count, datatype));
    start_get_accumulate(cx, origin, result, at, op, win, Some(request))
}

/// An accumulation, with a request if there is a place for one.
fn start_accumulate(
    cx: CallContext,
    (address, origin_count, origin_datatype): (*const c_void, u64, TypeRef),
    (rank, displacement, count, datatype): (i32, isize, u64, TypeRef),
    op: usize,
    win: WinRef,
    request: Option<Out<usize>>,
) -> Outcome {
    let data = cx.send_buffer("origin_addr", address, origin_count, &origin_datatype)?;
    let origin = (&*origin_datatype, origin_datatype.word());
    let CallContext { process, mut guard, .. } = cx;
    process.on_op_used(&guard, op, data.bytes());
    let target = target(rank, displacement, count, &datatype);
    let accumulate = |guard: &mut Guard<'_>| process.one_sided.accumulate(guard, &win.win, data, origin, &target, op);
    start(process, &mut guard, &win, &target, request, accumulate)
}

/// A fetching accumulation, with a request if there is a place for one.
fn start_get_accumulate(
    cx: CallContext,
    (address, origin_count, origin_datatype): (*const c_void, i64, usize),
    (result, result_count, result_datatype): (*mut c_void, u64, TypeRef),
    (rank, displacement, count, datatype): (i32, isize, u64, TypeRef),
    op: usize,
    win: WinRef,
    request: Option<Out<usize>>,
) -> Outcome {
    let (data, origin_datatype) = if op == abi::MPI_NO_OP {
        (SendBuf::empty(), None)
    } else {
        let count = check::count("origin_count", origin_count)?;
        let datatype = cx.datatype("origin_datatype", origin_datatype)?;
        (cx.send_buffer("origin_addr", address, count, &datatype)?, Some(datatype))
    };
    let result = cx.recv_buffer("result_addr", result, result_count, &result_datatype)?;
    let of_result = (&*result_datatype, result_datatype.word());
    let of_data = origin_datatype.as_ref().map_or(of_result, |datatype| (&**datatype, datatype.word()));
    let CallContext { process, mut guard, .. } = cx;
    process.on_op_used(&guard, op, data.bytes());
    let target = target(rank, displacement, count, &datatype);
    let fetch = |guard: &mut Guard<'_>| {
        process.one_sided.get_accumulate(guard, &win.win, data, of_data, result, of_result, &target, op)
    };
    start(process, &mut guard, &win, &target, request, fetch)
}

/// Starts an operation, with a request if there is a place for one.
#[inline]
fn start(
    process: &Process,
    guard: &mut Guard<'_>,
    win: &WinRef,
    target: &Target<'_>,
    request: Option<Out<usize>>,
    operation: impl FnOnce(&mut Guard<'_>) -> mpi_errors::Result<()>,
) -> Outcome {
    let started = match request {
        None => operation(guard),
        Some(request) => {
            process.one_sided.requested(guard, &win.win, target, operation).map(|started| request.set(started.0))
        }
    };
    started.map_err(|error| naming_rank(error, target.rank).into())
}

/// The error, which names the target's rank too, except where its message does.
#[cold]
fn naming_rank(error: Error, rank: i32) -> Error {
    match error.class() {
        abi::MPI_ERR_RANK | abi::MPI_ERR_RMA_RANGE | abi::MPI_ERR_RMA_SYNC => error,
        _ => error.arg("target_rank", &rank),
    }
}
