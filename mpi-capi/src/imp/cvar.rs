//! Control variables (MPI-5.0, 15.3.6).

use core::ffi::{c_char, c_int, c_void};

use mpi_core::{Handle, abi, functions};
use mpi_t::Bind;

use crate::tool_edge::{TextOut, null, object_word, required, store, text, with_registry};

/// `MPI_T_cvar_get_num`
pub fn cvar_get_num(count: *mut c_int) -> c_int {
    with_registry(functions::MPI_T_CVAR_GET_NUM, |registry| {
        store(required("num_cvar", count)?, registry.cvar_get_num()?);
        Ok(())
    })
}

/// `MPI_T_cvar_get_info`
#[allow(clippy::too_many_arguments)] // the standard's own list
pub fn cvar_get_info(
    index: c_int,
    name: *mut c_char,
    name_length: *mut c_int,
    verbosity: *mut c_int,
    datatype: *mut usize,
    enumeration: *mut usize,
    description: *mut c_char,
    description_length: *mut c_int,
    bind: *mut c_int,
    scope: *mut c_int,
) -> c_int {
    with_registry(functions::MPI_T_CVAR_GET_INFO, |registry| {
        let info = registry.cvar_get_info(index)?;
        let (name, description) =
            (TextOut::new("name_len", name, name_length)?, TextOut::new("desc_len", description, description_length)?);
        name.set(info.name());
        description.set(&info.description);
        store(verbosity, info.definition.verbosity as c_int);
        store(datatype, info.definition.value.datatype());
        store(enumeration, info.enumeration.0);
        store(bind, info.bind() as c_int);
        store(scope, info.definition.scope as c_int);
        Ok(())
    })
}

/// `MPI_T_cvar_get_index`
pub fn cvar_get_index(name: *const c_char, index: *mut c_int) -> c_int {
    with_registry(functions::MPI_T_CVAR_GET_INDEX, |registry| {
        let index = required("cvar_index", index)?;
        store(index, registry.cvar_get_index(text("name", name)?)?);
        Ok(())
    })
}

/// `MPI_T_cvar_handle_alloc`
pub fn cvar_handle_alloc(index: c_int, object: *mut c_void, handle: *mut usize, count: *mut c_int) -> c_int {
    with_registry(functions::MPI_T_CVAR_HANDLE_ALLOC, |registry| {
        let handle = required("handle", handle)?;
        // A variable without an object ignores the argument.
        let bound = registry.cvar_get_info(index)?.bind() != Bind::NoObject;
        let object = if bound { object_word(object) } else { None };
        let (made, elements) = registry.cvar_handle_alloc(index, object)?;
        store(handle, made.0);
        store(count, elements);
        Ok(())
    })
}

/// `MPI_T_cvar_handle_free`
pub fn cvar_handle_free(handle: *mut usize) -> c_int {
    with_registry(functions::MPI_T_CVAR_HANDLE_FREE, |registry| {
        let handle = required("handle", handle)?;
        // SAFETY: the program passed the address of a handle.
        registry.cvar_handle_free(Handle(unsafe { handle.read_unaligned() }))?;
        store(handle, abi::MPI_T_CVAR_HANDLE_NULL);
        Ok(())
    })
}

/// `MPI_T_cvar_read`
pub fn cvar_read(handle: usize, out: *mut c_void) -> c_int {
    with_registry(functions::MPI_T_CVAR_READ, |registry| {
        // SAFETY: the program passed memory for the variable's elements.
        unsafe { registry.cvar_read_raw(Handle(handle), required("buf", out)?) }
    })
}

/// `MPI_T_cvar_write`
pub fn cvar_write(handle: usize, from: *const c_void) -> c_int {
    with_registry(functions::MPI_T_CVAR_WRITE, |registry| {
        if from.is_null() {
            return Err(null("buf"));
        }
        // SAFETY: the program passed the variable's elements.
        unsafe { registry.cvar_write_raw(Handle(handle), from) }
    })
}
