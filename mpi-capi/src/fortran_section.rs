//! Array sections with gaps as choice buffers of module `mpi_f08` (MPI-5.0, 19.1.12): what the Fortran layer
//! (`mpi-capi/fortran/f08`) calls before and after the call of the C function.
//!
//! A section reaches a call in one of three ways: as a datatype with the same data in the section; as a copy, whose room is
//! checked here; or, where the call has to get the datatype of the program, as a statement about the buffer, which the
//! implementation reads. Invariants: no data are outside of the section; an error is raised once, by the name of the call,
//! and takes no code from the program.
//! Not here: the datatype (`mpi_datatype::Section`), the copies (`mpi-capi/fortran/f08/section_copy.c`).

use core::cell::{Cell, RefCell};
use core::ffi::{CStr, c_char, c_int, c_void};
use core::sync::atomic::{AtomicUsize, Ordering};

use mpi_core::{Handle, abi, functions};
use mpi_datatype::{Datatype, RecvBuf, Section, SendBuf, predefined};
use mpi_env::{Object, Process};
use mpi_errors::{Error, HandlerKind, Result};

use crate::call_context::CallContext;
use crate::errors::{Raised, raise};

/// A dimension of a descriptor of the compiler: `CFI_dim_t`.
#[derive(Debug, Clone, Copy)]
#[repr(C)]
pub struct Dimension {
    _lower: isize,
    extent: isize,
    stride: isize,
}

/// Most dimensions of an array.
const RANKS: usize = 15;

/// The shape of a section, in memory of its own.
#[derive(Debug, Clone, Copy)]
struct Shape {
    element: u64,
    rank: usize,
    dimensions: [(u64, i64); RANKS],
}

impl Shape {
    /// # Safety
    /// `dimensions` has `rank` entries.
    unsafe fn new(element: usize, rank: c_int, dimensions: *const Dimension) -> Shape {
        let mut shape = Shape { element: element as u64, rank: 0, dimensions: [(0, 0); RANKS] };
        for (place, index) in shape.dimensions.iter_mut().zip(0..usize::try_from(rank).unwrap_or(0)) {
            // SAFETY: below `rank`.
            let Dimension { extent, stride, .. } = unsafe { dimensions.add(index).read() };
            *place = (extent.max(0) as u64, stride as i64);
            shape.rank = index + 1;
        }
        shape
    }

    fn section(&self) -> Section<'_> {
        Section { element: self.element, dimensions: &self.dimensions[..self.rank] }
    }
}

/// A buffer of the next call of a thread.
#[derive(Debug)]
struct Statement {
    parameter: &'static CStr,
    address: usize,
    shape: Shape,
}

thread_local! {
    /// Why a buffer of the next call of this thread cannot be passed.
    static REFUSED: Cell<Option<Error>> = const { Cell::new(None) };
    static STATED: RefCell<Vec<Statement>> = const { RefCell::new(Vec::new()) };
}

/// Number of statements that are in force.
static STATEMENTS: AtomicUsize = AtomicUsize::new(0);

/// The arguments are wrong in a way that the call itself reports, or there are no data.
const AS_IT_IS: c_int = 0;
/// There is a datatype for the section.
const MADE: c_int = 1;
/// There is an error, which `ferrum_section_raise` raises.
const REFUSED_FOR_A_REASON: c_int = 2;

fn refuse(error: Error) -> c_int {
    REFUSED.set(Some(error));
    REFUSED_FOR_A_REASON
}

/// The process and a datatype that describes buffers, with the count; `None` if the call reports an error of them, or if
/// there are no data.
fn described(count: i64, word: usize) -> Option<(&'static Process, u64, Datatype)> {
    let process = mpi_env::joined()?;
    let count = u64::try_from(count).ok().filter(|count| *count > 0)?;
    let datatype = match predefined(word) {
        Some(datatype) => datatype.clone(),
        None => process.datatypes.get(&process.engine.lock()).get(Handle(word))?.clone(),
    };
    (datatype.is_committed() && datatype.bytes_of(count).is_some()).then_some((process, count, datatype))
}

/// Makes a datatype of which one item in a section has the data of `count` items of this datatype in contiguous memory.
///
/// # Safety
/// `dimensions` has `rank` entries, and `made` points to a handle.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrum_section_datatype(
    count: i64,
    datatype: usize,
    element: usize,
    rank: c_int,
    dimensions: *const Dimension,
    made: *mut usize,
) -> c_int {
    // SAFETY: the caller's promise.
    let shape = unsafe { Shape::new(element, rank, dimensions) };
    let Some((process, count, datatype)) = described(count, datatype) else { return AS_IT_IS };
    let handle = datatype
        .in_section(0, count, &shape.section())
        .and_then(|datatype| process.type_create(&mut process.engine.lock(), datatype));
    match handle {
        Ok(handle) => {
            // SAFETY: the caller's promise.
            unsafe { made.write(handle.0) };
            MADE
        }
        Err(error) => refuse(error),
    }
}

/// Ends a datatype that `ferrum_section_datatype` has made.
#[unsafe(no_mangle)]
pub extern "C" fn ferrum_section_free(datatype: usize) {
    if let Some(process) = mpi_env::joined() {
        // It exists: nothing else frees it.
        let _ = process.type_free(&mut process.engine.lock(), Handle(datatype));
    }
}

