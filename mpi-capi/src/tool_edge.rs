//! Code that the entry points of the tools interface share: return codes, strings, optional results (MPI-5.0, 15.3.2
//! and 15.3.10).
//!
//! Invariant: no call of the tools interface calls an error handler, and results are written only after the call has
//! succeeded.
//! Not here: the interface's functions (mpi-t), info objects (`imp::tool_info`).

use core::ffi::{CStr, c_char, c_int, c_void};

use mpi_core::{abi, functions};
use mpi_t::{Registry, TError, TResult};

/// Runs a call (`mpi_core::functions`) on the registry and returns its code. A call before the first MPI_T_init_thread
/// does not create the process record, and fails.
#[inline]
pub fn with_registry(function: u16, work: impl FnOnce(&'static Registry) -> TResult<()>) -> c_int {
    let outcome = match mpi_env::joined() {
        Some(process) => work(&process.registry),
        None => Err(TError::NOT_INITIALIZED),
    };
    match outcome {
        Ok(()) => abi::MPI_SUCCESS,
        Err(error) => failed(function, &error),
    }
}

/// Records the reason of a failed call and returns its code.
#[cold]
pub fn failed(function: u16, error: &TError) -> c_int {
    mpi_t::record_failure(functions::name(function).unwrap_or("MPI_T"), error);
    error.code()
}

/// The error of an address that must not be NULL.
#[cold]
#[inline(never)]
pub fn null(argument: &'static str) -> TError {
    TError::INVALID.argument(argument, "NULL", "an address is needed")
}

/// Stores an optional result; does nothing if the address is NULL.
pub fn store<T>(address: *mut T, value: T) {
    if !address.is_null() {
        // SAFETY: the program passed the address of a variable of this type.
        unsafe { address.write_unaligned(value) }
    }
}

/// Checks an address that must not be NULL.
pub fn required<T>(argument: &'static str, address: *mut T) -> TResult<*mut T> {
    if address.is_null() { Err(null(argument)) } else { Ok(address) }
}

/// An input string, as bytes.
#[inline]
pub fn text<'a>(argument: &'static str, address: *const c_char) -> TResult<&'a [u8]> {
    if address.is_null() {
        return Err(null(argument));
    }
    // SAFETY: the program passed a C string.
    Ok(unsafe { CStr::from_ptr(address) }.to_bytes())
}

/// The place of an output string, by the rules of this interface (MPI-5.0, 15.3.3).
#[derive(Debug, Clone, Copy)]
pub struct TextOut {
    address: *mut c_char,
    length: *mut c_int,
    room: usize,
}

impl TextOut {
    /// Memory and the address of its length, either of which may be NULL. `argument` is the length's name. Errors: a
    /// negative length.
    pub fn new(argument: &'static str, address: *mut c_char, length: *mut c_int) -> TResult<TextOut> {
        if length.is_null() {
            return Ok(TextOut { address, length, room: 0 });
        }
        // SAFETY: the program passed the address of a length, which is also an input.
        let room = self::length(argument, unsafe { length.read_unaligned() })?;
        Ok(TextOut { address, length, room: if address.is_null() { 0 } else { room } })
    }

    /// Stores the text, truncated to the program's memory, and the length of the whole text, including the NUL.
    pub fn set(self, text: &str) {
        if self.room > 0 {
            // SAFETY: the program passed `room` characters.
            unsafe { crate::check::store_text(self.address, self.room, text) };
        }
        store(self.length, c_int::try_from(text.len() + 1).unwrap_or(c_int::MAX));
    }
}

/// A length that a program passed.
pub fn length(argument: &'static str, length: c_int) -> TResult<usize> {
    usize::try_from(length).map_err(|_| TError::INVALID.argument(argument, length, "a length must not be negative"))
}

/// Stores as many numbers as there is room for. Errors: a negative length, or a NULL address with a positive length.
pub fn store_all(address: *mut c_int, room: c_int, values: &[c_int]) -> TResult<()> {
    let room = length("len", room)?;
    if room > 0 {
        let address = required("indices", address)?;
        let count = values.len().min(room);
        // SAFETY: the program passed `room` numbers.
        unsafe { core::ptr::copy_nonoverlapping(values.as_ptr(), address, count) };
    }
    Ok(())
}

/// The handle word at an object's address; `None` for NULL.
pub fn object_word(object: *const c_void) -> Option<usize> {
    // SAFETY: the program passed the address of a handle, which is one word.
    (!object.is_null()).then(|| unsafe { object.cast::<usize>().read_unaligned() })
}
