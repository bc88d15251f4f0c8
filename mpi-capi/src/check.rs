//! Argument checks that need no process: addresses, counts, tags, strings. They convert C pointers to Rust values.
//!
//! Invariant: the implementation may use every value that a check accepts; for every other value the error names the
//! argument and its value. Outputs are written through [`Out`], after the call has succeeded.
//! Not here: handles and ranks, which need the process (`call_context`).

use core::ffi::{CStr, c_char, c_int, c_void};

use mpi_core::{Status, abi};
use mpi_datatype::Datatype;
use mpi_errors::{Error, Result};

/// The place of a result: an address that is not NULL.
#[derive(Debug)]
pub struct Out<T> {
    address: *mut T,
}

impl<T> Clone for Out<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Out<T> {}

impl<T: Copy> Out<T> {
    /// Stores the result.
    #[inline]
    pub fn set(self, value: T) {
        // SAFETY: the program passed the address of a variable of this type; it is not NULL. C does not promise
        // alignment beyond the type's own, which `write_unaligned` does not need.
        unsafe { self.address.write_unaligned(value) }
    }

    /// The current value, for arguments that are input and output.
    #[inline]
    pub fn get(self) -> T {
        // SAFETY: as in `set`; the program initialised the variable, because the argument is also an input.
        unsafe { self.address.read_unaligned() }
    }
}

/// The address of a result.
#[inline]
pub fn out<T>(name: &'static str, address: *mut T) -> Result<Out<T>> {
    if address.is_null() { Err(null(name)) } else { Ok(Out { address }) }
}

/// Stores a result unless its address is NULL; whether it was stored.
#[inline(always)] // of short ways that have a longer one
pub fn set_quickly<T>(address: *mut T, value: T) -> bool {
    if address.is_null() {
        return false;
    }
    // SAFETY: the program passed the address of a variable of this type.
    unsafe { address.write_unaligned(value) };
    true
}

/// The place of an address or a string; declared as `void *` or `char *`.
#[inline]
pub fn pointer<T>(name: &'static str, address: *mut T) -> Result<*mut T> {
    if address.is_null() { Err(null(name)) } else { Ok(address) }
}

/// The place of a status; none for `MPI_STATUS_IGNORE`.
#[derive(Debug, Clone, Copy)]
pub struct StatusOut {
    address: *mut Status,
}

impl StatusOut {
    /// Stores source, tag and length. The error field is unchanged, because a call that completes one operation returns
    /// its error (MPI-5.0, 3.2.5).
    #[inline]
    pub fn set(self, mut status: Status) {
        if !self.address.is_null() {
            // SAFETY: the program passed the address of a status, or MPI_STATUS_IGNORE, which is NULL.
            unsafe {
                status.error = (&raw const (*self.address).error).read_unaligned();
                self.address.write_unaligned(status);
            }
        }
    }

    /// The current status; `None` for `MPI_STATUS_IGNORE`.
    pub fn get(self) -> Option<Status> {
        // SAFETY: as in `set`.
        (!self.address.is_null()).then(|| unsafe { self.address.read_unaligned() })
    }

    /// Stores a whole status, including its error field.
    pub fn set_all(self, status: Status) {
        if !self.address.is_null() {
            // SAFETY: as in `set`.
            unsafe { self.address.write_unaligned(status) }
        }
    }
}

/// The address of an output status, or `MPI_STATUS_IGNORE`.
#[inline]
pub fn status_out(_name: &'static str, address: *mut Status) -> Result<StatusOut> {
    Ok(StatusOut { address })
}

/// An input status. `MPI_STATUS_IGNORE` is an error.
#[inline]
pub fn status(name: &'static str, address: *const Status) -> Result<Status> {
    if address.is_null() {
        return Err(null(name));
    }
    // SAFETY: the program passed the address of a status.
    Ok(unsafe { address.read_unaligned() })
}

/// The place of an array of statuses, one for each operation; none for `MPI_STATUSES_IGNORE`.
#[derive(Debug, Clone, Copy)]
pub struct StatusesOut {
    address: *mut Status,
}

impl StatusesOut {
    /// The array at this address.
    pub fn new(address: *mut Status) -> StatusesOut {
        StatusesOut { address }
    }

