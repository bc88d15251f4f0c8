//! Event instances, which callbacks read (MPI-5.0, 15.3.8).
//!
//! Invariant: all functions are async-signal-safe and thread-safe: they take no lock and do not allocate. After its
//! callback has returned, an instance is an invalid handle.

use core::ffi::{c_int, c_void};

use mpi_core::{Handle, functions};
use mpi_t::Value;

use crate::tool_edge::{required, store, with_registry};

/// `MPI_T_event_read`
pub fn event_read(instance: usize, element: c_int, buffer: *mut c_void) -> c_int {
    with_registry(functions::MPI_T_EVENT_READ, |registry| {
        let value = registry.event_read(Handle(instance), element)?;
        let buffer = required("buffer", buffer)?;
        match value {
            Value::I32(value) => store(buffer.cast(), value),
            Value::U32(value) => store(buffer.cast(), value),
            Value::U64(value) => store(buffer.cast(), value),
            Value::F64(value) => store(buffer.cast(), value),
            Value::Text(_) => {}
        }
        Ok(())
    })
}

/// `MPI_T_event_copy`
pub fn event_copy(instance: usize, buffer: *mut c_void) -> c_int {
    with_registry(functions::MPI_T_EVENT_COPY, |registry| {
        let (bytes, length) = registry.event_copy(Handle(instance))?;
        let buffer = required("buffer", buffer)?;
        // SAFETY: the program passed memory for all elements of the event, as MPI_T_event_get_info describes them.
        unsafe { core::ptr::copy_nonoverlapping(bytes.as_ptr(), buffer.cast(), length) };
        Ok(())
    })
}

/// `MPI_T_event_get_timestamp`
pub fn event_get_timestamp(instance: usize, timestamp: *mut i64) -> c_int {
    with_registry(functions::MPI_T_EVENT_GET_TIMESTAMP, |registry| {
        let time = registry.event_get_timestamp(Handle(instance))?;
        store(required("event_timestamp", timestamp)?, i64::try_from(time).unwrap_or(i64::MAX));
        Ok(())
    })
}

/// `MPI_T_event_get_source`
pub fn event_get_source(instance: usize, source: *mut c_int) -> c_int {
    with_registry(functions::MPI_T_EVENT_GET_SOURCE, |registry| {
        let index = registry.event_get_source(Handle(instance))?;
        store(required("source_index", source)?, index);
        Ok(())
    })
}
