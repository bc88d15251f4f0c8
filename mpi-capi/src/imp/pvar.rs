//! Performance variables (MPI-5.0, 15.3.7).
//!
//! Invariant: read, write, start, stop, reset and readreset are async-signal-safe and thread-safe: they take no lock,
//! do not allocate and call no error handler.

use core::ffi::{c_char, c_int, c_void};

use mpi_core::{Handle, abi, functions};

use crate::tool_edge::{TextOut, failed, null, object_word, required, store, text, with_registry};

/// `MPI_T_pvar_get_num`
pub fn pvar_get_num(count: *mut c_int) -> c_int {
    with_registry(functions::MPI_T_PVAR_GET_NUM, |registry| {
        store(required("num_pvar", count)?, registry.pvar_get_num()?);
        Ok(())
    })
}

/// `MPI_T_pvar_get_info`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn pvar_get_info(
    index: c_int,
    name: *mut c_char,
    name_length: *mut c_int,
    verbosity: *mut c_int,
    class: *mut c_int,
    datatype: *mut usize,
    enumeration: *mut usize,
    description: *mut c_char,
    description_length: *mut c_int,
    bind: *mut c_int,
    readonly: *mut c_int,
    continuous: *mut c_int,
    atomic: *mut c_int,
) -> c_int {
    with_registry(functions::MPI_T_PVAR_GET_INFO, |registry| {
        let info = registry.pvar_get_info(index)?;
        let (name, description) =
            (TextOut::new("name_len", name, name_length)?, TextOut::new("desc_len", description, description_length)?);
        name.set(info.name());
        description.set(&info.description);
        store(verbosity, info.verbosity() as c_int);
        store(class, info.class() as c_int);
        store(datatype, info.value().datatype());
        store(enumeration, info.enumeration.0);
        store(bind, info.bind() as c_int);
        store(readonly, c_int::from(info.readonly()));
        store(continuous, c_int::from(info.continuous()));
        store(atomic, c_int::from(info.atomic()));
        Ok(())
    })
}

/// `MPI_T_pvar_get_index`
pub fn pvar_get_index(name: *const c_char, class: c_int, index: *mut c_int) -> c_int {
    with_registry(functions::MPI_T_PVAR_GET_INDEX, |registry| {
        let index = required("pvar_index", index)?;
        store(index, registry.pvar_get_index(text("name", name)?, class)?);
        Ok(())
    })
}

/// `MPI_T_pvar_session_create`
pub fn pvar_session_create(session: *mut usize) -> c_int {
    with_registry(functions::MPI_T_PVAR_SESSION_CREATE, |registry| {
        store(required("session", session)?, registry.pvar_session_create()?.0);
        Ok(())
    })
}

/// `MPI_T_pvar_session_free`
pub fn pvar_session_free(session: *mut usize) -> c_int {
    with_registry(functions::MPI_T_PVAR_SESSION_FREE, |registry| {
        let session = required("session", session)?;
        // SAFETY: the program passed the address of a session.
        registry.pvar_session_free(Handle(unsafe { session.read_unaligned() }))?;
        store(session, abi::MPI_T_PVAR_SESSION_NULL);
        Ok(())
    })
}

/// `MPI_T_pvar_handle_alloc`
pub fn pvar_handle_alloc(
    session: usize,
    index: c_int,
    object: *mut c_void,
    handle: *mut usize,
    count: *mut c_int,
) -> c_int {
    with_registry(functions::MPI_T_PVAR_HANDLE_ALLOC, |registry| {
        let handle = required("handle", handle)?;
        let (made, elements) = registry.pvar_handle_alloc_with(Handle(session), index, || object_word(object))?;
        store(handle, made.0);
        store(count, elements);
        Ok(())
    })
}

/// `MPI_T_pvar_handle_free`
pub fn pvar_handle_free(session: usize, handle: *mut usize) -> c_int {
    with_registry(functions::MPI_T_PVAR_HANDLE_FREE, |registry| {
        let handle = required("handle", handle)?;
        // SAFETY: the program passed the address of a handle.
        registry.pvar_handle_free(Handle(session), Handle(unsafe { handle.read_unaligned() }))?;
        store(handle, abi::MPI_T_PVAR_HANDLE_NULL);
        Ok(())
    })
}

/// `MPI_T_pvar_start`
pub fn pvar_start(session: usize, handle: usize) -> c_int {
    mpi_t::pvar_set_running(session, handle, true)
}

/// `MPI_T_pvar_stop`
pub fn pvar_stop(session: usize, handle: usize) -> c_int {
    mpi_t::pvar_set_running(session, handle, false)
}

/// `MPI_T_pvar_reset`
pub fn pvar_reset(session: usize, handle: usize) -> c_int {
    mpi_t::pvar_reset(session, handle)
}

/// `MPI_T_pvar_read`: on x86-64 the instructions of `mpi_t` without a call, at the beginning of a line of the cache as
/// all functions of the library (`xtask/src/dist`).
macro_rules! pvar_read {
    ($name:ident($session:ident: $word:ty, $handle:ident: $other:ty, $out:ident: $pointer:ty)) => {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        mpi_t::__assemble_pvar_read!(
            global_asm,
            [
                concat!(".pushsection .text.", stringify!($name), ", \"ax\", @progbits"),
                ".p2align 6",
                concat!(".globl ", stringify!($name)),
                concat!(".type ", stringify!($name), ", @function"),
                concat!(stringify!($name), ":"),
                ".cfi_startproc"
            ],
            [".cfi_endproc", concat!(".size ", stringify!($name), ", . - ", stringify!($name)), ".popsection"],
            $crate::imp::pvar::read_without_buffer
        );

        #[cfg(all(target_arch = "x86_64", not(miri)))]
        unsafe extern "C" {
            pub fn $name($session: $word, $handle: $other, $out: $pointer) -> core::ffi::c_int;
        }

        #[cfg(not(all(target_arch = "x86_64", not(miri))))]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($session: $word, $handle: $other, $out: $pointer) -> core::ffi::c_int {
            if $out.is_null() {
                return $crate::imp::pvar::read_without_buffer();
            }
            // SAFETY: the program passed memory for the variable's elements.
            unsafe { mpi_t::pvar_read_raw($session, $handle, $out) }
        }
    };
}
pub(crate) use pvar_read;

/// `MPI_T_pvar_read` without an address to store at.
#[cold]
pub extern "C" fn read_without_buffer() -> c_int {
    no_buffer(functions::MPI_T_PVAR_READ)
}

/// `MPI_T_pvar_readreset`
pub fn pvar_readreset(session: usize, handle: usize, out: *mut c_void) -> c_int {
    if out.is_null() {
        return no_buffer(functions::MPI_T_PVAR_READRESET);
    }
    // SAFETY: the program passed memory for the variable's elements.
    unsafe { mpi_t::pvar_readreset_raw(session, handle, out) }
}

/// `MPI_T_pvar_write`
pub fn pvar_write(session: usize, handle: usize, from: *const c_void) -> c_int {
    if from.is_null() {
        return no_buffer(functions::MPI_T_PVAR_WRITE);
    }
    // SAFETY: the program passed the variable's elements.
    unsafe { mpi_t::pvar_write_raw(session, handle, from) }
}

/// The code of a call without a buffer, whose reason is recorded. Out of line: the calls above are a few instructions.
#[cold]
#[inline(never)]
fn no_buffer(function: u16) -> c_int {
    failed(function, &null("buf"))
}