    /// Stores the status of operation `index`, which is below the array's length, with its error field.
    #[inline]
    pub fn set(self, index: usize, status: Status) {
        if !self.address.is_null() {
            // SAFETY: the program passed as many statuses as operations.
            unsafe { self.address.add(index).write_unaligned(status) }
        }
    }

    /// Stores source, tag and length. The error field is unchanged: it has a meaning only if the call returns
    /// `MPI_ERR_IN_STATUS`.
    #[inline]
    pub fn set_keeping_error(self, index: usize, status: Status) {
        StatusOut { address: if self.address.is_null() { self.address } else { self.address.wrapping_add(index) } }
            .set(status);
    }

    /// Stores only the error field.
    pub fn set_error(self, index: usize, error: c_int) {
        if !self.address.is_null() {
            // SAFETY: as in `set`.
            unsafe { (&raw mut (*self.address.add(index)).error).write_unaligned(error) }
        }
    }
}

/// The place of a count; its type depends on the form of the call.
#[derive(Debug, Clone, Copy)]
pub enum CountOut {
    /// A C int.
    Int(Out<c_int>),
    /// An `MPI_Aint`.
    Aint(Out<isize>),
    /// An `MPI_Count`.
    Count(Out<i64>),
}

impl CountOut {
    /// Stores a count; `MPI_UNDEFINED` if it does not fit (MPI-5.0, 3.2.5 and 5.1.5).
    #[inline]
    pub fn set(self, value: i64) {
        match self {
            CountOut::Int(out) => out.set(c_int::try_from(value).unwrap_or(abi::MPI_UNDEFINED)),
            CountOut::Aint(out) => out.set(isize::try_from(value).unwrap_or(abi::MPI_UNDEFINED as isize)),
            CountOut::Count(out) => out.set(value),
        }
    }

    /// The current value, for arguments that are input and output.
    pub fn get(self) -> i64 {
        match self {
            CountOut::Int(out) => out.get().wide(),
            CountOut::Aint(out) => out.get().wide(),
            CountOut::Count(out) => out.get(),
        }
    }
}

/// The C types of counts.
pub trait CountWord: Copy {
    /// The place for a count of this type.
    fn place(out: Out<Self>) -> CountOut;

    /// The count.
    fn wide(self) -> i64;
}

impl CountWord for c_int {
    fn place(out: Out<Self>) -> CountOut {
        CountOut::Int(out)
    }

    fn wide(self) -> i64 {
        i64::from(self)
    }
}

impl CountWord for isize {
    fn place(out: Out<Self>) -> CountOut {
        CountOut::Aint(out)
    }

    fn wide(self) -> i64 {
        self as i64
    }
}

impl CountWord for i64 {
    fn place(out: Out<Self>) -> CountOut {
        CountOut::Count(out)
    }

    fn wide(self) -> i64 {
        self
    }
}

/// The address of an output count.
#[inline]
pub fn count_out<T: CountWord>(name: &'static str, address: *mut T) -> Result<CountOut> {
    out(name, address).map(T::place)
}

/// A number of elements.
#[inline]
pub fn count(name: &'static str, value: i64) -> Result<u64> {
    if value < 0 {
        Err(negative(name, value, abi::MPI_ERR_COUNT, "a count must not be negative"))
    } else {
        Ok(value as u64)
    }
}

/// A number of bytes.
#[inline]
pub fn size(name: &'static str, value: i64) -> Result<u64> {
    if value < 0 {
        Err(negative(name, value, abi::MPI_ERR_ARG, "a size must not be negative"))
    } else {
        Ok(value as u64)
    }
}

/// The bytes that one displacement in a window stands for.
#[inline]
pub fn displacement_unit(name: &'static str, value: i64) -> Result<i64> {
    if value > 0 {
        return Ok(value);
    }
    Err(negative(name, value, abi::MPI_ERR_DISP, "a displacement unit is a positive number of bytes"))
}

/// The length of an array.
#[inline]
pub fn length(name: &'static str, value: c_int) -> Result<usize> {
    if value < 0 {
        Err(negative(name, i64::from(value), abi::MPI_ERR_COUNT, "an array's length must not be negative"))
    } else {
        Ok(value as usize)
    }
}

/// The number of dimensions of an array.
pub fn dimensions(name: &'static str, value: c_int) -> Result<u64> {
    if value > 0 {
        return Ok(value as u64);
    }
    Err(negative(name, i64::from(value), abi::MPI_ERR_COUNT, "an array has at least one dimension"))
}