/// Checks that a copy of a section has room for `blocks` times `count` items of a datatype.
///
/// # Safety
/// `dimensions` has `rank` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrum_section_room(
    count: i64,
    blocks: c_int,
    datatype: usize,
    element: usize,
    rank: c_int,
    dimensions: *const Dimension,
) -> c_int {
    // SAFETY: the caller's promise.
    let shape = unsafe { Shape::new(element, rank, dimensions) };
    let Some((_, count, datatype)) = described(count, datatype) else { return AS_IT_IS };
    match shape.section().check_room(0, count, blocks.max(0) as u64, &datatype) {
        Ok(()) => AS_IT_IS,
        Err(error) => refuse(error),
    }
}

/// Refuses the buffers of the next call, with an error of this class: `MPI_ERR_NO_MEM` or `MPI_ERR_BUFFER`.
#[unsafe(no_mangle)]
pub extern "C" fn ferrum_section_refuse(class: c_int) {
    let rule = match class {
        abi::MPI_ERR_NO_MEM => "there is no memory for the copy of an argument",
        _ => "the buffer is an array section with gaps, and this call needs contiguous memory",
    };
    refuse(Error::new(class, rule));
}

/// Raises the error of a buffer on the object of the call, which is named without its prefix; the error code.
///
/// # Safety
/// `call` ends with a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrum_section_raise(call: *const c_char, holder: c_int, object: usize) -> c_int {
    // SAFETY: the caller's promise.
    let call = unsafe { CStr::from_ptr(call) }.to_bytes();
    let number = (0..u16::MAX).find(|number| functions::name(*number).is_some_and(|name| name.as_bytes() == call));
    let kind = [HandlerKind::Comm, HandlerKind::Win, HandlerKind::File].get((holder - 1).max(0) as usize).copied();
    let object = kind.map(|kind| Object { kind, handle: Handle(object) });
    let error = REFUSED.take().unwrap_or_else(|| Error::new(abi::MPI_ERR_INTERN, "no buffer was refused"));
    raise(number.unwrap_or(u16::MAX), object, Raised::from(error))
}

/// States that the buffer of the next call of this thread is a section; without an address, that the call is over.
///
/// # Safety
/// `parameter` is a constant text, and `dimensions` has `rank` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ferrum_section_state(
    parameter: *const c_char,
    address: *const c_void,
    element: usize,
    rank: c_int,
    dimensions: *const Dimension,
) {
    STATED.with_borrow_mut(|stated| {
        if address.is_null() {
            STATEMENTS.fetch_sub(stated.len(), Ordering::Relaxed);
            stated.clear();
            return;
        }
        // SAFETY: the caller's promise.
        let (parameter, shape) = unsafe { (CStr::from_ptr(parameter), Shape::new(element, rank, dimensions)) };
        stated.push(Statement { parameter, address: address.addr(), shape });
        STATEMENTS.fetch_add(1, Ordering::Relaxed);
    });
}

/// The datatype of which one item at the address is the buffer, if this thread has stated that the buffer is a section.
#[inline]
fn in_stated(
    name: &'static str,
    (address, start): (*const c_void, i64),
    count: u64,
    datatype: &Datatype,
) -> Result<Option<Datatype>> {
    // A thread sees its own statements.
    if STATEMENTS.load(Ordering::Relaxed) == 0 {
        return Ok(None);
    }
    find_stated(name, (address, start), count, datatype)
}

#[cold]
fn find_stated(
    name: &'static str,
    (address, start): (*const c_void, i64),
    count: u64,
    datatype: &Datatype,
) -> Result<Option<Datatype>> {
    // What is wrong is reported as for any other buffer.
    if count == 0 || !datatype.is_committed() || datatype.bytes_of(count).is_none() {
        return Ok(None);
    }
    STATED.with_borrow(|stated| {
        let is_it = |it: &&Statement| it.address == address.addr() && it.parameter.to_bytes() == name.as_bytes();
        let in_section = |it: &Statement| datatype.in_section(start, count, &it.shape.section());
        stated.iter().find(is_it).map(in_section).transpose()
    })
}

/// [`CallContext::send_buffer`] of a buffer that may be a section.
#[inline]
pub fn send_buffer(
    cx: &CallContext,
    name: &'static str,
    address: *const c_void,
    count: u64,
    datatype: &Datatype,
) -> Result<SendBuf<'static>> {
    send_block(cx, name, (address, 0), count, datatype)
}

/// [`CallContext::recv_buffer`] of a buffer that may be a section.
#[inline]
pub fn recv_buffer(
    cx: &CallContext,
    name: &'static str,
    address: *mut c_void,
    count: u64,
    datatype: &Datatype,
) -> Result<RecvBuf<'static>> {
    recv_block(cx, name, (address, 0), count, datatype)
}

/// [`CallContext::send_buffer`] of a block, so many bytes behind the beginning of a buffer that may be a section.
#[inline]
pub fn send_block(
    cx: &CallContext,
    name: &'static str,
    (address, start): (*const c_void, i64),
    count: u64,
    datatype: &Datatype,
) -> Result<SendBuf<'static>> {
    match in_stated(name, (address, start), count, datatype)? {
        Some(made) => cx.send_buffer(name, address, 1, &made),
        None => cx.send_buffer(name, address.wrapping_byte_offset(start as isize), count, datatype),
    }
}

/// [`CallContext::recv_buffer`] of a block, as [`send_block`].
#[inline]
pub fn recv_block(
    cx: &CallContext,
    name: &'static str,
    (address, start): (*mut c_void, i64),
    count: u64,
    datatype: &Datatype,
) -> Result<RecvBuf<'static>> {
    match in_stated(name, (address.cast_const(), start), count, datatype)? {
        Some(made) => cx.recv_buffer(name, address, 1, &made),
        None => cx.recv_buffer(name, address.wrapping_byte_offset(start as isize), count, datatype),
    }
}
