//! Enumerations of the tools interface (MPI-5.0, 15.3.5).

use core::ffi::{c_char, c_int};

use mpi_core::{Handle, functions};

use crate::tool_edge::{TextOut, store, with_registry};

/// `MPI_T_enum_get_info`
pub fn enum_get_info(enumeration: usize, count: *mut c_int, name: *mut c_char, length: *mut c_int) -> c_int {
    with_registry(functions::MPI_T_ENUM_GET_INFO, |registry| {
        let (items, text) = registry.enum_get_info(Handle(enumeration))?;
        TextOut::new("name_len", name, length)?.set(text);
        store(count, items);
        Ok(())
    })
}

/// `MPI_T_enum_get_item`
pub fn enum_get_item(
    enumeration: usize,
    index: c_int,
    value: *mut c_int,
    name: *mut c_char,
    length: *mut c_int,
) -> c_int {
    with_registry(functions::MPI_T_ENUM_GET_ITEM, |registry| {
        let (item, text) = registry.enum_get_item(Handle(enumeration), index)?;
        TextOut::new("name_len", name, length)?.set(text);
        store(value, item);
        Ok(())
    })
}