/// A tag to send with.
#[inline]
pub fn tag(name: &'static str, value: c_int) -> Result<c_int> {
    if value < 0 { Err(bad_tag(name, value, false)) } else { Ok(value) }
}

/// A tag to receive with.
#[inline]
pub fn any_tag(name: &'static str, value: c_int) -> Result<c_int> {
    if value < 0 && value != abi::MPI_ANY_TAG { Err(bad_tag(name, value, true)) } else { Ok(value) }
}

/// A truth value: 0 is false.
#[inline]
pub fn logical(_name: &'static str, value: c_int) -> Result<bool> {
    Ok(value != 0)
}

/// A level of thread support.
pub fn thread_level(name: &'static str, value: c_int) -> Result<c_int> {
    const LEVELS: [c_int; 4] =
        [abi::MPI_THREAD_SINGLE, abi::MPI_THREAD_FUNNELED, abi::MPI_THREAD_SERIALIZED, abi::MPI_THREAD_MULTIPLE];
    if LEVELS.contains(&value) {
        return Ok(value);
    }
    let rule = "a thread level is MPI_THREAD_SINGLE, _FUNNELED, _SERIALIZED or _MULTIPLE";
    Err(Error::new(abi::MPI_ERR_ARG, rule).arg(name, &value))
}

/// A callback of the program, by address. `large` is whether it is the form with `MPI_Count`, for callbacks with two
/// forms.
pub fn function(name: &'static str, address: usize, large: bool) -> Result<Function> {
    if address == 0 { Err(null(name)) } else { Ok(Function { address, large }) }
}

/// A callback of either form that may be absent, as NULL.
pub fn optional_function(_name: &'static str, address: usize, large: bool) -> Result<Option<Function>> {
    Ok((address != 0).then_some(Function { address, large }))
}

/// A callback with one form, which takes `int` counts or none.
pub fn callback(name: &'static str, address: usize) -> Result<Function> {
    function(name, address, false)
}

/// A callback of the program.
#[derive(Debug, Clone, Copy)]
pub struct Function {
    /// Address of its code; not 0.
    pub address: usize,
    /// Whether this is the form that takes `MPI_Count` instead of `int`.
    pub large: bool,
}

/// An input string.
pub fn text<'a>(name: &'static str, address: *const c_char) -> Result<&'a CStr> {
    if address.is_null() {
        return Err(null(name));
    }
    // SAFETY: the program passed a C string, which is valid at least until the call returns.
    Ok(unsafe { CStr::from_ptr(address) })
}

/// An array that is input and output; no other code uses it during the call.
#[inline]
pub fn slice<'a, T>(name: &'static str, address: *mut T, length: usize) -> Result<&'a mut [T]> {
    if length == 0 {
        return Ok(&mut []);
    }
    if address.is_null() || !address.is_aligned() {
        return Err(null(name));
    }
    // SAFETY: the program passed an array of `length` elements, which it does not access during the call.
    Ok(unsafe { core::slice::from_raw_parts_mut(address, length) })
}

/// An array of numbers or handles that only goes in.
#[inline]
pub fn list<'a, T>(name: &'static str, address: *const T, length: usize) -> Result<&'a [T]> {
    slice(name, address.cast_mut(), length).map(|list| &*list)
}

/// Copies a text into the program's memory of `room` bytes, truncated if necessary, with a final NUL; returns the
/// length stored.
///
/// # Safety
/// `room` bytes at `address` are writable.
pub unsafe fn store_text(address: *mut c_char, room: usize, text: &str) -> usize {
    let mut length = text.len().min(room.saturating_sub(1));
    while !text.is_char_boundary(length) {
        length -= 1;
    }
    if room > 0 {
        // SAFETY: the caller promises `room` writable bytes, and `length + 1 <= room`.
        unsafe {
            core::ptr::copy_nonoverlapping(text.as_ptr(), address.cast::<u8>(), length);
            address.add(length).write(0);
        }
    }
    length
}

/// Whether a buffer address is one of the constants that do not refer to memory, such as `MPI_BOTTOM` and
/// `MPI_IN_PLACE`.
#[inline]
pub fn is_no_memory(address: *const c_void) -> bool {
    (address as usize) < 16
}

