//! The edge of the tools interface: its errors are plain codes, its results optional (MPI-5.0, 15.3.2 and 15.3.10).
//!
//! Invariant: nothing here calls an error handler, and nothing is written before the call has succeeded.
//! Not here: what the interface does (mpi-t).

use core::ffi::{CStr, c_char, c_int, c_void};

use crate::imp::info;
use mpi_core::{Info, abi};
use mpi_t::{Registry, TError, TResult};

/// Does something with the registry; its code.
#[inline]
pub fn with_registry(work: impl FnOnce(&'static Registry) -> TResult<()>) -> c_int {
    let outcome = match mpi_env::joined() {
        Some(process) => work(&process.registry),
        // MPI_T_init_thread would have made the process.
        None => Err(TError::NOT_INITIALIZED),
    };
    code(outcome)
}

/// The code of an outcome.
#[inline]
pub fn code(outcome: TResult<()>) -> c_int {
    outcome.map_or_else(TError::code, |()| abi::MPI_SUCCESS)
}

/// Stores a result that the program may not want.
pub fn store<T>(address: *mut T, value: T) {
    if !address.is_null() {
        // SAFETY: the program passed the address of a variable of this type.
        unsafe { address.write_unaligned(value) }
    }
}

/// An address that the call cannot do without.
pub fn required<T>(address: *mut T) -> TResult<*mut T> {
    if address.is_null() { Err(TError::INVALID) } else { Ok(address) }
}

/// A text that goes in, as it is.
#[inline]
pub fn text<'a>(address: *const c_char) -> TResult<&'a [u8]> {
    if address.is_null() {
        return Err(TError::INVALID);
    }
    // SAFETY: the program passed a C string.
    Ok(unsafe { CStr::from_ptr(address) }.to_bytes())
}

/// Where a text goes, by the rules of strings of this interface (MPI-5.0, 15.3.3).
#[derive(Debug, Clone, Copy)]
pub struct TextOut {
    address: *mut c_char,
    length: *mut c_int,
    room: usize,
}

impl TextOut {
    /// Memory and the address of its length, either of which may be NULL. Errors: a negative length.
    pub fn new(address: *mut c_char, length: *mut c_int) -> TResult<TextOut> {
        if length.is_null() {
            return Ok(TextOut { address, length, room: 0 });
        }
        // SAFETY: the program passed the address of a length, which also goes in.
        let room = usize::try_from(unsafe { length.read_unaligned() }).map_err(|_| TError::INVALID)?;
        Ok(TextOut { address, length, room: if address.is_null() { 0 } else { room } })
    }

    /// Stores the text cut to its memory, and the length that the whole of it takes, its NUL included.
    pub fn set(self, text: &str) {
        if self.room > 0 {
            // SAFETY: the program passed `room` characters.
            unsafe { crate::check::store_text(self.address, self.room, text) };
        }
        store(self.length, c_int::try_from(text.len() + 1).unwrap_or(c_int::MAX));
    }
}

/// Stores as many numbers as there is room for. Errors: a negative length, room at NULL.
pub fn store_all(address: *mut c_int, room: c_int, values: &[c_int]) -> TResult<()> {
    let room = usize::try_from(room).map_err(|_| TError::INVALID)?;
    if room > 0 {
        let address = required(address)?;
        let count = values.len().min(room);
        // SAFETY: the program passed `room` numbers.
        unsafe { core::ptr::copy_nonoverlapping(values.as_ptr(), address, count) };
    }
    Ok(())
}

/// The handle word that an object's address leads to; none for NULL.
pub fn object_word(object: *const c_void) -> Option<usize> {
    // SAFETY: the program passed the address of a handle, which is one word.
    (!object.is_null()).then(|| unsafe { object.cast::<usize>().read_unaligned() })
}

/// Hints that go in; none for `MPI_INFO_NULL`.
pub fn with_info<R>(word: usize, look: impl FnOnce(&Info) -> TResult<R>) -> TResult<R> {
    match word {
        abi::MPI_INFO_NULL => look(&Info::new()),
        _ => {
            let hints = info::with("info", word, Info::clone).map_err(|_| TError::INVALID)?;
            look(&hints)
        }
    }
}

/// A new info object for an address that is not NULL.
pub fn new_info(address: *mut usize, make: impl FnOnce() -> Info) -> TResult<usize> {
    if address.is_null() {
        return Ok(abi::MPI_INFO_NULL);
    }
    info::insert(make()).map_err(|_| TError::MEMORY)
}