/// Lowest address at which a program's data can be: the first page of memory is never mapped.
const FIRST_ADDRESS: i64 = 4096;

/// Accepts an address that does not refer to memory if the data is empty, or if it is `MPI_BOTTOM` and the
/// displacements of the datatype are addresses.
#[cold]
pub fn no_data(name: &'static str, address: *const c_void, count: u64, datatype: &Datatype) -> Result<()> {
    let absolute = address.is_null() && datatype.lowest_byte(count) >= FIRST_ADDRESS;
    if count == 0 || datatype.size() == 0 || absolute { Ok(()) } else { Err(bad_buffer(name, address)) }
}

/// The error of elements that make no buffer: those of a datatype that is not committed, too many, or, where data is
/// stored, overlapping ones.
#[cold]
pub fn no_buffer(name: &'static str, count: u64, datatype: &Datatype) -> Error {
    if !datatype.is_committed() {
        return not_committed(name, "a buffer of a derived datatype");
    }
    if datatype.bytes_of(count).is_none() {
        return too_many(name, count, datatype);
    }
    let rule = "the datatype has data at overlapping places, and data cannot be stored through such a type";
    Error::new(abi::MPI_ERR_TYPE, rule)
        .arg(name, &format_args!("{} of {}", mpi_errors::counted(count, "element"), called(datatype)))
        .hint("Use a datatype without overlap; a stride or an extent may be smaller than the block.")
}

/// The error of a datatype that is not committed.
#[cold]
pub fn not_committed(name: &'static str, what: &str) -> Error {
    Error::new(abi::MPI_ERR_TYPE, "its datatype is not committed; call MPI_Type_commit first")
        .arg(name, &what)
        .hint("Call MPI_Type_commit after the last constructor.")
}

fn called(datatype: &Datatype) -> &'static str {
    if datatype.name().is_empty() { "a derived datatype" } else { datatype.name() }
}

/// The error of a count that exceeds the address space.
#[cold]
pub fn too_many(name: &'static str, count: u64, datatype: &Datatype) -> Error {
    let of = called(datatype);
    let elements = mpi_errors::counted(count, "element");
    let rule = "no memory has that many bytes";
    let error = Error::new(abi::MPI_ERR_COUNT, rule).arg(name, &format_args!("{elements} of {of}"));
    error.hint("Check the count, and the size of the datatype.")
}

/// The error of a buffer address that does not refer to memory although there is data.
#[cold]
pub fn bad_buffer(name: &'static str, address: *const c_void) -> Error {
    let (value, rule, advice) = match address as usize {
        // NULL and MPI_BOTTOM are the same address in the standard ABI.
        abi::MPI_BOTTOM => (
            "NULL",
            "the count and the datatype describe data",
            "Pass the address of the buffer, or a count of 0. (MPI_BOTTOM is NULL, too: it needs a datatype with absolute \
             addresses.)",
        ),
        abi::MPI_IN_PLACE => (
            "MPI_IN_PLACE",
            "this argument does not accept it in this process",
            "Pass a buffer. MPI_IN_PLACE replaces the send buffer of most collective calls, and in some of them the receive \
             buffer of the root or of the others.",
        ),
        _ => {
            let rule = "that is no address of memory";
            return Error::new(abi::MPI_ERR_BUFFER, rule).arg(name, &format_args!("{address:p}"));
        }
    };
    Error::new(abi::MPI_ERR_BUFFER, rule).arg(name, &value).hint(advice)
}

#[cold]
fn null(name: &'static str) -> Error {
    Error::new(abi::MPI_ERR_ARG, "an address is needed").arg(name, &"NULL")
}

#[cold]
fn negative(name: &'static str, value: i64, class: c_int, rule: &'static str) -> Error {
    Error::new(class, rule).arg(name, &value)
}

#[cold]
fn bad_tag(name: &'static str, value: c_int, receiving: bool) -> Error {
    let rule = match (value, receiving) {
        (abi::MPI_ANY_TAG, _) => "MPI_ANY_TAG is for receiving only",
        (_, true) => "a tag is not negative, or MPI_ANY_TAG",
        (_, false) => "a tag is not negative",
    };
    Error::new(abi::MPI_ERR_TAG, rule).arg(name, &value)
}
